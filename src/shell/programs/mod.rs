//! What programs do with their words: one table of those that are known.

pub(super) mod files;
pub(super) mod wrappers;
