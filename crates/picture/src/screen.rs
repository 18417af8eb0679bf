//! What was printed, as lines of runs of one style each.
//!
//! Only colours and weights are understood. A program that moves the cursor draws a screen, not lines, and
//! its picture would need a whole terminal; such sequences are left out.

/// One of the eight colours of a terminal, by its number.
pub type Colour = u8;

#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Style {
    pub colour: Option<Colour>,
    pub bold: bool,
    pub dim: bool,
    pub underline: bool,
}

#[derive(PartialEq, Eq, Debug)]
pub struct Run {
    pub style: Style,
    pub text: String,
}

impl Run {
    pub fn dim(text: &str) -> Self {
        Self { style: Style { dim: true, ..Style::default() }, text: text.to_owned() }
    }
}

/// The lines as a terminal of this width breaks them, without empty ones at the end.
pub fn lines(text: &str, columns: u16) -> Vec<Vec<Run>> {
    let columns = usize::from(columns.max(1));
    let mut column = 0;
    let mut lines: Vec<Vec<Run>> = vec![Vec::new()];
    let mut style = Style::default();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if let Some((parameters, last, after)) = sequence(rest) {
            if last == 'm' {
                style = changed(style, parameters);
            }
            rest = after;
            continue;
        }
        rest = &rest[first.len_utf8()..];
        match first {
            '\n' => {
                lines.push(Vec::new());
                column = 0;
            }
            first if first.is_control() => {}
            first => {
                if column == columns {
                    lines.push(Vec::new());
                    column = 0;
                }
                push(lines.last_mut().expect("there is always a line"), style, first);
                column += 1;
            }
        }
    }
    while lines.last().is_some_and(|line| line.iter().all(|run| run.text.trim().is_empty())) {
        lines.pop();
    }
    lines
}

pub fn plain(text: &str) -> String {
    let line = |line: Vec<Run>| line.into_iter().map(|run| run.text).collect::<String>();
    lines(text, u16::MAX).into_iter().map(line).collect::<Vec<_>>().join("\n")
}

fn push(line: &mut Vec<Run>, style: Style, letter: char) {
    match line.last_mut() {
        Some(run) if run.style == style => run.text.push(letter),
        _ => line.push(Run { style, text: letter.to_string() }),
    }
}

/// The control sequence at the beginning: its parameters, its last letter, and what follows.
fn sequence(text: &str) -> Option<(&str, char, &str)> {
    let body = text.strip_prefix("\x1b[")?;
    let end = body.find(|letter: char| ('@'..='~').contains(&letter))?;
    Some((&body[..end], char::from(body.as_bytes()[end]), &body[end + 1..]))
}

fn changed(mut style: Style, parameters: &str) -> Style {
    let mut numbers = parameters.split([';', ':']).map(|number| number.parse::<u8>().unwrap_or(0));
    while let Some(number) = numbers.next() {
        match number {
            0 => style = Style::default(),
            1 => style.bold = true,
            2 => style.dim = true,
            4 => style.underline = true,
            22 => (style.bold, style.dim) = (false, false),
            24 => style.underline = false,
            30..=37 => style.colour = Some(number - 30),
            90..=97 => style.colour = Some(number - 90),
            39 => style.colour = None,
            // A colour from a larger palette: its numbers are not styles.
            38 | 48 => match numbers.next() {
                Some(5) => drop(numbers.next()),
                Some(2) => drop(numbers.nth(2)),
                _ => {}
            },
            _ => {}
        }
    }
    style
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_have_one_style_each() {
        let found = lines("a\x1b[1;31mdeny\x1b[0m b\n\x1b[38;5;4mx\x1b[2J\n\n", 80);
        let red = Style { colour: Some(1), bold: true, ..Style::default() };
        let run = |style: Style, text: &str| Run { style, text: text.to_owned() };
        let default = Style::default();
        assert_eq!(
            found,
            [vec![run(default, "a"), run(red, "deny"), run(default, " b")], vec![run(default, "x")]]
        );
    }

    #[test]
    fn a_long_line_is_broken_where_the_terminal_ends() {
        let found = lines("abcde\x1b[1mf\nabc\n", 3);
        let texts: Vec<Vec<&str>> =
            found.iter().map(|line| line.iter().map(|run| run.text.as_str()).collect()).collect();
        assert_eq!(texts, [vec!["abc"], vec!["de", "f"], vec!["abc"]]);
    }

    #[test]
    fn a_broken_sequence_is_only_text() {
        assert_eq!(plain("a\x1b[31"), "a[31");
        assert_eq!(plain("\x1b[999;;mx\x1b]0;t\x07"), "x]0;t");
    }
}
