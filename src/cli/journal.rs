//! `provost journal`: the decisions in this project, newest last.

use std::collections::VecDeque;
use std::io::{self, Write};

use super::screen::{self, BOLD, DIM, decision_colour, paint, wrap_for_terminal};
use super::{CommandResult, CurrentProject, Exit};
use crate::journal::{self, JournalRecord};
use crate::text::{make_json_printable, make_one_line, truncate_utf16};

/// The longest reason on a line; `provost explain` shows all of it.
const LONGEST: usize = 240;

/// Show the decisions in this project, newest last
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost journal                   the last 20 decisions
  provost journal -n 200 --denied   denials among the last 200
  provost journal -n 999 --would    what watched guards and rules would have denied
  provost journal --follow          new decisions as they are made
  provost journal --json            one JSON object per line, for other programs")]
// Each flag is an option of the command line.
#[allow(clippy::struct_excessive_bools)]
pub(crate) struct Journal {
    /// Keep running, and show new decisions as they are made
    #[arg(long, short)]
    follow: bool,
    /// Print one JSON object per line, as stored
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    only: ShownRecords,
    /// How many of the last decisions to read
    #[arg(long, short = 'n', default_value_t = 20)]
    number: usize,
}

/// Which decisions are shown.
#[derive(clap::Args)]
struct ShownRecords {
    /// Show only denials, including those that the user overrode
    #[arg(long)]
    denied: bool,
    /// Show only what guards and rules that are only watched would have denied, asked or warned about
    #[arg(long, conflicts_with = "denied")]
    would: bool,
}

impl Journal {
    pub(crate) fn run(self) -> CommandResult {
        let here = CurrentProject::locate()?;
        let mut records = VecDeque::new();
        here.visit_journal(|line| {
            records.extend(JournalRecord::parse_bytes(line).map(JournalRecord::masked));
            if records.len() > self.number {
                records.pop_front();
            }
        })?;
        let mut out = anstream::stdout().lock();
        let Some(state) = &here.state else {
            writeln!(out, "there is no journal, because HOME is not set")?;
            return Ok(Exit::Problem);
        };
        if records.is_empty() && self.number > 0 && !self.follow && !self.json {
            let project = make_one_line(&here.project.to_string_lossy());
            writeln!(out, "{}", wrap_for_terminal(&format!("no decisions in {project} yet"), 0))?;
            return Ok(Exit::Done);
        }
        for record in &records {
            self.print_record(&mut out, record)?;
        }
        if self.follow {
            let mut shown = Ok(());
            journal::follow_records(state, |record| {
                shown = self.print_record(&mut out, &record.masked()).and_then(|()| out.flush());
                shown.is_ok()
            })?;
            shown?;
        }
        Ok(Exit::Done)
    }

    fn print_record(&self, out: &mut impl Write, record: &JournalRecord) -> io::Result<()> {
        if self.only.denied && !record.is_denial() && !record.is_overridden() {
            return Ok(());
        }
        if self.only.would && record.watched_decision().is_none() {
            return Ok(());
        }
        if self.json {
            return writeln!(out, "{}", make_json_printable(&record.0.to_string()));
        }
        let decision = record.shown_decision();
        let event = match (record.text("event"), record.text("tool")) {
            ("", _) => "unreadable event".to_owned(),
            (event, "") => event.to_owned(),
            (event, tool) => format!("{event} {tool}"),
        };
        let time = record.text("time").get(..19).unwrap_or_default().replace('T', " ");
        let is_watched = decision.starts_with("would ");
        let watched = record.guards().find(|guard| is_watched && guard.text("opinion") == decision);
        let why = match watched.or_else(|| record.first_speaking_guard()) {
            Some(guard) if guard.text("what").is_empty() => {
                format!("{}: {}", guard.text("guard"), guard.text("opinion"))
            }
            Some(guard) => {
                let colon = if guard.text("why").is_empty() { "" } else { ": " };
                format!("{}: {}{colon}{}", guard.text("guard"), guard.text("what"), guard.text("why"))
            }
            None => {
                let remark = record.text("remark").to_owned();
                let works = record.guards().map(|guard| guard.describe_work());
                std::iter::once(remark).chain(works).find(|text| !text.is_empty()).unwrap_or_default()
            }
        };
        let cells = [
            paint(DIM, &make_one_line(record.text("id"))),
            paint(DIM, &make_one_line(&time)),
            paint(decision_colour(decision), &format!("{:12}", make_one_line(decision))),
            paint(BOLD, &format!("{:18}", make_one_line(&event))),
        ];
        screen::print_line(out, &cells, &make_one_line(&truncate_utf16(&why, LONGEST)))
    }
}
