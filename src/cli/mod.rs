//! The commands for people: one file each, with its help text as the doc comment.
//!
//! Nothing here is on the hook path. The help text of `provost` lists the exit codes. Only [`compat`], which hooks
//! call, exits with 2, because clients take that code as a denial.

mod approve;
mod check;
mod client;
mod compat;
mod completions;
mod config;
mod demo;
mod doctor;
mod explain;
mod file_change;
mod gate;
mod guards;
mod init;
mod journal;
mod man;
mod override_command;
mod overview;
mod past_options;
mod phases;
mod record_work;
mod replay;
mod report;
mod review;
mod rules;
mod schema;
mod screen;
mod settings_file;
mod status;
mod statusline;
mod uninstall;
mod watch;
mod workflow;

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};

use crate::clients;
use crate::config::Config;
use crate::environment::{open_workspace, read_places};
use crate::event::{Event, EventKind};
use crate::places::{find_project_root, resolve_path};
use crate::workspace::Workspace;
pub(crate) use client::current_client;

/// Stop coding agents from skipping your process: unreviewed plans and code, commits to main
#[derive(Parser)]
#[command(name = "provost", version, disable_help_subcommand = true, max_term_width = 100)]
#[command(after_help = "Examples:
  provost demo                   see Provost at work in a throwaway project
  provost init                   add Provost's hooks to Claude Code
  provost status                 the state of this project, and the next step
  provost doctor                 check the installation by running every hook
  provost guards                 list the guards, and which are on here
  provost rules                  list the rules, and how often each matched
  provost replay                 what would have been stopped in past sessions
  provost explain                why the last call was denied, and the fix
  provost journal --follow       watch decisions as they are made
  provost report                 what Provost did in the last 30 days
  provost gate status            the state of the last plan
  provost review status          the state of a plan's reviews
  provost phases status          the state of the workflow
  provost workflow status        what is open and approved in OpenSpec, Spec Kit, Kiro …

Every command takes `--client NAME`: the client that it is about; by default the one that runs it.

Exit codes:
  0    done
  1    a problem was found, or what you asked for does not exist
  64   wrong usage
  74   a file could not be read or written
  75   `provost review run`: the reviewer gave no verdict
  2    only `provost hook`, for a denial by a guard that failed, and
       `provost compat`, where its script blocks")]
struct Provost {
    // Hidden, so that it does not fill the help of every command. The end of the main help names it.
    #[arg(long, global = true, hide = true, value_name = "NAME", value_parser = client_names())]
    client: Option<String>,
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
    Report(report::ReportCommand),
    Guards(guards::Guards),
    Rules(rules::Rules),
    Replay(replay::Replay),
    Check(check::Check),
    Override(override_command::Override),
    Approve(approve::Approve),
    Workflow(workflow::WorkflowCommand),
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

/// Answer one hook event (called by the client's hooks)
///
/// Reads one event as JSON from standard input, and answers on standard output and with the exit
/// code, in the form that the client obeys. No output means that the call may continue. Unknown
/// arguments are ignored with a warning to the user, so that an outdated hook entry blocks no tool.
#[derive(clap::Args)]
#[command(after_help = hook_examples())]
struct Hook {
    /// The client that calls
    #[arg(long, default_value = clients::DEFAULT_CLIENT.name)]
    client: String,
    /// Run only the guards of this pack; can be given several times
    #[arg(long, value_name = "NAME")]
    pack: Vec<String>,
}

fn client_names() -> clap::builder::PossibleValuesParser {
    clients::CLIENTS.iter().map(|client| client.name).collect::<Vec<_>>().into()
}

fn hook_examples() -> String {
    let registration = current_client().installation().example;
    format!(
        "Examples:\n  provost hook < event.json\n  provost hook --pack self < event.json\n\n{registration}"
    )
}

/// How a command ends if it does not fail.
pub(crate) enum Exit {
    Done,
    /// A problem was found, or what the user asked for does not exist.
    Problem,
    /// The arguments mean nothing here.
    Usage,
    /// A reviewer gave no verdict.
    NoVerdict,
}

/// Why a command fails.
pub(crate) enum CommandError {
    /// Standard output is closed, as in `provost journal | head`. This is not an error for the user.
    NobodyReads,
    Io(String),
}

pub(crate) type CommandResult = Result<Exit, CommandError>;

const USAGE_EXIT: u8 = 64;
const IO_EXIT: u8 = 74;
const NO_VERDICT_EXIT: u8 = 75;

pub fn run() -> ExitCode {
    let parsed = match Provost::try_parse() {
        Ok(parsed) => parsed,
        Err(error) => return ExitCode::from(answer_usage_error(&error)),
    };
    client::choose(parsed.client.as_deref());
    let outcome = match parsed.command {
        // `main` runs these; only their `--help` gets here, and clap has answered it above.
        Command::Hook(Hook { .. }) | Command::Compat(_) | Command::Statusline(_) => Ok(Exit::Done),
        Command::Init(command) => command.run(),
        Command::Uninstall(command) => command.run(),
        Command::Doctor(command) => command.run(),
        Command::Check(command) => command.run(),
        Command::Override(command) => command.run(),
        Command::Approve(command) => command.run(),
        Command::Workflow(command) => command.run(),
        Command::Rules(command) => command.run(),
        Command::Replay(command) => command.run(),
        Command::Status(command) => command.run(),
        Command::Guards(command) => command.run(),
        Command::Explain(command) => command.run(),
        Command::Gate(command) => command.run(),
        Command::Review(command) => command.run(),
        Command::Phases(command) => command.run(),
        Command::Journal(command) => command.run(),
        Command::Report(command) => command.run(),
        Command::Config(command) => command.run(),
        Command::Schema(_) => schema::Schema::run(),
        Command::Demo(command) => command.run(),
        Command::Completions(command) => command.run(),
        Command::Man(command) => command.run(),
    };
    match outcome {
        Ok(Exit::Done) | Err(CommandError::NobodyReads) => ExitCode::SUCCESS,
        Ok(Exit::Problem) => ExitCode::from(1),
        Ok(Exit::Usage) => ExitCode::from(USAGE_EXIT),
        Ok(Exit::NoVerdict) => ExitCode::from(NO_VERDICT_EXIT),
        Err(CommandError::Io(error)) => {
            eprintln!("[provost] {error}");
            ExitCode::from(IO_EXIT)
        }
    }
}

/// Prints help or a usage error. If a client's hook made the error, an error code could block every tool, so
/// there the user is warned and the call continues.
fn answer_usage_error(error: &clap::Error) -> u8 {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        let _ = error.print();
        return 0;
    }
    let caller = clients::CLIENTS.iter().find(|client| (client.facts.find_project)().is_some());
    match caller {
        Some(client) if !io::stdin().is_terminal() => {
            let first = match error.kind() {
                ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => "it names no command".to_owned(),
                _ => error.to_string().lines().next().unwrap_or_default().to_owned(),
            };
            let text = format!(
                "[provost] the hook entry has a mistake: {first}. To fix: its arguments begin with `hook`."
            );
            crate::hook::show_message(client, &text)
        }
        _ => {
            let plain = error.to_string();
            match crate::text::make_printable(&plain) {
                Cow::Borrowed(_) => drop(error.print()),
                // The arguments may have been pasted with characters that a terminal obeys.
                Cow::Owned(safe) => eprint!("{safe}"),
            }
            USAGE_EXIT
        }
    }
}

/// Answers a call without arguments and without an event. Returns the exit code.
pub(crate) fn answer_missing_command() -> u8 {
    Provost::try_parse_from(["provost"]).map_or_else(|error| answer_usage_error(&error), |_| USAGE_EXIT)
}

/// Runs `provost compat` for a known script; `None`: clap reports the error.
pub fn run_compat(arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    compat::start(arguments)
}

/// Runs `provost statusline`, which ignores its arguments.
pub fn run_statusline() -> ExitCode {
    statusline::start()
}

/// Generates docs/cli.md from the help texts.
pub fn render_cli_reference() -> String {
    let mut page = String::from("# Commands\n\nThe help text of every command, as `--help` prints it.\n");
    let mut top = Provost::command();
    top.build();
    let mut commands: Vec<clap::Command> = vec![top];
    while let Some(mut command) = commands.pop() {
        let name = command.get_bin_name().unwrap_or("provost").to_owned();
        let help = command.render_long_help().to_string();
        let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
        page += &format!("\n## `{name}`\n\n```text\n{}\n```\n", lines.join("\n").trim_end());
        let children: Vec<_> = command.get_subcommands().cloned().collect();
        commands.extend(children.into_iter().rev());
    }
    page
}

pub(crate) fn current_directory() -> Result<PathBuf, CommandError> {
    std::env::current_dir()
        .map_err(|error| CommandError::Io(format!("the current directory cannot be read: {error}")))
}

/// The workspace that a guard would get for an event in the current directory.
pub(crate) fn open_current_workspace() -> Result<(Event, Workspace), CommandError> {
    let event = Event::new(String::new(), EventKind::Other, current_directory()?);
    let workspace = open_workspace(current_client(), &event);
    Ok((event, workspace))
}

/// The project of the current directory, its state and its configuration.
pub(crate) struct CurrentProject {
    pub(crate) project: PathBuf,
    pub(crate) state: Option<PathBuf>,
    pub(crate) layers: Vec<(crate::config::ConfigLayer, PathBuf)>,
    pub(crate) config: Config,
}

impl CurrentProject {
    pub(crate) fn locate() -> Result<Self, CommandError> {
        let cwd = current_directory()?;
        let cwd = resolve_path(&cwd);
        let project = find_project_root(&cwd);
        let places = read_places();
        let layers = crate::config::list_config_files(&places, &cwd, &project);
        let config = Config::load(
            &layers,
            crate::registry::guard_settings,
            places.kept_rules_directory().as_deref(),
            None,
        );
        Ok(Self { state: places.project_state_directory(&project), project, layers, config })
    }

    /// Calls `visit` with every line of this project's journal and its archive, oldest first.
    pub(crate) fn visit_journal(&self, mut visit: impl FnMut(&[u8])) -> Result<(), CommandError> {
        let Some(state) = &self.state else { return Ok(()) };
        let errors = crate::journal::visit_lines(state, |line| line.into_iter().for_each(&mut visit));
        match errors.first() {
            Some(error) => Err(CommandError::Io(format!("the journal cannot be read: {error}"))),
            None => Ok(()),
        }
    }
}

impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::NobodyReads,
            _ => Self::Io(error.to_string()),
        }
    }
}
