//! What all charts share: fills that differ by pattern and colour, and the details of a mark.
//!
//! A chart is SVG with positions in percent, so that it fits any width without a script. Over it lie its marks: elements
//! that take the pointer and the keyboard focus, and show their details with the style sheet alone.

use super::html::{escape_line, escape_name, write_each};

/// The patterns that the fills name.
pub(super) const PATTERNS: &str = include_str!("patterns.svg");

/// The most lines in the details of a mark.
const MOST_LINES: usize = 12;

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fill {
    /// One of [`SERIES`] fills, each with its own colour and pattern.
    Series(usize),
    /// Outlined: what was not denied in the end.
    Open,
}

/// How many series have a fill of their own.
pub(super) const SERIES: usize = 6;

impl Fill {
    /// The attributes of a shape with this fill.
    pub(super) fn attributes(self) -> String {
        match self {
            Self::Series(number) => format!("fill=\"url(#s{})\"", number.min(SERIES - 1)),
            Self::Open => "class=\"open\" fill=\"url(#o)\"".into(),
        }
    }
}

/// One entry of a legend. The name is not escaped yet.
pub(super) fn legend_entry(fill: Fill, name: &str) -> String {
    format!(
        "<li><svg class=\"swatch\" width=\"14\" height=\"14\" aria-hidden=\"true\"><rect x=\".5\" y=\".5\" width=\"13\" \
         height=\"13\" rx=\"2\" {}/></svg>{}</li>",
        fill.attributes(),
        escape_name(name)
    )
}

/// The details of a mark: a title and lines. `position` is where the mark is in the chart, in percent. The details move
/// with it and stay within the chart.
pub(super) fn details(position: &str, title: &str, lines: &[String]) -> String {
    let more = lines.len().saturating_sub(MOST_LINES);
    let mut lines = write_each(lines.iter().take(MOST_LINES), |line| format!("<i>{}</i>", escape_name(line)));
    if more > 0 {
        lines += &format!("<i>{more} more</i>");
    }
    format!(
        "<span class=\"tip\" style=\"left:{position};translate:-{position}\"><b>{}</b>{lines}</span>",
        escape_name(title)
    )
}

/// What the marks of a chart do when they are followed.
pub(super) enum Target {
    /// They show the decisions that these attributes select.
    Decisions(String),
    /// They only show their details.
    Nothing,
}

/// A mark with its content (markup) and details. A mark without a target is an image with the details as its name.
pub(super) fn mark(
    class: &str,
    target: &Target,
    content: &str,
    title: &str,
    lines: &[String],
    position: &str,
) -> String {
    let details = details(position, title, lines);
    match target {
        Target::Decisions(filter) => {
            format!("<a class=\"mark {class}\" href=\"#decisions-h\" {filter}>{content}{details}</a>")
        }
        Target::Nothing => {
            let name = std::iter::once(title).chain(lines.iter().map(String::as_str)).collect::<Vec<_>>();
            format!(
                "<span class=\"mark {class}\" tabindex=\"0\" role=\"img\" aria-label=\"{}\">{content}{details}</span>",
                escape_line(&name.join("; "))
            )
        }
    }
}

/// The highest tick of an axis and the distance of its ticks, for values up to `most`.
pub(super) fn axis(most: u64) -> (u64, u64) {
    let most = most.max(1);
    let mut unit: u64 = 1;
    loop {
        for step in [1, 2, 5].map(|step| unit.saturating_mul(step)) {
            if most.div_ceil(step) <= 4 {
                return (most.div_ceil(step).saturating_mul(step), step);
            }
        }
        unit = unit.saturating_mul(10);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_at_most_four_steps() {
        let ticks =
            [(0, (1, 1)), (4, (4, 1)), (5, (6, 2)), (17, (20, 5)), (90, (100, 50)), (1_234, (1_500, 500))];
        for (most, found) in ticks {
            assert_eq!(axis(most), found);
        }
        let (top, _) = axis(u64::MAX);
        assert!(top >= u64::MAX / 2);
    }
}
