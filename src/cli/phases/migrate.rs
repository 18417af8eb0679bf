//! `provost phases migrate`: one entry for each event in place of a Node hook for each promise.
//!
//! A person's command: it shows what would change before anything does, keeps the old file, and puts
//! the new one in its place whole or not at all.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::cli::change::{self, Asking, Change, Screen, say, shown};
use crate::cli::{Exit, Outcome, Trouble};
use crate::clients::Migrated;
use crate::event::Event;
use crate::text::one_line;
use crate::workspace::Workspace;

/// Put Provost's hook entries in the place of the Node hooks of the phases
///
/// Entries of the settings file that call one of the 17 scripts that Provost stands in for
/// (`node …/hooks/gate-blocker.cjs`, or `provost compat gate-blocker`) go; one entry that calls Provost comes for
/// each event that the guards need. Everything else in the file stays as it is written. What would change is shown
/// first, and you are asked. The old file is kept beside the new one, as `settings.json.before-provost`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost phases migrate --dry-run
  provost phases migrate
  provost phases migrate --yes --settings FILE

Exit codes: 0 done, or there is nothing to do, or --dry-run; 1 it was not confirmed: nothing was changed;
74 the file cannot be read or written, or is no JSON object: nothing was changed.")]
pub(crate) struct Migrate {
    /// The settings file; without, the project's own ones
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    #[command(flatten)]
    asking: Asking,
}

/// A file that would change, and what a person is told about it.
struct Plan {
    change: Change,
    told: Migrated,
}

impl Migrate {
    pub(crate) fn run(self, event: &Event, workspace: &Workspace) -> Outcome {
        let files = match &self.settings {
            Some(file) => vec![event.cwd.join(file)],
            None => own_files(event, workspace),
        };
        let mut out = Screen(anstream::stdout().lock());
        let mut found = Vec::new();
        for named in files {
            let real = workspace.resolve(&named);
            match read(&real, &named)? {
                Some(before) => found.push((named, real, before)),
                None if self.settings.is_some() => {
                    return Err(Trouble::Io(format!("there is no file {}", shown(&named))));
                }
                None => {}
            }
        }
        let of_person = if self.settings.is_some() { Vec::new() } else { others(&found, workspace) };
        let mut plans: Vec<Plan> = Vec::new();
        let mut is_noted = false;
        for (named, real, before) in &found {
            // What one file of a project calls, the others need not.
            let mut elsewhere: Vec<String> = Vec::new();
            for (_, _, other) in found.iter().filter(|(other, ..)| other != named) {
                let told = (workspace.client.migration.rewrite)(other, &[]);
                elsewhere.extend(told.into_iter().flat_map(|told| told.calls));
            }
            elsewhere.extend(of_person.iter().flat_map(|(_, calls)| calls).cloned());
            elsewhere.extend(plans.iter().flat_map(|plan| &plan.told.added).map(|event| (*event).to_owned()));
            let mut told = (workspace.client.migration.rewrite)(before, &elsewhere).map_err(|why| {
                Trouble::Io(format!(
                    "{} is not changed: it is no JSON object ({}). To fix: mend the file, and run this again.",
                    shown(named),
                    one_line(&why)
                ))
            })?;
            if let Some(after) = told.text.take() {
                told.notes.extend(of_person.iter().map(|(file, _)| {
                    format!(
                        "Provost is called by {} already, by entries or by the plugin `isdlc`; a second call would \
                         count test runs twice, so what is there does not come. Whoever else works here needs the same",
                        shown(file)
                    )
                }));
                let (before, after) = (Some(before.clone()), Some(after));
                let change = Change { named: named.clone(), real: real.clone(), before, after };
                plans.push(Plan { change, told });
                continue;
            }
            if !self.asking.is_dry() {
                workspace.tidy(real);
            }
            for note in &told.notes {
                say(&mut out, &format!("{}: {note}.", shown(named)))?;
                is_noted = true;
            }
        }
        if plans.is_empty() {
            let names: Vec<String> = found.iter().map(|(named, ..)| shown(named)).collect();
            let text = match (names.as_slice(), is_noted) {
                ([], _) => "There is nothing to do: the project has no settings file.".to_owned(),
                (_, true) => "Nothing else calls a Node hook of the phases; nothing was changed.".to_owned(),
                (names, false) => format!(
                    "There is nothing to do: no entry of {} calls a Node hook of the phases.",
                    names.join(" and ")
                ),
            };
            say(&mut out, &text)?;
            return Ok(Exit::Done);
        }
        for plan in &plans {
            plan.show(&mut out)?;
        }
        if let Some(end) = self.asking.ends(&mut out)? {
            return Ok(end);
        }
        for plan in &plans {
            let kept = plan.change.carry_out(workspace, || true, None)?.unwrap_or_default();
            let named = shown(&plan.change.named);
            say(&mut out, &format!("{named} is changed; as it was, it is kept in {}.", shown(&kept)))?;
        }
        if !is_on_path() {
            say(
                &mut out,
                "Note: there is no program `provost` on the PATH, and without it the entries do nothing. To fix: \
                 `cargo install --path .` in its repository, or write its full path into the entries.",
            )?;
        }
        Ok(Exit::Done)
    }
}

/// The settings files of the nearest directory that has one, up to the root of the project.
fn own_files(event: &Event, workspace: &Workspace) -> Vec<PathBuf> {
    let here = workspace.resolve(&event.cwd);
    let within = |directory: &&Path| directory.starts_with(&workspace.project);
    let there = |directory: &Path| -> Vec<PathBuf> {
        let files = (workspace.client.migration.files)(directory);
        files.into_iter().filter(|file| workspace.exists(file)).collect()
    };
    here.ancestors().take_while(within).map(there).find(|files| !files.is_empty()).unwrap_or_default()
}

/// Files beside the project's own that have Provost called for this person, and for which events.
fn others(found: &[(PathBuf, PathBuf, String)], workspace: &Workspace) -> Vec<(PathBuf, Vec<String>)> {
    let is_own = |file: &PathBuf| {
        let real = workspace.resolve(file);
        found.iter().any(|(_, own, _)| *own == real)
    };
    let calls = |file: PathBuf| {
        let text = read(&workspace.resolve(&file), &file).ok()??;
        let calls = (workspace.client.migration.rewrite)(&text, &[]).ok()?.calls;
        (!calls.is_empty()).then_some((file, calls))
    };
    workspace.settings_files().into_iter().filter(|file| !is_own(file)).filter_map(calls).collect()
}

/// Whether the client would find the program that the new entries name.
fn is_on_path() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join("provost").is_file())
}

/// The text of a settings file; `None`: there is none.
fn read(real: &Path, named: &Path) -> Result<Option<String>, Trouble> {
    change::read(real).map_err(|why| Trouble::Io(format!("{} cannot be read: {why}", shown(named))))
}

impl Plan {
    fn show(&self, out: &mut impl Write) -> io::Result<()> {
        self.change.show(out)?;
        let removed = self.told.removed.len();
        let entries = if removed == 1 { "1 entry goes".into() } else { format!("{removed} entries go") };
        let added = match self.told.added.as_slice() {
            [] => "none has to come".to_owned(),
            events => format!("{} come: {}", events.len(), events.join(", ")),
        };
        say(out, &format!("{entries}; {added}."))?;
        for note in &self.told.notes {
            say(out, &format!("Note: {note}."))?;
        }
        Ok(())
    }
}
