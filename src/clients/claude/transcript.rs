//! What an agent was given and what it did, as its own transcript shows it.
//!
//! One JSON object per line. The first message of the user is the prompt, word for word and alone;
//! whatever the client adds stands in lines of other types. A later message of the user that is no
//! result of a tool means that somebody spoke to the agent again. The client writes lines a moment after
//! they were said.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Fields, home, own_directory, tool};
use crate::clients::Briefing;
use crate::event::{Call, Event, Kind, Outcome};
use crate::search;
use crate::workspace::{Places, resolve};

/// Whether a file is one, of a conversation or of an agent in it.
pub(super) fn is_one(file: &Path, places: &Places) -> bool {
    file.extension().is_some_and(|extension| extension == "jsonl")
        && own_directory(places).is_some_and(|own| file.starts_with(resolve(&own.join("projects"))))
}

pub(super) fn briefing(transcript: &str) -> Option<Briefing> {
    let mut briefing: Option<Briefing> = None;
    for Spoken { by_agent, text, is_cut } in transcript.lines().filter_map(spoken) {
        match &mut briefing {
            // Whatever comes before the prompt answers something else.
            None if by_agent => {}
            None => {
                let prompt = text?;
                briefing = Some(Briefing { prompt, spoken_to_again: false, said: Vec::new(), is_cut: false });
            }
            Some(briefing) if by_agent => {
                briefing.said.extend(text);
                briefing.is_cut |= is_cut;
            }
            Some(briefing) => briefing.spoken_to_again = true,
        }
    }
    briefing
}

/// What is said in one line of a transcript.
struct Spoken {
    by_agent: bool,
    /// `None`: a thought or a call of the agent.
    text: Option<String>,
    is_cut: bool,
}

/// How a message ends that is whole. One that ends for another reason lacks a part.
const WHOLE: &[&str] = &["end_turn", "stop_sequence", "tool_use"];

fn spoken(line: &str) -> Option<Spoken> {
    // Most lines are of other types, and some are large.
    if !line.contains("\"user\"") && !line.contains("\"assistant\"") {
        return None;
    }
    let line: Value = serde_json::from_str(line).ok()?;
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
    let is_cut = line["message"]["stop_reason"].as_str().is_some_and(|reason| !WHOLE.contains(&reason));
    // A result of a tool is in a line of the user, but nobody says it.
    (by_agent || text.is_some()).then_some(Spoken { by_agent, text, is_cut })
}

/// Whether a line ends what the agent said last: the last line of a talk is either that, or of a time
/// before. Lines that are no part of the talk, and thoughts, say nothing.
pub(super) fn ends(line: &[u8], said: &str) -> Option<bool> {
    if [&b"\"user\""[..], b"\"assistant\""].iter().all(|mark| search::part(line, mark).is_none()) {
        return None;
    }
    let line: Value = serde_json::from_slice(line).ok()?;
    match line["type"].as_str()? {
        "user" => Some(false),
        "assistant" => line["message"]["content"].as_array()?.iter().rev().find_map(|part| {
            let text = (part["type"] == "text").then(|| part["text"].as_str()).flatten();
            let is_call = part["type"] == "tool_use";
            text.map(|text| said.trim().ends_with(text.trim())).or(is_call.then_some(false))
        }),
        _ => None,
    }
}

/// The calls in a line of what the agent said, or the command that the person gave in it.
pub(super) fn done(line: &[u8]) -> Vec<Event> {
    // Most lines are results of tools, and some of those are large.
    if [&b"\"tool_use\""[..], b"<command-name>"].iter().all(|mark| search::part(line, mark).is_none()) {
        return Vec::new();
    }
    let Ok(Value::Object(line)) = serde_json::from_slice(line) else { return Vec::new() };
    let mut line = Fields(line);
    let cwd = line.take_text("cwd").map(PathBuf::from).unwrap_or_default();
    let kind = line.take_text("type").unwrap_or_default();
    let content = match line.0.remove("message") {
        Some(Value::Object(mut message)) => message.remove("content").unwrap_or_default(),
        _ => return Vec::new(),
    };
    match (kind.as_str(), content) {
        ("user", Value::String(text)) => {
            let command = command(&text).map(|text| Kind::Prompt {
                text: Some(text),
                by_person: true,
                finished_task: None,
            });
            command.map(|kind| Event::new(String::new(), kind, cwd)).into_iter().collect()
        }
        ("assistant", Value::Array(parts)) => {
            parts.into_iter().filter_map(|part| called(part, cwd.clone())).collect()
        }
        _ => Vec::new(),
    }
}

fn called(part: Value, cwd: PathBuf) -> Option<Event> {
    let Value::Object(part) = part else { return None };
    let mut part = Fields(part);
    if part.text("type") != Some("tool_use") {
        return None;
    }
    let native_tool = part.take_text("name")?;
    let tool = tool(&native_tool, part.0.remove("input").unwrap_or_default());
    let call = Call { native_tool, id: part.take_text("id"), tool, outcome: Outcome::default() };
    let mut event = Event::new(String::new(), Kind::AfterTool(call), cwd);
    event.home = home();
    Some(event)
}

/// A command as the person typed it. The client notes it in marks of its own, at the start of a message.
fn command(text: &str) -> Option<String> {
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
        let briefing = briefing(&[PROMPT, ATTACHMENT, RESULT, ANSWER].join("\n")).unwrap();
        assert_eq!(briefing.prompt, "The plan:\r\n\n  one “q”\n");
        assert!(!briefing.spoken_to_again);
        assert_eq!((briefing.said.as_slice(), briefing.is_cut), (&["ok".to_owned()][..], false));
    }

    /// Measured: the client ends a stop with the last block of text only, and tells an agent that reaches
    /// the token limit to answer again.
    #[test]
    fn an_answer_is_all_that_was_said_and_a_cut_is_noticed() {
        let said = |text: &str, reason: &str| {
            serde_json::json!({"type": "assistant", "message": {"role": "assistant", "stop_reason": reason,
                "content": [{"type": "text", "text": text}]}})
            .to_string()
        };
        let two = briefing(&[PROMPT, &said("one", "end_turn"), &said("two", "end_turn")].join("\n")).unwrap();
        assert_eq!((two.said.join(" "), two.is_cut, two.reaches("two")), ("one two".into(), false, true));
        for reason in ["max_tokens", "refusal", "pause_turn", "model_context_window_exceeded", "new"] {
            assert!(briefing(&[PROMPT, &said("one", reason), ANSWER].join("\n")).unwrap().is_cut, "{reason}");
        }
        let thought = said("", "max_tokens").replace("\"text\":\"\"", "\"thinking\":\"…\"");
        assert!(briefing(&[PROMPT, &thought, ANSWER].join("\n")).unwrap().is_cut);
    }

    /// Measured: when an agent that was spoken to again stops, the client has not yet written the
    /// second half of its transcript.
    #[test]
    fn a_transcript_that_does_not_reach_the_answer_yet_is_known_by_that() {
        let half = briefing(&[PROMPT, ANSWER].join("\n")).unwrap();
        assert!(!half.spoken_to_again && !half.reaches("### VERDICT: PASS") && half.reaches("ok\n"));
        assert!(half.reaches("a part before\nok") && !half.reaches("not ok"));
        assert!(!briefing(PROMPT).unwrap().reaches("ok"));
    }

    /// Measured: at the end of a turn, its last lines may not have been written yet.
    #[test]
    fn a_line_is_the_end_of_what_was_said_or_of_a_time_before() {
        let said = |content: &str| format!(r#"{{"type":"assistant","message":{{"content":[{content}]}}}}"#);
        let (text, call) = (r#"{"type":"text","text":"ok\n"}"#, r#"{"type":"tool_use","name":"Bash"}"#);
        let thought = r#"{"type":"thinking","thinking":"ok"}"#;
        for (line, is_end) in [
            (said(text), Some(true)),
            (said(&[text, thought].join(",")), Some(true)),
            (said(call), Some(false)),
            (said(&[text, call].join(",")), Some(false)),
            (said(thought), None),
            (PROMPT.into(), Some(false)),
            (RESULT.into(), Some(false)),
            (ATTACHMENT.into(), None),
            ("no JSON \"user\"".into(), None),
        ] {
            assert_eq!(ends(line.as_bytes(), "first\nok"), is_end, "{line}");
        }
        assert_eq!(ends(ANSWER.as_bytes(), "something else"), Some(false));
    }

    #[test]
    fn a_later_message_is_noticed() {
        assert!(briefing(&[PROMPT, ANSWER, AGAIN, ANSWER].join("\n")).unwrap().spoken_to_again);
        assert!(briefing(&[PROMPT, PROMPT].join("\n")).unwrap().spoken_to_again);
    }

    #[test]
    fn a_transcript_without_a_prompt_shows_nothing() {
        assert!(briefing("").is_none());
        assert!(briefing(&[ANSWER, RESULT, "{\"type\":\"user\"", "no JSON"].join("\n")).is_none());
    }

    #[test]
    fn calls_of_the_agent_are_what_was_done_where_it_was() {
        let line = r#"{"type":"assistant","cwd":"/p/sub","message":{"role":"assistant","content":[
            {"type":"text","text":"I write"},
            {"type":"tool_use","id":"t1","name":"Write","input":{"file_path":"/p/a.md","content":"x"}},
            {"type":"tool_use","id":"t2","name":"Bash","input":{"command":"echo x > b.md"}},
            {"type":"tool_use","name":5},"odd"]}}"#;
        let done = done(line.as_bytes());
        let written: Vec<PathBuf> = done
            .iter()
            .flat_map(Event::effects)
            .filter_map(|effect| match effect {
                crate::effect::Effect::Write { path, .. } => Some(path.clone()),
                _ => None,
            })
            .collect();
        assert_eq!(written, [PathBuf::from("/p/a.md"), PathBuf::from("/p/sub/b.md")]);
    }

    #[test]
    fn a_command_of_the_person_is_one_only_at_the_start_of_a_message() {
        let of = |content: &Value| {
            let line = serde_json::json!({"type": "user", "cwd": "/p", "message": {"role": "user", "content": content}});
            done(line.to_string().as_bytes()).into_iter().find_map(|event| match event.kind {
                Kind::Prompt { text, .. } => text,
                _ => None,
            })
        };
        let command = "<command-message>taskie:x</command-message>\n<command-name>/taskie:x</command-name>\n<command-args>a</command-args>";
        assert_eq!(of(&command.into()).as_deref(), Some("/taskie:x"));
        assert_eq!(of(&format!("see: {command}").into()), None);
        assert_eq!(of(&serde_json::json!([{"type": "text", "text": command}])), None);
        for broken in ["", "{", "[]", "5", r#"{"type":"user"}"#, r#"{"type":"assistant","message":5}"#] {
            assert!(done(broken.as_bytes()).is_empty(), "{broken}");
        }
    }
}
