//! Reads `[workflow.NAME]` and `[workflow] finish` from the document of one file.
//!
//! A key with a mistake is left out, and the mistake is reported with its place. A table that then does not say where
//! its instances are is left out as a whole.

use std::path::{Component, Path};

use toml::de::{DeTable, DeValue};

use super::built_in::{empty_table, find_built_in};
use super::keys::{FINISH_KEYS, TABLE_KEYS};
use super::{ArtefactRule, FinishNeed, InstancePointer, WorkflowSystem, WorkflowTable};
use crate::rules::key_values::{Mistake, find_key, number, text, texts, wrong_type};
use crate::rules::value::{RuleEntry, RuleValue, convert_table};
use crate::text::shorten_name;

/// The workflows of one file.
#[derive(Debug, Default)]
pub(crate) struct WorkflowLayer {
    pub(crate) tables: Vec<WorkflowTable>,
    pub(crate) finish: Option<FinishNeed>,
    /// The names in `use`, and where they begin.
    pub(crate) used: Vec<(String, usize)>,
}

/// The name of `finish`, which is no table of a workflow.
const FINISH: &str = "finish";

/// The workflows of a document. `is_setting` says which names are settings.
pub(crate) fn read_workflow_tables(
    document: &DeTable<'_>,
    is_setting: impl Fn(&str) -> bool,
    mistakes: &mut Vec<Mistake>,
) -> WorkflowLayer {
    let mut layer = WorkflowLayer::default();
    let Some(DeValue::Table(entries)) = document.get("workflow").map(toml::Spanned::get_ref) else {
        return layer;
    };
    for (name, value) in entries {
        match value.get_ref() {
            DeValue::Array(list) if name.get_ref() == "use" => {
                let used = list.iter().filter_map(|item| match item.get_ref() {
                    DeValue::String(word) => Some((word.to_string(), item.span().start)),
                    _ => None,
                });
                layer.used.extend(used);
            }
            DeValue::Table(table) if name.get_ref() == FINISH => {
                layer.finish = Some(read_finish(convert_table(table, 0), mistakes));
            }
            DeValue::Table(table) if !is_setting(name.get_ref()) => {
                let place = (name.get_ref().as_ref(), name.span().start);
                layer.tables.extend(read_table(place, convert_table(table, 0), mistakes));
            }
            _ => {}
        }
    }
    layer
}

/// Whether an entry of `[workflow]` is read here, and is no setting.
pub(crate) fn is_workflow_entry(name: &str, value: &DeValue<'_>, is_setting: bool) -> bool {
    matches!(value, DeValue::Table(_)) && (name == FINISH || !is_setting)
}

fn read_finish(entries: Vec<RuleEntry<'_>>, mistakes: &mut Vec<Mistake>) -> FinishNeed {
    let mut finish = FinishNeed::default();
    for entry in entries {
        let outcome = find_key(FINISH_KEYS, &entry).and_then(|key| {
            match key.name {
                "passed" => finish.passed = Some(text(key, &entry.value)?.text),
                _ => finish.review = Some(number(key, &entry.value)?),
            }
            Ok(())
        });
        mistakes.extend(outcome.err());
    }
    finish
}

fn read_table(
    (name, offset): (&str, usize),
    entries: Vec<RuleEntry<'_>>,
    mistakes: &mut Vec<Mistake>,
) -> Option<WorkflowTable> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !name.chars().all(is_name) || name.is_empty() {
        let text =
            format!("`{}` is no name for a workflow: use letters, digits, `-` and `_`", shorten_name(name));
        mistakes.push((offset, text));
        return None;
    }
    let before = mistakes.len();
    let is_own = find_built_in(name).is_none();
    let mut table = find_built_in(name).unwrap_or_else(|| empty_table(name, WorkflowSystem::Own));
    let mut unfilled = None;
    let mut pointer_key = None;
    let mut artefacts: Vec<ArtefactRule> = Vec::new();
    for entry in entries {
        let outcome = find_key(TABLE_KEYS, &entry).and_then(|key| {
            let value = &entry.value;
            let words = || Ok(texts(key, value)?.into_iter().map(|text| text.text).collect::<Vec<_>>());
            let paths = || {
                let all = texts(key, value)?;
                match all.iter().find(|path| !leads_down(&path.text)) {
                    Some(wrong) => {
                        Err((wrong.offset, format!("`{}` takes paths below the project", key.name)))
                    }
                    None => Ok(all.into_iter().map(|text| text.text).collect::<Vec<_>>()),
                }
            };
            let path = || match value.0 {
                RuleValue::Text(_) => Ok(paths()?.remove(0)),
                _ => Err(wrong_type(key, value.1)),
            };
            match key.name {
                "noun" => table.noun = text(key, value)?.text,
                "marker" => table.markers = paths()?,
                "planning" => table.planning = paths()?,
                "instances" => table.instances = paths()?,
                "except" => table.except = words()?,
                "required" | "optional" => {
                    let is_required = key.name == "required";
                    artefacts.extend(paths()?.into_iter().map(|files| ArtefactRule {
                        id: files.rsplit('/').next().unwrap_or_default().trim_end_matches(".md").to_owned(),
                        files,
                        is_required,
                        unfilled: Vec::new(),
                    }));
                }
                "tasks" => table.tasks = Some(path()?),
                "unfilled" => unfilled = Some(words()?),
                "pointer" => table.pointer = Some(InstancePointer { file: path()?, key: None }),
                "pointer_key" => pointer_key = Some(text(key, value)?.text),
                "commands" => table.commands = words()?,
                _ => table.notes = words()?,
            }
            Ok(())
        });
        mistakes.extend(outcome.err());
    }
    if !artefacts.is_empty() {
        table.artefacts = artefacts;
    }
    if let Some(tasks) = table.tasks.clone().filter(|_| is_own)
        && !table.artefacts.iter().any(|artefact| artefact.files == tasks)
    {
        table.artefacts.push(ArtefactRule {
            id: "tasks".into(),
            files: tasks,
            is_required: true,
            unfilled: Vec::new(),
        });
    }
    if let Some(unfilled) = unfilled {
        table.artefacts.iter_mut().for_each(|artefact| artefact.unfilled.clone_from(&unfilled));
    }
    if let Some(pointer) = &mut table.pointer
        && pointer_key.is_some()
    {
        pointer.key = pointer_key;
    }
    let missing = [
        ("marker", table.markers.is_empty()),
        ("planning", table.planning.is_empty()),
        ("instances", table.instances.is_empty() && is_own),
        ("required", table.artefacts.is_empty() && is_own),
    ];
    match missing.iter().find(|(_, is_missing)| *is_missing) {
        // A misspelled key explains what seems to be missing.
        Some((key, _)) => {
            if mistakes.len() == before {
                mistakes.push((offset, format!("the workflow `{name}` needs `{key}`")));
            }
            None
        }
        None => Some(table),
    }
}

/// Whether a path is relative and has no `..`.
fn leads_down(path: &str) -> bool {
    !path.is_empty() && Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (WorkflowLayer, Vec<String>) {
        let (document, _) = DeTable::parse_recoverable(text);
        let mut mistakes = Vec::new();
        let layer = read_workflow_tables(document.get_ref(), |name| name == "strict", &mut mistakes);
        (layer, mistakes.into_iter().map(|(_, text)| text).collect())
    }

    #[test]
    fn a_table_of_ones_own_is_read() {
        let (layer, mistakes) = read(
            "[workflow]\nuse = [\"ours\"]\nfinish = { passed = \"make test\", review = 2 }\n[workflow.ours]\nmarker = \"docs\"\n\
             planning = [\"docs\"]\ninstances = \"docs/changes/*\"\nrequired = \"plan.md\"\ntasks = \"tasks.md\"\n\
             pointer = \"docs/current\"\npointer_key = \"name\"\nunfilled = [\"TODO\"]\n",
        );
        assert_eq!(mistakes, Vec::<String>::new());
        let table = &layer.tables[0];
        let files: Vec<_> = table.artefacts.iter().map(|it| (it.files.as_str(), it.is_required)).collect();
        assert_eq!(files, [("plan.md", true), ("tasks.md", true)]);
        assert_eq!(table.pointer.as_ref().unwrap().key.as_deref(), Some("name"));
        assert_eq!(layer.finish, Some(FinishNeed { passed: Some("make test".into()), review: Some(2) }));
        assert_eq!(layer.used[0].0, "ours");
    }

    #[test]
    fn a_built_in_table_can_be_changed_in_part() {
        let (layer, mistakes) =
            read("[workflow.kiro]\nmarker = \".k\"\ninstances = \".k/specs/*\"\nplanning = \".k\"\n");
        assert_eq!(mistakes, Vec::<String>::new());
        assert_eq!((layer.tables[0].artefacts.len(), layer.tables[0].markers[0].as_str()), (3, ".k"));
    }

    #[test]
    fn mistakes_are_told() {
        for (text, mistake) in [
            ("[workflow.x]\nmarker = \"a\"\n", "the workflow `x` needs `planning`"),
            ("[workflow.x]\nmarkr = \"a\"\n", "unknown key `markr`; did you mean `marker`?"),
            ("[workflow.kiro]\nmarker = \"../a\"\n", "`marker` takes paths below the project"),
            ("[workflow.kiro]\ntasks = [\"a\"]\n", "`tasks` takes a text"),
            ("[workflow.kiro]\nnoun = 1\n", "`noun` takes a text"),
            ("[workflow]\nfinish = { review = 0 }\n", "`review` takes a whole number from 1 to 10"),
            ("[workflow]\nfinish = { pass = 1 }\n", "unknown key `pass`; did you mean `passed`?"),
            ("[workflow.\"a b\"]\n", "`a b` is no name for a workflow: use letters, digits, `-` and `_`"),
        ] {
            assert_eq!(read(text).1, [mistake], "{text}");
        }
    }
}
