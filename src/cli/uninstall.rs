//! `provost uninstall`: takes back what `init` wrote, and nothing else.
//!
//! Where nobody has changed the file since, it becomes byte by byte what it was; otherwise only Provost's
//! entries go. What a person has written by hand to call Provost is named and left.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::change::{self, Asking, Change, Screen, say, shown};
use super::screen::{width, wrapped};
use super::settings_file::{SettingsFile, Whose, home_of_client, short};
use super::{Exit, Outcome, Trouble, workspace_here};
use crate::clients::{Removed, Scope};
use crate::text::one_line;
use crate::workspace::Workspace;

/// Take Provost's hook entries out of the settings files again
///
/// Entries that call `provost hook` as `provost init` writes them go. If nothing else was changed since, the file
/// becomes what it was, byte by byte; a file that init has made is removed. What would change is shown first, and
/// you are asked. Configuration, journal and state stay where they are.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost uninstall --dry-run
  provost uninstall
  provost uninstall --scope user --yes

Exit codes: 0 done, or nothing to do, or --dry-run; 1 not confirmed, or a file had to be left;
74 a file cannot be written.")]
pub(crate) struct Uninstall {
    /// Whose settings file; without, all in which it is found
    #[arg(long, value_enum, value_name = "SCOPE")]
    scope: Option<Whose>,
    #[command(flatten)]
    asking: Asking,
}

/// A file that would change.
struct Plan {
    whose: Whose,
    change: Change,
    told: Removed,
    /// The file as it was before, where it is kept.
    kept: Option<PathBuf>,
    /// How many entries that call Provost were in it already.
    returning: usize,
}

impl Uninstall {
    pub(crate) fn run(self) -> Outcome {
        let (_, workspace) = workspace_here()?;
        let root = home_of_client(workspace.client, &workspace.start, &workspace.project);
        let mut out = Screen(anstream::stdout().lock());
        let mut plans: Vec<Plan> = Vec::new();
        let left = left(&root, &workspace);
        // A file that cannot be changed may have nothing to do with us, and must not keep the others.
        let mut obstacles: Vec<String> = Vec::new();
        for whose in self.scope.map_or(Whose::ALL.to_vec(), |scope| vec![scope]) {
            let planned = SettingsFile::find(whose, &root, &workspace).and_then(|file| {
                let (real, text) = (file.real.clone(), file.text.clone());
                let planned = plan(file, &workspace)?;
                if let Some(text) = text.filter(|_| planned.is_none() && !self.asking.is_dry()) {
                    change::finish(&real, &text, &workspace);
                }
                Ok(planned)
            });
            match planned {
                // A project in the home directory has one file for two scopes.
                Ok(Some(plan)) if !plans.iter().any(|known| known.change.real == plan.change.real) => {
                    plans.push(plan);
                }
                Ok(_) => {}
                Err((what, fix)) => obstacles.push(format!("{what}. To fix: {fix}.")),
            }
        }
        if plans.is_empty() && !obstacles.is_empty() {
            for obstacle in &obstacles {
                let text = format!("[provost] nothing was changed: {obstacle}");
                eprintln!("{}", wrapped(&one_line(&text), 0, width()));
            }
            return Ok(Exit::Found);
        }
        if plans.is_empty() {
            let place = self.scope.map_or("no settings file".into(), |scope| {
                format!("the settings file of the scope `{}`", scope.word())
            });
            let has = if self.scope.is_some() { "has no entries" } else { "has entries" };
            say(&mut out, &format!("There is nothing to do: {place} {has} of Provost."))?;
            tell_left(&mut out, &left)?;
            return Ok(Exit::Done);
        }
        for plan in &plans {
            plan.show(&mut out)?;
        }
        tell_left(&mut out, &left)?;
        for obstacle in &obstacles {
            say(&mut out, &format!("Left: {obstacle}"))?;
        }
        if let Some(end) = self.asking.ends(&mut out)? {
            return Ok(end);
        }
        for plan in &plans {
            plan.carry_out(&mut out, &root, &workspace)?;
        }
        farewell(&mut out, &workspace)?;
        Ok(if obstacles.is_empty() { Exit::Done } else { Exit::Found })
    }
}

/// What would become of a file; `None`: nothing.
fn plan(file: SettingsFile, workspace: &Workspace) -> Result<Option<Plan>, (String, String)> {
    let installation = &workspace.client.installation;
    let Some(text) = file.text.as_ref().filter(|text| !text.trim().is_empty()) else { return Ok(None) };
    // A file that was kept later, by a migration, has our entries in it.
    let kept = change::kept(&file.real).into_iter().find(|(_, text)| !(installation.is_in)(text));
    let before = kept.as_ref().map(|(_, text)| text.as_str());
    let told = (installation.remove)(text, before).map_err(|why| {
        let why = format!("{} is left as it is: {}", shown(&file.named), one_line(&why));
        (why, "mend the file in an editor, and run this again".to_owned())
    })?;
    if told.entries.is_empty() {
        return Ok(None);
    }
    if let Some(obstacle) = file.is_fixed() {
        return Err(obstacle);
    }
    let again = told.text.as_ref().and_then(|after| (installation.remove)(after, None).ok());
    let returning = again.map_or(0, |again| again.entries.len());
    let SettingsFile { whose, named, real, text } = file;
    let change = Change { named, real, before: text, after: told.text.clone() };
    Ok(Some(Plan { whose, change, told, kept: kept.map(|(place, _)| place), returning }))
}

impl Plan {
    fn show(&self, out: &mut impl Write) -> io::Result<()> {
        self.change.show(out)?;
        let entries = match self.told.entries.as_slice() {
            [entry] => format!("Removes 1 hook entry: {entry}"),
            entries => format!("Removes {} hook entries: {}", entries.len(), entries.join(", ")),
        };
        let rest = match (&self.change.after, self.told.is_restored) {
            (None, _) => ". Nothing else is in the file, so it is deleted",
            (Some(_), true) => ". The file becomes byte for byte what it was before",
            (Some(_), false) => ". Everything else stays",
        };
        say(out, &format!("{entries}{rest}."))?;
        let (back, they) = match self.returning {
            0 => return Ok(()),
            1 => ("1 of them comes back as it was".to_owned(), "it"),
            count => (format!("{count} of them come back as they were"), "them"),
        };
        say(
            out,
            &format!(
                "Left: {back}, because init found {they} there. To take {they} out too: run this again."
            ),
        )
    }

    fn carry_out(&self, out: &mut impl Write, root: &Path, workspace: &Workspace) -> Result<(), Trouble> {
        let forget = self.kept.as_deref().filter(|_| self.told.is_restored);
        self.change.carry_out(workspace, || false, forget)?;
        let short = |path: &Path| short(path, root, workspace.places.home.as_deref());
        let named = short(&self.change.named);
        if self.change.after.is_none() {
            say(out, &format!("Deleted {named}."))?;
            // It came with the file, and goes only if it is empty. The person's own is the client's to keep.
            let directory =
                self.change.real.parent().filter(|_| self.whose != Whose::User && self.kept.is_none());
            directory.map(crate::files::remove_directory);
        } else {
            let word = if self.told.is_restored { "as it was before" } else { "without Provost now" };
            say(out, &format!("{named} is {word}."))?;
        }
        match self.kept.as_ref().filter(|_| !self.told.is_restored) {
            Some(kept) => {
                Ok(say(out, &format!("The file from before Provost is still kept in {}.", short(kept)))?)
            }
            None => Ok(()),
        }
    }
}

/// What calls Provost and is not taken away.
fn left(root: &Path, workspace: &Workspace) -> Vec<String> {
    let mut found = Vec::new();
    for source in (workspace.client.registrations)(&workspace.places, root) {
        if let Scope::Plugin { name, .. } = &source.scope {
            if source.hooks.iter().any(|hook| hook.calls_provost) {
                let program = workspace.client.reviewer.program;
                found.push(format!(
                    "the plugin `{name}` brings Provost; `{program} plugin uninstall {name}` takes it away"
                ));
            }
            continue;
        }
        let is_managed = source.scope == Scope::Managed;
        for hook in source.hooks.iter().filter(|hook| {
            (hook.calls_provost && (is_managed || !hook.is_installed)) || hook.calls_stand_in()
        }) {
            found.push(format!(
                "{}, {}: `{}`, which init did not write",
                short(&source.file, root, workspace.places.home.as_deref()),
                hook.event,
                one_line(&hook.command)
            ));
        }
    }
    found
}

fn tell_left(out: &mut impl Write, left: &[String]) -> io::Result<()> {
    for text in left {
        say(out, &format!("Left: {text}."))?;
    }
    Ok(())
}

fn farewell(out: &mut impl Write, workspace: &Workspace) -> io::Result<()> {
    writeln!(out)?;
    say(out, "A running session keeps its guards until it ends.")?;
    let mut kept: Vec<String> = workspace.config.files.iter().map(|(_, file)| shown(file)).collect();
    kept.extend(workspace.places.state.iter().filter(|state| state.exists()).map(|state| shown(state)));
    if kept.is_empty() {
        return Ok(());
    }
    say(out, "Configuration, journal and state stay. To remove them as well:")?;
    for path in kept {
        writeln!(out, "  rm -r '{}'", path.replace('\'', "'\\''"))?;
    }
    Ok(())
}
