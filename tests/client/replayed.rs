//! Replaying the transcripts of a rehearsal gives the decisions of its journal.
//!
//! The hook judged the calls when they happened, and the journal has its decisions. The replay judges what the client
//! recorded, after the rehearsal. Both have to say the same about every call and every end of a turn that the hook was
//! asked about. What cannot be judged in the past must be listed as such. What a replay cannot know is named in
//! [`DIFFERENT`].

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use provost::registry::find_guard;
use rehearsal::Playback;
use serde_json::Value;

/// The rehearsals in which Provost is missing, so that there is no journal.
const WITHOUT_JOURNAL: &[&str] = &[
    "phases-without-provost.toml",
    "plan-gate-without-provost.toml",
    "planner-without-provost.toml",
    "review-loop-without-provost.toml",
    "terminal-missing-program.toml",
    "terminal-shared-without-provost.toml",
];

/// What a replay cannot know: in a rehearsal, this guard decides differently about so many calls.
const DIFFERENT: &[(&str, &str, usize)] = &[
    // The hook's environment named the plugin that called it, and the hook knew where its own program is.
    ("adversary-off.toml", "self-guard", 1),
    ("adversary-plugin.toml", "self-guard", 5),
    // The claim of the last write has come true since.
    ("phases-state.toml", "state-write-validator", 1),
    // The tests pass by now.
    ("phases-tests.toml", "gate-blocker", 1),
    ("phases-tests.toml", "iteration-corridor", 1),
];

/// How often a judge decided so about a call, or about the ends of the turns of a session.
type Decisions = BTreeMap<(String, String, String), usize>;

/// What the journal of a rehearsal says.
#[derive(Default)]
struct Journal {
    lines: usize,
    decisions: Decisions,
    calls: BTreeSet<String>,
}

/// Compares the journal of a rehearsal with a replay of its transcripts.
pub fn check_replay(name: &str, playback: &Playback) {
    let journal = read_journal(&playback.home);
    let has_transcript = !find_files(&playback.home.join(".claude/projects"), "jsonl").is_empty();
    assert_eq!(journal.lines == 0, WITHOUT_JOURNAL.contains(&name), "{name}: {} lines", journal.lines);
    if journal.lines == 0 {
        return;
    }
    assert!(has_transcript, "{name}: the client has left no transcript");
    let replay = replay(playback);
    let unjudged = replay["not_judged"].as_array().unwrap().iter();
    let unjudged: BTreeSet<&str> = unjudged.map(|one| one["rule_or_guard"].as_str().unwrap()).collect();
    let replayed = read_replay(&replay, &journal.calls);
    let mut differences: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut wrong = Vec::new();
    for key in journal.decisions.keys().chain(replayed.keys()).collect::<BTreeSet<_>>() {
        let (_, judge, word) = key;
        let judge = judge.as_str();
        let (then, now) = (journal.decisions.get(key), replayed.get(key));
        let cannot_judge = find_guard(judge).is_some_and(|guard| guard.unjudged_in_past.is_some())
            || unjudged.contains(judge);
        if cannot_judge {
            // A warning of a guard that only observes stops nothing, so nobody misses it in a replay.
            let is_listed = unjudged.contains(judge) || word == "warn";
            if now.is_some() || !is_listed {
                wrong.push(format!("{key:?} is guessed, or not listed: {now:?}"));
            }
        } else if then != now {
            let text = format!("{key:?}: {then:?} in the journal, {now:?} in the replay");
            differences.entry(judge).or_default().push(text);
        }
    }
    let expected = DIFFERENT.iter().filter(|(rehearsal, ..)| *rehearsal == name);
    let expected: BTreeMap<&str, usize> = expected.map(|(_, judge, count)| (*judge, *count)).collect();
    let found: BTreeMap<&str, usize> =
        differences.iter().map(|(judge, texts)| (*judge, texts.len())).collect();
    assert!(wrong.is_empty() && found == expected, "{name}: {wrong:#?} {differences:#?}\n{replay:#}");
}

/// Replays all transcripts in the environment of the client.
fn replay(playback: &Playback) -> Value {
    let environment = playback.environment.iter().filter(|(name, _)| name != "PROVOST_FAULT");
    let output = Command::new(env!("CARGO_BIN_EXE_provost"))
        .args(["replay", "--all", "--json"])
        .current_dir(&playback.project)
        .env_clear()
        .envs(environment.cloned())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && stderr.is_empty(), "{:?}: {stderr}", output.status);
    serde_json::from_slice(&output.stdout).unwrap()
}

fn read_journal(home: &Path) -> Journal {
    let mut journal = Journal::default();
    for file in find_files(&home.join(".local/state/provost/projects"), "jsonl") {
        for line in fs::read_to_string(file).unwrap().lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            journal.lines += 1;
            let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
            let subject = match text("event").as_str() {
                "PreToolUse" => text("call"),
                "Stop" | "SubagentStop" => text("session"),
                _ => continue,
            };
            let is_call = text("event") == "PreToolUse";
            journal.calls.extend(is_call.then(|| subject.clone()));
            for guard in line["guards"].as_array().unwrap() {
                let judge = guard["guard"].as_str().unwrap();
                let Some(word) = find_word(guard["opinion"].as_str().unwrap()) else { continue };
                let count =
                    journal.decisions.entry((subject.clone(), judge.into(), word.into())).or_default();
                // Several entries may have asked about one call.
                *count = if is_call { 1 } else { *count + 1 };
            }
        }
    }
    journal
}

/// What a replay says in the place of an opinion of the journal. `None`: nothing, because a fault is made up.
fn find_word(opinion: &str) -> Option<&'static str> {
    match opinion {
        // The user has lifted it.
        "deny" | "overridden" => Some("deny"),
        "ask" => Some("ask"),
        "note" => Some("warn"),
        "would deny" => Some("watched deny"),
        "would ask" => Some("watched ask"),
        "would warn" => Some("watched warn"),
        "silence" | "fault" => None,
        other => panic!("an opinion that no replay has: {other}"),
    }
}

/// The decisions of a replay about the ends of turns, and about calls that the hook was asked about.
fn read_replay(replay: &Value, calls: &BTreeSet<String>) -> Decisions {
    let mut decisions = Decisions::new();
    for one in replay["decisions"].as_array().unwrap() {
        let text = |name: &str| one[name].as_str().unwrap_or_default().to_owned();
        let is_call = !one["call"].is_null();
        if is_call && !calls.contains(&text("call")) {
            continue;
        }
        let subject = if is_call { text("call") } else { text("session") };
        let watched = if one["watched"] == true { "watched " } else { "" };
        let word = format!("{watched}{}", text("decision"));
        *decisions.entry((subject, text("rule_or_guard"), word)).or_default() += 1;
    }
    decisions
}

fn find_files(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(find_files(&path, extension));
        } else if path.extension().is_some_and(|other| other == extension) {
            found.push(path);
        }
    }
    found
}
