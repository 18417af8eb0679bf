//! Refuses commands that would act for Provost, for the client or for the user, and programs that get around the
//! guards: a client without hooks, a program that ends Provost, a link to a protected file, a copy of Provost.

use crate::prelude::*;
use crate::registry::find_overridable;
use std::path::Path;

use super::protected::Protection;
use super::refusal::{ProtectedFile, Refusal, Refused};
use super::tools::ToolCheck;
use provost_core::config::settings;
use provost_core::effect::Effect;
use provost_core::glob::matches_glob;
use provost_core::overrides::OverrideRequest;
use provost_core::places::is_provost_program;
use provost_core::rules::{RULE_PREFIX, TRUST_PROMPT, is_trust_prompt};
use provost_core::text::{self, shorten_name};
use provost_core::tool::Tool;
use provost_core::workflow::PromptRequest;
use provost_core::workspace::Workspace;

/// Refuses a variable that switches hooks off, or one of Provost's own, which silence it in the clients that it
/// starts.
pub(super) fn refuse_variable(name: &str, value: Option<&str>, workspace: &Workspace) -> Option<Refusal> {
    if workspace.client.settings.disarming_variables.contains(&name) && !matches!(value, Some("" | "0")) {
        return Some(refuse_unhooked_client(name));
    }
    name.starts_with("PROVOST_").then(|| {
        Refusal::new(
            format!("{} not set", text::quote_start(name)),
            "the variable is Provost's own, and could switch guards off",
            "run the command without it",
            format!("the command sets {name}"),
        )
        .permanent()
    })
}

/// Refuses a tool call that contains an override. A tool, such as a schedule, may put its text into the session later
/// as a prompt, and not every client marks it as one that the user did not type.
pub(super) fn refuse_override_text(tool: &Tool, workspace: &Workspace) -> Option<Refusal> {
    let Tool::Other { paths: texts, .. } = tool else { return None };
    texts.iter().filter_map(|text| text.to_str()).find_map(|text| refuse_prompt(text, workspace))
}

/// Refuses a text that would act for the user if it became a prompt.
fn refuse_prompt(text: &str, workspace: &Workspace) -> Option<Refusal> {
    refuse_override(text)
        .or_else(|| is_trust_prompt(text).then(refuse_trust))
        .or_else(|| refuse_approval(text, workspace))
}

fn refuse_approval(text: &str, workspace: &Workspace) -> Option<Refusal> {
    let config = &workspace.config;
    if !config.uses_workflows() {
        return None;
    }
    let by_command = config.words(settings::WORKFLOW_APPROVE_BY).iter().any(|by| by == "command");
    let tables = if by_command { config.list_workflows() } else { Vec::new() };
    PromptRequest::parse(text, &tables)?;
    let refusal = Refusal::new(
        format!("{} denied", text::quote_start(text)),
        "only the user can approve a plan",
        "ask the user to type it; the text of this call could become a prompt",
        "the call contains an approval".into(),
    );
    Some(refusal.permanent())
}

fn refuse_trust() -> Refusal {
    Refusal::new(
        format!("`{TRUST_PROMPT}` denied"),
        "only the user can trust the commands of a project",
        "continue without it, or ask the user to type it",
        "the call asks to trust the commands of rules".into(),
    )
    .permanent()
}

fn refuse_override(text: &str) -> Option<Refusal> {
    let guard = OverrideRequest::parse(text)?.guard;
    // A rule may be written later than the text.
    if !guard.starts_with(RULE_PREFIX) && find_overridable(guard).is_none() {
        return None;
    }
    let guard = shorten_name(guard);
    let refusal = Refusal::new(
        format!("`provost override {guard}` denied"),
        "only the user can type an override",
        "continue without it, or ask the user; the text of this call could become a prompt",
        format!("the call asks to override {guard}"),
    );
    Some(refusal.permanent())
}

/// A program as a command line starts it.
pub(super) struct StartedProgram<'a> {
    pub(super) program: &'a str,
    pub(super) arguments: &'a [String],
    /// The index of the argument before which words may be missing, because only the shell knows them.
    pub(super) unknown_from: Option<usize>,
}

impl<'a> StartedProgram<'a> {
    /// The call of Provost that this is, if any: by its name, by another name of the same file, or through the script
    /// of a plugin.
    fn as_provost_call(&self, directory: &Path, workspace: &Workspace) -> Option<StartedProgram<'a>> {
        const SHELLS: &[&str] = &["sh", "bash", "dash", "ash", "ksh", "zsh", "source", "."];
        let name = |program: &'a str| program.rsplit('/').next().unwrap_or(program);
        let is_script = |program: &'a str| name(program) == "provost.sh";
        // Most programs are named without a path, and need no lookup.
        let is_own = |program: &str| {
            let own = || workspace.own_program().and_then(|own| workspace.find_identity(&own));
            program.contains('/')
                && own().is_some_and(|own| workspace.find_identity(&directory.join(program)) == Some(own))
        };
        if is_provost_program(self.program) || is_script(self.program) || is_own(self.program) {
            return Some(StartedProgram { ..*self });
        }
        let (script, arguments) = self.arguments.split_first()?;
        let unknown_from = self.unknown_from.map(|at| at.saturating_sub(1));
        (SHELLS.contains(&name(self.program)) && is_script(script)).then_some(StartedProgram {
            program: script,
            arguments,
            unknown_from,
        })
    }

    /// Whether its arguments may begin with the words of this call.
    fn may_begin_with(&self, call: &str) -> bool {
        let certain = &self.arguments[..self.unknown_from.unwrap_or(self.arguments.len())];
        let agree = certain.iter().zip(call.split(' ')).all(|(word, called)| word == called);
        agree && (certain.len() >= call.split(' ').count() || self.unknown_from.is_some())
    }
}

impl ToolCheck<'_> {
    pub(super) fn refuse_run(&self, started: &StartedProgram<'_>, directory: &Path) -> Refused {
        let StartedProgram { program, arguments, .. } = *started;
        let name = program.rsplit('/').next().unwrap_or(program);
        let refusal = refuse_provost_call(started, directory, self.workspace)
            .or_else(|| refuse_ending_provost(name, arguments))
            .or_else(|| {
                let how = (self.workspace.client.settings.find_disarming_argument)(name, arguments)?;
                Some(refuse_unhooked_client(&how))
            });
        if refusal.is_none() && makes_links(name, arguments) {
            return self.refuse_link(arguments, directory);
        }
        Ok(refusal)
    }

    /// Refuses a link to a protected file: the agent could later write through it under a name that Provost does not
    /// know, even in the same command line.
    fn refuse_link(&self, arguments: &[String], directory: &Path) -> Refused {
        // Neither end of a link may be protected, so it does not matter which word is which.
        for operand in arguments.iter().filter(|word| !word.starts_with('-')) {
            let named = directory.join(operand);
            let real = self.workspace.resolve(&named);
            let file = match self.protected_files().find_protection(&named, &real)? {
                Protection::Own(file) => file,
                Protection::Settings if self.workspace.exists(&real) => ProtectedFile::Settings,
                _ => continue,
            };
            return Ok(Some(Refusal::for_own_file("linked", &real, file, self.workspace)));
        }
        Ok(None)
    }
}

/// Refuses calls of Provost that are not for tools. A forged event could remove what was registered, and a forged
/// prompt to another client could override a guard or trust a command.
fn refuse_provost_call(
    started: &StartedProgram<'_>,
    directory: &Path,
    workspace: &Workspace,
) -> Option<Refusal> {
    if let Some(refusal) = started.arguments.iter().find_map(|argument| refuse_prompt(argument, workspace)) {
        return Some(refusal);
    }
    let (call, why) = find_forbidden_command(&started.as_provost_call(directory, workspace)?)?;
    let refusal = Refusal::new(
        format!("`provost {call}` not run"),
        why,
        "ask the user to run it; `provost explain`, `journal` and `gate status` show what was decided",
        format!("the command calls provost {call}"),
    );
    Some(if why == ENTRIES || why == CONFIGURATION { refusal } else { refusal.permanent() })
}

const CONFIGURATION: &str = "it changes Provost's configuration";
const ENTRIES: &str = "it changes hook entries, which switch guards on and off";

/// The command of Provost that no tool may call, and why.
fn find_forbidden_command(started: &StartedProgram<'_>) -> Option<(&'static str, &'static str)> {
    const EVENT: &str = "a forged event could switch a guard off";
    const RECORD: &str = "a forged event could rewrite the record of a plan";
    const REVIEWER: &str = "a tool's environment could choose another reviewer than the user's";
    const COMMANDS: &[(&str, &str)] = &[
        ("rules add", CONFIGURATION),
        ("hook", EVENT),
        ("rules trust", "only the user can trust the commands of a project"),
        ("supervise", "no guard would see the command in its argument"),
        ("gate assess", REVIEWER),
        ("compat post_tool_use", RECORD),
        ("compat pre_tool_use", RECORD),
        ("review run", REVIEWER),
        ("phases migrate", ENTRIES),
        ("init", ENTRIES),
        ("uninstall", ENTRIES),
        ("compat stop-hook", REVIEWER),
    ];
    COMMANDS.iter().find(|(call, _)| started.may_begin_with(call)).copied()
}

/// Refuses to copy or link Provost's program: under another name, its calls would not be recognized.
pub(super) fn refuse_copy(effects: &[Effect], workspace: &Workspace) -> Option<Refusal> {
    let program = workspace.own_program()?;
    let own = workspace.find_identity(&program)?;
    let reads_own = |effect: &Effect| match effect {
        Effect::Read { path, .. } => workspace.find_identity(path) == Some(own),
        _ => false,
    };
    effects.iter().any(reads_own).then(|| {
        Refusal::new(
            "the program `provost` not copied or linked".into(),
            "under another name it could be given forged events",
            "call it by its own name, `provost`",
            format!("copies or links {}", program.display()),
        )
        .permanent()
    })
}

fn refuse_unhooked_client(how: &str) -> Refusal {
    Refusal::new(
        format!("a client with {} not started", text::quote_start(how)),
        "it would run without Provost's hooks",
        "start it without that; no guard would see what it does",
        format!("starts the client with {how}"),
    )
}

fn refuse_ending_provost(program: &str, arguments: &[String]) -> Option<Refusal> {
    ends_provost(program, arguments).then(|| {
        Refusal::new(
            format!("`{program}` not run"),
            "it would end Provost, whose hooks then check nothing",
            "end other processes by name or number",
            format!("{program} ends provost"),
        )
        .permanent()
    })
}

/// Whether `pkill` or `killall` with these arguments would match a running hook. `pkill` matches a part of the name,
/// with `-f` a part of the command line; `killall` matches the whole name.
fn ends_provost(program: &str, arguments: &[String]) -> bool {
    let has = |short: char, long: &str| {
        let is_short = |word: &str| word.starts_with('-') && !word.starts_with("--") && word.contains(short);
        arguments.iter().any(|word| word == long || is_short(word))
    };
    let running = match program {
        "pkill" if has('f', "--full") => "provost hook --pack",
        "pkill" | "killall" => "provost",
        _ => return false,
    };
    let is_whole = program == "killall" && !has('r', "--regexp");
    let fits = |pattern: &str| {
        let name = match pattern.rsplit_once('/') {
            Some((_, "")) => return false,
            Some((_, name)) => name,
            None => pattern,
        };
        if is_whole {
            return name == running;
        }
        let name = name.trim_start_matches('^').trim_end_matches('$');
        let name = name.replace(".*", "*").replace(".+", "*").replace('.', "?");
        matches_glob(&format!("*{name}*"), running)
    };
    let words = arguments.iter().filter(|word| !word.starts_with('-'));
    words.flat_map(|word| word.split('|')).any(fits)
}

fn makes_links(program: &str, arguments: &[String]) -> bool {
    match program {
        "ln" | "link" => true,
        "cp" => arguments.iter().any(|word| {
            let is_short = word.starts_with('-') && !word.starts_with("--");
            is_short && word.contains(['l', 's']) || word.starts_with("--l") || word.starts_with("--sy")
        }),
        _ => false,
    }
}
