//! The review loop: finished work is reviewed by somebody else until two reviews in a row are clean.
//!
//! `state.json` in the plan's directory says where a plan stands ([`state`]); one pure function says
//! where it goes ([`transition`]); the guard at the end of a turn reads, has the review made, writes
//! and answers.

pub mod phase;
pub mod state;
pub mod transition;
// stand-ins until merge
pub mod names {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Subject<'a> {
        Plan,
        Design,
        Tasks,
        Task(&'a str),
        AllCode,
        Code,
    }
}
pub mod tasks {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Left {
        Some,
        None,
        Unknown,
    }
}
