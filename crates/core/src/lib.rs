//! The path from an event to a decision, without a client and without a terminal.
//!
//! A client's JSON becomes an [`event::Event`], and what it would do becomes [`effect::Effect`]s. The [`engine`] asks
//! every [`guard::Guard`] that the event concerns. Each answers with an [`opinion::Opinion`], and all opinions fold into
//! one [`decision::Decision`]. A guard reaches the world only through the [`workspace::Workspace`].

pub mod client;
pub mod clock;
pub mod config;
pub mod decision;
pub mod disk_use;
pub mod effect;
pub mod engine;
pub mod event;
pub mod glob;
pub mod guard;
pub mod layer;
pub mod long_bytes;
pub mod opinion;
pub mod overrides;
pub mod past_judgement;
pub mod places;
pub mod process;
pub mod raw_object;
pub mod review_verdict;
pub mod reviewer;
pub mod rules;
pub mod switches;
pub mod text;
pub mod tool;
pub mod workflow;
pub mod workflow_table;
pub mod workspace;
pub mod yaml;

pub use provost_files::byte_search;
