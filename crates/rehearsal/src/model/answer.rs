//! The model's answer in the format of the Messages API, streamed or whole.
//!
//! Both are built from the same content blocks, so that a client that falls back from streaming gets the same answer.

use serde_json::{Value, json};

use super::fill_from_request;
use crate::scenario::Call;
use crate::variables::{Variables, map_strings};

/// A message of the model, with every placeholder filled.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Message {
    id: String,
    model: Value,
    content: Vec<Value>,
    is_cut: bool,
}

/// Placeholders of a step that could not be filled.
pub(super) type Problems = Vec<String>;

impl Message {
    /// Fills a step. `tag` is unique within the run, and part of the ids of the message and its calls.
    pub(super) fn compose(
        tag: &str,
        (text, calls, is_cut): (Option<&str>, &[Call], bool),
        body: &Value,
        variables: &Variables,
    ) -> (Self, Problems) {
        let request_text =
            format!("{}\n{}", super::all_text(&body["system"]), super::all_text(&body["messages"]));
        let mut problems = Problems::new();
        let mut fill = |template: &str| {
            fill_from_request(&variables.fill(template), &request_text).unwrap_or_else(|problem| {
                problems.push(problem);
                template.to_owned()
            })
        };
        let mut content = Vec::new();
        if let Some(text) = text {
            content.push(json!({"type": "text", "text": fill(text)}));
        }
        for (index, call) in calls.iter().enumerate() {
            let input = map_strings(&Value::Object(call.input.clone()), &mut fill);
            content.push(json!({
                "type": "tool_use", "id": format!("toolu_{tag}_{index}"), "name": call.tool, "input": input,
            }));
        }
        let message = Self { id: format!("msg_{tag}"), model: body["model"].clone(), content, is_cut };
        (message, problems)
    }

    pub(super) fn text(&self) -> Option<String> {
        let block = self.content.iter().find(|block| block["type"] == "text")?;
        block["text"].as_str().map(str::to_owned)
    }

    /// The calls with their input as JSON text.
    pub(super) fn calls(&self) -> Vec<(String, String)> {
        self.content
            .iter()
            .filter(|block| block["type"] == "tool_use")
            .map(|block| (block["name"].as_str().unwrap_or_default().to_owned(), block["input"].to_string()))
            .collect()
    }

    pub(super) fn to_json(&self) -> Value {
        self.envelope(&self.content, Some(self.stop_reason()))
    }

    /// The message as server-sent events.
    pub(super) fn to_event_stream(&self) -> String {
        let mut events = vec![json!({
            "type": "message_start", "message": self.envelope(&[], None),
        })];
        for (index, block) in self.content.iter().enumerate() {
            let (start, delta) = if block["type"] == "text" {
                (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": block["text"]}))
            } else {
                (
                    json!({"type": "tool_use", "id": block["id"], "name": block["name"], "input": {}}),
                    json!({"type": "input_json_delta", "partial_json": block["input"].to_string()}),
                )
            };
            events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
            events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
            events.push(json!({"type": "content_block_stop", "index": index}));
        }
        events.push(json!({
            "type": "message_delta",
            "delta": {"stop_reason": self.stop_reason(), "stop_sequence": null},
            "usage": usage(),
        }));
        events.push(json!({"type": "message_stop"}));
        let frame = |event: &Value| {
            let name = event["type"].as_str().unwrap_or_default();
            format!("event: {name}\ndata: {event}\n\n")
        };
        events.iter().map(frame).collect::<Vec<_>>().concat()
    }

    fn envelope(&self, content: &[Value], stop_reason: Option<&str>) -> Value {
        json!({
            "id": self.id, "type": "message", "role": "assistant", "model": self.model,
            "content": content, "stop_reason": stop_reason, "stop_sequence": null, "usage": usage(),
        })
    }

    fn stop_reason(&self) -> &'static str {
        match (self.is_cut, self.calls().is_empty()) {
            (true, _) => "max_tokens",
            (false, true) => "end_turn",
            (false, false) => "tool_use",
        }
    }
}

fn usage() -> Value {
    json!({"input_tokens": 10, "output_tokens": 5})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> Message {
        let input = json!({"command": "cat {{re:file (\\S+)}}"});
        let call = Call { tool: "Bash".into(), input: input.as_object().unwrap().clone() };
        let body = json!({"model": "m", "messages": [{"role": "user", "content": "file a.txt"}]});
        let (message, problems) = Message::compose(
            "x_1",
            (Some("let me"), &[call.clone(), call], false),
            &body,
            &Variables::default(),
        );
        assert!(problems.is_empty());
        message
    }

    #[test]
    fn the_stream_has_the_format_of_the_api() {
        let events = message().to_event_stream();
        let names: Vec<_> = events.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
        let block = ["content_block_start", "content_block_delta", "content_block_stop"];
        let expected =
            [&["message_start"][..], &block, &block, &block, &["message_delta", "message_stop"]].concat();
        assert_eq!(names, expected);
        let data: Vec<Value> = events
            .lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .map(|data| serde_json::from_str(data).unwrap())
            .collect();
        assert_eq!(data[0]["message"]["content"], json!([]));
        assert_eq!(data[2]["delta"], json!({"type": "text_delta", "text": "let me"}));
        assert_eq!(
            data[4]["content_block"],
            json!({"type": "tool_use", "id": "toolu_x_1_0", "name": "Bash", "input": {}})
        );
        assert_eq!(data[5]["delta"]["partial_json"], r#"{"command":"cat a.txt"}"#);
        assert_eq!(data[8]["index"], 2);
        assert_eq!(data[10]["delta"]["stop_reason"], "tool_use");
    }

    #[test]
    fn the_whole_message_has_the_same_content() {
        let whole = message().to_json();
        assert_eq!(whole["content"][0]["text"], "let me");
        assert_eq!(whole["content"][2]["input"]["command"], "cat a.txt");
        assert_eq!(whole["stop_reason"], "tool_use");
    }

    #[test]
    fn text_without_calls_ends_the_turn_or_is_cut_off() {
        for (is_cut, reason) in [(false, "end_turn"), (true, "max_tokens")] {
            let answer = (Some("done"), &[][..], is_cut);
            let (message, _) = Message::compose("x", answer, &json!({}), &Variables::default());
            assert_eq!(message.to_json()["stop_reason"], reason);
            assert!(message.to_event_stream().contains(reason));
        }
    }
}
