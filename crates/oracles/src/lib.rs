//! Two other shell parsers and a generator of command lines, to check Provost's own parser.
//!
//! None of this is in the product. Each of the parsers loses some commands, which is why the product uses neither. So
//! only one direction counts: Provost must find every command that an oracle finds, or report that it does not
//! understand the line.

pub mod brush;
pub mod generator;
pub mod tree_sitter;

/// The plain names of all commands that an oracle finds in a line.
pub type CommandNames = std::collections::BTreeSet<String>;
