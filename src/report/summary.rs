//! The answer at the top of a report: one sentence and its figures, and how numbers look everywhere.

use super::model::{Day, Figure, Report};

/// Fills the summary from the rest of the report.
pub fn summarize(report: &mut Report) {
    let sum = |count: fn(&Day) -> u64| report.days.iter().map(count).fold(0, u64::saturating_add);
    let counts = [
        sum(|day| day.events),
        sum(|day| day.denied_calls),
        sum(|day| day.denied),
        sum(|day| day.asked),
        sum(|day| day.warned),
        sum(|day| day.overridden),
        sum(|day| day.would_deny),
        sum(|day| day.faults),
    ];
    let summary = &mut report.summary;
    [
        summary.events,
        summary.denied_calls,
        summary.denied,
        summary.asked,
        summary.warned,
        summary.overridden,
        summary.would_deny,
        summary.faults,
    ] = counts;
    summary.calls = report.cost.per_call.events;
    summary.review_rounds = report.reviews.iter().map(|cycle| cycle.rounds.len() as u64).sum();
    summary.assessments = report.plans.iter().map(|plan| plan.assessments).sum();
    report.summary.sentence = write_sentence(report);
    report.summary.figures = list_figures(report);
}

fn write_sentence(report: &Report) -> String {
    let summary = &report.summary;
    let Some(from) = report.period.covered_from.as_deref().and_then(|from| from.get(..10)) else {
        return format!("There are no decisions in the last {}.", report.period.asked);
    };
    let calls = count_noun(summary.calls, "tool call");
    let sessions = count_noun(summary.sessions, "session");
    let projects = match report.projects.len() {
        0 | 1 => String::new(),
        count => format!(" of {count} projects"),
    };
    let denied = match summary.denied_calls {
        0 => "none of them".into(),
        count => format!("{} of them", format_count(count)),
    };
    let mut sentence =
        format!("Since {from}, Provost judged {calls} in {sessions}{projects} and denied {denied}");
    let outcomes = &report.outcomes;
    let parts = [
        (outcomes.fixed, "fixed"),
        (outcomes.overridden, "overridden"),
        (outcomes.given_up + outcomes.tried_again, "not repeated or denied again"),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(count, _)| *count > 0 && summary.denied_calls > 0)
        .map(|(count, word)| format!("{} {word}", format_count(count)))
        .collect();
    if !parts.is_empty() {
        sentence += &format!(": {}", parts.join(", "));
    }
    if summary.would_deny > 0 {
        let more = format_count(summary.would_deny);
        sentence += &format!("; watched guards and rules would have denied {more} more");
    }
    sentence + "."
}

fn list_figures(report: &Report) -> Vec<Figure> {
    let (summary, time) = (&report.summary, &report.cost.per_call);
    let figure = |name: &str, label: &str, value: String, detail: String| Figure {
        name: name.into(),
        label: label.into(),
        value,
        detail,
    };
    let count = |name: &str, label: &str, count: u64, detail: String| {
        figure(name, label, format_count(count), detail)
    };
    let percent =
        if summary.calls > 0 { format_percent(summary.denied_calls, summary.calls) } else { String::new() };
    let clean = report.reviews.iter().filter(|cycle| cycle.is_clean).count();
    let reviews = match report.reviews.len() {
        0 => String::new(),
        cycles => format!("{clean} of {} ended clean", count_noun(cycles as u64, "review")),
    };
    let cost = match time.events {
        0 => String::new(),
        _ => format!(
            "median; 95 % within {}, {} in total",
            format_micros(time.p95_micros),
            format_micros(time.total_micros)
        ),
    };
    let added = if time.events == 0 { "none".into() } else { format_micros(time.p50_micros) };
    let last = if summary.would_deny > 0 || summary.assessments == 0 {
        count("would_deny", "would be denied", summary.would_deny, "by watched guards and rules".into())
    } else {
        count("assessments", "plan assessments", summary.assessments, String::new())
    };
    let sessions = format!("in {}", count_noun(summary.sessions, "session"));
    vec![
        count("calls", "tool calls judged", summary.calls, sessions),
        count("denied_calls", "denied", summary.denied_calls, percent),
        count("overridden", "overrides by the user", summary.overridden, String::new()),
        last,
        count("review_rounds", "review rounds", summary.review_rounds, reviews),
        figure("time_per_call", "added per tool call", added, cost),
    ]
}

/// A number with its noun: `1 session`, `2,104 sessions`.
pub fn count_noun(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", format_count(count))
}

/// A number with commas between the thousands.
pub fn format_count(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A part of a whole: `1.2 %`.
pub fn format_percent(part: u64, whole: u64) -> String {
    let tenths = (u128::from(part) * 1000 + u128::from(whole) / 2) / u128::from(whole.max(1));
    match tenths {
        0 if part > 0 => "below 0.1 %".into(),
        tenths => format!("{}.{} %", tenths / 10, tenths % 10),
    }
}

/// A duration as people read it: `850 µs`, `1.3 ms`, `2.4 s`, `3 min 20 s`.
pub fn format_micros(micros: u64) -> String {
    let tenths = |unit: u64| {
        let tenths = u128::from(micros) * 10 / u128::from(unit);
        format!("{}.{}", tenths / 10, tenths % 10)
    };
    match micros {
        0..1_000 => format!("{micros} µs"),
        1_000..1_000_000 => format!("{} ms", tenths(1_000)),
        1_000_000..60_000_000 => format!("{} s", tenths(1_000_000)),
        60_000_000..3_600_000_000 => format!("{} min {} s", micros / 60_000_000, micros / 1_000_000 % 60),
        _ => format!("{} h {} min", micros / 3_600_000_000, micros / 60_000_000 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_look_the_same_everywhere() {
        assert_eq!([0, 999, 1000, 1_234_567].map(format_count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(
            [(1, 8), (1, 3), (0, 5), (1, 10_000)].map(|(part, whole)| format_percent(part, whole)),
            ["12.5 %", "33.3 %", "0.0 %", "below 0.1 %"]
        );
        let times = [0, 999, 1_000, 1_390, 999_999, 2_400_000, 200_000_000, 3_660_000_000];
        assert_eq!(
            times.map(format_micros),
            ["0 µs", "999 µs", "1.0 ms", "1.3 ms", "999.9 ms", "2.4 s", "3 min 20 s", "1 h 1 min"]
        );
        assert_eq!((count_noun(1, "call"), count_noun(0, "call")), ("1 call".into(), "0 calls".into()));
    }
}
