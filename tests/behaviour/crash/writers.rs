//! Everything that writes, each with a project in which it is about to.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::scene::Scene;
use super::{gate, reviews};
use crate::support::TestProject;

/// One row of the table.
#[derive(Clone, Copy)]
pub struct Writer {
    /// What happens.
    pub what: &'static str,
    /// The guards that write then, and the commands.
    pub who: &'static [&'static str],
    /// Whose code asks for the changes.
    pub from: &'static [&'static str],
    pub scene: fn() -> Scene,
    /// What may be there after a stop and another run, and nothing says whose it is.
    pub may_leave: &'static [&'static str],
    /// Also on a disk that knows only plain files.
    pub also_plain: bool,
}

const fn writer(
    what: &'static str,
    who: &'static [&'static str],
    from: &'static [&'static str],
    scene: fn() -> Scene,
) -> Writer {
    Writer { what, who, from, scene, may_leave: &[], also_plain: false }
}

const fn also_plain(writer: Writer) -> Writer {
    Writer { also_plain: true, ..writer }
}

const fn may_leave(names: &'static [&'static str], writer: Writer) -> Writer {
    Writer { may_leave: names, ..writer }
}

const STORE: &str = "plan_gate/store/mod.rs";
const EMBEDDED: &str = "plan_gate/store/embedded.rs";
const FOLDER: &str = "plan_gate/store/sidecar_folder.rs";
const WITNESS: &str = "plan_gate/witness.rs";
const EVIDENCE: &str = "plan_gate/evidence.rs";
const SEAL: &str = "seal.rs";
const WORKFLOW_RECORDS: &str = "workspace/workflow_records.rs";
const JUDGES: &str = "plan_gate/judge_notes.rs";
const OPEN_FINDINGS: &str = "review_loop/open_findings.rs";
const PROMPTS: &str = "review_loop/prompts.rs";
const ROUNDS: &str = "review_loop/due_review.rs";
const LEDGER: &str = "review_loop/ledger.rs";
const MEMORY: &str = "review_loop/notices.rs";
const REVIEWER: &str = "reviewer/mod.rs";
const RECORDS: &str = "phases/phase_records.rs";
const CHANGE: &str = "cli/file_change.rs";
const OVERRIDES: &str = "overrides.rs";
const JOURNAL: &str = "journal/mod.rs";
const ARCHIVE: &str = "journal/archive.rs";
const SHARED_ANSWER: &str = "hook/shared_answer.rs";
const AGENT_MESSAGES: &str = "hook/agent_messages.rs";
const RULE_EVIDENCE: &str = "workspace/evidence_log.rs";
const RULE_CHECKS: &str = "workspace/checks.rs";
const RULE_TRUST: &str = "workspace/trust.rs";
const ENTRY_CLAIMS: &str = "workspace/entry_claims.rs";
const KEPT_RULES: &str = "workspace/kept_rules.rs";
const CHANGE_ROUND: &str = "change_review/round.rs";
const REVIEW_ROUND: &str = "review_round.rs";
const REVIEWED_FILES: &str = "workspace/reviewed_files.rs";
const CHANGE_DIFF: &str = "workspace/change_diff.rs";
const SESSION_BASE: &str = "workspace/session_base.rs";
const PRIVATE_GIT: &str = "workspace/private_git.rs";

pub const WRITERS: &[Writer] = &[
    also_plain(writer("a plan is written", &["plan-keeper"], &[STORE, EMBEDDED], gate::plan_written)),
    writer("a plan is written, store sidecar", &["plan-keeper"], &[FOLDER], gate::plan_written_beside),
    writer("gaps are written, store sidecar", &["plan-keeper"], &[FOLDER], gate::gaps_written_beside),
    writer("a critic is started", &["plan-brief"], &[JUDGES], gate::critic_started),
    also_plain(writer(
        "the first critic answers",
        &["plan-witness"],
        &[WITNESS, EVIDENCE, SEAL],
        gate::critic_answers,
    )),
    writer(
        "a critic answers in the background",
        &["plan-witness"],
        &[WITNESS, EVIDENCE],
        gate::critic_answers_in_background,
    ),
    writer("a validator answers", &["plan-witness"], &[STORE], gate::validator_answers),
    writer(
        "a validator answers, store sidecar",
        &["plan-witness"],
        &[FOLDER],
        gate::validator_answers_beside,
    ),
    writer("plan mode is left, `assess = exit`", &["plan-gate"], &[STORE], gate::left),
    writer("plan mode is left, `assess = exit`, store sidecar", &["plan-gate"], &[FOLDER], gate::left_beside),
    writer("`provost gate assess`", &["gate assess"], &[STORE, EVIDENCE], gate::assessed),
    writer("`provost gate assess`, store sidecar", &["gate assess"], &[FOLDER], gate::assessed_beside),
    writer("`provost gate move --to sidecar`", &["gate move"], &[FOLDER, STORE], gate::moved_beside),
    writer("`provost gate move --to embedded`", &["gate move"], &[FOLDER, STORE], gate::moved_in),
    also_plain(writer(
        "a turn ends, the review finds something",
        &["review-loop"],
        &[ROUNDS, LEDGER, REVIEWER, PROMPTS, OPEN_FINDINGS],
        reviews::found,
    )),
    writer("a turn ends, the review is clean", &["review-loop"], &[ROUNDS, LEDGER], reviews::clean),
    writer("a turn ends, a ground rule is broken", &["review-loop"], &[MEMORY], reviews::rule_broken),
    writer("`provost review run`", &["review run"], &[ROUNDS, LEDGER, REVIEWER], reviews::run),
    writer("`provost review set`", &["review set"], &["cli/review/set.rs"], reviews::set),
    writer(
        "`provost review set`, back to an earlier step",
        &["review set"],
        &["cli/review/set.rs", LEDGER],
        reviews::set_back,
    ),
    also_plain(writer(
        "`provost review set --new`",
        &["review set"],
        &["cli/review/set.rs"],
        reviews::set_new,
    )),
    writer("an agent of a phase answers", &["phase-records"], &[RECORDS], agent_answered),
    writer("tests fail in a phase", &["phase-records"], &[RECORDS], tests_failed),
    writer(
        "a session starts",
        &["registration-guard"],
        &["self_guard/registration.rs", "reviewer/program.rs"],
        session_started,
    ),
    also_plain(writer(
        "the user asks for an override",
        &["override"],
        &["self_guard/override_prompt.rs", OVERRIDES],
        override_asked,
    )),
    writer("an override is used", &["planner-bash-guard"], &[OVERRIDES], override_used),
    writer("a background planner ends without a plan", &[], &[AGENT_MESSAGES], planner_ended),
    writer("the end of that planner is announced", &[], &[AGENT_MESSAGES], end_announced),
    writer("the first line of a journal", &[], &[JOURNAL, SHARED_ANSWER], journal_begun),
    also_plain(writer("a journal is full", &[], &[JOURNAL, ARCHIVE], journal_full)),
    writer("a journal is full, and two small archives are merged", &[], &[ARCHIVE], archives_merged),
    also_plain(writer("`provost init`", &["init"], &[CHANGE], initialised)),
    may_leave(
        &["project/.claude/settings.json.before-provost"],
        writer("`provost init`, no settings file", &["init"], &[CHANGE], initialised_anew),
    ),
    also_plain(writer("`provost uninstall`", &["uninstall"], &[CHANGE], uninstalled)),
    may_leave(
        &["project/.claude"],
        writer(
            "`provost uninstall`, a file that init made",
            &["uninstall"],
            &[CHANGE, "cli/uninstall.rs"],
            uninstalled_wholly,
        ),
    ),
    writer(
        "a file is changed, and a rule needs to know",
        &["rules"],
        &[RULE_EVIDENCE, KEPT_RULES],
        change_recorded,
    ),
    writer(
        "a file is changed, and a task waits for work",
        &["workflow-ticks"],
        &[RULE_EVIDENCE],
        crate::workflow_ticks::change_recorded,
    ),
    writer(
        "a task is ticked after work",
        &["workflow-ticks"],
        &[RULE_EVIDENCE],
        crate::workflow_ticks::task_ticked,
    ),
    writer("a turn ends, a check of a rule runs", &["rules"], &[RULE_CHECKS, RULE_EVIDENCE], check_run),
    writer(
        "a turn ends, changes are reviewed, and something is found",
        &["rules"],
        &[CHANGE_ROUND, REVIEW_ROUND, CHANGE_DIFF, SESSION_BASE, PRIVATE_GIT, RULE_EVIDENCE],
        reviews::changes_found,
    ),
    writer(
        "a turn ends, and its changes are clean",
        &["rules"],
        &[CHANGE_ROUND, REVIEWED_FILES, RULE_EVIDENCE],
        reviews::changes_clean,
    ),
    writer(
        "`provost review run`, changes",
        &["review run"],
        &[CHANGE_ROUND, PRIVATE_GIT],
        reviews::changes_run,
    ),
    writer(
        "the user trusts the commands of rules",
        &["rules"],
        &[RULE_TRUST, ENTRY_CLAIMS],
        rules_trusted_by_prompt,
    ),
    writer("`provost rules trust`", &["rules trust"], &[RULE_TRUST], rules_trusted),
    also_plain(writer("`provost rules add`", &["rules add"], &[CHANGE], rule_added)),
    writer("the user approves a plan", &["workflow-approval"], &[WORKFLOW_RECORDS, SEAL], plan_approved),
    writer("`provost phases migrate`", &["phases migrate"], &[CHANGE], migrated),
    also_plain(writer("`provost man --dir`", &["man"], &["cli/man.rs"], manual_written)),
    also_plain(writer("`provost report --html`", &["report"], &["cli/report/html.rs"], page_written)),
];

/// Guards and commands that change nothing on the disk. The journal is written for every guard alike.
pub const READERS: &[&str] = &[
    "self-guard",
    "config-check",
    "workflow status",
    "approve",
    "plan-output-validator",
    "iteration-corridor",
    "skill-validator",
    "phase-loop-controller",
    "plan-surfacer",
    "phase-sequence-guard",
    "gate-blocker",
    "constitution-validator",
    "branch-guard",
    "discover-menu-guard",
    "state-write-validator",
    "delegation-gate",
    "workflow-finish",
    "skill-delegation-enforcer",
    "review-reminder",
    // These remember for `phase-records`, which writes for all of them.
    "log-skill-usage",
    "menu-tracker",
    "test-watcher",
    "walkthrough-tracker",
    "status",
    "statusline",
    "explain",
    "journal",
    "guards",
    "check",
    "gate status",
    "gate show",
    "review status",
    "review continue",
    "phases status",
    "rules show",
    "rules test",
    "rules import",
    "rules suggest",
    "replay",
    "config check",
    "schema",
    "completions",
];

/// Commands that write, and why they have no row.
pub const APART: &[(&str, &str)] = &[
    ("hook", "asks the guards, and writes the journal; both have rows"),
    ("compat", "asks the same guards"),
    (
        "workflow-gate",
        "keeps lists of what need not be read again; without one, or with a damaged one, all is read",
    ),
    ("doctor", "`--fix` sets the mode of one file at a time; all else happens in a temporary directory"),
    ("demo", "everything happens in a temporary directory"),
];

fn workflow() -> TestProject {
    let project = TestProject::new();
    let owners = json!({"version": "1", "ownership": {"requirements-analyst": {"phase": "01-requirements"}}});
    project.write_file(".claude/hooks/config/skills-manifest.json", &owners.to_string());
    let tests =
        json!({"test_iteration": {"enabled": true, "max_iterations": 99, "circuit_breaker_threshold": 99}});
    let demands = json!({"phase_requirements": {"01-requirements": tests}});
    project.write_file(".claude/hooks/config/iteration-requirements.json", &demands.to_string());
    let state =
        json!({"active_workflow": {"type": "feature", "current_phase": "01-requirements"}, "phases": {}});
    project.write_file(".isdlc/state.json", &format!("{state:#}\n"));
    project
}

fn agent_answered() -> Scene {
    let project = workflow();
    let mut event = project.recorded_event("PostToolUse.Agent.completed");
    event["tool_input"]["subagent_type"] = json!("requirements-analyst");
    event["tool_response"]["content"] =
        json!([{"type": "text", "text": "[A] Adjust\n[C] Continue\nYour choice:"}]);
    Scene::event(project, &event)
}

fn tests_failed() -> Scene {
    let project = workflow();
    let mut event = project.recorded_event("PostToolUseFailure.Bash");
    event["tool_input"] = json!({"command": "npm test"});
    event["error"] = json!("Exit code 1\nError: x");
    Scene::event(project, &event)
}

fn session_started() -> Scene {
    let project = TestProject::new();
    project.write_file("provost.toml", "[reviewer]\ncommand = [\"sh\"]\n");
    let event = project.recorded_event("SessionStart.startup");
    Scene::event(project, &event)
}

fn override_prompt(project: &TestProject) -> Value {
    let mut event = project.recorded_event("UserPromptSubmit");
    event["session_id"] = project.recorded_event("PreToolUse.Bash")["session_id"].clone();
    event["prompt"] = "provost override planner-bash-guard because the cache is stale".into();
    event
}

fn override_asked() -> Scene {
    let project = TestProject::new();
    let event = override_prompt(&project);
    Scene::event(project, &event)
}

fn override_used() -> Scene {
    let project = TestProject::new();
    let asked = project.hook(&override_prompt(&project));
    assert_eq!(asked.code, Some(0));
    let mut event = project.bash("rm -r cache");
    event["agent_id"] = "a109d47d15c5167d3".into();
    event["agent_type"] = "tdd-planner".into();
    Scene::event(project, &event)
}

fn planner_end(project: &TestProject) -> Value {
    let mut event = project.recorded_event("SubagentStop.validator");
    event["agent_id"] = "a109d47d15c5167d3".into();
    event["agent_type"] = "tdd-planner".into();
    event["stop_hook_active"] = true.into();
    event["background_tasks"] = json!([{"id": "a109d47d15c5167d3", "type": "subagent", "status": "running"}]);
    event
}

fn planner_ended() -> Scene {
    let project = TestProject::new();
    let event = planner_end(&project);
    Scene::event(project, &event)
}

fn end_announced() -> Scene {
    let project = TestProject::new();
    let ended = planner_end(&project);
    assert_eq!(project.hook(&ended).code, Some(0));
    let mut event = project.recorded_event("UserPromptSubmit");
    event["session_id"] = ended["session_id"].clone();
    event["prompt"] =
        "<task-notification>\n<task-id>a109d47d15c5167d3</task-id>\n</task-notification>".into();
    Scene::event(project, &event)
}

fn journal_begun() -> Scene {
    let project = TestProject::new();
    let event = project.bash("ls");
    Scene::event(project, &event)
}

fn journal_full() -> Scene {
    let project = TestProject::new();
    project.write_file("provost.toml", "[journal]\nmax_kilobytes = 64\n");
    project.hook(&project.bash("pwd"));
    let state =
        fs::read_dir(project.state_directory().join("projects")).unwrap().next().unwrap().unwrap().path();
    let line = project.read_journal_text();
    let put = |name: &str, text: &str| {
        fs::write(state.join(name), text).unwrap();
        fs::set_permissions(state.join(name), fs::Permissions::from_mode(0o600)).unwrap();
    };
    put("journal.jsonl", &line.repeat(64 * 1024 / line.len()));
    put("journal.1.jsonl", &line.repeat(2));
    put("journal.2.jsonl", &line);
    let event = project.bash("ls");
    Scene::event(project, &event)
}

/// The same, after it has happened before.
fn archives_merged() -> Scene {
    let scene = journal_full();
    scene.run();
    let refilled = journal_full_again(scene.project);
    let event = refilled.bash("ls");
    Scene::event(refilled, &event)
}

fn journal_full_again(project: TestProject) -> TestProject {
    let state =
        fs::read_dir(project.state_directory().join("projects")).unwrap().next().unwrap().unwrap().path();
    let line = project.read_journal_text();
    fs::write(state.join("journal.jsonl"), line.repeat(1 + 64 * 1024 / line.len())).unwrap();
    project
}

fn initialised() -> Scene {
    let project = TestProject::unregistered();
    project.write_file(".claude/settings.json", "{\n    \"model\": \"opus\"\n}\n");
    Scene::command(project, &["init", "--yes", "--scope", "project"])
}

fn initialised_anew() -> Scene {
    Scene::command(TestProject::unregistered(), &["init", "--yes", "--scope", "project"])
}

fn uninstalled() -> Scene {
    let scene = initialised();
    scene.run();
    Scene::command(scene.project, &["uninstall", "--yes"])
}

fn uninstalled_wholly() -> Scene {
    let scene = initialised_anew();
    scene.run();
    Scene::command(scene.project, &["uninstall", "--yes"])
}

/// A project that waits for evidence.
fn project_with_need(need: &str) -> TestProject {
    let project = TestProject::new();
    let rule = format!("[[rule]]\nname = \"tests\"\nstops = true\nchanged = \"**\"\nneed = {need}\n");
    project.write_home_file(".config/provost/provost.toml", &rule);
    project
}

fn change_recorded() -> Scene {
    let project = project_with_need("{ passed = \"make test\" }");
    let mut event = project.recorded_event("PostToolUse.Write");
    event["tool_input"]["file_path"] = json!(project.path.join("src/a.rs"));
    event["tool_response"]["filePath"] = json!(project.path.join("src/a.rs"));
    Scene::event(project, &event)
}

fn check_run() -> Scene {
    let project = project_with_need("{ check = \"true\" }");
    let mut changed = project.recorded_event("PostToolUse.Write");
    changed["tool_input"]["file_path"] = json!(project.path.join("src/a.rs"));
    changed["tool_response"]["filePath"] = json!(project.path.join("src/a.rs"));
    assert_eq!(project.hook(&changed).code, Some(0));
    let mut event = project.recorded_event("Stop.active_false");
    event["session_id"] = changed["session_id"].clone();
    Scene::event(project, &event)
}

fn untrusted_project() -> TestProject {
    let project = TestProject::new();
    project.write_file(
        "provost.toml",
        "[[rule]]\nname = \"format\"\nwrites = \"*.rs\"\nrun = \"true {path}\"\n",
    );
    project
}

fn rules_trusted_by_prompt() -> Scene {
    let project = untrusted_project();
    let mut event = project.recorded_event("UserPromptSubmit");
    event["prompt"] = "provost trust rules".into();
    Scene::event(project, &event)
}

fn rules_trusted() -> Scene {
    Scene::command(untrusted_project(), &["rules", "trust", "--yes"])
}

fn rule_added() -> Scene {
    let project = TestProject::new();
    project.write_file("provost.toml", "# mine\n");
    Scene::command(project, &["rules", "add", "--name", "x", "--runs", "git clean", "--deny", "no"])
}

fn plan_approved() -> Scene {
    let project = TestProject::new();
    project.write_file("provost.toml", "[workflow]\nuse = [\"openspec\"]\n");
    let mut event = project.recorded_event("UserPromptSubmit");
    for name in ["add-login", "add-logout"] {
        project.write_file(&format!("openspec/changes/{name}/tasks.md"), "- [ ] 1.1 Store the password\n");
        event["prompt"] = format!("provost approve {name}").into();
        // An older approval stays.
        if name == "add-login" {
            assert_eq!(project.hook(&event).code, Some(0));
        }
    }
    Scene::event(project, &event)
}

fn migrated() -> Scene {
    let project = TestProject::unregistered();
    let command = "node \"$CLAUDE_PROJECT_DIR\"/.claude/hooks/gate-blocker.cjs";
    let hooks = json!([{"matcher": "Task", "hooks": [{"type": "command", "command": command}]}]);
    project.write_file(".claude/settings.json", &json!({"hooks": {"PreToolUse": hooks}}).to_string());
    Scene::command(project, &["phases", "migrate", "--yes"])
}

fn page_written() -> Scene {
    let project = TestProject::new();
    project.write_file("report.html", "an older report\n");
    Scene::command(project, &["report", "--html", "report.html", "--now", "2026-11-17T12:00:00Z"])
}

fn manual_written() -> Scene {
    let project = TestProject::new();
    let pages = project.path.join("manual");
    // One page is there, from an older version.
    project.write_file("manual/provost.1", "old\n");
    Scene::command(project, &["man", "--dir", pages.to_str().unwrap()])
}
