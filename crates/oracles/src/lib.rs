//! Two parsers and a generator, against which Provost's own reading of shell text is held.
//!
//! None of this is in the product. Each parser loses commands of its own (that is why neither is
//! used), so only one direction counts: a command that an oracle sees must have been seen by
//! Provost, or Provost must have said that it did not understand the line.

pub mod brush;
pub mod generator;
pub mod tree;

/// The plain names of all commands that an oracle found in a line.
pub type Names = std::collections::BTreeSet<String>;
