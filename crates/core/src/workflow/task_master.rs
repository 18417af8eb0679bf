//! `tasks.json` of Task Master: tags, each with tasks and subtasks.
//!
//! The tool rewrites the file: ids become texts, times and parents appear. Only what a person would read counts as
//! the meaning of a task.

use serde_json::{Map, Value};

use super::tasks::TaskItem;

/// The tag of files that have no tags.
const ONLY_TAG: &str = "master";

/// The tasks of one tag.
#[derive(Debug)]
pub(super) struct TagTasks {
    pub(super) tag: String,
    tasks: Vec<Value>,
}

/// The tags of the file, in its order. The error says why there are none to be read.
pub(super) fn parse_file(text: &str) -> Result<Vec<TagTasks>, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
    let Value::Object(mut object) = value else { return Err("it is not a JSON object".into()) };
    if let Some(Value::Array(tasks)) = object.get_mut("tasks").map(Value::take) {
        return Ok(vec![TagTasks { tag: ONLY_TAG.into(), tasks }]);
    }
    let mut tags = Vec::new();
    for (tag, mut content) in object {
        match content.get_mut("tasks").map(Value::take) {
            Some(Value::Array(tasks)) => tags.push(TagTasks { tag, tasks }),
            _ if tag == "metadata" => {}
            _ => return Err(format!("the tag `{tag}` has no list of tasks")),
        }
    }
    Ok(tags)
}

/// The tasks of all tags, each subtask after its task.
pub(super) fn list_tasks(tags: &[TagTasks]) -> Vec<TaskItem> {
    let mut found = Vec::new();
    for tag in tags {
        tag.add_tasks(&mut found);
    }
    found
}

impl TagTasks {
    pub(super) fn list_tasks(&self) -> Vec<TaskItem> {
        let mut found = Vec::new();
        self.add_tasks(&mut found);
        found
    }

    fn add_tasks(&self, found: &mut Vec<TaskItem>) {
        for (at, task) in self.tasks.iter().enumerate() {
            let id = read_id(task, at);
            let index = found.len();
            let is_cancelled = status_of(task) == "cancelled";
            found.push(self.make_task(task, &id, None));
            for (at, part) in list_parts(task).iter().enumerate() {
                let part_id = format!("{id}.{}", read_id(part, at));
                let mut item = self.make_task(part, &part_id, Some(index));
                item.is_closed |= is_cancelled;
                found.push(item);
            }
        }
    }

    fn make_task(&self, task: &Value, id: &str, parent: Option<usize>) -> TaskItem {
        let status = status_of(task);
        let is_done = matches!(status, "done" | "completed");
        TaskItem {
            id: Some(format!("{}/{id}", self.tag)),
            text: task["title"].as_str().unwrap_or_default().to_owned(),
            is_done,
            is_closed: is_done || status == "cancelled",
            parent,
            is_optional: false,
            line: 0,
        }
    }

    /// What the user reads and approves.
    pub(super) fn describe_meaning(&self) -> String {
        let mut text = String::new();
        for task in &self.tasks {
            add_meaning(&mut text, "#", task);
            for part in list_parts(task) {
                add_meaning(&mut text, "##", part);
            }
        }
        text
    }
}

fn status_of(task: &Value) -> &str {
    task["status"].as_str().unwrap_or("pending")
}

fn list_parts(task: &Value) -> &[Value] {
    task["subtasks"].as_array().map_or(&[], Vec::as_slice)
}

/// The id, which is a number or a text. `at` is the place in the list.
fn read_id(task: &Value, at: usize) -> String {
    match &task["id"] {
        Value::String(id) => id.clone(),
        Value::Number(id) => id.to_string(),
        _ => (at + 1).to_string(),
    }
}

fn add_meaning(text: &mut String, mark: &str, task: &Value) {
    let empty = Map::new();
    let fields = task.as_object().unwrap_or(&empty);
    let read = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
    *text += &format!("{mark} {}\n", read("title").trim());
    for name in ["description", "details", "testStrategy"] {
        *text += &format!("{name}: {}\n", remove_notes(read(name)).trim());
    }
    let depends = fields.get("dependencies").and_then(Value::as_array).into_iter().flatten();
    let depends: Vec<String> =
        depends.map(|id| id.as_str().map_or_else(|| id.to_string(), str::to_owned)).collect();
    *text += &format!("dependencies: {}\n", depends.join(","));
}

/// Removes what `update-subtask` adds to the details: `<info added on TIME>…</info added on TIME>`.
fn remove_notes(details: &str) -> String {
    const OPEN: &str = "<info added on ";
    const CLOSE: &str = "</info added on ";
    let mut kept = String::new();
    let mut rest = details;
    while let Some((before, note)) = rest.split_once(OPEN) {
        let Some((_, after)) = note.split_once(CLOSE).and_then(|(_, end)| end.split_once('>')) else { break };
        kept += before;
        rest = after;
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"{"master":{"tasks":[
        {"id":1,"title":"Store","description":"d","details":"x","testStrategy":"","status":"pending","dependencies":[],
         "subtasks":[{"id":1,"title":"Hash","status":"done","parentTaskId":1}]},
        {"id":"2","title":"Read","status":"cancelled","dependencies":[1],"subtasks":[{"id":1,"title":"p","status":"pending"}]}],
        "metadata":{"created":"now"}},"other":{"tasks":[]}}"#;

    #[test]
    fn tasks_and_subtasks_of_all_tags_are_read() {
        let tasks = list_tasks(&parse_file(FILE).unwrap());
        let shown: Vec<_> =
            tasks.iter().map(|task| (task.id.as_deref().unwrap(), task.is_done, task.is_closed)).collect();
        assert_eq!(
            shown,
            [
                ("master/1", false, false),
                ("master/1.1", true, true),
                ("master/2", false, true),
                ("master/2.1", false, true)
            ]
        );
    }

    #[test]
    fn what_the_tool_rewrites_changes_no_meaning() {
        let meaning = |text: &str| parse_file(text).unwrap()[0].describe_meaning();
        let rewritten = FILE
            .replace("\"id\":1,", "\"id\":\"1\",\"updatedAt\":\"now\",")
            .replace("pending", "in-progress")
            .replace("[1]", "[\"1\"]")
            .replace(
                "\"details\":\"x\"",
                "\"details\":\"x\\n<info added on T>\\nnote\\n</info added on T>\"",
            );
        assert_eq!(meaning(FILE), meaning(&rewritten));
        assert_ne!(meaning(FILE), meaning(&FILE.replace("\"details\":\"x\"", "\"details\":\"y\"")));
    }

    #[test]
    fn a_damaged_file_is_an_error() {
        for text in ["", "{", "[]", "{\"a\":1}", "{\"master\":{\"tasks\":{}}}"] {
            assert!(parse_file(text).is_err(), "{text}");
        }
        assert_eq!(parse_file("{\"tasks\":[]}").unwrap().len(), 1);
        assert!(parse_file("{}").unwrap().is_empty());
    }
}
