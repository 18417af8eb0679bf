//! `provost config check`: which configuration files apply, their mistakes, and the resulting settings.

use std::io::Write;

use clap::Subcommand;

use super::rules::example_run::ExampleReport;
use super::screen::{self, BOLD, DIM, GREEN, RED, paint};
use super::{CommandResult, CurrentProject, Exit, open_current_workspace};
use crate::config::settings;
use crate::registry::{GUARDS, guard_settings};
use crate::text::make_one_line;

/// Check the configuration
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost config check                 the settings, and which file sets each")]
pub(crate) struct ConfigCommand {
    #[command(subcommand)]
    command: ConfigAction,
}

#[derive(Subcommand)]
enum ConfigAction {
    Check(ConfigCheck),
}

/// Show the configuration files, their mistakes, and the resulting settings
///
/// A managed file overrides the project's, and the project's overrides the user's. Also judges the examples of all
/// rules. Exits with 1 if there is a mistake or an example fails.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost config check
  provost config check && echo fine")]
struct ConfigCheck {}

impl ConfigCommand {
    pub(crate) fn run(self) -> CommandResult {
        let ConfigAction::Check(ConfigCheck {}) = self.command;
        check_configuration()
    }
}

fn check_configuration() -> CommandResult {
    let CurrentProject { config, layers, .. } = CurrentProject::locate()?;
    let (_, workspace) = open_current_workspace()?;
    let failures = ExampleReport::judge_layers(&config, &workspace).failures;
    let mut out = anstream::stdout().lock();
    for (layer, path) in &layers {
        let found = config.files.iter().any(|(_, file)| file == path);
        let mark = if found { paint(GREEN, "found") } else { paint(DIM, "none ") };
        writeln!(out, "{mark}  {:8} {}", layer.name(), make_one_line(&path.to_string_lossy()))?;
    }
    writeln!(out)?;
    let problems = config.list_all_problems();
    for problem in &problems {
        writeln!(out, "{} {}", paint(RED, "mistake"), make_one_line(&problem.to_string()))?;
    }
    for failure in &failures {
        writeln!(out, "{} {failure}", paint(RED, "example"))?;
    }
    let count = problems.len() + failures.len();
    if count > 0 {
        writeln!(out)?;
    }
    let mut rows = vec![["SETTING", "FROM", "VALUE"].map(String::from).to_vec()];
    let mut hidden = 0;
    for setting in settings::list_settings(guard_settings()) {
        let key = setting.key();
        // Every guard is on by default. Only guards that a file sets get a line.
        if setting.table == "guards" && config.configured_value(&key).is_none() {
            hidden += 1;
            continue;
        }
        let (value, from) = match config.configured_value(&key) {
            Some((layer, value)) => (value.to_string(), layer.name()),
            None => (setting.value_type.default_value().to_string(), "default"),
        };
        rows.push(vec![make_one_line(&key), from.into(), make_one_line(&value)]);
    }
    if hidden > 0 {
        let others = if hidden == GUARDS.len() { "all" } else { "all others" };
        rows.push(vec![format!("guards.* ({others})"), "default".into(), "\"on\"".into()]);
    }
    screen::print_table(&mut out, &rows)?;
    writeln!(out)?;
    match count {
        0 => writeln!(out, "{}", paint(GREEN, "no mistakes"))?,
        1 => writeln!(out, "{}", paint(BOLD, "1 mistake; all other settings apply"))?,
        count => writeln!(out, "{}", paint(BOLD, &format!("{count} mistakes; all other settings apply")))?,
    }
    Ok(if count == 0 { Exit::Done } else { Exit::Problem })
}
