//! A request of the client, and what is new in it.
//!
//! The client sends the whole conversation each time, so the interesting part is the difference
//! to the request before. What the model said itself is left out: it comes from the script, and an
//! expectation that finds its own script would always hold.

use serde_json::{Value, json};

/// One request that reached the model.
#[derive(Debug, Clone)]
pub struct Request {
    /// The route that answered it, if any did.
    pub route: Option<String>,
    /// Counts from 1 within the route.
    pub n: usize,
    /// Names of the tools that were offered.
    pub tools: Vec<String>,
    /// The request as it came.
    pub body: Value,
}

impl Request {
    pub(super) fn new(route: Option<String>, n: usize, body: Value) -> Self {
        let tools = body["tools"].as_array().map_or(&[][..], Vec::as_slice);
        let tools = tools.iter().filter_map(|tool| tool["name"].as_str()).map(str::to_owned).collect();
        Self { route, n, tools, body }
    }

    /// The tools of which the model is only told the names, and which it can ask for: one name on each line after a sentence
    /// that says so.
    pub(crate) fn tools_on_demand(&self) -> Vec<String> {
        const SENTENCE: &str = "deferred tools are now available";
        let texts: Vec<String> = blocks(&self.body).iter().map(block_text).collect();
        let lists = texts.iter().filter_map(|text| text.split_once(SENTENCE));
        let is_name =
            |line: &&str| !line.is_empty() && line.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        lists.flat_map(|(_, list)| list.lines().skip(1).take_while(is_name)).map(str::to_owned).collect()
    }
}

/// The text of what is in `body` and was not in `before`.
pub(crate) fn new_text(body: &Value, before: Option<&Value>) -> String {
    let mut seen = before.map(blocks).unwrap_or_default();
    let mut new = Vec::new();
    for block in blocks(body) {
        if let Some(index) = seen.iter().position(|old| *old == block) {
            // Each old block hides one new one, so that a repeated text counts as new.
            seen.swap_remove(index);
        } else {
            new.push(block_text(&block));
        }
    }
    new.join("\n")
}

/// The content blocks that others than the model wrote. Blocks and not messages are compared,
/// because the client moves texts between messages when it merges them.
fn blocks(body: &Value) -> Vec<Value> {
    let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
    messages
        .iter()
        .filter(|message| message["role"] != "assistant")
        .flat_map(|message| match &message["content"] {
            Value::String(text) => vec![json!({"type": "text", "text": text})],
            Value::Array(blocks) => blocks.iter().map(without_cache_marks).collect(),
            _ => Vec::new(),
        })
        .collect()
}

/// Cache marks wander to the newest message and change nothing that the model sees.
fn without_cache_marks(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(without_cache_marks).collect(),
        Value::Object(keys) => keys
            .iter()
            .filter(|(key, _)| *key != "cache_control")
            .map(|(key, value)| (key.clone(), without_cache_marks(value)))
            .collect(),
        other => other.clone(),
    }
}

/// What a content block says, whichever kind it is.
pub(crate) fn block_text(block: &Value) -> String {
    let content = match block["type"].as_str() {
        Some("text") => &block["text"],
        Some("tool_result") => &block["content"],
        _ => return block.to_string(),
    };
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(block_text).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_on_demand_are_told_by_name() {
        let told = "<system-reminder>\nThe following deferred tools are now available via Search. Load them first:\n\
                    NotebookEdit\nmcp__one__two\n</system-reminder>\nWrite";
        let body = json!({"tools": [{"name": "Bash"}], "messages": [
            {"role": "user", "content": [{"type": "text", "text": told}, {"type": "text", "text": "hello"}]}]});
        let request = Request::new(None, 1, body);
        assert_eq!(request.tools, ["Bash"]);
        assert_eq!(request.tools_on_demand(), ["NotebookEdit", "mcp__one__two"]);
    }

    #[test]
    fn only_what_others_said_since_then_is_new() {
        let first = json!({"messages": [
            {"role": "user", "content": [{"type": "text", "text": "hello", "cache_control": {"type": "ephemeral"}}]}]});
        let second = json!({"messages": [
            {"role": "user", "content": "hello"},
            {"role": "assistant", "content": [{"type": "tool_use", "name": "Bash", "input": {"command": "secret"}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t", "is_error": true, "content": [{"type": "text", "text": "denied"}]},
                {"type": "text", "text": "note"}]}]});
        assert_eq!(new_text(&first, None), "hello");
        assert_eq!(new_text(&second, Some(&first)), "denied\nnote");
    }

    #[test]
    fn the_same_text_said_again_is_new() {
        let message = json!({"role": "user", "content": "again"});
        let once = json!({"messages": [message]});
        let twice = json!({"messages": [message, message]});
        assert_eq!(new_text(&twice, Some(&once)), "again");
    }
}
