//! The acts of `provost demo`: recorded events of this client, with the demo's paths put in.
//!
//! Whatever a scene needs besides its event is a file of the throwaway home: a plan, a state, the client's
//! record of the session. Who is played (critic, validator, reviewer) is a script, and the story says so.

mod packs;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::clients::{Act, Deed, Scene, Telling, Told};

const AGENT: &str = include_str!("../../../../tests/events/PreToolUse.Agent.json");
const BASH: &str = include_str!("../../../../tests/events/PreToolUse.Bash.json");
const BASH_OF_AGENT: &str = include_str!("../../../../tests/events/PreToolUse.Bash.in_subagent.json");
const CONFIG: &str = include_str!("../../../../tests/events/ConfigChange.json");
const EDIT: &str = include_str!("../../../../tests/events/PreToolUse.Edit.json");
const LEAVE: &str = include_str!("../../../../tests/events/PreToolUse.ExitPlanMode.json");
const START: &str = include_str!("../../../../tests/events/SessionStart.startup.json");
const STOP: &str = include_str!("../../../../tests/events/Stop.active_false.json");
const STOP_AGAIN: &str = include_str!("../../../../tests/events/Stop.active_true.json");
const STOP_OF_AGENT: &str = include_str!("../../../../tests/events/SubagentStop.validator.json");
const WRITE_OF_AGENT: &str = include_str!("../../../../tests/events/PreToolUse.Write.in_subagent.json");
const WROTE: &str = include_str!("../../../../tests/events/PostToolUse.Write.json");

/// Where the events were recorded.
const RECORDED_HOME: &str = "/home/dev";
const RECORDED_PROJECT: &str = "/home/dev/project";
/// The recorded events come from several sessions; here they are one.
const SESSION: &str = "demo";
const PROMPT: &str = "demo-1";
const PLANNER: &str = "tdd-planner";

pub(super) fn act(pack: &str, home: &Path, project: &Path) -> Option<Act> {
    let place = Place { home, project };
    match pack {
        "self" => Some(packs::own(&place)),
        "plan-gate" => Some(packs::plan_gate(&place)),
        "planner" => Some(packs::planner(&place)),
        "review-loop" => Some(packs::review_loop(&place)),
        "phases" => Some(packs::phases(&place)),
        _ => None,
    }
}

pub(super) fn told(stdout: &str) -> Told {
    let Ok(answer) = serde_json::from_str::<Value>(stdout) else { return Told::Nothing };
    let text = answer["reason"].as_str().or(answer["systemMessage"].as_str()).unwrap_or_default().to_owned();
    if answer["decision"].is_string() { Told::Denied(text) } else { Told::Noted(text) }
}

/// Where an act is played.
struct Place<'a> {
    home: &'a Path,
    project: &'a Path,
}

impl Place<'_> {
    /// A file of the project.
    fn file(&self, name: &str, text: impl Into<String>) -> (PathBuf, String) {
        (self.project.join(name), text.into())
    }

    /// A recorded event, as if it had been recorded here.
    fn event(&self, recorded: &str, change: impl FnOnce(&mut Value)) -> Telling {
        let event = self.value(recorded, change).to_string();
        Box::new(move || event.clone())
    }

    fn value(&self, recorded: &str, change: impl FnOnce(&mut Value)) -> Value {
        let mut event: Value = serde_json::from_str(recorded).unwrap_or_default();
        self.move_here(&mut event);
        event["session_id"] = SESSION.into();
        event["prompt_id"] = PROMPT.into();
        event["transcript_path"] = json!(self.transcript());
        change(&mut event);
        event
    }

    /// Puts the paths of this place into the texts of a value.
    fn move_here(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                *text = text
                    .replace(RECORDED_PROJECT, &self.project.to_string_lossy())
                    .replace(RECORDED_HOME, &self.home.to_string_lossy());
            }
            Value::Array(list) => list.iter_mut().for_each(|one| self.move_here(one)),
            Value::Object(fields) => fields.values_mut().for_each(|one| self.move_here(one)),
            _ => {}
        }
    }

    fn transcript(&self) -> PathBuf {
        self.home.join(".claude/projects/-home-dev-project").join(format!("{SESSION}.jsonl"))
    }

    fn bash(&self, story: &'static str, command: &str) -> Scene {
        let event = self.event(BASH, |event| event["tool_input"]["command"] = command.into());
        scene(story, format!("Bash: {command}"), Deed::Call(event))
    }

    /// The same by a planner.
    fn planner_bash(&self, story: &'static str, command: &str) -> Scene {
        let event = self.event(BASH_OF_AGENT, |event| {
            event["agent_type"] = PLANNER.into();
            event["tool_input"]["command"] = command.into();
        });
        scene(story, format!("Bash: {command}"), Deed::Call(event))
    }

    fn edit(&self, story: &'static str, name: &str, old: &str, new: &str) -> Scene {
        let event = self.event(EDIT, |event| {
            let file = self.project.join(name);
            event["tool_input"] = json!({"file_path": file, "old_string": old, "new_string": new});
        });
        scene(story, format!("Edit {name}: {old} → {new}"), Deed::Call(event))
    }

    /// Work is handed to an agent.
    fn delegate(&self, story: &'static str, agent: &str, prompt: &str) -> Scene {
        let event = self.event(AGENT, |event| {
            event["tool_input"] = json!({"subagent_type": agent, "prompt": prompt, "description": "work"});
        });
        scene(story, format!("Agent {agent}: {prompt}"), Deed::Call(event))
    }
}

fn scene(story: &'static str, attempt: impl Into<String>, deed: Deed) -> Scene {
    Scene { story, attempt: attempt.into(), files: Vec::new(), deed }
}

impl Scene {
    fn with(mut self, file: (PathBuf, String)) -> Self {
        self.files.push(file);
        self
    }
}
