//! `provost replay`: what guards and rules would have done in past sessions.
//!
//! The work is in [`crate::replay`]. Here are the options, the progress bar, and what is printed.

mod json;
mod progress;
mod screen;

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::overview::Overview;
use super::past_options::PastOptions;
use super::{CommandError, CommandResult, CurrentProject, Exit, current_client, current_directory};
use crate::config::{Config, ConfigLayer, suggest_word};
use crate::environment::read_places;
use crate::places::{Places, resolve_path};
use crate::registry::{GUARDS, find_guard};
use crate::replay::judge::ConfigSource;
use crate::replay::selection::Selection;
use crate::replay::{Progress, ReplayRequest, ReplayResult, run};
use crate::rules::RULE_PREFIX;
use crate::signals;
use crate::text::{make_one_line, shorten_name};

/// Show what guards and rules would have done in past sessions
///
/// Judges every tool call that the client has on record by the guards and rules of now, as the hook would judge it, and
/// changes nothing. Without an option, these are the sessions of this project. A decision is exact if it follows from
/// the call, and approximate if it depends on files, branches or state that may have changed since.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost replay                            this project
  provost replay --all --last 30d           all projects, the last 30 days
  provost replay --show self-guard          each call that one guard or rule stops
  provost replay --config new.toml --against current
                                            what a new file would change
  provost replay --json | jq '.decisions[]'

The rules are those of the provost.toml that counts in the current directory.

Exit codes: 0 done; 1 there are no sessions, a configuration has a mistake, no guard or rule has
the name to show, or the replay was interrupted; 64 wrong usage; 74 a file or directory cannot be read.")]
pub(crate) struct Replay {
    #[command(flatten)]
    sessions: PastOptions,
    /// Judge by this file in the place of the project's provost.toml
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Show only what differs from another file, or from `current`
    #[arg(long, value_name = "FILE|current")]
    against: Option<PathBuf>,
    /// List each decision of one guard or rule
    #[arg(long, value_name = "RULE")]
    show: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The word for the configuration that counts here.
const CURRENT: &str = "current";

impl Replay {
    pub(crate) fn run(self) -> CommandResult {
        let client = current_client();
        let Some(past) = &client.past_sessions else {
            return Err(CommandError::Io(format!("`{}` keeps no records of past sessions", client.name)));
        };
        let configs = self.find_configs()?;
        let places = read_places();
        let mut out = anstream::stdout().lock();
        if Self::report_mistakes(&configs)? || self.report_unknown_name(&configs, &places)? {
            return Ok(Exit::Problem);
        }
        let scope = self.sessions.find_scope()?;
        // JSON that has begun has to end, so Ctrl-C is only noted from here on.
        signals::watch_signals();
        // The user sees at once that something happens.
        if self.json {
            json::begin(&mut out)?;
        } else {
            screen::begin(&mut out, &scope, self.sessions.last, &configs)?;
        }
        out.flush()?;
        let selection = self.sessions.select(past, &places, &scope)?;
        let since = self.sessions.begin_millis();
        let request =
            ReplayRequest { client, places: &places, selection: &selection, configs: &configs, since };
        let result = replay_with_progress(&request);
        if self.json {
            json::end(&mut out, &result, self.show.as_deref())?;
        } else {
            screen::print_result(&mut out, &result, self.show.as_deref())?;
        }
        let is_whole = result.interrupted_after.is_none() && selection.files > 0;
        Ok(if is_whole { Exit::Done } else { Exit::Problem })
    }

    /// The configuration, and the one to compare with.
    fn find_configs(&self) -> Result<Vec<ConfigSource>, CommandError> {
        let here = CurrentProject::locate()?;
        let named_packs = Overview::open_here()?.packs_only_named();
        let current = ConfigSource { layers: here.layers, with_last_good: true, named_packs };
        let from_file = |file: &Path| -> Result<ConfigSource, CommandError> {
            let file = current_directory()?.join(file);
            if let Err(error) = std::fs::File::open(&file) {
                let name = make_one_line(&file.to_string_lossy());
                return Err(CommandError::Io(format!("{name} cannot be read: {error}")));
            }
            let mut layers = current.layers.clone();
            for (layer, path) in &mut layers {
                if *layer == ConfigLayer::Project {
                    *path = resolve_path(&file);
                }
            }
            Ok(ConfigSource { layers, with_last_good: false, ..current.clone() })
        };
        let new = self.config.as_deref().map_or_else(|| Ok(current.clone()), from_file)?;
        let old = match self.against.as_deref() {
            None => None,
            Some(word) if word == Path::new(CURRENT) => Some(current.clone()),
            Some(file) => Some(from_file(file)?),
        };
        Ok([Some(new), old].into_iter().flatten().collect())
    }

    /// Reports mistakes in files that the user names. Those of the current configuration are for `config check`, and
    /// the hook works in spite of them.
    fn report_mistakes(configs: &[ConfigSource]) -> io::Result<bool> {
        let named = configs.iter().filter(|source| !source.with_last_good);
        let mut problems = Vec::new();
        for source in named {
            let files: Vec<&PathBuf> = source
                .layers
                .iter()
                .filter(|(layer, _)| *layer == ConfigLayer::Project)
                .map(|(_, file)| file)
                .collect();
            let all = source.load(&read_places()).list_all_problems();
            problems.extend(all.into_iter().filter(|problem| files.contains(&&problem.file)));
        }
        for problem in &problems {
            writeln!(io::stderr(), "[provost] {}", make_one_line(&problem.to_string()))?;
        }
        Ok(!problems.is_empty())
    }

    /// Says that no guard or rule has the name that the user wants to see.
    fn report_unknown_name(&self, configs: &[ConfigSource], places: &Places) -> io::Result<bool> {
        let Some(name) = self.show.as_deref().filter(|name| find_guard(name).is_none()) else {
            return Ok(false);
        };
        let configs: Vec<Config> = configs.iter().map(|source| source.load(places)).collect();
        let rules = || configs.iter().flat_map(|config| config.rules.rules.iter().chain(&config.rules.off));
        let wanted = name.strip_prefix(RULE_PREFIX).unwrap_or(name);
        if rules().any(|rule| rule.name == wanted) {
            return Ok(false);
        }
        let guards = GUARDS.iter().map(|guard| guard.name.to_owned());
        let hint = match suggest_word(wanted, guards.chain(rules().map(|rule| rule.name.clone()))) {
            none if none.is_empty() => "; `provost rules` and `provost guards` list all".to_owned(),
            suggestion => suggestion,
        };
        let text = format!("[provost] no guard or rule is called `{}`{hint}", shorten_name(name));
        writeln!(io::stderr(), "{}", make_one_line(&text))?;
        Ok(true)
    }
}

/// Replays in another thread, and shows in this one how far it is.
pub(crate) fn replay_with_progress(request: &ReplayRequest<'_>) -> ReplayResult {
    const TICK: Duration = Duration::from_millis(50);
    signals::watch_signals();
    let progress = Progress::default();
    let selection: &Selection = request.selection;
    let mut bar = progress::Bar::new(io::stderr().is_terminal(), selection.bytes, selection.files);
    thread::scope(|scope| {
        let replay = scope.spawn(|| run(request, &progress));
        while !replay.is_finished() {
            thread::park_timeout(TICK);
            if signals::is_end_requested() {
                progress.interrupt();
            }
            bar.show(progress.bytes(), progress.files());
        }
        bar.clear();
        replay.join().unwrap_or_default()
    })
}
