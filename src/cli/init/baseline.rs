//! Proposes the built-in rules when Provost is installed for the first time.
//!
//! They go into `provost.toml`, which `uninstall` leaves alone: it is the user's file.

use std::io::{self, BufRead, IsTerminal, Write};

use crate::cli::overview::Overview;
use crate::cli::rules::RuleFileEdit;
use crate::cli::screen::print_sentence;
use crate::cli::settings_file::ScopeOption;
use crate::cli::{CommandError, CurrentProject};
use crate::config::ConfigLayer;
use crate::rules::{BASELINE_NAME, read_baseline};

/// What happens to the built-in rules.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum RulesChoice {
    /// Do not use them
    Off,
    /// Judge and record them, but do not enforce them
    Watch,
    /// Enforce them
    Enforce,
}

/// A change of `provost.toml` that the user has not agreed to yet.
pub(super) struct BaselineProposal {
    layer: ConfigLayer,
    choice: Option<RulesChoice>,
    edit: RuleFileEdit,
}

impl BaselineProposal {
    /// The proposal, unless the user does not want it or a file uses the rules already.
    pub(super) fn make(
        choice: Option<RulesChoice>,
        scope: ScopeOption,
        overview: &Overview,
    ) -> Result<Option<Self>, CommandError> {
        let set = &overview.workspace.config.rules;
        let is_used = set.rules.iter().chain(&set.off).any(|rule| rule.origin.is_built_in);
        if choice == Some(RulesChoice::Off) || is_used {
            return Ok(None);
        }
        let here = CurrentProject::locate()?;
        let layer = if scope == ScopeOption::User { ConfigLayer::User } else { ConfigLayer::Project };
        let is_watched = choice == Some(RulesChoice::Watch);
        let edit = RuleFileEdit::open(&here, layer).and_then(|mut edit| {
            let is_changed = edit.use_set(BASELINE_NAME, is_watched)?;
            Ok(is_changed.then_some(edit))
        });
        match edit {
            Ok(edit) => Ok(edit.map(|edit| Self { layer, choice, edit })),
            Err(why) => {
                eprintln!("[provost] the built-in rules are not proposed: {why}");
                Ok(None)
            }
        }
    }

    /// Shows what would change.
    pub(super) fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let count = read_baseline(self.layer, None).len();
        let effect = match self.choice {
            Some(RulesChoice::Watch) => "are judged and recorded, but not enforced",
            _ => "deny what destroys files outside the project, and ask where work could be lost",
        };
        let other = match self.choice {
            Some(_) => "",
            None => {
                " With `--rules watch`, they only record what they would deny; `--rules off` leaves them out."
            }
        };
        print_sentence(out, &format!("Rules: the {count} built-in rules {effect}.{other}"))?;
        writeln!(out)?;
        self.edit.as_file_change().print_diff(out)
    }

    /// Asks the user whether the rules are enforced or only watched, where nobody has said so yet.
    pub(super) fn confirm(&mut self, out: &mut impl Write, is_agreed: bool) -> Result<bool, CommandError> {
        if is_agreed || self.choice.is_some() || !io::stdin().is_terminal() {
            return Ok(true);
        }
        write!(out, "Use the built-in rules? [Y]es, [w]atch only, [n]o: ")?;
        out.flush()?;
        let mut answer = String::new();
        let count = io::stdin().lock().read_line(&mut answer)?;
        match answer.trim().to_lowercase().as_str() {
            "" if count > 0 => Ok(true),
            "y" | "yes" => Ok(true),
            "w" | "watch" => {
                self.choice = Some(RulesChoice::Watch);
                self.edit.use_set(BASELINE_NAME, true).map_err(CommandError::Io)?;
                Ok(true)
            }
            _ => {
                print_sentence(
                    out,
                    "The built-in rules are not used; `provost rules add baseline` adds them later.",
                )?;
                Ok(false)
            }
        }
    }

    pub(super) fn write(self, out: &mut impl Write, overview: &Overview) -> Result<(), CommandError> {
        let file = overview.short_path(self.edit.path());
        let how = if self.choice == Some(RulesChoice::Watch) { "watched" } else { "enforced" };
        self.edit.write(&overview.workspace)?;
        let text = format!("Wrote {file}: the built-in rules are {how}. `provost rules` lists them.");
        Ok(print_sentence(out, &text)?)
    }
}
