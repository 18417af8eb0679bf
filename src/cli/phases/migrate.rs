//! `provost phases migrate`: replaces the Node hooks of the phases by one Provost entry for each event.
//!
//! It shows what would change before anything does, keeps the old file, and replaces it whole or not at all.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::cli::client::require;
use crate::cli::current_client;
use crate::cli::file_change::{self, Confirmation, PipeTolerantOutput, SettingsFileEdit, printable_path};
use crate::cli::screen::print_sentence;
use crate::cli::{CommandError, CommandResult, Exit};
use crate::clients::MigrationReport;
use crate::event::Event;
use crate::text::make_one_line;
use crate::workspace::Workspace;

/// Replace the Node hooks of the phases by Provost's hook entries
///
/// Removes the entries of the settings file that call one of the 17 scripts that Provost replaces
/// (`node …/hooks/gate-blocker.cjs`, or `provost compat gate-blocker`), and adds one entry that calls Provost for each
/// event that the guards need. Everything else in the file stays as it is. It shows the change first and asks you. The
/// old file is kept beside the new one, as `settings.json.before-provost`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost phases migrate --dry-run
  provost phases migrate
  provost phases migrate --yes --settings FILE

Exit codes: 0 done, or there is nothing to do, or --dry-run; 1 not confirmed: nothing was changed;
74 the file cannot be read or written, or is not a JSON object: nothing was changed.")]
pub(crate) struct Migrate {
    /// The settings file [default: the project's own files]
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    #[command(flatten)]
    confirmation: Confirmation,
}

/// A settings file with its text.
struct FoundFile {
    named: PathBuf,
    real: PathBuf,
    text: String,
}

impl Migrate {
    pub(crate) fn run(self, event: &Event, workspace: &Workspace) -> CommandResult {
        require(current_client().migration.as_ref(), "phases migrate")?;
        let mut out = PipeTolerantOutput(anstream::stdout().lock());
        let files = self.find_files(event, workspace)?;
        let callers =
            if self.settings.is_some() { Vec::new() } else { find_other_callers(&files, workspace) };
        let mut plans: Vec<(SettingsFileEdit, MigrationReport)> = Vec::new();
        let mut has_notes = false;
        for file in &files {
            // Events for which another file calls Provost already, or will.
            let mut covered: Vec<String> = Vec::new();
            for other in files.iter().filter(|other| other.named != file.named) {
                covered.extend(rewrite(&other.text, &[]).into_iter().flat_map(|other| other.calls));
            }
            covered.extend(callers.iter().flat_map(|(_, calls)| calls).cloned());
            covered.extend(plans.iter().flat_map(|(_, plan)| &plan.added).map(|event| (*event).to_owned()));
            let mut migrated = rewrite(&file.text, &covered).map_err(|why| {
                CommandError::Io(format!(
                    "{} is not changed: it is not a JSON object ({}). To fix: correct the file, and run this again.",
                    printable_path(&file.named),
                    make_one_line(&why)
                ))
            })?;
            if let Some(after) = migrated.text.take() {
                migrated.notes.extend(callers.iter().map(|(caller, _)| {
                    format!(
                        "{} calls Provost already, by entries or by the plugin `isdlc`. A second call would count test \
                         runs twice, so those entries are not added. Everybody else who works here needs them too",
                        printable_path(caller)
                    )
                }));
                let (named, real) = (file.named.clone(), file.real.clone());
                let change = SettingsFileEdit {
                    shown_path: named,
                    real_path: real,
                    before: Some(file.text.clone()),
                    after: Some(after),
                };
                plans.push((change, migrated));
                continue;
            }
            if !self.confirmation.is_dry_run() {
                workspace.remove_leftovers(&file.real);
            }
            for note in &migrated.notes {
                print_sentence(&mut out, &format!("{}: {note}.", printable_path(&file.named)))?;
                has_notes = true;
            }
        }
        if plans.is_empty() {
            let names: Vec<String> = files.iter().map(|file| printable_path(&file.named)).collect();
            let text = match (names.as_slice(), has_notes) {
                ([], _) => "There is nothing to do: the project has no settings file.".to_owned(),
                (_, true) => "Nothing else calls a Node hook of the phases; nothing was changed.".to_owned(),
                (names, false) => format!(
                    "There is nothing to do: no entry of {} calls a Node hook of the phases.",
                    names.join(" and ")
                ),
            };
            print_sentence(&mut out, &text)?;
            return Ok(Exit::Done);
        }
        for (change, migrated) in &plans {
            show(&mut out, change, migrated)?;
        }
        if let Some(end) = self.confirmation.confirm(&mut out)? {
            return Ok(end);
        }
        for (change, _) in &plans {
            let copy = change.apply(workspace, || true, None)?.unwrap_or_default();
            print_sentence(
                &mut out,
                &format!(
                    "Wrote {}. The old file is kept as {}.",
                    printable_path(&change.shown_path),
                    printable_path(&copy)
                ),
            )?;
        }
        if !is_on_path() {
            print_sentence(
                &mut out,
                "Note: there is no program `provost` on the PATH, and without it the entries do nothing. To fix: \
                 `cargo install --path .` in its repository, or write its full path into the entries.",
            )?;
        }
        Ok(Exit::Done)
    }

    /// The named file, or the settings files of the nearest directory that has one, up to the root of the project.
    fn find_files(&self, event: &Event, workspace: &Workspace) -> Result<Vec<FoundFile>, CommandError> {
        let here = workspace.resolve(&event.cwd);
        let is_in_project = |directory: &&Path| directory.starts_with(&workspace.project);
        let list = |directory: &Path| -> Vec<PathBuf> {
            let files = (current_client().migration().list_settings_files)(directory);
            files.into_iter().filter(|file| workspace.exists(file)).collect()
        };
        let names = if let Some(file) = &self.settings {
            vec![event.cwd.join(file)]
        } else {
            let mut lists = here.ancestors().take_while(is_in_project).map(list);
            lists.find(|files| !files.is_empty()).unwrap_or_default()
        };
        let mut found = Vec::new();
        for named in names {
            let real = workspace.resolve(&named);
            match read(&real, &named)? {
                Some(text) => found.push(FoundFile { named, real, text }),
                None if self.settings.is_some() => {
                    return Err(CommandError::Io(format!("there is no file {}", printable_path(&named))));
                }
                None => {}
            }
        }
        Ok(found)
    }
}

/// The text without the Node hooks, with entries for all events that are not covered elsewhere.
fn rewrite(text: &str, covered: &[String]) -> Result<MigrationReport, String> {
    (current_client().migration().replace_scripts)(text, covered)
}

/// The user's other settings files that call Provost, and for which events.
fn find_other_callers(files: &[FoundFile], workspace: &Workspace) -> Vec<(PathBuf, Vec<String>)> {
    let is_own = |file: &PathBuf| files.iter().any(|own| own.real == workspace.resolve(file));
    let calls = |file: PathBuf| {
        let text = read(&workspace.resolve(&file), &file).ok()??;
        let calls = rewrite(&text, &[]).ok()?.calls;
        (!calls.is_empty()).then_some((file, calls))
    };
    workspace.list_settings_files().into_iter().filter(|file| !is_own(file)).filter_map(calls).collect()
}

/// Whether the client would find the program that the new entries name.
fn is_on_path() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join("provost").is_file())
}

/// The text of a settings file; `None`: there is no file.
fn read(real: &Path, named: &Path) -> Result<Option<String>, CommandError> {
    file_change::read_text(real)
        .map_err(|why| CommandError::Io(format!("{} cannot be read: {why}", printable_path(named))))
}

fn show(out: &mut impl Write, change: &SettingsFileEdit, migrated: &MigrationReport) -> io::Result<()> {
    change.print_diff(out)?;
    let removed = match migrated.removed.len() {
        1 => "Removes 1 entry".to_owned(),
        count => format!("Removes {count} entries"),
    };
    let added = match migrated.added.as_slice() {
        [] => "adds none".to_owned(),
        events => format!("adds {}: {}", events.len(), events.join(", ")),
    };
    print_sentence(out, &format!("{removed}; {added}."))?;
    for note in &migrated.notes {
        print_sentence(out, &format!("Note: {note}."))?;
    }
    Ok(())
}
