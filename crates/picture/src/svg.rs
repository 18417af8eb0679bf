//! Lines of a terminal as SVG.
//!
//! Text stays text, so the file is small and the picture is sharp at any size. Each run is given its place
//! and its length, because a reader's fixed-width font may be wider or narrower than the one meant here.

use crate::screen::{Run, Style};

const FONT: f64 = 14.0;
/// The width of a letter in the usual fixed-width fonts at that size.
const CELL: f64 = 8.43;
const LINE: f64 = 19.0;
const MARGIN: f64 = 16.0;
const TITLE: f64 = 32.0;

const BACKGROUND: &str = "#1c2128";
const EDGE: &str = "#444c56";
const TEXT: &str = "#d5dbe3";
const DIM: &str = "#8b949e";
/// Black to white, as terminals number them; each is readable on the background.
const COLOURS: [&str; 8] =
    ["#8b949e", "#ff7b72", "#7ee787", "#e3b341", "#79c0ff", "#d2a8ff", "#76e3ea", "#f0f6fc"];

pub fn drawing(title: &str, columns: u16, lines: &[Vec<Run>]) -> String {
    let rows = u32::try_from(lines.len()).unwrap_or(u32::MAX);
    let width = f64::from(columns) * CELL + 2.0 * MARGIN;
    let height = TITLE + f64::from(rows) * LINE + MARGIN;
    let title = escaped(title);
    let mut drawing = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\" aria-label=\"{title}\">\n\
         <title>{title}</title>\n\
         <style>text{{font:{FONT}px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;\
         white-space:pre;fill:{TEXT}}}.b{{font-weight:bold}}.d{{fill:{DIM}}}\
         .u{{text-decoration:underline}}"
    );
    for (number, colour) in COLOURS.iter().enumerate() {
        drawing += &format!(".c{number}{{fill:{colour}}}");
    }
    drawing += &format!(
        "</style>\n\
         <rect x=\".5\" y=\".5\" width=\"{:.0}\" height=\"{:.0}\" rx=\"8\" fill=\"{BACKGROUND}\" stroke=\"{EDGE}\"/>\n\
         <text class=\"d\" x=\"{:.0}\" y=\"21\" text-anchor=\"middle\">{title}</text>\n",
        width - 1.0,
        height - 1.0,
        width / 2.0,
    );
    let mut y = TITLE + FONT;
    for line in lines {
        drawing += &drawn(line, y);
        y += LINE;
    }
    drawing + "</svg>\n"
}

fn drawn(line: &[Run], y: f64) -> String {
    let mut drawing = String::new();
    let mut column = 0_u32;
    for run in line {
        let letters = |text: &str| u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
        let blanks = letters(run.text.as_str()) - letters(run.text.trim_start());
        let text = run.text.trim();
        if !text.is_empty() {
            let (x, length) = (f64::from(column + blanks) * CELL + MARGIN, f64::from(letters(text)) * CELL);
            drawing += &format!(
                "<text{} x=\"{x:.1}\" y=\"{y:.0}\" textLength=\"{length:.1}\">{}</text>\n",
                class(run.style),
                escaped(text)
            );
        }
        column += letters(run.text.as_str());
    }
    drawing
}

fn class(style: Style) -> String {
    let mut names = Vec::new();
    for (name, is_so) in [("b", style.bold), ("d", style.dim), ("u", style.underline)] {
        if is_so {
            names.push(name.to_owned());
        }
    }
    names.extend(style.colour.map(|colour| format!("c{colour}")));
    if names.is_empty() { String::new() } else { format!(" class=\"{}\"", names.join(" ")) }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use crate::screen;

    #[test]
    fn each_run_has_its_place_its_length_and_its_class() {
        let drawing = super::drawing("a \"b\"", 20, &screen::lines("  x \x1b[1;31m<deny>\x1b[0m", 80));
        assert!(drawing.contains("<title>a &quot;b&quot;</title>"), "{drawing}");
        assert!(drawing.contains("<text x=\"32.9\" y=\"46\" textLength=\"8.4\">x</text>"), "{drawing}");
        let denied = "<text class=\"b c1\" x=\"49.7\" y=\"46\" textLength=\"50.6\">&lt;deny&gt;</text>";
        assert!(drawing.contains(denied), "{drawing}");
    }
}
