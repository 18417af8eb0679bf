//! Commands that would speak for Provost, for the client or for the user.

use std::path::Path;

use super::refusal::Refusal;
use super::starts;
use crate::effect::Effect;
use crate::event::Tool;
use crate::overrides::Request;
use crate::text;
use crate::workspace::{Workspace, is_provost};

/// Provost's own variables silence it in the clients that it starts itself.
pub(super) fn variable(name: &str, value: Option<&str>, workspace: &Workspace) -> Option<Refusal> {
    if workspace.client.settings.disarming.contains(&name) && !matches!(value, Some("" | "0")) {
        return starts::without_hooks(name);
    }
    if !name.starts_with("PROVOST_") {
        return None;
    }
    Some(Refusal::never(
        format!("{} not set", text::excerpt(name)),
        "the variable is Provost's own, and could switch guards off",
        "run the command without it",
        format!("the command sets {name}"),
    ))
}

/// A tool may put a prompt into the session later, as a schedule does, and not every client tells
/// such a prompt from one that the user has typed.
pub(super) fn spoken(tool: &Tool) -> Option<Refusal> {
    let Tool::Other { paths: texts, .. } = tool else { return None };
    texts.iter().filter_map(|text| text.to_str()).find_map(override_refusal)
}

fn override_refusal(text: &str) -> Option<Refusal> {
    let guard = Request::read(text)?.overridable()?.name;
    Some(Refusal::never(
        format!("`provost override {guard}` denied"),
        "only the user can type an override",
        "continue without it, or ask the user; the text of this call could become a prompt",
        format!("the call asks to override {guard}"),
    ))
}

/// A program as a command line starts it.
pub(super) struct Started<'a> {
    pub(super) program: &'a str,
    pub(super) arguments: &'a [String],
    /// In front of which argument a word is missing that cannot be known.
    pub(super) unknown_from: Option<usize>,
}

impl<'a> Started<'a> {
    /// The call of Provost that this is: by its name, under another name of the same file, or through
    /// the script of a plugin.
    fn of_provost(&self, directory: &Path, workspace: &Workspace) -> Option<Started<'a>> {
        const SHELLS: &[&str] = &["sh", "bash", "dash", "ash", "ksh", "zsh", "source", "."];
        let name = |program: &'a str| program.rsplit('/').next().unwrap_or(program);
        let is_script = |program: &'a str| name(program) == "provost.sh";
        // Most programs are named without a path, and then nothing is looked up.
        let is_own = |program: &str| {
            let own = || workspace.program().and_then(|own| workspace.identity(&own));
            program.contains('/')
                && own().is_some_and(|own| workspace.identity(&directory.join(program)) == Some(own))
        };
        if is_provost(self.program) || is_script(self.program) || is_own(self.program) {
            return Some(Started { ..*self });
        }
        let (script, arguments) = self.arguments.split_first()?;
        let unknown_from = self.unknown_from.map(|at| at.saturating_sub(1));
        (SHELLS.contains(&name(self.program)) && is_script(script)).then_some(Started {
            program: script,
            arguments,
            unknown_from,
        })
    }

    /// Whether these may be its first words.
    fn may_begin_with(&self, call: &[&str]) -> bool {
        let certain = &self.arguments[..self.unknown_from.unwrap_or(self.arguments.len())];
        let agree = certain.iter().zip(call).all(|(word, called)| word == called);
        agree && (certain.len() >= call.len() || self.unknown_from.is_some())
    }
}

/// A forged event could make Provost forget what was registered; a forged prompt, to another client
/// of this session, could let a guard pass.
pub(super) fn run(started: &Started<'_>, directory: &Path, workspace: &Workspace) -> Option<Refusal> {
    if let Some(refusal) = started.arguments.iter().find_map(|argument| override_refusal(argument)) {
        return Some(refusal);
    }
    let (call, why) = forbidden(&started.of_provost(directory, workspace)?)?;
    let refuse = if why == ENTRIES { Refusal::new } else { Refusal::never };
    Some(refuse(
        format!("`provost {call}` not run"),
        why,
        "ask the user to run it; `provost explain`, `journal` and `gate status` show what was decided",
        format!("the command calls provost {call}"),
    ))
}

const ENTRIES: &str = "it changes hook entries, which switch guards on and off";

/// The commands of Provost that are not for tools, and why.
fn forbidden(started: &Started<'_>) -> Option<(&'static str, &'static str)> {
    const EVENT: &str = "a forged event could switch a guard off";
    const RECORD: &str = "a forged event could rewrite the record of a plan";
    const REVIEWER: &str = "a tool's environment could choose another reviewer than the user's";
    const COMMANDS: &[(&str, &[&str], &str)] = &[
        ("hook", &["hook"], EVENT),
        ("gate assess", &["gate", "assess"], REVIEWER),
        ("compat post_tool_use", &["compat", "post_tool_use"], RECORD),
        ("compat pre_tool_use", &["compat", "pre_tool_use"], RECORD),
        ("review run", &["review", "run"], REVIEWER),
        ("phases migrate", &["phases", "migrate"], ENTRIES),
        ("init", &["init"], ENTRIES),
        ("uninstall", &["uninstall"], ENTRIES),
        ("compat stop-hook", &["compat", "stop-hook"], REVIEWER),
    ];
    COMMANDS.iter().find(|(_, words, _)| started.may_begin_with(words)).map(|(call, _, why)| (*call, *why))
}

/// Under a name of its own, a copy of the program could be called unseen.
pub(super) fn copied(effects: &[Effect], workspace: &Workspace) -> Option<Refusal> {
    let program = workspace.program()?;
    let own = workspace.identity(&program)?;
    let is_own = |effect: &Effect| match effect {
        Effect::Read { path, .. } => workspace.identity(path) == Some(own),
        _ => false,
    };
    if !effects.iter().any(is_own) {
        return None;
    }
    Some(Refusal::never(
        "the program `provost` not copied or linked".into(),
        "under another name it could be given forged events",
        "call it by its own name, `provost`",
        format!("copies or links {}", program.display()),
    ))
}
