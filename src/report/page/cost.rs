//! The time that Provost took: for each kind of event how its times are distributed, on one scale.

use super::chart::{Target, mark};
use super::html::{escape_name, percent};
use super::table::{Cell, capped, table_beside};
use crate::report::model::{Cost, Distribution, EventCost, Report};
use crate::report::summary::{count_noun, format_micros};

const MOST_CHARTED: usize = 10;
/// The height of a row in pixels.
const HEIGHT: u64 = 34;

/// The section.
pub(super) fn section(report: &Report) -> String {
    let cost = &report.cost;
    let heading =
        "<section id=\"time\" aria-labelledby=\"time-h\"><h2 id=\"time-h\">Time that Provost took</h2>";
    if cost.by_event.is_empty() {
        return format!("{heading}<p class=\"lead\">No event was judged.</p></section>");
    }
    let mut events: Vec<&EventCost> = cost.by_event.iter().collect();
    events.sort_by_key(|event| std::cmp::Reverse(event.time.events));
    let call = &cost.per_call;
    let lead = if call.events == 0 {
        "No tool call was judged.".to_owned()
    } else {
        format!(
            "Half of all tool calls waited at most <b>{}</b> for Provost, 95 of 100 at most <b>{}</b>, and the longest {}; without the \
             time that the system needs to start it.",
            format_micros(call.p50_micros),
            format_micros(call.p95_micros),
            format_micros(call.max_micros)
        )
    };
    format!("{heading}<p class=\"lead\">{lead}</p>{}{}</section>", figure(cost, &events), table(&events))
}

/// The part of the scale on which there are times.
struct Scale<'a> {
    bounds: &'a [u64],
    first: usize,
    count: usize,
}

impl<'a> Scale<'a> {
    fn of(cost: &'a Cost) -> Self {
        let distributions = || cost.by_event.iter().map(|event| &event.time);
        let used = |class: &usize| {
            distributions().any(|time| time.counts.get(*class).is_some_and(|count| *count > 0))
        };
        let first = (0..=cost.bounds.len()).find(used).unwrap_or(0);
        let last = (0..=cost.bounds.len()).rev().find(used).unwrap_or(0);
        Self { bounds: &cost.bounds, first, count: last + 1 - first.min(last) }
    }

    /// The lower and the upper bound of a class.
    fn class(&self, class: usize) -> (u64, u64) {
        let lower = class.checked_sub(1).and_then(|before| self.bounds.get(before)).copied().unwrap_or(0);
        (lower, self.bounds.get(class).copied().unwrap_or(lower.saturating_mul(2)))
    }

    /// Where a time is on the scale, in percent.
    fn position(&self, micros: u64) -> String {
        let class = self.bounds.partition_point(|bound| *bound < micros);
        let (lower, upper) = self.class(class);
        let width = upper.saturating_sub(lower).max(1);
        let within = u128::from(micros.clamp(lower, upper) - lower) * 1_000 / u128::from(width);
        let within = u64::try_from(within).unwrap_or(1_000);
        let classes = class.saturating_sub(self.first) as u64;
        percent((classes * 1_000 + within).min(self.count as u64 * 1_000), self.count as u64 * 1_000)
    }

    /// The labels of the powers of ten.
    fn labels(&self) -> String {
        let is_power = |bound: u64| bound.to_string().trim_end_matches('0') == "1";
        let label = |(class, bound): (usize, &u64)| {
            let position = percent((class + 1 - self.first) as u64, self.count as u64);
            format!("<span style=\"left:{position}\">{}</span>", format_micros(*bound).replace(".0 ", " "))
        };
        let bounds = self.bounds.iter().enumerate();
        bounds
            .filter(|(class, bound)| {
                *class >= self.first && class + 1 < self.first + self.count && is_power(**bound)
            })
            .map(label)
            .collect()
    }
}

fn figure(cost: &Cost, events: &[&EventCost]) -> String {
    let scale = Scale::of(cost);
    let (shown, more) = capped(events, MOST_CHARTED);
    let rows: String = shown.iter().map(|event| row(&event.event, &event.time, &scale)).collect();
    let more =
        if more == 0 { String::new() } else { format!("<p class=\"note\">{more} more in the table.</p>") };
    format!(
        "<figure class=\"times\"><ul class=\"legend\"><li>{}half are faster (median)</li><li>{}95 of 100 are faster</li>\
         <li>{}longest</li></ul><div class=\"marks\" role=\"group\" aria-label=\"Kinds of events\">{rows}</div>\
         <div class=\"labels\" aria-hidden=\"true\"><div>{}</div></div></figure>{more}",
        key("p50"),
        key("p95"),
        key("max"),
        scale.labels(),
    )
}

fn key(name: &str) -> String {
    format!(
        "<svg class=\"swatch\" width=\"14\" height=\"14\" aria-hidden=\"true\"><svg x=\"7\" overflow=\"visible\">{}</svg></svg>",
        pointer(name, 14)
    )
}

/// The line of one of the three figures, at x = 0.
fn pointer(name: &str, height: u64) -> String {
    let head = match name {
        "p50" => "<path d=\"M-4 0h8l-4 6z\"/>",
        "p95" => "<path d=\"M-4 0h8v5h-8z\"/>",
        _ => "<circle cy=\"4\" r=\"3.5\"/>",
    };
    format!("<g class=\"{name}\"><path class=\"line\" d=\"M0 0v{height}\"/>{head}</g>")
}

fn row(name: &str, time: &Distribution, scale: &Scale<'_>) -> String {
    let most = time.counts.iter().max().copied().unwrap_or(0);
    let mut shapes = String::new();
    for class in scale.first..scale.first + scale.count {
        let count = time.counts.get(class).copied().unwrap_or(0);
        if count > 0 {
            // The smallest class can still be seen.
            let room = HEIGHT - 8;
            let height =
                u64::try_from(u128::from(count) * u128::from(room) / u128::from(most)).unwrap_or(room).max(2);
            let eighths = scale.count as u64 * 8;
            shapes += &format!(
                "<rect x=\"{}\" width=\"{}\" y=\"{}\" height=\"{height}\"/>",
                percent((class - scale.first) as u64 * 8, eighths),
                percent(7, eighths),
                HEIGHT - height
            );
        }
    }
    for (name, micros) in [("max", time.max_micros), ("p95", time.p95_micros), ("p50", time.p50_micros)] {
        shapes += &format!(
            "<svg x=\"{}\" overflow=\"visible\">{}</svg>",
            scale.position(micros),
            pointer(name, HEIGHT)
        );
    }
    let content = format!(
        "<span class=\"name\">{}</span><svg class=\"strip\" width=\"100%\" height=\"{HEIGHT}\" aria-hidden=\"true\">{shapes}</svg>\
         <span class=\"value\"><b>{}</b> <span>{}</span> <span>{}</span></span>",
        escape_name(name),
        format_micros(time.p50_micros),
        format_micros(time.p95_micros),
        format_micros(time.max_micros),
    );
    mark("row", &Target::Nothing, &content, name, &lines(time), "50%")
}

/// The lines of the details.
fn lines(time: &Distribution) -> Vec<String> {
    vec![
        count_noun(time.events, "event"),
        format!("median {}", format_micros(time.p50_micros)),
        format!("95 of 100 below {}", format_micros(time.p95_micros)),
        format!("longest {}", format_micros(time.max_micros)),
        format!("all together {}", format_micros(time.total_micros)),
    ]
}

fn table(events: &[&EventCost]) -> String {
    let cells = |name: &str, time: &Distribution| {
        let mut cells = vec![Cell::name(name), Cell::count(time.events)];
        let times = [time.p50_micros, time.p95_micros, time.max_micros, time.total_micros];
        cells.extend(times.map(Cell::duration));
        cells
    };
    let rows: Vec<_> = events.iter().map(|event| cells(&event.event, &event.time)).collect();
    let columns = ["Event", "Events#", "Median#", "p95#", "Longest#", "Total#"];
    table_beside("time per event", &columns, &rows)
}
