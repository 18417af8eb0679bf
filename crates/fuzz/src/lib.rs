//! Whatever a reader of Provost is given, it answers: soon, the same twice, and as it promised.
//!
//! Each target is one kind of input ([`targets`]): seeds as people and clients write them, and a check
//! that says what must hold. [`mutation`] makes strange inputs out of ordinary ones, [`trial`] tries one,
//! and [`run`] tries them for as long as it is told. The same targets can be driven by a fuzzer that
//! sees which code an input reaches (`guided`); that one needs a C++ compiler, so it is no part of the
//! workspace.

pub mod clocks;
pub mod mutation;
mod odd_json;
pub mod report;
pub mod run;
pub mod targets;
pub mod trial;
