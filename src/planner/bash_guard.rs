//! A planner reads. Every tool of it is judged by what the call would do, on every channel.
//!
//! A command line passes if each program that any part of it starts is listed, none of them is told
//! to do more than read, no variable decides what they run, and everything was understood. What is
//! written, by a redirection or by a file tool, lands in `planning/` or nowhere. The order of the
//! checks is the order in which their reasons help: a program that is not listed comes first.

use std::path::{Path, PathBuf};

use super::planning::Planning;
use crate::config::settings;
use crate::decision::{Denial, Fault, Opinion};
use crate::effect::Effect;
use crate::event::{Event, Tool};
use crate::registry::is_agent;
use crate::shell;
use crate::text::{self, bounded, one_line};
use crate::workspace::Workspace;

/// Programs that read, in the forms that the effects of a command line do not call out.
const READERS: &[&str] = &[
    "find", "grep", "rg", "cat", "head", "tail", "wc", "ls", "tree", "file", "stat", "du", "df", "git",
    "flutter", "dart", "fvm", "test", "command", "which", "type", "pwd", "echo",
];
/// The shell's own words that start no program: they only steer the shell itself.
const STEERING: &[&str] = &["cd", "true", "false", ":", "[", "[["];
/// Programs that take orders from files in the directory they run in.
const CONFIGURED: &[&str] = &["git", "flutter", "dart", "fvm"];
/// The longest name that a reason repeats: behind it, there is still room for the fix.
const LONGEST_NAME: usize = 24;
/// The longest list of programs in a reason.
const LONGEST_LIST: usize = 1000;

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    let Some(call) = event.call() else { return Ok(Opinion::silence()) };
    let config = &workspace.config;
    let refused = match &call.tool {
        Tool::Shell { command } if command.trim().is_empty() => Some(empty()),
        Tool::Shell { .. } | Tool::Write { .. } | Tool::Edit { .. } | Tool::Notebook { .. } => {
            Judge::of(event, workspace).refusal(event.effects())
        }
        Tool::Delegate { agent, is_isolated, .. } => {
            let planners = config.words(settings::PLANNER_AGENTS);
            let kind = agent.as_deref().unwrap_or_default();
            if planners.iter().any(|name| is_agent(kind, name)) {
                is_isolated.then(|| isolated(kind))
            } else {
                Some(delegated(kind))
            }
        }
        Tool::Other { .. } => (!config.words(settings::PLANNER_TOOLS).contains(&call.native_tool))
            .then(|| unknown(&call.native_tool)),
        Tool::Read { .. }
        | Tool::Skill { .. }
        | Tool::LeavePlanMode { .. }
        | Tool::Message { .. }
        | Tool::Inert => None,
    };
    Ok(refused.map_or_else(Opinion::silence, |refused| {
        let evidence = vec![refused.why.clone()];
        Opinion::deny(refused.denial(event), evidence)
    }))
}

/// Why a call is denied, and how to fix it.
struct Refused {
    why: String,
    fix: String,
}

impl Refused {
    fn new(why: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { why: why.into(), fix: fix.into() }
    }

    /// The denial: the call, then the sentence of the document.
    fn denial(self, event: &Event) -> Denial {
        let what = format!("{} {BLOCKED}", event.subject());
        Denial { what, why: self.why, fix: self.fix, heading: Some(BLOCKED.into()) }
    }
}

/// What every sentence of the document begins with.
const BLOCKED: &str = "BLOCKED";

/// What holds a call against the promise to read.
struct Judge<'a> {
    workspace: &'a Workspace,
    planning: Planning,
    /// Programs that a person has added.
    added: Vec<String>,
    /// The call, if it is a command line.
    command: Option<&'a str>,
}

impl<'a> Judge<'a> {
    fn of(event: &'a Event, workspace: &'a Workspace) -> Self {
        let command = match event.call().map(|call| &call.tool) {
            Some(Tool::Shell { command }) => Some(command.as_str()),
            _ => None,
        };
        Self {
            workspace,
            planning: Planning::of(event, workspace),
            added: workspace.config.words(settings::PLANNER_ALLOW),
            command,
        }
    }

    fn refusal(&self, effects: &[Effect]) -> Option<Refused> {
        let any = |check: &dyn Fn(&Effect) -> Option<Refused>| effects.iter().find_map(check);
        if !self.workspace.config.switch(settings::PLANNER_STRICT) {
            let first = self.command.and_then(|command| self.first_word(command));
            return first.or_else(|| any(&|effect| self.written(effect))).or_else(|| any(&too_large));
        }
        any(&|effect| self.program(effect))
            .or_else(|| any(&action))
            .or_else(|| any(&|effect| self.directed(effect)))
            .or_else(|| any(&variable))
            .or_else(|| any(&|effect| self.written(effect)))
            .or_else(|| any(&|effect| self.deleted(effect)))
            .or_else(|| any(&too_large))
            .or_else(|| any(&obscure))
    }

    /// The plain rule: nothing but the first word of a line counts, which must be known.
    fn first_word(&self, command: &str) -> Option<Refused> {
        match shell::first_word(command) {
            Some(name) => self.unlisted(&name),
            None => Some(not_understood("the first word")),
        }
    }

    fn program(&self, effect: &Effect) -> Option<Refused> {
        let Effect::Run { program, .. } = effect else { return None };
        self.unlisted(program)
    }

    fn unlisted(&self, name: &str) -> Option<Refused> {
        if READERS.contains(&name) || STEERING.contains(&name) || self.added.iter().any(|added| added == name)
        {
            return None;
        }
        let listed: Vec<&str> =
            READERS.iter().copied().chain(self.added.iter().map(String::as_str)).collect();
        // The list comes last: a screen may cut it.
        let fix = format!(
            "use a program that only reads, leave it to the main conversation, or ask the user to add it to `{}` in \
             provost.toml; these only read, by their plain names: {}",
            settings::PLANNER_ALLOW,
            bounded(&one_line(&listed.join(" ")), LONGEST_LIST)
        );
        Some(Refused::new(format!("'{}' is not in the planner's allowlist", shown(name)), fix))
    }

    /// A program that takes orders from files, sent to where the planner may write such files.
    fn directed(&self, effect: &Effect) -> Option<Refused> {
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
            return Some(Refused::new(
                format!("the directory in which '{program}' would run is not certain"),
                fix,
            ));
        };
        let is_there = |path: &Path| self.planning.is_at(path, self.workspace);
        let sent = is_there(directory)
            || places(program, arguments).iter().any(|place| is_there(&directory.join(place)));
        let plans = &self.planning.name;
        let fix = || {
            format!(
                "run it in the project's own directory, as in `{program} … -- {plans}/…`: files in {plans}/ tell it \
                 what to run, and a planner can write them"
            )
        };
        sent.then(|| Refused::new(format!("'{program}' may not run in {plans}/"), fix()))
    }

    fn written(&self, effect: &Effect) -> Option<Refused> {
        let plans = &self.planning.name;
        let landings = match effect {
            Effect::Somewhere { target, .. } => {
                let why = format!("output redirection to {}, which cannot be known", shown(target));
                return Some(Refused::new(why, format!("write the path out: {plans}/NAME.md")));
            }
            Effect::Write { path, .. } | Effect::Touch { path } => vec![path.clone()],
            Effect::Place { names, to, .. } if self.workspace.is_directory(to) => {
                names.iter().map(|name| to.join(name)).collect()
            }
            Effect::Place { to, .. } => vec![to.clone()],
            _ => return None,
        };
        if let Some(order) = landings.iter().find(|path| self.planning.is_order(path, self.workspace)) {
            let name = text::short_path(&self.planning.shown(order));
            let fix = format!("write the plan to {plans}/NAME.md; a program could take orders from {name}");
            return Some(Refused::new(format!("a planner may not write {name}"), fix));
        }
        let outside = landings.into_iter().find(|path| !self.may_hold(path))?;
        let named = self.planning.shown(&outside);
        // A name that begins as it should does not tell what is wrong with it.
        let real = if Path::new(&named).starts_with(plans) {
            format!(
                ", which is {},",
                text::short_path(&self.planning.shown(&self.workspace.resolve(&outside)))
            )
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
        let fix = format!("{fix}; leave {}{real} to the main conversation", text::short_path(&named));
        Some(Refused::new(format!("{act} outside {plans}/"), fix))
    }

    fn may_hold(&self, path: &Path) -> bool {
        self.workspace.resolve(path) == Path::new("/dev/null") || self.planning.holds(path, self.workspace)
    }

    fn deleted(&self, effect: &Effect) -> Option<Refused> {
        let Effect::Delete { path } = effect else { return None };
        let why = format!("it deletes or moves {}", text::short_path(&self.planning.shown(path)));
        Some(Refused::new(why, "leave the file where it is; a planner deletes nothing, not even a plan"))
    }
}

/// A listed program that is told to do more than read.
fn action(effect: &Effect) -> Option<Refused> {
    let (name, does) = match effect {
        Effect::Act { program, by, does } => (format!("{program} {by}"), *does),
        Effect::Commit { dry_run: false, .. } => ("git commit".into(), "makes a commit"),
        _ => return None,
    };
    let fix = format!(
        "use a form that only reads, or leave this step to the main conversation; `{}` {does}",
        text::one_line(&name)
    );
    Some(Refused::new(format!("'{}' is not in the planner's allowlist", shown(&name)), fix))
}

fn variable(effect: &Effect) -> Option<Refused> {
    let Effect::SetVariable { name, value } = effect else { return None };
    let why = || format!("the variable '{}' is not in the planner's allowlist", shown(name));
    let fix = "leave it out; it can make a listed program run another one";
    shell::steers(name, value.as_deref()).then(|| Refused::new(why(), fix))
}

fn too_large(effect: &Effect) -> Option<Refused> {
    let Effect::TooLarge { what } = effect else { return None };
    let fix = "split it into short commands; what cannot be checked is not in the planner's allowlist";
    Some(Refused::new(format!("{what} is too large to check"), fix))
}

fn obscure(effect: &Effect) -> Option<Refused> {
    let Effect::Obscure { what } = effect else { return None };
    Some(not_understood(what.strip_prefix("not understood: ").unwrap_or(what)))
}

fn not_understood(what: &str) -> Refused {
    Refused::new(
        format!("not understood: {}", text::clipped(what, 60)),
        "write it out: plain names instead of variables and substitutions, `./*.md` instead of `*.md`, one simple \
         command per call. What cannot be known beforehand is not in the planner's allowlist",
    )
}

/// The directories that the options of a program send it to. What `git` is given to look at is not
/// among them; to the others, every path is a project with files of its own.
fn places(program: &str, arguments: &[String]) -> Vec<PathBuf> {
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

fn empty() -> Refused {
    Refused::new("Empty command is not in the planner's allowlist", "give the command to run")
}

fn delegated(kind: &str) -> Refused {
    let agent = if kind.is_empty() { "of no type".into() } else { format!("'{}'", shown(kind)) };
    Refused::new(
        format!("an agent {agent} is not in the planner's allowlist"),
        "read the files here, and leave other work to the main conversation; another agent could write",
    )
}

fn isolated(kind: &str) -> Refused {
    Refused::new(
        format!("isolation for an agent '{}' is not in the planner's allowlist", shown(kind)),
        "start it without `isolation`, which makes a worktree or a remote session",
    )
}

fn unknown(tool: &str) -> Refused {
    Refused::new(
        format!("the tool '{}' is not in the planner's allowlist", shown(tool)),
        format!(
            "use Read or Grep, or ask the user to add this tool to `{}` in provost.toml; what it does to files \
             cannot be known",
            settings::PLANNER_TOOLS
        ),
    )
}

/// A name from the call, fit for one line of a reason.
fn shown(name: &str) -> String {
    text::clipped(name, LONGEST_NAME)
}

#[cfg(test)]
mod tests;
