//! The rounds of each review until it was clean, and the assessments of plans.

use super::chart::{Target, mark};
use super::html::{escape_name, format_minute, percent};
use super::table::{Cell, capped, table, table_beside};
use crate::report::model::{AssessedPlan, Report, ReviewCycle, ReviewRound};
use crate::report::summary::{count_noun, format_count, format_micros};

const MOST_CHARTED: usize = 16;
/// The most bytes of the chart.
const MOST_BYTES: usize = 40_000;
/// How many rounds of one review are drawn.
const MOST_ROUNDS: usize = 16;

/// The section on reviews.
pub(super) fn section(report: &Report) -> String {
    let reviews = &report.reviews;
    let heading =
        "<section id=\"reviews\" aria-labelledby=\"reviews-h\"><h2 id=\"reviews-h\">Review rounds</h2>";
    if reviews.is_empty() {
        return format!("{heading}<p class=\"lead\">Nothing was reviewed.</p></section>");
    }
    let mut bytes = 0;
    let shown = reviews.iter().map(cycle).take_while(|drawn| {
        bytes += drawn.len();
        bytes <= MOST_BYTES
    });
    let shown: Vec<String> = shown.take(MOST_CHARTED).collect();
    let more = reviews.len() - shown.len();
    let more =
        if more == 0 { String::new() } else { format!("<p class=\"note\">{more} more in the table.</p>") };
    format!(
        "{heading}<p class=\"lead\">{}</p><figure class=\"rounds\"><ul class=\"legend\"><li>{CLEAN} clean</li><li>{FINDINGS} findings\
         </li><li>{NO_VERDICT} no verdict</li></ul>{}</figure>{more}{}</section>",
        lead(reviews),
        shown.concat(),
        review_table(reviews),
    )
}

/// What the chart shows, in a sentence.
fn lead(reviews: &[ReviewCycle]) -> String {
    let mut rounds: Vec<usize> =
        reviews.iter().filter(|cycle| cycle.is_clean).map(|cycle| cycle.rounds.len()).collect();
    rounds.sort_unstable();
    let (Some(median), Some(most)) = (rounds.get(rounds.len().saturating_sub(1) / 2), rounds.last()) else {
        return format!("None of {} ended clean.", count_noun(reviews.len() as u64, "review"));
    };
    format!(
        "{} of {} ended clean: half of them within {}, the longest took {}.",
        format_count(rounds.len() as u64),
        count_noun(reviews.len() as u64, "review"),
        count_noun(*median as u64, "round"),
        format_count(*most as u64),
    )
}

const CLEAN: &str = "<svg class=\"round clean\" width=\"20\" height=\"20\" aria-hidden=\"true\"><circle cx=\"10\" cy=\"10\" r=\"8.5\"/>\
    <path d=\"M6 10.3l2.8 2.8L14 7.6\"/></svg>";
const FINDINGS: &str = "<svg class=\"round findings\" width=\"20\" height=\"20\" aria-hidden=\"true\"><circle cx=\"10\" cy=\"10\" r=\"8\"/>\
    <path d=\"M10 5.5v5.5M10 13.5v1\"/></svg>";
const NO_VERDICT: &str = "<svg class=\"round none\" width=\"20\" height=\"20\" aria-hidden=\"true\"><circle cx=\"10\" cy=\"10\" r=\"8\"/>\
    </svg>";

/// One review: its name, its rounds and its time.
fn cycle(cycle: &ReviewCycle) -> String {
    let (shown, more) = capped(&cycle.rounds, MOST_ROUNDS);
    let count = shown.len().max(2) as u64 - 1;
    let marks: String = shown.iter().zip(0..).map(|(round, at)| draw(round, &percent(at, count))).collect();
    let more = if more == 0 { String::new() } else { format!("<span>+{more}</span>") };
    let end = if cycle.is_clean { "clean after" } else { "not clean after" };
    format!(
        "<div class=\"cycle\"><span class=\"name\">{} <small>{}</small></span><span class=\"marks\" role=\"group\" \
         aria-label=\"Rounds of {}\">{marks}{more}</span><span class=\"value\">{end} {}</span></div>",
        escape_name(&cycle.plan),
        escape_name(&what(cycle)),
        escape_name(&cycle.plan),
        format_micros(cycle.micros),
    )
}

/// What was reviewed: `code-review`, or `code-review of task 3`.
fn what(cycle: &ReviewCycle) -> String {
    cycle.task.as_ref().map_or(cycle.review.clone(), |task| format!("{} of {task}", cycle.review))
}

fn draw(round: &ReviewRound, position: &str) -> String {
    let symbol = match round.verdict.as_str() {
        "clean" => CLEAN,
        "findings" => FINDINGS,
        _ => NO_VERDICT,
    };
    let verdict = match round.verdict.as_str() {
        known @ ("clean" | "findings") => known,
        _ => "no verdict",
    };
    let mut lines = vec![verdict.to_owned(), format_minute(&round.time)];
    lines.extend(round.model.clone());
    lines.extend(round.micros.map(format_micros));
    mark("step", &Target::Nothing, symbol, &format!("Round {}", round.number), &lines, position)
}

fn review_table(reviews: &[ReviewCycle]) -> String {
    let row = |cycle: &ReviewCycle| {
        let last = cycle.rounds.last().map_or("", |round| round.time.as_str());
        vec![
            Cell::name(&cycle.plan),
            Cell::name(&what(cycle)),
            Cell::count(cycle.rounds.len() as u64),
            Cell::text(if cycle.is_clean { "clean" } else { "not clean" }),
            Cell::duration(cycle.micros),
            Cell::name(&cycle.models.join(", ")),
            Cell::keyed(&format_minute(last), last),
        ]
    };
    let columns = ["Plan", "Review", "Rounds#", "End", "Time#", "Models", "Last round"];
    let rows: Vec<_> = reviews.iter().map(row).collect();
    table_beside("reviews", &columns, &rows)
}

/// The section on assessed plans; empty if there are none.
pub(super) fn plans(report: &Report) -> String {
    let plans = &report.plans;
    if plans.is_empty() {
        return String::new();
    }
    let row = |plan: &AssessedPlan| {
        vec![
            Cell::name(&plan.plan).within("code"),
            Cell::text(if plan.is_passed { "passed" } else { "not passed" }),
            Cell::count(plan.assessments),
            Cell::count(plan.passed),
            Cell::keyed(&format_minute(&plan.last), &plan.last),
        ]
    };
    let rows: Vec<_> = plans.iter().map(row).collect();
    let passed = plans.iter().filter(|plan| plan.is_passed).count() as u64;
    format!(
        "<section id=\"plans\" aria-labelledby=\"plans-h\"><h2 id=\"plans-h\">Plans assessed</h2><p class=\"lead\">{} of {} passed \
         the last assessment.</p>{}</section>",
        format_count(passed),
        count_noun(plans.len() as u64, "plan"),
        table("plans assessed", &["Plan", "Now", "Assessments#", "Passed#", "Last"], &rows)
    )
}
