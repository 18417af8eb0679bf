//! What a change of `OpenSpec` needs, by the schema that the change, the project or the user has chosen.
//!
//! The tool begins work when everything in `apply.requires` exists. A schema that it would refuse is an error here too,
//! so that a damaged schema makes no work free.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::ArtefactRule;
use crate::text::shorten_name;
use crate::workflow_table::openspec_artefacts;
use crate::workspace::Workspace;
use crate::yaml;

const LARGEST: u64 = 1 << 20;
const DEFAULT_SCHEMA: &str = "spec-driven";

/// What one change needs.
pub(super) struct ChangeRules {
    pub(super) artefacts: Vec<ArtefactRule>,
    /// The pattern of the task files; `None`: the schema tracks no tasks.
    pub(super) tasks: Option<String>,
}

/// The rules of a change. `root` is the directory that has `openspec`.
pub(super) fn read_change_rules(
    root: &Path,
    change: &Path,
    workspace: &Workspace,
) -> Result<ChangeRules, String> {
    let metadata = read_settings(&change.join(".openspec.yaml"), workspace)?;
    let name = match find_top_value(&metadata, "schema") {
        Some(name) => name,
        None => read_default_schema(root, workspace)?,
    };
    let skips_specs = find_top_value(&metadata, "skip_specs").is_some_and(|value| value == "true");
    let mut rules = read_schema(root, &name, workspace)?;
    if skips_specs {
        let is_spec = |rule: &ArtefactRule| rule.files.trim_start_matches("./").starts_with("specs/");
        rules.artefacts.iter_mut().filter(|rule| is_spec(rule)).for_each(|rule| rule.is_required = false);
    }
    Ok(rules)
}

/// The schema of a change that names none. `root` is the directory that has `openspec`.
pub fn read_default_schema(root: &Path, workspace: &Workspace) -> Result<String, String> {
    let settings = read_settings(&root.join("openspec/config.yaml"), workspace)?;
    Ok(find_schema(&settings).unwrap_or_else(|| DEFAULT_SCHEMA.to_owned()))
}

/// The schema that a change names itself.
pub fn read_own_schema(change: &Path, workspace: &Workspace) -> Result<Option<String>, String> {
    Ok(find_schema(&read_settings(&change.join(".openspec.yaml"), workspace)?))
}

/// The schema that a file of settings names.
pub fn find_schema(settings: &str) -> Option<String> {
    find_top_value(settings, "schema")
}

fn read_settings(file: &Path, workspace: &Workspace) -> Result<String, String> {
    workspace.read_text(file, LARGEST).map(Option::unwrap_or_default).map_err(|fault| fault.to_string())
}

fn read_schema(root: &Path, name: &str, workspace: &Workspace) -> Result<ChangeRules, String> {
    if name.is_empty() || name.contains(['/', '\\']) || name.starts_with('.') {
        return Err(format!("the name of the schema `{}` is not valid", shorten_name(name)));
    }
    let own = workspace.environment_variable("XDG_DATA_HOME").map(PathBuf::from);
    let home = || workspace.places.home.as_ref().map(|home| home.join(".local/share"));
    let users = own.filter(|path| path.is_absolute()).or_else(home);
    let below = [Some(root.join("openspec/schemas")), users.map(|data| data.join("openspec/schemas"))];
    for directory in below.into_iter().flatten() {
        let file = directory.join(name).join("schema.yaml");
        if let Some(text) = workspace.read_text(&file, LARGEST).map_err(|fault| fault.to_string())? {
            return parse_schema(&text).map_err(|why| format!("{}: {why}", file.display()));
        }
    }
    if name == DEFAULT_SCHEMA {
        return Ok(ChangeRules { artefacts: openspec_artefacts(), tasks: Some("tasks.md".into()) });
    }
    Err(format!(
        "the schema `{}` is neither in openspec/schemas nor among the user's schemas",
        shorten_name(name)
    ))
}

fn parse_schema(text: &str) -> Result<ChangeRules, String> {
    let schema = yaml::parse(text)?;
    let list =
        schema["artifacts"].as_array().filter(|list| !list.is_empty()).ok_or("it has no `artifacts`")?;
    let words = |value: &Value| -> Option<Vec<String>> {
        value.as_array()?.iter().map(|word| word.as_str().map(str::to_owned)).collect()
    };
    let apply = &schema["apply"];
    let required = match &apply["requires"] {
        // Without it, the tool needs every artefact.
        Value::Null if apply.is_null() => None,
        value => {
            let required = words(value).filter(|list| !list.is_empty());
            Some(required.ok_or("`apply.requires` must name at least one artefact")?)
        }
    };
    let mut artefacts = Vec::new();
    for artefact in list {
        let (Some(id), Some(files)) = (artefact["id"].as_str(), artefact["generates"].as_str()) else {
            return Err("each artefact needs `id` and `generates`".into());
        };
        if files.split('/').any(|part| part == "..") || files.starts_with('/') {
            return Err(format!("`{}` leads out of the change", shorten_name(files)));
        }
        artefacts.push(ArtefactRule {
            id: id.to_owned(),
            files: files.to_owned(),
            is_required: required.as_ref().is_none_or(|required| required.iter().any(|it| it == id)),
            unfilled: Vec::new(),
        });
    }
    let is_known = |id: &String| artefacts.iter().any(|artefact| artefact.id == *id);
    if let Some(unknown) = required.iter().flatten().find(|id| !is_known(id)) {
        return Err(format!("`apply.requires` names `{}`, which is no artefact", shorten_name(unknown)));
    }
    let tasks = apply["tracks"].as_str().map(str::to_owned);
    // What is tracked has to be there before work begins, whatever produces it.
    if let Some(tracked) = &tasks
        && !artefacts.iter().any(|artefact| artefact.files == *tracked && artefact.is_required)
    {
        artefacts.retain(|artefact| artefact.files != *tracked);
        artefacts.push(ArtefactRule {
            id: "tasks".into(),
            files: tracked.clone(),
            is_required: true,
            unfilled: Vec::new(),
        });
    }
    Ok(ChangeRules { artefacts, tasks })
}

/// The value of a key at the top level of a YAML file. The rest of the file need not be readable.
pub(super) fn find_top_value(text: &str, key: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let value = line.strip_prefix(key)?.strip_prefix(':')?;
        let value = value.split(" #").next().unwrap_or_default().trim();
        let value = value.trim_matches(['"', '\'']);
        (!value.is_empty()).then(|| value.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn required(text: &str) -> Result<String, String> {
        let rules = parse_schema(text)?;
        let required = rules.artefacts.iter().filter(|rule| rule.is_required).map(|rule| rule.id.as_str());
        Ok(format!("{} {}", required.collect::<Vec<_>>().join(","), rules.tasks.unwrap_or_default()))
    }

    const ARTEFACTS: &str = "name: x\nversion: 1\nartifacts:\n  - id: plan\n    generates: plan.md\n    instruction: |\n      \
                             Write: it\n    requires: []\n  - id: todo\n    generates: \"todo/*.md\"\n    requires:\n      - plan\n";

    #[test]
    fn a_schema_says_what_work_needs() {
        assert_eq!(required(ARTEFACTS).unwrap(), "plan,todo ");
        let apply = |lines: &str| format!("{ARTEFACTS}apply:\n{lines}");
        assert_eq!(required(&apply("  requires: [plan]\n")).unwrap(), "plan ");
        assert_eq!(
            required(&apply("  requires:\n    - todo\n  tracks: todo/*.md\n")).unwrap(),
            "todo todo/*.md"
        );
        assert_eq!(
            required(&apply("  requires: [plan]\n  tracks: list.md\n")).unwrap(),
            "plan,tasks list.md"
        );
    }

    #[test]
    fn a_schema_that_the_tool_refuses_is_an_error() {
        for lines in [
            "  requires: []\n",
            "  requires: [nothing]\n",
            "  tracks: todo.md\n",
            "  requires: todo\n",
            "  - x\n",
        ] {
            assert!(required(&format!("{ARTEFACTS}apply:\n{lines}")).is_err(), "{lines}");
        }
        for text in [
            "",
            "artifacts: []\n",
            "artifacts:\n  - id: a\n",
            "artifacts:\n  - id: a\n    generates: ../a\n",
            "{",
        ] {
            assert!(required(text).is_err(), "{text}");
        }
    }

    #[test]
    fn values_at_the_top_are_found_in_any_file() {
        let text = "schema: 'a'  # b\ngoal: long\n  text\nskip_specs: true\n  schema: c\n";
        assert_eq!(find_top_value(text, "schema").as_deref(), Some("a"));
        assert_eq!(find_top_value(text, "skip_specs").as_deref(), Some("true"));
        assert_eq!(find_top_value(text, "text"), None);
    }
}
