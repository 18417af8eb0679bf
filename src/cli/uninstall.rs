//! `provost uninstall`: removes what `init` wrote, and nothing else.
//!
//! A file that was not changed since becomes byte for byte what it was; otherwise only Provost's entries are removed.
//! Entries that the user wrote by hand are listed and left.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::file_change::{self, Confirmation, PipeTolerantOutput, SettingsFileEdit, printable_path};
use super::screen::{print_sentence, wrap_line};
use super::settings_file::{ScopeOption, SettingsFile, find_client_root, shorten_path};
use super::{CommandError, CommandResult, Exit, open_current_workspace};
use crate::cli::client::require;
use crate::cli::current_client;
use crate::cli::init::proposed_rules::REVIEW_RULE_TEXT;
use crate::clients::{CLIENTS, RemovalReport, SettingsScope};
use crate::config::ConfigLayer;
use crate::places::resolve_path;
use crate::text::make_one_line;
use crate::workspace::Workspace;
use provost_files as files;

/// Remove Provost's hooks from Claude Code
///
/// Removes the hook entries that `provost init` wrote. If nothing else was changed since, the file becomes byte for
/// byte what it was; a file that `init` created is deleted. Shows the change first, and asks. Configuration,
/// journal and state stay.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost uninstall --dry-run
  provost uninstall
  provost uninstall --scope user --yes

Exit codes: 0 done, or nothing to do, or --dry-run; 1 not confirmed, or a file could not be
changed; 74 a file cannot be written.")]
pub(crate) struct Uninstall {
    /// Which settings file to change [default: all that have entries of Provost]
    #[arg(long, value_enum, value_name = "SCOPE")]
    scope: Option<ScopeOption>,
    #[command(flatten)]
    confirmation: Confirmation,
}

/// The removal of Provost's entries from one file.
struct Removal {
    scope: ScopeOption,
    change: SettingsFileEdit,
    result: RemovalReport,
    /// The backup of the file from before Provost.
    backup: Option<PathBuf>,
    /// How many entries of Provost the file had before `init`, and gets back.
    returning: usize,
}

impl Uninstall {
    pub(crate) fn run(self) -> CommandResult {
        require(current_client().installation.as_ref(), "uninstall")?;
        let (_, workspace) = open_current_workspace()?;
        let root = find_client_root(current_client(), &workspace.start, &workspace.project);
        let mut out = PipeTolerantOutput(anstream::stdout().lock());
        let mut removals: Vec<Removal> = Vec::new();
        let left = describe_other_entries(&root, &workspace);
        // A file that cannot be changed must not stop the removal from the others.
        let mut obstacles: Vec<String> = Vec::new();
        let has_file = |scope: &ScopeOption| {
            let scope = scope.to_client_scope();
            scope == SettingsScope::User || current_client().has_file(&scope, &workspace.places, &root)
        };
        let all = || ScopeOption::ALL.into_iter().filter(has_file).collect();
        for scope in self.scope.map_or_else(all, |scope| vec![scope]) {
            let removal = SettingsFile::read(scope, &root, &workspace).and_then(|file| {
                let (real, text) = (file.real_path.clone(), file.text.clone());
                let removal = plan_removal(file)?;
                if let Some(text) = text.filter(|_| removal.is_none() && !self.confirmation.is_dry_run()) {
                    file_change::clean_up_interrupted_change(&real, &text, &workspace);
                }
                Ok(removal)
            });
            match removal {
                // A project in the home directory has one file for two scopes.
                Ok(Some(removal))
                    if !removals.iter().any(|other| other.change.real_path == removal.change.real_path) =>
                {
                    removals.push(removal);
                }
                Ok(_) => {}
                Err((what, fix)) => obstacles.push(format!("{what}. To fix: {fix}.")),
            }
        }
        if removals.is_empty() && !obstacles.is_empty() {
            for obstacle in &obstacles {
                let text = format!("[provost] nothing was changed: {obstacle}");
                eprintln!("{}", wrap_line(&text, 0));
            }
            return Ok(Exit::Problem);
        }
        if removals.is_empty() {
            let why = self.scope.map_or("no settings file has entries of Provost".into(), |scope| {
                format!("the settings file of the scope `{}` has no entries of Provost", scope.name())
            });
            print_sentence(&mut out, &format!("There is nothing to do: {why}."))?;
        }
        for removal in &removals {
            removal.show(&mut out)?;
        }
        for text in left.iter().chain(&obstacles) {
            print_sentence(&mut out, &format!("Left: {text}"))?;
        }
        if removals.is_empty() {
            return Ok(Exit::Done);
        }
        if let Some(end) = self.confirmation.confirm(&mut out)? {
            return Ok(end);
        }
        // The entries go last: after an interruption, the next run finds them and removes the rest.
        let removed: Vec<&Path> = removals.iter().map(|removal| removal.change.real_path.as_path()).collect();
        if !has_other_entries(&removed, &root, &workspace) {
            remove_proposed_rules(&mut out, &workspace)?;
        }
        for removal in &removals {
            removal.carry_out(&mut out, &root, &workspace)?;
        }
        print_what_stays(&mut out, &workspace)?;
        Ok(if obstacles.is_empty() { Exit::Done } else { Exit::Problem })
    }
}

/// What would change in a file; `None`: nothing. The error is what is wrong, and how to fix it.
fn plan_removal(file: SettingsFile) -> Result<Option<Removal>, (String, String)> {
    let installation = current_client().installation();
    let Some(text) = file.text.as_ref().filter(|text| !text.trim().is_empty()) else { return Ok(None) };
    // A later backup, made by a migration, has Provost's entries in it.
    let backup = file_change::read_backups(&file.real_path)
        .into_iter()
        .find(|(_, text)| !(installation.has_installed_entries)(text));
    let before = backup.as_ref().map(|(_, text)| text.as_str());
    let result = (installation.remove_entries)(text, before).map_err(|why| {
        let why = format!("{} is left as it is: {}", printable_path(&file.shown_path), make_one_line(&why));
        (why, "correct the file in an editor, and run this again".to_owned())
    })?;
    if result.entries.is_empty() {
        return Ok(None);
    }
    if let Some(obstacle) = file.find_write_obstacle() {
        return Err(obstacle);
    }
    let second = result.text.as_ref().and_then(|after| (installation.remove_entries)(after, None).ok());
    let returning = second.map_or(0, |second| second.entries.len());
    let SettingsFile { scope, shown_path: named, real_path: real, text } = file;
    let change =
        SettingsFileEdit { shown_path: named, real_path: real, before: text, after: result.text.clone() };
    Ok(Some(Removal { scope, change, result, backup: backup.map(|(place, _)| place), returning }))
}

impl Removal {
    fn show(&self, out: &mut impl Write) -> io::Result<()> {
        self.change.print_diff(out)?;
        let entries = match self.result.entries.as_slice() {
            [entry] => format!("Removes 1 hook entry: {entry}"),
            entries => format!("Removes {} hook entries: {}", entries.len(), entries.join(", ")),
        };
        let rest = match (&self.change.after, self.result.is_restored) {
            (None, _) => ". Nothing else is in the file, so it is deleted",
            (Some(_), true) => ". The file becomes byte for byte what it was before",
            (Some(_), false) => ". Everything else stays",
        };
        print_sentence(out, &format!("{entries}{rest}."))?;
        let (entries, them) = match self.returning {
            0 => return Ok(()),
            1 => ("1 entry that was there before `init` is restored".to_owned(), "it"),
            count => (format!("{count} entries that were there before `init` are restored"), "them"),
        };
        print_sentence(out, &format!("Left: {entries}. To remove {them} too: run this again."))
    }

    fn carry_out(
        &self,
        out: &mut impl Write,
        root: &Path,
        workspace: &Workspace,
    ) -> Result<(), CommandError> {
        let forget = self.backup.as_deref().filter(|_| self.result.is_restored);
        self.change.apply(workspace, || false, forget)?;
        let short = |path: &Path| shorten_path(path, root, workspace.places.home.as_deref());
        let named = short(&self.change.shown_path);
        if self.change.after.is_none() {
            print_sentence(out, &format!("Deleted {named}."))?;
            // `init` created the directory, and it is removed only if it is empty. The user's own stays, because
            // the client needs it.
            let directory = self
                .change
                .real_path
                .parent()
                .filter(|_| self.scope != ScopeOption::User && self.backup.is_none());
            directory.map(provost_files::remove_directory);
        } else {
            let word = if self.result.is_restored { "as it was before" } else { "without Provost now" };
            print_sentence(out, &format!("{named} is {word}."))?;
        }
        if let Some(backup) = self.backup.as_ref().filter(|_| !self.result.is_restored) {
            print_sentence(out, &format!("The backup from before Provost stays: {}.", short(backup)))?;
        }
        Ok(())
    }
}

/// Lists the entries and plugins that call Provost and that `init` did not write, one sentence each.
fn describe_other_entries(root: &Path, workspace: &Workspace) -> Vec<String> {
    let mut sentences = Vec::new();
    for source in (current_client().installation().list_registrations)(&workspace.places, root) {
        if let SettingsScope::Plugin { name, .. } = &source.scope {
            if source.hooks.iter().any(|hook| hook.calls_provost) {
                let program = workspace.client.reviewer().program;
                sentences.push(format!(
                    "the plugin `{name}` contains Provost; `{program} plugin uninstall {name}` removes it."
                ));
            }
            continue;
        }
        let is_managed = source.scope == SettingsScope::Managed;
        for hook in source
            .hooks
            .iter()
            .filter(|hook| (hook.calls_provost && (is_managed || !hook.is_installed)) || hook.calls_compat())
        {
            sentences.push(format!(
                "{}, {}: `{}`, which `init` did not write.",
                shorten_path(&source.file, root, workspace.places.home.as_deref()),
                hook.event,
                make_one_line(&hook.command)
            ));
        }
    }
    sentences
}

/// Whether entries of Provost stay in another file of any client.
fn has_other_entries(removed: &[&Path], root: &Path, workspace: &Workspace) -> bool {
    let sources =
        CLIENTS.iter().flat_map(|client| (client.installation().list_registrations)(&workspace.places, root));
    let mut others = sources.filter(|source| !removed.contains(&resolve_path(&source.file).as_path()));
    others.any(|source| source.hooks.iter().any(|hook| hook.is_installed))
}

/// Removes from the user's and the project's `provost.toml` what `init` proposed, as far as it is unchanged, and the file if it had nothing
/// else.
fn remove_proposed_rules(out: &mut impl Write, workspace: &Workspace) -> io::Result<()> {
    const PROPOSED: [&str; 2] =
        ["[rules]\nuse = [\"baseline\"]\n", "[rules]\nuse = [\"baseline\"]\nmode = \"watch\"\n"];
    let own = workspace.config.files.iter().filter(|(layer, _)| *layer != ConfigLayer::Managed);
    for (layer, file) in own {
        let Ok(before) = fs::read_to_string(file) else { continue };
        let rest = remove_review_rule(&before);
        let kept = rest.as_deref().unwrap_or(&before);
        let named = printable_path(file);
        let is_proposed =
            rest.is_some() && kept.is_empty() || *layer == ConfigLayer::Project && PROPOSED.contains(&kept);
        if is_proposed {
            if files::remove_file(file).is_ok() {
                print_sentence(out, &format!("Deleted {named}, which had only rules that `init` proposes."))?;
            }
        } else if let Some(rest) = rest {
            let change = SettingsFileEdit {
                real_path: resolve_path(file),
                shown_path: file.clone(),
                before: Some(before.clone()),
                after: Some(rest),
            };
            if change.apply(workspace, || false, None).is_ok() {
                print_sentence(out, &format!("Removed the rule `review` from {named}."))?;
            }
        }
    }
    Ok(())
}

/// The text without the rule of `init --pack review`; `None` if it does not have the rule as it was written.
fn remove_review_rule(text: &str) -> Option<String> {
    let rule =
        if text.contains("\r\n") { REVIEW_RULE_TEXT.replace('\n', "\r\n") } else { REVIEW_RULE_TEXT.into() };
    let at = text.find(&rule)?;
    let (before, after) = (text[..at].trim_end(), &text[at + rule.len()..]);
    // More keys behind it belong to the rule.
    let is_whole = after.trim_start().is_empty() || after.trim_start().starts_with(['[', '#']);
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let joined = match (before.is_empty(), after.trim_start()) {
        (true, after) => after.to_owned(),
        (false, "") => format!("{before}{end}"),
        (false, after) => format!("{before}{end}{end}{after}"),
    };
    is_whole.then_some(joined)
}

fn print_what_stays(out: &mut impl Write, workspace: &Workspace) -> io::Result<()> {
    writeln!(out)?;
    print_sentence(out, "A running session keeps its guards until it ends.")?;
    let mut paths: Vec<String> = workspace
        .config
        .files
        .iter()
        .filter(|(_, file)| file.exists())
        .map(|(_, file)| printable_path(file))
        .collect();
    paths.extend(
        workspace.places.state.iter().filter(|state| state.exists()).map(|state| printable_path(state)),
    );
    if paths.is_empty() {
        return Ok(());
    }
    print_sentence(out, "Configuration, journal and state stay. To remove them too:")?;
    for path in paths {
        writeln!(out, "  rm -r '{}'", path.replace('\'', "'\\''"))?;
    }
    Ok(())
}
