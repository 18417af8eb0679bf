//! Provost on the real client: every scenario of `rehearsals/`, and the matrix of failures.
//!
//! The model is scripted, everything else is real. Without a client these tests fail in CI, and say so elsewhere;
//! `scripts/fetch-client` installs it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use rehearsal::{Playback, Scenario, ScenarioPlayer, Silent};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The stage, or `None` if the client is missing and may be.
fn stage() -> Option<ScenarioPlayer> {
    let client = crate::client::find_client()?;
    let variables = BTreeMap::from([("provost".to_owned(), env!("CARGO_BIN_EXE_provost").to_owned())]);
    Some(ScenarioPlayer { client, variables, recorder: recorder().to_owned(), keep: false })
}

/// The program that records hooks belongs to another package, so this builds it.
fn recorder() -> &'static Path {
    static RECORDER: OnceLock<PathBuf> = OnceLock::new();
    RECORDER.get_or_init(|| {
        let built =
            Command::new(env!("CARGO")).args(["build", "-q", "-p", "rehearsal"]).current_dir(root()).status();
        assert!(built.is_ok_and(|status| status.success()), "the rehearsal crate does not build");
        Path::new(env!("CARGO_BIN_EXE_provost")).with_file_name("rehearse")
    })
}

fn play(scenario: &Scenario) -> Option<Playback> {
    let playback =
        stage()?.play(scenario, &mut Silent).unwrap_or_else(|error| panic!("{}: {error}", scenario.title));
    let wrong: Vec<String> = scenario.check(&playback).iter().map(ToString::to_string).collect();
    assert!(wrong.is_empty(), "{}\n{}", scenario.title, wrong.join("\n"));
    Some(playback)
}

fn play_file(name: &str) {
    let scenario = Scenario::load(root().join("rehearsals").join(name));
    if let Some(playback) = play(&scenario.unwrap_or_else(|error| panic!("{error}"))) {
        crate::replayed::check_replay(name, &playback);
    }
}

macro_rules! rehearsals {
    ($($test:ident: $file:literal),* $(,)?) => {
        $(#[test] fn $test() { play_file($file); })*

        const FILES: &[&str] = &[$($file),*];
    };
}

rehearsals! {
    denied_bash: "denied-bash.toml",
    settings_add_hook: "settings-add-hook.toml",
    settings_edit: "settings-edit.toml",
    settings_void: "settings-void.toml",
    doctor_finds_nothing: "doctor-healthy.toml",
    doctor_and_silent_guards: "doctor-faults-silent.toml",
    doctor_and_what_is_around: "doctor-faults-around.toml",
    unknown_permission_mode: "unknown-mode.toml",
    two_hooks_at_once: "two-at-once.toml",
    config_change: "config-change.toml",
    recursion_guard: "recursion.toml",
    planner_is_read_only: "planner-readonly.toml",
    planner_of_ones_own: "planner-own-agent.toml",
    planner_as_a_session: "planner-session.toml",
    planner_leaves_others_alone: "planner-bystander.toml",
    override_by_the_person: "override.toml",
    plan_gate_assess: "plan-gate-assess.toml",
    plan_gate_exit: "plan-gate-exit.toml",
    planner_without_the_program: "planner-without-provost.toml",
    plan_gate_from_denial_to_approval: "plan-gate-flow.toml",
    plan_gate_after_an_edit: "plan-gate-edit-after-pass.toml",
    plan_gate_and_forgers: "plan-gate-forged.toml",
    plan_gate_and_other_answers: "plan-gate-other-answers.toml",
    plan_gate_and_answers_that_are_none: "plan-gate-retry.toml",
    plan_gate_and_the_token_limit: "plan-gate-token-limit.toml",
    plan_gate_in_a_resumed_session: "plan-gate-resumed.toml",
    plan_gate_in_a_second_session: "plan-gate-second-session.toml",
    plan_gate_in_a_directory_of_the_project: "plan-gate-plans-directory.toml",
    plan_gate_with_agents_in_the_background: "plan-gate-background.toml",
    plan_gate_without_the_program: "plan-gate-without-provost.toml",
    terminal_plan_gate: "terminal-plan-gate.toml",
    terminal_plan_gate_sidecar: "terminal-plan-gate-sidecar.toml",
    plan_gate_and_the_persons_override: "plan-gate-override.toml",
    plan_gate_with_files_beside_the_plan: "plan-gate-sidecar.toml",
    plan_gate_by_the_documents_scripts: "plan-gate-compat.toml",
    review_loop_of_code: "review-loop-code.toml",
    review_loop_of_a_plan: "review-loop-plan.toml",
    review_loop_of_tasks: "review-loop-tasks.toml",
    review_loop_of_all_code: "review-loop-all-code.toml",
    review_loop_at_its_limit: "review-loop-limit.toml",
    review_loop_without_an_answer: "review-loop-unanswered.toml",
    review_loop_out_of_time: "review-loop-timeout.toml",
    review_loop_interrupted: "review-loop-interrupted.toml",
    review_loop_by_two_hooks_at_once: "review-loop-two-hooks.toml",
    review_loop_and_forgers: "review-loop-forged.toml",
    review_loop_and_other_sessions: "review-loop-second-session.toml",
    review_loop_goes_on_in_a_new_session: "review-loop-continue.toml",
    review_loop_with_agents_in_the_background: "review-loop-background.toml",
    review_loop_of_delegated_work: "review-loop-delegated.toml",
    review_loop_does_not_recurse: "review-loop-no-recursion.toml",
    review_loop_starts_the_users_reviewer: "review-loop-own-reviewer.toml",
    review_loop_at_the_users_address: "review-loop-address.toml",
    terminal_review_loop: "terminal-review-loop.toml",
    terminal_stop_held_by_two_packs: "terminal-stop-two-packs.toml",
    review_loop_by_the_documents_script: "review-loop-compat.toml",
    review_loop_and_the_ground_rules: "review-loop-ground-rules.toml",
    review_loop_without_the_program: "review-loop-without-provost.toml",
    rules_deny: "rules-deny.toml",
    rules_ask_without_a_terminal: "rules-ask-headless.toml",
    rules_warn: "rules-warn.toml",
    rules_watch: "rules-watch.toml",
    rules_run_after_a_write: "rules-run.toml",
    rules_with_plugins_only: "rules-plugins.toml",
    rules_check_at_its_rounds: "rules-check-rounds.toml",
    rules_need_passed: "rules-need-passed.toml",
    rules_need_background: "rules-need-background.toml",
    rules_without_trust: "rules-untrusted.toml",
    rules_trust: "rules-trust.toml",
    terminal_rules_ask: "terminal-rules-ask.toml",
    terminal_rules_override: "terminal-rules-override.toml",
    terminal_rules_rounds: "terminal-rules-rounds.toml",
    change_review_crash: "change-review-crash.toml",
    change_review_limit: "change-review-limit.toml",
    change_review_rounds: "change-review-rounds.toml",
    terminal_change_review: "terminal-change-review.toml",
    status_of_a_review_loop: "status-review-loop.toml",
    phases_in_their_order: "phases-sequence.toml",
    phases_and_commits_to_main: "phases-commit.toml",
    phases_and_a_faked_state: "phases-state.toml",
    phases_and_a_discovery: "phases-discover.toml",
    phases_and_failing_tests: "phases-tests.toml",
    phases_and_agents_of_agents: "phases-nested.toml",
    phases_and_skills: "phases-skill.toml",
    phases_and_remarks_for_the_model: "phases-notify.toml",
    phases_where_the_workflow_stands: "phases-status.toml",
    phases_after_the_migration: "phases-migrated.toml",
    phases_without_the_program: "phases-without-provost.toml",
    install_into_an_empty_project: "install-empty.toml",
    install_among_the_hooks_of_others: "install-rich.toml",
    install_the_plan_gate: "install-gate.toml",
    install_closed: "install-closed.toml",
    install_for_a_team: "install-shared.toml",
    adversary_and_protected_files: "adversary-files.toml",
    adversary_and_other_names: "adversary-names.toml",
    adversary_and_the_program: "adversary-off.toml",
    adversary_unseen: "adversary-unseen.toml",
    adversary_and_the_plugin: "adversary-plugin.toml",
    adversary_and_the_user: "adversary-user.toml",
    adversary_and_words: "adversary-words.toml",
    terminal_and_a_denial: "terminal-denial.toml",
    terminal_and_two_denials: "terminal-two-denials.toml",
    terminal_and_an_override: "terminal-override.toml",
    terminal_and_a_planner_without_a_plan: "terminal-planner-without-plan.toml",
    terminal_and_a_missing_program: "terminal-missing-program.toml",
    terminal_of_a_teammate_without_provost: "terminal-shared-without-provost.toml",
    terminal_and_four_plugins: "terminal-four-plugins.toml",
    terminal_and_an_ask: "terminal-ask.toml",
    one_answer_of_four_plugins: "one-answer.toml",
    terminal_and_one_answer_of_four_plugins: "terminal-one-answer.toml",
    panic_in_a_closed_guard: "faults/panic-in-closed-guard.toml",
    panic_in_an_open_guard: "faults/panic-in-open-guard.toml",
    workflow_of_spec_kit: "workflow-spec-kit.toml",
    workflow_of_kiro: "workflow-kiro.toml",
    workflow_of_bmad: "workflow-bmad.toml",
    workflow_of_task_master: "workflow-task-master.toml",
    workflow_by_the_users_command: "workflow-command.toml",
    terminal_workflow_of_openspec: "terminal-workflow-openspec.toml",
    session_of_the_pictures: "../docs/pictures/project.toml",
}

#[test]
fn every_scenario_is_played() {
    for folder in ["", "faults"] {
        for entry in root().join("rehearsals").join(folder).read_dir().unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            assert!(
                Path::new(&path).extension().is_none_or(|kind| kind != "toml")
                    || FILES.contains(&path.as_str()),
                "{path} is not played by a test"
            );
        }
    }
}

/// A way in which the hook process can fail.
struct Failure {
    name: &'static str,
    command: &'static str,
    /// A fault of the guard, for the switch of debug builds.
    fault: &'static str,
    /// The client's time limit for the hook, in seconds.
    timeout: u32,
}

const FAILURES: [Failure; 4] = [
    Failure { name: "missing", command: "${project}/no-such-program", fault: "", timeout: 10 },
    Failure { name: "killed", command: "${provost}", fault: "self-guard=kill", timeout: 10 },
    Failure { name: "panicking", command: "${provost}", fault: "self-guard=panic", timeout: 10 },
    Failure { name: "too slow", command: "${provost}", fault: "self-guard=hang", timeout: 2 },
];

/// One Bash call, `touch marker`, with a `PreToolUse` entry that has the keys `entry`.
fn touching(title: &str, fault: &str, entry: &str, expect: &str) -> Scenario {
    let text = format!(
        r#"
        title = "{title}"
        prompt = "hello"
        args = ["--allowedTools", "Bash"]
        [env]
        PROVOST_FAULT = "{fault}"
        [[hook]]
        event = "PreToolUse"
        matcher = "*"
        {entry}
        [[route]]
        [[route.step]]
        tool = "Bash"
        input = {{ command = "touch marker", description = "x" }}
        [[route.step]]
        text = "done"
        {expect}
        "#
    );
    Scenario::parse(&text, title).unwrap_or_else(|error| panic!("{error}"))
}

/// One Bash call with a hook that fails. The entry is not recorded, because the recorder would hide the failure from the
/// client.
fn failing(failure: &Failure, on_failure: Option<&str>, expect: &str) -> Scenario {
    let Failure { name, command, fault, timeout } = failure;
    let on_failure = on_failure.map_or(String::new(), |value| format!("onFailure = \"{value}\""));
    let entry = format!(
        "command = \"{command}\"\nargs = [\"hook\"]\ntimeout = {timeout}\n{on_failure}\nrecord = false"
    );
    touching(&format!("the hook is {name}"), fault, &entry, expect)
}

const BLOCKED: &str = r#"
    [expect]
    exit = 0
    [[expect.request]]
    n = 2
    contains = ["hook error"]
    [[expect.file]]
    path = "marker"
    exists = false
"#;

const RAN: &str = r#"
    [expect]
    exit = 0
    [[expect.request]]
    n = 2
    lacks = ["hook error"]
    [[expect.file]]
    path = "marker"
    exists = true
"#;

/// The entry that Provost registers for a closed guard: exec form, `onFailure: "block"`.
#[test]
fn an_entry_of_a_closed_guard_blocks_on_every_failure() {
    for failure in &FAILURES {
        play(&failing(failure, Some("block"), BLOCKED));
    }
}

/// Without `onFailure`, the client continues unless Provost itself could still answer.
#[test]
fn without_on_failure_the_client_continues_unless_provost_answers() {
    for failure in &FAILURES {
        let expected = if failure.name == "panicking" { BLOCKED } else { RAN };
        play(&failing(failure, None, expected));
    }
}

/// If a guard hangs, Provost's own deadline answers before the client's time limit.
#[test]
fn provosts_deadline_is_before_the_clients() {
    let failure = Failure { timeout: 20, ..FAILURES[3] };
    play(&failing(&failure, None, BLOCKED));
}

/// A usage error must never block a tool, even with `onFailure: "block"`.
#[test]
fn an_outdated_hook_entry_blocks_nothing() {
    let entry = r#"
        command = "${provost}"
        args = ["hook", "--pack", "renamed", "--strict"]
        timeout = 10
        onFailure = "block"
    "#;
    let expect = r#"
        [[expect.hook]]
        event = "PreToolUse"
        exit = 0
        stdout_contains = ["unknown pack `renamed`", "unknown argument `--strict`"]
        [[expect.file]]
        path = "marker"
        exists = true
    "#;
    play(&touching("an entry from another version", "", entry, expect));
}
