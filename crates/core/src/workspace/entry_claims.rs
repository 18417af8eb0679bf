//! Which of several hook entries acts on an event.
//!
//! A client runs each entry that calls Provost as a process of its own, and a plugin has entries of its own. Each process
//! judges for itself, so that no denial depends on another process. But a formatter must run once, and so must everything
//! else that changes something: the first entry claims the event. An entry that claims an event twice has met it again.

use super::Workspace;
use super::disk::fault_at;
use crate::event::Event;
use crate::opinion::Fault;
use crate::places::fnv1a;
use provost_files::{self as files, faults};

/// How many files serve all events.
const FILES: u64 = 64;
const LARGEST: u64 = 4 << 10;
/// How long to wait for another process that claims an event.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(1);

impl Workspace {
    /// Whether this hook entry is the first one that claims an event. An event that nothing identifies is always claimed.
    pub fn claim_event(&self, event: &Event) -> Result<bool, Fault> {
        let Some(key) = event.shared_digest() else { return Ok(true) };
        self.permit_change()?;
        let path = self.state_file("answers", &format!("claim-{:02x}", key % FILES))?;
        let file = files::lock_and_read_file(&path, LARGEST, faults::extend_limit(PATIENCE))
            .map_err(fault_at(&path))?;
        let entry = self.identify_hook_entry();
        let text = String::from_utf8_lossy(file.content()).into_owned();
        let mut claims = text.lines().filter_map(|line| u64::from_str_radix(line, 16).ok());
        let known: Vec<u64> = if claims.next() == Some(key) { claims.collect() } else { Vec::new() };
        let is_first = known.is_empty() || known.contains(&entry);
        let claims = [key].into_iter().chain(known.into_iter().filter(|_| !is_first)).chain([entry]);
        let lines: Vec<String> = claims.map(|claim| format!("{claim:016x}\n")).collect();
        file.overwrite(lines.concat().as_bytes()).map_err(fault_at(&path))?;
        Ok(is_first)
    }

    /// Identifies the hook entry that has started this process.
    pub fn identify_hook_entry(&self) -> u64 {
        let plugin = (self.client.settings.find_plugin)().unwrap_or_default();
        let words = std::env::args_os().chain([plugin.into_os_string()]);
        fnv1a(words.map(|word| word.to_string_lossy().into_owned() + "\0").collect::<String>().as_bytes())
    }
}
