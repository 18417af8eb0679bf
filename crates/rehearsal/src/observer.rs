//! Reports what happens during a run.
//!
//! A run takes seconds and may hang, so users want to see its progress. All reports come from one thread, in order, and need
//! no lock.

use crate::hooks::HookRecord;

/// Something that happened during a run.
#[derive(Debug, Clone)]
pub enum RunEvent {
    /// The model answered request `n` of a route. `calls` are tool names with their input as JSON.
    Answered { route: String, n: usize, text: Option<String>, calls: Vec<(String, String)> },
    /// The model answered with an error.
    Failed { route: String, status: u16 },
    /// A recorded hook ended.
    Hook(Box<HookRecord>),
    /// The client asked for a permission and got this answer.
    Asked { tool: String, allowed: bool },
    /// The user does something at the terminal, or waits for something there.
    User(String),
    /// The user did something outside the client.
    Outside(String),
}

pub trait Observer {
    fn observe(&mut self, moment: &RunEvent);

    /// Whether to stop and clean up. It is called several times a second.
    fn wants_to_stop(&self) -> bool {
        false
    }
}

/// An observer that ignores everything.
pub struct Silent;

impl Observer for Silent {
    fn observe(&mut self, _: &RunEvent) {}
}
