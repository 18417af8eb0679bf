//! `provost journal`: the decisions of this project, newest last.

use std::io::{self, Write};

use super::screen::{self, BOLD, DIM, colour_of, fitted, painted};
use super::{Exit, Here, Outcome, Trouble};
use crate::journal::{self, Record};
use crate::text::{bounded, one_line, printable_json};

/// As much of a reason as a line has; `provost explain` has all of it.
const LONGEST: usize = 240;

/// Show what was decided in this project, newest last
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost journal                   the last 20 decisions
  provost journal -n 200 --denied   denials among the last 200
  provost journal --follow          as they are made
  provost journal --json            one JSON object per line, for other programs")]
pub(crate) struct Journal {
    /// Go on showing decisions as they are made
    #[arg(long, short)]
    follow: bool,
    /// Print the lines as they are kept
    #[arg(long)]
    json: bool,
    /// Only denials, those that the user lifted among them
    #[arg(long)]
    denied: bool,
    /// How many of the last decisions to look at
    #[arg(long, short = 'n', default_value_t = 20)]
    number: usize,
}

impl Journal {
    pub(crate) fn run(self) -> Outcome {
        let here = Here::find()?;
        let records = here.records()?;
        let mut out = anstream::stdout().lock();
        if here.state.is_none() {
            writeln!(out, "there is no home directory, so no journal is kept")?;
            return Ok(Exit::Found);
        }
        if records.is_empty() && !self.follow && !self.json {
            let project = one_line(&here.project.to_string_lossy());
            writeln!(out, "{}", fitted(&format!("no decisions in {project} yet"), 0))?;
            return Ok(Exit::Done);
        }
        for record in records.iter().skip(records.len().saturating_sub(self.number)) {
            self.show(&mut out, record)?;
        }
        if self.follow {
            let Some(state) = &here.state else {
                return Err(Trouble::Io(
                    "there is no home directory, so there is no journal to follow".into(),
                ));
            };
            let mut failed = None;
            journal::followed(state, |record| {
                failed = self.show(&mut out, &record).and_then(|()| out.flush()).err();
                failed.is_none()
            })?;
            if let Some(error) = failed {
                return Err(error.into());
            }
        }
        Ok(Exit::Done)
    }

    fn show(&self, out: &mut impl Write, record: &Record) -> io::Result<()> {
        if self.denied && !record.is_denial() && !record.is_overridden() {
            return Ok(());
        }
        if self.json {
            return writeln!(out, "{}", printable_json(&record.0.to_string()));
        }
        let decision = record.text("decision");
        let event = match (record.text("event"), record.text("tool")) {
            ("", _) => "unreadable event".to_owned(),
            (event, "") => event.to_owned(),
            (event, tool) => format!("{event} {tool}"),
        };
        let time = record.text("time").get(..19).unwrap_or_default().replace('T', " ");
        let why = match record.speaker() {
            Some(said) if said.text("what").is_empty() => {
                format!("{}: {}", said.text("guard"), said.text("opinion"))
            }
            Some(said) => {
                let colon = if said.text("why").is_empty() { "" } else { ": " };
                format!("{}: {}{colon}{}", said.text("guard"), said.text("what"), said.text("why"))
            }
            None => record.text("remark").to_owned(),
        };
        let cells = [
            painted(DIM, &one_line(record.text("id"))),
            painted(DIM, &one_line(&time)),
            painted(colour_of(decision), &format!("{:12}", one_line(decision))),
            painted(BOLD, &format!("{:18}", one_line(&event))),
        ];
        screen::line(out, &cells, &one_line(&bounded(&why, LONGEST)))
    }
}
