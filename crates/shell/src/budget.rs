//! How much work one command line may cause.

use std::cell::Cell;

use crate::effect::Effect;

/// What parsing a byte again costs, in bytes that are built. Texts can be parsed in two ways and inside each other,
/// and each here-document without an end contains all the text that follows.
pub(super) const PARSING_COST: usize = 16;
/// At most this many effects per byte of a line.
const EFFECTS_PER_BYTE: usize = 64;

/// How many bytes a line may still build or parse again. It ends a line that names its files in the cross product of
/// many directories before memory does.
pub(super) struct Budget(Cell<usize>);

impl Budget {
    pub(super) fn for_line(line: &str) -> Self {
        const LEAST: usize = 256 << 10;
        const MOST: usize = 64 << 20;
        Self(Cell::new(MOST.min(LEAST + line.len() * EFFECTS_PER_BYTE * size_of::<Effect>())))
    }

    /// Splits off a part for texts that may not be commands.
    pub(super) fn split_for_guesses(self) -> (Self, Self) {
        let guesses = self.0.get() / 4;
        (Self(Cell::new(self.0.get() - guesses)), Self(Cell::new(guesses)))
    }

    /// Returns whether anything is left afterwards.
    pub(super) fn pay(&self, bytes: usize) -> bool {
        self.0.set(self.0.get().saturating_sub(bytes));
        !self.is_spent()
    }

    pub(super) fn is_spent(&self) -> bool {
        self.0.get() == 0
    }
}
