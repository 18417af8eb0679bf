//! The commands for people: one file each, with its help text as the doc comment.
//!
//! Nothing here is on the hook path. Exit codes are part of the interface and written down in
//! [`Exit`]; code 2 is never among them, because a client reads it as "blocked". Only [`compat`]
//! gives it, which is called by hooks.

mod change;
mod check;
mod compat;
mod completions;
mod config;
mod demo;
mod diff;
mod doctor;
mod explain;
mod gate;
mod guards;
mod init;
mod journal;
mod man;
mod override_command;
mod phases;
mod review;
mod schema;
mod screen;
mod settings_file;
mod status;
mod statusline;
mod uninstall;
mod watch;

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};

use crate::clients;
use crate::config::Config;
use crate::event::{Event, Kind};
use crate::workspace::{Places, Workspace, project_root, resolve};

/// Guards for coding agents: one process, one decision per hook event.
#[derive(Parser)]
#[command(name = "provost", version, disable_help_subcommand = true, max_term_width = 100)]
#[command(after_help = "Examples:
  provost demo                   see Provost at work in a throwaway project
  provost init                   add Provost's hooks to Claude Code
  provost status                 where everything stands here, and the next step
  provost doctor                 try every hook, and say what is wrong
  provost guards                 what is guarded here
  provost explain                why the last call was denied, and how to go on
  provost journal --follow       watch decisions as they are made
  provost gate status            where the last plan stands
  provost review status          where the reviews of a plan stand
  provost phases status          where the workflow stands

Exit codes:
  0    done
  1    something was found, or what was asked for is not there
  64   wrong usage
  74   a file could not be read or written
  2    only `provost hook`, for a denial by a guard that could not judge, and
       `provost compat`, where its script blocks")]
struct Provost {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Init(init::Init),
    Uninstall(uninstall::Uninstall),
    Doctor(doctor::Doctor),
    Status(status::Status),
    Statusline(statusline::Statusline),
    Explain(explain::Explain),
    Journal(journal::Journal),
    Guards(guards::Guards),
    Check(check::Check),
    Override(override_command::Override),
    Gate(gate::Gate),
    Review(review::Review),
    Phases(phases::Phases),
    Config(config::ConfigCommand),
    Schema(schema::Schema),
    Demo(demo::Demo),
    Completions(completions::Completions),
    Man(man::Manual),
    Hook(Hook),
    Compat(compat::Compat),
}

/// Answer one event of a client (called by its hooks)
///
/// Reads one event as JSON from standard input and answers on standard output and by exit code, in
/// the form that the client obeys. No answer means: go on. Whatever is unknown on this command line
/// is stepped over and told to the person, so that an outdated entry never locks a tool.
#[derive(clap::Args)]
#[command(after_help = hook_examples())]
struct Hook {
    /// The client that calls
    #[arg(long, default_value = clients::DEFAULT.name)]
    client: String,
    /// Ask only the guards of this pack; may be given several times
    #[arg(long, value_name = "NAME")]
    pack: Vec<String>,
}

fn hook_examples() -> String {
    let registration = clients::DEFAULT.registration;
    format!(
        "Examples:\n  provost hook < event.json\n  provost hook --pack self < event.json\n\n{registration}"
    )
}

/// How a command for people ends, where it does not fail; [`USAGE`] and [`IO`] are the failures.
pub(crate) enum Exit {
    Done,
    /// A mistake was found, or what was asked for does not exist.
    Found,
}

/// What can go wrong in a command.
pub(crate) enum Trouble {
    /// Standard output is closed: nobody reads, so there is nothing to say.
    NobodyReads,
    Io(String),
}

pub(crate) type Outcome = Result<Exit, Trouble>;

const USAGE: u8 = 64;
const IO: u8 = 74;

pub fn run() -> ExitCode {
    let parsed = match Provost::try_parse() {
        Ok(parsed) => parsed,
        Err(error) => return usage(&error),
    };
    let outcome = match parsed.command {
        // Only their `--help` comes here, and it has been answered above.
        Command::Hook(Hook { .. }) | Command::Compat(_) | Command::Statusline(_) => Ok(Exit::Done),
        Command::Init(command) => command.run(),
        Command::Uninstall(command) => command.run(),
        Command::Doctor(command) => command.run(),
        Command::Check(command) => command.run(),
        Command::Override(command) => command.run(),
        Command::Status(command) => command.run(),
        Command::Guards(command) => command.run(),
        Command::Explain(command) => command.run(),
        Command::Gate(command) => command.run(),
        Command::Review(command) => command.run(),
        Command::Phases(command) => command.run(),
        Command::Journal(command) => command.run(),
        Command::Config(command) => command.run(),
        Command::Schema(_) => schema::Schema::run(),
        Command::Demo(command) => command.run(),
        Command::Completions(command) => command.run(),
        Command::Man(command) => command.run(),
    };
    match outcome {
        Ok(Exit::Done) | Err(Trouble::NobodyReads) => ExitCode::SUCCESS,
        Ok(Exit::Found) => ExitCode::from(1),
        Err(Trouble::Io(error)) => {
            eprintln!("[provost] {error}");
            ExitCode::from(IO)
        }
    }
}

/// Help, or a usage error. Where a client calls (an entry from another version), an error by exit code
/// could lock every tool, so there the person is told and the event goes on.
fn usage(error: &clap::Error) -> ExitCode {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let caller = clients::ALL.iter().find(|client| (client.project)().is_some());
    match caller {
        Some(client) if !io::stdin().is_terminal() => {
            let first = error.to_string().lines().next().unwrap_or_default().to_owned();
            let text = format!(
                "[provost] the hook entry has a mistake: {first}. To fix: its arguments begin with `hook`."
            );
            crate::hook::tell_person(client, &text)
        }
        _ => {
            let plain = error.to_string();
            match crate::text::printable(&plain) {
                Cow::Borrowed(_) => drop(error.print()),
                // What was typed may have been copied from somewhere.
                Cow::Owned(shown) => eprint!("{shown}"),
            }
            ExitCode::from(USAGE)
        }
    }
}

/// `provost compat` for a script that is known; `None`: clap says what is wrong.
pub fn compat(arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    compat::start(arguments)
}

/// `provost statusline`, whatever else stands on its command line.
pub fn statusline() -> ExitCode {
    statusline::start()
}

/// The reference of all commands, made from their help texts.
pub fn reference() -> String {
    let mut page = String::from("# Commands\n\nMade from the help texts of the program.\n");
    let mut top = Provost::command();
    top.build();
    let mut open: Vec<clap::Command> = vec![top];
    while let Some(mut command) = open.pop() {
        let name = command.get_bin_name().unwrap_or("provost").to_owned();
        let help = command.render_long_help().to_string();
        let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
        page += &format!("\n## `{name}`\n\n```text\n{}\n```\n", lines.join("\n").trim_end());
        let children: Vec<_> = command.get_subcommands().cloned().collect();
        open.extend(children.into_iter().rev());
    }
    page
}

pub(crate) fn current_directory() -> Result<PathBuf, Trouble> {
    std::env::current_dir().map_err(|error| Trouble::Io(format!("no current directory: {error}")))
}

/// The world as a guard would see it if something happened in the current directory.
pub(crate) fn workspace_here() -> Result<(Event, Workspace), Trouble> {
    let event = Event::new(String::new(), Kind::Other, current_directory()?);
    let workspace = Workspace::of(clients::DEFAULT, &event);
    Ok((event, workspace))
}

/// The project of the current directory, its state and its configuration.
pub(crate) struct Here {
    pub(crate) project: PathBuf,
    pub(crate) state: Option<PathBuf>,
    pub(crate) layers: Vec<(crate::config::Layer, PathBuf)>,
    pub(crate) config: Config,
}

impl Here {
    pub(crate) fn find() -> Result<Self, Trouble> {
        let cwd = current_directory()?;
        let cwd = resolve(&cwd);
        let project = project_root(&cwd);
        let places = Places::from_environment();
        let layers = crate::config::layers(&places, &cwd, &project);
        let config = Config::load(&layers);
        Ok(Self { state: places.project_state(&project), project, layers, config })
    }

    /// All records of this project's journal.
    pub(crate) fn records(&self) -> Result<Vec<crate::journal::Record>, Trouble> {
        let Some(state) = &self.state else { return Ok(Vec::new()) };
        crate::journal::read_all(state)
            .map_err(|error| Trouble::Io(format!("the journal cannot be read: {error}")))
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::NobodyReads,
            _ => Self::Io(error.to_string()),
        }
    }
}
