//! `provost explain`: why a call was denied: each guard's opinion, its evidence, and the fix.

use std::io::{self, Write};

use super::screen::{
    BOLD, CYAN, DIM, decision_colour, paint, print_detail, print_field, text_width, wrap, wrap_for_terminal,
    wrap_line,
};
use super::{CommandError, CommandResult, CurrentProject, Exit};
use crate::journal::{GuardRecord, JournalRecord};
use crate::registry::{RULES, find_guard};
use crate::rules::RULE_PREFIX;
use crate::text::make_one_line;
use provost_files::byte_search::find_part;

/// Explain why a call was denied, and how to fix it
///
/// Shows each guard's opinion and its evidence. Without an ID, it explains the last denial in this project. The first characters of an ID are
/// enough if no other ID starts with them.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost explain
  provost explain 1k0avfc7196p9
  provost journal --denied          lists denials with their IDs
  provost journal --would           lists what watched guards and rules would have denied")]
pub(crate) struct Explain {
    /// The ID of a decision, from `provost journal`
    id: Option<String>,
}

impl Explain {
    pub(crate) fn run(self) -> CommandResult {
        let here = CurrentProject::locate()?;
        let found = FoundRecords::search(&here, self.id.as_deref())?;
        let mut out = anstream::stdout().lock();
        let answer = match (found.records.as_slice(), &self.id) {
            ([record], _) => {
                print_record(&mut out, record)?;
                return Ok(Exit::Done);
            }
            (_, None) => {
                let project = make_one_line(&here.project.to_string_lossy());
                let list = if found.has_watched {
                    "`provost journal --would` shows what watched guards and rules would have denied"
                } else {
                    "`provost journal` shows all decisions"
                };
                format!("nothing was denied in {project} yet; {list}")
            }
            ([], Some(id)) => {
                format!("no decision in this project has an ID that starts with `{}`", make_one_line(id))
            }
            (_, Some(id)) => {
                format!(
                    "{} decisions have an ID that starts with `{}`; give more of the ID",
                    found.count,
                    make_one_line(id)
                )
            }
        };
        writeln!(out, "{}", wrap_for_terminal(&answer, 0))?;
        Ok(Exit::Problem)
    }
}

/// The records that a command line means.
#[derive(Default)]
struct FoundRecords {
    /// With an id, the first ones that start with it; without one, the last denial.
    records: Vec<JournalRecord>,
    count: u64,
    /// Whether a watched guard or rule had something to say.
    has_watched: bool,
}

impl FoundRecords {
    fn search(here: &CurrentProject, id: Option<&str>) -> Result<Self, CommandError> {
        let mut found = Self::default();
        here.visit_journal(|line| {
            let has = |text: &str| find_part(line, text.as_bytes()).is_some();
            // Few of many lines have to be parsed.
            if !id.map_or_else(|| has("\"deny") || has("\"would "), has) {
                return;
            }
            let Some(record) = JournalRecord::parse_bytes(line).map(JournalRecord::masked) else { return };
            match id {
                Some(id) if record.text("id").starts_with(id) => {
                    found.count += 1;
                    if found.records.len() < 2 {
                        found.records.push(record);
                    }
                }
                None if record.is_denial() => found.records = vec![record],
                None => found.has_watched |= record.watched_decision().is_some(),
                Some(_) => {}
            }
        })?;
        Ok(found)
    }
}

fn print_record(out: &mut impl Write, record: &JournalRecord) -> io::Result<()> {
    let decision = record.shown_decision();
    if !record.text("subject").is_empty() {
        writeln!(out, "{}", paint(BOLD, &wrap_line(record.text("subject"), 0)))?;
    }
    writeln!(
        out,
        "{}  {}",
        paint(decision_colour(decision), &make_one_line(decision)),
        paint(DIM, &make_one_line(record.text("id")))
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
        print_detail(out, DIM, name, &make_one_line(value))?;
    }
    print_detail(out, DIM, "took", &format_millis(record.micros()))?;
    // Silent guards share one line, unless all were silent.
    let (silent, others): (Vec<_>, Vec<_>) = record
        .guards()
        .partition(|guard| guard.text("opinion") == "silence" && guard.evidence().next().is_none());
    for guard in if others.is_empty() { &silent } else { &others } {
        writeln!(out)?;
        print_guard(out, guard)?;
    }
    if !others.is_empty() && !silent.is_empty() {
        let names: Vec<String> = silent.iter().map(|guard| make_one_line(guard.text("guard"))).collect();
        writeln!(out)?;
        print_field(out, &paint(decision_colour("silence"), "silence"), &names.join(", "))?;
    }
    Ok(())
}

fn print_guard(out: &mut impl Write, guard: &GuardRecord<'_>) -> io::Result<()> {
    let opinion = guard.text("opinion");
    let name = make_one_line(guard.text("guard"));
    writeln!(
        out,
        "{}  {}  {}",
        paint(BOLD, &name),
        paint(decision_colour(opinion), &make_one_line(opinion)),
        paint(DIM, &format_millis(guard.micros())),
    )?;
    let is_rule = guard.text("guard").starts_with(RULE_PREFIX);
    let known = find_guard(if is_rule { RULES } else { guard.text("guard") });
    if let Some(known) = known.filter(|_| !is_rule) {
        writeln!(out, "{}", paint(DIM, &wrap(known.purpose, 2, text_width())))?;
    }
    let mut lines =
        vec![("what", make_one_line(guard.text("what"))), ("why", make_one_line(guard.text("why")))];
    lines.extend(guard.evidence().map(|evidence| ("evidence", make_one_line(evidence))));
    lines.push(("to fix", make_one_line(guard.text("fix"))));
    if opinion != "silence"
        && let Some(known) = known
    {
        if opinion.starts_with("would ") {
            lines.push(("watched", "it is judged and recorded, but not enforced".into()));
        } else {
            if known.is_overridable && guard.text("final").is_empty() {
                lines.push((
                    "once",
                    format!("type the prompt `provost override {name} REASON` in the client"),
                ));
            }
            lines.push(("way out", known.way_out.to_owned()));
        }
    }
    let mut lines = lines.iter().filter(|(_, text)| !text.is_empty());
    lines.try_for_each(|(label, text)| print_detail(out, CYAN, label, text))
}

fn format_millis(micros: u64) -> String {
    format!("{}.{:03} ms", micros / 1000, micros % 1000)
}
