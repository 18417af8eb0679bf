//! Draws what a terminal shows: the pictures of the documentation.
//!
//! A picture that somebody drew by hand is wrong from the next change of the program on. This program
//! runs the command lines in a pseudo-terminal of fixed width, reads the colours of what they print, and
//! writes an SVG with a background of its own, so that it can be read on light and dark pages. What
//! differs from run to run (times, ids, temporary paths) is replaced by rules of the caller; without
//! that, no run would give the same bytes twice. `scripts/pictures` is the caller.

mod options;
mod screen;
mod svg;
mod terminal;

use std::fs;
use std::process::ExitCode;

use options::{Options, Wish};

fn main() -> ExitCode {
    match options::read(std::env::args().skip(1)) {
        Ok(Wish::Help) => {
            print!("{}", options::HELP);
            ExitCode::SUCCESS
        }
        Ok(Wish::Draw(options)) => match draw(&options) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("picture: {error}");
                ExitCode::from(1)
            }
        },
        Err(error) => {
            eprintln!("picture: {error}\n\n{}", options::HELP);
            ExitCode::from(64)
        }
    }
}

fn draw(options: &Options) -> Result<(), String> {
    let mut shown = String::new();
    for line in &options.command_lines {
        let run = terminal::run(line, options)?;
        if !options.codes.contains(&run.code) {
            let text = screen::plain(&run.text);
            return Err(format!("`{line}` ended with code {}:\n{text}", run.code));
        }
        if !shown.is_empty() {
            shown.push('\n');
        }
        shown += &format!("\x1b[2m$\x1b[0m \x1b[1m{line}\x1b[0m\n{}", run.text);
    }
    for (pattern, text) in &options.replacements {
        shown = pattern.replace_all(&shown, text.as_str()).into_owned();
    }
    let mut lines = screen::lines(&shown, options.columns);
    if let Some(rows) = options.rows.filter(|rows| lines.len() > *rows) {
        lines.truncate(rows);
        lines.push(vec![screen::Run::dim("…")]);
    }
    let drawing = svg::drawing(&options.title, options.columns, &lines);
    fs::write(&options.out, drawing).map_err(|error| format!("{}: {error}", options.out.display()))
}
