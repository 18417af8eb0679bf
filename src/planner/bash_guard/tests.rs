//! What is judged of effects, whoever finds them in a command line.

use super::*;
use crate::clients;
use crate::config::Config;
use crate::effect::Content;
use crate::effect::git::GitSite;
use crate::event::{Call, Kind, Outcome};
use crate::workspace::Places;

fn refused(effects: &[Effect]) -> Option<String> {
    let call = Call {
        native_tool: "x".into(),
        id: None,
        tool: Tool::Shell { command: "x".into() },
        outcome: Outcome::default(),
    };
    let event = Event::new("x".into(), Kind::BeforeTool(call), "/p".into());
    let places = Places { home: None, config: None, state: None, managed: None };
    let workspace = Workspace::new(clients::DEFAULT, "/p".into(), "/p".into(), places, Config::default());
    Judge::of(&event, &workspace).refusal(effects).map(|refused| refused.denial(&event).to_string())
}

fn run(program: &str) -> Effect {
    Effect::Run {
        program: program.into(),
        arguments: Vec::new(),
        unknown_from: None,
        directory: Some("/p".into()),
    }
}

#[test]
fn what_a_reader_is_told_to_do_is_named_with_its_option() {
    let act = Effect::Act { program: "find".into(), by: "-delete".into(), does: "deletes what it finds" };
    let reason = refused(&[run("find"), act]).unwrap();
    assert!(
        reason
            .starts_with("[provost] `x` BLOCKED: 'find -delete' is not in the planner's allowlist. To fix: "),
        "{reason}"
    );
}

#[test]
fn a_commit_is_refused_and_a_dry_run_is_not() {
    let commit = |dry_run| Effect::Commit { site: Box::new(GitSite::default()), dry_run };
    assert!(refused(&[run("git"), commit(false)]).unwrap().contains("'git commit'"));
    assert_eq!(refused(&[run("git"), commit(true)]), None);
}

#[test]
fn a_program_that_is_not_listed_is_told_first_wherever_it_stands() {
    let effects = [
        Effect::Obscure { what: "x".into() },
        Effect::Delete { path: "/p/x".into() },
        Effect::Write { path: "/p/x".into(), content: Content::Unknown },
        run("ls"),
        run("rm"),
    ];
    assert!(refused(&effects).unwrap().contains("'rm' is not in the planner's allowlist"));
    assert!(refused(&effects[..3]).unwrap().contains("output redirection outside planning/"));
    assert!(refused(&effects[..2]).unwrap().contains("a planner deletes nothing"));
    assert!(refused(&effects[..1]).unwrap().contains("not understood: x"));
    assert_eq!(refused(&effects[3..4]), None);
    assert!(refused(&[Effect::TooLarge { what: "a line".into() }]).unwrap().contains("a line"));
}

#[test]
fn a_program_with_configuration_needs_a_certain_directory() {
    let lost = |program: &str| Effect::Run {
        program: program.into(),
        arguments: Vec::new(),
        unknown_from: None,
        directory: None,
    };
    assert!(refused(&[lost("git")]).unwrap().contains("not certain"));
    assert_eq!(refused(&[lost("ls")]), None);
}

#[test]
fn files_that_are_placed_land_in_planning_or_nowhere() {
    let place = |to: &str| Effect::Place { names: vec!["a".into()], to: to.into(), tree: false };
    assert_eq!(refused(&[place("/p/planning/x")]), None);
    assert!(refused(&[place("/p/src")]).is_some());
    assert!(refused(&[place("/dev/null")]).is_none());
}
