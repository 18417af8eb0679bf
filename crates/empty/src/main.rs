//! The program that does nothing.
//!
//! It is built with the hook's own profile and linking, so that its time is what any Rust program
//! costs on a machine before it does anything. The bench states every figure as a multiple of it.

fn main() {}
