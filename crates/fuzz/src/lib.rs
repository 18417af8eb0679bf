//! Fuzz targets for everything that Provost reads.
//!
//! A target ([`targets`]) has recorded inputs, and a check of what must be true for any bytes. [`double_check`] runs a check
//! twice and compares the answers. libFuzzer drives the targets from `guided`, which needs a C++ compiler and is therefore
//! not part of the workspace; `tests/targets.rs` replays the recorded inputs on any machine.

pub mod double_check;
pub mod targets;
