//! `provost report`: what Provost did in a period, as tables, JSON or an HTML page.

mod charts;
mod guard_list;
mod html;
mod options;
mod past;
mod tables;

use std::path::{Path, PathBuf};

use super::screen;
use super::{CommandError, CommandResult, CurrentProject, Exit};
use crate::environment::read_places;
use crate::files;
use crate::journal;
use crate::places::fnv1a;
use crate::report::collect::{Collector, Scope, format_seconds};
use crate::report::model::{Provenance, Report};
use crate::report::redact::redact;
use options::{ReportTime, TimeSpan};

/// Show what Provost did: decisions per day, guard and rule, overrides, reviews, time added
///
/// Reads the journal of this project. It keeps each decision that said something for at least 90 days, and daily totals
/// of the silent ones. See docs/report.md for what each number means.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost report                     the last 30 days of this project
  provost report --all --last 1w     the last week of all projects of this user
  provost report --html report.html  one page to read, print or share
  provost report --json              the same numbers, for other programs

Exit codes: 0 done; 64 wrong usage; 74 the journal cannot be read, or the page not written.")]
// Each flag is an option of the command line.
#[allow(clippy::struct_excessive_bools)]
pub(crate) struct ReportCommand {
    /// How far to go back: 12h, 30d, 4w
    #[arg(long, value_name = "TIME", default_value = "30d")]
    last: TimeSpan,
    /// Report on all projects of this user, not only on this one
    #[arg(long)]
    all: bool,
    /// Print JSON
    #[arg(long, conflicts_with = "html")]
    json: bool,
    /// Write one self-contained HTML page to a file; `-` is standard output
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Also say what would have happened in the sessions of the transcripts (those of the client, or in DIR)
    #[arg(long, value_name = "DIR", num_args = 0..=1)]
    #[allow(clippy::option_option)] // With the option, the directory may still be missing.
    transcripts: Option<Option<PathBuf>>,
    /// Replace paths, commands, prompts and ids of sessions, so that the report can be shared
    #[arg(long)]
    redact: bool,
    /// The time of the report, for example 2026-11-17T12:00:00Z [default: `SOURCE_DATE_EPOCH`, or now]
    #[arg(long, value_name = "TIME")]
    now: Option<ReportTime>,
}

impl ReportCommand {
    pub(crate) fn run(self) -> CommandResult {
        let report = self.make_report()?;
        if let Some(file) = &self.html {
            return html::write_page(file, &report);
        }
        let mut out = anstream::stdout().lock();
        if self.json {
            let value = serde_json::to_value(&report).map_err(|error| CommandError::Io(error.to_string()))?;
            screen::print_json(&mut out, &value)?;
        } else {
            tables::print_report(&mut out, &report)?;
        }
        Ok(Exit::Done)
    }

    fn make_report(&self) -> Result<Report, CommandError> {
        let here = CurrentProject::locate()?;
        let now = match self.now {
            Some(time) => time,
            None => ReportTime::of_environment().map_err(CommandError::Io)?,
        };
        let mut collector = Collector::new(Scope {
            now: now.0,
            seconds: self.last.seconds,
            asked: self.last.text.clone(),
            made: self.describe_making(&here, now),
        });
        let known = if self.all {
            let paths = read_all_journals(&mut collector);
            guard_list::list_for_projects(&paths)
        } else {
            let path = here.project.to_string_lossy();
            if let Some(state) = &here.state {
                read_journal(&mut collector, state, Some(&path));
            }
            guard_list::list_here()?
        };
        if let Some(problem) = collector.only_problem() {
            return Err(CommandError::Io(format!("the journal cannot be read: {problem}")));
        }
        let mut report = collector.finish(&known);
        if let Some(directory) = &self.transcripts {
            let since = now.0.saturating_sub(self.last.seconds);
            let totals = past::replay(directory.as_deref(), self.all, since, &here)?;
            report.without_provost = Some(totals);
        }
        if self.redact {
            redact(&mut report);
        }
        Ok(report)
    }

    fn describe_making(&self, here: &CurrentProject, now: ReportTime) -> Provenance {
        Provenance {
            time: format_seconds(now.0),
            version: env!("CARGO_PKG_VERSION").into(),
            command: options::describe_command_line(self.redact),
            configuration: digest_configuration(here),
            is_redacted: self.redact,
        }
    }
}

/// Adds the journal of one project. Files that cannot be read are noted.
fn read_journal(collector: &mut Collector, state: &Path, path: Option<&str>) {
    collector.begin_project(path);
    for error in journal::visit_lines(state, |line| collector.add_line(line)) {
        collector.add_problem(&error.to_string());
    }
    collector.end_project(path.is_some());
}

/// Adds the journals of all projects of this user. Returns the paths of the projects.
fn read_all_journals(collector: &mut Collector) -> Vec<PathBuf> {
    let Some(state) = read_places().state else { return Vec::new() };
    let mut directories = Vec::new();
    let projects = state.join("projects");
    let listed = files::for_each_entry(&projects, |name, _| {
        directories.push(projects.join(name));
        std::ops::ControlFlow::Continue(())
    });
    if let Err(error) = listed
        && error.kind() != std::io::ErrorKind::NotFound
    {
        collector.add_problem(&format!("{}: {error}", projects.display()));
    }
    directories.sort();
    for directory in &directories {
        read_journal(collector, directory, None);
    }
    collector.project_paths().map(PathBuf::from).collect()
}

/// A digest of the configuration files that apply here. It only says whether two reports were made with the same.
fn digest_configuration(here: &CurrentProject) -> String {
    const LARGEST: u64 = 4 << 20;
    let mut text = Vec::new();
    for (layer, path) in &here.layers {
        text.extend_from_slice(layer.name().as_bytes());
        text.push(0);
        text.extend(files::read_file(path, LARGEST).ok().flatten().unwrap_or_default());
        text.push(0);
    }
    format!("{:016x}", fnv1a(&text))
}
