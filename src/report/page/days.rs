//! The decisions of each day: stacked bars by guard, days without any included.

use super::chart::{Fill, Target, axis, legend_entry, mark};
use super::decisions::Listed;
use super::html::{escape_line, format_day, format_short_day, percent, sum};
use super::stops::Stops;
use super::table::{Cell, table_beside};
use crate::report::model::{Day, Report};
use crate::report::summary::{count_noun, format_count};

/// The height of the chart in tenths of a pixel.
const HEIGHT: u64 = 1_900;
/// The most bars; several days share one if there are more days.
const MOST_BARS: usize = 100;
/// How many bars have a label below them.
const LABELS: usize = 6;

/// The section.
pub(super) fn section(report: &Report, stops: &Stops<'_>, listed: &Listed<'_>) -> String {
    let days = &report.days;
    let bars = bars(days, stops);
    let title = if stops.is_watch_only { "What would have been denied" } else { "Denials per day" };
    let chart =
        if bars.iter().any(|bar| bar.total() > 0) { figure(&bars, stops, listed) } else { String::new() };
    let table = if days.is_empty() { String::new() } else { table(&bars, stops) };
    let lead = lead(days, stops);
    format!(
        "<section id=\"days\" aria-labelledby=\"days-h\"><h2 id=\"days-h\">{title}</h2><p class=\"lead\">{lead}</p>{chart}{table}\
         </section>"
    )
}

/// What the chart shows, in a sentence.
fn lead(days: &[Day], stops: &Stops<'_>) -> String {
    let (verb, noun) =
        if stops.is_watch_only { ("would have been denied", "event") } else { ("was denied", "denial") };
    let counts: Vec<u64> =
        days.iter().map(|day| if stops.is_watch_only { day.would_deny } else { day.denied }).collect();
    let period = count_noun(days.len() as u64, "day");
    let of_calls = sum(days.iter().map(|day| day.denied_calls));
    let most = counts.iter().max().copied().unwrap_or(0);
    if days.is_empty() {
        return "The journal has nothing of this period.".into();
    }
    if most == 0 {
        return format!("Nothing {verb} on {period}.");
    }
    // The first of several days with the same count.
    let busiest = counts.iter().position(|count| *count == most).map_or("", |at| days[at].date.as_str());
    let quiet = counts.iter().filter(|count| **count == 0).count() as u64;
    let total = sum(counts.iter().copied());
    let of_calls = match of_calls {
        count if count == total || stops.is_watch_only => String::new(),
        count => format!(", {} of them of tool calls", format_count(count)),
    };
    let sentence = format!("{} on {period}{of_calls}.", count_noun(total, noun));
    if days.len() == 1 {
        return sentence;
    }
    let busiest = escape_line(&format_day(busiest));
    let quiet = if quiet > 0 { format!("; {} had none", count_noun(quiet, "day")) } else { String::new() };
    format!("{sentence} The busiest was {busiest} with {}{quiet}.", format_count(most))
}

/// The days that share a bar.
struct Bar<'a> {
    days: &'a [Day],
    /// The counts of each guard.
    guards: Vec<(&'a str, u64)>,
    /// What was stopped, but not denied in the end.
    open: u64,
}

fn bars<'a>(days: &'a [Day], stops: &Stops<'a>) -> Vec<Bar<'a>> {
    let least = days.len().div_ceil(MOST_BARS).max(1);
    let width = [1, 7, 28].into_iter().find(|width| *width >= least).unwrap_or(least);
    let watched = |day: &Day| if stops.is_watch_only { 0 } else { day.would_deny };
    let open = |day: &Day| sum([day.asked, day.overridden, watched(day)]);
    let bar = |days: &'a [Day]| {
        let dates: Vec<&str> = days.iter().map(|day| day.date.as_str()).collect();
        Bar { days, guards: stops.on(&dates), open: sum(days.iter().map(open)) }
    };
    days.chunks(width).map(bar).collect()
}

impl Bar<'_> {
    fn total(&self) -> u64 {
        sum(self.guards.iter().map(|(_, count)| *count).chain([self.open]))
    }

    fn title(&self) -> String {
        match self.days {
            [day] => format_day(&day.date),
            [first, .., last] => format!("{} to {}", format_day(&first.date), format_day(&last.date)),
            [] => String::new(),
        }
    }

    fn sum(&self, count: fn(&Day) -> u64) -> u64 {
        sum(self.days.iter().map(count))
    }

    /// The lines of the details.
    fn lines(&self, stops: &Stops<'_>) -> Vec<String> {
        let mut lines: Vec<String> =
            self.guards.iter().map(|(guard, count)| format!("{guard} {}", format_count(*count))).collect();
        if lines.is_empty() {
            lines.push(if stops.is_watch_only { "nothing would be denied" } else { "nothing denied" }.into());
        }
        let others = [
            ("asked", self.sum(|day| day.asked)),
            ("overridden", self.sum(|day| day.overridden)),
            ("would deny", if stops.is_watch_only { 0 } else { self.sum(|day| day.would_deny) }),
            ("warned", self.sum(|day| day.warned)),
            ("faults", self.sum(|day| day.faults)),
        ];
        let others = others.into_iter().filter(|(_, count)| *count > 0);
        lines.extend(others.map(|(name, count)| format!("{name} {}", format_count(count))));
        lines.push(format!("of {}", count_noun(self.sum(|day| day.events), "event")));
        lines
    }

    /// The segments with their fills, from the bottom. Guards that share a fill share a segment.
    fn segments(&self, stops: &Stops<'_>) -> Vec<(Fill, u64)> {
        let mut segments: Vec<(Fill, u64)> = Vec::new();
        let guards = self.guards.iter().map(|(guard, count)| (stops.fill(guard), *count));
        for (fill, count) in guards.chain([(Fill::Open, self.open)]).filter(|(_, count)| *count > 0) {
            match segments.last_mut() {
                Some(last) if last.0 == fill => last.1 = sum([last.1, count]),
                _ => segments.push((fill, count)),
            }
        }
        segments
    }

    /// The shapes of the bar that is the `at`th of `count`.
    fn draw(&self, at: usize, count: usize, top: u64, stops: &Stops<'_>) -> String {
        // A bar takes three quarters of its column.
        let eighths = count as u64 * 8;
        let place =
            format!("x=\"{}\" width=\"{}\"", percent(at as u64 * 8 + 1, eighths), percent(6, eighths));
        let mut below = 0;
        let mut shapes = String::new();
        for (fill, value) in self.segments(stops) {
            let start = height_of(below, top);
            below = sum([below, value]);
            let end = height_of(below, top);
            // A gap of a pixel separates the segments.
            let height = (end - start).saturating_sub(10).max(10);
            shapes += &format!(
                "<rect {place} y=\"{}\" height=\"{}\" {}/>",
                pixels(HEIGHT - end),
                pixels(height),
                fill.attributes()
            );
        }
        shapes
    }

    fn mark(&self, at: usize, count: usize, stops: &Stops<'_>, listed: &Listed<'_>) -> String {
        let first = self.days.first().map_or("", |day| day.date.as_str());
        let last = self.days.last().map_or("", |day| day.date.as_str());
        let target = if self.total() == 0 { Target::Nothing } else { listed.of_days(first, last) };
        let position = percent(at as u64, (count as u64 - 1).max(1));
        mark("", &target, "", &self.title(), &self.lines(stops), &position)
    }
}

/// The height of a value, in tenths of a pixel.
fn height_of(value: u64, top: u64) -> u64 {
    u64::try_from(u128::from(value) * u128::from(HEIGHT) / u128::from(top.max(1)))
        .unwrap_or(HEIGHT)
        .min(HEIGHT)
}

fn pixels(tenths: u64) -> String {
    format!("{}.{}", tenths / 10, tenths % 10)
}

fn figure(bars: &[Bar<'_>], stops: &Stops<'_>, listed: &Listed<'_>) -> String {
    let (top, step) = axis(bars.iter().map(Bar::total).max().unwrap_or(0));
    let highest = bars.iter().rev().max_by_key(|bar| bar.total());
    let alternative = format!(
        "Stacked bars by guard, {} to {}. The highest is {} with {}. The table below has all numbers.",
        bars.first().map_or(String::new(), Bar::title),
        bars.last().map_or(String::new(), Bar::title),
        highest.map_or(String::new(), Bar::title),
        highest.map_or(0, Bar::total),
    );
    let (mut scale, mut lines) = (String::new(), String::new());
    for tick in (0..=top / step).map(|tick| tick * step) {
        let y = pixels(HEIGHT - height_of(tick, top));
        scale += &format!("<span style=\"top:{y}px\">{}</span>", format_count(tick));
        lines += &format!("<line x2=\"100%\" y1=\"{y}\" y2=\"{y}\"/>");
    }
    let count = bars.len();
    let each = |draw: &dyn Fn(usize, &Bar<'_>) -> String| -> String {
        bars.iter().enumerate().map(|(at, bar)| draw(at, bar)).collect()
    };
    format!(
        "<figure class=\"days\"><ul class=\"legend\">{}</ul><div class=\"plot\" style=\"max-width:{}rem\">\
         <div class=\"scale\" aria-hidden=\"true\">{scale}</div>\
         <div class=\"area\"><svg width=\"100%\" height=\"{}\" role=\"img\" aria-label=\"{}\"><g class=\"grid\">{lines}</g>{}</svg>\
         <div class=\"marks\" role=\"group\" aria-label=\"Days\" style=\"grid-template-columns:repeat({count},1fr)\">{}</div></div>\
         <div class=\"labels\" aria-hidden=\"true\">{}</div></div></figure>",
        legend(bars, stops),
        3 + count * 4,
        HEIGHT / 10,
        escape_line(&alternative),
        each(&|at, bar| bar.draw(at, count, top, stops)),
        each(&|at, bar| bar.mark(at, count, stops, listed)),
        labels(bars),
    )
}

fn legend(bars: &[Bar<'_>], stops: &Stops<'_>) -> String {
    let mut legend: String =
        stops.named().iter().map(|guard| legend_entry(stops.fill(guard), guard)).collect();
    if stops.others > 0 {
        legend += &legend_entry(Fill::Series(usize::MAX), &format!("{} others", stops.others));
    }
    if bars.iter().any(|bar| bar.open > 0) {
        let name =
            if stops.is_watch_only { "asked or overridden" } else { "asked, overridden or only watched" };
        legend += &legend_entry(Fill::Open, name);
    }
    legend
}

/// The dates below the chart.
fn labels(bars: &[Bar<'_>]) -> String {
    let step = bars.len().div_ceil(LABELS).max(1);
    let label = |(at, bar): (usize, &Bar<'_>)| {
        let position = percent(at as u64, bars.len() as u64);
        let date = bar.days.first().map_or("", |day| day.date.as_str());
        format!("<span style=\"left:{position}\">{}</span>", escape_line(&format_short_day(date)))
    };
    bars.iter().enumerate().step_by(step).map(label).collect()
}

fn table(bars: &[Bar<'_>], stops: &Stops<'_>) -> String {
    let by = if stops.is_watch_only { "Would be denied by" } else { "Denied by" };
    let columns =
        ["Day", "Events#", "Denied#", "Asked#", "Warned#", "Overridden#", "Would deny#", "Faults#", by];
    let row = |bar: &Bar<'_>| {
        let counts: [fn(&Day) -> u64; 7] = [
            |day| day.events,
            |day| day.denied,
            |day| day.asked,
            |day| day.warned,
            |day| day.overridden,
            |day| day.would_deny,
            |day| day.faults,
        ];
        let guards = bar.guards.iter().map(|(guard, count)| format!("{guard} {}", format_count(*count)));
        let date = bar.days.first().map_or("", |day| day.date.as_str());
        let mut cells = vec![Cell::keyed(&bar.title(), date)];
        cells.extend(counts.map(|count| Cell::count(bar.sum(count))));
        cells.push(Cell::text(&guards.collect::<Vec<_>>().join(", ")));
        cells
    };
    table_beside("decisions per day", &columns, &bars.iter().map(row).collect::<Vec<_>>())
}
