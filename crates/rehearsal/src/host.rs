//! The permission host: the person at the client's other end.
//!
//! Without one, a headless client has nobody to ask, and offers no way out of plan mode. Attached
//! over stream-json, the client takes several prompts and asks before it acts, as it does in an
//! editor. Answers come from the scenario; each question is noted.

use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout};
use std::sync::mpsc::Sender;
use std::thread::{self, JoinHandle};

use serde_json::{Value, json};

use crate::model::Note;
use crate::observer::Moment;
use crate::scenario::{Host, Permission};

/// The arguments that attach a host.
pub(crate) const ARGUMENTS: [&str; 8] = [
    "-p",
    "--input-format",
    "stream-json",
    "--output-format",
    "stream-json",
    "--verbose",
    "--permission-prompt-tool",
    "stdio",
];

/// Talks to the client until it closes its output, which is also returned.
pub(crate) fn attend(
    host: Host,
    prompts: Vec<String>,
    (stdin, stdout): (ChildStdin, ChildStdout),
    notes: Sender<Note>,
) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut seat = Seat { host, prompts: prompts.into_iter(), stdin: Some(stdin), notes };
        let mut heard = String::new();
        seat.prompt();
        for line in BufReader::new(stdout).lines() {
            let Ok(line) = line else { break };
            if let Ok(message) = serde_json::from_str(&line) {
                seat.hear(&message);
            }
            heard.push_str(&line);
            heard.push('\n');
        }
        heard
    })
}

struct Seat {
    host: Host,
    prompts: std::vec::IntoIter<String>,
    stdin: Option<ChildStdin>,
    notes: Sender<Note>,
}

impl Seat {
    fn hear(&mut self, message: &Value) {
        match message["type"].as_str() {
            Some("control_request") => {
                let response = self.answer(&message["request"]);
                self.say(&json!({
                    "type": "control_response",
                    "response": {
                        "subtype": "success", "request_id": message["request_id"], "response": response,
                    },
                }));
            }
            Some("result") => self.prompt(),
            _ => {}
        }
    }

    /// Says the next thing, or nothing more for good.
    fn prompt(&mut self) {
        match self.prompts.next() {
            Some(prompt) => self.say(&json!({
                "type": "user",
                "message": {"role": "user", "content": [{"type": "text", "text": prompt}]},
            })),
            None => self.stdin = None,
        }
    }

    fn answer(&self, request: &Value) -> Value {
        if request["subtype"] != "can_use_tool" {
            return json!({});
        }
        let tool = request["tool_name"].as_str().unwrap_or_default().to_owned();
        let permission = self.host.permission(&tool);
        let allowed = *permission == Permission::Allow;
        let _ = self.notes.send(Note::Moment(Moment::Asked { tool, allowed }));
        match permission {
            Permission::Allow => json!({"behavior": "allow", "updatedInput": request["input"]}),
            Permission::Deny { message } => json!({"behavior": "deny", "message": message}),
        }
    }

    fn say(&mut self, message: &Value) {
        if let Some(stdin) = &mut self.stdin {
            // A client that has ended hears nothing; its end is noticed elsewhere.
            let _ = writeln!(stdin, "{message}").and_then(|()| stdin.flush());
        }
    }
}
