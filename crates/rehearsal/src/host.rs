//! The permission host: answers the client's permission questions, as an editor does.
//!
//! A headless client without a host has nobody to ask, and cannot leave plan mode. With a host on stream-json, it takes
//! several prompts and asks before it acts. The scenario has the answers; each question is recorded.

use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout};
use std::sync::mpsc::Sender;
use std::thread::{self, JoinHandle};

use serde_json::{Value, json};

use crate::model::Report;
use crate::observer::RunEvent;
use crate::scenario::{Host, Permission};

/// The client's arguments for a host.
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

/// Talks to the client until it closes its output, and returns that output.
pub(crate) fn start_host(
    host: Host,
    prompts: Vec<String>,
    (stdin, stdout): (ChildStdin, ChildStdout),
    notes: Sender<Report>,
) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut conversation = Conversation { host, prompts: prompts.into_iter(), stdin: Some(stdin), notes };
        let mut output = String::new();
        conversation.send_prompt();
        for line in BufReader::new(stdout).lines() {
            let Ok(line) = line else { break };
            if let Ok(message) = serde_json::from_str(&line) {
                conversation.handle(&message);
            }
            output.push_str(&line);
            output.push('\n');
        }
        output
    })
}

struct Conversation {
    host: Host,
    prompts: std::vec::IntoIter<String>,
    stdin: Option<ChildStdin>,
    notes: Sender<Report>,
}

impl Conversation {
    fn handle(&mut self, message: &Value) {
        match message["type"].as_str() {
            Some("control_request") => {
                let response = self.answer(&message["request"]);
                self.send(&json!({
                    "type": "control_response",
                    "response": {
                        "subtype": "success", "request_id": message["request_id"], "response": response,
                    },
                }));
            }
            Some("result") => self.send_prompt(),
            _ => {}
        }
    }

    /// Sends the next prompt, or closes the input after the last one.
    fn send_prompt(&mut self) {
        match self.prompts.next() {
            Some(prompt) => self.send(&json!({
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
        let _ = self.notes.send(Report::Moment(RunEvent::Asked { tool, allowed }));
        match permission {
            Permission::Allow => json!({"behavior": "allow", "updatedInput": request["input"]}),
            Permission::Deny { message } => json!({"behavior": "deny", "message": message}),
        }
    }

    fn send(&mut self, message: &Value) {
        if let Some(stdin) = &mut self.stdin {
            // If the client has ended, the run notices it elsewhere.
            let _ = writeln!(stdin, "{message}").and_then(|()| stdin.flush());
        }
    }
}
