//! `provost man`: the manual, made from the help texts.
//!
//! The generator would fill the lines of examples and tables as if they were prose. So what stands behind
//! the options (`Examples:`, `Exit codes:`) is set here: each part is a section of its own, and indented
//! lines stay as they are.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use super::{Exit, Outcome, Provost, Trouble};
use crate::files;
use crate::text::one_line;

/// Print a page of the manual, or write all of them
///
/// There is one page for each command, as `man` wants it.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost man | man -l -
  provost man gate assess | man -l -
  provost man --dir ~/.local/share/man/man1    then `man provost` finds it

Exit codes: 0 done; 1 there is no such command.")]
pub(crate) struct Manual {
    /// The command whose page is printed; without, that of `provost` itself
    #[arg(value_name = "COMMAND", conflicts_with = "dir")]
    command: Vec<String>,
    /// Write the pages of all commands into this directory
    #[arg(long)]
    dir: Option<PathBuf>,
}

impl Manual {
    pub(crate) fn run(self) -> Outcome {
        let mut top = Provost::command();
        top.build();
        let mut out = io::stdout().lock();
        if let Some(directory) = self.dir {
            let count = write_all(&top, &directory)?;
            let place = one_line(&directory.to_string_lossy());
            writeln!(out, "{count} pages in {place}; `man -l {place}/provost.1` shows the first")?;
            return Ok(Exit::Done);
        }
        let mut command = &top;
        for name in &self.command {
            let Some(found) = command.find_subcommand(name) else {
                let known = command.get_bin_name().unwrap_or("provost");
                writeln!(out, "`{known}` has no command `{}`; `{known} --help` lists them", one_line(name))?;
                return Ok(Exit::Found);
            };
            command = found;
        }
        out.write_all(&page(command)?)?;
        Ok(Exit::Done)
    }
}

fn write_all(top: &Command, directory: &Path) -> Result<usize, Trouble> {
    let cannot = |path: &Path, error: &io::Error| {
        Trouble::Io(format!("`{}` cannot be written: {error}", one_line(&path.to_string_lossy())))
    };
    files::make_directory(directory).map_err(|error| cannot(directory, &error))?;
    let mut open = vec![top];
    let mut count = 0;
    while let Some(command) = open.pop() {
        let path = directory.join(format!("{}.1", name(command)));
        files::replace_shared(&path, &page(command)?).map_err(|error| cannot(&path, &error))?;
        count += 1;
        open.extend(command.get_subcommands());
    }
    Ok(count)
}

/// The name of a command's page: `provost-gate-assess`.
fn name(command: &Command) -> String {
    command.get_bin_name().unwrap_or_else(|| command.get_name()).replace(' ', "-")
}

fn page(command: &Command) -> io::Result<Vec<u8>> {
    let version = format!("provost {}", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone()).title(name(command)).source(version).manual("Provost");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    if command.get_arguments().next().is_some() {
        man.render_options_section(&mut page)?;
    }
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    let behind = command.get_after_long_help().or_else(|| command.get_after_help());
    page.extend(sections(&behind.map(ToString::to_string).unwrap_or_default()).into_bytes());
    let page = in_ascii(&String::from_utf8_lossy(&page));
    // The generator begins each section as if it were a page.
    let (first, rest) = page.split_at(page.find(".TH").unwrap_or(0));
    Ok(format!("{first}{}", if first.is_empty() { rest.into() } else { rest.replace(first, "") })
        .into_bytes())
}

/// A page that every roff can read, whatever it takes its input for.
fn in_ascii(page: &str) -> String {
    let mut ascii = String::with_capacity(page.len());
    for c in page.chars() {
        if c.is_ascii() {
            ascii.push(c);
        } else {
            ascii += &format!("\\[u{:04X}]", u32::from(c));
        }
    }
    ascii
}

/// What stands behind the options, as sections.
fn sections(text: &str) -> String {
    let mut roff = String::new();
    for part in text.split("\n\n").filter(|part| !part.trim().is_empty()) {
        let (heading, rest) = match part.split_once(':') {
            Some(("Examples", rest)) => ("EXAMPLES", rest),
            Some(("Exit codes", rest)) => ("EXIT STATUS", rest),
            Some(("Scripts", rest)) => ("SCRIPTS", rest),
            _ => ("", part),
        };
        roff += &if heading.is_empty() { ".PP\n".to_owned() } else { format!(".SH {heading}\n") };
        // A list may follow its heading, as text follows one on the same line.
        let rest = rest.strip_prefix(' ').or(rest.strip_prefix('\n')).unwrap_or(rest);
        let mut kept = false;
        for line in rest.lines() {
            let indented = line.starts_with(' ');
            if indented != kept {
                roff += if indented { ".nf\n" } else { ".fi\n" };
                kept = indented;
            }
            roff += &format!("{}\n", escaped(line.strip_prefix("  ").unwrap_or(line)));
        }
        if kept {
            roff += ".fi\n";
        }
    }
    roff
}

/// A line that roff takes as text, with hyphens that can be copied.
fn escaped(line: &str) -> String {
    let line = line.replace('\\', "\\e").replace('-', "\\-");
    if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_keep_their_lines_and_prose_is_filled() {
        assert_eq!(
            sections("Examples:\n  a -b\n  .c 'd\\n'\n\nExit codes: 0 fine;\n1 not.\n\nMore:\n  x"),
            ".SH EXAMPLES\n.nf\na \\-b\n\\&.c 'd\\en'\n.fi\n.SH EXIT STATUS\n0 fine;\n1 not.\n.PP\nMore:\n.nf\nx\n.fi\n"
        );
        assert_eq!(sections(""), "");
        assert_eq!(in_ascii("a … \u{1F600}"), "a \\[u2026] \\[u1F600]");
    }
}
