//! `provost guards`: the registry as a table.

use std::io::Write;

use serde_json::{Value, json};

use super::screen::{self, BOLD, DIM, painted};
use super::{Exit, Here, Outcome};
use crate::config::Config;
use crate::registry::{GUARDS, Guard, PACKS, Pack};

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
        let config = Here::find()?.config;
        let mut out = anstream::stdout().lock();
        if self.json {
            let all: Value = GUARDS.iter().map(|guard| as_json(guard, &config)).collect();
            writeln!(out, "{all:#}")?;
            return Ok(Exit::Done);
        }
        for (index, pack) in PACKS.iter().enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            screen::line(&mut out, &[painted(BOLD, pack.name)], &painted(DIM, pack.purpose))?;
            writeln!(out)?;
            let mut rows = vec![
                ["GUARD", "ASKED", "ON FAILURE", "BLOCKS", "OVERRIDE", "HERE"].map(String::from).to_vec(),
            ];
            rows.extend(
                GUARDS.iter().filter(|guard| guard.pack == pack.name).map(|guard| row(guard, pack, &config)),
            );
            screen::table(&mut out, &rows)?;
        }
        writeln!(out)?;
        let notes = [
            "closed: what the guard cannot judge is denied; open: it goes on.",
            "once: a prompt that begins with `provost override GUARD REASON` lets it pass once.",
        ];
        for note in notes {
            writeln!(out, "{}", painted(DIM, &screen::fitted(note, 0)))?;
        }
        Ok(Exit::Done)
    }
}

fn row(guard: &Guard, pack: &Pack, config: &Config) -> Vec<String> {
    let here = match (config.guard_is_on(guard.name), pack.is_on(&[], config)) {
        (true, true) => "on",
        (true, false) => "if named",
        (false, _) => "off",
    };
    vec![
        guard.name.into(),
        shortly_asked(guard),
        guard.failure.word().into(),
        if guard.blocks { "yes" } else { "no" }.into(),
        if guard.overridable { "once" } else { "no" }.into(),
        here.into(),
    ]
}

/// When it is asked, as far as it fits in a column; `--json` and the reference have the rest.
fn shortly_asked(guard: &Guard) -> String {
    const MOST: usize = 3;
    match guard.triggers {
        [first, rest @ ..] if rest.len() >= MOST => format!("{}, and {} more", first.words(), rest.len()),
        _ => guard.asked(),
    }
}

fn as_json(guard: &Guard, config: &Config) -> Value {
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
        "on": config.guard_is_on(guard.name),
    })
}
