//! Asks the guards of one or two configurations about past events.
//!
//! Agents repeat themselves: the same command in the same directory gets the same answer, so it is judged once. That
//! holds as long as no rule depends on what the session did before.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::branch_tracker::{BranchTracker, may_switch};
use super::result::{DecisionChange, PastDecision};
use crate::clients::Client;
use crate::clients::past::json_scan::{read_string, visit_fields};
use crate::clients::past::{CallFate, Detail, PastCall, PastEvent, PastEventKind};
use crate::config::{Config, ConfigLayer};
use crate::environment::make_workspace;
use crate::event::{Event, EventKind};
use crate::guard::Guard;
use crate::journal::mask::mask_credentials;
use crate::opinion::Verdict;
use crate::past_judgement::{Outcome, PastFinding, ask_in_past};
use crate::phases::workflow_context::WORKFLOW_FOLDER;
use crate::places::{Places, find_project_root, resolve_path};
use crate::registry::{GuardSelection, RULES, find_guard, guard_settings};
use crate::review_loop::plan::PLANS;
use crate::rules::Unless;
use crate::text::truncate_utf16;
use crate::tool::Tool;
use crate::workspace::{RecordedFacts, Workspace};

/// At most so many answers are remembered.
const MOST_REMEMBERED: usize = 1 << 16;
/// How much of a command or a reason is shown.
const LONGEST: usize = 2000;

/// The files of one configuration.
#[derive(Debug, Clone)]
pub struct ConfigSource {
    pub layers: Vec<(ConfigLayer, PathBuf)>,
    /// Whether a broken file counts as its last good version, as in the hook.
    pub with_last_good: bool,
    /// The packs that only a hook entry switches on, not a setting.
    pub named_packs: Vec<String>,
}

impl ConfigSource {
    pub fn load(&self, places: &Places) -> Config {
        let kept = places.kept_rules_directory().filter(|_| self.with_last_good);
        Config::load(&self.layers, guard_settings, kept.as_deref(), None)
    }
}

/// What guards and rules would have done about an event.
#[derive(Debug, Default)]
pub struct Judgement {
    verdicts: Vec<JudgedBy>,
    /// Guards and rules that could not judge, with the reason.
    pub unjudged: Vec<(Arc<str>, &'static str)>,
    what: Arc<str>,
    /// The call may check out another branch.
    may_switch: bool,
    /// No guard could be asked, because the input of the call is too large or cannot be read.
    pub is_unreadable: bool,
}

#[derive(Debug)]
struct JudgedBy {
    name: Arc<str>,
    outcome: Outcome,
    is_exact: bool,
    is_watched: bool,
    why: Arc<str>,
    change: Option<DecisionChange>,
}

pub struct Judge {
    client: &'static Client,
    /// That of the configuration, and of the one to compare with.
    workspaces: Vec<Workspace>,
    /// Asks packs that no setting switches on.
    named: Option<GuardSelection>,
    /// Rules ask what the session did before.
    pub needs_evidence: bool,
    hasher: RandomState,
    remembered: HashMap<u64, Arc<Judgement>>,
    /// The answer about which there is nothing to say.
    plain: Arc<Judgement>,
    /// The directory where the session began, and its project.
    session: (PathBuf, PathBuf),
    branches: BranchTracker,
}

impl Judge {
    pub fn new(client: &'static Client, configs: &[ConfigSource], places: &Places) -> Self {
        let open = |source: &ConfigSource| {
            let config = source.load(places);
            make_workspace(client, PathBuf::new(), PathBuf::new(), places.clone(), config).into_past()
        };
        let workspaces: Vec<Workspace> = configs.iter().map(open).collect();
        let packs = configs.first().map_or_else(Vec::new, |source| source.named_packs.clone());
        let named = (!packs.is_empty()).then_some(GuardSelection { packs, script: None });
        let needs_evidence = workspaces.iter().any(|workspace| needs_evidence(&workspace.config));
        Self {
            client,
            workspaces,
            named,
            needs_evidence,
            hasher: RandomState::new(),
            remembered: HashMap::new(),
            plain: Arc::default(),
            session: (PathBuf::new(), PathBuf::new()),
            branches: BranchTracker::default(),
        }
    }

    /// Which contents of the records it needs.
    pub fn detail(&self) -> Detail {
        let mut rules = self.workspaces.iter().flat_map(|workspace| &workspace.config.rules.rules);
        let asks_for_files =
            rules.any(|rule| rule.subject.adds.is_some() || rule.subject.unless.contains(&Unless::New));
        Detail { texts: self.needs_evidence, results: self.needs_evidence, files: asks_for_files }
    }

    /// Begins with the first event of a session: the client was started where it happened. Returns the project.
    pub fn begin_session(&mut self, first: &PastEvent) -> &Path {
        let cwd = first.cwd.as_deref().map(Path::new).filter(|cwd| cwd.is_absolute());
        let start = resolve_path(cwd.unwrap_or(Path::new("/")));
        let project = find_project_root(&start);
        self.session = (start, project);
        self.workspaces.iter().for_each(Workspace::forget_evidence);
        self.branches.clear();
        &self.session.1
    }

    /// Judges a call that its hooks were asked about.
    pub fn judge_call(&mut self, past: &PastEvent, call: &PastCall, fate: CallFate) -> Arc<Judgement> {
        let judgement = self.find_judgement(past, call);
        if fate == CallFate::Succeeded
            && judgement.may_switch
            && let Some(event) = self.build_event(past)
        {
            self.branches.note_call(past, &event);
        }
        judgement
    }

    fn find_judgement(&mut self, past: &PastEvent, call: &PastCall) -> Arc<Judgement> {
        let may_remember = !self.needs_evidence && call.file_before.is_none();
        let key = may_remember.then(|| self.remember_key(past, call));
        if let Some(known) = key.and_then(|key| self.remembered.get(&key)) {
            return known.clone();
        }
        let judgement = self.judge_event(past);
        // Most calls pass, and share the same answer.
        let judgement = if judgement.is_plain() { self.plain.clone() } else { Arc::new(judgement) };
        if let Some(key) = key {
            if self.remembered.len() >= MOST_REMEMBERED {
                self.remembered.clear();
            }
            self.remembered.insert(key, judgement.clone());
        }
        judgement
    }

    /// Everything on which the answer depends.
    fn remember_key(&self, past: &PastEvent, call: &PastCall) -> u64 {
        let agent = past.agent.as_ref().map(|agent| &agent.kind);
        let branch = self.branches.find_branch(past);
        let event = (&past.cwd, branch, &past.mode, agent, &past.main_agent);
        self.hasher.hash_one((&self.session, event, &call.tool, &call.input, &call.file))
    }

    pub fn judge_event(&mut self, past: &PastEvent) -> Judgement {
        let mut judgement = Judgement::default();
        let Some(event) = self.build_event(past) else {
            judgement.is_unreadable = true;
            return judgement;
        };
        judgement.may_switch = may_switch(&event);
        let facts = RecordedFacts {
            file: find_known_file(past, &event),
            branch: self.branches.find_branch(past).as_deref().map(str::to_owned),
        };
        let mut by_config = Vec::new();
        for workspace in &mut self.workspaces {
            workspace.begin_past_event(&self.session.0, &self.session.1, facts.clone());
            let guards = select_guards(&event, &workspace.config, self.named.as_ref());
            by_config.push(ask_guards(guards, &event, workspace, &mut judgement.unjudged));
        }
        judgement.unjudged.sort_unstable();
        judgement.unjudged.dedup();
        let compared = by_config.len() > 1;
        let mut by_config = by_config.into_iter();
        let (new, old) = (by_config.next().unwrap_or_default(), by_config.next().unwrap_or_default());
        judgement.verdicts = if compared { compare(new, old) } else { new };
        if !judgement.verdicts.is_empty() {
            judgement.what = prepare(&describe(&event, past)).into();
        }
        judgement
    }

    /// The event that a hook got.
    fn build_event(&self, past: &PastEvent) -> Option<Event> {
        (self.client.past_sessions.as_ref()?.build_event)(past)
    }

    /// Lets the rules record what has happened. Only for rules that ask for it later.
    pub fn record(&mut self, past: &PastEvent) {
        if self.needs_evidence {
            self.judge_event(past);
        }
    }
}

fn needs_evidence(config: &Config) -> bool {
    let mut rules = config.rules.rules.iter();
    rules
        .any(|rule| rule.subject.stops || !rule.subject.changed.is_empty() || rule.needed_pattern().is_some())
}

impl Judgement {
    /// The decisions about an event that was judged so.
    pub fn decisions(&self, past: &PastEvent) -> impl Iterator<Item = PastDecision> {
        let (call, tool) = match &past.kind {
            PastEventKind::Call(call, _) => (past.id.clone(), Some(call.tool.as_str().into())),
            _ => (None, None),
        };
        let agent = past.agent.as_ref().map(|agent| agent.kind.clone().unwrap_or_else(|| agent.id.clone()));
        let agent = agent.or_else(|| past.main_agent.clone());
        self.verdicts.iter().map(move |verdict| PastDecision {
            session: past.session.clone(),
            call: call.clone(),
            time: past.time,
            agent: agent.clone(),
            tool: tool.clone(),
            judge: verdict.name.clone(),
            outcome: verdict.outcome,
            is_exact: verdict.is_exact,
            is_watched: verdict.is_watched,
            what: self.what.clone(),
            why: verdict.why.clone(),
            change: verdict.change,
        })
    }

    fn is_plain(&self) -> bool {
        self.verdicts.is_empty() && self.unjudged.is_empty() && !self.may_switch && !self.is_unreadable
    }
}

/// The guards that the hook asks: those that settings switch on, and those of packs that an entry names.
fn select_guards(event: &Event, config: &Config, named: Option<&GuardSelection>) -> Vec<&'static Guard> {
    let mut guards = GuardSelection::select_for_event(event, config);
    if let Some(named) = named {
        let more = named.select_guards(named.select_concerned(event), event, config);
        let is_new = |guard: &&Guard| guards.iter().all(|known| known.name != guard.name);
        let more: Vec<&Guard> = more.into_iter().filter(is_new).collect();
        guards.extend(more);
    }
    guards
}

/// Asks guards about an event, as far as they can judge the past.
fn ask_guards(
    guards: Vec<&'static Guard>,
    event: &Event,
    workspace: &mut Workspace,
    unjudged: &mut Vec<(Arc<str>, &'static str)>,
) -> Vec<JudgedBy> {
    const FAILED: &str = "it failed, or needs more than a past event tells";
    const RUNS: &str = "it runs a command";
    // What follows a call only matters to rules that remember it.
    let is_judged =
        matches!(event.kind, EventKind::BeforeTool(_) | EventKind::Stop(_) | EventKind::SubagentStop(_));
    let mut verdicts = Vec::new();
    for guard in guards {
        if let Some(why) = guard.unjudged_in_past {
            if is_judged && guard.can_block && is_pack_used(guard, &workspace.project) {
                unjudged.push((guard.name.into(), why));
            }
            continue;
        }
        if !is_judged && guard.name != RULES {
            continue;
        }
        let answer = ask_in_past(guard, event, workspace);
        if is_judged {
            let names = answer.unjudged.into_iter();
            unjudged.extend(names.map(|name| {
                let why = if find_guard(&name).is_some() { FAILED } else { RUNS };
                (name.into(), why)
            }));
            verdicts.extend(answer.findings.iter().map(JudgedBy::new));
        }
    }
    verdicts
}

/// Whether a project has what a pack is about. Otherwise its guards would have had nothing to judge.
fn is_pack_used(guard: &Guard, project: &Path) -> bool {
    match guard.pack {
        "review-loop" => project.join(PLANS).is_dir(),
        "phases" => project.join(WORKFLOW_FOLDER).is_dir(),
        _ => true,
    }
}

impl JudgedBy {
    fn new(found: &PastFinding) -> Self {
        let opinion = found.finding.outcome.as_ref().ok();
        let why = opinion.and_then(|opinion| match &opinion.verdict {
            Verdict::Deny(denial) | Verdict::Ask(denial) if !denial.why.is_empty() => {
                Some(denial.why.as_str())
            }
            Verdict::Deny(denial) | Verdict::Ask(denial) => Some(denial.what.as_str()),
            Verdict::Silence => opinion.to_user.as_deref().or(opinion.to_model.as_deref()),
        });
        let why = why.map(|why| why.strip_prefix("[provost] ").unwrap_or(why));
        Self {
            name: found.finding.name().into(),
            outcome: found.outcome,
            is_exact: found.is_exact,
            is_watched: found.finding.is_watched,
            why: prepare(why.unwrap_or_default()).into(),
            change: None,
        }
    }
}

/// Keeps the verdicts about which two configurations differ. What counts is the strictest, whichever rule it comes from.
fn compare(new: Vec<JudgedBy>, old: Vec<JudgedBy>) -> Vec<JudgedBy> {
    let strictest = |verdicts: &[JudgedBy]| {
        verdicts.iter().filter(|verdict| !verdict.is_watched).map(|verdict| verdict.outcome).min()
    };
    let (change, mut verdicts) = match (strictest(&new), strictest(&old)) {
        (now, before) if now == before => return Vec::new(),
        (None, _) => (DecisionChange::Gone, old),
        (Some(_), None) => (DecisionChange::New, new),
        (Some(_), Some(before)) => (DecisionChange::Changed(before), new),
    };
    verdicts.retain(|verdict| !verdict.is_watched);
    for verdict in &mut verdicts {
        verdict.change = Some(change);
    }
    verdicts
}

/// What the event is about: the whole command, the file, the agent. Of another tool, its name and its address or query: any
/// other text could be a secret.
fn describe(event: &Event, past: &PastEvent) -> String {
    let Some(call) = event.call() else { return "the end of a turn".into() };
    if let Tool::Shell { command } = &call.tool {
        return command.trim().to_owned();
    }
    if let Some(subject) = event.full_subject() {
        return subject.into_owned();
    }
    let PastEventKind::Call(recorded, _) = &past.kind else { return event.subject() };
    let mut text = None;
    let _ = visit_fields(&recorded.input, |name, value| {
        if name == b"url" || name == b"query" {
            text = read_string(value);
        }
    });
    match text.filter(|text| !text.trim().is_empty()) {
        Some(text) => format!("{} {}", call.native_tool, text.trim()),
        None => call.native_tool.clone(),
    }
}

/// Cuts a text and masks credentials in it.
fn prepare(text: &str) -> String {
    let masked = mask_credentials(text);
    truncate_utf16(&masked, LONGEST).into_owned()
}

/// The file that a call changed, and what it held before, if the record says so.
fn find_known_file(past: &PastEvent, event: &Event) -> Option<(PathBuf, Option<String>)> {
    let PastEventKind::Call(call, _) = &past.kind else { return None };
    let path = event.make_absolute(Path::new(call.file.as_deref()?));
    Some((path, call.file_before.clone()?))
}
