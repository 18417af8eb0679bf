//! Commands of the workflow tools that complete, remove or leave something: `task-master set-status`, `openspec archive`.
//!
//! Their files change inside of the tool, so no effect says what is written. A word that cannot be known may be anything.

use crate::prelude::*;

use provost_shell::pattern::{ArgumentWord, ProgramWord, RunView};

/// What a command of a workflow tool does.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ToolCommand<'a> {
    /// Tasks become done. Without ids, it is not known which.
    CompleteTasks {
        ids: Vec<&'a str>,
    },
    /// Tasks get a status that closes them although nobody did them.
    DropTasks {
        ids: Vec<&'a str>,
    },
    /// A change is archived; `None`: it is not known which, or the tool asks.
    Archive {
        change: Option<&'a str>,
    },
    /// Another tag becomes the current one; `None`: it is not known which.
    UseTag {
        tag: Option<&'a str>,
    },
    DeleteTag {
        tag: Option<&'a str>,
    },
}

const TASK_MASTER: &[&str] = &["task-master", "task-master-ai", "tm"];
/// The last part of a server's tool name, which clients put their own words in front of.
const SET_STATUS_TOOL: &str = "set_task_status";

/// What a started program does to a workflow, if it is the command line of a workflow tool.
pub(crate) fn read_command<'a>(run: &RunView<'a>) -> Option<ToolCommand<'a>> {
    let ProgramWord::Known(program) = run.program() else { return None };
    let mut words: Vec<Word<'a>> = run.arguments().iter().map(Word::from_argument).collect();
    let mut name = find_tool(program)?;
    // `node node_modules/@fission-ai/openspec/bin/openspec.js archive x`
    if matches!(name, Tool::Interpreter) {
        let at = words.iter().position(|word| !word.is_option())?;
        name = words[at].text.and_then(find_script_tool)?;
        words.drain(..=at);
    }
    if words.iter().any(|word| matches!(word.text, Some("--help" | "-h"))) {
        return None;
    }
    match name {
        Tool::OpenSpec => read_openspec(&words),
        Tool::TaskMaster => read_task_master(&words),
        Tool::Interpreter => None,
    }
}

/// What a tool of an MCP server does to tasks, by its name and the texts of its input.
pub(crate) fn read_server_call<'a>(tool: &str, texts: &[&'a str]) -> Option<ToolCommand<'a>> {
    let is_named = |wanted: &str| {
        tool == wanted || tool.strip_suffix(wanted).is_some_and(|front| front.ends_with(['_', '-', '.', '/']))
    };
    let ids = || texts.iter().filter(|text| is_id_list(text)).flat_map(|text| split_ids(text)).collect();
    let named = || texts.iter().copied().find(|text| !text.contains('/') && !is_id_list(text));
    if is_named(SET_STATUS_TOOL) {
        return close_tasks(ids(), texts.iter().find(|text| is_closing(text)).copied());
    }
    if is_named("remove_task") || is_named("remove_subtask") || is_named("clear_subtasks") {
        return Some(ToolCommand::DropTasks { ids: ids() });
    }
    if is_named("use_tag") {
        return Some(ToolCommand::UseTag { tag: named() });
    }
    is_named("delete_tag").then(|| ToolCommand::DeleteTag { tag: named() })
}

/// Whether a status says that a task is done.
pub(crate) fn is_done_status(status: &str) -> bool {
    ["done", "completed", "complete"].iter().any(|done| status.trim().eq_ignore_ascii_case(done))
}

fn is_dropped_status(status: &str) -> bool {
    ["cancelled", "canceled", "deferred"].iter().any(|dropped| status.trim().eq_ignore_ascii_case(dropped))
}

fn is_closing(status: &str) -> bool {
    is_done_status(status) || is_dropped_status(status)
}

fn close_tasks<'a>(ids: Vec<&'a str>, status: Option<&str>) -> Option<ToolCommand<'a>> {
    let status = status?;
    if is_done_status(status) {
        return Some(ToolCommand::CompleteTasks { ids });
    }
    is_dropped_status(status).then_some(ToolCommand::DropTasks { ids })
}

#[derive(Clone, Copy)]
enum Tool {
    OpenSpec,
    TaskMaster,
    Interpreter,
}

fn find_tool(program: &str) -> Option<Tool> {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let name = name.strip_suffix(".cmd").or_else(|| name.strip_suffix(".exe")).unwrap_or(name);
    // `npx openspec@latest`
    let name = name.split_once('@').map_or(name, |(name, _)| name);
    match name {
        "openspec" => Some(Tool::OpenSpec),
        "node" | "bun" | "deno" => Some(Tool::Interpreter),
        name => TASK_MASTER.contains(&name).then_some(Tool::TaskMaster),
    }
}

fn find_script_tool(script: &str) -> Option<Tool> {
    let stem = script.rsplit('/').next()?.split('.').next()?;
    find_tool(stem).filter(|tool| !matches!(tool, Tool::Interpreter))
}

/// A word of a command line; `text` is `None` if it cannot be known.
#[derive(Clone, Copy)]
struct Word<'a> {
    text: Option<&'a str>,
    prefix: &'a str,
}

impl<'a> Word<'a> {
    fn from_argument(argument: &ArgumentWord<'a>) -> Self {
        match *argument {
            ArgumentWord::Known(text) => Self { text: Some(text), prefix: text },
            ArgumentWord::Unknown(word) => Self { text: None, prefix: &word.prefix },
        }
    }

    /// The rest of the word behind this; `None`: it does not begin with it.
    fn skip(self, start: &str) -> Option<Self> {
        let prefix = self.prefix.strip_prefix(start)?;
        Some(Self { text: self.text.map(|_| prefix), prefix })
    }

    fn is_option(&self) -> bool {
        self.prefix.len() > 1 && self.prefix.starts_with('-')
    }
}

/// The operands of a command line, and the values of those options that are asked for.
struct Arguments<'a> {
    operands: Vec<Word<'a>>,
    values: Vec<(&'static str, Word<'a>)>,
}

impl<'a> Arguments<'a> {
    /// `with_value`: the options that take a value, as pairs of the long and the short name.
    fn parse(words: &[Word<'a>], with_value: &[(&'static str, &'static str)]) -> Self {
        let mut arguments = Self { operands: Vec::new(), values: Vec::new() };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if !word.is_option() {
                arguments.operands.push(*word);
                continue;
            }
            let name = word.prefix.split_once('=').map_or(word.prefix, |(name, _)| name);
            let is_short =
                |short: &str| !short.is_empty() && !name.starts_with("--") && name.starts_with(short);
            let Some((long, short)) =
                with_value.iter().find(|(long, short)| name == *long || is_short(short))
            else {
                continue;
            };
            let option = if name == *long { *long } else { *short };
            // `--id=1.1`, `-i1.1`, `--id 1.1`
            let attached = word.skip(option).filter(|value| !value.prefix.is_empty() || value.text.is_none());
            let value =
                attached.map(|value| value.skip("=").unwrap_or(value)).or_else(|| words.next().copied());
            arguments.values.extend(value.map(|value| (*long, value)));
        }
        arguments
    }

    fn value(&self, name: &str) -> Option<Word<'a>> {
        self.values.iter().rev().find(|(long, _)| *long == name).map(|(_, value)| *value)
    }
}

fn read_openspec<'a>(words: &[Word<'a>]) -> Option<ToolCommand<'a>> {
    let arguments = Arguments::parse(words, &[("--store", ""), ("--store-path", ""), ("--change", "")]);
    let mut operands = arguments.operands.iter();
    // `openspec change archive NAME` is the form of older versions.
    match operands.next()?.text? {
        "archive" => {}
        "change" if operands.next()?.text? == "archive" => {}
        _ => return None,
    }
    // The change is in another repository.
    if arguments.value("--store").is_some() || arguments.value("--store-path").is_some() {
        return None;
    }
    let named = operands.next().copied().or_else(|| arguments.value("--change"));
    Some(ToolCommand::Archive { change: named.and_then(|name| name.text) })
}

fn read_task_master<'a>(words: &[Word<'a>]) -> Option<ToolCommand<'a>> {
    const OPTIONS: &[(&str, &str)] = &[
        ("--id", "-i"),
        ("--status", "-s"),
        ("--format", "-f"),
        ("--file", ""),
        ("--project", "-p"),
        ("--tag", "-t"),
        ("--name", "-n"),
    ];
    let arguments = Arguments::parse(words, OPTIONS);
    let mut operands = arguments.operands.iter().copied();
    let command = operands.next()?.text?;
    let mut operand_or = |option: &str| operands.next().or_else(|| arguments.value(option));
    let split =
        |ids: Option<Word<'a>>| ids.and_then(|ids| ids.text).map(split_ids).into_iter().flatten().collect();
    match command {
        "set-status" | "status" => {
            let id = operand_or("--id")?;
            // A status that cannot be known may be `done`.
            let status = operand_or("--status")?.text.unwrap_or("done");
            close_tasks(split(Some(id)), Some(status))
        }
        "remove-task" | "remove-subtask" | "clear-subtasks" => {
            Some(ToolCommand::DropTasks { ids: split(operand_or("--id")) })
        }
        "use-tag" => Some(ToolCommand::UseTag { tag: operand_or("--name")?.text }),
        "delete-tag" => Some(ToolCommand::DeleteTag { tag: operand_or("--name")?.text }),
        "tags" => match operand_or("--action")?.text? {
            "use" => Some(ToolCommand::UseTag { tag: operand_or("--name")?.text }),
            "remove" | "delete" => Some(ToolCommand::DeleteTag { tag: operand_or("--name")?.text }),
            _ => None,
        },
        _ => None,
    }
}

fn split_ids(list: &str) -> impl Iterator<Item = &str> {
    list.split([',', ' ']).map(str::trim).filter(|id| !id.is_empty())
}

fn is_id_list(text: &str) -> bool {
    let is_id = |id: &str| {
        id.starts_with(|c: char| c.is_ascii_digit()) && id.chars().all(|c| c.is_ascii_digit() || c == '.')
    };
    !text.is_empty() && split_ids(text).all(is_id)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn read(line: &str) -> Vec<String> {
        let effects = provost_shell::effects(line, Path::new("/p"), None);
        let runs: Vec<RunView> = effects.iter().filter_map(RunView::from_effect).collect();
        runs.iter().filter_map(|run| read_command(run).map(|command| format!("{command:?}"))).collect()
    }

    #[test]
    fn a_status_that_closes_tasks_is_read_in_every_form() {
        for line in [
            "task-master set-status --id=1.1,2 --status=done",
            "task-master set-status --id 1.1,2 --status done",
            "task-master set-status 1.1,2 done",
            "task-master status 1.1,2 done",
            "task-master set-status -i 1.1,2 -s done",
            "task-master set-status --silent -p /p 1.1,2 done",
            "npx task-master-ai set-status --id=1.1,2 --status=done",
            "npx -y --package=task-master-ai task-master set-status --id=1.1,2 --status=done",
            "npx -y task-master-ai@0.43.1 set-status 1.1,2 completed",
            "bunx task-master-ai set-status 1.1,2 Done",
            "node_modules/.bin/task-master set-status 1.1,2 done",
            "node ./node_modules/task-master-ai/dist/task-master.js set-status 1.1,2 done",
            "cd sub && env A=1 task-master set-status 1.1,2 done",
            "timeout 5 task-master set-status 1.1,2 done",
        ] {
            assert_eq!(read(line), [r#"CompleteTasks { ids: ["1.1", "2"] }"#], "{line}");
        }
        for line in ["task-master set-status --id=1 --status=$S", "task-master set-status 1 \"$S\""] {
            assert_eq!(read(line), [r#"CompleteTasks { ids: ["1"] }"#], "{line}");
        }
        assert_eq!(read("task-master set-status --id=$I --status=done"), ["CompleteTasks { ids: [] }"]);
        assert_eq!(read("task-master set-status 1 cancelled"), [r#"DropTasks { ids: ["1"] }"#]);
    }

    #[test]
    fn an_archive_is_read_in_every_form() {
        for line in [
            "openspec archive add-login",
            "openspec archive add-login -y",
            "openspec archive --yes add-login --skip-specs",
            "npx @fission-ai/openspec archive add-login --json",
            "npx -y @fission-ai/openspec@latest archive add-login",
            "pnpm dlx @fission-ai/openspec archive add-login",
            "bash -c 'openspec archive add-login -y'",
            "yes | openspec archive add-login",
            "node node_modules/@fission-ai/openspec/bin/openspec.js archive add-login",
        ] {
            assert_eq!(read(line), [r#"Archive { change: Some("add-login") }"#], "{line}");
        }
        assert_eq!(read("openspec archive $NAME -y"), ["Archive { change: None }"]);
        assert_eq!(read("openspec archive"), ["Archive { change: None }"]);
    }

    #[test]
    fn other_commands_close_nothing() {
        for line in [
            "openspec list",
            "openspec status --change archive",
            "openspec validate --archived",
            "openspec archive --help",
            "openspec archive x --store other",
            "task-master list done",
            "task-master set-status 1 in-progress",
            "task-master set-status --id=1 --status=review",
            "task-master next",
            "task-master show 1",
            "task-master status",
            "echo task-master set-status 1 done",
            "git commit -m 'openspec archive x'",
            "node -v",
            "npm run openspec",
        ] {
            assert_eq!(read(line), Vec::<String>::new(), "{line}");
        }
    }

    #[test]
    fn tools_of_servers_are_read_by_their_last_words() {
        let read =
            |tool: &str, texts: &[&str]| read_server_call(tool, texts).map(|command| format!("{command:?}"));
        let done = Some(r#"CompleteTasks { ids: ["1.1", "2"] }"#.to_owned());
        for tool in [
            "mcp__task-master-ai__set_task_status",
            "mcp__tm__set_task_status",
            "task-master_set_task_status",
            "set_task_status",
        ] {
            assert_eq!(read(tool, &["/p", "1.1,2", "done"]), done, "{tool}");
        }
        assert_eq!(
            read("mcp__tm__set_task_status", &["done", "1"]),
            Some(r#"CompleteTasks { ids: ["1"] }"#.into())
        );
        assert_eq!(read("mcp__tm__set_task_status", &["1", "in-progress"]), None);
        assert_eq!(read("mcp__tm__get_tasks", &["done"]), None);
        assert_eq!(read("mcp__tm__use_tag", &["/p", "next"]), Some(r#"UseTag { tag: Some("next") }"#.into()));
    }
}
