//! Whether a rule matches a tool call.
//!
//! Keys about the call (tool, agent) are compared first, because they cost nothing. All keys about effects must match in
//! one command: `rm -r build && rm -r src` is judged command by command.

use crate::prelude::*;
use std::path::Path;
use std::rc::Rc;

use super::paths::{self, PathUse};
use super::scene::{BranchQuestion, CommandEffects, Scene};
use super::{commits, pushes, runs, saved};
use crate::branch_finder::{BranchFinder, PossibleBranch};
use provost_core::effect::git::{GitSite, SwitchTarget};
use provost_core::event::Event;
use provost_core::opinion::Fault;
use provost_core::places::is_within;
use provost_core::rules::path_pattern::matches_name;
use provost_core::rules::{Rule, RuleSubject, RuleText, UnknownMeans, Unless};
use provost_core::tool::Tool;
use provost_core::workspace::git_repository::Repository;

/// What a rule found in a call.
pub(super) struct RuleMatch {
    /// The facts, for the journal.
    pub(super) evidence: Vec<String>,
    /// It matches only for some value of a word that cannot be known.
    pub(super) is_unknown: bool,
}

/// Whether a key matches a command.
pub(super) enum KeyMatch {
    No,
    Unknown,
    /// What matched.
    Yes(String),
}

/// What a rule finds in a call. A rule with a broken pattern decides nothing; `config check` reports it.
pub(super) fn match_call(rule: &Rule, scene: &Scene<'_>) -> Result<Option<RuleMatch>, Fault> {
    Ok(match_subject(rule, scene)?.filter(|_| !rule.has_broken_pattern()))
}

fn match_subject(rule: &Rule, scene: &Scene<'_>) -> Result<Option<RuleMatch>, Fault> {
    let subject = &rule.subject;
    if !is_in_agent(subject, scene.event) || !matches_tool(subject, scene.event) {
        return Ok(None);
    }
    if !has_effect_keys(subject) {
        let is_here = subject.on_branch.is_empty() || is_on_branch(subject, &scene.start_site(), scene)?;
        return Ok(is_here.then(|| RuleMatch { evidence: Vec::new(), is_unknown: false }));
    }
    let mut unknown = None;
    for command in scene.commands() {
        match match_command(subject, command, scene)? {
            Some(found) if !found.is_unknown => return Ok(Some(found)),
            found => unknown = unknown.or(found),
        }
    }
    Ok(unknown.filter(|_| subject.unknown != UnknownMeans::Pass))
}

/// The index of the last command that a rule is about.
pub(super) fn find_last_match(rule: &Rule, scene: &Scene<'_>) -> Result<Option<usize>, Fault> {
    for (index, command) in scene.commands().iter().enumerate().rev() {
        if match_command(&rule.subject, command, scene)?.is_some() {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

fn has_effect_keys(subject: &RuleSubject) -> bool {
    let lists = [&subject.runs, &subject.commits, &subject.pushes];
    subject.has_path_keys() || lists.iter().any(|list| !list.is_empty())
}

pub(super) fn is_in_agent(subject: &RuleSubject, event: &Event) -> bool {
    if subject.in_agent.is_empty() {
        return true;
    }
    let agent = event.agent.as_ref();
    let is_main = agent.is_none_or(|agent| agent.id.is_none());
    let kind = agent.and_then(|agent| agent.kind.as_deref());
    names(&subject.in_agent).any(|name| {
        // An agent may have this name too.
        if name == "main" { is_main } else { kind.is_some_and(|kind| matches_agent(name, kind)) }
    })
}

fn matches_tool(subject: &RuleSubject, event: &Event) -> bool {
    let Some(call) = event.call() else { return false };
    // `except` has the form of the first key that the rule has.
    let exceptions = if has_effect_keys(subject) { &[] } else { subject.except.as_slice() };
    let is_used = |list: &[RuleText]| names(list).any(|one| call.names().any(|name| matches_name(one, name)));
    let uses = subject.uses.is_empty() || is_used(&subject.uses) && !is_used(exceptions);
    let exceptions = if subject.uses.is_empty() { exceptions } else { &[] };
    let delegates = subject.delegates.is_empty()
        || match &call.tool {
            Tool::Delegate { agent, .. } => {
                let agent = agent.as_deref().unwrap_or("general-purpose");
                let is_one = |list: &[RuleText]| names(list).any(|name| matches_agent(name, agent));
                is_one(&subject.delegates) && !is_one(exceptions)
            }
            _ => false,
        };
    uses && delegates
}

/// Whether a pattern matches the type of an agent. A name without a plugin is that of an agent in any plugin.
fn matches_agent(pattern: &str, kind: &str) -> bool {
    let in_plugin = kind.rsplit_once(':').filter(|_| !pattern.contains(':'));
    matches_name(pattern, kind) || in_plugin.is_some_and(|(_, name)| matches_name(pattern, name))
}

/// The alternatives of a key whose values are names.
pub(super) fn names(list: &[RuleText]) -> impl Iterator<Item = &str> {
    list.iter().flat_map(|text| text.text.split('|')).map(str::trim)
}

fn match_command(
    subject: &RuleSubject,
    command: &CommandEffects<'_>,
    scene: &Scene<'_>,
) -> Result<Option<RuleMatch>, Fault> {
    let mut found = RuleMatch { evidence: Vec::new(), is_unknown: false };
    let mut is_first = true;
    let mut add = |key: KeyMatch| match key {
        KeyMatch::No => false,
        KeyMatch::Unknown => {
            found.is_unknown = true;
            true
        }
        KeyMatch::Yes(evidence) => {
            found.evidence.push(evidence);
            true
        }
    };
    // `except` has the form of the first key that the rule has.
    let mut take_exceptions = || if std::mem::take(&mut is_first) { subject.except.as_slice() } else { &[] };
    if !subject.runs.is_empty() && !add(runs::match_runs(subject, take_exceptions(), command, scene)) {
        return Ok(None);
    }
    let path_keys = [
        (&subject.reads, PathUse::Read),
        (&subject.shows, PathUse::Show),
        (&subject.sends, PathUse::Send),
        (&subject.writes, PathUse::Write),
        (&subject.deletes, PathUse::Delete),
        (&subject.changes, PathUse::Change),
    ];
    for (patterns, use_of_path) in path_keys {
        if patterns.is_empty() {
            continue;
        }
        let adds = subject.adds.as_ref().filter(|_| matches!(use_of_path, PathUse::Write | PathUse::Change));
        let wanted = paths::PathKey { patterns, exceptions: take_exceptions(), path_use: use_of_path, adds };
        if !add(paths::match_paths(&wanted, subject, command, scene)?) {
            return Ok(None);
        }
    }
    if subject.adds.is_some() && subject.writes.is_empty() && subject.changes.is_empty() {
        let wanted = paths::PathKey {
            patterns: &[],
            exceptions: &[],
            path_use: PathUse::Write,
            adds: subject.adds.as_ref(),
        };
        if !add(paths::match_paths(&wanted, subject, command, scene)?) {
            return Ok(None);
        }
    }
    if !subject.commits.is_empty()
        && !add(commits::match_commits(subject, take_exceptions(), &command.effects, scene)?)
    {
        return Ok(None);
    }
    if !subject.pushes.is_empty()
        && !add(pushes::match_pushes(subject, take_exceptions(), &command.effects, scene)?)
    {
        return Ok(None);
    }
    if !subject.on_branch.is_empty() && !is_on_branch(subject, &scene.find_site(command), scene)? {
        return Ok(None);
    }
    if subject.unless.contains(&Unless::Saved) && saved::is_saved(command, scene) {
        return Ok(None);
    }
    Ok(Some(found))
}

fn is_on_branch(subject: &RuleSubject, site: &GitSite, scene: &Scene<'_>) -> Result<bool, Fault> {
    let branches = find_branches(site, scene)?;
    Ok(branches.iter().any(|branch| matches_branch(&subject.on_branch, branch)))
}

/// The branches that may be checked out at a place.
pub(super) fn find_branches(site: &GitSite, scene: &Scene<'_>) -> Result<Rc<[PossibleBranch]>, Fault> {
    scene.cached_branches(site, &BranchQuestion::CheckedOut, || {
        if scene.is_example {
            return Ok(vec![find_named_branch(site, scene)]);
        }
        if let Some(recorded) = find_recorded_branches(site, scene) {
            return Ok(recorded);
        }
        let Some(own) = find_repository(site, scene) else { return Ok(Vec::new()) };
        let effects = scene.event.effects();
        let finder = BranchFinder { workspace: scene.workspace, own: &own, start: &scene.event.cwd, effects };
        Ok(finder.find_branches(site)?.unwrap_or_default())
    })
}

/// The branches that may have been checked out in a past session, by its record: the repository may be on another branch
/// by now, or gone. `None`: the record does not say, or it is about another repository.
fn find_recorded_branches(site: &GitSite, scene: &Scene<'_>) -> Option<Vec<PossibleBranch>> {
    let recorded = scene.workspace.find_recorded_branch()?;
    let place = site.repository.as_deref().or_else(|| site.possible.last().map(|place| &**place));
    let is_own = |place: &Path| {
        let cwd = &*scene.event.cwd;
        is_within(place, cwd) || is_within(cwd, place) || is_within(place, &scene.workspace.project)
    };
    if place.is_some_and(|place| !is_own(place)) {
        return None;
    }
    if recorded.is_empty() {
        return Some(Vec::new());
    }
    let current = PossibleBranch::from_record(&recorded);
    let mut branches = Vec::new();
    for switch in site.switches.iter().rev() {
        match &switch.target {
            SwitchTarget::Created(_) => continue,
            SwitchTarget::New(name) | SwitchTarget::Existing { name, .. } => {
                branches.push(PossibleBranch::Named(name.clone()));
            }
            SwitchTarget::Detached => branches.push(PossibleBranch::None),
            _ => branches.push(PossibleBranch::Unknown),
        }
        if switch.is_certain {
            return Some(branches);
        }
    }
    branches.push(current);
    Some(branches)
}

/// The repository of a place, or of the session.
pub(super) fn find_repository(site: &GitSite, scene: &Scene<'_>) -> Option<Repository> {
    if scene.is_example {
        return None;
    }
    let place = site.repository.as_deref().or_else(|| site.possible.last().map(|place| &**place));
    let found = place.and_then(|place| scene.workspace.find_repository(place));
    found.or_else(|| scene.workspace.find_repository(&scene.event.cwd))
}

/// The branch that an example names.
fn find_named_branch(site: &GitSite, scene: &Scene<'_>) -> PossibleBranch {
    use provost_core::effect::git::NamedBranch;
    match site.named_branch() {
        NamedBranch::Named(name) => PossibleBranch::Named(name.to_owned()),
        NamedBranch::Current if let Some(branch) = &scene.example_facts.branch => {
            PossibleBranch::Named(branch.clone())
        }
        _ => PossibleBranch::Unknown,
    }
}

/// The first branch that a rule is about and does not except.
pub(super) fn find_matching_branch<'b>(
    branches: &'b [PossibleBranch],
    patterns: &[RuleText],
    exceptions: &[RuleText],
) -> Option<&'b PossibleBranch> {
    let is_excepted = |branch: &PossibleBranch| match branch {
        PossibleBranch::Named(name) => matches_branch_name(exceptions, name),
        _ => false,
    };
    branches.iter().find(|branch| matches_branch(patterns, branch) && !is_excepted(branch))
}

/// Whether one of the patterns matches a branch. One that cannot be known may be any.
fn matches_branch(patterns: &[RuleText], branch: &PossibleBranch) -> bool {
    match branch {
        PossibleBranch::Named(branch) => matches_branch_name(patterns, branch),
        PossibleBranch::Unknown => true,
        PossibleBranch::None => names(patterns).any(|pattern| pattern == "*"),
    }
}

fn matches_branch_name(patterns: &[RuleText], branch: &str) -> bool {
    let mut result = false;
    for pattern in names(patterns) {
        let (is_negated, pattern) = pattern.strip_prefix('!').map_or((false, pattern), |rest| (true, rest));
        if matches_name(pattern, branch) {
            result = !is_negated;
        }
    }
    result
}
