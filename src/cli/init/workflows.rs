//! Proposes the spec-driven workflows that the project has, so that their work waits for an approval.
//!
//! They go into the project's `provost.toml`. Entries for every project propose none, because the files of this one say
//! nothing about the others.

use std::io::{self, BufRead, IsTerminal, Write};

use crate::cli::overview::Overview;
use crate::cli::overview::instances::find_unused;
use crate::cli::rules::RuleFileEdit;
use crate::cli::screen::print_sentence;
use crate::cli::settings_file::ScopeOption;
use crate::cli::{CommandError, CurrentProject};
use crate::config::ConfigLayer;

/// A change of `provost.toml` that the user has not agreed to yet.
pub(super) struct WorkflowProposal {
    names: Vec<&'static str>,
    edit: RuleFileEdit,
}

impl WorkflowProposal {
    pub(super) fn make(scope: ScopeOption, overview: &Overview) -> Result<Option<Self>, CommandError> {
        if scope == ScopeOption::User {
            return Ok(None);
        }
        let names = find_unused(&overview.cwd, &overview.workspace);
        if names.is_empty() {
            return Ok(None);
        }
        match open_edit(&names)? {
            Ok(edit) => Ok(Some(Self { names, edit })),
            Err(why) => {
                eprintln!("[provost] the workflows of this project are not proposed: {why}");
                Ok(None)
            }
        }
    }

    /// Shows what would change.
    pub(super) fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let text = format!(
            "Workflow: this project uses {}. Files outside of its planning directories stay as they are until you approve the \
             plan with the prompt `provost approve NAME`.",
            self.names.join(", ")
        );
        print_sentence(out, &text)?;
        writeln!(out)?;
        self.edit.as_file_change().print_diff(out)
    }

    /// Asks the user in a terminal.
    pub(super) fn confirm(out: &mut impl Write, is_agreed: bool) -> Result<bool, CommandError> {
        if is_agreed || !io::stdin().is_terminal() {
            return Ok(true);
        }
        write!(out, "Hold work until you approve its plan? [Y]es, [n]o: ")?;
        out.flush()?;
        let mut answer = String::new();
        let count = io::stdin().lock().read_line(&mut answer)?;
        Ok(count > 0 && matches!(answer.trim().to_lowercase().as_str(), "" | "y" | "yes"))
    }

    pub(super) fn write(self, out: &mut impl Write, overview: &Overview) -> Result<(), CommandError> {
        let file = overview.short_path(self.edit.path());
        // The rules may have been written meanwhile.
        let edit = open_edit(&self.names)?.map_err(CommandError::Io)?;
        edit.write(&overview.workspace)?;
        let text = format!(
            "Wrote {file}: work waits for your approval. `provost workflow status` shows what is open."
        );
        Ok(print_sentence(out, &text)?)
    }
}

fn open_edit(names: &[&str]) -> Result<Result<RuleFileEdit, String>, CommandError> {
    let here = CurrentProject::locate()?;
    Ok(RuleFileEdit::open(&here, ConfigLayer::Project).and_then(|mut edit| {
        edit.use_workflows(names)?;
        Ok(edit)
    }))
}
