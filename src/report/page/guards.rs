//! The decisions of each guard and rule: sorted bars, those that only warned, those that never fired, and the table.

use std::cmp::Reverse;

use super::chart::{Fill, legend_entry, mark};
use super::decisions::Listed;
use super::html::{escape_name, format_date, percent, sum};
use super::stops::Stops;
use super::table::{Cell, capped, left_off, table_beside};
use crate::report::model::{GuardTotals, Report};
use crate::report::summary::{count_noun, format_count, format_percent};

const MOST_BARS: usize = 15;
/// How many names a list has.
const MOST_NAMES: usize = 60;

/// What was stopped, but not denied in the end.
fn open(guard: &GuardTotals, stops: &Stops<'_>) -> u64 {
    let watched = if stops.is_watch_only { 0 } else { guard.would_deny };
    sum([guard.asked, guard.overridden, guard.would_ask, watched])
}

/// What the filled part of a bar counts.
fn denied(guard: &GuardTotals, stops: &Stops<'_>) -> u64 {
    if stops.is_watch_only { guard.would_deny } else { guard.denied }
}

fn warned(guard: &GuardTotals) -> u64 {
    sum([guard.warned, guard.would_warn])
}

/// The section.
pub(super) fn section(report: &Report, stops: &Stops<'_>, listed: &Listed<'_>) -> String {
    let total = |guard: &GuardTotals| sum([denied(guard, stops), open(guard, stops)]);
    let mut fired: Vec<&GuardTotals> = report.guards.iter().filter(|guard| total(guard) > 0).collect();
    fired.sort_by_key(|guard| (Reverse(denied(guard, stops)), Reverse(total(guard))));
    let most = fired.iter().map(|guard| total(guard)).max().unwrap_or(0);
    let (shown, more) = capped(&fired, MOST_BARS);
    let bars: String = shown.iter().map(|guard| bar(guard, most, stops, listed)).collect();
    let mut section = format!(
        "<section id=\"guards\" aria-labelledby=\"guards-h\"><h2 id=\"guards-h\">Guards and rules</h2><p class=\"lead\">{}</p>",
        lead(&fired, stops)
    );
    if !fired.is_empty() {
        let filled = if stops.is_watch_only { "would deny" } else { "denied" };
        section += &format!(
            "<figure class=\"bars\"><ul class=\"legend\">{}{}</ul><div class=\"marks\" role=\"group\" \
             aria-label=\"Guards and rules, sorted by denials\">{bars}</div></figure>",
            legend_entry(Fill::Series(0), &format!("filled: {filled}")),
            legend_entry(Fill::Open, "outlined: asked, overridden or only watched"),
        );
    }
    if more > 0 {
        section += &format!("<p class=\"note\">{} more in the table.</p>", format_count(more as u64));
    }
    let is_warner = |guard: &&GuardTotals| total(guard) == 0 && warned(guard) > 0;
    let is_faulty = |guard: &&GuardTotals| guard.faults > 0;
    let is_silent = |guard: &&GuardTotals| guard.last.is_none() && guard.mode != "off";
    let lists = [
        list("Only warned", report, is_warner, warned),
        list("Failed", report, is_faulty, |guard| guard.faults),
        list("Never fired", report, is_silent, |_| 0),
    ];
    section += &format!("<div class=\"lists\">{}</div>", lists.concat());
    section + &table(report) + "</section>"
}

/// What the chart shows, in a sentence.
fn lead(fired: &[&GuardTotals], stops: &Stops<'_>) -> String {
    let total: u64 = sum(fired.iter().map(|guard| denied(guard, stops)));
    let verb = if stops.is_watch_only { "would have denied" } else { "denied" };
    match fired.first() {
        Some(first) if total > 0 => format!(
            "<b>{}</b> {verb} most: {} of {} ({}).",
            escape_name(&first.guard),
            format_count(denied(first, stops)),
            count_noun(total, "denial"),
            format_percent(denied(first, stops), total),
        ),
        _ => format!("No guard or rule {verb} anything."),
    }
}

fn bar(guard: &GuardTotals, most: u64, stops: &Stops<'_>, listed: &Listed<'_>) -> String {
    let (denied, open) = (denied(guard, stops), open(guard, stops));
    let fill = if denied > 0 { stops.fill(&guard.guard) } else { Fill::Open };
    let content = format!(
        "<span class=\"name\">{}</span><svg width=\"100%\" height=\"18\" aria-hidden=\"true\">\
         <rect width=\"{}\" height=\"18\" rx=\"2\" {}/><rect x=\"{}\" width=\"{}\" y=\".5\" height=\"17\" rx=\"2\" {}/></svg>\
         <span class=\"value\">{}{}</span>",
        escape_name(&guard.guard),
        percent(denied, most),
        fill.attributes(),
        percent(denied, most),
        percent(open, most),
        Fill::Open.attributes(),
        format_count(denied),
        if open > 0 { format!(" <small>+ {}</small>", format_count(open)) } else { String::new() },
    );
    mark("row", &listed.of_guard(&guard.guard), &content, &guard.guard, &lines(guard), "30%")
}

/// The lines of the details.
fn lines(guard: &GuardTotals) -> Vec<String> {
    let counts = [
        ("denied", guard.denied),
        ("asked", guard.asked),
        ("overridden", guard.overridden),
        ("would deny", guard.would_deny),
        ("would ask", guard.would_ask),
        ("warned", guard.warned),
        ("would warn", guard.would_warn),
        ("faults", guard.faults),
    ];
    let mut lines: Vec<String> = Vec::new();
    if !guard.purpose.is_empty() {
        lines.push(guard.purpose.clone());
    }
    let counts = counts.into_iter().filter(|(_, count)| *count > 0);
    lines.extend(counts.map(|(name, count)| format!("{name} {}", format_count(count))));
    lines.extend(guard.last.as_deref().map(|last| format!("last {}", format_date(last))));
    lines
}

/// A list of guards with a count each, if that is not zero.
fn list(
    title: &str,
    report: &Report,
    is_listed: impl Fn(&&GuardTotals) -> bool,
    count: impl Fn(&GuardTotals) -> u64,
) -> String {
    let listed: Vec<&GuardTotals> = report.guards.iter().filter(is_listed).collect();
    if listed.is_empty() {
        return String::new();
    }
    let (shown, more) = capped(&listed, MOST_NAMES);
    let entry = |guard: &&GuardTotals| match count(guard) {
        0 => format!("<li>{}</li>", escape_name(&guard.guard)),
        count => format!("<li>{} <small>{}</small></li>", escape_name(&guard.guard), format_count(count)),
    };
    format!(
        "<div><h3>{title} <small>{}</small></h3><ul class=\"names\">{}</ul>{}</div>",
        listed.len(),
        shown.iter().map(entry).collect::<String>(),
        left_off(more)
    )
}

fn table(report: &Report) -> String {
    let row = |guard: &GuardTotals| {
        let counts = [
            guard.judged,
            guard.denied,
            guard.asked,
            guard.warned,
            guard.overridden,
            guard.would_deny,
            guard.would_ask,
            guard.would_warn,
            guard.faults,
        ];
        let mut cells = vec![Cell::name(&guard.guard), Cell::name(&guard.pack), Cell::name(&guard.mode)];
        cells.extend(counts.map(Cell::count));
        let last = guard.last.as_deref().unwrap_or_default();
        let shown = if last.is_empty() { "never".into() } else { format_date(last) };
        cells.push(Cell::keyed(&shown, last));
        cells
    };
    let columns = [
        "Guard or rule",
        "Pack",
        "Mode",
        "Judged#",
        "Denied#",
        "Asked#",
        "Warned#",
        "Overridden#",
        "Would deny#",
        "Would ask#",
        "Would warn#",
        "Faults#",
        "Last",
    ];
    let rows: Vec<_> = report.guards.iter().map(row).collect();
    table_beside("all guards and rules", &columns, &rows)
}
