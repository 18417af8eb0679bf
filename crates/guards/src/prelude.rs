//! Imported by every module of this crate, in place of Rust's own prelude, which a `no_std` crate does not have.

pub(crate) use guard_std::prelude::*;
