//! `provost man`: man pages, generated from the help texts.
//!
//! The generator would join the lines of examples and tables as if they were prose. So the text after the options
//! (`Examples:`, `Exit codes:`) is rendered here: each part becomes a section, and indented lines stay as they are.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use super::{CommandError, CommandResult, Exit, Provost};
use crate::text::make_one_line;
use provost_files as files;

/// Print a man page, or write all of them to a directory
///
/// Each command has a page of its own.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost man | man -l -
  provost man gate assess | man -l -
  provost man --dir ~/.local/share/man/man1    `man provost` then finds it

Exit codes: 0 done; 1 unknown command.")]
pub(crate) struct Manual {
    /// The command whose page to print [default: `provost` itself]
    #[arg(value_name = "COMMAND", conflicts_with = "dir")]
    command: Vec<String>,
    /// Write the pages of all commands to this directory
    #[arg(long)]
    dir: Option<PathBuf>,
}

impl Manual {
    pub(crate) fn run(self) -> CommandResult {
        let mut top = Provost::command();
        top.build();
        let mut out = io::stdout().lock();
        if let Some(directory) = self.dir {
            let count = write_pages(&top, &directory)?;
            let place = make_one_line(&directory.to_string_lossy());
            writeln!(out, "wrote {count} pages to {place}; `man -l {place}/provost.1` shows the first")?;
            return Ok(Exit::Done);
        }
        let mut command = &top;
        for name in &self.command {
            let Some(found) = command.find_subcommand(name) else {
                let parent = command.get_bin_name().unwrap_or("provost");
                writeln!(
                    out,
                    "`{parent}` has no command `{}`; `{parent} --help` lists them",
                    make_one_line(name)
                )?;
                return Ok(Exit::Problem);
            };
            command = found;
        }
        out.write_all(&render_page(command)?)?;
        Ok(Exit::Done)
    }
}

fn write_pages(top: &Command, directory: &Path) -> Result<usize, CommandError> {
    let fail = |path: &Path, error: &io::Error| {
        CommandError::Io(format!("`{}` cannot be written: {error}", make_one_line(&path.to_string_lossy())))
    };
    files::make_directory(directory).map_err(|error| fail(directory, &error))?;
    let mut open = vec![top];
    let mut count = 0;
    while let Some(command) = open.pop() {
        let path = directory.join(format!("{}.1", page_name(command)));
        files::replace_shared(&path, &render_page(command)?).map_err(|error| fail(&path, &error))?;
        count += 1;
        open.extend(command.get_subcommands());
    }
    Ok(count)
}

/// The name of a command's page: `provost-gate-assess`.
fn page_name(command: &Command) -> String {
    command.get_bin_name().unwrap_or_else(|| command.get_name()).replace(' ', "-")
}

fn render_page(command: &Command) -> io::Result<Vec<u8>> {
    let version = format!("provost {}", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone()).title(page_name(command)).source(version).manual("Provost");
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
    let after_options = command.get_after_long_help().or_else(|| command.get_after_help());
    page.extend(render_sections(&after_options.map(ToString::to_string).unwrap_or_default()).into_bytes());
    let page = to_ascii(&String::from_utf8_lossy(&page));
    // The generator repeats its preamble in front of each section.
    let (first, rest) = page.split_at(page.find(".TH").unwrap_or(0));
    Ok(format!("{first}{}", if first.is_empty() { rest.into() } else { rest.replace(first, "") })
        .into_bytes())
}

/// Escapes other characters, so that every roff can read the page in any encoding.
fn to_ascii(page: &str) -> String {
    let escape = |c: char| if c.is_ascii() { c.to_string() } else { format!("\\[u{:04X}]", u32::from(c)) };
    page.chars().map(escape).collect()
}

/// Renders the text after the options.
fn render_sections(text: &str) -> String {
    let mut roff = String::new();
    for part in text.split("\n\n").filter(|part| !part.trim().is_empty()) {
        let (heading, rest) = match part.split_once(':') {
            Some(("Examples", rest)) => ("EXAMPLES", rest),
            Some(("Exit codes", rest)) => ("EXIT STATUS", rest),
            Some(("Scripts", rest)) => ("SCRIPTS", rest),
            _ => ("", part),
        };
        roff += &if heading.is_empty() { ".PP\n".to_owned() } else { format!(".SH {heading}\n") };
        // Text follows its heading on the same line, a list on the next.
        let rest = rest.strip_prefix(' ').or(rest.strip_prefix('\n')).unwrap_or(rest);
        let mut is_literal = false;
        for line in rest.lines() {
            let is_indented = line.starts_with(' ');
            if is_indented != is_literal {
                roff += if is_indented { ".nf\n" } else { ".fi\n" };
                is_literal = is_indented;
            }
            roff += &format!("{}\n", escape_line(line.strip_prefix("  ").unwrap_or(line)));
        }
        if is_literal {
            roff += ".fi\n";
        }
    }
    roff
}

/// Escapes a line for roff, with hyphens that can be copied.
fn escape_line(line: &str) -> String {
    let line = line.replace('\\', "\\e").replace('-', "\\-");
    if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_keep_their_lines_and_prose_is_joined() {
        assert_eq!(
            render_sections("Examples:\n  a -b\n  .c 'd\\n'\n\nExit codes: 0 fine;\n1 not.\n\nMore:\n  x"),
            ".SH EXAMPLES\n.nf\na \\-b\n\\&.c 'd\\en'\n.fi\n.SH EXIT STATUS\n0 fine;\n1 not.\n.PP\nMore:\n.nf\nx\n.fi\n"
        );
        assert_eq!(render_sections(""), "");
        assert_eq!(to_ascii("a … \u{1F600}"), "a \\[u2026] \\[u1F600]");
    }
}
