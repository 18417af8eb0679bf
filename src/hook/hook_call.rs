//! One hook call: the event, the guards to ask, what they found, and how the client is answered.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::agent_messages;
use super::command_line::CommandLine;
use super::deadline::Deadline;
use crate::clients::{Client, Dialect, HookAnswer};
use crate::config::settings;
use crate::decision::{Decision, Finding};
use crate::engine::{self, to_micros};
use crate::environment::open_workspace;
use crate::event::{Event, EventKind};
use crate::journal;
use crate::opinion::{Denial, Fault};
use crate::registry::{FailureMode, Guard};
use crate::text::make_one_line;
use crate::workspace::Workspace;
use provost_files::faults;

pub(super) struct HookCall {
    pub(super) event: Event,
    client: &'static Client,
    dialect: &'static Dialect,
    /// Why the input could not be read. `event` is only a placeholder then.
    pub(super) unreadable: Option<String>,
    pub(super) workspace: Workspace,
    /// The guards to ask, in registry order.
    guards: Vec<&'static Guard>,
    /// What each guard found, in the same order; empty until it has answered.
    findings: Vec<OnceLock<Vec<Finding>>>,
    mistakes: Vec<String>,
    /// Whether a hook entry made the call. Other entries may call about the same event. A replacement for a script
    /// is called alone.
    is_entry: bool,
    /// Whether the journal has begun a new file, so that an old one is to be compacted.
    is_journal_rotated: AtomicBool,
    began: Instant,
}

impl HookCall {
    pub(super) fn new(
        event: Event,
        line: CommandLine,
        concerned: Vec<&'static Guard>,
        began: Instant,
    ) -> Self {
        let mut workspace = open_workspace(line.client, &event);
        line.fixed_settings.iter().for_each(|(key, value)| workspace.config.force_word(key, value));
        let guards = line.selection.select_guards(concerned, &event, &workspace.config);
        Self::with_guards(event, line, workspace, guards, began)
    }

    /// A call whose input cannot be read, which may have been any event.
    // INVARIANT: every guard of the command line counts as failed, so the most protective of their failure modes
    // decides.
    pub(super) fn unreadable(line: CommandLine, why: String, began: Instant) -> Self {
        let event = placeholder_event();
        let workspace = open_workspace(line.client, &event);
        let all = line.selection.select_switched_on(line.selection.list_candidates(), &workspace.config);
        Self { unreadable: Some(why), ..Self::with_guards(event, line, workspace, all, began) }
    }

    fn with_guards(
        event: Event,
        line: CommandLine,
        workspace: Workspace,
        guards: Vec<&'static Guard>,
        began: Instant,
    ) -> Self {
        let is_entry = line.selection.script.is_none();
        let CommandLine { client, dialect, mistakes, .. } = line;
        let findings = guards.iter().map(|_| OnceLock::new()).collect();
        Self {
            event,
            client,
            dialect,
            unreadable: None,
            workspace,
            guards,
            findings,
            mistakes,
            is_entry,
            is_journal_rotated: AtomicBool::new(false),
            began,
        }
    }

    /// Whether there is no guard to ask and nothing to report.
    pub(super) fn is_idle(&self) -> bool {
        self.guards.is_empty() && self.mistakes.is_empty()
    }

    /// Whether one of its guards denies what it could not judge.
    pub(super) fn has_closed_guard(&self) -> bool {
        let config = &self.workspace.config;
        let is_enforced = |guard: &Guard| !config.is_guard_watched(guard.name, guard.pack);
        self.guards.iter().any(|guard| guard.failure_mode == FailureMode::Closed && is_enforced(guard))
    }

    /// Asks every guard and records its finding. A guard that runs a reviewer or a check has a time limit of its own, and its
    /// time does not count for the others.
    pub(super) fn ask_guards(&self, deadline: &Deadline) {
        let config = &self.workspace.config;
        let limit = config.deadline();
        let is_set = config.configured_value(settings::DEADLINE_SECONDS).is_some();
        let mut shared_deadline = self.began + if is_set { limit } else { faults::extend_limit(limit) };
        for index in engine::asking_order(&self.guards) {
            let guard = self.guards[index];
            let own_limit = guard.own_time_limit(&self.event, config);
            deadline.move_to(own_limit.map_or(shared_deadline, |limit| Instant::now() + limit));
            let found = engine::ask_guard(guard, &self.event, &self.workspace);
            if own_limit.is_some() {
                shared_deadline += Duration::from_micros(found.first().map_or(0, |finding| finding.micros));
            }
            let _ = self.findings[index].set(found);
        }
    }

    /// The findings so far, in registry order, with `fault` for every guard that has not answered.
    pub(super) fn findings(&self, fault: &Fault) -> Vec<Finding> {
        let took = to_micros(self.began.elapsed());
        let found = self.guards.iter().zip(&self.findings).flat_map(|(&guard, found)| {
            found.get().cloned().unwrap_or_else(|| {
                let mut finding = Finding::for_guard(guard, Err(fault.clone()), took);
                finding.is_watched = self.workspace.config.is_guard_watched(guard.name, guard.pack);
                vec![finding]
            })
        });
        found.collect()
    }

    /// Whether other processes may answer the same event.
    pub(super) fn may_have_siblings(&self) -> bool {
        self.is_entry && self.unreadable.is_none()
    }

    /// Whether several entries would report the same finding. A silent one only reaches the journal, and only plugins
    /// have several entries by design: `doctor` reports settings files with two.
    pub(super) fn may_be_repeated(&self, finding: &Finding) -> bool {
        match &finding.outcome {
            Ok(opinion) if opinion.is_unconcerned => false,
            Ok(opinion) if opinion.is_silent() => {
                (self.client.facts.settings.find_plugin)().is_some() && self.workspace.config.is_journal_on()
            }
            Ok(_) | Err(_) => true,
        }
    }

    /// The answer to a decision. Adds what else the user should read to the decision.
    pub(super) fn render_answer(&self, decision: &mut Decision) -> HookAnswer {
        if let (Some(why), Some(refuse)) = (&self.unreadable, self.dialect.refuse) {
            return refuse(why);
        }
        if !self.mistakes.is_empty() {
            decision.to_user.push(describe_mistakes(&self.mistakes));
        }
        decision.to_user.extend(agent_messages::take(self));
        (self.dialect.render)(decision, &self.event)
    }

    /// The answer to an event that is allowed although a guard has failed. Only the journal would report the fault,
    /// so it is written first. If it cannot be written, the user is warned instead.
    // INVARIANT: nothing is denied here, so no denial can come late.
    pub(super) fn render_fault(&self, findings: &[Finding], decision: &mut Decision) -> HookAnswer {
        if let Err(error) = self.write_journal(findings, decision) {
            let failed = findings
                .iter()
                .filter_map(|finding| Some((finding.judge.guard, finding.outcome.as_ref().err()?)));
            let (guards, faults): (Vec<_>, Vec<_>) =
                failed.map(|(guard, fault)| (format!("`{}`", guard.name), fault.to_string())).unzip();
            let denial = Denial {
                what: format!("{} could not judge this, so it is allowed", guards.join(", ")),
                why: format!(
                    "{}; the journal cannot record it: {error}",
                    faults.first().map_or("", String::as_str)
                ),
                fix:
                    "make Provost's state directory writable and free some disk space (`provost doctor` in a \
                      terminal shows the directory)"
                        .into(),
                document_wording: None,
            };
            decision.to_user.push(make_one_line(&denial.to_string()));
        }
        (self.dialect.render)(decision, &self.event)
    }

    /// Writes the line of the journal. An error must not change the answer.
    pub(super) fn write_journal(&self, findings: &[Finding], decision: &Decision) -> io::Result<()> {
        let Workspace { project, places, config, .. } = &self.workspace;
        let mistakes = (!self.mistakes.is_empty()).then(|| self.mistakes.join(", "));
        let remark = self.unreadable.clone().or(mistakes);
        if !config.is_journal_on() || remark.is_none() && findings.iter().all(Finding::is_unconcerned) {
            return Ok(());
        }
        let state = places
            .project_state_directory(project)
            .ok_or_else(|| io::Error::other("there is no home directory"))?;
        let entry = journal::JournalEntry {
            client: self.client.name,
            project,
            event: self.unreadable.is_none().then_some(&self.event),
            findings,
            decision,
            micros: to_micros(self.began.elapsed()),
            remark: remark.as_deref(),
        };
        let is_rotated = journal::append_entry(&state, &entry, config.journal_limit())
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", state.display())))?;
        self.is_journal_rotated.store(is_rotated, Ordering::Relaxed);
        Ok(())
    }

    /// Compacts what has dropped out of the journal. That takes a while, so it comes last.
    pub(super) fn compact_journal(&self) {
        if !self.is_journal_rotated.load(Ordering::Relaxed) {
            return;
        }
        let Workspace { project, places, .. } = &self.workspace;
        if let Some(state) = places.project_state_directory(project) {
            // What fails now is done after the next rotation.
            let _ = journal::compact_archive(&state);
        }
    }
}

/// The event to judge if the real one could not be read.
pub(super) fn placeholder_event() -> Event {
    Event::new(String::new(), EventKind::Other, std::env::current_dir().unwrap_or_default())
}

/// The message to the user about mistakes in the hook entry.
pub(super) fn describe_mistakes(mistakes: &[String]) -> String {
    format!(
        "[provost] the hook entry has a mistake: {}. To fix: correct the entry in the settings file; `provost guards` \
         lists all guards and packs.",
        mistakes.join(", ")
    )
}
