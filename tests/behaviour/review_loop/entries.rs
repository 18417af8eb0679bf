//! One case, judged by both entries: `compat stop-hook` and the hook.

use serde_json::Map;

use super::*;

/// The answers of both entries to a case.
pub struct Outcome {
    pub script: ReviewProject,
    pub hook: ReviewProject,
    /// What `compat` printed.
    pub json: Map<String, Value>,
    pub warnings: String,
    pub calls: Vec<ReviewerCall>,
    of_hook: Answer,
}

impl Outcome {
    /// What the hook tells the blocked agent.
    #[track_caller]
    pub fn hook_reason(&self) -> String {
        block_reason(&self.of_hook).expect("held")
    }

    /// The hook's whole answer.
    pub fn hook_answer(&self) -> String {
        self.hook.project.whole(&self.of_hook)
    }

    /// The reason of a block by `compat`.
    #[track_caller]
    pub fn reason(&self) -> &str {
        self.json["reason"].as_str().unwrap()
    }

    #[track_caller]
    pub fn blocked(&self, part: &str) -> &Self {
        assert_eq!(self.json.get("decision"), Some(&json!("block")), "{:?}", self.json);
        assert_eq!(self.json.len(), 2, "a block is a decision and its reason: {:?}", self.json);
        assert!(self.reason().contains(part), "{part:?} is not in\n{}", self.reason());
        self
    }

    #[track_caller]
    pub fn approved(&self) -> &Self {
        assert!(!self.json.contains_key("decision"), "{:?}", self.json);
        assert_eq!(self.json["suppressOutput"], true, "{:?}", self.json);
        self
    }

    /// Approved because the plan's files follow the ground rules.
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
        self.script.read_state()
    }

    /// These fields have the expected values, and all others are unchanged.
    #[track_caller]
    pub fn now(&self, before: &Value, changes: &Value) -> &Self {
        let mut expected = before.clone();
        expected.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        assert_eq!(self.state(), expected);
        self
    }
}

/// Creates a case twice, runs `compat` in one and the hook in the other, and compares their answers and files.
#[track_caller]
pub fn both(make: impl Fn() -> ReviewProject) -> Outcome {
    both_at(false, make)
}

#[track_caller]
pub fn both_at(again: bool, make: impl Fn() -> ReviewProject) -> Outcome {
    let (script, hook) = (make(), make());
    hook.record_work();
    let answer = script.script(again);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let json: Map<String, Value> = serde_json::from_str(&answer.stdout).expect("one JSON object");
    let second = hook.hook(&hook.stop_event(again));
    compare(&json, &answer, &second);
    let text = |planned: &ReviewProject| fs::read_to_string(planned.plan.join("state.json")).ok();
    assert_eq!(text(&script), text(&hook), "the states differ");
    assert_eq!(script.list_files(), hook.list_files(), "the files differ");
    let shown = |planned: &ReviewProject| -> Vec<String> {
        let calls = planned.reviewer_calls();
        calls.iter().map(|call| planned.project.shorten_paths(&call.arguments.join("\0"))).collect()
    };
    assert_eq!(shown(&script), shown(&hook), "the calls of the reviewer differ");
    let calls = script.reviewer_calls();
    Outcome { json, warnings: answer.stderr, calls, script, hook, of_hook: second }
}

/// The hook decides as the script does, for the same reason, and shows the user the script's warnings.
#[track_caller]
fn compare(json: &Map<String, Value>, script: &Answer, hook: &Answer) {
    let decided = json.get("reason").map(|reason| reason.as_str().unwrap().to_owned());
    let same = match (&decided, block_reason(hook)) {
        (None, None) => true,
        // `compat` uses the document's words.
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
        assert!(user_message(hook).contains(&start), "{warning}\n{hook:?}");
    }
}
