//! The real client does what Provost's answers say: every rehearsal, with a replay of what it left, and a reviewer that
//! the client runs.
//!
//! Without a client these tests say so and pass; where `CI` is set they fail instead.

#[path = "../support/client.rs"]
mod client;

mod rehearsals;
mod replayed;
mod reviewer;
