//! Bars on a terminal. A number stands beside each bar, so no colour or length carries a fact alone.

use std::io::{self, Write};

use anstyle::Style;

use crate::cli::screen::{
    BOLD, CYAN, DIM, GREEN, RED, YELLOW, display_width, pad, paint, print_line, text_width,
};
use crate::report::model::Day;
use crate::report::summary::format_count;
use crate::text::make_one_line;

/// The longest bar.
const LONGEST_BAR: usize = 30;
/// More days than these are shown by the week.
const MOST_DAYS: usize = 35;
/// The colours of the guards in a bar. All further guards share the last one.
const COLOURS: [Style; 5] = [RED, YELLOW, CYAN, GREEN, BOLD];

/// One bar of several parts, its name and a text behind it.
pub(super) struct Bar {
    pub(super) name: String,
    /// The number beside it.
    pub(super) number: u64,
    /// Each with its colour.
    pub(super) parts: Vec<(u64, Style)>,
    pub(super) text: String,
}

impl Bar {
    fn total(&self) -> u64 {
        self.parts.iter().map(|(count, _)| count).sum()
    }
}

/// Prints bars with one scale.
pub(super) fn print_bars(out: &mut impl Write, bars: &[Bar]) -> io::Result<()> {
    let most = bars.iter().map(Bar::total).max().unwrap_or(0);
    let name_width = bars.iter().map(|bar| display_width(&bar.name)).max().unwrap_or(0);
    let number_width = bars.iter().map(|bar| format_count(bar.number).len()).max().unwrap_or(0);
    // In a narrow terminal, the bar gets what name and number leave, and the text goes below.
    let room = text_width().saturating_sub(name_width + number_width + 8);
    let length = room.clamp(4, LONGEST_BAR).min(usize::try_from(most).unwrap_or(LONGEST_BAR).max(4));
    for bar in bars {
        let number = format!("{:>number_width$}", format_count(bar.number));
        let number = if bar.number == 0 { paint(DIM, &number) } else { number };
        let drawn = draw(bar, most, length);
        let cells = [format!("  {}", pad(&bar.name, name_width)), pad(&drawn, length), number];
        if bar.text.is_empty() {
            writeln!(out, "{}", cells.join("  "))?;
        } else {
            print_line(out, &cells, &paint(DIM, &bar.text))?;
        }
    }
    Ok(())
}

/// The blocks of a bar. What is not zero gets at least one.
fn draw(bar: &Bar, most: u64, length: usize) -> String {
    let scaled = |count: u64| {
        let blocks = u128::from(count) * length as u128 / u128::from(most.max(1));
        usize::try_from(blocks).unwrap_or(length)
    };
    let total = bar.total();
    let blocks = if total == 0 { 0 } else { scaled(total).max(1) };
    let (mut seen, mut drawn, mut text) = (0, 0, String::new());
    for (count, colour) in &bar.parts {
        seen += count;
        // Rounding each part by itself could make the bar longer or shorter than its total.
        let end = if seen == total { blocks } else { scaled(seen).min(blocks) };
        text += &paint(*colour, &"█".repeat(end.saturating_sub(drawn)));
        drawn = drawn.max(end);
    }
    text
}

/// Prints how much was denied on each day, by guard.
pub(super) fn print_stacked_days(out: &mut impl Write, days: &[Day]) -> io::Result<()> {
    let mut guards: Vec<(&str, u64)> = Vec::new();
    for entry in days.iter().flat_map(|day| &day.denied_by) {
        match guards.iter_mut().find(|(name, _)| *name == entry.guard) {
            Some((_, count)) => *count += entry.count,
            None => guards.push((&entry.guard, entry.count)),
        }
    }
    guards.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let colour_of = |name: &str| {
        let at = guards.iter().position(|(guard, _)| *guard == name).unwrap_or(COLOURS.len());
        COLOURS[at.min(COLOURS.len() - 1)]
    };
    let size = if days.len() > MOST_DAYS { 7 } else { 1 };
    let bars: Vec<Bar> = days
        .chunks(size)
        .map(|days| {
            let count = |guard: &str| -> u64 {
                let entries = days.iter().flat_map(|day| &day.denied_by);
                entries.filter(|entry| entry.guard == guard).map(|entry| entry.count).sum()
            };
            let counts: Vec<(&str, u64)> =
                guards.iter().map(|(name, _)| (*name, count(name))).filter(|(_, count)| *count > 0).collect();
            let named = counts.iter().map(|(name, count)| format!("{} {count}", make_one_line(name)));
            Bar {
                name: days.first().map_or(String::new(), |day| day.date.clone()),
                number: days.iter().map(|day| day.denied).sum(),
                text: named.collect::<Vec<_>>().join(", "),
                parts: counts.iter().map(|(name, count)| (*count, colour_of(name))).collect(),
            }
        })
        .collect();
    if size > 1 {
        writeln!(out, "  {}", paint(DIM, "by the week that begins on this day"))?;
    }
    print_bars(out, &bars)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(parts: &[u64]) -> Bar {
        Bar {
            name: "x".into(),
            number: 0,
            parts: parts.iter().map(|count| (*count, DIM)).collect(),
            text: String::new(),
        }
    }

    #[test]
    fn a_bar_is_as_long_as_its_total_and_never_vanishes() {
        let length = |parts: &[u64], most| display_width(&draw(&bar(parts), most, 10));
        assert_eq!(
            [length(&[10], 10), length(&[3, 3, 4], 10), length(&[1], 1000), length(&[0], 10)],
            [10, 10, 1, 0]
        );
        assert_eq!([length(&[], 0), length(&[u64::MAX / 2, u64::MAX / 2], u64::MAX - 1)], [0, 10]);
    }
}
