//! Rewrites hook entries so that the recorder runs the hook.
//!
//! The client runs equal entries once, so equal entries must stay equal: nothing in a wrapped entry is unique. Unknown keys
//! stay as they are. The client also quotes hook commands to the model, and [`Recorder::unmask`] removes the recorder from
//! such texts.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

/// The recorder's program and its log.
#[derive(Debug, Clone)]
pub(crate) struct Recorder {
    program: PathBuf,
    log: PathBuf,
}

impl Recorder {
    pub(crate) fn new(program: &Path, log: &Path) -> Self {
        Self { program: program.to_owned(), log: log.to_owned() }
    }

    /// Wraps every command hook of a settings file, or of a plugin's hook file.
    pub(crate) fn wrap_settings(&self, settings: &mut Value) {
        let Some(events) = settings.get_mut("hooks").and_then(Value::as_object_mut) else {
            return;
        };
        for groups in events.values_mut().filter_map(Value::as_array_mut) {
            for group in groups {
                let Some(entries) = group.get_mut("hooks").and_then(Value::as_array_mut) else {
                    continue;
                };
                for entry in entries.iter_mut().filter_map(Value::as_object_mut) {
                    self.wrap(entry);
                }
            }
        }
    }

    /// Wraps an entry that runs a command and is not wrapped yet.
    pub(crate) fn wrap(&self, entry: &mut Map<String, Value>) {
        if entry.get("type").and_then(Value::as_str) != Some("command") {
            return;
        }
        let Some(command) = entry.get("command").and_then(Value::as_str).map(str::to_owned) else {
            return;
        };
        if command == self.program.to_string_lossy() || command.starts_with(&self.shell_prefix()) {
            return;
        }
        match entry.get("args").and_then(Value::as_array).cloned() {
            Some(args) => {
                let mut wrapped = vec![json!("--record"), json!(self.log), json!("--"), json!(command)];
                wrapped.extend(args);
                entry.insert("command".into(), json!(self.program));
                entry.insert("args".into(), Value::Array(wrapped));
            }
            // An `args` that is not a list is there on purpose, to test the client.
            None if entry.contains_key("args") => {}
            None => {
                let wrapped = format!("{}{}", self.shell_prefix(), quote(&command));
                entry.insert("command".into(), json!(wrapped));
            }
        }
    }

    /// Removes the recorder from the hook commands in a text of the client.
    pub(crate) fn unmask(&self, text: &str) -> String {
        let exec = format!("{} --record {} -- ", self.program.display(), self.log.display());
        let text = text.replace(&exec, "");
        let prefix = self.shell_prefix();
        let mut plain = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some(start) = rest.find(&prefix) {
            let (before, masked) = rest.split_at(start);
            plain.push_str(before);
            let (command, after) = unquote(&masked[prefix.len()..]);
            plain.push_str(&command);
            rest = after;
        }
        plain.push_str(rest);
        plain
    }

    fn shell_prefix(&self) -> String {
        format!(
            "{} --record {} --shell ",
            quote(&self.program.to_string_lossy()),
            quote(&self.log.to_string_lossy())
        )
    }
}

/// Whether the client reads hooks from this file.
pub(crate) fn is_hook_file(path: &Path) -> bool {
    [".claude/settings.json", ".claude/settings.local.json", "hooks/hooks.json", ".claude-plugin/plugin.json"]
        .iter()
        .any(|name| path.ends_with(name))
}

/// Quotes a text as one word for a POSIX shell.
fn quote(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Reverses [`quote`] at the start of a text, and returns the word and the rest.
fn unquote(text: &str) -> (String, &str) {
    let mut word = String::new();
    let mut rest = text.strip_prefix('\'').unwrap_or(text);
    loop {
        let Some(end) = rest.find('\'') else {
            return (word + rest, "");
        };
        word.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix(r"\''") {
            Some(more) => {
                word.push('\'');
                rest = more;
            }
            None => return (word, rest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorder() -> Recorder {
        Recorder::new(Path::new("/opt/rehearse"), Path::new("/run/hooks.jsonl"))
    }

    fn wrapped(entry: &Value) -> Value {
        let mut settings = json!({"hooks": {"Stop": [{"hooks": [entry]}]}});
        recorder().wrap_settings(&mut settings);
        settings["hooks"]["Stop"][0]["hooks"][0].clone()
    }

    #[test]
    fn exec_form_stays_exec_form() {
        let entry = wrapped(&json!({"type": "command", "command": "gate", "args": ["a b"], "timeout": 5}));
        assert_eq!(
            entry,
            json!({"type": "command", "command": "/opt/rehearse", "timeout": 5,
                   "args": ["--record", "/run/hooks.jsonl", "--", "gate", "a b"]})
        );
    }

    #[test]
    fn shell_form_becomes_one_quoted_word() {
        let entry = wrapped(&json!({"type": "command", "command": "echo 'it' | cat"}));
        assert_eq!(
            entry["command"],
            r"'/opt/rehearse' --record '/run/hooks.jsonl' --shell 'echo '\''it'\'' | cat'"
        );
    }

    #[test]
    fn equal_commands_stay_equal() {
        let entry = json!({"type": "command", "command": "x"});
        assert_eq!(wrapped(&entry), wrapped(&entry));
    }

    #[test]
    fn wrapping_twice_is_wrapping_once() {
        for entry in [
            json!({"type": "command", "command": "x"}),
            json!({"type": "command", "command": "x", "args": []}),
        ] {
            let once = wrapped(&entry);
            assert_eq!(wrapped(&once), once);
        }
    }

    #[test]
    fn unknown_keys_and_types_stay() {
        let mut settings = json!({"model": "m", "hooks": {"Stop": [
            {"note": 1, "hooks": [{"type": "prompt", "prompt": "p"}, 5, {"type": "command", "args": 3, "command": "c"}]}
        ], "Odd": "text"}});
        let before = settings.clone();
        recorder().wrap_settings(&mut settings);
        assert_eq!(settings, before);
    }

    #[test]
    fn the_recorder_is_removed_from_quoted_commands() {
        let shell = wrapped(&json!({"type": "command", "command": "echo 'it'"}));
        let text = format!(
            "a [{}]: no; b [/opt/rehearse --record /run/hooks.jsonl -- gate x]",
            shell["command"].as_str().unwrap()
        );
        assert_eq!(recorder().unmask(&text), "a [echo 'it']: no; b [gate x]");
    }

    #[test]
    fn plugin_hook_files_are_hook_files() {
        assert!(is_hook_file(Path::new("/r/project/p/hooks/hooks.json")));
        assert!(is_hook_file(Path::new("/r/home/.claude/settings.json")));
        assert!(!is_hook_file(Path::new("/r/project/settings.json")));
    }
}
