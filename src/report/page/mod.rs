//! The report as one HTML page: readable without a script, without a network, on paper and by those who cannot see it.
//!
//! Everything is in the HTML: the charts are SVG, and every chart has a table. The style sheet shows the details of a mark;
//! the script only sorts, filters and toggles. The same report gives the same bytes. Long lists are cut, and say so, so
//! that the page stays below 500 KB.

mod about;
mod chart;
mod cost;
mod days;
mod decisions;
mod explanation;
mod guards;
mod html;
mod outcomes;
mod reviews;
mod stops;
mod table;
#[cfg(test)]
mod tests;

use decisions::Listed;
use html::{escape_line, format_date, write_each};
use stops::Stops;

use super::model::{Figure, Report};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// About how large the page can get. The filters and the head come on top.
const MOST_BYTES: usize = 420_000;
/// A longer sentence is shown in smaller letters.
const LONG_SENTENCE: usize = 90;

/// The page loads nothing, whatever a text on it contains.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; \
                      form-action 'none'";

/// The page.
pub fn render(report: &Report) -> String {
    let stops = Stops::of(report);
    // The decisions get the room that the other sections leave, which the links of their charts hardly change.
    let others =
        sections(report, &stops, &Listed::choose(&[], 0)).concat().len() + STYLE.len() + SCRIPT.len();
    let listed = Listed::choose(&report.decisions, MOST_BYTES.saturating_sub(others));
    let sections = sections(report, &stops, &listed);
    let title = format!("Provost report: {}, {}", projects(report), period(report));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n{}\n{}\n<main id=\"main\">\n{}\n</main>\n\
         <script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        escape_line(&title),
        chart::PATTERNS.trim_end(),
        header(report),
        sections.join("\n"),
    )
}

fn sections(report: &Report, stops: &Stops<'_>, listed: &Listed<'_>) -> [String; 10] {
    [
        days::section(report, stops, listed),
        guards::section(report, stops, listed),
        outcomes::section(report, listed),
        about::overrides(report),
        reviews::section(report),
        reviews::plans(report),
        cost::section(report),
        decisions::section(listed),
        about::without_provost(report.without_provost.as_ref()),
        about::about(report),
    ]
}

/// The answer: one sentence and its figures.
fn header(report: &Report) -> String {
    let figure = |figure: &Figure| {
        let detail = match figure.detail.as_str() {
            "" => String::new(),
            detail => format!("<small>{}</small>", escape_line(detail)),
        };
        format!(
            "<div><dt>{}</dt><dd><b>{}</b>{detail}</dd></div>",
            escape_line(&figure.label),
            escape_line(&figure.value)
        )
    };
    let links = [
        ("days", "Days", true),
        ("guards", "Guards", true),
        ("outcomes", "Outcomes", true),
        ("reviews", "Reviews", true),
        ("time", "Time", true),
        ("decisions", "Decisions", true),
        ("past", "Past sessions", report.without_provost.is_some()),
        ("about", "About", true),
    ];
    let links = write_each(links.iter().filter(|(_, _, is_there)| *is_there), |(id, name, _)| {
        format!("<li><a href=\"#{id}\">{name}</a></li>")
    });
    format!(
        "<a class=\"skip\" href=\"#main\">Skip to the charts</a><div class=\"bar\"><nav aria-label=\"Sections\"><ul>{links}</ul></nav>\
         <button type=\"button\" id=\"theme\" aria-pressed=\"false\" hidden>Dark</button></div>\n\
         <header><p class=\"about\"><b>Provost</b> <span>{}</span> <span>{}</span></p><h1{}>{}</h1><dl class=\"figures\">{}</dl>\
         </header>",
        escape_line(&projects(report)),
        escape_line(&period(report)),
        if report.summary.sentence.chars().count() > LONG_SENTENCE { " class=\"long\"" } else { "" },
        escape_line(&report.summary.sentence),
        report.summary.figures.iter().map(figure).collect::<String>(),
    )
}

/// The projects, in a few words.
fn projects(report: &Report) -> String {
    match report.projects.as_slice() {
        [] => "no project".into(),
        [project] => project.name.clone(),
        [first, second] => format!("{} and {}", first.name, second.name),
        [first, rest @ ..] => format!("{} and {} other projects", first.name, rest.len()),
    }
}

/// The days that the report covers.
fn period(report: &Report) -> String {
    let period = &report.period;
    let from = period.covered_from.as_ref().unwrap_or(&period.from);
    format!("{} – {}", format_date(from), format_date(&period.to))
}
