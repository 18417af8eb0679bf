//! What a hook answered, and the rules that every answer obeys.

use serde_json::{Map, Value};

/// The fields that the client knows; it ignores others, so one that is not here is a mistake.
const FIELDS: &[&str] = &["decision", "reason", "systemMessage", "hookSpecificOutput"];

#[derive(Debug)]
pub struct Answer {
    pub stdout: String,
    pub stderr: String,
    /// `None`: ended by a signal.
    pub code: Option<i32>,
    /// CPU time of the process and of the children that it waited for.
    pub cpu_seconds: f64,
    /// The name of the event that was asked about, if the input had one.
    pub event: Option<String>,
}

impl Answer {
    pub fn is_silent(&self) -> bool {
        self.code == Some(0) && self.stdout.is_empty() && self.stderr.is_empty()
    }

    /// The one object that is the whole of stdout.
    #[track_caller]
    pub fn json(&self) -> Map<String, Value> {
        self.well_formed().unwrap_or_else(|why| panic!("{why}: {self:?}")).expect("no JSON on stdout")
    }

    /// The reason of a denial, after its whole form has been checked.
    #[track_caller]
    pub fn denial(&self) -> String {
        self.denied().unwrap_or_else(|why| panic!("{why}: {self:?}"))
    }

    /// The text of a closed failure: exit code 2 and stderr, which needs nothing to be parsed.
    #[track_caller]
    pub fn closed_failure(&self) -> &str {
        assert_eq!(self.code, Some(2), "{self:?}");
        assert_eq!(self.stdout, "", "{self:?}");
        assert!(self.stderr.starts_with("[provost] "), "{self:?}");
        assert!(self.stderr.contains("To fix: "), "{self:?}");
        self.stderr.trim_end()
    }

    /// What the person is told by an answer that holds nothing back.
    #[track_caller]
    pub fn note(&self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        let object = self.json();
        assert!(!object.contains_key("decision"), "a note became a block: {self:?}");
        assert!(!self.stdout.contains("permissionDecision"), "a note became a decision: {self:?}");
        object["systemMessage"].as_str().expect("a message").to_owned()
    }

    pub fn denied(&self) -> Result<String, String> {
        let object = self.well_formed()?.ok_or("not denied")?;
        if self.event.as_deref() == Some("Stop") && self.code == Some(2) {
            return house_form(self.stderr.trim_end());
        }
        if self.code != Some(0) || !self.stderr.is_empty() {
            return Err("a denial in two forms at once".into());
        }
        let reason = match (&object.get("decision"), object.get("reason")) {
            (Some(Value::String(word)), Some(Value::String(reason))) if word == "block" => reason.clone(),
            _ => return Err("not denied".into()),
        };
        let reason = house_form(&reason)?;
        let specific = object.get("hookSpecificOutput");
        if self.event.as_deref() == Some("PreToolUse")
            && specific.is_none_or(|specific| specific["permissionDecision"] != "deny")
        {
            return Err("no permission decision".into());
        }
        Ok(reason)
    }

    /// Whether the client would take this answer as it is meant: the rules of the protocol, for
    /// any event and any decision. Gives the object on stdout, if there is one.
    pub fn well_formed(&self) -> Result<Option<Map<String, Value>>, String> {
        for text in ["panicked", "internal error", "RUST_BACKTRACE"] {
            if self.stdout.contains(text) || self.stderr.contains(text) {
                return Err(format!("the answer shows `{text}`"));
            }
        }
        match self.code {
            Some(0) => {}
            Some(2) if self.stdout.is_empty() && !self.stderr.is_empty() => return Ok(None),
            // The reason is on stderr, and stdout has what the user is told, or an empty object.
            Some(2) if self.event.as_deref() == Some("Stop") && !self.stderr.is_empty() => {}
            _ => return Err("an exit code that means nothing, or a block without a reason".into()),
        }
        if self.stdout.is_empty() {
            return Ok(None);
        }
        let Ok(Value::Object(object)) = serde_json::from_str(&self.stdout) else {
            return Err("stdout is not one JSON object".into());
        };
        if let Some(unknown) = object.keys().find(|key| !FIELDS.contains(&key.as_str())) {
            return Err(format!("unknown field `{unknown}`"));
        }
        if object.values().any(has_null) {
            return Err("a null field, for which the client drops the whole answer".into());
        }
        if let Some(specific) = object.get("hookSpecificOutput") {
            if specific["hookEventName"].as_str() != self.event.as_deref() {
                return Err("hookEventName is not the event's name".into());
            }
            let decided = specific.get("permissionDecision").is_some_and(|word| word == "deny");
            if decided
                && (object["decision"] != "block" || specific["permissionDecisionReason"] != object["reason"])
            {
                return Err("the two spellings of the denial differ".into());
            }
        }
        Ok(Some(object))
    }
}

/// The reason of a denial, if it has the form that all denials have.
fn house_form(reason: &str) -> Result<String, String> {
    let tagged = ["[provost] ", "[RODIN] "].iter().any(|tag| reason.starts_with(tag));
    if !tagged || !reason.contains(". To fix: ") {
        return Err("the reason is not in the house form".into());
    }
    Ok(reason.to_owned())
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(list) => list.iter().any(has_null),
        Value::Object(map) => map.values().any(has_null),
        _ => false,
    }
}
