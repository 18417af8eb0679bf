//! The checks of single effects, without the parser that finds effects in a command line.

use super::*;
use provost_clients::DEFAULT_CLIENT;
use provost_core::config::Config;
use provost_core::effect::WriteContent;
use provost_core::effect::git::GitSite;
use provost_core::event::EventKind;
use provost_core::places::Places;
use provost_core::tool::{ToolCall, ToolOutcome};

fn refuse(effects: &[Effect]) -> Option<String> {
    let call = ToolCall {
        native_tool: "x".into(),
        other_name: None,
        id: None,
        tool: Tool::Shell { command: "x".into() },
        outcome: ToolOutcome::default(),
    };
    let event = Event::new("x".into(), EventKind::BeforeTool(call), "/p".into());
    let places = Places { home: None, config: None, state: None, managed: None };
    let workspace =
        Workspace::new(&DEFAULT_CLIENT.facts, "/p".into(), "/p".into(), places, Config::default());
    PlannerRules::new(&event, &workspace)
        .refuse(effects)
        .map(|refusal| refusal.into_denial(&event).to_string())
}

fn run(program: &str) -> Effect {
    Effect::Run {
        program: program.into(),
        arguments: Vec::new(),
        unknown_from: None,
        unknown_arguments: Vec::new(),
        directory: Some("/p".into()),
    }
}

#[test]
fn a_mutating_option_is_named_with_its_program() {
    let act = Effect::MutatingOption {
        program: "find".into(),
        by: "-delete".into(),
        does: "deletes what it finds",
    };
    let reason = refuse(&[run("find"), act]).unwrap();
    assert!(
        reason
            .starts_with("[provost] `x` BLOCKED: 'find -delete' is not in the planner's allowlist. To fix: "),
        "{reason}"
    );
}

#[test]
fn a_commit_is_refused_and_a_dry_run_is_not() {
    let commit = |dry_run| Effect::Commit {
        site: Box::new(GitSite::default()),
        dry_run,
        message: provost_core::effect::git::CommitMessage::NotGiven,
    };
    assert!(refuse(&[run("git"), commit(false)]).unwrap().contains("'git commit'"));
    assert_eq!(refuse(&[run("git"), commit(true)]), None);
}

#[test]
fn an_unlisted_program_is_named_first_wherever_it_stands() {
    let effects = [
        Effect::Unparsed { what: "x".into(), command: None },
        Effect::Delete { path: "/p/x".into() },
        Effect::Write { path: "/p/x".into(), content: WriteContent::Unknown },
        run("ls"),
        run("rm"),
    ];
    assert!(refuse(&effects).unwrap().contains("'rm' is not in the planner's allowlist"));
    assert!(refuse(&effects[..3]).unwrap().contains("output redirection outside planning/"));
    assert!(refuse(&effects[..2]).unwrap().contains("a planner deletes nothing"));
    assert!(refuse(&effects[..1]).unwrap().contains("not understood: x"));
    assert_eq!(refuse(&effects[3..4]), None);
    assert!(refuse(&[Effect::TooLarge { what: "a line".into() }]).unwrap().contains("a line"));
}

#[test]
fn a_program_with_configuration_needs_a_certain_directory() {
    let lost = |program: &str| Effect::Run {
        program: program.into(),
        arguments: Vec::new(),
        unknown_from: None,
        unknown_arguments: Vec::new(),
        directory: None,
    };
    assert!(refuse(&[lost("git")]).unwrap().contains("not certain"));
    assert_eq!(refuse(&[lost("ls")]), None);
}

#[test]
fn files_may_be_copied_only_to_planning() {
    let place = |to: &str| Effect::Place { names: vec!["a".into()], to: to.into(), tree: false };
    assert_eq!(refuse(&[place("/p/planning/x")]), None);
    assert!(refuse(&[place("/p/src")]).is_some());
    assert!(refuse(&[place("/dev/null")]).is_none());
}
