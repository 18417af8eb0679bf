//! The other tables: overrides, what would have happened without Provost, projects, and what the report does not know.

use super::html::{escape_line, format_date, format_minute, write_each};
use super::table::{Cell, table};
use crate::report::model::{LeftOut, Report, TranscriptGuard, TranscriptTotals};
use crate::report::summary::{count_noun, format_count, format_percent};
use crate::text::clip_line;

const LONGEST_TEXT: usize = 300;
/// How many commands of a guard are shown.
const MOST_SUBJECTS: usize = 3;

/// What the user overrode, with the reasons; empty if there is nothing.
pub(super) fn overrides(report: &Report) -> String {
    let mut rows = Vec::new();
    for decision in &report.decisions {
        for opinion in decision.opinions.iter().filter(|opinion| opinion.opinion == "overridden") {
            rows.push(vec![
                Cell::keyed(&format_minute(&decision.time), &decision.time),
                Cell::name(&opinion.guard),
                Cell::text(&opinion.reason.as_deref().map_or("no reason given".into(), clip)).within("q"),
                Cell::text(&clip(decision.subject.as_deref().unwrap_or(&opinion.what))).within("code"),
            ]);
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    let columns = ["Time", "Guard or rule", "The user’s reason", "What was denied"];
    format!(
        "<section id=\"overrides\" aria-labelledby=\"overrides-h\"><h2 id=\"overrides-h\">Overridden by the user</h2><p class=\"lead\">{}, \
         each with the reason that the user gave.</p>{}</section>",
        count_noun(rows.len() as u64, "override"),
        table("overrides", &columns, &rows)
    )
}

fn clip(text: &str) -> String {
    clip_line(text, LONGEST_TEXT)
}

/// What would have happened in the sessions of transcripts; empty without them.
pub(super) fn without_provost(totals: Option<&TranscriptTotals>) -> String {
    let Some(totals) = totals else { return String::new() };
    let row = |guard: &TranscriptGuard| {
        let subjects = guard.subjects.iter().take(MOST_SUBJECTS).map(|subject| clip(subject));
        vec![
            Cell::name(&guard.guard),
            Cell::count(guard.denied),
            Cell::count(guard.asked),
            Cell::count(guard.warned),
            Cell::text(&subjects.collect::<Vec<_>>().join("  ·  ")).within("code"),
        ]
    };
    let columns = ["Guard or rule", "Deny#", "Ask#", "Warn#", "Newest commands and paths"];
    let rows: Vec<_> = totals.guards.iter().map(row).collect();
    let exactness = match (totals.exact, totals.approximate) {
        (0, 0) => String::new(),
        (_, 0) => " All of these decisions follow from the call alone.".into(),
        (exact, approximate) => format!(
            " {} of these decisions follow from the call alone ({}); the others depend on what the disk was like.",
            format_count(exact),
            format_percent(exact, exact.saturating_add(approximate)),
        ),
    };
    let mut left = left_out(&totals.left_out);
    if !left.is_empty() {
        left.insert_str(0, "<h3>What was not judged</h3>");
    }
    format!(
        "<section id=\"past\" aria-labelledby=\"past-h\"><h2 id=\"past-h\">What Provost would have done in past sessions</h2>\
         <p class=\"lead\">In {} with {}, the guards and rules of now would have denied {}, asked about {} and warned about \
         {}.{exactness}</p>{}{left}</section>",
        count_noun(totals.sessions, "past session"),
        count_noun(totals.calls, "call"),
        format_count(totals.denied),
        format_count(totals.asked),
        format_count(totals.warned),
        if rows.is_empty() { String::new() } else { table("past sessions", &columns, &rows) },
    )
}

fn left_out(list: &[LeftOut]) -> String {
    if list.is_empty() {
        return String::new();
    }
    let row =
        |left: &LeftOut| vec![Cell::name(&left.what), Cell::count(left.count), Cell::text(&clip(&left.why))];
    let rows: Vec<_> = list.iter().map(row).collect();
    table("what was left out", &["What", "How many#", "Why"], &rows)
}

/// How the report was made, which projects it covers, and what it does not know.
pub(super) fn about(report: &Report) -> String {
    let (made, period) = (&report.made, &report.period);
    let covered = match &period.covered_from {
        Some(from) => format!("{} to {}", format_minute(from), format_minute(&period.to)),
        None => "nothing: no event was judged in this period".into(),
    };
    let asked = format!("{} ({} to {})", period.asked, format_date(&period.from), format_date(&period.to));
    let facts = [
        ("Covers", covered),
        ("Asked for", asked),
        ("Made", made.time.clone()),
        ("By", format!("Provost {}", made.version)),
        ("Configuration", made.configuration.clone()),
        ("Redacted", if made.is_redacted { "paths, commands, prompts and session ids" } else { "no" }.into()),
    ];
    let facts = write_each(facts.iter().filter(|(_, value)| !value.is_empty()), |(name, value)| {
        format!("<dt>{name}</dt><dd>{}</dd>", escape_line(&clip(value)))
    });
    let mut section = format!(
        "<section id=\"about\" aria-labelledby=\"about-h\"><h2 id=\"about-h\">About this report</h2><dl class=\"facts\">{facts}</dl>\
         <p class=\"explain\"><code data-copy>{}</code></p>",
        escape_line(&clip(&made.command))
    );
    if report.projects.len() > 1 {
        let rows: Vec<_> = report
            .projects
            .iter()
            .map(|project| {
                vec![
                    Cell::name(&project.name),
                    Cell::count(project.events),
                    Cell::count(project.denied),
                    Cell::count(project.sessions),
                    Cell::text(&clip(&project.path)),
                ]
            })
            .collect();
        let columns = ["Project", "Events#", "Denied#", "Sessions#", "Directory"];
        section += &format!("<h3>Projects</h3>{}", table("projects", &columns, &rows));
    }
    if !report.left_out.is_empty() {
        section += &format!("<h3>What this report does not know</h3>{}", left_out(&report.left_out));
    }
    section + "</section>"
}
