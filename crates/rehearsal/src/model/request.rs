//! A request of the client, and what is new in it.
//!
//! The client sends the whole conversation each time, so expectations look only at what is new since the request before. The
//! model's own messages are left out: they come from the script, so an expectation about them would always be met.

use serde_json::{Value, json};

/// One request that reached the model.
#[derive(Debug, Clone)]
pub struct Request {
    /// The route that answered it.
    pub route: Option<String>,
    /// Its number in the route, from 1.
    pub n: usize,
    /// The names of the offered tools.
    pub tools: Vec<String>,
    /// The JSON body.
    pub body: Value,
}

impl Request {
    pub(super) fn new(route: Option<String>, n: usize, body: Value) -> Self {
        let tools = body["tools"].as_array().map_or(&[][..], Vec::as_slice);
        let tools = tools.iter().filter_map(|tool| tool["name"].as_str()).map(str::to_owned).collect();
        Self { route, n, tools, body }
    }

    /// The deferred tools, of which the client sends only the names, one per line after a known sentence.
    pub(crate) fn tools_on_demand(&self) -> Vec<String> {
        const SENTENCE: &str = "deferred tools are now available";
        let texts: Vec<String> = blocks(&self.body).iter().map(block_text).collect();
        let lists = texts.iter().filter_map(|text| text.split_once(SENTENCE));
        let is_name =
            |line: &&str| !line.is_empty() && line.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        lists.flat_map(|(_, list)| list.lines().skip(1).take_while(is_name)).map(str::to_owned).collect()
    }
}

/// The text that is in `body` and not in `before`.
pub(crate) fn new_text(body: &Value, before: Option<&Value>) -> String {
    let mut old_blocks = before.map(blocks).unwrap_or_default();
    let mut new = Vec::new();
    for block in blocks(body) {
        if let Some(index) = old_blocks.iter().position(|old| *old == block) {
            // Each old block hides only one block, so that a repeated text counts as new.
            old_blocks.swap_remove(index);
        } else {
            new.push(block_text(&block));
        }
    }
    new.join("\n")
}

/// The content blocks that the model did not write. Blocks are compared instead of messages, because the client moves texts
/// between messages.
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

/// Removes cache marks, which move to the newest message and mean nothing to the model.
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

/// The text of a content block of any kind.
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
    fn deferred_tools_are_found_by_name() {
        let reminder = "<system-reminder>\nThe following deferred tools are now available via Search. Load them first:\n\
                    NotebookEdit\nmcp__one__two\n</system-reminder>\nWrite";
        let body = json!({"tools": [{"name": "Bash"}], "messages": [
            {"role": "user", "content": [{"type": "text", "text": reminder}, {"type": "text", "text": "hello"}]}]});
        let request = Request::new(None, 1, body);
        assert_eq!(request.tools, ["Bash"]);
        assert_eq!(request.tools_on_demand(), ["NotebookEdit", "mcp__one__two"]);
    }

    #[test]
    fn only_text_that_the_model_did_not_write_is_new() {
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
    fn a_repeated_text_is_new() {
        let message = json!({"role": "user", "content": "again"});
        let once = json!({"messages": [message]});
        let twice = json!({"messages": [message, message]});
        assert_eq!(new_text(&twice, Some(&once)), "again");
    }
}
