//! The answer of a hook, and the rules for every answer.

use serde_json::{Map, Value};

/// The fields that the client knows. It ignores others, so any other field is a mistake.
const FIELDS: &[&str] = &["decision", "reason", "systemMessage", "hookSpecificOutput"];

#[derive(Debug)]
pub struct Answer {
    pub stdout: String,
    pub stderr: String,
    /// `None`: ended by a signal.
    pub code: Option<i32>,
    /// CPU time of the process and of the children that it waited for.
    pub cpu_seconds: f64,
    /// The name of the event, if the input had one.
    pub event: Option<String>,
}

impl Answer {
    pub fn is_silent(&self) -> bool {
        self.code == Some(0) && self.stdout.is_empty() && self.stderr.is_empty()
    }

    /// Everything that the client gets, for a snapshot: each text of the JSON object under its name, once.
    pub fn whole(&self) -> String {
        let code = self.code.map_or("ended by a signal".to_owned(), |code| format!("exit code {code}"));
        let mut whole = format!("{code}\n");
        let mut show = |name: &str, text: &str| whole += &format!("\n--- {name}\n{}\n", text.trim_end());
        match serde_json::from_str::<Value>(&self.stdout) {
            Ok(Value::Object(object)) => {
                for (name, value) in &object {
                    match (name.as_str(), value) {
                        ("hookSpecificOutput", Value::Object(fields)) => {
                            // A denial has its reason twice, and the event's name is known.
                            let is_known = |name: &str, value: &Value| match name {
                                "hookEventName" => value.as_str() == self.event.as_deref(),
                                "permissionDecisionReason" => Some(value) == object.get("reason"),
                                _ => false,
                            };
                            for (name, value) in fields.iter().filter(|(name, value)| !is_known(name, value))
                            {
                                show(name, value.as_str().unwrap_or(&value.to_string()));
                            }
                        }
                        (_, Value::String(text)) => show(name, text),
                        _ => show(name, &value.to_string()),
                    }
                }
            }
            _ if self.stdout.is_empty() => {}
            _ => show("stdout", &self.stdout),
        }
        if !self.stderr.is_empty() {
            show("stderr", &self.stderr);
        }
        whole
    }

    /// Parses stdout, which must be one JSON object.
    #[track_caller]
    pub fn json(&self) -> Map<String, Value> {
        self.check_form().unwrap_or_else(|why| panic!("{why}: {self:?}")).expect("no JSON on stdout")
    }

    /// The reason of a denial. The form of the answer is checked too.
    #[track_caller]
    pub fn expect_denial(&self) -> String {
        self.find_denial().unwrap_or_else(|why| panic!("{why}: {self:?}"))
    }

    /// The message of a closed guard that failed: exit code 2 and stderr.
    #[track_caller]
    pub fn expect_closed_failure(&self) -> &str {
        assert_eq!(self.code, Some(2), "{self:?}");
        assert_eq!(self.stdout, "", "{self:?}");
        assert!(self.stderr.starts_with("[provost] "), "{self:?}");
        assert!(self.stderr.contains("To fix: "), "{self:?}");
        self.stderr.trim_end()
    }

    /// The message to the user in an answer that denies nothing.
    #[track_caller]
    pub fn expect_note(&self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        let object = self.json();
        assert!(!object.contains_key("decision"), "a note became a block: {self:?}");
        assert!(!self.stdout.contains("permissionDecision"), "a note became a decision: {self:?}");
        object["systemMessage"].as_str().expect("a message").to_owned()
    }

    pub fn find_denial(&self) -> Result<String, String> {
        let object = self.check_form()?.ok_or("not denied")?;
        if self.event.as_deref() == Some("Stop") && self.code == Some(2) {
            return check_denial_form(self.stderr.trim_end());
        }
        if self.code != Some(0) || !self.stderr.is_empty() {
            return Err("a denial in two forms at once".into());
        }
        let reason = match (&object.get("decision"), object.get("reason")) {
            (Some(Value::String(word)), Some(Value::String(reason))) if word == "block" => reason.clone(),
            _ => return Err("not denied".into()),
        };
        let reason = check_denial_form(&reason)?;
        let specific = object.get("hookSpecificOutput");
        if self.event.as_deref() == Some("PreToolUse")
            && specific.is_none_or(|specific| specific["permissionDecision"] != "deny")
        {
            return Err("no permission decision".into());
        }
        Ok(reason)
    }

    /// Checks the rules of the client's protocol for any event and any decision. Returns the object on stdout, if there is
    /// one.
    pub fn check_form(&self) -> Result<Option<Map<String, Value>>, String> {
        for text in ["panicked", "internal error", "RUST_BACKTRACE"] {
            if self.stdout.contains(text) || self.stderr.contains(text) {
                return Err(format!("the answer shows `{text}`"));
            }
        }
        match self.code {
            Some(0) => {}
            Some(2) if self.stdout.is_empty() && !self.stderr.is_empty() => return Ok(None),
            // The reason is on stderr, and stdout has the message to the user, or an empty object.
            Some(2) if self.event.as_deref() == Some("Stop") && !self.stderr.is_empty() => {}
            _ => return Err("an unknown exit code, or a block without a reason".into()),
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
            let is_denied = specific.get("permissionDecision").is_some_and(|word| word == "deny");
            if is_denied
                && (object["decision"] != "block" || specific["permissionDecisionReason"] != object["reason"])
            {
                return Err("the two forms of the denial differ".into());
            }
        }
        Ok(Some(object))
    }
}

/// Checks that the reason of a denial has the form of all denials.
fn check_denial_form(reason: &str) -> Result<String, String> {
    let has_tag = ["[provost] ", "[RODIN] "].iter().any(|tag| reason.starts_with(tag));
    if !has_tag || !reason.contains(". To fix: ") {
        return Err("the reason does not have the form of a denial".into());
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
