//! Words, operators and redirections of commands.

use super::documents::HereDocument;
use super::{
    Case, ControlOperator, List, Mode, OutputMode, ParseResult, Parser, PendingTarget, Redirection,
    StructureEvent, SubstitutedValue, SyntaxError, SyntaxEvent, WordPosition,
};
use crate::word::{Word, is_name, is_name_part};

impl<'a> Parser<'a> {
    pub(super) fn parse_in_commands(&mut self, c: u8) -> ParseResult {
        match c {
            b' ' | b'\t' => {
                if let Mode::Test(Some(1..)) = self.mode() {
                    return Err(self.error("a blank in a regular expression"));
                }
                let at = self.at;
                self.end_word()?;
                // A keyword may have skipped more.
                self.at = self.at.max(at + 1);
                Ok(())
            }
            b'\\' if self.peek(1) == Some(b'\n') => self.parse_continuation(),
            b'\n' => self.parse_newline(),
            b'#' if self.list().word.is_none() => {
                self.advance(self.rest().find('\n').unwrap_or(self.rest().len()))
            }
            b'<' | b'>' if self.peek(1) == Some(b'(') => self.open_process_substitution(),
            b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>' => self.parse_operator(c),
            // After `<&` and `>&`, bash takes only the dash, and the text after it is the next word.
            b'-' if self.list().copies && self.list().waiting.is_some() && self.list().word.is_none() => {
                self.list().waiting = None;
                self.at += 1;
                if self.peek(0).is_some_and(|c| !b" \t\n;&|()<>".contains(&c)) {
                    self.report_doubt("a word right behind a descriptor that is closed");
                }
                Ok(())
            }
            _ => self.parse_in_word(c),
        }
    }

    /// Skips an escaped line end. Between words and inside plain ones it is harmless; between two characters of an
    /// operator it joins them.
    fn parse_continuation(&mut self) -> ParseResult {
        let is_plain =
            |c: Option<&u8>| c.is_none_or(|c| c.is_ascii_alphanumeric() || b"-_./=,:+@%\"'".contains(c));
        let is_blank = |c: Option<&u8>| c.is_none_or(|c| b" \t\n".contains(c));
        let bytes = self.text.as_bytes();
        let before = self.at.checked_sub(1).and_then(|before| bytes.get(before));
        let behind = bytes.get(self.at + 2);
        let is_harmless = is_blank(before)
            || is_plain(before) && (is_plain(behind) || is_blank(behind))
            || self.is_behind_operator();
        if !is_harmless {
            return Err(self.error("a line that goes on inside an operator"));
        }
        self.advance(2)
    }

    /// Whether a complete operator is in front of an escaped line end, so that the next line cannot lengthen it.
    fn is_behind_operator(&mut self) -> bool {
        let is_between_commands = self.list().word.is_none() && self.list().waiting.is_none();
        let (before, behind) = self.text.split_at(self.at);
        let behind = behind.trim_start_matches("\\\n");
        is_between_commands
            && before.ends_with(['&', '|', ';'])
            && !behind.starts_with(['&', '|', ';', '<', '>', '#'])
    }

    fn parse_operator(&mut self, c: u8) -> ParseResult {
        match self.mode() {
            Mode::Test(regex) => self.parse_test_operator(c, regex),
            Mode::For(stage) => self.parse_for_operator(c, stage),
            Mode::Case(stage @ (Case::Word | Case::In | Case::Pattern)) => self.parse_case_operator(c, stage),
            Mode::Array if c == b')' => {
                self.end_word()?;
                self.lists.pop();
                self.close_construct();
                self.advance(1)
            }
            Mode::Array => Err(self.error("an operator in a list of values")),
            _ => match c {
                b'<' | b'>' => self.parse_redirection(c),
                b'&' if self.peek(1) == Some(b'>') => self.parse_redirection(c),
                b'(' => self.parse_open_parenthesis(),
                b')' => self.parse_close_parenthesis(),
                b';' if matches!(self.peek(1), Some(b';' | b'&')) => self.parse_case_end(),
                _ => {
                    let (length, join) = match (c, self.peek(1)) {
                        (b'&', Some(b'&')) => (2, ControlOperator::And),
                        (b'|', Some(b'|')) => (2, ControlOperator::Or),
                        (b'|', Some(b'&')) => (2, ControlOperator::Pipe),
                        (b'|', _) => (1, ControlOperator::Pipe),
                        (b'&', _) => (1, ControlOperator::Background),
                        _ => (1, ControlOperator::Next),
                    };
                    self.end_word()?;
                    if self.list().position == WordPosition::Start && self.list().command.is_empty() {
                        return Err(self.error("an operator without a command"));
                    }
                    self.end_command(join)?;
                    self.advance(length)
                }
            },
        }
    }

    fn parse_newline(&mut self) -> ParseResult {
        self.end_word()?;
        match self.mode() {
            Mode::For(stage) => self.set_mode(Mode::For(stage.after_line_end())),
            Mode::Case(Case::In | Case::Pattern) | Mode::Test(_) | Mode::Array => {}
            Mode::Case(Case::Word) => return Err(self.error("`case` without a word")),
            _ => self.end_command(ControlOperator::Next)?,
        }
        let enclosing = self.lists.len() - 1;
        if let Some(document) = self.lists[..enclosing].iter().find_map(|list| list.documents.first()) {
            return Err(SyntaxError::new("a here-document around a substitution", document.at));
        }
        self.at += 1;
        self.read_documents()
    }

    /// Ends the current word, and assigns it to a redirection or to its command.
    pub(super) fn end_word(&mut self) -> ParseResult {
        let (text, at) = (self.text, self.at);
        let list = self.list();
        let Some((start, mut word)) = list.word.take() else { return Ok(()) };
        word.source = &text[start..at];
        let waiting = list.waiting.take();
        self.emit_quoted(&word);
        let list = self.list();
        match waiting {
            None => return self.assign_word(word, start),
            Some(PendingTarget::HereString) => list.command.redirections.push(Redirection::HereString(word)),
            Some(PendingTarget::Write(output)) => {
                list.command.redirections.push(Redirection::Write { target: word, output });
            }
            Some(PendingTarget::Read) => list.command.redirections.push(Redirection::Read(word)),
        }
        Ok(())
    }

    fn assign_word(&mut self, word: Word<'a>, start: usize) -> ParseResult {
        // A builtin that sets variables takes the bare name.
        if let Some(name) = word.assigned_name().or_else(|| word.text()) {
            self.forget_variable(name);
        }
        match self.mode() {
            Mode::Array => {
                if word.source.starts_with('[') {
                    self.report_doubt("a subscript in a list of values");
                }
                Ok(())
            }
            Mode::Test(_) => {
                self.parse_test_word(word);
                Ok(())
            }
            Mode::For(stage) => self.parse_for_word(&word, stage, start),
            Mode::Case(stage @ (Case::Word | Case::In | Case::Pattern)) => {
                self.parse_case_word(&word, stage, start)
            }
            _ => {
                let list = self.list();
                let is_first = list.command.is_empty();
                let position = list.position;
                // After `|`, `time` is the program of this name.
                let is_program = list.before == ControlOperator::Pipe && !list.is_negated;
                match (position, word.as_keyword().filter(|word| *word != "time" || !is_program)) {
                    (WordPosition::Start, Some(keyword)) if is_first => {
                        self.parse_keyword(keyword, word, start)
                    }
                    (WordPosition::AfterCompound, Some(keyword)) => self.parse_keyword(keyword, word, start),
                    (WordPosition::AfterCompound, None) => {
                        Err(SyntaxError::new("a word behind a compound command", start))
                    }
                    (position, _) => {
                        let is_prefix = position == WordPosition::Start && word.assigned_name().is_some();
                        let list = self.list();
                        list.command.words.push(word);
                        if !is_prefix {
                            list.position = WordPosition::Arguments;
                        }
                        Ok(())
                    }
                }
            }
        }
    }

    pub(super) fn end_command(&mut self, join: ControlOperator) -> ParseResult {
        self.end_word()?;
        if self.list().waiting.take().is_some() {
            return Err(self.error("a redirection without a target"));
        }
        let list = self.list();
        let is_something = list.position != WordPosition::Start;
        list.position = WordPosition::Start;
        let mut command = std::mem::take(&mut list.command);
        if !is_something && command.is_empty() {
            // `a ||` continues after an empty line.
            return Ok(());
        }
        let before = std::mem::replace(&mut list.before, join);
        let is_negated = std::mem::take(&mut list.is_negated);
        list.is_timed = false;
        command.is_piped = join == ControlOperator::Pipe;
        self.learn_variables(&command, before, join);
        self.emit_command(command);
        // After `||` it may not have run, after `|` it ran in a shell of its own, and after `!` it has failed.
        let behind = join;
        let join = match (join, before) {
            (ControlOperator::And, _) if is_negated => ControlOperator::Next,
            (ControlOperator::And, ControlOperator::Or) => ControlOperator::Next,
            (ControlOperator::And, ControlOperator::Pipe) => ControlOperator::Pipe,
            _ => join,
        };
        self.emit_structure(StructureEvent::Joined { join, behind });
        Ok(())
    }

    /// `<(…)` and `>(…)` are parts of words.
    fn open_process_substitution(&mut self) -> ParseResult {
        if matches!(self.mode(), Mode::Test(Some(_))) {
            return Err(self.error("a regular expression with a redirection"));
        }
        self.append_unknown(true, false);
        self.open_commands(None)
    }

    /// Opens commands inside a word, behind two characters. `value`: what they print is a part of the word.
    pub(super) fn open_commands(&mut self, value: Option<SubstitutedValue>) -> ParseResult {
        self.open_construct(Mode::Substitution(value))?;
        self.lists.push(List::default());
        self.advance(2)
    }

    fn parse_open_parenthesis(&mut self) -> ParseResult {
        if let Some((start, word)) = &self.list().word {
            let start = *start;
            let is_list = word.unquoted_text().is_some() && word.value.ends_with('=') && {
                let so_far = &self.text[start..self.at];
                Word { source: so_far, ..Word::default() }.assigned_name().is_some_and(|name| {
                    let behind = &so_far[name.len()..];
                    behind == "=" || behind == "+="
                })
            };
            if is_list {
                self.append_unknown(true, false);
                self.open_construct(Mode::Array)?;
                self.lists.push(List::default());
                return self.advance(1);
            }
        }
        let at = self.at;
        self.end_word()?;
        let list = self.list();
        if list.waiting.is_none() && list.position == WordPosition::Start && list.command.is_empty() {
            if self.peek(1) == Some(b'(') && !self.groups.contains(&at) {
                return self.open_arithmetic();
            }
            self.open_construct(Mode::Subshell)?;
            return self.advance(1);
        }
        // `name ()` defines a function.
        let is_name = list.command.redirections.is_empty()
            && matches!(&list.command.words[..], [name] if name.text().is_some() && !name.quoted);
        let inside = self.rest()[1..].trim_start_matches([' ', '\t']);
        if is_name && inside.starts_with(')') {
            let list = self.list();
            list.command.words.clear();
            list.position = WordPosition::Start;
            self.report_doubt("a function definition");
            self.emit_structure(StructureEvent::Function);
            self.seek(inside);
            return self.advance(1);
        }
        Err(self.error("`(` among the words of a command"))
    }

    fn parse_close_parenthesis(&mut self) -> ParseResult {
        // The word in front may close a construct: `done)`.
        self.end_word()?;
        match self.mode() {
            Mode::Subshell => {
                self.end_command(ControlOperator::Next)?;
                self.close_construct();
                self.list().position = WordPosition::AfterCompound;
            }
            Mode::Substitution(value) => {
                self.end_command(ControlOperator::Next)?;
                if let Some(document) = self.list().documents.first() {
                    let what = "a here-document that ends with a substitution";
                    return Err(SyntaxError::new(what, document.at));
                }
                self.lists.pop();
                self.close_construct();
                self.open_value = value;
            }
            _ => return Err(self.error("`)` that closes nothing")),
        }
        self.advance(1)
    }

    /// A number or `{name}` right in front of a redirection is a descriptor, not a word.
    /// Returns whether it is another one than the standard output.
    fn take_descriptor(&mut self) -> bool {
        let (text, at) = (self.text, self.at);
        let Some((start, word)) = &self.list().word else { return false };
        let is_output = word.unquoted_text() == Some("1");
        let name = text[*start..at].strip_prefix('{').and_then(|name| name.strip_suffix('}'));
        if name.is_some_and(|name| name.contains('[')) {
            let word = word.clone();
            self.emit_quoted(&word);
            self.list().word = None;
            self.report_doubt("a descriptor in an element of a list");
        } else if let Some(text) = word.unquoted_text()
            && (text.bytes().all(|c| c.is_ascii_digit())
                || name.is_some_and(|name| !name.is_empty() && name.chars().all(is_name_part)))
        {
            self.list().word = None;
            // The shell stores the number of the descriptor in the variable.
            if let Some(name) = name.filter(|name| is_name(name)) {
                self.forget_variable(name);
                self.ready.push_back(SyntaxEvent::Set(name));
            }
            return !is_output;
        }
        false
    }

    fn parse_redirection(&mut self, c: u8) -> ParseResult {
        let is_other = c != b'&' && self.take_descriptor();
        self.end_word()?;
        if self.list().waiting.is_some() {
            return Err(self.error("a redirection without a target"));
        }
        let write = |output| PendingTarget::Write(if is_other { OutputMode::Other } else { output });
        let plain = if c == b'<' { PendingTarget::Read } else { write(OutputMode::Replaces) };
        let mut copies = false;
        let (length, waiting) = match (c, self.peek(1), self.peek(2)) {
            (b'&', _, Some(b'>')) => (3, write(OutputMode::Appends)),
            (b'&', ..) => (2, write(OutputMode::Replaces)),
            (b'<', Some(b'<'), Some(b'<')) => (3, PendingTarget::HereString),
            (b'<', Some(b'<'), _) => {
                let delimiter = HereDocument::parse(self.text, self.at)?;
                self.at = delimiter.end;
                let list = self.list();
                list.documents.push(delimiter);
                list.command.redirections.push(Redirection::Document);
                return Ok(());
            }
            (b'<', Some(b'>'), _) => (2, write(OutputMode::Other)),
            (b'>', Some(b'>'), _) => (2, write(OutputMode::Appends)),
            (b'>', Some(b'|'), _) => (2, write(OutputMode::Replaces)),
            (_, Some(b'&'), _) => {
                // `>&2` and `>&-` copy or close a descriptor; `>&file` and `>&2file` write.
                let rest = &self.rest()[2..];
                let number = rest.trim_start_matches(|c: char| c.is_ascii_digit());
                let behind = number.strip_prefix('-').unwrap_or(number);
                copies = true;
                let ends = behind.chars().next().is_none_or(|c| " \t\n;&|()<>".contains(c));
                if ends && behind.len() < rest.len() {
                    self.list().command.has_other_output |= c == b'>' && !is_other;
                    return self.advance(2 + rest.len() - behind.len());
                }
                (2, plain)
            }
            _ => (1, plain),
        };
        (self.list().copies, self.list().waiting) = (copies, Some(waiting));
        self.advance(length)
    }
}
