//! The report on a terminal: the answer first, then charts and tables, then what was left out.
//!
//! Every number comes from the model, as in the other forms. Long lists show their newest part, and say how to get the rest.

use std::io::{self, Write};
use std::ops::Range;

use super::charts::{Bar, print_bars, print_stacked_days};
use crate::cli::screen::{
    self, BOLD, CYAN, DIM, RED, decision_colour, display_width, pad, paint, print_field, print_table,
    wrap_for_terminal,
};
use crate::report::model::{
    DecisionRecord, GuardTotals, OpinionRecord, Report, ReviewCycle, TranscriptTotals,
};
use crate::report::summary::{count_noun, format_count, format_micros};
use crate::text::{clip_line, make_one_line};

/// The most rows of a list.
const MOST_ROWS: usize = 10;
const MOST_GUARDS: usize = 25;
/// The longest text of a cell.
const LONGEST: usize = 60;

pub(super) fn print_report(out: &mut impl Write, report: &Report) -> io::Result<()> {
    writeln!(out, "{}", paint(BOLD, &screen::wrap_line(&report.summary.sentence, 0)))?;
    print_figures(out, report)?;
    if report.summary.events > 0 {
        print_days(out, report)?;
        print_guards(out, report)?;
        print_outcomes(out, report)?;
        print_overrides(out, report)?;
        print_reviews(out, report)?;
        print_plans(out, report)?;
        print_cost(out, report)?;
        print_decisions(out, report, "Faults", "fault", |decision| {
            decision.opinions.iter().any(|opinion| opinion.opinion == "fault")
        })?;
        print_decisions(out, report, "Would be denied", "would deny", |decision| {
            decision.decision == "would deny"
        })?;
        print_decisions(out, report, "Last denials", "deny", |decision| {
            decision.decision.starts_with("deny")
        })?;
        print_explain_note(out, report)?;
        print_projects(out, report)?;
    } else {
        let text = "`provost doctor` says whether your sessions call Provost.";
        writeln!(out, "\n{}", wrap_for_terminal(text, 0))?;
    }
    if let Some(totals) = &report.without_provost {
        print_transcripts(out, totals)?;
    }
    print_end(out, report)
}

fn print_heading(out: &mut impl Write, text: &str) -> io::Result<()> {
    writeln!(out, "\n{}", paint(BOLD, text))
}

fn print_figures(out: &mut impl Write, report: &Report) -> io::Result<()> {
    writeln!(out)?;
    let figures = &report.summary.figures;
    let widest = |text: fn(&crate::report::model::Figure) -> &str| {
        figures.iter().map(|figure| display_width(text(figure))).max().unwrap_or(0)
    };
    let (value, label) = (widest(|figure| &figure.value), widest(|figure| &figure.label));
    for figure in figures {
        let blanks = " ".repeat(value - display_width(&figure.value));
        let label = if figure.detail.is_empty() { figure.label.clone() } else { pad(&figure.label, label) };
        let front = format!("  {blanks}{}  {label}", paint(BOLD, &figure.value));
        if figure.detail.is_empty() {
            writeln!(out, "{front}")?;
        } else {
            screen::print_line(out, &[front], &paint(DIM, &figure.detail))?;
        }
    }
    Ok(())
}

fn print_days(out: &mut impl Write, report: &Report) -> io::Result<()> {
    print_heading(out, "Denied per day")?;
    print_stacked_days(out, &report.days)
}

fn print_guards(out: &mut impl Write, report: &Report) -> io::Result<()> {
    let (spoke, silent): (Vec<&GuardTotals>, Vec<&GuardTotals>) =
        report.guards.iter().partition(|guard| guard.count_spoken() > 0);
    print_heading(out, "Denied per guard and rule")?;
    if spoke.is_empty() {
        writeln!(out, "  {}", paint(DIM, "none of them had anything to say"))?;
    }
    let bars: Vec<Bar> = spoke.iter().take(MOST_GUARDS).map(|guard| guard_bar(guard)).collect();
    print_bars(out, &bars)?;
    print_rest(out, spoke.len().saturating_sub(MOST_GUARDS), "guards and rules", "`provost report --json`")?;
    let never = silent.iter().filter(|guard| guard.mode != "off").map(|guard| make_one_line(&guard.guard));
    let never: Vec<String> = never.collect();
    if never.is_empty() {
        return Ok(());
    }
    print_field(out, &format!("  {}", paint(CYAN, "never fired")), &never.join(", "))
}

/// The denials of a guard as a bar, and everything else about it in words.
fn guard_bar(guard: &GuardTotals) -> Bar {
    let counts = [
        (guard.asked, "asked"),
        (guard.warned, "warned"),
        (guard.overridden, "overridden"),
        (guard.would_deny, "would be denied"),
        (guard.would_ask, "would be asked"),
        (guard.would_warn, "would be warned"),
        (guard.faults, "failed"),
    ];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let mut text: Vec<String> =
        counts.map(|(count, word)| format!("{} {word}", format_count(count))).collect();
    text.push(format!("of {} judged", format_count(guard.judged)));
    text.extend(guard.last.as_deref().map(|last| format!("last {}", show_time(last))));
    text.extend((guard.mode != "enforce").then(|| format!("mode {}", guard.mode)));
    Bar {
        name: make_one_line(&clip_line(&guard.guard, LONGEST)),
        number: guard.denied,
        parts: vec![(guard.denied, RED)],
        text: text.join(", "),
    }
}

fn print_outcomes(out: &mut impl Write, report: &Report) -> io::Result<()> {
    if report.summary.denied_calls == 0 {
        return Ok(());
    }
    let outcomes = &report.outcomes;
    print_heading(out, "After a denied call")?;
    let bars = [
        ("fixed", outcomes.fixed, "the same call was allowed later"),
        ("overridden", outcomes.overridden, "the user allowed it"),
        ("tried again", outcomes.tried_again, "and was denied again"),
        ("given up", outcomes.given_up, "the same call did not come again"),
        ("unknown", outcomes.unknown, "the journal does not say"),
    ];
    let bars = bars.into_iter().filter(|(name, count, _)| *count > 0 || *name != "unknown");
    let bars: Vec<Bar> = bars
        .map(|(name, count, text)| Bar {
            name: name.into(),
            number: count,
            parts: vec![(count, decision_colour("note"))],
            text: text.into(),
        })
        .collect();
    print_bars(out, &bars)
}

/// The opinions of one kind, each with its decision, newest first.
fn opinions<'r>(report: &'r Report, word: &'r str) -> Vec<(&'r DecisionRecord, &'r OpinionRecord)> {
    let decisions = report.decisions.iter();
    let of_word = |decision: &'r DecisionRecord| {
        decision
            .opinions
            .iter()
            .filter(move |opinion| opinion.opinion == word)
            .map(move |opinion| (decision, opinion))
    };
    decisions.flat_map(of_word).collect()
}

fn print_overrides(out: &mut impl Write, report: &Report) -> io::Result<()> {
    let overrides = opinions(report, "overridden");
    if overrides.is_empty() {
        return Ok(());
    }
    print_heading(out, "Overrides")?;
    let mut rows = vec![["ID", "TIME", "GUARD", "REASON"].map(String::from).to_vec()];
    rows.extend(overrides.iter().take(MOST_ROWS).map(|(decision, opinion)| {
        vec![
            make_one_line(&decision.id),
            show_time(&decision.time),
            make_one_line(&opinion.guard),
            clip_line(opinion.reason.as_deref().unwrap_or(&opinion.what), LONGEST),
        ]
    }));
    print_table(out, &rows)?;
    print_rest(out, overrides.len().saturating_sub(MOST_ROWS), "overrides", "`provost report --json`")
}

fn print_decisions(
    out: &mut impl Write,
    report: &Report,
    heading: &str,
    word: &str,
    is_wanted: impl Fn(&DecisionRecord) -> bool,
) -> io::Result<()> {
    let wanted: Vec<&DecisionRecord> =
        report.decisions.iter().filter(|decision| is_wanted(decision)).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    print_heading(out, heading)?;
    for decision in wanted.iter().take(MOST_ROWS) {
        let opinion = decision.opinions.iter().find(|opinion| opinion.opinion == word);
        let opinion = opinion.or(decision.opinions.first());
        let text = opinion.map_or_else(String::new, |opinion| {
            let why = if opinion.why.is_empty() { String::new() } else { format!(": {}", opinion.why) };
            format!("{}: {}{why}", opinion.guard, opinion.what)
        });
        let mut cells =
            vec![paint(DIM, &make_one_line(&decision.id)), paint(DIM, &show_time(&decision.time))];
        if word == "deny" {
            cells.push(paint(RED, &pad(decision.outcome.as_deref().unwrap_or_default(), 11)));
        }
        screen::print_line(out, &cells, &clip_line(&text, 160))?;
    }
    print_rest(out, wanted.len().saturating_sub(MOST_ROWS), "decisions", "`provost report --json`")
}

fn print_explain_note(out: &mut impl Write, report: &Report) -> io::Result<()> {
    if report.decisions.is_empty() {
        return Ok(());
    }
    let note = "`provost explain ID` shows everything about one decision.";
    writeln!(out, "{}", paint(DIM, &wrap_for_terminal(note, 0)))
}

fn print_reviews(out: &mut impl Write, report: &Report) -> io::Result<()> {
    if report.reviews.is_empty() {
        return Ok(());
    }
    print_heading(out, "Reviews")?;
    let mut rows = vec![["PLAN", "REVIEW", "ROUNDS", "RESULT", "TIME", "MODELS"].map(String::from).to_vec()];
    rows.extend(report.reviews.iter().take(MOST_ROWS).map(review_row));
    print_numbers(out, rows, 2..3)?;
    print_rest(out, report.reviews.len().saturating_sub(MOST_ROWS), "reviews", "`provost report --json`")
}

fn review_row(cycle: &ReviewCycle) -> Vec<String> {
    let last = cycle.rounds.last();
    let result = match last {
        _ if cycle.is_clean => "clean",
        Some(round) => round.verdict.as_str(),
        None => "",
    };
    let task = cycle.task.as_ref().map_or(String::new(), |task| format!(", task {task}"));
    let is_timed = cycle.rounds.iter().any(|round| round.micros.is_some());
    vec![
        clip_line(&cycle.plan, LONGEST),
        clip_line(&format!("{}{task}", cycle.review), LONGEST),
        cycle.rounds.len().to_string(),
        result.into(),
        if is_timed { format_micros(cycle.micros) } else { String::new() },
        clip_line(&cycle.models.join(", "), LONGEST),
    ]
}

fn print_plans(out: &mut impl Write, report: &Report) -> io::Result<()> {
    if report.plans.is_empty() {
        return Ok(());
    }
    print_heading(out, "Plans assessed")?;
    let mut rows = vec![["PLAN", "ASSESSMENTS", "RESULT", "LAST"].map(String::from).to_vec()];
    rows.extend(report.plans.iter().take(MOST_ROWS).map(|plan| {
        let result = if plan.is_passed { "passed" } else { "failed" };
        vec![
            clip_line(&plan.plan, LONGEST),
            plan.assessments.to_string(),
            result.into(),
            show_time(&plan.last),
        ]
    }));
    print_numbers(out, rows, 1..2)?;
    print_rest(out, report.plans.len().saturating_sub(MOST_ROWS), "plans", "`provost report --json`")
}

fn print_cost(out: &mut impl Write, report: &Report) -> io::Result<()> {
    print_heading(out, "Time added")?;
    let mut rows = vec![["EVENT", "COUNT", "MEDIAN", "95 %", "LONGEST", "TOTAL"].map(String::from).to_vec()];
    rows.extend(report.cost.by_event.iter().take(MOST_GUARDS).map(|event| {
        let time = &event.time;
        let name = if event.event.is_empty() { "unreadable event" } else { &event.event };
        vec![
            clip_line(name, LONGEST),
            format_count(time.events),
            format_micros(time.p50_micros),
            format_micros(time.p95_micros),
            format_micros(time.max_micros),
            format_micros(time.total_micros),
        ]
    }));
    print_numbers(out, rows, 1..6)
}

fn print_projects(out: &mut impl Write, report: &Report) -> io::Result<()> {
    if report.projects.len() < 2 {
        return Ok(());
    }
    print_heading(out, "Projects")?;
    let mut rows = vec![["PROJECT", "EVENTS", "DENIED", "SESSIONS"].map(String::from).to_vec()];
    rows.extend(report.projects.iter().map(|project| {
        let counts = [project.events, project.denied, project.sessions].map(format_count);
        [vec![make_one_line(&project.path)], counts.to_vec()].concat()
    }));
    print_numbers(out, rows, 1..4)
}

fn print_transcripts(out: &mut impl Write, totals: &TranscriptTotals) -> io::Result<()> {
    print_heading(out, "In past sessions")?;
    let text = format!(
        "In {} of the transcripts with {}, the guards and rules of now would have denied {}, asked about {} and warned \
         about {} ({} exact, {} approximate).",
        count_noun(totals.sessions, "session"),
        count_noun(totals.calls, "call"),
        format_count(totals.denied),
        format_count(totals.asked),
        format_count(totals.warned),
        format_count(totals.exact),
        format_count(totals.approximate),
    );
    screen::print_sentence(out, &text)?;
    if totals.guards.is_empty() {
        return Ok(());
    }
    let mut rows = vec![["GUARD", "DENIED", "ASKED", "WARNED", "FOR EXAMPLE"].map(String::from).to_vec()];
    rows.extend(totals.guards.iter().take(MOST_GUARDS).map(|guard| {
        let counts = [guard.denied, guard.asked, guard.warned].map(format_count);
        let example = guard.subjects.first().map_or(String::new(), |subject| clip_line(subject, LONGEST));
        [vec![make_one_line(&guard.guard)], counts.to_vec(), vec![example]].concat()
    }));
    print_numbers(out, rows, 1..4)
}

fn print_end(out: &mut impl Write, report: &Report) -> io::Result<()> {
    let transcripts = report.without_provost.iter().flat_map(|totals| &totals.left_out);
    let left_out: Vec<_> = report.left_out.iter().chain(transcripts).collect();
    if !left_out.is_empty() {
        print_heading(out, "Left out")?;
    }
    for part in left_out {
        let text = format!("{} {}: {}.", format_count(part.count), part.what, part.why);
        writeln!(out, "{}", wrap_for_terminal(&make_one_line(&text), 2))?;
    }
    let period = &report.period;
    let covered = match &period.covered_from {
        Some(from) if *from == period.from => String::new(),
        Some(from) => format!("; the journal begins at {}", show_time(from)),
        None => String::new(),
    };
    let text = format!(
        "{} to {} (UTC){covered}. Made by Provost {} with `{}`, configuration {}.",
        show_time(&period.from),
        show_time(&period.to),
        report.made.version,
        report.made.command,
        report.made.configuration
    );
    writeln!(out, "\n{}", paint(DIM, &wrap_for_terminal(&make_one_line(&text), 0)))
}

/// Prints a table whose columns of numbers are aligned at their ends. Those are all columns in `numbers`.
fn print_numbers(out: &mut impl Write, mut rows: Vec<Vec<String>>, numbers: Range<usize>) -> io::Result<()> {
    for column in numbers {
        let width = rows.iter().filter_map(|row| row.get(column)).map(|cell| display_width(cell)).max();
        for cell in rows.iter_mut().filter_map(|row| row.get_mut(column)) {
            *cell = format!("{}{cell}", " ".repeat(width.unwrap_or(0) - display_width(cell)));
        }
    }
    print_table(out, &rows)
}

fn print_rest(out: &mut impl Write, count: usize, what: &str, how: &str) -> io::Result<()> {
    if count == 0 {
        return Ok(());
    }
    let text = format!("and {count} more {what}: {how} has all");
    writeln!(out, "{}", paint(DIM, &wrap_for_terminal(&text, 0)))
}

/// A time for people: `2026-11-17 12:00`.
fn show_time(time: &str) -> String {
    make_one_line(&time.get(..16).unwrap_or(time).replace('T', " "))
}
