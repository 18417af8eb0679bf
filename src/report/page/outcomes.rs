//! How denied calls went on: one bar with a segment for each outcome.

use super::chart::{Fill, legend_entry, mark};
use super::decisions::Listed;
use super::html::{percent, sum};
use super::table::{Cell, table_beside};
use crate::report::model::{Outcomes, Report};
use crate::report::summary::{count_noun, format_count, format_percent};

/// An outcome, as decisions name it, with what it means.
const OUTCOMES: [(&str, Fill, &str); 5] = [
    ("fixed", Fill::Series(3), "the same call was allowed later"),
    ("overridden", Fill::Series(2), "the user overrode the denial"),
    ("tried again", Fill::Series(0), "the same call was denied again"),
    ("given up", Fill::Series(5), "the call did not come again"),
    ("unknown", Fill::Open, "the journal does not say"),
];

fn counts(outcomes: &Outcomes) -> [u64; 5] {
    [outcomes.fixed, outcomes.overridden, outcomes.tried_again, outcomes.given_up, outcomes.unknown]
}

/// The section.
pub(super) fn section(report: &Report, listed: &Listed<'_>) -> String {
    let counts = counts(&report.outcomes);
    let total: u64 = sum(counts);
    let entries: Vec<_> = OUTCOMES.into_iter().zip(counts).filter(|(_, count)| *count > 0).collect();
    let heading =
        "<section id=\"outcomes\" aria-labelledby=\"outcomes-h\"><h2 id=\"outcomes-h\">After a denial</h2>";
    if total == 0 {
        return format!("{heading}<p class=\"lead\">No tool call was denied.</p></section>");
    }
    let lead = format!(
        "Of {}, {} were fixed and {} overridden.",
        count_noun(total, "denied call"),
        format_count(report.outcomes.fixed),
        format_count(report.outcomes.overridden)
    );
    let (mut shapes, mut marks, mut columns, mut legend) =
        (String::new(), String::new(), String::new(), String::new());
    let mut before = 0;
    for ((name, fill, meaning), count) in &entries {
        shapes += &format!(
            "<rect x=\"{}\" width=\"{}\" y=\".5\" height=\"35\" {}/>",
            percent(before, total),
            percent(*count, total),
            fill.attributes()
        );
        let lines =
            [format!("{} ({})", format_count(*count), format_percent(*count, total)), (*meaning).to_owned()];
        marks +=
            &mark("", &listed.of_outcome(name), "", name, &lines, &percent(sum([before, count / 2]), total));
        columns += &format!("{count}fr ");
        legend += &legend_entry(
            *fill,
            &format!("{name} {} ({})", format_count(*count), format_percent(*count, total)),
        );
        before = sum([before, *count]);
    }
    let rows: Vec<_> = OUTCOMES
        .into_iter()
        .zip(counts)
        .map(|((name, _, meaning), count)| {
            vec![
                Cell::text(name),
                Cell::count(count),
                Cell::keyed(&format_percent(count, total), &count.to_string()),
                Cell::text(meaning),
            ]
        })
        .collect();
    let table =
        table_beside("what happened after a denial", &["Outcome", "Calls#", "Share#", "Meaning"], &rows);
    format!(
        "{heading}<p class=\"lead\">{lead}</p><figure class=\"whole\"><div class=\"area\"><svg width=\"100%\" height=\"36\" role=\"img\" \
         aria-label=\"One bar with the share of each outcome; the legend and the table below have the numbers.\">{shapes}</svg>\
         <div class=\"marks\" role=\"group\" aria-label=\"Outcomes\" style=\"grid-template-columns:{columns}\">{marks}</div></div>\
         <ul class=\"legend\">{legend}</ul></figure>{table}</section>"
    )
}
