//! `provost init`: adds Provost's hook entries to one of the client's settings files.
//!
//! A person's command: it shows what it found and what would change before anything does, and it says
//! no where two Provosts would be asked about one call. What it writes, `uninstall` takes back.

mod found;
mod program;
mod scope;

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use super::change::{self, Asking, Change, Screen, say, shown};
use super::screen::{BOLD, painted, width, wrapped};
use super::settings_file::{SettingsFile, Whose, home_of_client};
use super::{Exit, Outcome, Trouble, workspace_here};
use crate::clients::{self, Installed, Needed, Scope, Source, Switch, Wanted};
use crate::registry::PACKS;
use crate::reviewer;
use crate::text::{clipped, one_line};
use crate::workspace::{Workspace, resolve};
use found::{Choice, Found, GATE, SELF, packs_of};
use program::Program;
use scope::ScopeChoice;

/// Add Provost's hooks to Claude Code
///
/// Shows what it found (the client, packs whose files exist, plugins, other hooks), then the change to the settings
/// file, and asks before it writes. Everything else in the file stays as it is. The previous file is kept beside it,
/// with `.before-provost` behind its name, and `provost uninstall` undoes everything.
///
/// Without `--scope`, entries that are installed already are updated where they are. Otherwise they go into
/// `settings.local.json`, so that only your own sessions change. Without `--pack`, it adds the packs whose
/// files exist and those that are installed already; if there are none, those that do nothing until their files
/// appear.
///
/// Entries in the project scope are shared with your team. They call `provost` by its name, and where it is not
/// installed tool calls continue unchecked; one line says so when a session starts. Entries in the other scopes name
/// the program by a path that is still there after an update.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost init --dry-run         only show what would change
  provost init                   for you, in this project
  provost init --scope user      for you, in every project
  provost init --scope project   for everybody who works on this project
  provost init --pack plan-gate  block every plan until its weaknesses are written down

Exit codes: 0 done, or nothing to do, or --dry-run; 1 refused or not confirmed; 74 the file
cannot be written. Unless it is done, nothing was changed.")]
pub(crate) struct Init {
    /// Whose settings file to write [default: where the entries are, or else local]
    #[arg(long, value_enum, value_name = "SCOPE")]
    scope: Option<Whose>,
    /// A pack to add; may be given several times. `self` is always added
    #[arg(long, value_name = "NAME", value_parser = pack_names())]
    pack: Vec<String>,
    #[command(flatten)]
    without: Without,
    #[command(flatten)]
    asking: Asking,
}

/// What happens if Provost is missing.
#[derive(clap::Args)]
struct Without {
    /// If Provost is missing, block every tool call
    #[arg(long)]
    closed: bool,
    /// If Provost is missing, let tool calls continue unchecked, also where --closed was given before
    #[arg(long, conflicts_with = "closed")]
    open: bool,
}

fn pack_names() -> clap::builder::PossibleValuesParser {
    PACKS.iter().map(|pack| pack.name).collect::<Vec<_>>().into()
}

/// What is in the way, and how to get it out.
type Obstacle = (String, String);

impl Init {
    pub(crate) fn run(self) -> Outcome {
        let (_, workspace) = workspace_here()?;
        let root = home_of_client(workspace.client, &workspace.start, &workspace.project);
        let found = Found::look(root, &workspace);
        let mut out = Screen(anstream::stdout().lock());
        let home = workspace.places.home.as_deref();
        let chosen = ScopeChoice::choose(self.scope, &found, home);
        let file = match SettingsFile::find(chosen.whose, &found.root, &workspace) {
            Ok(file) => file,
            Err(obstacle) => return Ok(refused(&obstacle)),
        };
        let own = own_source(&file, &found);
        let choices = self.choices(file.whose, &found, own);
        let packs: Vec<&str> =
            choices.iter().filter(|choice| choice.is_wanted).map(|choice| choice.pack).collect();
        let place = match &file.text {
            Some(_) => format!("{} ({})", found.short(&file.named), file.whose.word()),
            None => format!("{} ({}), a new file", found.short(&file.named), file.whose.word()),
        };
        found.show(&mut out, &place, &choices)?;
        let closed = self.without.closed || (!self.without.open && own.is_some_and(is_closed));
        let entries = (workspace.client.needed)(&packs, closed);
        let planned = Program::find(file.whose, home, &found.root).and_then(|program| {
            let wanted = Wanted { program: program.name(), packs: &packs, entries: &entries };
            let told = plan(&file, &wanted, &found, &workspace)?;
            Ok((program, told))
        });
        let (program, told) = match planned {
            Ok(planned) => planned,
            Err(obstacle) => return Ok(refused(&obstacle)),
        };
        let Installed { text: Some(after), added, updated, removed } = told else {
            say(&mut out, &format!("There is nothing to do: {} has all entries.", found.short(&file.named)))?;
            if !self.asking.is_dry() {
                workspace.tidy(&file.real);
                remember_reviewer(&mut out, &found, &workspace)?;
            }
            return Ok(Exit::Done);
        };
        if let Some(why) = chosen.explanation() {
            say(&mut out, &why)?;
        }
        self.explain(&mut out, &found, &packs, closed)?;
        let shared = scope::warn_about_teammates(file.whose, &packs, closed);
        let whose = file.whose;
        let not_ignored = scope::check_git_ignores(&file, &found);
        let change = Change { after: Some(after), before: file.text, named: file.named, real: file.real };
        change.show(&mut out)?;
        tell(&mut out, &added, &updated, &removed)?;
        let mut notes = program.notes;
        notes.extend(not_ignored);
        notes.extend(surroundings(&found, &workspace, whose));
        for note in notes {
            say(&mut out, &format!("Note: {note}."))?;
        }
        if let Some(warning) = shared {
            say(&mut out, &warning)?;
        }
        if let Some(end) = self.asking.ends(&mut out)? {
            return Ok(end);
        }
        write(&mut out, &change, &found, &workspace)?;
        next(&mut out, updated.is_empty() && removed.is_empty())?;
        Ok(Exit::Done)
    }

    /// Which packs are wanted, in the order of the registry.
    fn choices(&self, whose: Whose, found: &Found, own: Option<&Source>) -> Vec<Choice> {
        let installed = own.map(installed_packs).unwrap_or_default();
        let is_installed = |pack: &str| installed.iter().any(|known| known == pack);
        // What is in this project says nothing about the others.
        let counts = |pack: &str| whose != Whose::User || (pack == GATE && !found.gate_is_of_project);
        let there = |pack: &str| is_installed(pack) || (counts(pack) && found.sign(pack).is_some());
        let is_bare = match whose {
            Whose::User => installed.is_empty(),
            _ => !PACKS.iter().any(|pack| pack.name != SELF && there(pack.name)),
        };
        let choice = |pack: &'static str| {
            let is_named = self.pack.iter().any(|named| named == pack);
            let is_wanted = match (pack, self.pack.is_empty()) {
                (SELF, _) => true,
                (_, false) => is_named,
                (_, true) => there(pack) || (is_bare && pack != GATE),
            };
            let why = match (is_named, is_installed(pack)) {
                (true, _) => "you named it",
                (false, true) => "already installed",
                (false, false) => "",
            };
            Choice { pack, is_wanted, why }
        };
        PACKS.iter().map(|pack| choice(pack.name)).collect()
    }

    /// The two choices that the user may want to make differently.
    fn explain(&self, out: &mut impl Write, found: &Found, packs: &[&str], closed: bool) -> io::Result<()> {
        let idle: Vec<&str> =
            packs.iter().copied().filter(|pack| *pack != GATE && found.sign(pack).is_none()).collect();
        if self.pack.is_empty() && !idle.is_empty() {
            say(
                out,
                &format!(
                    "Inactive packs ({}) do nothing until their files appear. The plan gate blocks every plan that was \
                     not assessed, so it is added only with `--pack plan-gate` or `plan_gate.enabled`.",
                    idle.join(", ")
                ),
            )?;
        }
        let held = if packs.contains(&GATE) { "; only leaving plan mode is blocked" } else { "" };
        let text = if closed {
            "If Provost is missing, every tool call is blocked. With `--open`, tool calls would continue unchecked."
                .to_owned()
        } else {
            format!(
                "If Provost is missing, tool calls continue unchecked{held}. With `--closed`, every tool call would be \
                 blocked."
            )
        };
        say(out, &text)?;
        writeln!(out)
    }
}

/// What the file registers now.
fn own_source<'a>(file: &SettingsFile, found: &'a Found) -> Option<&'a Source> {
    found.sources.iter().find(|source| {
        !matches!(source.scope, Scope::Plugin { .. } | Scope::Managed) && resolve(&source.file) == file.real
    })
}

/// The packs that entries name which are installed.
fn installed_packs(source: &Source) -> Vec<String> {
    let own = source.hooks.iter().filter(|hook| hook.is_installed);
    own.flat_map(|hook| hook.packs.iter().cloned()).collect()
}

/// Whether everyday calls are stopped where Provost cannot be run, by an entry that is installed.
fn is_closed(source: &Source) -> bool {
    let of_gate = (clients::DEFAULT.needed)(&[GATE], false);
    source.hooks.iter().filter(|hook| hook.is_installed && hook.blocks_on_failure).any(|hook| {
        let is_same =
            |needed: &&Needed| needed.event == hook.event && needed.matcher == hook.matcher.as_deref();
        !of_gate.iter().find(is_same).is_some_and(|needed| needed.blocks_on_failure)
    })
}

/// What would become of the file, or what is in the way.
fn plan(
    file: &SettingsFile,
    wanted: &Wanted<'_>,
    found: &Found,
    workspace: &Workspace,
) -> Result<Installed, Obstacle> {
    let named = shown(&file.named);
    let mend = || "mend the file in an editor, and run this again".to_owned();
    if file.text.as_deref().is_some_and(|text| text.trim().is_empty()) {
        return Err((format!("{named} is empty"), "write `{}` into it, or take it away".into()));
    }
    let told = (workspace.client.installation.install)(file.text.as_deref(), wanted)
        .map_err(|why| (format!("{named} is not changed: {}", one_line(&why)), mend()))?;
    // The client would take nothing from such a file, whatever is written into it.
    (workspace.client.settings.read)(file.text.as_deref())
        .map_err(|why| (format!("{named} is not changed: {}", one_line(&why)), mend()))?;
    in_the_way(file, wanted, found)?;
    if told.text.is_some()
        && let Some(obstacle) = file.is_fixed()
    {
        return Err(obstacle);
    }
    Ok(told)
}

/// How many characters of another entry's command are shown: enough to find it.
const LONGEST_COMMAND: usize = 60;

/// Whether Provost would be asked twice.
fn in_the_way(file: &SettingsFile, wanted: &Wanted<'_>, found: &Found) -> Result<(), Obstacle> {
    let program = clients::DEFAULT.reviewer.program;
    for source in found.sources.iter().filter(|source| source.void.is_none()) {
        let place = found.short(&source.file);
        if let Scope::Plugin { name, .. } = &source.scope {
            let both: Vec<&str> =
                packs_of(source).into_iter().filter(|pack| wanted.packs.contains(pack)).collect();
            if !both.is_empty() {
                return Err((
                    format!(
                        "the plugin `{name}` registers Provost already, for {}, so each call would be checked twice",
                        both.join(" and ")
                    ),
                    format!(
                        "keep to plugins, of which there is one for each pack, or `{program} plugin disable {name}` \
                         and run this again"
                    ),
                ));
            }
            continue;
        }
        let is_own = resolve(&source.file) == file.real;
        let is_double = |hook: &&clients::Hook| {
            hook.calls_provost
                && !(is_own && hook.is_installed)
                && wanted.entries.iter().any(|needed: &Needed| needed.event == hook.event)
        };
        let Some(hook) = source.hooks.iter().find(is_double) else { continue };
        let what = format!(
            "{place} calls Provost already ({}: `{}`)",
            hook.event,
            clipped(&hook.command, LONGEST_COMMAND)
        );
        let fix = match (&source.scope, is_own || !hook.is_installed) {
            (Scope::Managed, _) => {
                "nothing: your administrator has installed it, and one of them is enough".to_owned()
            }
            (_, true) => "take that entry out of the file, and run this again".to_owned(),
            (scope, false) => {
                let word = word_of(scope);
                format!(
                    "`provost init --scope {word}` to change what is there, or first \
                     `provost uninstall --scope {word}`"
                )
            }
        };
        return Err((format!("{what}, so each call would be checked twice"), fix));
    }
    Ok(())
}

fn word_of(scope: &Scope) -> &'static str {
    match scope {
        Scope::User => Whose::User.word(),
        Scope::Local => Whose::Local.word(),
        _ => Whose::Project.word(),
    }
}

/// What a person should know about the place.
fn surroundings(found: &Found, workspace: &Workspace, whose: Whose) -> Vec<String> {
    let mut notes = Vec::new();
    for source in &found.sources {
        let place = found.short(&source.file);
        let keeps =
            |switch: &Switch| format!("{} in {place} keeps all hooks from running, also these", switch.name);
        notes.extend(source.off.iter().map(keeps));
        for hook in source.hooks.iter().filter(|hook| hook.calls_stand_in()) {
            notes.push(format!(
                "{place} calls a stand-in for a script (`{}`), which is asked besides; it is left as it is",
                one_line(&hook.command)
            ));
        }
    }
    if whose != Whose::User && workspace.start != found.root {
        notes.push(format!(
            "the client reads a project's settings only where it is started: start it in {}",
            shown(&found.root)
        ));
    }
    notes
}

/// Which entries are added, changed and removed, in one sentence each.
fn tell(out: &mut impl Write, added: &[String], updated: &[String], removed: &[String]) -> io::Result<()> {
    let mut parts = Vec::new();
    for (verb, entries) in [("Adds", added), ("Changes", updated), ("Removes", removed)] {
        match entries {
            [] => {}
            [entry] => parts.push(format!("{verb} 1 hook entry: {entry}.")),
            _ => parts.push(format!("{verb} {} hook entries: {}.", entries.len(), entries.join(", "))),
        }
    }
    say(out, &parts.join(" "))
}

fn write(out: &mut impl Write, change: &Change, found: &Found, workspace: &Workspace) -> Result<(), Trouble> {
    let newest = || change::kept(&change.real).into_iter().next();
    // What uninstall needs is the file as it was before the first entry came, so that one is not followed by
    // others. That there was no file is marked where an older state would be taken for it, and where its
    // directory would be taken for one that came with it.
    let keep = || match &change.before {
        Some(before) if (workspace.client.installation.is_in)(before) => false,
        Some(before) => newest().is_none_or(|(_, text)| text != *before),
        None => newest().is_some_and(|(_, text)| !text.is_empty()) || is_in_empty_directory(&change.real),
    };
    let place = change.carry_out(workspace, keep, None)?;
    remember_reviewer(out, found, workspace)?;
    let named = found.short(&change.named);
    let text = match (&change.before, place.or_else(|| newest().map(|(place, _)| place))) {
        (Some(_), Some(kept)) => {
            format!("Wrote {named}. The file without Provost is kept as {}.", found.short(&kept))
        }
        _ => format!("Wrote {named}."),
    };
    Ok(say(out, &text)?)
}

/// The user's own terminal says which program reviews.
fn remember_reviewer(out: &mut impl Write, found: &Found, workspace: &Workspace) -> io::Result<()> {
    let Some(program) = reviewer::remember(workspace, &workspace.start, true) else { return Ok(()) };
    let program = found.short(&program);
    say(out, &format!("The reviewer {program} has changed; from now on it is the one that Provost starts."))
}

fn is_in_empty_directory(file: &Path) -> bool {
    let entries = file.parent().and_then(|directory| fs::read_dir(directory).ok());
    entries.is_some_and(|mut entries| entries.next().is_none())
}

fn next(out: &mut impl Write, only_new: bool) -> io::Result<()> {
    writeln!(out)?;
    writeln!(out, "{}", painted(BOLD, "Next"))?;
    writeln!(out, "  provost doctor   check that every hook entry works")?;
    writeln!(out, "  provost status   show what is guarded here")?;
    writeln!(out)?;
    // In a running session no entry of Provost's is changed or taken away.
    let text = if only_new {
        "A running session uses the entries within seconds, or after a restart. An interactive session first asks \
         whether you trust the directory."
    } else {
        "A running session keeps its entries; the next session uses the new ones."
    };
    say(out, text)
}

fn refused((what, fix): &Obstacle) -> Exit {
    let text = format!("[provost] nothing was installed: {what}. To fix: {fix}.");
    eprintln!("{}", wrapped(&one_line(&text), 0, width()));
    Exit::Found
}
