//! One writer at work in a project of its own, as often as it takes.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::snapshot::{Snapshot, ends, grows, steady, steady_name};
use crate::support::TestProject;
use crate::support::waiting::wait_for_process;

/// A writer that is about to begin.
pub struct Scene {
    pub project: TestProject,
    arguments: Vec<String>,
    input: Vec<u8>,
    /// As on a disk where every file has a name from the start and nothing changes places.
    pub is_plain: bool,
}

/// A writer that makes many files in the same way is not stopped in all of them.
pub const MOST: usize = 36;

/// One step of a writer.
pub struct Step {
    pub guard: String,
    pub name: String,
    /// From the home.
    pub path: String,
}

/// What one whole run does.
pub struct Listing {
    pub steps: Vec<Step>,
    /// What files become, as a whole.
    becomes: BTreeMap<String, Vec<String>>,
}

impl Scene {
    /// A command of the user.
    pub fn command(project: TestProject, arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        Self { project, arguments, input: Vec::new(), is_plain: false }
    }

    /// An event of the client.
    pub fn event(project: TestProject, event: &serde_json::Value) -> Self {
        let input = event.to_string().into_bytes();
        Self { project, arguments: vec!["hook".into()], input, is_plain: false }
    }

    pub fn home(&self) -> PathBuf {
        self.project.home.clone()
    }

    pub fn started(&self, switch: Option<(&str, &str)>) -> Option<i32> {
        let mut command = Command::new(crate::support::program());
        command.args(&self.arguments).env_clear().current_dir(&self.project.path);
        let of_project = self.project.command(&[]);
        command.envs(of_project.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.envs(switch).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if self.is_plain {
            command.env("PROVOST_PLAIN_DISK", "1");
        }
        let mut child = command.spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(&self.input);
        let output = wait_for_process(child).expect("it hangs");
        if output.status.signal() == Some(9) {
            return None;
        }
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        assert!(!text.contains("could not judge") && !text.contains("panic"), "{text}");
        Some(output.status.code().unwrap_or_else(|| panic!("{:?}: {text}", output.status)))
    }

    /// Runs to the end.
    pub fn run(&self) {
        let code = self.started(None).expect("not killed");
        // 2 blocks a stop; `started` refuses a fault.
        assert!(code <= 2, "exit code {code}");
    }

    /// Runs to the end, and lists the steps.
    pub fn listed(&self) -> Listing {
        let list = self.home().with_file_name("steps");
        self.started(Some(("PROVOST_STEPS", list.to_str().unwrap()))).expect("not killed");
        let text = fs::read_to_string(&list).unwrap_or_default();
        let _ = fs::remove_file(&list);
        let home = format!("{}/", self.home().display());
        let below = |path: &str| path.replacen(&home, "", 1);
        let mut listing = Listing { steps: Vec::new(), becomes: BTreeMap::new() };
        for line in text.lines() {
            match line.split('\t').collect::<Vec<_>>()[..] {
                ["step", guard, name, path] => {
                    listing.steps.push(Step { guard: guard.into(), name: name.into(), path: below(path) });
                }
                ["becomes", path, text] => {
                    let text: String = unescaped(text);
                    listing.becomes.entry(steady_name(&below(path))).or_default().push(steady(&text));
                }
                _ => panic!("{line}"),
            }
        }
        listing
    }

    /// Is ended at this step.
    pub fn stopped_at(&self, step: usize) {
        let number = step.to_string();
        let ended = self.started(Some(("PROVOST_STOP_AT", &number)));
        let input = String::from_utf8_lossy(&self.input);
        assert_eq!(ended, None, "{:?} was not ended at step {step}: {input}", self.arguments);
    }

    /// Stops the writer at each of its steps, and gives the steps. All that is wrong is a failure.
    pub fn prove(&self, may_leave: &[&str]) -> Result<Vec<Step>, String> {
        let home = self.home();
        let old = Snapshot::of(&home);
        let listing = self.listed();
        let new = Snapshot::of(&home);
        self.run();
        let ends = [new.end(), Snapshot::of(&home).end()];
        let mut wrong = Vec::new();
        for step in 1..=listing.steps.len().min(MOST) {
            let Step { name, path, .. } = &listing.steps[step - 1];
            old.restore(&home);
            self.stopped_at(step);
            let stopped = Snapshot::of(&home);
            let mut report = |what: String| wrong.push(format!("stopped at {step} ({name} {path}): {what}"));
            let found = looked_through(&old, &stopped, &new, &listing);
            found.into_iter().for_each(&mut report);
            self.run();
            let mut after = Snapshot::of(&home);
            after.0.retain(|name, _| new.0.contains_key(name) || !may_leave.contains(&name.as_str()));
            let end = after.end();
            if !ends.contains(&end) {
                let lines = |from: &std::collections::BTreeSet<String>,
                             without: &std::collections::BTreeSet<String>| {
                    from.difference(without).cloned().collect::<Vec<_>>().join("\n    ")
                };
                report(format!(
                    "then again to the end: not as after a run without a stop\n  more:\n    {}\n  less:\n    {}",
                    lines(&end, &ends[0]),
                    lines(&ends[0], &end)
                ));
            }
        }
        if wrong.is_empty() { Ok(listing.steps) } else { Err(wrong.join("\n")) }
    }
}

/// What is not as it must be after a stop.
fn looked_through(old: &Snapshot, stopped: &Snapshot, new: &Snapshot, listing: &Listing) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, thing) in stopped.files() {
        let before = old.0.get(name);
        if grows(name) {
            let now = stopped.text(name).unwrap_or_default();
            let ended = now.rsplit_once('\n').map_or("", |(whole, _)| whole);
            if ends(name, "jsonl") && ended.lines().any(|line| !line.ends_with(['}', ']'])) {
                wrong.push(format!("{name} has a torn line that is not the last"));
            }
        } else if is_unfinished(name) {
            // No program reads it, whole or not. The end checks that it is removed.
        } else {
            let now = stopped.text(name);
            let becomes = listing.becomes.get(&steady_name(name));
            let is_whole = now == old.text(name)
                || now == new.text(name)
                || becomes.is_some_and(|texts| texts.contains(now.as_ref().unwrap()))
                || old.files().any(|(other, _)| old.text(other) == now);
            if !is_whole {
                wrong.push(format!("{name} is torn: {now:?}"));
            }
        }
        let modes =
            [before, new.0.get(name)].into_iter().flatten().map(|thing| thing.mode).collect::<Vec<_>>();
        if !modes.is_empty() && !modes.contains(&thing.mode) {
            wrong.push(format!("{name} has the mode {:o}", thing.mode));
        }
    }
    for (name, _) in old.files() {
        let was = old.text(name).unwrap_or_default();
        let has = |at: &Snapshot| {
            at.files().any(|(other, _)| {
                let text = at.text(other).unwrap_or_default();
                // What grows may have got another name, and begins as it did.
                text == was || (grows(name) && grows(other) && text.starts_with(&was))
            })
        };
        if grows(name) && !has(stopped) && has(new) {
            wrong.push(format!("{name} lost a part"));
        }
        if !stopped.0.contains_key(name) && !has(stopped) && (new.0.contains_key(name) || has(new)) {
            wrong.push(format!("{name} is lost"));
        }
    }
    wrong
}

pub fn is_unfinished(name: &str) -> bool {
    ends(name, "tmp")
}

/// What `{:?}` made of a text.
fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let inner = &text[1..text.len() - 1];
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            plain.push(character);
            continue;
        }
        match characters.next() {
            Some('n') => plain.push('\n'),
            Some('r') => plain.push('\r'),
            Some('t') => plain.push('\t'),
            Some('0') => plain.push('\0'),
            Some('u') => {
                let code: String = characters.by_ref().skip(1).take_while(|c| *c != '}').collect();
                plain.extend(u32::from_str_radix(&code, 16).ok().and_then(char::from_u32));
            }
            other => plain.extend(other),
        }
    }
    plain
}
