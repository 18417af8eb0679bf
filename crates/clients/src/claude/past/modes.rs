//! In which permission mode a session was.
//!
//! A prompt names the mode, newer versions of Claude Code write a line when the user changes it, and the tools that begin
//! and end plan mode change it too. The transcripts of agents do not name it: agents have the mode of their session.

use std::sync::Arc;

use crate::past::ModeTimeline;

#[derive(Default)]
pub(super) struct Modes {
    current: Option<Arc<str>>,
    before_plan: Option<Arc<str>>,
    timeline: ModeTimeline,
    is_agent: bool,
}

impl Modes {
    pub(super) fn new(timeline: ModeTimeline, is_agent: bool) -> Self {
        Self { timeline, is_agent, ..Self::default() }
    }

    pub(super) fn find(&self, time: u64) -> Option<Arc<str>> {
        if self.is_agent { self.timeline.find(time) } else { self.current.clone() }
    }

    pub(super) fn set(&mut self, mode: &str, time: u64) {
        if self.is_agent || self.current.as_deref() == Some(mode) {
            return;
        }
        if mode == "plan" {
            self.before_plan = self.current.take();
        }
        let mode: Arc<str> = mode.into();
        self.timeline.push(time, mode.clone());
        self.current = Some(mode);
    }

    /// The user has approved a plan.
    pub(super) fn end_plan(&mut self, time: u64) {
        let before = self.before_plan.take();
        self.set(before.as_deref().unwrap_or("default"), time);
    }
}
