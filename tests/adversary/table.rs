//! The table of tricks: `tricks.toml` as typed values, and the rules that it keeps.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// What comes of a trick.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It does not happen.
    Stopped,
    /// It happens, and has no effect on what the guards believe.
    Undone,
    /// It happens, and the person is told.
    Reported,
    /// It happens, and no guard knows.
    NotSeen,
}

/// One step of a trick.
#[derive(Debug, Clone)]
pub enum Played {
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
    /// What helps against it, where no guard does.
    pub helps: Option<String>,
    /// Ways to play it, each a list of steps.
    pub tries: Vec<Vec<Played>>,
    /// A way that needs more than steps: a function of [`crate::plays`].
    pub play: Option<String>,
    /// The scenario on the real client.
    pub rehearsal: Option<String>,
    /// Paths whose change is the harm; by default all protected ones.
    pub changes: Vec<String>,
    /// The harm is that the key is seen.
    pub leaks: bool,
    /// A real repository, on its branch `main`.
    pub git: bool,
    /// A workflow that is in its implementation.
    pub workflow: bool,
    /// The agent whose calls these are.
    pub agent: Option<String>,
    /// A line that somebody else ran before: a download, another session.
    pub setup: Option<String>,
    /// The guards are asked, and nothing is done: it would harm this machine, or needs a client.
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

    fn read(word: &str) -> Self {
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
    let table = document();
    let groups = table["group"].as_array().unwrap();
    groups.iter().map(|group| (text(group, "id").unwrap(), text(group, "title").unwrap())).collect()
}

pub fn tricks() -> Vec<Trick> {
    let table = document();
    table["trick"].as_array().unwrap().iter().map(trick).collect()
}

fn document() -> toml::Table {
    let path = root().join("tests/adversary/tricks.toml");
    fs::read_to_string(path).unwrap().parse().unwrap_or_else(|error| panic!("{error}"))
}

fn text(value: &toml::Value, name: &str) -> Option<String> {
    value.get(name).map(|text| text.as_str().unwrap_or_else(|| panic!("{name} is no text")).to_owned())
}

fn trick(value: &toml::Value) -> Trick {
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
        verdict: Verdict::read(&text(value, "verdict").expect(&id)),
        by: text(value, "by"),
        helps: text(value, "helps"),
        tries: list("tries").iter().map(attempt).collect(),
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

fn attempt(value: &toml::Value) -> Vec<Played> {
    match value {
        toml::Value::Array(steps) => steps.iter().map(step).collect(),
        one => vec![step(one)],
    }
}

fn step(value: &toml::Value) -> Played {
    match value {
        toml::Value::String(line) => Played::Line(line.clone()),
        call => Played::Call {
            tool: text(call, "tool").expect("a call names its tool"),
            input: serde_json::to_value(&call["input"]).unwrap(),
        },
    }
}

fn scenario(name: &str) -> PathBuf {
    root().join("rehearsals").join(name)
}

#[test]
fn every_row_is_whole() {
    let (tricks, groups) = (tricks(), groups());
    assert!(tricks.len() >= 60, "{}", tricks.len());
    let ids: BTreeSet<&str> = tricks.iter().map(|trick| trick.id.as_str()).collect();
    assert_eq!(ids.len(), tricks.len(), "two tricks have one id");
    let mut wrong = Vec::new();
    for trick in &tricks {
        let mut must = |holds: bool, what: &str| {
            if !holds {
                wrong.push(format!("{}: {what}", trick.id));
            }
        };
        must(groups.iter().any(|(id, _)| *id == trick.group), "its group is not in the list");
        must(trick.does.ends_with('.'), "what it does is no sentence");
        let is_known = |by: &String| provost::registry::GUARDS.iter().any(|guard| guard.name == by.as_str());
        must(trick.by.as_ref().is_none_or(is_known), "no guard has this name");
        must(trick.verdict != Verdict::NotSeen || trick.by.is_none(), "a guard that does not see it");
        must(trick.verdict != Verdict::NotSeen || trick.helps.is_some(), "what helps is not said");
        let is_played = !trick.tries.is_empty() || trick.play.is_some() || trick.rehearsal.is_some();
        must(is_played, "nobody plays it");
        must(
            trick.rehearsal.as_ref().is_none_or(|name| scenario(name).is_file()),
            "there is no such scenario",
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A scenario says in comments which tricks it plays, and what must come of them: `# stopped: some-trick`.
#[test]
fn scenarios_and_table_agree() {
    let tricks = tricks();
    let mut said = BTreeSet::new();
    for entry in fs::read_dir(root().join("rehearsals")).unwrap() {
        let path = entry.unwrap().path();
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let file = path.file_name().unwrap().to_str().unwrap().to_owned();
        for line in text.lines().filter_map(|line| line.strip_prefix("# ")) {
            let mark = Verdict::ALL
                .into_iter()
                .find_map(|verdict| Some((verdict, line.strip_prefix(verdict.word())?.strip_prefix(": ")?)));
            let Some((verdict, ids)) = mark else { continue };
            said.extend(ids.split(", ").map(|id| (file.clone(), verdict, id.to_owned())));
        }
    }
    let planned: BTreeSet<_> = tricks
        .iter()
        .filter_map(|trick| Some((trick.rehearsal.clone()?, trick.verdict, trick.id.clone())))
        .collect();
    let only = |one: &BTreeSet<_>, other: &BTreeSet<_>| one.difference(other).cloned().collect::<Vec<_>>();
    let (lost, strange) = (only(&planned, &said), only(&said, &planned));
    assert!(
        lost.is_empty() && strange.is_empty(),
        "not in the scenario: {lost:?}\nnot in the table: {strange:?}"
    );
}
