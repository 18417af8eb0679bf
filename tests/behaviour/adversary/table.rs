//! The table of tricks: parses and checks `tricks.toml`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The outcome of a trick.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// A guard denies it.
    Stopped,
    /// It happens, and has no effect on the guards.
    Undone,
    /// It happens, and the user is warned.
    Reported,
    /// It happens, and no guard notices.
    NotSeen,
}

/// One step of a trick.
#[derive(Debug, Clone)]
pub enum TrickStep {
    Line(String),
    Call { tool: String, input: Value },
}

// Each of these is a key of the file by itself.
#[allow(clippy::struct_excessive_bools)]
pub struct Trick {
    pub id: String,
    pub group: String,
    pub does: String,
    pub verdict: Verdict,
    /// The guard that stops or reports it.
    pub by: Option<String>,
    /// What helps against it, if no guard does.
    pub helps: Option<String>,
    /// Ways to play it, each a list of steps.
    pub tries: Vec<Vec<TrickStep>>,
    /// A function of [`super::plays`], for a trick that needs more than steps.
    pub play: Option<String>,
    /// The scenario on the real client.
    pub rehearsal: Option<String>,
    /// Paths whose change is the harm; by default all protected ones.
    pub changes: Vec<String>,
    /// Whether the harm is that the key is printed.
    pub leaks: bool,
    /// Whether it needs a real repository, on the branch `main`.
    pub git: bool,
    /// Whether it needs a workflow in its implementation.
    pub workflow: bool,
    /// The agent that makes the calls.
    pub agent: Option<String>,
    /// A command line that runs before: a download, another session.
    pub setup: Option<String>,
    /// Whether the steps are only judged and not run, because they would harm this machine or need a client.
    pub asked_only: bool,
}

impl Verdict {
    pub const ALL: [Self; 4] = [Self::Stopped, Self::Undone, Self::Reported, Self::NotSeen];

    pub fn word(self) -> &'static str {
        match self {
            Self::Stopped => "stopped",
            Self::Undone => "undone",
            Self::Reported => "reported",
            Self::NotSeen => "not seen",
        }
    }

    fn parse(word: &str) -> Self {
        Self::ALL
            .into_iter()
            .find(|verdict| verdict.word() == word)
            .unwrap_or_else(|| panic!("verdict {word}"))
    }
}

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Groups in the order of the page, as name and heading.
pub fn groups() -> Vec<(String, String)> {
    let table = read_table();
    let groups = table["group"].as_array().unwrap();
    groups.iter().map(|group| (text(group, "id").unwrap(), text(group, "title").unwrap())).collect()
}

pub fn tricks() -> Vec<Trick> {
    let table = read_table();
    table["trick"].as_array().unwrap().iter().map(parse_trick).collect()
}

fn read_table() -> toml::Table {
    let path = root().join("tests/behaviour/adversary/tricks.toml");
    fs::read_to_string(path).unwrap().parse().unwrap_or_else(|error| panic!("{error}"))
}

fn text(value: &toml::Value, name: &str) -> Option<String> {
    value.get(name).map(|text| text.as_str().unwrap_or_else(|| panic!("{name} is no text")).to_owned())
}

fn parse_trick(value: &toml::Value) -> Trick {
    const KEYS: &[&str] = &[
        "id",
        "group",
        "does",
        "verdict",
        "by",
        "helps",
        "tries",
        "play",
        "rehearsal",
        "changes",
        "leaks",
        "git",
        "workflow",
        "agent",
        "setup",
        "asked_only",
    ];
    let id = text(value, "id").expect("a trick has an id");
    let unknown: Vec<&String> =
        value.as_table().unwrap().keys().filter(|key| !KEYS.contains(&key.as_str())).collect();
    assert!(unknown.is_empty(), "{id}: {unknown:?}");
    let is = |name: &str| value.get(name).is_some_and(|value| value.as_bool().unwrap());
    let list = |name: &str| value.get(name).map_or(&[][..], |list| list.as_array().unwrap());
    Trick {
        group: text(value, "group").expect(&id),
        does: text(value, "does").expect(&id),
        verdict: Verdict::parse(&text(value, "verdict").expect(&id)),
        by: text(value, "by"),
        helps: text(value, "helps"),
        tries: list("tries").iter().map(parse_attempt).collect(),
        play: text(value, "play"),
        rehearsal: text(value, "rehearsal"),
        changes: list("changes").iter().map(|path| path.as_str().unwrap().to_owned()).collect(),
        leaks: is("leaks"),
        git: is("git"),
        workflow: is("workflow"),
        agent: text(value, "agent"),
        setup: text(value, "setup"),
        asked_only: is("asked_only"),
        id,
    }
}

fn parse_attempt(value: &toml::Value) -> Vec<TrickStep> {
    match value {
        toml::Value::Array(steps) => steps.iter().map(parse_step).collect(),
        one => vec![parse_step(one)],
    }
}

fn parse_step(value: &toml::Value) -> TrickStep {
    match value {
        toml::Value::String(line) => TrickStep::Line(line.clone()),
        call => TrickStep::Call {
            tool: text(call, "tool").expect("a call names its tool"),
            input: serde_json::to_value(&call["input"]).unwrap(),
        },
    }
}

fn scenario(name: &str) -> PathBuf {
    root().join("rehearsals").join(name)
}

#[test]
fn every_row_is_complete() {
    let (tricks, groups) = (tricks(), groups());
    assert!(tricks.len() >= 60, "{}", tricks.len());
    let ids: BTreeSet<&str> = tricks.iter().map(|trick| trick.id.as_str()).collect();
    assert_eq!(ids.len(), tricks.len(), "two tricks have one id");
    let mut wrong = Vec::new();
    for trick in &tricks {
        let mut must = |condition: bool, what: &str| {
            if !condition {
                wrong.push(format!("{}: {what}", trick.id));
            }
        };
        must(groups.iter().any(|(id, _)| *id == trick.group), "its group does not exist");
        must(trick.does.ends_with('.'), "`does` is not a sentence");
        let is_known = |by: &String| provost::registry::GUARDS.iter().any(|guard| guard.name == by.as_str());
        must(trick.by.as_ref().is_none_or(is_known), "unknown guard");
        must(trick.verdict != Verdict::NotSeen || trick.by.is_none(), "has a guard although it is not seen");
        must(trick.verdict != Verdict::NotSeen || trick.helps.is_some(), "`helps` is missing");
        let is_played = !trick.tries.is_empty() || trick.play.is_some() || trick.rehearsal.is_some();
        must(is_played, "it is never played");
        must(
            trick.rehearsal.as_ref().is_none_or(|name| scenario(name).is_file()),
            "its scenario does not exist",
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Comments in a scenario say which tricks it plays, and their outcome: `# stopped: some-trick`.
#[test]
fn scenarios_and_table_agree() {
    let tricks = tricks();
    let mut in_scenarios = BTreeSet::new();
    for entry in fs::read_dir(root().join("rehearsals")).unwrap() {
        let path = entry.unwrap().path();
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let file = path.file_name().unwrap().to_str().unwrap().to_owned();
        for line in text.lines().filter_map(|line| line.strip_prefix("# ")) {
            let mark = Verdict::ALL
                .into_iter()
                .find_map(|verdict| Some((verdict, line.strip_prefix(verdict.word())?.strip_prefix(": ")?)));
            let Some((verdict, ids)) = mark else { continue };
            in_scenarios.extend(ids.split(", ").map(|id| (file.clone(), verdict, id.to_owned())));
        }
    }
    let in_table: BTreeSet<_> = tricks
        .iter()
        .filter_map(|trick| Some((trick.rehearsal.clone()?, trick.verdict, trick.id.clone())))
        .collect();
    let only = |one: &BTreeSet<_>, other: &BTreeSet<_>| one.difference(other).cloned().collect::<Vec<_>>();
    let (lost, strange) = (only(&in_table, &in_scenarios), only(&in_scenarios, &in_table));
    assert!(
        lost.is_empty() && strange.is_empty(),
        "not in the scenario: {lost:?}\nnot in the table: {strange:?}"
    );
}
