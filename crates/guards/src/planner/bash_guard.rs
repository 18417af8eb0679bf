//! Keeps a planner to reading: judges each of its tool calls by what the call would do.
//!
//! A command line passes if every program that it starts is listed, no option makes a program do more
//! than read, no variable decides what runs, and everything was parsed. Redirections and file tools may
//! write only to `planning/`. The checks run in the order in which their reasons help: an unlisted
//! program comes first.

use crate::prelude::*;
use std::path::{Path, PathBuf};

use super::planning::PlanningDirectory;
use provost_core::config::settings;
use provost_core::effect::Effect;
use provost_core::event::Event;
use provost_core::guard::is_agent_named;
use provost_core::opinion::{Denial, Fault, Opinion};
use provost_core::text::{self, make_one_line, truncate_utf16};
use provost_core::tool::Tool;
use provost_core::workspace::Workspace;
use provost_shell as shell;

/// Programs that only read, unless an option makes them do more: that is an [`Effect`] of its own.
const READERS: &[&str] = &[
    "find", "grep", "rg", "cat", "head", "tail", "wc", "ls", "tree", "file", "stat", "du", "df", "git",
    "flutter", "dart", "fvm", "test", "command", "which", "type", "pwd", "echo",
];
/// Builtins that only steer the shell itself.
const SHELL_CONTROL: &[&str] = &["cd", "true", "false", ":", "[", "[["];
/// Programs that read from files in their directory what to run.
const CONFIGURED: &[&str] = &["git", "flutter", "dart", "fvm"];
/// The longest name that a reason repeats, so that the start of the fix is still shown.
const LONGEST_NAME: usize = 24;
const LONGEST_LIST: usize = 1000;

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    let Some(call) = event.call() else { return Ok(Opinion::silent()) };
    let config = &workspace.config;
    let refusal = match &call.tool {
        Tool::Shell { command } if command.trim().is_empty() => Some(PlannerRefusal::new(
            "Empty command is not in the planner's allowlist",
            "give the command to run",
        )),
        Tool::Shell { .. }
        | Tool::Write { .. }
        | Tool::Edit { .. }
        | Tool::Notebook { .. }
        | Tool::Patch { .. } => PlannerRules::new(event, workspace).refuse(event.effects()),
        Tool::Delegate { agent, is_isolated, .. } => {
            let planners = config.words(settings::PLANNER_AGENTS);
            let kind = agent.as_deref().unwrap_or_default();
            if planners.iter().any(|name| is_agent_named(kind, name)) {
                is_isolated.then(|| refuse_isolation(kind))
            } else {
                Some(refuse_delegation(kind))
            }
        }
        Tool::Other { .. } => (!config.words(settings::PLANNER_TOOLS).contains(&call.native_tool))
            .then(|| refuse_tool(&call.native_tool)),
        Tool::Read { .. }
        | Tool::Skill { .. }
        | Tool::LeavePlanMode { .. }
        | Tool::Message { .. }
        | Tool::Inert => None,
    };
    Ok(refusal.map_or_else(Opinion::silent, |refusal| {
        let evidence = vec![refusal.why.clone()];
        Opinion::deny(refusal.into_denial(event), evidence)
    }))
}

struct PlannerRefusal {
    why: String,
    fix: String,
}

impl PlannerRefusal {
    fn new(why: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { why: why.into(), fix: fix.into() }
    }

    fn for_unlisted(what: &str, fix: impl Into<String>) -> Self {
        Self::new(format!("{what} is not in the planner's allowlist"), fix)
    }

    /// The denial: the call, then the sentence of the design document.
    fn into_denial(self, event: &Event) -> Denial {
        let what = format!("{} {BLOCKED}", event.subject());
        Denial { what, why: self.why, fix: self.fix, document_wording: Some(BLOCKED.into()) }
    }
}

/// The first word of every denial that the design document prescribes.
const BLOCKED: &str = "BLOCKED";

/// What a planner may do in this call.
struct PlannerRules<'a> {
    workspace: &'a Workspace,
    planning: PlanningDirectory<'a>,
    /// Programs that the user has added.
    added: Vec<String>,
    command: Option<&'a str>,
}

impl<'a> PlannerRules<'a> {
    fn new(event: &'a Event, workspace: &'a Workspace) -> Self {
        let command = match event.call().map(|call| &call.tool) {
            Some(Tool::Shell { command }) => Some(command.as_str()),
            _ => None,
        };
        Self {
            workspace,
            planning: PlanningDirectory::new(event, workspace),
            added: workspace.config.words(settings::PLANNER_ALLOW),
            command,
        }
    }

    fn refuse(&self, effects: &[Effect]) -> Option<PlannerRefusal> {
        let run = |checks: &[fn(&Self, &Effect) -> Option<PlannerRefusal>]| {
            checks.iter().find_map(|check| effects.iter().find_map(|effect| check(self, effect)))
        };
        if self.workspace.config.is_switched_on(settings::PLANNER_STRICT) {
            run(&[
                Self::refuse_program,
                Self::refuse_mutation,
                Self::refuse_directory,
                Self::refuse_variable,
                Self::refuse_write,
                Self::refuse_deletion,
                Self::refuse_size,
                Self::refuse_unparsed,
            ])
        } else {
            let first = self.command.and_then(|command| self.refuse_first_word(command));
            first.or_else(|| run(&[Self::refuse_write, Self::refuse_size]))
        }
    }

    /// The check of the plain mode: only the first word of a line counts, and it must be known.
    fn refuse_first_word(&self, command: &str) -> Option<PlannerRefusal> {
        match shell::find_first_word(command) {
            Some(name) => self.refuse_name(&name),
            None => Some(refuse_unknown("the first word")),
        }
    }

    fn refuse_program(&self, effect: &Effect) -> Option<PlannerRefusal> {
        let Effect::Run { program, .. } = effect else { return None };
        self.refuse_name(program)
    }

    fn refuse_name(&self, name: &str) -> Option<PlannerRefusal> {
        let is_added = || self.added.iter().any(|added| added == name);
        if READERS.contains(&name) || SHELL_CONTROL.contains(&name) || is_added() {
            return None;
        }
        let listed: Vec<&str> =
            READERS.iter().copied().chain(self.added.iter().map(String::as_str)).collect();
        // The list comes last, because a screen may cut it.
        let fix = format!(
            "use a program that only reads, leave it to the main conversation, or ask the user to add it to `{}` in \
             provost.toml; these only read, by their plain names: {}",
            settings::PLANNER_ALLOW,
            truncate_utf16(&make_one_line(&listed.join(" ")), LONGEST_LIST)
        );
        Some(PlannerRefusal::for_unlisted(&quote_name(name), fix))
    }

    /// Refuses a configured program in a directory where the planner may write its configuration.
    fn refuse_directory(&self, effect: &Effect) -> Option<PlannerRefusal> {
        let Effect::Run { program, arguments, directory, .. } = effect else { return None };
        if !CONFIGURED.contains(&program.as_str()) {
            return None;
        }
        let Some(directory) = directory else {
            let fix = format!(
                "run it alone, or directly behind `cd DIRECTORY &&`, as in `cd app && {program} …`: files in that \
                 directory tell it what to run, and a planner can write to {}/",
                self.planning.name
            );
            let why = format!("the directory in which '{program}' would run is not certain");
            return Some(PlannerRefusal::new(why, fix));
        };
        let places = list_directories(program, arguments);
        if !self.planning.is_at(directory)
            && !places.iter().any(|place| self.planning.is_at(&directory.join(place)))
        {
            return None;
        }
        let plans = &self.planning.name;
        let fix = format!(
            "run it in the project's own directory, as in `{program} … -- {plans}/…`: files in {plans}/ tell it what \
             to run, and a planner can write them"
        );
        Some(PlannerRefusal::new(format!("'{program}' may not run in {plans}/"), fix))
    }

    fn refuse_write(&self, effect: &Effect) -> Option<PlannerRefusal> {
        let plans = &self.planning.name;
        let landings = match effect {
            Effect::UnknownTarget { target, .. } => {
                let why = format!("output redirection to {}, which cannot be known", clip_name(target));
                return Some(PlannerRefusal::new(why, format!("write the path out: {plans}/NAME.md")));
            }
            Effect::Write { path, .. } | Effect::Touch { path } => vec![path.clone()],
            Effect::Place { names, to, .. } if self.workspace.is_directory(to) => {
                names.iter().map(|name| to.join(name)).collect()
            }
            Effect::Place { to, .. } => vec![to.clone()],
            _ => return None,
        };
        if let Some(file) = landings.iter().find(|path| self.planning.is_configuration(path)) {
            let name = text::quote_path_end(&self.planning.shorten_path(file));
            let fix = format!("write the plan to {plans}/NAME.md; a program could take orders from {name}");
            return Some(PlannerRefusal::new(format!("a planner may not write {name}"), fix));
        }
        let outside = landings.into_iter().find(|path| !self.is_writable(path))?;
        let named = self.planning.shorten_path(&outside);
        // A path that begins with `planning/` needs the place that it resolves to, to show what is wrong.
        let real = if Path::new(&named).starts_with(plans) {
            let real = self.planning.shorten_path(&self.workspace.resolve(&outside));
            format!(", which is {},", text::quote_path_end(&real))
        } else {
            String::new()
        };
        let (act, fix) = if self.command.is_some() {
            let fix = format!(
                "write to {plans}/NAME.md, or redirect to /dev/null; to join both streams, `2>&1` needs no file"
            );
            ("output redirection", fix)
        } else {
            ("a write", format!("write to {plans}/NAME.md"))
        };
        let fix = format!("{fix}; leave {}{real} to the main conversation", text::quote_path_end(&named));
        Some(PlannerRefusal::new(format!("{act} outside {plans}/"), fix))
    }

    fn is_writable(&self, path: &Path) -> bool {
        self.workspace.resolve(path) == Path::new("/dev/null") || self.planning.holds(path)
    }

    fn refuse_deletion(&self, effect: &Effect) -> Option<PlannerRefusal> {
        let Effect::Delete { path } = effect else { return None };
        let why = format!("it deletes or moves {}", text::quote_path_end(&self.planning.shorten_path(path)));
        Some(PlannerRefusal::new(
            why,
            "leave the file where it is; a planner deletes nothing, not even a plan",
        ))
    }

    /// Refuses a listed program that is asked to do more than read.
    fn refuse_mutation(_: &Self, effect: &Effect) -> Option<PlannerRefusal> {
        let (name, does) = match effect {
            Effect::MutatingOption { program, by, does } => (format!("{program} {by}"), *does),
            Effect::Commit { dry_run: false, .. } => ("git commit".into(), "makes a commit"),
            _ => return None,
        };
        let fix = format!(
            "use a form that only reads, or leave this step to the main conversation; `{}` {does}",
            text::make_one_line(&name)
        );
        Some(PlannerRefusal::for_unlisted(&quote_name(&name), fix))
    }

    fn refuse_variable(_: &Self, effect: &Effect) -> Option<PlannerRefusal> {
        let Effect::SetVariable { name, value } = effect else { return None };
        let fix = "leave it out; it can make a listed program run another one";
        shell::variable_steers_programs(name, value.as_deref())
            .then(|| PlannerRefusal::for_unlisted(&format!("the variable {}", quote_name(name)), fix))
    }

    fn refuse_size(_: &Self, effect: &Effect) -> Option<PlannerRefusal> {
        let Effect::TooLarge { what } = effect else { return None };
        let fix = "split it into short commands; what cannot be checked is not in the planner's allowlist";
        Some(PlannerRefusal::new(format!("{what} is too large to check"), fix))
    }

    fn refuse_unparsed(_: &Self, effect: &Effect) -> Option<PlannerRefusal> {
        let Effect::Unparsed { what, .. } = effect else { return None };
        Some(refuse_unknown(what.strip_prefix("not understood: ").unwrap_or(what)))
    }
}

fn refuse_unknown(what: &str) -> PlannerRefusal {
    PlannerRefusal::new(
        format!("not understood: {}", text::clip_line(what, 60)),
        "write it out: plain names instead of variables and substitutions, `./*.md` instead of `*.md`, one simple \
         command per call. What cannot be known beforehand is not in the planner's allowlist",
    )
}

/// The directories that the arguments of a program send it to. For `git` these are the values of some
/// options; for the other programs, every path may be a project with its own configuration.
fn list_directories(program: &str, arguments: &[String]) -> Vec<PathBuf> {
    const OPTIONS: &[&str] = &["-C", "--git-dir", "--work-tree", "--exec-path"];
    if program != "git" {
        let value =
            |argument: &String| argument.split_once('=').map_or(argument.clone(), |(_, value)| value.into());
        return arguments.iter().map(value).map(PathBuf::from).collect();
    }
    let mut places = Vec::new();
    // Several `-C` build on each other.
    let mut base = PathBuf::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let (name, attached) = match argument.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (argument.as_str(), None),
        };
        if !OPTIONS.contains(&name) {
            continue;
        }
        if let Some(value) = attached.or_else(|| rest.next().cloned()) {
            let place = base.join(value);
            if name == "-C" {
                base.clone_from(&place);
            }
            places.push(place);
        }
    }
    places
}

fn refuse_delegation(kind: &str) -> PlannerRefusal {
    let agent = if kind.is_empty() { "of no type".into() } else { quote_name(kind) };
    let fix = "read the files here, and leave other work to the main conversation; another agent could write";
    PlannerRefusal::for_unlisted(&format!("an agent {agent}"), fix)
}

fn refuse_isolation(kind: &str) -> PlannerRefusal {
    let fix = "start it without `isolation`, which makes a worktree or a remote session";
    PlannerRefusal::for_unlisted(&format!("isolation for an agent {}", quote_name(kind)), fix)
}

fn refuse_tool(tool: &str) -> PlannerRefusal {
    let fix = format!(
        "use Read or Grep, or ask the user to add this tool to `{}` in provost.toml; what it does to files cannot be \
         known",
        settings::PLANNER_TOOLS
    );
    PlannerRefusal::for_unlisted(&format!("the tool {}", quote_name(tool)), fix)
}

fn clip_name(name: &str) -> String {
    text::clip_line(name, LONGEST_NAME)
}

fn quote_name(name: &str) -> String {
    format!("'{}'", clip_name(name))
}

#[cfg(test)]
mod tests;
