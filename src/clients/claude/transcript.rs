//! What an agent was given, as its own transcript shows it.
//!
//! One JSON object per line. The first message of the user is the prompt, word for word and alone;
//! whatever the client adds stands in lines of other types. A later message of the user that is no
//! result of a tool means that somebody spoke to the agent again.

use serde_json::Value;

use crate::clients::Briefing;

pub(super) fn briefing(transcript: &str) -> Option<Briefing> {
    let mut messages = transcript.lines().filter_map(spoken);
    let prompt = messages.next()?;
    Some(Briefing { spoken_to_again: messages.next().is_some(), prompt })
}

/// What the user says in this line.
fn spoken(line: &str) -> Option<String> {
    // Most lines are of other types, and some are large.
    if !line.contains("\"user\"") {
        return None;
    }
    let line: Value = serde_json::from_str(line).ok()?;
    if line["type"] != "user" {
        return None;
    }
    match &line["message"]["content"] {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        }
        _ => None,
    }
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
}
