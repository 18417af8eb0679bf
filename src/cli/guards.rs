//! `provost guards`: the registry as a table.

use std::io::Write;

use serde_json::{Value, json};

use super::screen::{self, BOLD, DIM, painted};
use super::status::{Summary, guards_counted};
use super::{Exit, Outcome, current_directory};
use crate::registry::{GUARDS, Guard, PACKS};
use crate::workspace::resolve;

/// List every guard: when it is asked, what its failure means, whether it is on here
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost guards
  provost guards --json | jq '.[].name'")]
pub(crate) struct Guards {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Guards {
    pub(crate) fn run(self) -> Outcome {
        let cwd = resolve(&current_directory()?);
        let here = Summary::of(&cwd, &cwd);
        let mut out = anstream::stdout().lock();
        if self.json {
            let all: Value = GUARDS.iter().map(|guard| as_json(guard, &here)).collect();
            writeln!(out, "{all:#}")?;
            return Ok(Exit::Done);
        }
        for (index, pack) in PACKS.iter().enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            screen::line(&mut out, &[painted(BOLD, pack.name)], &painted(DIM, pack.purpose))?;
            if let Some(pack) = here.packs.iter().find(|known| known.name == pack.name) {
                let word = if pack.is_on { "on" } else { "off" };
                writeln!(out, "{}", painted(DIM, &screen::fitted(&format!("{word} here: {}", pack.why), 0)))?;
            }
            writeln!(out)?;
            let mut rows = vec![
                ["GUARD", "ASKED", "ON FAILURE", "BLOCKS", "OVERRIDE", "HERE"].map(String::from).to_vec(),
            ];
            rows.extend(GUARDS.iter().filter(|guard| guard.pack == pack.name).map(|guard| row(guard, &here)));
            screen::table(&mut out, &rows)?;
        }
        writeln!(out)?;
        writeln!(out, "{}", screen::fitted(&format!("{}.", guards_counted(here.guards_on.len())), 0))?;
        let notes = [
            "closed: what the guard cannot judge is denied; open: it goes on.",
            "once: a prompt that begins with `provost override GUARD REASON` allows one denied call.",
        ];
        for note in notes {
            writeln!(out, "{}", painted(DIM, &screen::fitted(note, 0)))?;
        }
        Ok(Exit::Done)
    }
}

fn row(guard: &Guard, here: &Summary) -> Vec<String> {
    let here = if is_on(guard, here) { "on" } else { "off" };
    vec![
        guard.name.into(),
        shortly_asked(guard),
        guard.failure.word().into(),
        if guard.blocks { "yes" } else { "no" }.into(),
        if guard.overridable { "once" } else { "no" }.into(),
        here.into(),
    ]
}

fn is_on(guard: &Guard, here: &Summary) -> bool {
    here.guards_on.contains(&guard.name)
}

/// When it is asked, as far as it fits in a column; `--json` and the reference have the rest.
fn shortly_asked(guard: &Guard) -> String {
    const MOST: usize = 3;
    match guard.triggers {
        [first, rest @ ..] if rest.len() >= MOST => format!("{}, and {} more", first.words(), rest.len()),
        _ => guard.asked(),
    }
}

fn as_json(guard: &Guard, here: &Summary) -> Value {
    json!({
        "name": guard.name,
        "pack": guard.pack,
        "purpose": guard.purpose,
        "asked": guard.triggers.iter().map(|trigger| trigger.words()).collect::<Vec<_>>(),
        "agents": guard.agents,
        "failure": guard.failure.word(),
        "blocks": guard.blocks,
        "way_out": guard.way_out,
        "override": guard.override_form(),
        "on": is_on(guard, here),
    })
}
