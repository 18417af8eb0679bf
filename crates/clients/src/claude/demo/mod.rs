//! The acts of `provost demo`: recorded events of Claude Code, with the paths of a throwaway project.
//!
//! Everything else that a scene needs is a file in the throwaway home: a plan, a state, a transcript. A script plays
//! critic, validator and reviewer, and the story says so.

mod acts;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::recorded::{load_event, recorded};
use crate::{DemoAct, DemoAnswer, DemoScene, EventSource, SceneAction};

const AGENT: &str = recorded!("PreToolUse.Agent");
const BASH: &str = recorded!("PreToolUse.Bash");
const BASH_BY_AGENT: &str = recorded!("PreToolUse.Bash.in_subagent");
const CONFIG: &str = recorded!("ConfigChange");
const EDIT: &str = recorded!("PreToolUse.Edit");
const LEAVE: &str = recorded!("PreToolUse.ExitPlanMode");
const PROMPTED: &str = recorded!("UserPromptSubmit");
const START: &str = recorded!("SessionStart.startup");
const STOP: &str = recorded!("Stop.active_false");
const STOP_AGAIN: &str = recorded!("Stop.active_true");
const STOP_BY_AGENT: &str = recorded!("SubagentStop.validator");
const WRITE_BY_AGENT: &str = recorded!("PreToolUse.Write.in_subagent");
const WROTE: &str = recorded!("PostToolUse.Write");

/// The recorded events come from several sessions; the demo is one session.
const SESSION: &str = "demo";
const PROMPT: &str = "demo-1";
const PLANNER: &str = "tdd-planner";

pub(super) fn find_act(pack: &str, home: &Path, project: &Path) -> Option<DemoAct> {
    let demo = DemoProject { home, project };
    match pack {
        "self" => Some(acts::self_guard(&demo)),
        "rules" => Some(acts::rules(&demo)),
        "workflow" => Some(acts::workflow(&demo)),
        "plan-gate" => Some(acts::plan_gate(&demo)),
        "planner" => Some(acts::planner(&demo)),
        "review-loop" => Some(acts::review_loop(&demo)),
        "phases" => Some(acts::phases(&demo)),
        _ => None,
    }
}

pub(super) fn parse_answer(stdout: &str) -> DemoAnswer {
    let Ok(answer) = serde_json::from_str::<Value>(stdout) else { return DemoAnswer::Nothing };
    let text = answer["reason"].as_str().or(answer["systemMessage"].as_str()).unwrap_or_default().to_owned();
    if answer["decision"].is_string() { DemoAnswer::Denied(text) } else { DemoAnswer::Noted(text) }
}

/// The throwaway directories of an act.
struct DemoProject<'a> {
    home: &'a Path,
    project: &'a Path,
}

impl DemoProject<'_> {
    /// A file of the project, with its text.
    fn file(&self, name: &str, text: impl Into<String>) -> (PathBuf, String) {
        (self.project.join(name), text.into())
    }

    /// A recorded event of the demo's session, with changes.
    fn make_event(&self, recorded: &str, change: impl FnOnce(&mut Value)) -> EventSource {
        let event = self.make_value(recorded, change).to_string();
        Box::new(move || event.clone())
    }

    fn make_value(&self, recorded: &str, change: impl FnOnce(&mut Value)) -> Value {
        let mut event = load_event(recorded, self.project, self.home);
        event["session_id"] = SESSION.into();
        event["prompt_id"] = PROMPT.into();
        event["transcript_path"] = json!(self.transcript());
        change(&mut event);
        event
    }

    fn transcript(&self) -> PathBuf {
        self.home.join(".claude/projects/-home-dev-project").join(format!("{SESSION}.jsonl"))
    }

    fn bash(&self, story: &'static str, command: &str) -> DemoScene {
        let event = self.make_event(BASH, |event| event["tool_input"]["command"] = command.into());
        make_scene(story, format!("Bash: {command}"), SceneAction::Call(event))
    }

    /// A shell call by a planner.
    fn planner_bash(&self, story: &'static str, command: &str) -> DemoScene {
        let event = self.make_event(BASH_BY_AGENT, |event| {
            event["agent_type"] = PLANNER.into();
            event["tool_input"]["command"] = command.into();
        });
        make_scene(story, format!("Bash: {command}"), SceneAction::Call(event))
    }

    fn edit(&self, story: &'static str, name: &str, old: &str, new: &str) -> DemoScene {
        let event = self.make_event(EDIT, |event| {
            let file = self.project.join(name);
            event["tool_input"] = json!({"file_path": file, "old_string": old, "new_string": new});
        });
        make_scene(story, format!("Edit {name}: {old} → {new}"), SceneAction::Call(event))
    }

    /// Work that the agent hands to another agent.
    fn delegate(&self, story: &'static str, agent: &str, prompt: &str) -> DemoScene {
        let event = self.make_event(AGENT, |event| {
            event["tool_input"] = json!({"subagent_type": agent, "prompt": prompt, "description": "work"});
        });
        make_scene(story, format!("Agent {agent}: {prompt}"), SceneAction::Call(event))
    }
}

fn make_scene(story: &'static str, attempt: impl Into<String>, action: SceneAction) -> DemoScene {
    DemoScene { story, attempt: attempt.into(), files: Vec::new(), action }
}

impl DemoScene {
    fn with_file(mut self, file: (PathBuf, String)) -> Self {
        self.files.push(file);
        self
    }
}
