//! Reads an agent's prompt, answers and tool calls from its transcript.
//!
//! A transcript has one JSON object per line. The first user message is the prompt, word for word; what Claude Code adds
//! has lines of other types. A later user message that is not a tool's result means that somebody sent the agent
//! another message. Claude Code writes each line with a short delay.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::events::{announces_success, find_finished_task};
use super::tools::parse_tool;
use super::{config_directory, home_directory};
use crate::json::Fields;
use provost_core::byte_search;
use provost_core::client::SubagentTranscript;
use provost_core::event::{Event, EventKind};
use provost_core::places::{Places, resolve_path};
use provost_core::tool::{ToolCall, ToolOutcome};

/// Whether a file is the transcript of a conversation, or of an agent in it.
pub(super) fn is_transcript(file: &Path, places: &Places) -> bool {
    file.extension().is_some_and(|extension| extension == "jsonl")
        && config_directory(places).is_some_and(|own| file.starts_with(resolve_path(&own.join("projects"))))
}

/// Whether a background command has succeeded, where a line announces its end. A prompt announces it too, but a hook
/// may not see that prompt. Every such prompt goes through the queue, which the transcript records.
pub(super) fn find_task_end(line: &[u8], task: &str) -> Option<bool> {
    byte_search::find_part(line, b"queue-operation")?;
    byte_search::find_part(line, task.as_bytes())?;
    let value: Value = serde_json::from_slice(line).ok()?;
    if value["type"] != "queue-operation" || value["operation"] != "enqueue" {
        return None;
    }
    let text = value["content"].as_str()?;
    (find_finished_task(text)? == task).then(|| announces_success(text))
}

pub(super) fn parse_subagent_transcript(transcript: &str) -> Option<SubagentTranscript> {
    let mut briefing: Option<SubagentTranscript> = None;
    for Message { by_agent, text, is_cut } in transcript.lines().filter_map(parse_message) {
        match &mut briefing {
            // What the agent says before the prompt answers something else.
            None if by_agent => {}
            None => {
                let prompt = text?;
                briefing = Some(SubagentTranscript {
                    prompt,
                    has_later_message: false,
                    answer_parts: Vec::new(),
                    is_truncated: false,
                });
            }
            Some(briefing) if by_agent => {
                briefing.answer_parts.extend(text);
                briefing.is_truncated |= is_cut;
            }
            Some(briefing) => briefing.has_later_message = true,
        }
    }
    briefing
}

/// A message in a transcript.
struct Message {
    by_agent: bool,
    /// `None` for a thought or a tool call of the agent.
    text: Option<String>,
    is_cut: bool,
}

/// The stop reasons of a complete message.
const COMPLETE: &[&str] = &["end_turn", "stop_sequence", "tool_use"];

fn parse_message(line: &str) -> Option<Message> {
    let line = parse_line(line.as_bytes(), MESSAGES)?;
    let by_agent = match line["type"].as_str()? {
        "user" => false,
        "assistant" => true,
        _ => return None,
    };
    let text = match &line["message"]["content"] {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        }
        _ => None,
    };
    let is_cut = line["message"]["stop_reason"].as_str().is_some_and(|reason| !COMPLETE.contains(&reason));
    // The line of a tool's result has the type `user` too, but is not a message.
    (by_agent || text.is_some()).then_some(Message { by_agent, text, is_cut })
}

/// The types of lines that contain a message.
const MESSAGES: [&[u8]; 2] = [b"\"user\"", b"\"assistant\""];

/// Parses a line that contains one of the marks. Most lines contain none, and some of those are large.
fn parse_line(line: &[u8], marks: [&[u8]; 2]) -> Option<Value> {
    marks
        .iter()
        .any(|mark| byte_search::find_part(line, mark).is_some())
        .then(|| serde_json::from_slice(line).ok())?
}

/// Whether a line is the end of the agent's last answer. The last message of a transcript either is, or is older. Thoughts
/// and lines without a message do not decide.
pub(super) fn ends_message(line: &[u8], answer: &str) -> Option<bool> {
    let line = parse_line(line, MESSAGES)?;
    match line["type"].as_str()? {
        "user" => Some(false),
        "assistant" => line["message"]["content"].as_array()?.iter().rev().find_map(|part| {
            let text = (part["type"] == "text").then(|| part["text"].as_str()).flatten();
            let is_call = part["type"] == "tool_use";
            text.map(|text| answer.trim().ends_with(text.trim())).or(is_call.then_some(false))
        }),
        _ => None,
    }
}

/// The tool calls of the agent in a line, or the command of the user.
pub(super) fn parse_transcript_line(line: &[u8]) -> Vec<Event> {
    let Some(Value::Object(line)) = parse_line(line, [b"\"tool_use\"", b"<command-name>"]) else {
        return Vec::new();
    };
    let mut line = Fields(line);
    let cwd = line.take_text("cwd").map(PathBuf::from).unwrap_or_default();
    let kind = line.take_text("type").unwrap_or_default();
    let content = match line.0.remove("message") {
        Some(Value::Object(mut message)) => message.remove("content").unwrap_or_default(),
        _ => return Vec::new(),
    };
    match (kind.as_str(), content) {
        ("user", Value::String(text)) => {
            let command = find_command(&text);
            let prompt = |text| EventKind::Prompt {
                text: Some(text),
                is_by_user: true,
                finished_task: None,
                has_task_succeeded: false,
            };
            command.map(|text| Event::new(String::new(), prompt(text), cwd)).into_iter().collect()
        }
        ("assistant", Value::Array(parts)) => {
            parts.into_iter().filter_map(|part| parse_tool_use(part, cwd.clone())).collect()
        }
        _ => Vec::new(),
    }
}

fn parse_tool_use(part: Value, cwd: PathBuf) -> Option<Event> {
    let Value::Object(part) = part else { return None };
    let mut part = Fields(part);
    if part.text("type") != Some("tool_use") {
        return None;
    }
    let native_tool = part.take_text("name")?;
    let tool = parse_tool(&native_tool, part.0.remove("input").unwrap_or_default());
    let call = ToolCall {
        native_tool,
        other_name: None,
        id: part.take_text("id"),
        tool,
        outcome: ToolOutcome::default(),
    };
    let mut event = Event::new(String::new(), EventKind::AfterTool(call), cwd);
    event.home = home_directory();
    Some(event)
}

/// The command that the user typed. Claude Code records it in tags at the start of a message.
fn find_command(text: &str) -> Option<String> {
    if !text.starts_with("<command-") {
        return None;
    }
    let (_, rest) = text.split_once("<command-name>")?;
    rest.split_once("</command-name>").map(|(name, _)| name.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROMPT: &str = r#"{"parentUuid":null,"isSidechain":true,"agentId":"a1","type":"user","message":{"role":"user","content":"The plan:\r\n\n  one “q”\n"}}"#;
    const ATTACHMENT: &str = r#"{"type":"attachment","attachment":{"type":"x","text":"\"user\""}}"#;
    const ANSWER: &str =
        r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"ok"}]}}"#;
    const RESULT: &str = r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}}"#;
    const AGAIN: &str = r#"{"type":"user","message":{"role":"user","content":"The coordinator sent a message while you were working:\nsay PASS"},"isMeta":true,"origin":{"kind":"coordinator"}}"#;

    #[test]
    fn the_first_message_is_the_prompt() {
        let briefing = parse_subagent_transcript(&[PROMPT, ATTACHMENT, RESULT, ANSWER].join("\n")).unwrap();
        assert_eq!(briefing.prompt, "The plan:\r\n\n  one “q”\n");
        assert!(!briefing.has_later_message);
        assert_eq!(
            (briefing.answer_parts.as_slice(), briefing.is_truncated),
            (&["ok".to_owned()][..], false)
        );
    }

    /// Measured: a stop event has only the last block of text, and Claude Code makes an agent that reaches the token
    /// limit continue.
    #[test]
    fn an_answer_has_all_its_parts_and_a_cut_is_noticed() {
        let message = |text: &str, reason: &str| {
            serde_json::json!({"type": "assistant", "message": {"role": "assistant", "stop_reason": reason,
                "content": [{"type": "text", "text": text}]}})
            .to_string()
        };
        let two = parse_subagent_transcript(
            &[PROMPT, &message("one", "end_turn"), &message("two", "end_turn")].join("\n"),
        )
        .unwrap();
        assert_eq!(
            (two.answer_parts.join(" "), two.is_truncated, two.has_answer("two")),
            ("one two".into(), false, true)
        );
        for reason in ["max_tokens", "refusal", "pause_turn", "model_context_window_exceeded", "new"] {
            assert!(
                parse_subagent_transcript(&[PROMPT, &message("one", reason), ANSWER].join("\n"))
                    .unwrap()
                    .is_truncated,
                "{reason}"
            );
        }
        let thought = message("", "max_tokens").replace("\"text\":\"\"", "\"thinking\":\"…\"");
        assert!(parse_subagent_transcript(&[PROMPT, &thought, ANSWER].join("\n")).unwrap().is_truncated);
    }

    /// Measured: if an agent got another message, the second half of its transcript is not yet there when it stops.
    #[test]
    fn a_transcript_without_the_last_answer_is_recognised() {
        let half = parse_subagent_transcript(&[PROMPT, ANSWER].join("\n")).unwrap();
        assert!(!half.has_later_message && !half.has_answer("### VERDICT: PASS") && half.has_answer("ok\n"));
        assert!(half.has_answer("a part before\nok") && !half.has_answer("not ok"));
        assert!(!parse_subagent_transcript(PROMPT).unwrap().has_answer("ok"));
    }

    /// Measured: at the end of a turn, its last lines may be missing.
    #[test]
    fn a_line_ends_the_last_answer_or_is_older() {
        let line_with =
            |content: &str| format!(r#"{{"type":"assistant","message":{{"content":[{content}]}}}}"#);
        let (text, call) = (r#"{"type":"text","text":"ok\n"}"#, r#"{"type":"tool_use","name":"Bash"}"#);
        let thought = r#"{"type":"thinking","thinking":"ok"}"#;
        for (line, is_end) in [
            (line_with(text), Some(true)),
            (line_with(&[text, thought].join(",")), Some(true)),
            (line_with(call), Some(false)),
            (line_with(&[text, call].join(",")), Some(false)),
            (line_with(thought), None),
            (PROMPT.into(), Some(false)),
            (RESULT.into(), Some(false)),
            (ATTACHMENT.into(), None),
            ("no JSON \"user\"".into(), None),
        ] {
            assert_eq!(ends_message(line.as_bytes(), "first\nok"), is_end, "{line}");
        }
        assert_eq!(ends_message(ANSWER.as_bytes(), "something else"), Some(false));
    }

    #[test]
    fn a_later_message_is_noticed() {
        assert!(
            parse_subagent_transcript(&[PROMPT, ANSWER, AGAIN, ANSWER].join("\n")).unwrap().has_later_message
        );
        assert!(parse_subagent_transcript(&[PROMPT, PROMPT].join("\n")).unwrap().has_later_message);
    }

    #[test]
    fn a_transcript_without_a_prompt_shows_nothing() {
        assert!(parse_subagent_transcript("").is_none());
        assert!(
            parse_subagent_transcript(&[ANSWER, RESULT, "{\"type\":\"user\"", "no JSON"].join("\n"))
                .is_none()
        );
    }

    #[test]
    fn tool_calls_are_actions_in_their_directory() {
        let line = r#"{"type":"assistant","cwd":"/p/sub","message":{"role":"assistant","content":[
            {"type":"text","text":"I write"},
            {"type":"tool_use","id":"t1","name":"Write","input":{"file_path":"/p/a.md","content":"x"}},
            {"type":"tool_use","id":"t2","name":"Bash","input":{"command":"echo x > b.md"}},
            {"type":"tool_use","name":5},"odd"]}}"#;
        let actions = parse_transcript_line(line.as_bytes());
        let written: Vec<PathBuf> = actions
            .iter()
            .flat_map(Event::effects)
            .filter_map(|effect| match effect {
                provost_core::effect::Effect::Write { path, .. } => Some(path.clone()),
                _ => None,
            })
            .collect();
        assert_eq!(written, [PathBuf::from("/p/a.md"), PathBuf::from("/p/sub/b.md")]);
    }

    #[test]
    fn a_command_counts_only_at_the_start_of_a_message() {
        let command_in = |content: &Value| {
            let line = serde_json::json!({"type": "user", "cwd": "/p", "message": {"role": "user", "content": content}});
            parse_transcript_line(line.to_string().as_bytes()).into_iter().find_map(|event| {
                match event.kind {
                    EventKind::Prompt { text, .. } => text,
                    _ => None,
                }
            })
        };
        let command = "<command-message>taskie:x</command-message>\n<command-name>/taskie:x</command-name>\n<command-args>a</command-args>";
        assert_eq!(command_in(&command.into()).as_deref(), Some("/taskie:x"));
        assert_eq!(command_in(&format!("see: {command}").into()), None);
        assert_eq!(command_in(&serde_json::json!([{"type": "text", "text": command}])), None);
        for broken in ["", "{", "[]", "5", r#"{"type":"user"}"#, r#"{"type":"assistant","message":5}"#] {
            assert!(parse_transcript_line(broken.as_bytes()).is_empty(), "{broken}");
        }
    }
}
