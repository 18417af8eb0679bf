//! Suggests rules that would have caught what the user did not want.
//!
//! [`regrets`] finds such calls in past sessions: the user rejected them, had them undone, or complained about them.
//! [`command_patterns`] says which patterns of `runs` a command line could have, from the widest to the narrowest.
//! [`drafts`] picks the widest one that matches no call that the user let pass, and makes rules of them. Nothing here
//! writes, and nothing is guessed from calls alone: each suggestion names what the user did.

pub mod command_patterns;
pub mod drafts;
pub mod regrets;

pub use drafts::{RuleDraft, draft_rules};
pub use regrets::{CallSubject, Regret, RegretSign, SessionRegrets};
