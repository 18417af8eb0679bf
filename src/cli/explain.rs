//! `provost explain`: which guards ran, what each said, on which evidence, how to go on.

use std::io::{self, Write};

use super::screen::{BOLD, CYAN, DIM, colour_of, fitted, painted, width, wrapped};
use super::{Exit, Here, Outcome};
use crate::journal::{Record, Said};
use crate::registry::Guard;
use crate::text::one_line;

/// Tell why a call was denied, on which evidence, and how to go on
///
/// Without an ID it explains the last denial of this project. The beginning of an ID is enough, if
/// it is the only one that begins so.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost explain
  provost explain 1k0avfc7196p9
  provost journal --denied          to find an ID")]
pub(crate) struct Explain {
    /// The ID of a decision, from `provost journal`
    id: Option<String>,
}

impl Explain {
    pub(crate) fn run(self) -> Outcome {
        let here = Here::find()?;
        let records = here.records()?;
        let mut out = anstream::stdout().lock();
        let found: Vec<&Record> = match &self.id {
            Some(id) => records.iter().filter(|record| record.text("id").starts_with(id.as_str())).collect(),
            None => records.iter().rev().find(|record| record.is_denial()).into_iter().collect(),
        };
        let answer = match (found.as_slice(), &self.id) {
            ([record], _) => {
                explain(&mut out, record)?;
                return Ok(Exit::Done);
            }
            (_, None) => {
                let project = one_line(&here.project.to_string_lossy());
                format!("nothing was denied in {project} yet; `provost journal` shows all decisions")
            }
            ([], Some(id)) => format!("no decision in this project begins with `{}`", one_line(id)),
            (several, Some(id)) => {
                format!("{} decisions begin with `{}`; give more of the ID", several.len(), one_line(id))
            }
        };
        writeln!(out, "{}", fitted(&answer, 0))?;
        Ok(Exit::Found)
    }
}

fn explain(out: &mut impl Write, record: &Record) -> io::Result<()> {
    let decision = record.text("decision");
    if !record.text("subject").is_empty() {
        writeln!(out, "{}", painted(BOLD, &wrapped(&one_line(record.text("subject")), 0, width())))?;
    }
    writeln!(
        out,
        "{}  {}",
        painted(colour_of(decision), &one_line(decision)),
        painted(DIM, &one_line(record.text("id")))
    )?;
    let about = [
        ("time", record.text("time")),
        ("event", record.text("event")),
        ("tool", record.text("tool")),
        ("agent", record.text("agent")),
        ("mode", record.text("mode")),
        ("session", record.text("session")),
        ("project", record.text("project")),
        ("remark", record.text("remark")),
        ("version", record.text("version")),
    ];
    for (name, value) in about.into_iter().filter(|(_, value)| !value.is_empty()) {
        let value = wrapped(&one_line(value), 12, width());
        writeln!(out, "  {}  {}", painted(DIM, &format!("{name:8}")), value.trim_start())?;
    }
    writeln!(out, "  {}  {} ms", painted(DIM, "took    "), thousandths(record.micros()))?;
    // What only kept silent is told in a line, unless nobody else said a word.
    let (silent, others): (Vec<_>, Vec<_>) = record
        .guards()
        .partition(|said| said.text("opinion") == "silence" && said.evidence().next().is_none());
    let in_full = if others.is_empty() { &silent } else { &others };
    for said in in_full {
        writeln!(out)?;
        guard(out, said)?;
    }
    if !others.is_empty() && !silent.is_empty() {
        let names: Vec<String> = silent.iter().map(|said| one_line(said.text("guard"))).collect();
        let names = wrapped(&names.join(", "), 9, width());
        writeln!(out)?;
        writeln!(out, "{}  {}", painted(colour_of("silence"), "silence"), names.trim_start())?;
    }
    Ok(())
}

fn guard(out: &mut impl Write, said: &Said<'_>) -> io::Result<()> {
    let opinion = said.text("opinion");
    let name = one_line(said.text("guard"));
    writeln!(
        out,
        "{}  {}  {}",
        painted(BOLD, &name),
        painted(colour_of(opinion), &one_line(opinion)),
        painted(DIM, &format!("{} ms", thousandths(said.micros()))),
    )?;
    let known = Guard::find(said.text("guard"));
    if let Some(known) = known {
        writeln!(out, "{}", painted(DIM, &wrapped(known.purpose, 2, width())))?;
    }
    let mut lines = vec![("what", one_line(said.text("what"))), ("why", one_line(said.text("why")))];
    lines.extend(said.evidence().map(|evidence| ("evidence", one_line(evidence))));
    lines.push(("to fix", one_line(said.text("fix"))));
    if opinion != "silence"
        && let Some(known) = known
    {
        let form = known.override_form().filter(|_| said.text("final").is_empty());
        lines.push((
            "once",
            form.map(|form| format!("type the prompt {form} in the client")).unwrap_or_default(),
        ));
        lines.push(("way out", known.way_out.to_owned()));
    }
    for (label, text) in lines.into_iter().filter(|(_, text)| !text.is_empty()) {
        let text = wrapped(&text, 12, width());
        writeln!(out, "  {}  {}", painted(CYAN, &format!("{label:8}")), text.trim_start())?;
    }
    Ok(())
}

/// Microseconds as milliseconds.
fn thousandths(micros: u64) -> String {
    format!("{}.{:03}", micros / 1000, micros % 1000)
}
