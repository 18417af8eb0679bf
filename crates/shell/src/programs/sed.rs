//! `sed`: a script can write files and run commands, so it is parsed.
//!
//! The parser knows the commands of a script and which of them write (`w`, `s///w`) or run (`e`, `s///e`). A script
//! that implementations read in different ways, or that is not understood, is reported as unparsed.

use std::iter::Peekable;
use std::str::Chars;

use super::{CommandName, RUNS, table};
use crate::LineWalker;
use crate::word::Word;

const SED: CommandName = CommandName::new("sed");

/// What a script does beyond printing.
#[derive(Debug, PartialEq)]
enum SedAction {
    Writes(String),
    Runs,
}

impl LineWalker<'_> {
    /// Returns the text that the script adds to the files that it edits in place.
    pub(super) fn report_sed(&mut self, words: &[Word]) -> Option<String> {
        let options = table::find_options("sed")?;
        let arguments = self.report_options(SED, options, words);
        let mut scripts: Vec<&Word> = arguments.values('e', "--expression").flatten().collect();
        if scripts.is_empty() && !arguments.has('f', "--file") {
            scripts.extend(arguments.operands.first());
        }
        let Some(texts) = scripts.iter().map(|word| word.text()).collect::<Option<Vec<_>>>() else {
            self.report_unparsed("a script of sed that is not known");
            return None;
        };
        let Some((actions, added)) = parse_script(&texts.join("\n")) else {
            self.report_unparsed("a script of sed that is not understood");
            return None;
        };
        for action in actions {
            match action {
                SedAction::Runs => self.report_mutation(SED, "e", RUNS),
                SedAction::Writes(file) => {
                    self.report_mutation(SED, "w", "writes a file");
                    self.report_write(&Word::literal(&file));
                }
            }
        }
        arguments.is_mutating.then_some(added).filter(|text| !text.is_empty())
    }
}

/// Whether the word behind an option of perl is its program. A letter such as `-i` or `-M` takes the rest of its word.
pub(super) fn takes_perl_code(word: &Word) -> bool {
    let letters = word.text().and_then(|text| text.strip_prefix('-')?.strip_suffix(['e', 'E']));
    letters
        .is_some_and(|letters| letters.chars().all(|c| c.is_ascii_digit() || "acflnpsStTuUwWX".contains(c)))
}

/// The text that `perl -i -e 's/…/…/'` adds, whose substitutions are those of sed.
pub(super) fn find_perl_text(words: &[Word]) -> Option<String> {
    let scripts = words.windows(2).filter(|pair| takes_perl_code(&pair[0])).map(|pair| pair[1].text());
    let (_, added) = parse_script(&scripts.collect::<Option<Vec<_>>>()?.join("\n"))?;
    (!added.is_empty()).then_some(added)
}

/// What the script does beyond printing, and the text that it adds; `None` if it is not understood.
fn parse_script(script: &str) -> Option<(Vec<SedAction>, String)> {
    let mut parser =
        ScriptParser { rest: script.chars().peekable(), actions: Vec::new(), added: String::new() };
    while parser.rest.peek().is_some() {
        parser.parse_command()?;
    }
    Some((parser.actions, parser.added))
}

struct ScriptParser<'s> {
    rest: Peekable<Chars<'s>>,
    actions: Vec<SedAction>,
    /// The replacements and inserted texts, one for each line.
    added: String,
}

impl ScriptParser<'_> {
    fn skip_while(&mut self, is_passed: impl Fn(char) -> bool) {
        while self.rest.next_if(|c| is_passed(*c)).is_some() {}
    }

    fn take_line(&mut self) -> String {
        let line = std::iter::from_fn(|| self.rest.next_if(|c| *c != '\n')).collect();
        self.rest.next();
        line
    }

    fn parse_command(&mut self) -> Option<()> {
        self.skip_while(|c| c.is_whitespace() || c == ';');
        self.parse_address()?;
        self.skip_while(|c| c == ' ' || c == '\t');
        if self.rest.next_if_eq(&',').is_some() {
            self.skip_while(|c| c == ' ' || c == '\t');
            self.rest.next_if(|c| matches!(c, '+' | '~'));
            self.parse_address()?;
        }
        self.skip_while(|c| matches!(c, ' ' | '\t' | '!'));
        let Some(command) = self.rest.next() else { return Some(()) };
        match command {
            '{' | '}' => return Some(()),
            's' => return self.parse_substitution(),
            'y' => {
                let delimiter = self.rest.next()?;
                self.skip_part(delimiter, false)?;
                self.skip_part(delimiter, false)?;
            }
            'p' | 'd' | 'D' | 'h' | 'H' | 'g' | 'G' | 'x' | 'n' | 'N' | '=' | 'P' | 'z' | 'F' => {}
            'l' | 'L' | 'q' | 'Q' => self.skip_while(|c| matches!(c, ' ' | '0'..='9')),
            // Some implementations end a label only at the end of the line. The text after a semicolon is parsed
            // as a command in any case.
            'b' | 't' | 'T' | ':' => self.skip_while(|c| !matches!(c, ';' | '\n' | '}')),
            'a' | 'i' | 'c' => {
                self.take_text();
                return Some(());
            }
            '#' | 'r' | 'R' | 'w' | 'W' | 'e' => {
                let line = self.take_line();
                match command {
                    'w' | 'W' => self.actions.push(SedAction::Writes(line.trim_start().to_owned())),
                    'e' => self.actions.push(SedAction::Runs),
                    _ => {}
                }
                return Some(());
            }
            _ => return None,
        }
        self.expect_end()
    }

    /// A command is followed by a line end, `;`, `}`, a comment or nothing.
    fn expect_end(&mut self) -> Option<()> {
        self.skip_while(|c| c == ' ' || c == '\t');
        matches!(self.rest.peek(), None | Some('\n' | ';' | '}' | '#')).then_some(())
    }

    fn parse_address(&mut self) -> Option<()> {
        match self.rest.peek() {
            Some('0'..='9') => self.skip_while(|c| matches!(c, '0'..='9' | '~')),
            Some('$') => {
                self.rest.next();
            }
            Some('/' | '\\') => {
                let mut delimiter = self.rest.next()?;
                if delimiter == '\\' {
                    delimiter = self.rest.next()?;
                }
                self.skip_part(delimiter, true)?;
                self.skip_while(|c| matches!(c, 'I' | 'M'));
            }
            _ => {}
        }
        Some(())
    }

    fn parse_substitution(&mut self) -> Option<()> {
        let delimiter = self.rest.next().filter(|c| !c.is_alphanumeric() && *c != '\\' && *c != '\n')?;
        self.skip_part(delimiter, true)?;
        self.take_replacement(delimiter)?;
        loop {
            self.skip_while(|c| matches!(c, 'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9'));
            if self.rest.next_if_eq(&'e').is_some() {
                self.actions.push(SedAction::Runs);
            } else if self.rest.next_if_eq(&'w').is_some() {
                let file = self.take_line().trim_start().to_owned();
                self.actions.push(SedAction::Writes(file));
                return Some(());
            } else {
                return self.expect_end();
            }
        }
    }

    /// Skips a pattern or a replacement. Implementations disagree whether a delimiter in brackets ends a pattern.
    fn skip_part(&mut self, delimiter: char, is_pattern: bool) -> Option<()> {
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

    /// Takes a replacement. Implementations agree on its escapes only in part, so most of them are kept.
    fn take_replacement(&mut self, delimiter: char) -> Option<()> {
        self.start_added_line();
        loop {
            match self.rest.next()? {
                c if c == delimiter => return Some(()),
                '\\' => match self.rest.next()? {
                    'n' => self.added.push('\n'),
                    c if c == delimiter || matches!(c, '\\' | '&' | '\n') => self.added.push(c),
                    c => self.added.extend(['\\', c]),
                },
                c => self.added.push(c),
            }
        }
    }

    /// Takes the text of `a`, `i` and `c`, which continues after a backslash.
    fn take_text(&mut self) {
        self.skip_while(|c| c == ' ' || c == '\t');
        self.start_added_line();
        let start = self.added.len();
        while let Some(c) = self.rest.next().filter(|c| *c != '\n') {
            if c != '\\' {
                self.added.push(c);
            } else if let Some(c) = self.rest.next().filter(|c| *c != '\n' || self.added.len() > start) {
                self.added.push(c);
            }
        }
    }

    fn start_added_line(&mut self) {
        if !self.added.is_empty() {
            self.added.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{SedAction, parse_script};

    fn list_actions(script: &str) -> Option<Vec<SedAction>> {
        parse_script(script).map(|(actions, _)| actions)
    }

    #[test]
    fn the_text_that_a_script_adds_is_found() {
        for (script, added) in [
            ("s/a/b/", "b"),
            ("s/a/b c/;s|x|y/z|g", "b c\ny/z"),
            ("s/a/b\\/c\\nd\\1&/", "b/c\nd\\1&"),
            ("$ a\\text", "text"),
            ("$a text here", "text here"),
            ("1i\\\nfirst\\\nsecond\np", "first\nsecond"),
            ("/x/c\\\nnew", "new"),
            ("s/a//", ""),
            ("y/abc/xyz/", ""),
        ] {
            assert_eq!(parse_script(script).unwrap().1, added, "{script}");
        }
    }

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
            assert_eq!(list_actions(script), Some(vec![]), "{script}");
        }
    }

    #[test]
    fn scripts_that_write_or_run_are_seen() {
        let writes = || Some(vec![SedAction::Writes("f".into())]);
        for script in
            ["w f", "1,5w f", "s/a/b/w f", "s/a/b/gpw f", "/a/{w f\n}", "p;w f", "$!W f", "bx;w f", ":x;w f"]
        {
            assert_eq!(list_actions(script), writes(), "{script}");
        }
        for script in ["e", "1e", "e id", "s/a/b/e", "s/a/b/ge", "s,a,b,e;p", "a\\\nx\ne"] {
            assert_eq!(list_actions(script), Some(vec![SedAction::Runs]), "{script}");
        }
    }

    #[test]
    fn what_is_read_in_different_ways_is_not_understood() {
        for script in ["s/[/]/w f/", "s/a", "s/a/b", "k", "pw f", "sxaxbxe", "s/a/b/x", "y/a/b/w"] {
            assert_eq!(list_actions(script), None, "{script}");
        }
    }
}
