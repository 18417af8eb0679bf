//! `provost config check`: which files count, what is wrong in them, what holds in the end.

use std::io::Write;

use clap::Subcommand;

use super::screen::{self, BOLD, DIM, GREEN, RED, painted};
use super::{Exit, Here, Outcome};
use crate::config::settings;
use crate::registry::GUARDS;
use crate::text::one_line;

/// Look at the configuration
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost config check                 what holds here, and which file says so")]
pub(crate) struct ConfigCommand {
    #[command(subcommand)]
    command: ConfigAction,
}

#[derive(Subcommand)]
enum ConfigAction {
    Check(Check),
}

/// Show the files that count here, mistakes in them, and the settings that hold
///
/// A managed file wins over the project's, the project's over the person's. Exits with 1 if there
/// is a mistake.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost config check
  provost config check && echo fine")]
struct Check {}

impl ConfigCommand {
    pub(crate) fn run(self) -> Outcome {
        let ConfigAction::Check(Check {}) = self.command;
        check()
    }
}

fn check() -> Outcome {
    let Here { config, layers, .. } = Here::find()?;
    let mut out = anstream::stdout().lock();
    for (layer, path) in &layers {
        let found = config.files.iter().any(|(_, file)| file == path);
        let mark = if found { painted(GREEN, "found") } else { painted(DIM, "none ") };
        writeln!(out, "{mark}  {:8} {}", layer.word(), one_line(&path.to_string_lossy()))?;
    }
    writeln!(out)?;
    for problem in &config.problems {
        writeln!(out, "{} {}", painted(RED, "mistake"), one_line(&problem.to_string()))?;
    }
    if !config.problems.is_empty() {
        writeln!(out)?;
    }
    let mut rows = vec![["SETTING", "FROM", "VALUE"].map(String::from).to_vec()];
    let mut usual = 0;
    for setting in settings::all() {
        let key = setting.key();
        // Every guard is on unless somebody wants it otherwise: only that is worth a line.
        if setting.table == "guards" && config.get(&key).is_none() {
            usual += 1;
            continue;
        }
        let (value, from) = match config.get(&key) {
            Some((layer, value)) => (value.to_string(), layer.word()),
            None => (setting.takes.default_value().to_string(), "default"),
        };
        rows.push(vec![one_line(&key), from.into(), one_line(&value)]);
    }
    if usual > 0 {
        let others = if usual == GUARDS.len() { "all" } else { "all others" };
        rows.push(vec![format!("guards.* ({others})"), "default".into(), "\"on\"".into()]);
    }
    screen::table(&mut out, &rows)?;
    writeln!(out)?;
    match config.problems.len() {
        0 => writeln!(out, "{}", painted(GREEN, "no mistakes"))?,
        1 => writeln!(out, "{}", painted(BOLD, "1 mistake; everything else counts"))?,
        count => writeln!(out, "{}", painted(BOLD, &format!("{count} mistakes; everything else counts")))?,
    }
    Ok(if config.problems.is_empty() { Exit::Done } else { Exit::Found })
}
