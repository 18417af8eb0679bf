//! The five workflows that Provost knows, as their tools write them.
//!
//! The tables were checked against projects that the tools themselves had made. `tests/behaviour/workflow_tools` makes
//! such projects again and compares.

use super::{ArtefactRule, InstancePointer, WorkflowSystem, WorkflowTable};

/// The names of the built-in workflows.
pub const BUILT_IN: &[&str] = &["openspec", "spec-kit", "kiro", "bmad", "task-master"];

pub fn find_built_in(name: &str) -> Option<WorkflowTable> {
    let table = match name {
        "openspec" => WorkflowTable {
            noun: "change".into(),
            markers: words(&["openspec/config.yaml", "openspec/changes", "openspec/specs"]),
            planning: words(&["openspec"]),
            instances: words(&["openspec/changes/*"]),
            except: words(&["archive"]),
            // The schema of the project says more.
            artefacts: openspec_artefacts(),
            tasks: Some("tasks.md".into()),
            commands: words(&["/opsx:apply", "/openspec-apply-change", "/openspec:apply"]),
            ..empty_table(name, WorkflowSystem::OpenSpec)
        },
        "spec-kit" => WorkflowTable {
            noun: "feature".into(),
            markers: words(&[".specify"]),
            planning: words(&[".specify", "specs"]),
            instances: words(&["specs/*"]),
            artefacts: vec![
                optional("spec", "spec.md", &["# Feature Specification: [FEATURE NAME]"]),
                required(
                    "plan",
                    "plan.md",
                    &["# Implementation Plan: [FEATURE]", "[Extract from feature spec:"],
                ),
                required("tasks", "tasks.md", &["# Tasks: [FEATURE NAME]"]),
                optional("data-model", "data-model.md", &[]),
                optional("contracts", "contracts/**", &[]),
            ],
            tasks: Some("tasks.md".into()),
            pointer: Some(InstancePointer {
                file: ".specify/feature.json".into(),
                key: Some("feature_directory".into()),
            }),
            commands: words(&["/speckit-implement", "/speckit.implement"]),
            ..empty_table(name, WorkflowSystem::SpecKit)
        },
        "kiro" => WorkflowTable {
            noun: "spec".into(),
            markers: words(&[".kiro/specs", ".kiro/steering", ".kiro/settings"]),
            planning: words(&[".kiro"]),
            instances: words(&[".kiro/specs/*"]),
            artefacts: vec![
                required(
                    "requirements",
                    "requirements.md",
                    &["<!-- Will be generated in", "{{INTRODUCTION}}"],
                ),
                required("design", "design.md", &["# Design Document Template"]),
                required("tasks", "tasks.md", &["{{TASK_DESCRIPTION}}", "{{MAJOR_TASK_SUMMARY}}"]),
            ],
            tasks: Some("tasks.md".into()),
            commands: words(&["/kiro-impl", "/kiro:spec-impl"]),
            notes: words(&["Implementation Notes"]),
            ..empty_table(name, WorkflowSystem::Kiro)
        },
        "bmad" => WorkflowTable {
            noun: "story".into(),
            markers: words(&["_bmad/_config/manifest.yaml"]),
            planning: words(&["_bmad", "_bmad-output"]),
            // The configuration of the project says where they are.
            instances: words(&["_bmad-output/implementation-artifacts/*.md"]),
            artefacts: vec![required(
                "spec",
                "",
                &[
                    "ONE_TO_TWO_SENTENCES",
                    "INVARIANT_RULES",
                    "{{story_title}}",
                    "[Add acceptance criteria from epics/PRD]",
                ],
            )],
            commands: words(&["/bmad-build", "/bmad-dev-story", "/bmad-quick-dev"]),
            notes: words(&[
                "Implementation Notes",
                "Spec Change Log",
                "Review Triage Log",
                "Code Map",
                "Dev Agent Record",
                "File List",
                "Change Log",
                "Auto Run Result",
            ]),
            ..empty_table(name, WorkflowSystem::Bmad)
        },
        "task-master" => WorkflowTable {
            noun: "tag".into(),
            markers: words(&[".taskmaster"]),
            planning: words(&[".taskmaster"]),
            instances: Vec::new(),
            artefacts: Vec::new(),
            tasks: Some(".taskmaster/tasks/tasks.json".into()),
            pointer: Some(InstancePointer {
                file: ".taskmaster/state.json".into(),
                key: Some("currentTag".into()),
            }),
            commands: words(&["/tm:next-task", "/tm:start-task"]),
            ..empty_table(name, WorkflowSystem::TaskMaster)
        },
        _ => return None,
    };
    Some(table)
}

/// The artefacts of the schema `spec-driven`. Its tool needs nothing but the tasks before work begins.
pub(crate) fn openspec_artefacts() -> Vec<ArtefactRule> {
    const TASK_TEMPLATE: &[&str] = &["<!-- Task description -->", "<!-- Task Group Name -->"];
    vec![
        optional("proposal", "proposal.md", &[]),
        optional("specs", "specs/**/*.md", &[]),
        optional("design", "design.md", &[]),
        required("tasks", "tasks.md", TASK_TEMPLATE),
    ]
}

/// A table that holds nothing yet.
pub(super) fn empty_table(name: &str, system: WorkflowSystem) -> WorkflowTable {
    WorkflowTable {
        name: name.to_owned(),
        system,
        noun: "instance".into(),
        markers: Vec::new(),
        planning: Vec::new(),
        instances: Vec::new(),
        except: Vec::new(),
        artefacts: Vec::new(),
        tasks: None,
        pointer: None,
        commands: Vec::new(),
        notes: Vec::new(),
    }
}

fn required(id: &str, files: &str, unfilled: &[&str]) -> ArtefactRule {
    ArtefactRule { is_required: true, ..optional(id, files, unfilled) }
}

fn optional(id: &str, files: &str, unfilled: &[&str]) -> ArtefactRule {
    ArtefactRule { id: id.into(), files: files.into(), is_required: false, unfilled: words(unfilled) }
}

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|&word| word.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_workflow_has_a_table() {
        for name in BUILT_IN {
            let table = find_built_in(name).unwrap();
            assert_eq!(table.name, *name);
            assert!(!table.markers.is_empty() && !table.planning.is_empty() && !table.commands.is_empty());
        }
        assert!(find_built_in("nothing").is_none());
    }
}
