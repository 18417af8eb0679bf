//! One case, judged by both entries: the stand-in for the document's script and the hook.

use serde_json::Map;

use super::*;

/// What both entries made of a case.
pub struct Outcome {
    pub script: Planned,
    pub hook: Planned,
    /// What the script's stand-in printed.
    pub json: Map<String, Value>,
    pub warnings: String,
    pub calls: Vec<Call>,
    of_hook: Answer,
}

impl Outcome {
    /// What the hook tells the agent that it holds.
    #[track_caller]
    pub fn hook_reason(&self) -> String {
        reason(&self.of_hook).expect("held")
    }

    /// What the hook tells the user.
    pub fn hook_message(&self) -> String {
        message(&self.of_hook)
    }

    #[track_caller]
    pub fn blocked(&self, parts: &[&str]) -> &Self {
        assert_eq!(self.json.get("decision"), Some(&json!("block")), "{:?}", self.json);
        assert_eq!(self.json.len(), 2, "a block is a decision and its reason: {:?}", self.json);
        let reason = self.json["reason"].as_str().unwrap();
        for part in parts {
            assert!(reason.contains(part), "{part:?} is not in\n{reason}");
        }
        self
    }

    #[track_caller]
    pub fn approved(&self) -> &Self {
        assert!(!self.json.contains_key("decision"), "{:?}", self.json);
        assert_eq!(self.json["suppressOutput"], true, "{:?}", self.json);
        self
    }

    /// Approved because the plan's files are as they should be.
    #[track_caller]
    pub fn validated(&self) -> &Self {
        self.approved().told("structure validated successfully")
    }

    #[track_caller]
    pub fn told(&self, part: &str) -> &Self {
        let text = self.json.get("systemMessage").and_then(Value::as_str).unwrap_or_default();
        assert!(text.contains(part), "{part:?} is not in {text:?}");
        self
    }

    #[track_caller]
    pub fn warned(&self, part: &str) -> &Self {
        assert!(self.warnings.contains(part), "{part:?} is not in {:?}", self.warnings);
        assert!(self.warnings.starts_with("Warning: "), "{:?}", self.warnings);
        self
    }

    #[track_caller]
    pub fn unwarned(&self) -> &Self {
        assert_eq!(self.warnings, "");
        self
    }

    #[track_caller]
    pub fn reviewed(&self, times: usize) -> &Self {
        assert_eq!(self.calls.len(), times, "{:?}", self.calls);
        self
    }

    pub fn state(&self) -> Value {
        self.script.state()
    }

    /// These fields are what they should be, and all others what they were.
    #[track_caller]
    pub fn now(&self, before: &Value, changes: &Value) -> &Self {
        let mut expected = before.clone();
        expected.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        assert_eq!(self.state(), expected);
        self
    }
}

/// Makes a case twice, asks the script's stand-in about one and the hook about the other, and holds
/// their answers and what they left on the disk against each other.
#[track_caller]
pub fn both(make: impl Fn() -> Planned) -> Outcome {
    both_at(false, make)
}

#[track_caller]
pub fn both_at(again: bool, make: impl Fn() -> Planned) -> Outcome {
    let (script, hook) = (make(), make());
    hook.worked();
    let answer = script.script(again);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let json: Map<String, Value> = serde_json::from_str(&answer.stdout).expect("one JSON object");
    let second = hook.hook(&hook.stopping(again));
    compare(&json, &answer, &second);
    let text = |planned: &Planned| fs::read_to_string(planned.plan.join("state.json")).ok();
    assert_eq!(text(&script), text(&hook), "the states differ");
    assert_eq!(script.files(), hook.files(), "the files differ");
    let shown = |planned: &Planned| -> Vec<String> {
        let calls = planned.calls();
        calls.iter().map(|call| planned.project.shown(&call.arguments.join("\0"))).collect()
    };
    assert_eq!(shown(&script), shown(&hook), "the calls of the reviewer differ");
    let calls = script.calls();
    Outcome { json, warnings: answer.stderr, calls, script, hook, of_hook: second }
}

/// The hook decides as the script does, for the same reason, and tells the person of what that warns.
#[track_caller]
fn compare(json: &Map<String, Value>, script: &Answer, hook: &Answer) {
    let decided = json.get("reason").map(|reason| reason.as_str().unwrap().to_owned());
    let same = match (&decided, reason(hook)) {
        (None, None) => true,
        // The script speaks in the document's words.
        (Some(of_script), Some(of_hook)) => {
            of_script.contains("by an independent reviewer") && of_hook.contains(", round ")
                || of_hook.starts_with(&format!("[provost] {of_script}"))
        }
        _ => false,
    };
    assert!(same, "the decisions differ:\n{script:?}\n{hook:?}");
    for warning in script.stderr.lines() {
        // Each names files of its own project.
        let start: String = warning.chars().take_while(|c| *c != '/').collect();
        assert!(message(hook).contains(&start), "{warning}\n{hook:?}");
    }
}
