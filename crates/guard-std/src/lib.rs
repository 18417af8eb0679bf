//! The part of the standard library that guards may use.
//!
//! `crates/guards` is built without the standard library and uses this crate under the name `std`. A guard therefore
//! cannot name files, the environment, processes, threads, standard streams or printing macros. It reaches the world
//! through the workspace only.

pub use std::{borrow, cell, cmp, collections, iter, mem, ops, rc, slice, str, string, vec};

/// The names of Rust's own prelude that the guards use.
pub mod prelude {
    pub use std::borrow::ToOwned;
    pub use std::boxed::Box;
    pub use std::format;
    pub use std::string::{String, ToString};
    pub use std::vec;
    pub use std::vec::Vec;
}

pub mod ffi {
    pub use std::ffi::{OsStr, OsString};
}

pub mod fmt {
    pub use std::fmt::{Debug, Display, Formatter, Result, Write};
}

#[cfg(unix)]
pub mod os {
    pub mod unix {
        pub mod ffi {
            pub use std::os::unix::ffi::OsStrExt;
        }
    }
}

pub mod path {
    pub use std::path::{Component, Path, PathBuf};
}

pub mod sync {
    pub use std::sync::{Mutex, OnceLock, PoisonError};
}

pub mod time {
    pub use std::time::{Duration, Instant};
}
