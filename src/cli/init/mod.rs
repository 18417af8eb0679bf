//! `provost init`: adds Provost's hook entries to one of the client's settings files.
//!
//! It shows what it found and what would change before it changes anything, and refuses to register Provost twice
//! for one call. `uninstall` removes what it wrote.

mod entry_program;
mod findings;
pub(super) mod proposed_rules;
mod scope;
mod workflows;

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use super::file_change::{self, Confirmation, PipeTolerantOutput, SettingsFileEdit, printable_path};
use super::overview::Overview;
use super::overview::activation::{PLAN_GATE, SELF};
use super::screen::{BOLD, paint, print_sentence, wrap_line};
use super::settings_file::{ScopeOption, SettingsFile};
use super::{CommandError, CommandResult, Exit};
use crate::cli::client::require;
use crate::cli::current_client;
use crate::clients::{
    HookSource, HookSwitch, InstallReport, InstallRequest, NeededEntry, RegisteredHook, SettingsScope,
};
use crate::config::{ConfigLayer, settings};
use crate::places::resolve_path;
use crate::registry::{PACKS, RULES, WORKFLOW, list_guards_in};
use crate::reviewer;
use crate::text::{clip_line, make_one_line};
use entry_program::EntryProgram;
use findings::{PackChoice, find_packs};
use proposed_rules::{REVIEW_PACK, RulesChoice, RulesProposal};
use workflows::WorkflowProposal;

/// Add Provost's hooks to Claude Code
///
/// Shows what it found (the client, packs whose files exist, plugins, other hooks), then the change to the settings
/// file, and asks before it writes. Everything else in the file stays as it is. The previous file is kept beside it,
/// with `.before-provost` at the end of its name, and `provost uninstall` undoes everything.
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
  provost init --pack review     review every change until it is clean twice in a row
  provost init --rules watch     only record what the built-in rules would deny

Exit codes: 0 done, or nothing to do, or --dry-run; 1 refused or not confirmed; 74 the file
cannot be written. Unless it is done, nothing was changed.")]
pub(crate) struct Init {
    /// Whose settings file to write [default: where the entries are, or else local]
    #[arg(long, value_enum, value_name = "SCOPE")]
    scope: Option<ScopeOption>,
    /// A pack to add; may be given several times. `self`, `rules` and `workflow` are always added. `review` adds a rule
    /// with reviews to `provost.toml`
    #[arg(long, value_name = "NAME", value_parser = pack_names())]
    pack: Vec<String>,
    /// Whether the built-in rules are used [default: proposed when Provost is installed for the first time]
    #[arg(long, value_enum, value_name = "MODE")]
    rules: Option<RulesChoice>,
    #[command(flatten)]
    missing_program: MissingProgramOption,
    #[command(flatten)]
    confirmation: Confirmation,
}

/// What happens if Provost is missing.
#[derive(clap::Args)]
struct MissingProgramOption {
    /// If Provost is missing, block every tool call
    #[arg(long)]
    closed: bool,
    /// If Provost is missing, let tool calls continue unchecked, also where --closed was given before
    #[arg(long, conflicts_with = "closed")]
    open: bool,
}

fn pack_names() -> clap::builder::PossibleValuesParser {
    PACKS.iter().map(|pack| pack.name).chain([REVIEW_PACK]).collect::<Vec<_>>().into()
}

/// What is in the way, and how to fix it.
type Obstacle = (String, String);

impl Init {
    pub(crate) fn run(self) -> CommandResult {
        require(current_client().installation.as_ref(), "init")?;
        let overview = Overview::open_here()?;
        let workspace = &overview.workspace;
        let mut out = PipeTolerantOutput(anstream::stdout().lock());
        let (scope, scope_reason) = scope::choose(self.scope, &overview);
        let file = match SettingsFile::read(scope, &overview.settings_root, workspace) {
            Ok(file) => file,
            Err(obstacle) => return Ok(refuse(&obstacle)),
        };
        let scope = file.scope;
        let source = find_source(&file, &overview);
        let choices = self.choose_packs(scope, &overview, source);
        let packs: Vec<&str> =
            choices.iter().filter(|choice| choice.is_wanted).map(|choice| choice.pack).collect();
        let named = overview.short_path(&file.shown_path);
        let new = if file.text.is_none() { ", a new file" } else { "" };
        findings::show(&mut out, &overview, &format!("{named} ({}){new}", scope.name()), &choices)?;
        let closed = self.missing_program.closed
            || (!self.missing_program.open && source.is_some_and(|own| is_closed(own, &overview)));
        let guards = list_guards_in(&packs);
        // A user who has entries has decided about the rules before. A user who names packs wants only those.
        let is_first = !source.is_some_and(|source| source.hooks.iter().any(|hook| hook.is_installed));
        let is_baseline_wanted = self.rules.is_some() || is_first && self.pack.is_empty();
        let is_review_wanted = self.pack.iter().any(|pack| pack == REVIEW_PACK);
        let proposal =
            RulesProposal::make(self.rules, (is_baseline_wanted, is_review_wanted), scope, &overview)?;
        let mut entries = (overview.client.installation().list_needed_entries)(&guards, closed);
        let find_limit = |trigger| {
            let limits = guards.iter().map(|guard| {
                let more = proposal.as_ref().map(|proposal| proposal.find_more_time(guard, trigger));
                guard.command_limit(trigger, &workspace.config).unwrap_or_default() + more.unwrap_or_default()
            });
            limits.max().filter(|limit| !limit.is_zero())
        };
        (overview.client.installation().fit_timeouts)(&mut entries, &find_limit);
        let plan = EntryProgram::find(scope, &overview).and_then(|program| {
            let wanted = InstallRequest { program: program.name(), packs: &packs, entries: &entries };
            Ok((plan_change(&file, &wanted, &overview)?, program.notes))
        });
        let (installed, mut notes) = match plan {
            Ok(plan) => plan,
            Err(obstacle) => return Ok(refuse(&obstacle)),
        };
        // A user who names packs wants only those.
        let names_workflow = self.pack.is_empty() || self.pack.iter().any(|pack| pack == WORKFLOW);
        let workflows = if names_workflow { WorkflowProposal::make(scope, &overview)? } else { None };
        let InstallReport { text: Some(after), added, updated, removed } = installed else {
            if proposal.is_some() || workflows.is_some() {
                return self.apply_settings(&mut out, proposal, workflows, &overview);
            }
            print_sentence(&mut out, &format!("There is nothing to do: {named} has all entries."))?;
            if !self.confirmation.is_dry_run() {
                workspace.remove_leftovers(&file.real_path);
                remember_reviewer(&mut out, &overview)?;
            }
            return Ok(Exit::Done);
        };
        if let Some(reason) = scope_reason {
            print_sentence(&mut out, &reason)?;
        }
        self.explain_choices(&mut out, &choices, closed)?;
        notes.extend(scope::check_git_ignores(&file, &overview));
        notes.extend(find_notes(&overview, scope));
        let change = SettingsFileEdit {
            after: Some(after),
            before: file.text,
            shown_path: file.shown_path,
            real_path: file.real_path,
        };
        change.print_diff(&mut out)?;
        list_changes(&mut out, &added, &updated, &removed)?;
        for note in notes {
            print_sentence(&mut out, &format!("Note: {note}."))?;
        }
        if let Some(warning) = scope::warn_about_teammates(scope, &packs, closed, &overview) {
            print_sentence(&mut out, &warning)?;
        }
        if let Some(proposal) = &proposal {
            writeln!(out)?;
            proposal.print(&mut out)?;
        }
        if let Some(workflows) = &workflows {
            writeln!(out)?;
            workflows.print(&mut out)?;
        }
        if let Some(end) = self.confirmation.confirm(&mut out)? {
            return Ok(end);
        }
        // The rules come first: after an interruption, the next run finds no entries and proposes the rules again.
        if let Some(mut proposal) = proposal
            && proposal.confirm(&mut out, self.confirmation.is_agreed())?
        {
            proposal.write(&mut out, &overview)?;
        }
        if let Some(workflows) = workflows
            && WorkflowProposal::confirm(&mut out, self.confirmation.is_agreed())?
        {
            workflows.write(&mut out, &overview)?;
        }
        write(&mut out, &change, &overview)?;
        show_next_steps(&mut out, updated.is_empty() && removed.is_empty())?;
        Ok(Exit::Done)
    }

    /// Changes only `provost.toml`, because the entries are complete.
    fn apply_settings(
        &self,
        out: &mut impl Write,
        rules: Option<RulesProposal>,
        workflows: Option<WorkflowProposal>,
        overview: &Overview,
    ) -> CommandResult {
        if let Some(rules) = &rules {
            rules.print(out)?;
        }
        if let Some(workflows) = &workflows {
            workflows.print(out)?;
        }
        if let Some(end) = self.confirmation.confirm(out)? {
            return Ok(end);
        }
        if let Some(rules) = rules {
            rules.write(out, overview)?;
        }
        if let Some(workflows) = workflows {
            workflows.write(out, overview)?;
        }
        Ok(Exit::Done)
    }

    /// Which packs are added, in the order of the registry.
    fn choose_packs(
        &self,
        scope: ScopeOption,
        overview: &Overview,
        source: Option<&HookSource>,
    ) -> Vec<PackChoice> {
        let own = source.iter().flat_map(|source| &source.hooks).filter(|hook| hook.is_installed);
        let installed: Vec<&String> = own.flat_map(|hook| &hook.packs).collect();
        let is_installed = |pack: &str| installed.iter().any(|known| *known == pack);
        let gate = overview.workspace.config.configured_value(settings::PLAN_GATE_ENABLED);
        let is_gate_of_user = !matches!(gate, Some((ConfigLayer::Project, _)));
        // For entries in every project, the files of this one do not count.
        let counts = |pack: &str| scope != ScopeOption::User || (pack == PLAN_GATE && is_gate_of_user);
        let is_used = |pack: &str| is_installed(pack) || (counts(pack) && overview.find_sign(pack).is_some());
        let is_bare = match scope {
            ScopeOption::User => installed.is_empty(),
            _ => {
                !PACKS.iter().any(|pack| !matches!(pack.name, SELF | RULES | WORKFLOW) && is_used(pack.name))
            }
        };
        let names_only_review = self.pack.iter().all(|named| named == REVIEW_PACK) && !self.pack.is_empty();
        let choice = |pack: &'static str| {
            let is_named = self.pack.iter().any(|named| named == pack);
            let is_wanted = match (pack, self.pack.is_empty()) {
                // Rules can be written at any time, and then they must hold.
                (SELF | RULES | WORKFLOW, _) => true,
                // The rule with reviews needs no other pack, and takes none away.
                (_, false) if names_only_review => is_installed(pack),
                (_, false) => is_named,
                (_, true) => is_used(pack) || (is_bare && pack != PLAN_GATE),
            };
            let why = match (is_named, is_installed(pack)) {
                (true, _) => "you named it",
                (false, true) => "already installed",
                (false, false) => "",
            };
            PackChoice { pack, is_wanted, sign: overview.find_sign(pack), why }
        };
        PACKS.iter().map(|pack| choice(pack.name)).collect()
    }

    /// Explains the two choices that the user may want to make differently.
    fn explain_choices(&self, out: &mut impl Write, choices: &[PackChoice], closed: bool) -> io::Result<()> {
        let is_idle = |choice: &&PackChoice| {
            choice.is_wanted && !matches!(choice.pack, PLAN_GATE | RULES | WORKFLOW) && choice.sign.is_none()
        };
        let idle: Vec<&str> = choices.iter().filter(is_idle).map(|choice| choice.pack).collect();
        if self.pack.is_empty() && !idle.is_empty() {
            print_sentence(
                out,
                &format!(
                    "Inactive packs ({}) do nothing until their files appear. The plan gate blocks every plan that was \
                     not assessed, so it is added only with `--pack plan-gate` or `plan_gate.enabled`.",
                    idle.join(", ")
                ),
            )?;
        }
        let has_gate = choices.iter().any(|choice| choice.is_wanted && choice.pack == PLAN_GATE);
        let gate = if has_gate { "; only leaving plan mode is blocked" } else { "" };
        let text = if closed {
            "If Provost is missing, every tool call is blocked. With `--open`, tool calls would continue unchecked."
                .to_owned()
        } else {
            format!(
                "If Provost is missing, tool calls continue unchecked{gate}. With `--closed`, every tool call would be \
                 blocked."
            )
        };
        print_sentence(out, &text)?;
        writeln!(out)
    }
}

/// What the settings file registers now.
fn find_source<'a>(file: &SettingsFile, overview: &'a Overview) -> Option<&'a HookSource> {
    overview.sources().iter().find(|source| {
        !matches!(source.scope, SettingsScope::Plugin { .. } | SettingsScope::Managed)
            && resolve_path(&source.file) == file.real_path
    })
}

/// Whether an installed entry blocks everyday calls if Provost is missing. The plan gate's own entry always blocks.
fn is_closed(source: &HookSource, overview: &Overview) -> bool {
    let gate_entries =
        (overview.client.installation().list_needed_entries)(&list_guards_in(&[PLAN_GATE]), false);
    source.hooks.iter().filter(|hook| hook.is_installed && hook.blocks_on_failure).any(|hook| {
        let is_same =
            |needed: &&NeededEntry| needed.event == hook.event && needed.matcher == hook.matcher.as_deref();
        !gate_entries.iter().find(is_same).is_some_and(|needed| needed.blocks_on_failure)
    })
}

/// The new text of the file, or what is in the way.
fn plan_change(
    file: &SettingsFile,
    wanted: &InstallRequest<'_>,
    overview: &Overview,
) -> Result<InstallReport, Obstacle> {
    let named = printable_path(&file.shown_path);
    let text = file.text.as_deref();
    let invalid = |why: String| {
        let fix = "correct the file in an editor, and run this again".to_owned();
        (format!("{named} is not changed: {}", make_one_line(&why)), fix)
    };
    if text.is_some_and(|text| text.trim().is_empty()) {
        return Err((format!("{named} is empty"), "write `{}` into it, or delete it".into()));
    }
    let installed = (overview.client.installation().install_entries)(text, wanted).map_err(invalid)?;
    // The client would ignore an invalid file, with the new entries in it.
    (overview.client.installation().find_fault)(text).map_err(invalid)?;
    check_duplicates(file, wanted, overview)?;
    let read_only = if installed.text.is_some() { file.find_write_obstacle() } else { None };
    read_only.map_or(Ok(installed), Err)
}

/// Refuses entries with which the client would call Provost twice.
fn check_duplicates(
    file: &SettingsFile,
    wanted: &InstallRequest<'_>,
    overview: &Overview,
) -> Result<(), Obstacle> {
    /// How many characters of another entry's command are shown: enough to find it.
    const LONGEST_COMMAND: usize = 60;
    let program = overview.client.program();
    for source in overview.sources().iter().filter(|source| source.ignored_because.is_none()) {
        if let SettingsScope::Plugin { name, .. } = &source.scope {
            let both: Vec<&str> =
                find_packs(source).into_iter().filter(|pack| wanted.packs.contains(pack)).collect();
            if both.is_empty() {
                continue;
            }
            return Err((
                format!(
                    "the plugin `{name}` registers Provost already, for {}, so each call would be checked twice",
                    both.join(" and ")
                ),
                format!(
                    "use plugins only, of which there is one for each pack, or `{program} plugin disable {name}` and \
                     run this again"
                ),
            ));
        }
        let is_own = resolve_path(&source.file) == file.real_path;
        let is_duplicate = |hook: &&RegisteredHook| {
            hook.calls_provost
                && !(is_own && hook.is_installed)
                && wanted.entries.iter().any(|needed| needed.event == hook.event)
        };
        let Some(hook) = source.hooks.iter().find(is_duplicate) else { continue };
        let fix = match &source.scope {
            SettingsScope::Managed => {
                "nothing: your administrator has installed it, and one of them is enough".to_owned()
            }
            _ if is_own || !hook.is_installed => {
                "remove that entry from the file, and run this again".to_owned()
            }
            scope => {
                let word = ScopeOption::ALL
                    .into_iter()
                    .find(|known| known.to_client_scope() == *scope)
                    .map_or("", ScopeOption::name);
                format!(
                    "`provost init --scope {word}` to change those entries, or first `provost uninstall --scope {word}`"
                )
            }
        };
        let what = format!(
            "{} calls Provost already ({}: `{}`), so each call would be checked twice",
            overview.short_path(&source.file),
            hook.event,
            clip_line(&hook.command, LONGEST_COMMAND)
        );
        return Err((what, fix));
    }
    Ok(())
}

/// What the user should know about other settings and the directory.
fn find_notes(overview: &Overview, scope: ScopeOption) -> Vec<String> {
    let mut notes = Vec::new();
    for source in overview.sources() {
        let place = overview.short_path(&source.file);
        let is_off = |switch: &HookSwitch| {
            format!("{} in {place} keeps all hooks from running, also these", switch.name)
        };
        notes.extend(source.off_switches.iter().map(is_off));
        for hook in source.hooks.iter().filter(|hook| hook.calls_compat()) {
            notes.push(format!(
                "{place} also calls `provost compat` (`{}`), which stays as it is",
                make_one_line(&hook.command)
            ));
        }
    }
    if scope != ScopeOption::User && overview.workspace.start != overview.settings_root {
        notes.push(format!(
            "the client reads a project's settings only where it is started: start it in {}",
            printable_path(&overview.settings_root)
        ));
    }
    notes
}

/// Which entries are added, changed and removed, in one sentence each.
fn list_changes(
    out: &mut impl Write,
    added: &[String],
    updated: &[String],
    removed: &[String],
) -> io::Result<()> {
    let mut sentences = Vec::new();
    for (verb, entries) in [("Adds", added), ("Changes", updated), ("Removes", removed)] {
        match entries {
            [] => {}
            [entry] => sentences.push(format!("{verb} 1 hook entry: {entry}.")),
            _ => sentences.push(format!("{verb} {} hook entries: {}.", entries.len(), entries.join(", "))),
        }
    }
    print_sentence(out, &sentences.join(" "))
}

fn write(out: &mut impl Write, change: &SettingsFileEdit, overview: &Overview) -> Result<(), CommandError> {
    let newest = || file_change::read_backups(&change.real_path).into_iter().next();
    // `uninstall` needs the file from before the first entry, so a file with entries is not kept. An empty copy says
    // that there was no file. It is needed where an older copy would be taken for that file, and where `uninstall`
    // would delete a directory that was there before.
    let must_keep = || match &change.before {
        Some(before) if (overview.client.installation().has_installed_entries)(before) => false,
        Some(before) => newest().is_none_or(|(_, text)| text != *before),
        None => {
            newest().is_some_and(|(_, text)| !text.is_empty()) || is_in_empty_directory(&change.real_path)
        }
    };
    let copy = change.apply(&overview.workspace, must_keep, None)?;
    remember_reviewer(out, overview)?;
    let named = overview.short_path(&change.shown_path);
    let text = match (&change.before, copy.or_else(|| newest().map(|(copy, _)| copy))) {
        (Some(_), Some(copy)) => {
            format!("Wrote {named}. The file without Provost is kept as {}.", overview.short_path(&copy))
        }
        _ => format!("Wrote {named}."),
    };
    Ok(print_sentence(out, &text)?)
}

/// The reviewer that the user's own terminal finds is the one to trust.
fn remember_reviewer(out: &mut impl Write, overview: &Overview) -> io::Result<()> {
    let workspace = &overview.workspace;
    let Some(program) = reviewer::remember_reviewer(workspace, &workspace.start, true) else { return Ok(()) };
    let program = overview.short_path(&program);
    print_sentence(
        out,
        &format!("The reviewer {program} has changed; Provost trusts the new one from now on."),
    )
}

fn is_in_empty_directory(file: &Path) -> bool {
    let entries = file.parent().and_then(|directory| fs::read_dir(directory).ok());
    entries.is_some_and(|mut entries| entries.next().is_none())
}

fn show_next_steps(out: &mut impl Write, only_new: bool) -> io::Result<()> {
    writeln!(out, "\n{}", paint(BOLD, "Next"))?;
    writeln!(out, "  provost doctor   check that every hook entry works")?;
    writeln!(out, "  provost status   show what is guarded here\n")?;
    // The self pack does not let a running session change or remove Provost's entries.
    let text = if only_new {
        "A running session uses the entries within seconds, or after a restart. An interactive session first asks \
         whether you trust the directory."
    } else {
        "A running session keeps its entries; the next session uses the new ones."
    };
    print_sentence(out, text)
}

fn refuse((what, fix): &Obstacle) -> Exit {
    let text = format!("[provost] nothing was installed: {what}. To fix: {fix}.");
    eprintln!("{}", wrap_line(&text, 0));
    Exit::Problem
}
