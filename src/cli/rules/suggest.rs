//! `provost rules suggest`: rules that would have caught what the user did not want.

use std::collections::HashSet;
use std::io::Write;

use super::drafted_rule::{DraftedRule, RuleExample, add_unique, make_name};
use crate::cli::overview::Overview;
use crate::cli::past_options::PastOptions;
use crate::cli::screen::{text_width, wrap};
use crate::cli::{CommandError, CommandResult, CurrentProject, Exit, current_client, open_current_workspace};
use crate::clients::past::{CallFate, Detail, PastEvent, PastEventKind};
use crate::clock::format_utc_seconds;
use crate::environment::read_places;
use crate::journal::JournalRecord;
use crate::journal::mask::mask_credentials;
use crate::replay::judge::{ConfigSource, Judge};
use crate::replay::selection::SessionFiles;
use crate::replay::session_reader::{SessionItem, SessionReader};
use crate::suggest::{CallSubject, Regret, RegretSign, RuleDraft, SessionRegrets, draft_rules};
use crate::text::make_one_line;
use crate::workspace::Workspace;

/// A longer command line is no example that anybody reads.
const LONGEST_EXAMPLE: usize = 300;
const MOST_EXAMPLES: usize = 5;
/// So many calls are named above a rule.
const MOST_REASONS: usize = 3;

/// Suggest rules for what you did not want in past sessions
///
/// Looks for calls that you rejected or interrupted, calls that were undone after your next prompt, and calls that your
/// next prompt complains about and names (in English). It prints a rule for each kind of them, with the calls as
/// examples, unless a rule or guard stops the call already, or the rule would also stop what you let pass. It changes
/// nothing.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost rules suggest                        this project
  provost rules suggest --all --last 30d       all projects, the last 30 days
  provost rules suggest >> provost.toml        in a terminal; then `provost rules test`

Exit codes: 0 done, also if there is nothing to suggest; 1 there are no sessions; 64 wrong usage;
74 a file or directory cannot be read.")]
pub(super) struct Suggest {
    #[command(flatten)]
    sessions: PastOptions,
}

/// What was found in all sessions.
#[derive(Default)]
struct Findings {
    sessions: usize,
    regrets: Vec<Regret>,
    accepted: HashSet<CallSubject>,
    /// Calls that a rule or guard of now stops already.
    stopped_already: usize,
}

impl Suggest {
    pub(super) fn run(self) -> CommandResult {
        let client = current_client();
        let Some(past) = &client.past_sessions else {
            return Err(CommandError::Io(format!("`{}` keeps no records of past sessions", client.name)));
        };
        let here = CurrentProject::locate()?;
        let places = read_places();
        let selection = self.sessions.select(past, &places, &self.sessions.find_scope()?)?;
        if selection.sessions.is_empty() {
            report("there are no past sessions. To fix: use `--all`, or `--transcripts DIR`.");
            return Ok(Exit::Problem);
        }
        let overridden = list_overridden_calls(&here)?;
        let named_packs = Overview::open_here()?.packs_only_named();
        let source = ConfigSource { layers: here.layers.clone(), with_last_good: true, named_packs };
        let mut judge = Judge::new(client, &[source], &places);
        let begin = self.sessions.begin_millis();
        let mut findings = Findings::default();
        let mut seen = HashSet::new();
        for session in &selection.sessions {
            let mut reading =
                SessionReading { past, begin, overridden: &overridden, judge: &mut judge, seen: &mut seen };
            reading.read(session, &mut findings);
        }
        let (_, workspace) = open_current_workspace()?;
        print_rules(findings, &workspace)
    }
}

/// The ids of the calls that the user allowed by an override.
fn list_overridden_calls(here: &CurrentProject) -> Result<HashSet<String>, CommandError> {
    let mut calls = HashSet::new();
    here.visit_journal(|line| {
        let record = JournalRecord::parse_bytes(line).filter(JournalRecord::is_overridden);
        calls.extend(record.map(|record| record.text("call").to_owned()));
    })?;
    Ok(calls)
}

/// Reads one session after another.
struct SessionReading<'a> {
    past: &'static crate::clients::past::PastSessions,
    begin: Option<u64>,
    /// The calls that the user allowed by an override.
    overridden: &'a HashSet<String>,
    judge: &'a mut Judge,
    /// What a file had already: forks repeat the history.
    seen: &'a mut HashSet<String>,
}

impl SessionReading<'_> {
    fn read(&mut self, session: &SessionFiles, findings: &mut Findings) {
        let detail = Detail { texts: true, ..self.judge.detail() };
        let reader = SessionReader::new(self.past, session, detail, true);
        let mut project = None;
        let mut regrets = SessionRegrets::default();
        for item in reader {
            let SessionItem::Event(event, _) = item else { continue };
            let project = project.get_or_insert_with(|| self.judge.begin_session(&event).to_owned());
            let is_early = event.time.zip(self.begin).is_some_and(|(time, begin)| time < begin);
            let is_repeated =
                event.id.as_deref().is_some_and(|id| !self.seen.insert(describe_id(&event, id)));
            if is_early || is_repeated {
                continue;
            }
            if self.is_stopped_already(&event) {
                findings.stopped_already += 1;
                continue;
            }
            let is_wanted = event.id.as_deref().is_some_and(|id| self.overridden.contains(id));
            regrets.add(&event, (self.past.build_event)(&event), project, is_wanted);
        }
        regrets.end();
        findings.sessions += 1;
        findings.regrets.extend(regrets.regrets);
        findings.accepted.extend(regrets.accepted);
    }

    /// Whether the rules and guards of now stop a call that the user rejected.
    fn is_stopped_already(&mut self, event: &PastEvent) -> bool {
        let PastEventKind::Call(call, fate @ CallFate::RejectedByUser) = &event.kind else { return false };
        let judgement = self.judge.judge_call(event, call, *fate);
        judgement.decisions(event).next().is_some()
    }
}

fn describe_id(event: &PastEvent, id: &str) -> String {
    match event.kind {
        PastEventKind::Call(..) => format!("call {id}"),
        PastEventKind::Finished(..) => format!("result {id}"),
        PastEventKind::Stop { .. } => format!("stop {id}"),
        _ => format!("record {id}"),
    }
}

fn print_rules(findings: Findings, workspace: &Workspace) -> CommandResult {
    let Findings { sessions, regrets, accepted, stopped_already } = findings;
    let count = regrets.len();
    let (drafts, mut left_out) = draft_rules(regrets, &accepted);
    let mut rules: Vec<DraftedRule> = Vec::new();
    let mut comments = Vec::new();
    for draft in &drafts {
        match draft_rule(draft, workspace) {
            Some(rule) => {
                add_unique(&mut rules, rule);
                comments.push(describe_regrets(&draft.regrets));
            }
            None => left_out += draft.regrets.len(),
        }
    }
    let mut out = anstream::stdout().lock();
    for (rule, comment) in rules.iter().zip(&comments) {
        write!(out, "{comment}[[rule]]\n{}\n", rule.render())?;
    }
    let counted = |count: usize, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
    let mut text = format!(
        "{} for {} that you did not want, in {}.",
        counted(rules.len(), "rule"),
        counted(count, "call"),
        counted(sessions, "session")
    );
    if left_out > 0 {
        text += &format!(
            " {left_out} gave no rule, because it would also stop what you let pass, or has no words that a rule can say."
        );
    }
    if stopped_already > 0 {
        text += &format!(" {stopped_already} more would be stopped by a rule or guard that you have.");
    }
    report(&text);
    Ok(Exit::Done)
}

fn draft_rule(draft: &RuleDraft, workspace: &Workspace) -> Option<DraftedRule> {
    let reason = draft.regrets.iter().find_map(|regret| match regret.sign {
        RegretSign::Rejected => None,
        RegretSign::Undone(_) => Some("you undid it before"),
        RegretSign::Complaint(_) => Some("you complained about it before"),
    });
    let mut rule = DraftedRule {
        name: make_name(&format!("ask-{}", draft.pattern.to_lowercase()), "ask"),
        patterns: vec![(draft.key, vec![draft.pattern.clone()])],
        action: Some(("ask", reason.unwrap_or("you rejected it before").into())),
        ..DraftedRule::default()
    };
    for regret in &draft.regrets {
        let example = match &regret.subject {
            CallSubject::Command(line) => RuleExample::Line(shorten_example(line)?),
            CallSubject::Write(path) => RuleExample::Write(path.clone()),
            CallSubject::Read(path) => RuleExample::Read(path.clone()),
            CallSubject::Use(tool) => RuleExample::Tool(tool.clone()),
        };
        if rule.matching.len() < MOST_EXAMPLES && !rule.matching.contains(&example) {
            rule.matching.push(example);
        }
    }
    rule.not_matching
        .extend(draft.others.iter().filter_map(|line| shorten_example(line)).map(RuleExample::Line));
    rule.drop_failing_examples(workspace);
    // A rule that misses what it was made for is none.
    (!rule.matching.is_empty()).then_some(rule)
}

/// A command line as an example, without secrets; `None` if it is too long.
fn shorten_example(line: &str) -> Option<String> {
    (line.len() <= LONGEST_EXAMPLE).then(|| mask_credentials(line).into_owned())
}

/// What the user did about the calls, as comments.
fn describe_regrets(regrets: &[Regret]) -> String {
    let mut text = String::new();
    for regret in regrets.iter().rev().take(MOST_REASONS) {
        let how = match &regret.sign {
            RegretSign::Rejected => "rejected".to_owned(),
            RegretSign::Undone(line) => format!("undone by `{}`", mask_credentials(line)),
            RegretSign::Complaint(words) => format!("followed by \"{}\"", mask_credentials(words)),
        };
        let time = format_utc_seconds(std::time::Duration::from_millis(regret.time));
        text += &make_one_line(&format!(
            "# {} in session {}: {how}",
            time.get(..10).unwrap_or(&time),
            regret.session
        ));
        text.push('\n');
    }
    if regrets.len() > MOST_REASONS {
        text += &format!("# and {} more\n", regrets.len() - MOST_REASONS);
    }
    text
}

fn report(text: &str) {
    eprintln!("{}", wrap(&make_one_line(&format!("[provost] {text}")), 0, text_width()));
}
