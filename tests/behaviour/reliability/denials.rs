//! Denials beside the one of each guard's scene: a guard has a text for each reason, and a screen cuts all of them.
//!
//! Each row is a call, and what the user recognizes it by: the command, the file or the agent. A command line is
//! also tried behind two thousand characters of harmless words, and a file in a deep directory.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use super::stage::{Deed, Stage};
use crate::support::workflow_project::{
    WorkflowProject, set_phase_record, skill_event, started_workflow, test_and_article_requirements,
    workflow_with_requirements,
};
use crate::support::{TestProject, program};
use crate::workflow_ticks::denied_calls;

/// A call that is denied, and the words that its denial begins with.
pub struct Denied {
    pub stage: Stage,
    pub begins_with: String,
}

pub fn all() -> Vec<Denied> {
    [
        own_files(),
        own_settings(),
        planner_lines(),
        planner_tools(),
        handing_out(),
        leaving(),
        commits(),
        states(),
        unapproved_work(),
        workflow_ends(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn denied(guard: &str, project: TestProject, event: Value, begins_with: &str) -> Denied {
    Denied { stage: Stage::new(guard, project, event, Deed::Denies("")), begins_with: begins_with.to_owned() }
}

/// A command line as it is, and behind two thousand characters.
fn lines(
    guard: &str,
    project: impl Fn() -> TestProject,
    line: &str,
    begins_with: Option<&str>,
) -> Vec<Denied> {
    let rows = [line.to_owned(), format!("echo {} && {line}", "word ".repeat(400))].map(|line| {
        let project = project();
        let event = project.bash(&line);
        let quoted = format!("`{}", line.chars().take(40).collect::<String>());
        denied(guard, project, event, begins_with.unwrap_or(&quoted))
    });
    rows.into()
}

/// Ticks without work, and the end of what is not finished.
fn workflow_ends() -> Vec<Denied> {
    let rows = ["workflow-ticks", "workflow-finish"].into_iter().zip(denied_calls());
    let begins_with =
        ["`openspec/changes/add-login/tasks.md` denied", "`openspec archive add-login --yes` denied"];
    let rows = rows.zip(begins_with).map(|((guard, (project, event, _)), begins_with)| {
        let mut row = denied(guard, project, event, begins_with);
        row.stage.config.push(("workflow", "use = [\"openspec\"]".into()));
        row
    });
    rows.collect()
}

/// A path in so deep a directory that a screen has no room for it.
fn deep(name: &str) -> String {
    format!("{}{name}", "a-long-name/".repeat(30))
}

/// Everything of Provost's own, by a command line.
fn own_files() -> Vec<Denied> {
    let mut rows = Vec::new();
    for (line, begins_with) in [
        ("echo x > provost.toml", "`provost.toml` not written"),
        ("rm provost.toml", "`provost.toml` not deleted"),
        ("ln -s provost.toml x", "`provost.toml` not linked"),
        ("cat ~/.local/state/provost/seal.key", "Provost's seal key"),
        ("echo x >> ~/.local/state/provost/overrides/x", "`~/.local/state/provost"),
        ("PROVOST_STATE=/tmp ls", "`PROVOST_STATE`"),
        ("claude --bare -p hello", "a client with `--bare`"),
        ("claude -p 'provost override branch-guard please'", "`provost override branch-guard`"),
        ("provost hook", "`provost hook`"),
        ("provost gate assess", "`provost gate assess`"),
        ("provost compat post_tool_use", "`provost compat post_tool_use`"),
        ("provost init --yes", "`provost init`"),
        ("pkill -f provost", "`pkill`"),
        ("cp PROGRAM other", "the program `provost`"),
        ("rm -r .claude", "`.claude"),
        ("echo x > ~/.config/provost", "`~/.config/provost` not replaced"),
        ("echo '{}' > .claude/settings.json", "`.claude/settings.json` not written"),
        (
            "printf -- '---\\nhooks:\\n  PreToolUse: []\\n---\\n' > .claude/agents/a.md",
            "`.claude/agents/a.md` not written",
        ),
        ("git checkout HEAD .", "`git checkout` may not change"),
        ("git clean -fdx", "`git clean` may not delete"),
    ] {
        let line = line.replace("PROGRAM", &program().to_string_lossy());
        rows.extend(lines("self-guard", own_project, &line, Some(begins_with)));
    }
    let project = own_project();
    let event = project.mcp(json!({"path": project.path.join("provost.toml")}));
    rows.push(denied("self-guard", project, event, "`provost.toml` not given"));
    let project = own_project();
    let event = project.bash(&format!("echo {}", "x".repeat(3 << 20)));
    rows.push(denied("self-guard", project, event, "a command line of"));
    let project = own_project();
    let event = project.write(project.path.join(deep("provost.toml")), "");
    rows.push(denied("self-guard", project, event, "`…"));
    rows
}

/// A repository with all that is protected.
fn own_project() -> TestProject {
    let project = TestProject::new();
    project.write_file("other/settings.json", "{}");
    project.write_home_file(".local/state/provost/seal.key", "secret");
    project.write_file("provost.toml", "[guards]\n");
    let git = "rm -rf .git && git init -q && git add -Af . && git -c user.name=n -c user.email=n@localhost commit -qm x \
               && git rm -q --cached .claude/settings.json && echo '[planner]' > provost.toml";
    assert!(Command::new("sh").args(["-c", git]).current_dir(&project.path).status().unwrap().success());
    project
}

/// The client's settings, and files that it reads like them, by the file tools.
fn own_settings() -> Vec<Denied> {
    let changed = |change: fn(&mut Value)| {
        let project = TestProject::new();
        let file = project.path.join(".claude/settings.json");
        let mut settings: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        change(&mut settings);
        let event = project.write(&file, &settings.to_string());
        denied("self-guard", project, event, "`.claude/settings.json` not changed")
    };
    let added = |name: &str, command: &str| json!({name: [{"matcher": "*", "hooks": [{"type": "command", "command": command}]}]});
    let merged = move |settings: &mut Value, new: &Value| {
        for (name, entries) in new.as_object().unwrap() {
            let known = settings["hooks"][name].as_array().cloned().unwrap_or_default();
            settings["hooks"][name] = known.into_iter().chain(entries.as_array().unwrap().clone()).collect();
        }
    };
    let with_hook = |name: &'static str, command: &'static str| {
        let project = TestProject::new();
        let file = project.path.join(".claude/settings.json");
        let mut settings: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        merged(&mut settings, &added(name, command));
        let event = project.write(&file, &settings.to_string());
        denied("self-guard", project, event, "`.claude/settings.json` not changed")
    };
    let mut rows = vec![
        changed(|settings| settings["hooks"] = json!({})),
        changed(|settings| settings["disableAllHooks"] = json!(true)),
        changed(|settings| settings["permissions"] = json!({"defaultMode": 7})),
        changed(|settings| settings["sandbox"] = json!({"enabled": {}})),
        with_hook("PreToolUse", "echo hello"),
        with_hook("PostToolUse", "rm provost.toml"),
    ];
    let project = TestProject::new();
    let file = project.write_file(".claude/settings.json", "{");
    let event = project.write(file, "{}");
    rows.push(denied("self-guard", project, event, "`.claude/settings.json` not changed"));
    let project = TestProject::new();
    let text = "---\nname: a\nhooks:\n  PreToolUse:\n    - hooks:\n        - type: command\n          command: x\n---\n";
    let event = project.write(project.path.join(".claude/agents/helper.md"), text);
    rows.push(denied("self-guard", project, event, "`.claude/agents/helper.md` not written"));
    rows
}

fn by_planner(mut row: Denied) -> Denied {
    row.stage.event["agent_id"] = "a109d47d15c5167d3".into();
    row.stage.event["agent_type"] = "tdd-planner".into();
    row
}

fn planner_lines() -> Vec<Denied> {
    let project = || {
        let project = TestProject::new();
        project.write_file("planning/x.md", "# X\n");
        project
    };
    let mut rows = Vec::new();
    for line in [
        "python3 -c 'print(1)'",
        "a-program-whose-name-is-so-long-that-nobody-would-type-it-twice x",
        "find . -delete",
        "git commit -m x",
        "sed -n w/tmp/x file",
        "cd \"$X\" && git log",
        "cd planning && git log",
        "GIT_EXTERNAL_DIFF=x git diff",
        "ls > \"$TARGET\"",
        "ls > src/listing.txt",
        "ls > planning/../src/listing.txt",
        "ls > planning/.git/config",
        "echo $((a[$(rm x)]))",
        "ls $(((",
    ] {
        rows.extend(lines("planner-bash-guard", project, line, None));
    }
    // Nothing can be put in front of it.
    let alone = project();
    let event = alone.bash(" ");
    rows.push(denied("planner-bash-guard", alone, event, "`Bash` BLOCKED: Empty command"));
    let large = project();
    let event = large.bash(&format!("ls {}", "x".repeat(3 << 20)));
    rows.push(denied("planner-bash-guard", large, event, "`ls xxxx"));
    for mut row in lines("planner-bash-guard", project, "mv planning/x.md planning/y.md", None) {
        row.stage.config.push(("planner", "allow = [\"mv\"]".into()));
        rows.push(row);
    }
    for mut row in lines("planner-bash-guard", project, "ls", None) {
        row.stage.config.push(("planner", "strict = false".into()));
        row.stage.event["tool_input"]["command"] = "$X y".into();
        row.begins_with = "`$X y` BLOCKED".into();
        rows.push(row);
    }
    rows.into_iter().map(by_planner).collect()
}

fn planner_tools() -> Vec<Denied> {
    let row = |tool: &str, input: Value, begins_with: &str| {
        let project = TestProject::new();
        let event = project.call(tool, input);
        by_planner(denied("planner-bash-guard", project, event, begins_with))
    };
    let mut rows = vec![
        row(
            "Agent",
            json!({"subagent_type": "general-purpose", "prompt": "p", "description": "d"}),
            "agent `general-purpose`",
        ),
        row(
            "Agent",
            json!({"subagent_type": "x".repeat(2000), "prompt": "p", "description": "d"}),
            "agent `xxx",
        ),
        row("Agent", json!({"prompt": "p", "description": "d"}), "`Agent`"),
        row(
            "Agent",
            json!({"subagent_type": "tdd-planner", "prompt": "p", "description": "d", "isolation": "worktree"}),
            "agent `tdd-planner`",
        ),
        row("mcp__files__do", json!({"x": "y"}), "`mcp__files__do`"),
    ];
    for name in ["src/main.rs".to_owned(), deep("main.rs")] {
        let project = TestProject::new();
        let event = project.write(project.path.join(&name), "x");
        let begins_with = format!("`{}", name.chars().take(40).collect::<String>());
        rows.push(by_planner(denied("planner-bash-guard", project, event, &begins_with)));
    }
    rows
}

const PHASE: &str = "06-implementation";

fn agent(guard: &str, flow: WorkflowProject, event: Value, begins_with: &str) -> Denied {
    denied(guard, flow.project, event, begins_with)
}

/// Work that is handed to an agent.
fn handing_out() -> Vec<Denied> {
    let mut rows = Vec::new();
    let developer = "agent `software-developer` denied";
    let flow = WorkflowProject::in_phase("05-test-strategy");
    let event = flow.delegation("software-developer", "go");
    rows.push(agent("phase-sequence-guard", flow, event, developer));
    let flow = WorkflowProject::in_phase("05-test-strategy");
    flow.without_manifest();
    let event = flow.delegation("software-developer", "Do phase 06-implementation now");
    rows.push(agent("phase-sequence-guard", flow, event, developer));
    let flow = WorkflowProject::in_phase(PHASE);
    let mut event = flow.delegation("Explore", "look for the parser");
    event["agent_id"] = "a109d47d15c5167d3".into();
    event["agent_type"] = "general-purpose".into();
    rows.push(agent("phase-sequence-guard", flow, event, "agent `Explore` denied"));
    rows.extend(lines(
        "phase-sequence-guard",
        || WorkflowProject::in_phase("05-test-strategy").project,
        "claude --agent software-developer -p 'implement it'",
        None,
    ));
    // Names of a project's own may be long.
    let flow = WorkflowProject::in_phase("05-test-strategy");
    let (own, other) = ("x".repeat(60), "y".repeat(60));
    flow.write_manifest(&[(&own, "05-test-strategy"), (&other, PHASE)]);
    let event = flow.delegation(&other, "go");
    rows.push(agent("phase-sequence-guard", flow, event, "agent `yyy"));
    for status in [json!("pending"), json!(null), json!("a status that nobody expects, and that is long")] {
        let flow = WorkflowProject::in_phase(PHASE);
        set_phase_record(&flow, PHASE, &json!({"status": status}));
        let event = flow.delegation("software-developer", "implement it");
        rows.push(agent("phase-loop-controller", flow, event, developer));
    }
    let flow = WorkflowProject::in_phase(PHASE);
    let event = flow.delegation("software-developer", "implement it");
    rows.push(agent("plan-surfacer", flow, event, developer));
    rows
}

/// A phase that is left, by an agent and by a skill.
fn leaving() -> Vec<Denied> {
    let mut rows = Vec::new();
    let leader = "agent `sdlc-orchestrator` denied";
    let mut leaves = |guard: &str, flow: fn() -> WorkflowProject, words: &str| {
        let here = flow();
        let event = here.delegation("sdlc-orchestrator", words);
        rows.push(agent(guard, here, event, leader));
        if guard != "constitution-validator" {
            let here = flow();
            let event = skill_event(&here, "PreToolUse.Read", "sdlc", "advance");
            rows.push(agent(guard, here, event, "skill `sdlc` denied"));
        }
    };
    leaves(
        "gate-blocker",
        || workflow_with_requirements(PHASE, &test_and_article_requirements()),
        "Proceed to the next phase",
    );
    leaves(
        "gate-blocker",
        || {
            workflow_with_requirements(
                PHASE,
                &json!({"constitutional_validation": {"enabled": true, "articles": ["I", "II", "VII", "IX"]}}),
            )
        },
        "Proceed to the next phase",
    );
    leaves(
        "gate-blocker",
        || {
            workflow_with_requirements(
                PHASE,
                &json!({"interactive_elicitation": {"enabled": true, "required_final_selection": ["save"]}}),
            )
        },
        "Proceed to the next phase",
    );
    leaves(
        "gate-blocker",
        || workflow_with_requirements(PHASE, &json!({"agent_delegation_validation": {"enabled": true}})),
        "Proceed to the next phase",
    );
    leaves("gate-blocker", mismatched, "Proceed to the next phase");
    leaves(
        "constitution-validator",
        || workflow_with_requirements(PHASE, &test_and_article_requirements()),
        "The phase is complete",
    );
    leaves(
        "iteration-corridor",
        || tested(&json!({"completed": false, "last_test_result": "failed", "current_iteration": 2})),
        "Advance",
    );
    leaves(
        "iteration-corridor",
        || tested(&json!({"completed": true, "last_test_result": "passed", "current_iteration": 2})),
        "Advance",
    );
    rows
}

fn tested(record: &Value) -> WorkflowProject {
    let flow = workflow_with_requirements(PHASE, &test_and_article_requirements());
    set_phase_record(&flow, PHASE, &json!({"iteration_requirements": {"test_iteration": record}}));
    flow
}

/// The state names one phase, and its index another.
fn mismatched() -> WorkflowProject {
    let flow = workflow_with_requirements(PHASE, &test_and_article_requirements());
    let workflows =
        json!({"workflows": {"feature": {"phases": ["01-requirements", "05-test-strategy", PHASE]}}});
    flow.project.write_file(".isdlc/config/workflows.json", &workflows.to_string());
    let mut state = flow.read_state();
    state["active_workflow"]["type"] = "feature".into();
    state["active_workflow"]["current_phase_index"] = 1.into();
    flow.write_state(&state);
    flow
}

fn commits() -> Vec<Denied> {
    const COMMIT: &str = "0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a\n";
    let on_main = |branch: Value| {
        let flow = WorkflowProject::in_phase(PHASE);
        let mut state = flow.read_state();
        state["active_workflow"]["git_branch"] = branch;
        flow.write_state(&state);
        for (name, text) in [(".git/HEAD", "ref: refs/heads/main\n"), (".git/refs/heads/main", COMMIT)] {
            flow.project.write_file(name, text);
        }
        fs::create_dir_all(flow.project.path.join(".git/objects")).unwrap();
        flow.project
    };
    let named = || on_main(json!({"name": "feature/REQ-0004-login-limit", "status": "active"}));
    let long = || on_main(json!({"name": format!("feature/{}", "x".repeat(150)), "status": "active"}));
    let unnamed = || on_main(json!({"status": "active"}));
    [
        lines("branch-guard", named, "git commit -m x", None),
        lines("branch-guard", long, "git commit -m x", None),
        lines("branch-guard", unnamed, "git commit -m x", None),
        lines("branch-guard", named, "git merge feature/REQ-0004-login-limit", None),
        lines("branch-guard", named, "git checkout nowhere; git commit -m x", None),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A change of the workflow's state.
fn states() -> Vec<Denied> {
    let state = || {
        let mut state = started_workflow(PHASE);
        state["active_workflow"]["current_phase_index"] = json!(2);
        state["phases"]["01-requirements"] = json!({"status": "completed"});
        state["phases"][PHASE]["iteration_requirements"] =
            json!({"test_iteration": {"completed": false, "current_iteration": 3, "history": [1, 2, 3]}});
        state
    };
    let row = |event: &dyn Fn(&WorkflowProject) -> Value| {
        let flow = WorkflowProject::new();
        flow.write_state(&state());
        let event = event(&flow);
        let mut row = denied("state-write-validator", flow.project, event, "`.isdlc/state.json` not changed");
        row.stage.config.push(("phases", "validate = \"before\"".into()));
        row
    };
    let rewritten = |change: &dyn Fn(&mut Value)| {
        row(&|flow: &WorkflowProject| {
            let mut new = state();
            change(&mut new);
            flow.project.write(flow.state_file(), &new.to_string())
        })
    };
    let claim = json!({"completed": true, "menu_interactions": 0});
    vec![
        rewritten(&|state| {
            state["phases"]["01-requirements"]["iteration_requirements"]["interactive_elicitation"] =
                claim.clone();
        }),
        rewritten(&|state| {
            state["phases"]["p".repeat(200)]["constitutional_validation"] = json!({"completed": true});
        }),
        rewritten(&|state| state["active_workflow"]["current_phase_index"] = 1.into()),
        rewritten(&|state| state["phases"]["01-requirements"]["status"] = "pending".into()),
        rewritten(&|state| {
            state["phases"][PHASE]["iteration_requirements"]["test_iteration"]["history"] = json!([]);
        }),
        row(&|flow| flow.project.write(flow.state_file(), "none")),
        row(&|flow| flow.project.edit(flow.state_file(), "not in it", "x")),
        row(&|flow| flow.project.bash(&format!("echo {} > .isdlc/state.json", "word ".repeat(400)))),
        row(&|flow| flow.project.bash("rm .isdlc/state.json")),
    ]
}

/// Work before the plan is approved.
fn unapproved_work() -> Vec<Denied> {
    let planned = || {
        let project = TestProject::new();
        project.write_managed_config("[workflow]\nuse = [\"openspec\"]\n");
        project.write_file("openspec/changes/add-login/tasks.md", "- [ ] 1.1 Store the password\n");
        project
    };
    let mut rows = lines("workflow-gate", planned, "echo x > src/app.js", None);
    let project = planned();
    let event = project.write(project.path.join(deep("app.js")), "x");
    rows.push(denied("workflow-gate", project, event, "`a-long-name/"));
    for (name, text) in
        [("empty", "\n"), ("without-tasks", "# Tasks\n"), ("template", "- [ ] <!-- Task description -->\n")]
    {
        let project = planned();
        project.write_file("openspec/changes/add-login/tasks.md", "- [x] done\n");
        project.write_file(&format!("openspec/changes/{name}/tasks.md"), text);
        let event = project.write(project.path.join("src/app.js"), "x");
        rows.push(denied("workflow-gate", project, event, "`src/app.js`"));
    }
    rows
}
