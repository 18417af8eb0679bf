//! One event and all that is needed to answer it and to keep the record.

use std::io;
use std::time::{Duration, Instant};

use super::agent_messages;
use super::command_line::CommandLine;
use crate::clients::Answer;
use crate::config::settings;
use crate::decision::{Decision, Denial, Fault, Finding};
use crate::engine::micros;
use crate::event::{Event, Kind};
use crate::faults;
use crate::journal;
use crate::registry::{self, FailureMode, Guard};
use crate::text::one_line;
use crate::workspace::Workspace;

pub(super) struct Case {
    pub(super) event: Event,
    /// Why the input could not be read; the event then only stands in for it.
    pub(super) unreadable: Option<String>,
    pub(super) workspace: Workspace,
    /// The guards to ask, in registry order.
    pub(super) guards: Vec<&'static Guard>,
    mistakes: Vec<String>,
    /// Whether the call is a hook entry's, beside which there may be others; a stand-in for a script is not.
    is_entry: bool,
    began: Instant,
}

impl Case {
    pub(super) fn new(
        event: Event,
        line: CommandLine,
        concerned: Vec<&'static Guard>,
        began: Instant,
    ) -> Self {
        let mut workspace = Workspace::of(line.client, &event);
        line.insistences().iter().for_each(|(key, value)| workspace.config.insist(key, value));
        let guards = if line.looks_at_agents() {
            registry::asked_about(&event, concerned, line.packs(), &workspace.config)
        } else {
            registry::switched_on(concerned, line.packs(), &workspace.config)
        };
        Self::with(event, line, workspace, guards, began)
    }

    fn with(
        event: Event,
        line: CommandLine,
        workspace: Workspace,
        guards: Vec<&'static Guard>,
        began: Instant,
    ) -> Self {
        let is_entry = line.looks_at_agents();
        Self { event, unreadable: None, workspace, guards, mistakes: line.mistakes, is_entry, began }
    }

    /// An input that cannot be read may be any event.
    // INVARIANT: every guard of the command line counts as failed, so the most protective of
    // their failure modes decides.
    pub(super) fn unreadable(line: CommandLine, why: String, began: Instant) -> Self {
        let event = nothing_known();
        let workspace = Workspace::of(line.client, &event);
        let all = registry::switched_on(line.guards(), line.packs(), &workspace.config);
        Self { unreadable: Some(why), ..Self::with(event, line, workspace, all, began) }
    }

    /// Whether nobody is asked and nothing is told, so that there is nothing to keep either.
    pub(super) fn concerns_nobody(&self) -> bool {
        self.guards.is_empty() && self.mistakes.is_empty()
    }

    /// Whether one of its guards denies what it could not judge.
    pub(super) fn has_closed_guard(&self) -> bool {
        self.guards.iter().any(|guard| guard.failure == FailureMode::Closed)
    }

    /// How long the guards without a limit of their own may take together.
    pub(super) fn limit(&self) -> Duration {
        let config = &self.workspace.config;
        let limit = config.deadline();
        if config.get(settings::DEADLINE).is_some() { limit } else { faults::extend_limit(limit) }
    }

    /// The limit that a guard has for itself.
    pub(super) fn own_limit(&self, guard: &Guard) -> Option<Duration> {
        guard.deadline.and_then(|limit| limit(&self.workspace.config))
    }

    /// What was heard, in registry order, with a fault for every guard that has not answered.
    pub(super) fn complete(&self, mut heard: Vec<Finding>, fault: &Fault) -> Vec<Finding> {
        let took = micros(self.began.elapsed());
        let finding = |&guard: &&'static Guard| {
            let at = heard.iter().position(|finding| std::ptr::eq(finding.guard, guard));
            let missing = || Finding { guard, outcome: Err(fault.clone()), micros: took };
            at.map_or_else(missing, |at| heard.swap_remove(at))
        };
        self.guards.iter().map(finding).collect()
    }

    /// Whether other processes may have been asked about the same event.
    pub(super) fn may_have_siblings(&self) -> bool {
        self.is_entry && self.unreadable.is_none()
    }

    /// Whether several entries would repeat a finding to somebody. A silent one only reaches the journal, and only
    /// plugins have several entries by design: settings files with two are what `doctor` finds.
    pub(super) fn may_be_repeated(&self, finding: &Finding) -> bool {
        match &finding.outcome {
            Ok(opinion) if opinion.is_unconcerned => false,
            Ok(opinion) if opinion.says_nothing() => {
                self.is_of_plugin() && self.workspace.config.journal_is_on()
            }
            Ok(_) | Err(_) => true,
        }
    }

    fn is_of_plugin(&self) -> bool {
        (self.workspace.client.settings.plugin)().is_some()
    }

    /// The answer, and the decision behind it. What other processes have said (`repeated`) is not told again,
    /// but still decides.
    // INVARIANT: a denial is given by every process that comes to it, with its reason. Of several, the client
    // passes on one reason, and nobody knows whether the other process's answer counts.
    pub(super) fn conclude(&self, findings: &[Finding], repeated: &[Finding]) -> (Answer, Decision) {
        let mut decision = Decision::fold(findings);
        if !repeated.is_empty() {
            let all = Decision::fold(&self.in_order(findings.iter().chain(repeated)));
            decision = Decision { ruling: all.ruling, brief: all.brief, ..decision };
        }
        if let (Some(why), Some(refuse)) = (&self.unreadable, self.workspace.client.refuse) {
            return (refuse(why), decision);
        }
        if !self.mistakes.is_empty() {
            decision.to_person.push(mistakes_text(&self.mistakes));
        }
        decision.to_person.extend(agent_messages::take(self));
        (self.render(&decision), decision)
    }

    /// Findings in registry order.
    fn in_order<'f>(&self, findings: impl Iterator<Item = &'f Finding>) -> Vec<Finding> {
        let mut findings: Vec<Finding> = findings.cloned().collect();
        findings
            .sort_by_key(|finding| self.guards.iter().position(|guard| std::ptr::eq(*guard, finding.guard)));
        findings
    }

    fn render(&self, decision: &Decision) -> Answer {
        (self.workspace.client.render)(decision, &self.event)
    }

    /// The answer of an event that goes on although a guard has failed. Only the journal would tell of it,
    /// so it is written first; where it cannot be written, the person is told instead.
    // INVARIANT: nothing is held back here, so nothing that holds back can come late.
    pub(super) fn conclude_fault(&self, findings: &[Finding], mut decision: Decision) -> (Answer, Decision) {
        if let Err(error) = self.keep(findings, &decision) {
            let failed =
                findings.iter().filter_map(|finding| Some((finding.guard, finding.outcome.as_ref().err()?)));
            let (guards, faults): (Vec<_>, Vec<_>) =
                failed.map(|(guard, fault)| (format!("`{}`", guard.name), fault.to_string())).unzip();
            let denial = Denial {
                what: format!("{} could not judge this, and the journal cannot keep it", guards.join(", ")),
                why: format!("{}; {error}", faults.first().map_or("", String::as_str)),
                fix: "see to it that Provost's own directory can be written and that its disk has room \
                      (`provost doctor` in a terminal shows the directory); until then this goes on"
                    .into(),
                heading: None,
            };
            decision.to_person.push(one_line(&denial.to_string()));
        }
        (self.render(&decision), decision)
    }

    /// Writes the journal. That it cannot be written must not change an answer.
    pub(super) fn keep(&self, findings: &[Finding], decision: &Decision) -> io::Result<()> {
        let Workspace { client, project, places, config, .. } = &self.workspace;
        let has_nothing_to_keep =
            |finding: &Finding| matches!(&finding.outcome, Ok(opinion) if opinion.is_unconcerned);
        let is_idle = self.unreadable.is_none() && self.mistakes.is_empty();
        if !config.journal_is_on() || is_idle && findings.iter().all(has_nothing_to_keep) {
            return Ok(());
        }
        let state =
            places.project_state(project).ok_or_else(|| io::Error::other("there is no home directory"))?;
        let remark =
            self.unreadable.clone().or_else(|| (!self.mistakes.is_empty()).then(|| self.mistakes.join(", ")));
        let entry = journal::Entry {
            client: client.name,
            project,
            event: self.unreadable.is_none().then_some(&self.event),
            findings,
            decision,
            micros: micros(self.began.elapsed()),
            remark: remark.as_deref(),
        };
        journal::append(&state, &entry, config.journal_limit())
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", state.display())))
    }
}

/// Stands in for an event that could not be read.
pub(super) fn nothing_known() -> Event {
    Event::new(String::new(), Kind::Other, std::env::current_dir().unwrap_or_default())
}

/// What the person is told of mistakes in the hook entry.
pub(super) fn mistakes_text(mistakes: &[String]) -> String {
    format!(
        "[provost] the hook entry has a mistake: {}. To fix: correct the entry in the settings file; `provost guards` \
         lists what there is.",
        mistakes.join(", ")
    )
}
