//! Rehearsals with the real client: what the crate promises, seen from outside.
//!
//! Without a client these tests say so and pass, because not everybody has one at hand; where
//! `CI` is set they fail instead, so that nobody mistakes skipping for passing.

mod faults;
mod hooks;
mod scenes;
mod terminal;

use std::path::{Path, PathBuf};

use rehearsal::{Playback, Scenario, ScenarioPlayer, Silent};

fn client() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let client = ScenarioPlayer::find_client(root);
    if client.is_none() {
        assert!(std::env::var_os("CI").is_none(), "there is no client: run scripts/fetch-client");
        eprintln!("skipped: there is no client. Run scripts/fetch-client to get one.");
    }
    client
}

/// Plays a scenario, or returns nothing if there is no client to play it.
fn play(text: &str) -> Option<(Scenario, Playback)> {
    let stage = ScenarioPlayer {
        client: client()?,
        variables: [("word".to_owned(), "from the stage".to_owned())].into(),
        recorder: PathBuf::from(env!("CARGO_BIN_EXE_rehearse")),
        keep: false,
    };
    let scenario = Scenario::parse(
        text,
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/outside/real_client/test.toml"),
    )
    .unwrap();
    let playback = stage.play(&scenario, &mut Silent).unwrap();
    Some((scenario, playback))
}

/// Plays a scenario that must turn out as it says.
fn rehearse(text: &str) -> Option<Playback> {
    let (scenario, playback) = play(text)?;
    let told: Vec<String> = scenario.check(&playback).iter().map(ToString::to_string).collect();
    assert!(
        told.is_empty(),
        "{}\n--- hooks {:#?}\n--- stderr {}",
        told.join("\n"),
        playback.hooks,
        playback.stderr
    );
    Some(playback)
}

const TOUCH: &str = r#"
title = "touch"
prompt = "hello"
args = ["--allowedTools", "Bash"]
[[route]]
[[route.step]]
tool = "Bash"
input = { command = "touch marker", description = "x" }
[[route.step]]
text = "done"
"#;
