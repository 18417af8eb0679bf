//! Words, operators and redirections of commands.

use super::compounds::is_name;
use super::documents::Delimiter;
use super::{Case, Grammar, Join, List, Mode, Position, Progress, Redirection, Step, Stuck, Waiting};
use crate::shell::word::Word;

impl<'a> Grammar<'a> {
    pub(super) fn in_commands(&mut self, c: u8) -> Progress {
        match c {
            b' ' | b'\t' => {
                if let Mode::Test(Some(1..)) = self.mode() {
                    return Err(self.stuck("a blank in a regular expression"));
                }
                let at = self.at;
                self.end_word()?;
                // A keyword may have looked ahead.
                self.at = self.at.max(at + 1);
                Ok(())
            }
            b'\\' if self.peek(1) == Some(b'\n') => self.continued(),
            b'\n' => self.newline(),
            b'#' if self.list().word.is_none() => {
                self.at += self.rest().find('\n').unwrap_or(self.rest().len());
                Ok(())
            }
            b'<' | b'>' if self.peek(1) == Some(b'(') => self.process(),
            b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>' => self.operator(c),
            // Behind `<&` and `>&`, bash takes the dash alone, and whatever follows is the next word.
            b'-' if self.list().copies && self.list().waiting.is_some() && self.list().word.is_none() => {
                self.list().waiting = None;
                self.at += 1;
                if self.peek(0).is_some_and(|c| !b" \t\n;&|()<>".contains(&c)) {
                    self.doubt("a word right behind a descriptor that is closed");
                }
                Ok(())
            }
            _ => self.in_word(c),
        }
    }

    /// A line end that does not count. Between words and inside plain ones it is harmless; between
    /// two signs it makes one operator of them.
    fn continued(&mut self) -> Progress {
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
            return Err(self.stuck("a line that goes on inside an operator"));
        }
        self.at += 2;
        Ok(())
    }

    /// Whether an operator ends before this line end that does not count: what follows cannot lengthen it.
    fn is_behind_operator(&mut self) -> bool {
        let is_between_commands = self.list().word.is_none() && self.list().waiting.is_none();
        let (before, behind) = self.text.split_at(self.at);
        let behind = behind.trim_start_matches("\\\n");
        is_between_commands
            && before.ends_with(['&', '|', ';'])
            && !behind.starts_with(['&', '|', ';', '<', '>', '#'])
    }

    fn operator(&mut self, c: u8) -> Progress {
        match self.mode() {
            Mode::Test(regex) => self.test_operator(c, regex),
            Mode::For(stage) => self.for_operator(c, stage),
            Mode::Case(stage @ (Case::Word | Case::In | Case::Pattern)) => self.case_operator(c, stage),
            Mode::Array if c == b')' => {
                self.end_word()?;
                self.lists.pop();
                self.pop();
                self.at += 1;
                Ok(())
            }
            Mode::Array => Err(self.stuck("an operator in a list of values")),
            _ => match c {
                b'<' | b'>' => self.redirection(c),
                b'&' if self.peek(1) == Some(b'>') => self.redirection(c),
                b'(' => self.parenthesis(),
                b')' => self.closing(),
                b';' if matches!(self.peek(1), Some(b';' | b'&')) => self.case_end(),
                _ => {
                    let (length, join) = match (c, self.peek(1)) {
                        (b'&', Some(b'&')) => (2, Join::And),
                        (b'|', Some(b'|')) => (2, Join::Or),
                        (b'|', Some(b'&')) => (2, Join::Pipe),
                        (b'|', _) => (1, Join::Pipe),
                        (b'&', _) => (1, Join::Background),
                        _ => (1, Join::Next),
                    };
                    self.end_word()?;
                    if self.list().position == Position::Start
                        && self.list().command.words.is_empty()
                        && self.list().command.redirections.is_empty()
                    {
                        return Err(self.stuck("an operator without a command"));
                    }
                    self.end_command(join)?;
                    self.at += length;
                    Ok(())
                }
            },
        }
    }

    pub(super) fn newline(&mut self) -> Progress {
        self.end_word()?;
        match self.mode() {
            Mode::For(stage) => {
                let next = stage.at_the_end_of_a_line();
                self.turn(Mode::For(next));
            }
            Mode::Case(Case::In | Case::Pattern) | Mode::Test(_) | Mode::Array => {}
            Mode::Case(Case::Word) => return Err(self.stuck("`case` without a word")),
            _ => self.end_command(Join::Next)?,
        }
        let enclosing = self.lists.len() - 1;
        if let Some(document) = self.lists[..enclosing].iter().find_map(|list| list.documents.first()) {
            return Err(Stuck { what: "a here-document around a substitution".into(), at: document.at });
        }
        self.at += 1;
        self.read_documents()
    }

    /// The end of a word: what it is depends on where it stands.
    pub(super) fn end_word(&mut self) -> Progress {
        let (text, at) = (self.text, self.at);
        let list = self.list();
        let Some((start, mut word)) = list.word.take() else { return Ok(()) };
        word.source = &text[start..at];
        let waiting = list.waiting.take();
        self.keep_quoted(&word);
        let list = self.list();
        match waiting {
            None => return self.place_word(word, start),
            Some(Waiting::HereString) => list.command.redirections.push(Redirection::HereString(word)),
            Some(Waiting::Write) => list.command.redirections.push(Redirection::Write(word)),
            Some(Waiting::Read) => list.command.redirections.push(Redirection::Read(word)),
        }
        Ok(())
    }

    fn place_word(&mut self, word: Word<'a>, start: usize) -> Progress {
        // A setter of the shell takes the bare name.
        if let Some(name) = word.assigned().or_else(|| word.known()) {
            self.forget_variable(name);
        }
        match self.mode() {
            Mode::Array => {
                if word.source.starts_with('[') {
                    self.doubt("a subscript in a list of values");
                }
                Ok(())
            }
            Mode::Test(_) => {
                self.test_word(word);
                Ok(())
            }
            Mode::For(stage) => self.for_word(&word, stage, start),
            Mode::Case(stage @ (Case::Word | Case::In | Case::Pattern)) => {
                self.case_word(&word, stage, start)
            }
            _ => {
                let list = self.list();
                let is_first = list.command.words.is_empty() && list.command.redirections.is_empty();
                let position = list.position;
                // Behind `|` it is the program of this name.
                let is_program = list.before == Join::Pipe && !list.is_negated;
                match (position, word.keyword().filter(|word| *word != "time" || !is_program)) {
                    (Position::Start, Some(keyword)) if is_first => self.keyword(keyword, word, start),
                    (Position::AfterCompound, Some(keyword)) => self.keyword(keyword, word, start),
                    (Position::AfterCompound, None) => {
                        Err(Stuck { what: "a word behind a compound command".into(), at: start })
                    }
                    (Position::Start, _) if word.assigned().is_some() => {
                        self.list().command.words.push(word);
                        Ok(())
                    }
                    _ => {
                        let list = self.list();
                        list.command.words.push(word);
                        list.position = Position::Arguments;
                        Ok(())
                    }
                }
            }
        }
    }

    /// The end of a command.
    pub(super) fn end_command(&mut self, join: Join) -> Progress {
        self.end_word()?;
        if self.list().waiting.take().is_some() {
            return Err(self.stuck("a redirection without a target"));
        }
        let list = self.list();
        let is_something = list.position != Position::Start;
        list.position = Position::Start;
        let command = std::mem::take(&mut list.command);
        if !is_something && command.words.is_empty() && command.redirections.is_empty() {
            // An empty line joins nothing: `a ||` goes on behind it.
            return Ok(());
        }
        let before = std::mem::replace(&mut list.before, join);
        let is_negated = std::mem::take(&mut list.is_negated);
        list.is_timed = false;
        self.note_variables(&command, before, join);
        self.give(command);
        // Behind `||` it may not have run, behind `|` it ran in a shell of its own, and behind `!` it
        // has failed.
        let behind = join;
        let join = match (join, before) {
            (Join::And, _) if is_negated => Join::Next,
            (Join::And, Join::Or) => Join::Next,
            (Join::And, Join::Pipe) => Join::Pipe,
            _ => join,
        };
        self.ready.push_back(Step::Joined { join, behind });
        Ok(())
    }

    /// `<(…)` and `>(…)`, which are parts of words.
    fn process(&mut self) -> Progress {
        if matches!(self.mode(), Mode::Test(Some(_))) {
            return Err(self.stuck("a regular expression with a redirection"));
        }
        self.unknown(true, false);
        self.open_commands(2)
    }

    /// Commands inside a word.
    pub(super) fn open_commands(&mut self, length: usize) -> Progress {
        self.push(Mode::Substitution)?;
        self.lists.push(List::default());
        self.at += length;
        Ok(())
    }

    fn parenthesis(&mut self) -> Progress {
        if let Some((start, word)) = &self.list().word {
            let start = *start;
            let is_list = word.plain().is_some() && word.value.ends_with('=') && {
                let so_far = &self.text[start..self.at];
                Word { source: so_far, ..Word::default() }.assigned().is_some_and(|name| {
                    let behind = &so_far[name.len()..];
                    behind == "=" || behind == "+="
                })
            };
            if is_list {
                self.unknown(true, false);
                self.push(Mode::Array)?;
                self.lists.push(List::default());
                self.at += 1;
                return Ok(());
            }
        }
        let at = self.at;
        self.end_word()?;
        let list = self.list();
        let is_empty = list.command.words.is_empty() && list.command.redirections.is_empty();
        if list.waiting.is_none() && list.position == Position::Start && is_empty {
            if self.peek(1) == Some(b'(') && !self.groups.contains(&at) {
                self.open_arithmetic()?;
            } else {
                self.push(Mode::Subshell)?;
                self.at += 1;
            }
            return Ok(());
        }
        // `name ()` defines a function.
        let is_name = list.command.redirections.is_empty()
            && matches!(&list.command.words[..], [name] if name.known().is_some() && !name.quoted);
        let inside = self.rest()[1..].trim_start_matches([' ', '\t']);
        if is_name && inside.starts_with(')') {
            let list = self.list();
            list.command.words.clear();
            list.position = Position::Start;
            self.doubt("a function definition");
            self.ready.push_back(Step::Function);
            self.at = self.text.len() - inside.len() + 1;
            return Ok(());
        }
        Err(self.stuck("`(` among the words of a command"))
    }

    fn closing(&mut self) -> Progress {
        // The word in front may close a construct itself: `done)`.
        self.end_word()?;
        match self.mode() {
            Mode::Subshell => {
                self.end_command(Join::Next)?;
                self.pop();
                self.list().position = Position::AfterCompound;
            }
            Mode::Substitution => {
                self.end_command(Join::Next)?;
                if let Some(document) = self.list().documents.first() {
                    let at = document.at;
                    return Err(Stuck { what: "a here-document that ends with a substitution".into(), at });
                }
                self.lists.pop();
                self.pop();
            }
            _ => return Err(self.stuck("`)` that closes nothing")),
        }
        self.at += 1;
        Ok(())
    }

    fn redirection(&mut self, c: u8) -> Progress {
        // A number or `{name}` right before the operator is a descriptor, not a word.
        if c != b'&' {
            let is_descriptor = |word: &Word| {
                let name = word.value.strip_prefix('{').and_then(|name| name.strip_suffix('}'));
                word.plain().is_some()
                    && (word.value.bytes().all(|c| c.is_ascii_digit())
                        || name.is_some_and(|name| {
                            !name.is_empty() && name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_')
                        }))
            };
            let (text, at) = (self.text, self.at);
            if let Some((start, word)) = &self.list().word {
                let source = &text[*start..at];
                let name = source.strip_prefix('{').and_then(|name| name.strip_suffix('}'));
                if name.is_some_and(|name| name.contains('[')) {
                    let word = word.clone();
                    self.keep_quoted(&word);
                    self.list().word = None;
                    self.doubt("a descriptor in an element of a list");
                } else if is_descriptor(word) {
                    self.list().word = None;
                    // The shell keeps the descriptor's number in the variable.
                    if let Some(name) = name.filter(|name| is_name(name)) {
                        self.forget_variable(name);
                        self.ready.push_back(Step::Set(name));
                    }
                }
            }
        }
        self.end_word()?;
        if self.list().waiting.is_some() {
            return Err(self.stuck("a redirection without a target"));
        }
        let plain = if c == b'<' { Waiting::Read } else { Waiting::Write };
        let mut copies = false;
        let (length, waiting) = match (c, self.peek(1), self.peek(2)) {
            (b'&', _, Some(b'>')) => (3, Waiting::Write),
            (b'&', ..) => (2, Waiting::Write),
            (b'<', Some(b'<'), Some(b'<')) => (3, Waiting::HereString),
            (b'<', Some(b'<'), _) => {
                let delimiter = Delimiter::read(self.text, self.at)?;
                self.at = delimiter.end;
                let list = self.list();
                list.documents.push(delimiter);
                list.command.redirections.push(Redirection::Document);
                return Ok(());
            }
            (b'<', Some(b'>'), _) | (b'>', Some(b'>' | b'|'), _) => (2, Waiting::Write),
            (_, Some(b'&'), _) => {
                // `>&2` and `>&-` copy or close a descriptor; `>&file` and `>&2file` write.
                let rest = &self.rest()[2..];
                let number = rest.trim_start_matches(|c: char| c.is_ascii_digit());
                let behind = number.strip_prefix('-').unwrap_or(number);
                copies = true;
                let ends = behind.chars().next().is_none_or(|c| " \t\n;&|()<>".contains(c));
                if ends && behind.len() < rest.len() {
                    self.at += 2 + rest.len() - behind.len();
                    return Ok(());
                }
                (2, plain)
            }
            _ => (1, plain),
        };
        self.at += length;
        self.list().copies = copies;
        self.list().waiting = Some(waiting);
        Ok(())
    }
}
