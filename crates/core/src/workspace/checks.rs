//! Runs a check once for the same files.
//!
//! A result belongs to the project, the command and the state of the files before and after the run: a check during
//! which a file changed proves nothing, and runs again. Two processes that need the same check wait for one run, and two
//! hook entries that answer the same event use the same result.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Workspace;
use super::rule_commands::CommandEnd;
use super::tree_state::TreeState;
use crate::clock;
use crate::event::Event;
use crate::opinion::Fault;
use crate::places::fnv1a;
use provost_files as files;

/// What git does not see may decide on a check, such as an installed program. So a failure is not remembered for long.
const FAILURE_KEPT: Duration = Duration::from_mins(10);
/// The least time that a check has after it has waited for another one.
const LEAST_TIME: Duration = Duration::from_secs(1);
const LARGEST: u64 = 64 << 10;

/// The event that a check runs for, and the hook entry that runs it.
struct Occasion {
    event: Option<u64>,
    entry: u64,
}

impl Workspace {
    /// The result of a check: of its run for the same files, of the run that another hook entry has just made for the same
    /// event, or of a new one.
    pub fn run_check(&self, line: &str, limit: Duration, event: &Event) -> Result<CommandEnd, Fault> {
        self.permit_change()?;
        let memory = self.check_file(line)?;
        let end = Instant::now() + limit;
        let _lock = files::lock(&memory.with_extension("lock"), limit);
        let before = self.read_tree_state();
        let occasion = Occasion { event: event.shared_digest(), entry: self.identify_hook_entry() };
        if let Some(known) = self.recall_check(&memory, line, before, &occasion) {
            return Ok(known);
        }
        // Waiting for another process must not use up the whole time.
        let end = end.max(Instant::now() + LEAST_TIME);
        let ended = self.run_rule_command(line, end, limit.as_secs())?;
        let after = self.read_tree_state();
        let is_steady = before.zip(after).is_some_and(|(before, after)| before.files == after.files);
        let kept = after.filter(|_| is_steady);
        let value = json!({
            "project": self.project.to_string_lossy(), "check": line, "event": occasion.event, "entry": occasion.entry,
            "files": kept.map(|state| state.files), "ignored": kept.map(|state| state.ignored),
            "at": clock::time_since_epoch().as_secs(),
            "passed": ended.has_succeeded, "how": ended.how, "output": ended.output,
        });
        self.write_state_file(&memory, value.to_string().as_bytes())?;
        Ok(ended)
    }

    fn recall_check(
        &self,
        memory: &Path,
        line: &str,
        state: Option<TreeState>,
        occasion: &Occasion,
    ) -> Option<CommandEnd> {
        let bytes = files::read_file(memory, LARGEST).ok()??;
        let value: Value = serde_json::from_slice(&bytes).ok()?;
        let has_same_files =
            state.is_some_and(|state| value["files"] == state.files && value["ignored"] == state.ignored);
        let is_same_event =
            occasion.event.is_some_and(|event| value["event"] == event) && value["entry"] != occasion.entry;
        let is_same = value["project"] == *self.project.to_string_lossy()
            && value["check"] == line
            && (has_same_files || is_same_event);
        let has_succeeded = value["passed"].as_bool()?;
        let age = value["at"].as_u64()?.abs_diff(clock::time_since_epoch().as_secs());
        let is_valid = has_succeeded || age <= FAILURE_KEPT.as_secs();
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        (is_same && is_valid)
            .then(|| Some(CommandEnd { has_succeeded, how: text("how")?, output: text("output")? }))?
    }

    /// The name is a digest of what comes from outside.
    fn check_file(&self, line: &str) -> Result<PathBuf, Fault> {
        let key = format!("{}\0{line}", self.project.display());
        self.state_file("checks", &format!("{:016x}.json", fnv1a(key.as_bytes())))
    }
}
