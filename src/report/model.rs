//! What a report says: one value from which the terminal tables, the JSON and the HTML page are made.
//!
//! Every number in any form is a field of [`Report`] or the length of a list in it, so that the forms cannot disagree. The
//! model holds texts as they are: who prints them makes them printable or escapes them. Credentials are masked already.
//! Dates are days in UTC, `2026-11-17`; times are RFC 3339 in UTC; durations are whole microseconds.

use serde::Serialize;

/// The version of this model. It grows by one when a field changes its meaning or goes; a new field does not change it.
pub const SCHEMA: u32 = 1;

/// A report on the decisions of a period.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: u32,
    /// What made the report, and how to make it again.
    pub made: Provenance,
    /// The time that the report covers.
    pub period: Period,
    /// The projects whose journals were read, by name.
    pub projects: Vec<Project>,
    /// The answer: one sentence and its figures.
    pub summary: Summary,
    /// Each day of the period that is covered, oldest first, days without any decision included. If there are more than
    /// 400, only those with decisions.
    pub days: Vec<Day>,
    /// Each guard and rule that spoke in the period or is on now: the busiest first, those that never fired last.
    pub guards: Vec<GuardTotals>,
    /// How the denied calls went on.
    pub outcomes: Outcomes,
    /// The plans that were reviewed, the last reviewed first.
    pub reviews: Vec<ReviewCycle>,
    /// The plans that were assessed, the last assessed first.
    pub plans: Vec<AssessedPlan>,
    /// The time that Provost took.
    pub cost: Cost,
    /// Each decision that said something, newest first: a denial, a question, a warning, an override, what a watched guard
    /// would have done, a fault.
    pub decisions: Vec<DecisionRecord>,
    /// What the report does not contain, and why.
    pub left_out: Vec<LeftOut>,
    /// What would have happened in the sessions of the transcripts; `None` without `--transcripts`.
    pub without_provost: Option<TranscriptTotals>,
}

/// What made a report.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Provenance {
    /// When, RFC 3339 in UTC to the second: `--now`, else `SOURCE_DATE_EPOCH`, else the clock.
    pub time: String,
    /// The version of Provost.
    pub version: String,
    /// The command line, quoted for a shell. With `--redact`, its paths are replaced.
    pub command: String,
    /// A digest of the configuration files that apply in the current project: 16 hexadecimal digits.
    pub configuration: String,
    /// Whether paths, prompts and session ids are replaced (`--redact`).
    pub is_redacted: bool,
}

/// The time that a report covers.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Period {
    /// What was asked for: `30d`.
    pub asked: String,
    /// The start of what was asked for.
    pub from: String,
    /// The end: the time of the report.
    pub to: String,
    /// From when on the journal covers the period: `from`, or the first decision if the journal is younger. Nothing is known
    /// of the time before. `None` without any decision.
    pub covered_from: Option<String>,
    /// The time of the first decision in the period; `None` if there is none.
    pub first: Option<String>,
    /// The time of the last decision in the period.
    pub last: Option<String>,
}

/// A project whose journal was read.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Project {
    /// Its directory. With `--redact`, `project 1`.
    pub path: String,
    /// The last part of the path.
    pub name: String,
    /// How many events were judged.
    pub events: u64,
    /// How many of them were denied.
    pub denied: u64,
    /// How many sessions made the events.
    pub sessions: u64,
}

/// The answer at the top.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Summary {
    /// One sentence for people.
    pub sentence: String,
    /// 4 to 6 figures, each also a field below or in [`Cost`].
    pub figures: Vec<Figure>,
    /// Tool calls that a guard judged before they ran.
    pub calls: u64,
    /// All events that a guard judged: tool calls before and after they ran, prompts, stops and others.
    pub events: u64,
    /// Tool calls that were denied before they ran.
    pub denied_calls: u64,
    /// All events that were denied: also turns that could not end yet, for example because of a review.
    pub denied: u64,
    /// Events about which the user was asked.
    pub asked: u64,
    /// Events that continued with a warning or a note.
    pub warned: u64,
    /// Denials and questions that the user overrode.
    pub overridden: u64,
    /// Events that a watched guard or rule would have denied.
    pub would_deny: u64,
    /// Events in which a guard failed.
    pub faults: u64,
    /// Sessions that made the events.
    pub sessions: u64,
    /// Rounds of reviews.
    pub review_rounds: u64,
    /// Assessments of plans.
    pub assessments: u64,
}

/// One figure of the summary.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Figure {
    /// A stable name for programs and for links: `denied`, `time_per_call`.
    pub name: String,
    /// What it counts, for people: `calls denied`.
    pub label: String,
    /// The value as people read it: `1,204` or `1.3 ms`.
    pub value: String,
    /// A short addition, or empty: `median; 95 % below 2.1 ms`.
    pub detail: String,
}

/// The decisions of one day.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Day {
    /// `2026-11-17`.
    pub date: String,
    /// All events that were judged.
    pub events: u64,
    /// Tool calls that were denied before they ran.
    pub denied_calls: u64,
    /// All events that were denied.
    pub denied: u64,
    pub asked: u64,
    pub warned: u64,
    pub overridden: u64,
    pub would_deny: u64,
    pub faults: u64,
    /// How many events each guard or rule denied, the most first; only those that denied. Several can deny one event, so the
    /// sum can be more than `denied`.
    pub denied_by: Vec<GuardCount>,
}

/// A number for one guard or rule.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct GuardCount {
    /// `branch-guard` or `rule:NAME`.
    pub guard: String,
    pub count: u64,
}

/// The decisions of one guard or rule.
#[derive(Debug, Clone, Default, Serialize)]
pub struct GuardTotals {
    /// `branch-guard` or `rule:NAME`.
    pub guard: String,
    /// The pack of a guard; `rules` for a rule; empty if this version does not know the guard.
    pub pack: String,
    /// What it promises, or what the rule does; empty if it is unknown.
    pub purpose: String,
    /// `enforce`, `watch` or `off` in the configuration of now; `mixed` if projects differ; `unknown` for a guard or rule that
    /// no configuration has (any more).
    pub mode: String,
    /// How many events it judged, whatever it said.
    pub judged: u64,
    pub denied: u64,
    pub asked: u64,
    pub warned: u64,
    pub would_deny: u64,
    pub would_ask: u64,
    pub would_warn: u64,
    pub overridden: u64,
    pub faults: u64,
    /// When it last spoke; `None` if it never did.
    pub last: Option<String>,
}

/// How denied tool calls went on. Each counts once. Two calls are the same if session, tool and subject are: the command, the
/// file or the agent; a tool without a subject has one call.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Outcomes {
    /// The same call was allowed later, without an override.
    pub fixed: u64,
    /// The user overrode the denial.
    pub overridden: u64,
    /// The same call was denied again, and was never allowed.
    pub tried_again: u64,
    /// The same call did not come again, until now.
    pub given_up: u64,
    /// The journal does not say: the line has no session, or comes from a version that did not record it.
    pub unknown: u64,
}

/// A review cycle of a plan: the rounds until it was clean.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ReviewCycle {
    /// The project's directory.
    pub project: String,
    /// The name of the plan.
    pub plan: String,
    /// `code-review`, for example.
    pub review: String,
    /// The task, for a review of a task's code.
    pub task: Option<String>,
    /// Whether the last round ended the cycle: enough rounds in a row were clean.
    pub is_clean: bool,
    /// The rounds, in order.
    pub rounds: Vec<ReviewRound>,
    /// The sum of the time of all rounds.
    pub micros: u64,
    /// The models that reviewed, without duplicates.
    pub models: Vec<String>,
}

/// One round of a review.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ReviewRound {
    /// The id of the decision in the journal.
    pub id: String,
    pub time: String,
    /// From 1.
    pub number: u64,
    /// `clean`, `findings` or `no verdict`.
    pub verdict: String,
    /// The model; `None` if the line comes from a version that did not record it.
    pub model: Option<String>,
    /// How long the reviewer took; `None` if it is not recorded.
    pub micros: Option<u64>,
}

/// The assessments of a plan by the plan gate.
#[derive(Debug, Clone, Default, Serialize)]
pub struct AssessedPlan {
    /// The project's directory.
    pub project: String,
    /// The plan's file.
    pub plan: String,
    /// How often its assessment was recorded.
    pub assessments: u64,
    /// How many of them it passed.
    pub passed: u64,
    /// Whether it passed the last one.
    pub is_passed: bool,
    /// When it was last assessed.
    pub last: String,
}

/// The time that Provost took, measured within the process: without the time that the system needs to start it.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Cost {
    /// Of the events before a tool runs, for which each tool call waits.
    pub per_call: Distribution,
    /// Of each kind of event, by name.
    pub by_event: Vec<EventCost>,
    /// The upper bounds of the classes of [`Distribution::counts`], in microseconds. The last class has no bound.
    pub bounds: Vec<u64>,
}

/// The time of one kind of event.
#[derive(Debug, Clone, Default, Serialize)]
pub struct EventCost {
    /// The client's name of the event.
    pub event: String,
    pub time: Distribution,
}

/// How long events took.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Distribution {
    /// How many events there were.
    pub events: u64,
    /// Half of them took at most this long. Rounded up to two significant digits, as the archive keeps them.
    pub p50_micros: u64,
    /// 95 of 100 took at most this long. Rounded in the same way.
    pub p95_micros: u64,
    /// The longest, exactly.
    pub max_micros: u64,
    /// All together, exactly.
    pub total_micros: u64,
    /// How many events are in each class of [`Cost::bounds`]; one class more than there are bounds.
    pub counts: Vec<u64>,
}

/// A decision that said something.
#[derive(Debug, Clone, Default, Serialize)]
pub struct DecisionRecord {
    /// The id in the journal.
    pub id: String,
    pub time: String,
    /// The project's directory.
    pub project: String,
    /// The session's id.
    pub session: Option<String>,
    /// The agent's kind, or its id; `None` in the main conversation.
    pub agent: Option<String>,
    /// The client's id of the tool call.
    pub call: Option<String>,
    /// The client's name of the event.
    pub event: String,
    /// The client's name of the tool.
    pub tool: Option<String>,
    /// The command, the path or the text that was judged, shortened.
    pub subject: Option<String>,
    /// What was wrong with the event or the hook entry.
    pub remark: Option<String>,
    /// `deny`, `deny (fault)`, `ask`, `warn`, `overridden`, `would deny`, `would ask`, `would warn` or `fault`.
    pub decision: String,
    /// What each guard said, without the silent ones, in registry order. The first explains the decision.
    pub opinions: Vec<OpinionRecord>,
    /// Of a denied tool call: `fixed`, `overridden`, `tried again`, `given up` or `unknown`, as in [`Outcomes`]. `None` for
    /// every other decision.
    pub outcome: Option<String>,
    /// How long the event took.
    pub micros: u64,
    /// The command that shows everything: `provost explain ID`.
    pub explain: String,
}

/// What one guard said.
#[derive(Debug, Clone, Default, Serialize)]
pub struct OpinionRecord {
    /// `branch-guard` or `rule:NAME`.
    pub guard: String,
    /// `deny`, `ask`, `warn`, `overridden`, `would deny`, `would ask`, `would warn` or `fault`.
    pub opinion: String,
    pub what: String,
    pub why: String,
    pub fix: String,
    pub evidence: Vec<String>,
    /// The user's reason, if this was overridden.
    pub reason: Option<String>,
}

/// Something that the report does not contain.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// What: `lines of the journal`.
    pub what: String,
    pub count: u64,
    /// Why, and where to find them if they are somewhere.
    pub why: String,
}

/// What the guards and rules of now would have done in the sessions of transcripts, whether Provost was there or not. The
/// numbers are those of `provost replay`.
#[derive(Debug, Clone, Default, Serialize)]
pub struct TranscriptTotals {
    /// The directory that was read, or the project whose sessions were read.
    pub directory: String,
    pub sessions: u64,
    pub calls: u64,
    /// How often a guard or rule would have denied a call, also if it is only watched.
    pub denied: u64,
    /// How often the user would have been asked.
    pub asked: u64,
    /// How often a call would have continued with a warning.
    pub warned: u64,
    /// Decisions that follow from the call alone.
    pub exact: u64,
    /// Decisions that depend on what the disk was like then.
    pub approximate: u64,
    /// The decisions of each guard and rule, the busiest first.
    pub guards: Vec<TranscriptGuard>,
    /// Records that could not be judged, and why.
    pub left_out: Vec<LeftOut>,
}

/// What one guard or rule would have done.
#[derive(Debug, Clone, Default, Serialize)]
pub struct TranscriptGuard {
    /// `branch-guard` or `rule:NAME`.
    pub guard: String,
    pub denied: u64,
    pub asked: u64,
    pub warned: u64,
    /// The distinct commands and paths behind them, newest first, shortened.
    pub subjects: Vec<String>,
}

impl GuardTotals {
    /// How often it said something.
    pub fn count_spoken(&self) -> u64 {
        let would = self.would_deny + self.would_ask + self.would_warn;
        self.denied + self.asked + self.warned + self.overridden + self.faults + would
    }
}
