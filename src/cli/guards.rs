//! `provost guards`: the registry as a table.

use std::io::Write;

use serde_json::{Value, json};

use super::overview::Overview;
use super::screen::{self, BOLD, DIM, paint};
use super::{CommandResult, Exit};
use crate::registry::{GUARDS, Guard, PACKS};

/// List every guard: when it is asked, what happens if it fails, whether it is on here
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
    pub(crate) fn run(self) -> CommandResult {
        let overview = Overview::open_here()?;
        let on = overview.guards_on();
        let watched = overview.guards_watched();
        let state = |guard: &Guard| match guard.name {
            name if watched.contains(&name) => "watch",
            name if on.contains(&name) => "on",
            _ => "off",
        };
        let mut out = anstream::stdout().lock();
        if self.json {
            let all: Value = GUARDS.iter().map(|guard| as_json(guard, state(guard))).collect();
            writeln!(out, "{all:#}")?;
            return Ok(Exit::Done);
        }
        for (pack, activation) in PACKS.iter().zip(overview.packs()) {
            screen::print_line(&mut out, &[paint(BOLD, pack.name)], &paint(DIM, pack.purpose))?;
            let word = if activation.is_on { "on" } else { "off" };
            let text = format!("{word} here: {}", activation.why);
            writeln!(out, "{}\n", paint(DIM, &screen::wrap_for_terminal(&text, 0)))?;
            let mut rows = vec![
                ["GUARD", "ASKED", "ON FAILURE", "BLOCKS", "OVERRIDE", "HERE"].map(String::from).to_vec(),
            ];
            let guards = GUARDS.iter().filter(|guard| guard.pack == pack.name);
            rows.extend(guards.map(|guard| row(guard, state(guard))));
            screen::print_table(&mut out, &rows)?;
            writeln!(out)?;
        }
        writeln!(out, "{}", screen::wrap_for_terminal(&format!("{}.", overview.count_guards()), 0))?;
        let notes = [
            "closed: if the guard fails, the call is denied; open: it continues unchecked.",
            "once: a prompt that begins with `provost override GUARD REASON` allows one denied call.",
            "watch: the guard is asked and its answer recorded, but not enforced.",
        ];
        for note in notes {
            writeln!(out, "{}", paint(DIM, &screen::wrap_for_terminal(note, 0)))?;
        }
        Ok(Exit::Done)
    }
}

fn row(guard: &Guard, state: &str) -> Vec<String> {
    let choose = |condition, yes, no| if condition { yes } else { no };
    vec![
        guard.name.into(),
        summarize_triggers(guard),
        guard.failure_mode.name().into(),
        choose(guard.can_block, "yes", "no").into(),
        choose(guard.is_overridable, "once", "no").into(),
        state.into(),
    ]
}

/// When a guard is asked, in a column; `--json` and the reference have the whole list.
fn summarize_triggers(guard: &Guard) -> String {
    const MOST: usize = 3;
    match guard.triggers {
        [first, rest @ ..] if rest.len() >= MOST => format!("{}, and {} more", first.describe(), rest.len()),
        _ => guard.describe_triggers(),
    }
}

fn as_json(guard: &Guard, state: &str) -> Value {
    json!({
        "name": guard.name,
        "pack": guard.pack,
        "purpose": guard.purpose,
        "asked": guard.triggers.iter().map(|trigger| trigger.describe()).collect::<Vec<_>>(),
        "agents": guard.agents_setting,
        "failure": guard.failure_mode.name(),
        "blocks": guard.can_block,
        "way_out": guard.way_out,
        "override": guard.override_prompt(),
        "on": state != "off",
        "watched": state == "watch",
    })
}
