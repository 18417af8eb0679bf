//! What happens on stage, told while it happens.
//!
//! A rehearsal takes seconds and may hang, so whoever watches wants to see where. Everything is
//! told from the thread that plays, one moment after the other, and needs no locking.

use crate::hooks::HookRecord;

/// Something that just happened.
#[derive(Debug, Clone)]
pub enum Moment {
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
    /// The person did something outside the client.
    Outside(String),
}

pub trait Observer {
    fn see(&mut self, moment: &Moment);

    /// Whether to stop here. Asked all the time; the run is then ended and cleaned up.
    fn has_seen_enough(&self) -> bool {
        false
    }
}

/// Watches nothing.
pub struct Silent;

impl Observer for Silent {
    fn see(&mut self, _: &Moment) {}
}
