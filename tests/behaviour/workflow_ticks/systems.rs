//! A small project of each workflow, with the files that its tool writes.

/// A project of a workflow, with tasks that are open.
pub(super) struct System {
    /// As `workflow.use` names it.
    pub(super) name: &'static str,
    pub(super) files: &'static [(&'static str, &'static str)],
    /// The file with the tasks.
    pub(super) tasks: &'static str,
    /// Texts of that file, and what they become when a task is ticked.
    pub(super) ticks: &'static [(&'static str, &'static str)],
    /// The directory or file of the instance.
    pub(super) instance: &'static str,
}

pub(super) static ALL: &[&System] = &[&OPENSPEC, &SPEC_KIT, &KIRO, &BMAD, &TASK_MASTER];

pub(super) static OPENSPEC: System = System {
    name: "openspec",
    files: &[
        ("openspec/config.yaml", "schema: spec-driven\n"),
        ("openspec/specs/auth/spec.md", "# auth\n"),
        ("openspec/changes/add-login/.openspec.yaml", "schema: spec-driven\ncreated: 2026-11-17\n"),
        ("openspec/changes/add-login/proposal.md", "## Why\n\nUsers sign in.\n"),
        (
            "openspec/changes/add-login/specs/auth/spec.md",
            "## ADDED Requirements\n\n### Requirement: Sign in\n",
        ),
        (
            "openspec/changes/add-login/tasks.md",
            "## 1. Store\n\n- [ ] 1.1 Create the store\n- [ ] 1.2 Test the store\n\n## 2. End\n\n- [ ] 2.1 Archive the change\n",
        ),
    ],
    tasks: "openspec/changes/add-login/tasks.md",
    ticks: &[("- [ ] 1.1", "- [x] 1.1"), ("- [ ] 1.2", "- [x] 1.2")],
    instance: "openspec/changes/add-login",
};

pub(super) static SPEC_KIT: System = System {
    name: "spec-kit",
    files: &[
        (".specify/feature.json", "{\"feature_directory\":\"specs/001-login\"}\n"),
        (".specify/memory/constitution.md", "# Constitution\n"),
        ("specs/001-login/spec.md", "# Feature Specification: Login\n"),
        ("specs/001-login/plan.md", "# Implementation Plan: Login\n"),
        (
            "specs/001-login/tasks.md",
            "# Tasks: Login\n\n- [ ] T001 [P] [US1] Create User in src/user.js\n- [ ] T002 [US1] Test User\n",
        ),
        ("specs/001-login/checklists/requirements.md", "# Quality\n\n- [ ] No details\n"),
        ("specs/001-login/checklists/security.md", "# Security\n\n- [ ] CHK001 Are limits defined?\n"),
    ],
    tasks: "specs/001-login/tasks.md",
    ticks: &[("- [ ] T001", "- [X] T001"), ("- [ ] T002", "- [X] T002")],
    instance: "specs/001-login",
};

pub(super) static KIRO: System = System {
    name: "kiro",
    files: &[
        (
            ".kiro/specs/photo-albums/spec.json",
            "{\"feature_name\":\"photo-albums\",\"phase\":\"tasks-generated\",\"approvals\":{\"tasks\":{\"generated\":true,\
             \"approved\":true}}}\n",
        ),
        (".kiro/specs/photo-albums/requirements.md", "# Requirements\n\nAlbums.\n"),
        (".kiro/specs/photo-albums/design.md", "# Design\n\nA store.\n"),
        (
            ".kiro/specs/photo-albums/tasks.md",
            "# Plan\n\n- [ ] 1. Album store\n- [ ] 1.1 Create the store (P)\n  - Unit test passes\n  - _Requirements: 1_\n\
             - [ ] 1.2 Read the store\n- [ ]* 1.3 Optional tests\n",
        ),
    ],
    tasks: ".kiro/specs/photo-albums/tasks.md",
    ticks: &[("- [ ] 1.1", "- [x] 1.1"), ("- [ ] 1.2", "- [x] 1.2")],
    instance: ".kiro/specs/photo-albums",
};

pub(super) static BMAD: System = System {
    name: "bmad",
    files: &[
        ("_bmad/_config/manifest.yaml", "installation:\n  version: 6.12.0\n"),
        (
            "_bmad-output/implementation-artifacts/spec-sign-in.md",
            "---\ntitle: 'Sign in'\nstatus: 'in-progress'\nroute: 'dispatch'\n---\n\n<frozen-after-approval>\n\n## Intent\n\nSign in.\n\n\
             </frozen-after-approval>\n\n## Tasks\n\n- [ ] `src/a.js` -- add the form\n- [ ] `src/b.js` -- test it\n",
        ),
        (
            "_bmad-output/implementation-artifacts/sprint-status.yaml",
            "development_status:\n  epic-1: in-progress\n  1-1-sign-in: in-progress\n  1-2-sign-out: backlog\n  \
             epic-1-retrospective: optional\n",
        ),
    ],
    tasks: "_bmad-output/implementation-artifacts/spec-sign-in.md",
    ticks: &[("- [ ] `src/a.js`", "- [x] `src/a.js`"), ("- [ ] `src/b.js`", "- [x] `src/b.js`")],
    instance: "_bmad-output/implementation-artifacts/spec-sign-in.md",
};

pub(super) static TASK_MASTER: System = System {
    name: "task-master",
    files: &[
        (".taskmaster/config.json", "{\"models\":{}}\n"),
        (".taskmaster/state.json", "{\"currentTag\":\"master\"}\n"),
        (
            ".taskmaster/tasks/tasks.json",
            "{\"master\":{\"tasks\":[\n{\"id\":1,\"title\":\"Store\",\"status\":\"pending\",\"dependencies\":[],\"subtasks\":[\n\
             {\"id\":1,\"title\":\"Hash\",\"status\":\"pending\",\"parentTaskId\":1},\n\
             {\"id\":2,\"title\":\"Salt\",\"status\":\"pending\",\"parentTaskId\":1}]},\n\
             {\"id\":2,\"title\":\"Read\",\"status\":\"pending\",\"dependencies\":[1],\"subtasks\":[]}],\"metadata\":{}}}\n",
        ),
    ],
    tasks: ".taskmaster/tasks/tasks.json",
    ticks: &[
        ("\"Hash\",\"status\":\"pending\"", "\"Hash\",\"status\":\"done\""),
        ("\"Read\",\"status\":\"pending\"", "\"Read\",\"status\":\"done\""),
    ],
    instance: ".taskmaster/tasks/tasks.json",
};
