//! What the common tests need to know about each workflow tool. The texts are those of `tests/workflow-fixtures/TOOL/planned`.

/// A file, a text in it, and the text that replaces it.
pub(super) type Change = (&'static str, &'static str, &'static str);

pub(super) struct Tool {
    /// Its name in `[workflow] use`, and of its fixtures.
    pub name: &'static str,
    /// The planned instance.
    pub instance: &'static str,
    /// Artefacts without which no work may begin.
    pub required: &'static [&'static str],
    /// The directories or files that are planning, and files in them that an agent may write at any time.
    pub planning: &'static [&'static str],
    /// Changes of what the user approved.
    pub meaning: &'static [Change],
    /// Changes that leave it as it is, which an agent makes while it works.
    pub bookkeeping: &'static [Change],
    /// Each of them marks one of the two tasks as done.
    pub ticks: [Change; 2],
    /// Command lines by which an agent would get rid of the open instance, or of what points to it.
    pub removals: &'static [&'static str],
}

pub(super) const ALL: [&Tool; 5] = [&OPENSPEC, &SPEC_KIT, &KIRO, &BMAD, &TASK_MASTER];

pub(super) static OPENSPEC: Tool = Tool {
    name: "openspec",
    instance: "add-greeting",
    required: &["openspec/changes/add-greeting/tasks.md"],
    planning: &[
        "openspec/changes/add-greeting/proposal.md",
        "openspec/changes/add-greeting/notes.txt",
        "openspec/changes/another/proposal.md",
        "openspec/specs/greeting/spec.md",
        "openspec/config.yaml",
    ],
    meaning: &[
        ("openspec/changes/add-greeting/proposal.md", "greets the user", "insults the user"),
        ("openspec/changes/add-greeting/specs/greeting/spec.md", "SHALL print", "SHALL NOT print"),
        ("openspec/changes/add-greeting/tasks.md", "Print the greeting", "Delete the database"),
        ("openspec/changes/add-greeting/tasks.md", "- [ ] 1.2 Test the greeting\n", ""),
        (
            "openspec/changes/add-greeting/tasks.md",
            "- [ ] 1.2 Test the greeting",
            "- [ ] 1.2 Test the greeting\n- [ ] 1.3 Publish it",
        ),
    ],
    bookkeeping: &[
        (
            "openspec/changes/add-greeting/.openspec.yaml",
            "schema: spec-driven",
            "goal: greet\nschema: spec-driven",
        ),
        ("openspec/changes/add-greeting/tasks.md", "## 1. Greeting\n\n", "## 1. Greeting\n\n\n"),
    ],
    ticks: [
        ("openspec/changes/add-greeting/tasks.md", "- [ ] 1.1", "- [x] 1.1"),
        ("openspec/changes/add-greeting/tasks.md", "- [ ] 1.2", "- [x] 1.2"),
    ],
    removals: &[
        "rm -r openspec/changes/add-greeting",
        "rm -rf openspec",
        "mv openspec/changes/add-greeting /tmp/later",
        "mv openspec/changes/add-greeting openspec/changes/archive/2026-11-19-add-greeting",
        "git mv openspec/changes/add-greeting openspec/later",
        "git rm -r openspec/changes/add-greeting",
        "mv openspec .openspec-off",
    ],
};

pub(super) static SPEC_KIT: Tool = Tool {
    name: "spec-kit",
    instance: "001-greeting",
    required: &["specs/001-greeting/plan.md", "specs/001-greeting/tasks.md"],
    planning: &[
        "specs/001-greeting/spec.md",
        "specs/001-greeting/research.md",
        "specs/001-greeting/contracts/api.yaml",
        "specs/001-greeting/checklists/requirements.md",
        ".specify/memory/constitution.md",
    ],
    meaning: &[
        ("specs/001-greeting/spec.md", "MUST print", "MUST NOT print"),
        ("specs/001-greeting/plan.md", "no dependencies", "forty dependencies"),
        ("specs/001-greeting/tasks.md", "Print the greeting", "Delete the database"),
        ("specs/001-greeting/tasks.md", "- [ ] T002 [US1] Test the greeting in tests/greet.js\n", ""),
    ],
    bookkeeping: &[
        ("specs/001-greeting/spec.md", "**Status**: Draft", "**Status**: Approved"),
        ("specs/001-greeting/checklists/requirements.md", "- [ ]", "- [x]"),
    ],
    ticks: [
        ("specs/001-greeting/tasks.md", "- [ ] T001", "- [X] T001"),
        ("specs/001-greeting/tasks.md", "- [ ] T002", "- [x] T002"),
    ],
    removals: &[
        "rm -r specs/001-greeting",
        "rm .specify/feature.json",
        "rm -rf .specify",
        "mv specs/001-greeting specs-later",
        "git mv specs/001-greeting old",
        "git rm -r specs",
        "mv .specify/feature.json /tmp",
        "echo '{}' > .specify/feature.json",
    ],
};

pub(super) static KIRO: Tool = Tool {
    name: "kiro",
    instance: "greeting",
    required: &[
        ".kiro/specs/greeting/requirements.md",
        ".kiro/specs/greeting/design.md",
        ".kiro/specs/greeting/tasks.md",
    ],
    planning: &[
        ".kiro/specs/greeting/requirements.md",
        ".kiro/specs/greeting/research.md",
        ".kiro/specs/greeting/spec.json",
        ".kiro/specs/another/brief.md",
        ".kiro/steering/tech.md",
    ],
    meaning: &[
        (".kiro/specs/greeting/requirements.md", "shall print", "shall not print"),
        (".kiro/specs/greeting/design.md", "one module", "forty modules"),
        (".kiro/specs/greeting/tasks.md", "1.1 Print the greeting", "1.1 Delete the database"),
        (".kiro/specs/greeting/tasks.md", "  - The name is a parameter\n", ""),
    ],
    bookkeeping: &[
        (".kiro/specs/greeting/spec.json", "\"phase\": \"tasks-generated\"", "\"phase\": \"implementation\""),
        (".kiro/specs/greeting/spec.json", "\"approved\": false", "\"approved\": true"),
        (
            ".kiro/specs/greeting/tasks.md",
            "- [ ] 1.2 Test the greeting\n",
            "- [ ] 1.2 Test the greeting\n  - _Blocked: no runner yet_\n",
        ),
    ],
    ticks: [
        (".kiro/specs/greeting/tasks.md", "- [ ] 1.1", "- [x] 1.1"),
        (".kiro/specs/greeting/tasks.md", "- [ ] 1.2", "- [x] 1.2"),
    ],
    removals: &[
        "rm -r .kiro/specs/greeting",
        "rm -rf .kiro",
        "mv .kiro/specs/greeting /tmp/later",
        "git mv .kiro/specs/greeting .kiro/later",
        "git rm -r .kiro",
        "rm .kiro/specs/greeting/spec.json .kiro/specs/greeting/*.md",
        "mv .kiro .kiro-off",
    ],
};

pub(super) static BMAD: Tool = Tool {
    name: "bmad",
    instance: "greeting",
    required: &["_bmad-output/implementation-artifacts/spec-greeting.md"],
    planning: &[
        "_bmad-output/implementation-artifacts/spec-greeting.md",
        "_bmad-output/implementation-artifacts/spec-another.md",
        "_bmad-output/planning-artifacts/prd.md",
        "_bmad/custom/notes.md",
    ],
    meaning: &[
        ("_bmad-output/implementation-artifacts/spec-greeting.md", "Print a greeting", "Delete the database"),
        ("_bmad-output/implementation-artifacts/spec-greeting.md", "No dependencies", "Forty dependencies"),
    ],
    bookkeeping: &[
        (
            "_bmad-output/implementation-artifacts/spec-greeting.md",
            "status: 'ready-for-dev'",
            "status: 'in-progress'",
        ),
        (
            "_bmad-output/implementation-artifacts/spec-greeting.md",
            "## Code Map\n",
            "## Code Map\n\n- `src/other.js` -- found later\n",
        ),
        (
            "_bmad-output/implementation-artifacts/spec-greeting.md",
            "## Spec Change Log\n",
            "## Implementation Notes\n\nThe greeting ends with a newline.\n\n## Spec Change Log\n",
        ),
        ("_bmad-output/implementation-artifacts/sprint-status.yaml", "backlog", "in-progress"),
    ],
    ticks: [
        (
            "_bmad-output/implementation-artifacts/spec-greeting.md",
            "- [ ] `src/greet.js`",
            "- [x] `src/greet.js`",
        ),
        (
            "_bmad-output/implementation-artifacts/spec-greeting.md",
            "- [ ] `tests/greet.js`",
            "- [x] `tests/greet.js`",
        ),
    ],
    removals: &[
        "rm _bmad-output/implementation-artifacts/spec-greeting.md",
        "rm -rf _bmad-output",
        "rm -rf _bmad",
        "sed -i s,/implementation-artifacts,/elsewhere, _bmad/bmm/config.yaml _bmad/config.toml",
        "mv _bmad-output/implementation-artifacts/spec-greeting.md /tmp",
        "git mv _bmad-output/implementation-artifacts/spec-greeting.md old.md",
        "git rm -r _bmad-output",
        "mv _bmad _bmad-off",
    ],
};

pub(super) static TASK_MASTER: Tool = Tool {
    name: "task-master",
    instance: "master",
    required: &[".taskmaster/tasks/tasks.json"],
    planning: &[
        ".taskmaster/docs/prd.md",
        ".taskmaster/templates/example_prd.txt",
        ".taskmaster/reports/task-complexity-report.json",
        ".taskmaster/config.json",
    ],
    meaning: &[
        (".taskmaster/tasks/tasks.json", "Print the greeting", "Delete the database"),
        (".taskmaster/tasks/tasks.json", "The name is a parameter", "The name is a constant"),
    ],
    bookkeeping: &[
        (".taskmaster/tasks/tasks.json", "\"updated\": \"", "\"note\": \"x\",\n      \"updated\": \""),
        (".taskmaster/tasks/tasks.json", "\"id\": 1,", "\"id\": \"1\","),
        (".taskmaster/tasks/tasks.json", "\"status\": \"pending\"", "\"status\": \"in-progress\""),
        (".taskmaster/state.json", "\"migrationNoticeShown\"", "\"note\": 1,\n  \"migrationNoticeShown\""),
        (
            ".taskmaster/tasks/tasks.json",
            "The name is a parameter",
            "The name is a parameter\\n\\n<info added on 2026-11-19T12:00:00.000Z>\\nIt has a default.\\n</info added on 2026-11-19T12:00:00.000Z>",
        ),
    ],
    ticks: [
        (
            ".taskmaster/tasks/tasks.json",
            "\"pending\",\n        \"dependencies\": [],\n        \"priority\": \"high\"",
            "\"done\",\n        \"dependencies\": [],\n        \"priority\": \"high\"",
        ),
        (
            ".taskmaster/tasks/tasks.json",
            "\"pending\",\n        \"dependencies\": [],\n        \"priority\": \"low\"",
            "\"done\",\n        \"dependencies\": [],\n        \"priority\": \"low\"",
        ),
    ],
    removals: &[
        "rm .taskmaster/tasks/tasks.json",
        "rm -rf .taskmaster",
        "mv .taskmaster/tasks/tasks.json /tmp",
        "git rm .taskmaster/tasks/tasks.json",
        "echo '{}' > .taskmaster/tasks/tasks.json",
        "rm .taskmaster/state.json",
        "mv .taskmaster .off",
    ],
};
