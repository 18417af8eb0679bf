//! What `init` shows before it changes anything: the project, the client, the packs, and hooks of other tools.

use std::io::{self, Write};
use std::process::Command;

use crate::cli::file_change::printable_path;
use crate::cli::overview::activation::PackSign;
use crate::cli::overview::{Overview, add_new, ask_version};
use crate::cli::screen::{CYAN, DIM, GREEN, paint, print_labelled, wrap_line};
use crate::clients::{HookSource, SettingsScope};
use crate::config::settings;
use crate::phases::workflow_context;
use crate::registry::{PACKS, RULES, WORKFLOW};
use crate::review_loop::plan;
use crate::reviewer;
use crate::text::make_one_line;

/// Whether a pack is added.
pub(super) struct PackChoice {
    pub(super) pack: &'static str,
    pub(super) is_wanted: bool,
    /// What in the project shows that the pack is used.
    pub(super) sign: Option<PackSign>,
    /// Why it is wanted without a sign.
    pub(super) why: &'static str,
}

pub(super) fn show(
    out: &mut impl Write,
    overview: &Overview,
    settings: &str,
    packs: &[PackChoice],
) -> io::Result<()> {
    print_labelled(out, "project", &printable_path(&overview.settings_root))?;
    print_labelled(out, "client", &describe_client(overview))?;
    print_labelled(out, "settings", settings)?;
    print_labelled(out, "others", &make_one_line(&list_other_hooks(overview)))?;
    print_labelled(out, "plugins", &make_one_line(&list_plugins(overview.sources())))?;
    for (at, choice) in packs.iter().enumerate() {
        let word = if choice.is_wanted { paint(GREEN, "yes") } else { paint(DIM, "no ") };
        // The text begins after the label, the word and the name of the pack.
        let reason = wrap_line(&choice.describe(), 29);
        let label = paint(CYAN, &format!("{:9}", if at == 0 { "packs" } else { "" }));
        writeln!(out, "{label}  {word}  {:11}  {}", choice.pack, reason.trim_start())?;
    }
    writeln!(out)
}

impl PackChoice {
    /// Why the pack is added or left out.
    fn describe(&self) -> String {
        if let Some(sign) = self.sign.as_ref().map(PackSign::describe) {
            return if self.is_wanted { sign } else { format!("{sign} here, but you did not name it") };
        }
        let (article, needed) = match self.pack {
            "planner" => ("an ", "agent of `planner.agents`".to_owned()),
            "review-loop" => ("", format!("`{}`", plan::PLANS)),
            "phases" => ("", format!("`{}`", workflow_context::WORKFLOW_FOLDER)),
            RULES => return "there is no rule in `provost.toml` yet".to_owned(),
            WORKFLOW => return format!("`{}` names no workflow yet", settings::WORKFLOW_USE),
            _ if self.is_wanted => return self.why.to_owned(),
            _ => return format!("`{}` is not set", settings::PLAN_GATE_ENABLED),
        };
        match (self.is_wanted, self.why) {
            (true, "") => format!("inactive until there is {article}{needed}"),
            (true, why) => format!("{why}; inactive until there is {article}{needed}"),
            (false, _) => format!("there is no {needed}"),
        }
    }
}

/// Hooks that do not call Provost: how many, and where.
fn list_other_hooks(overview: &Overview) -> String {
    let mut places = Vec::new();
    for source in overview.sources() {
        let others = || source.hooks.iter().filter(|hook| !hook.calls_provost);
        let hooks = match others().count() {
            0 => continue,
            1 => "1 hook".to_owned(),
            count => format!("{count} hooks"),
        };
        let mut events: Vec<&str> = Vec::new();
        add_new(&mut events, others().map(|hook| hook.event.as_str()));
        let events = make_one_line(&events.join(", "));
        places.push(format!("{hooks} in {} ({events})", overview.name_source(source)));
    }
    if places.is_empty() { "no other hooks".into() } else { format!("{}; unchanged", places.join("; ")) }
}

/// The plugins that call Provost, with the packs that they ask.
fn list_plugins(sources: &[HookSource]) -> String {
    let describe = |source: &HookSource| match (&source.scope, find_packs(source).join(", ")) {
        (SettingsScope::Plugin { name, .. }, packs) if !packs.is_empty() => {
            Some(format!("{} ({packs})", make_one_line(name)))
        }
        _ => None,
    };
    let plugins: Vec<String> = sources.iter().filter_map(describe).collect();
    if plugins.is_empty() {
        "none with Provost".into()
    } else {
        format!("{}, with Provost", plugins.join(", "))
    }
}

/// The packs that the entries of a file or plugin ask. An entry that names none asks all.
pub(super) fn find_packs(source: &HookSource) -> Vec<&str> {
    let mut packs: Vec<&str> = Vec::new();
    for hook in source.hooks.iter().filter(|hook| hook.calls_provost) {
        let all = if hook.packs.is_empty() { PACKS } else { &[] };
        add_new(&mut packs, hook.packs.iter().map(String::as_str).chain(all.iter().map(|pack| pack.name)));
    }
    packs
}

/// The client's version and its program.
fn describe_client(overview: &Overview) -> String {
    let facts = &overview.client.facts;
    let Ok(program) = reviewer::find_client_program(facts, &overview.workspace.places) else {
        let name = overview.client.program();
        return format!("`{name}` not found; the entries take effect once it is installed");
    };
    let path = printable_path(&program);
    ask_version(&mut Command::new(&program))
        .map_or(path.clone(), |version| format!("{}, {path}", make_one_line(&version)))
}
