//! Where a review is watched: one file for each of its streams.
//!
//! They are there to be looked at, so what cannot be made is done without.

use std::path::PathBuf;

/// The files that a reviewer's two streams go to while it speaks. They are made anew.
pub struct Logs {
    pub out: PathBuf,
    pub err: PathBuf,
}
