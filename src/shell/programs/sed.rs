//! `sed`: a script can write files and run commands, so it is read.
//!
//! The reader knows the commands of a script and says which of them write (`w`, `s///w`) or run
//! (`e`, `s///e`). Where implementations read a script in different ways, or where it does not
//! understand one, the script is obscure.

use std::iter::Peekable;
use std::str::Chars;

use super::Caller;
use super::table;
use crate::shell::Line;
use crate::shell::word::Word;

const SED: Caller = Caller { program: "sed", command: "" };

/// What a script does beyond printing.
#[derive(Debug, PartialEq)]
enum Deed {
    Writes(String),
    Runs,
}

impl Line<'_> {
    pub(super) fn sed(&mut self, words: &[Word]) {
        let Some(options) = table::options_of("sed") else { return };
        let found = self.judge(SED, options, words);
        let scripts = found.options.iter().filter(|(name, _)| super::is(*name, 'e', "--expression"));
        let mut scripts: Vec<_> = scripts.filter_map(|(_, value)| value.as_ref()).collect();
        let is_elsewhere = found.has('f', "--file");
        if scripts.is_empty() && !is_elsewhere {
            scripts.extend(found.operands.first());
        }
        let Some(text) = scripts.iter().map(|word| word.known()).collect::<Option<Vec<_>>>() else {
            return self.obscure("a script of sed that is not known");
        };
        match deeds(&text.join("\n")) {
            None => self.obscure("a script of sed that is not understood"),
            Some(deeds) => {
                for deed in deeds {
                    match deed {
                        Deed::Runs => self.act(SED, "e", "runs another program"),
                        Deed::Writes(file) => {
                            self.act(SED, "w", "writes a file");
                            self.write(&Word::literal(&file));
                        }
                    }
                }
            }
        }
    }
}

/// What the script does beyond printing; `None` if it is not understood.
fn deeds(script: &str) -> Option<Vec<Deed>> {
    let mut reader = Reader { rest: script.chars().peekable(), deeds: Vec::new() };
    while reader.rest.peek().is_some() {
        reader.command()?;
    }
    Some(reader.deeds)
}

struct Reader<'s> {
    rest: Peekable<Chars<'s>>,
    deeds: Vec<Deed>,
}

impl Reader<'_> {
    fn pass(&mut self, is_passed: impl Fn(char) -> bool) {
        while self.rest.next_if(|c| is_passed(*c)).is_some() {}
    }

    fn line(&mut self) -> String {
        let line = std::iter::from_fn(|| self.rest.next_if(|c| *c != '\n')).collect();
        self.rest.next();
        line
    }

    fn command(&mut self) -> Option<()> {
        self.pass(|c| c.is_whitespace() || c == ';');
        self.address()?;
        self.pass(|c| c == ' ' || c == '\t');
        if self.rest.next_if_eq(&',').is_some() {
            self.pass(|c| c == ' ' || c == '\t');
            self.rest.next_if(|c| matches!(c, '+' | '~'));
            self.address()?;
        }
        self.pass(|c| matches!(c, ' ' | '\t' | '!'));
        let Some(command) = self.rest.next() else { return Some(()) };
        match command {
            '{' | '}' => return Some(()),
            '#' => {
                self.line();
                return Some(());
            }
            's' => return self.substitute(),
            'y' => {
                let delimiter = self.rest.next()?;
                self.part(delimiter, false)?;
                self.part(delimiter, false)?;
            }
            'p' | 'd' | 'D' | 'h' | 'H' | 'g' | 'G' | 'x' | 'n' | 'N' | '=' | 'P' | 'z' | 'F' => {}
            'l' | 'L' | 'q' | 'Q' => self.pass(|c| matches!(c, ' ' | '0'..='9')),
            // Some readers end a label at the line's end only; what stands behind a semicolon is
            // looked at as a command either way.
            'b' | 't' | 'T' | ':' => self.pass(|c| !matches!(c, ';' | '\n' | '}')),
            'a' | 'i' | 'c' => {
                self.text();
                return Some(());
            }
            'r' | 'R' => {
                self.line();
                return Some(());
            }
            'w' | 'W' => {
                let file = self.line().trim_start().to_owned();
                self.deeds.push(Deed::Writes(file));
                return Some(());
            }
            'e' => {
                self.line();
                self.deeds.push(Deed::Runs);
                return Some(());
            }
            _ => return None,
        }
        self.end()
    }

    /// Behind a command comes another line, a `;`, a `}` or nothing.
    fn end(&mut self) -> Option<()> {
        self.pass(|c| c == ' ' || c == '\t');
        matches!(self.rest.peek(), None | Some('\n' | ';' | '}' | '#')).then_some(())
    }

    fn address(&mut self) -> Option<()> {
        match self.rest.peek() {
            Some('0'..='9') => self.pass(|c| matches!(c, '0'..='9' | '~')),
            Some('$') => {
                self.rest.next();
            }
            Some('/' | '\\') => {
                let mut delimiter = self.rest.next()?;
                if delimiter == '\\' {
                    delimiter = self.rest.next()?;
                }
                self.part(delimiter, true)?;
                self.pass(|c| matches!(c, 'I' | 'M'));
            }
            _ => {}
        }
        Some(())
    }

    fn substitute(&mut self) -> Option<()> {
        let delimiter = self.rest.next().filter(|c| !c.is_alphanumeric() && *c != '\\' && *c != '\n')?;
        self.part(delimiter, true)?;
        self.part(delimiter, false)?;
        loop {
            match self.rest.peek() {
                Some('g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9') => {
                    self.rest.next();
                }
                Some('e') => {
                    self.rest.next();
                    self.deeds.push(Deed::Runs);
                }
                Some('w') => {
                    self.rest.next();
                    let file = self.line().trim_start().to_owned();
                    self.deeds.push(Deed::Writes(file));
                    return Some(());
                }
                _ => return self.end(),
            }
        }
    }

    /// Passes a pattern or a replacement. Whether a delimiter in brackets ends a pattern is not the
    /// same everywhere.
    fn part(&mut self, delimiter: char, is_pattern: bool) -> Option<()> {
        let mut brackets = false;
        loop {
            match self.rest.next()? {
                '\\' => {
                    self.rest.next()?;
                }
                c if c == delimiter => return (!brackets).then_some(()),
                '\n' if is_pattern => return None,
                '[' if is_pattern && !brackets => {
                    brackets = true;
                    self.rest.next_if_eq(&'^');
                    self.rest.next_if_eq(&']');
                }
                ']' => brackets = false,
                _ => {}
            }
        }
    }

    /// The text of `a`, `i` and `c`: it goes on behind a backslash.
    fn text(&mut self) {
        loop {
            match self.rest.next() {
                Some('\\') => {
                    self.rest.next();
                }
                None | Some('\n') => return,
                Some(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Deed, deeds};

    #[test]
    fn scripts_that_only_print_are_understood() {
        for script in [
            "1,5p",
            "$p",
            "/re/p",
            "/re/d",
            "s/a/b/g",
            "s|a/b|c|",
            "s/[0-9]*//;p",
            "/a/,/b/p",
            "1!d",
            "2q",
            "/a/{p;d}",
            "y/abc/xyz/",
            "a text > w f",
            "1~2p",
            "/a/,+3p",
            ":a;N;$!ba;s/\\n/ /g",
            "",
            "/a\\/b/Id",
            "\\,a,p",
            "s/w/e/",
            "r other",
            "=",
            "n;d",
            "# comment w f",
            "s/\\[/x/",
        ] {
            assert_eq!(deeds(script), Some(vec![]), "{script}");
        }
    }

    #[test]
    fn scripts_that_write_or_run_are_seen() {
        let writes = || Some(vec![Deed::Writes("f".into())]);
        for script in
            ["w f", "1,5w f", "s/a/b/w f", "s/a/b/gpw f", "/a/{w f\n}", "p;w f", "$!W f", "bx;w f", ":x;w f"]
        {
            assert_eq!(deeds(script), writes(), "{script}");
        }
        for script in ["e", "1e", "e id", "s/a/b/e", "s/a/b/ge", "s,a,b,e;p", "a\\\nx\ne"] {
            assert_eq!(deeds(script), Some(vec![Deed::Runs]), "{script}");
        }
    }

    #[test]
    fn what_is_read_in_different_ways_is_not_understood() {
        for script in ["s/[/]/w f/", "s/a", "s/a/b", "k", "pw f", "sxaxbxe", "s/a/b/x", "y/a/b/w"] {
            assert_eq!(deeds(script), None, "{script}");
        }
    }
}
