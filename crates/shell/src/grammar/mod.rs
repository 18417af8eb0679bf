//! Parses a command line once, from left to right.
//!
//! The parser is a pushdown automaton over the part of the shell's language that people and agents write. Every open
//! construct is an [`OpenConstruct`] on a stack, so a substitution is parsed in its place, and no input makes the
//! program recurse. The result are [`SyntaxEvent`]s: the simple commands in the order in which the shell reads them,
//! and the scopes around them.
//!
//! A construct that the parser does not understand is a [`SyntaxEvent::NotUnderstood`], and parsing continues after it:
//! a strict guard denies such a line, and a lenient one still sees the rest. If a quote was open, it is uncertain whether
//! it still is, so the rest is also parsed from the end of the next quotes ([`SyntaxEvent::Otherwise`]).

mod commands;
mod compounds;
mod documents;
mod events;
mod expansions;
mod modes;
mod substitutions;
#[cfg(test)]
mod tests;
mod variables;
mod words;

use std::borrow::Cow;
use std::collections::{BTreeSet, VecDeque};

use super::arithmetic::has_substitution;
use super::budget::{Budget, PARSING_COST};
use super::word::{LoopValue, UnknownPart, Word};
use documents::HereDocument;
pub(super) use events::{
    CompoundPart, ControlOperator, OutputMode, Redirection, Scope, SimpleCommand, StructureEvent, SyntaxEvent,
};
use modes::{Arithmetic, Case, For, If, Loop, Mode, PendingTarget, WordPosition};
use substitutions::SubstitutedValue;
use variables::KnownVariables;

/// More nested constructs are not understood.
const DEEPEST: usize = 64;
pub(super) const TOO_DEEP: &str = "nesting deeper than 64 levels";
/// These make quoted text run, because the shell expands it once more.
pub(super) const QUOTED_ARITHMETIC: &str = "a quote in arithmetic";
pub(super) const TRANSFORMED: &str = "a transformed variable";

/// What a text is parsed as.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TextKind {
    Commands,
    /// Perhaps commands: a text with an unknown part, or the rest of one. After a syntax error, it is not parsed in
    /// other ways as well.
    Rest,
    /// The body of a here-document, of which only the expansions count.
    Text,
}

/// A construct that is not understood, and the byte at which it starts.
struct SyntaxError {
    what: Cow<'static, str>,
    at: usize,
}

impl SyntaxError {
    fn new(what: impl Into<Cow<'static, str>>, at: usize) -> Self {
        Self { what: what.into(), at }
    }
}

type ParseResult = Result<(), SyntaxError>;

/// A construct that is open, and where it starts.
#[derive(Clone, Copy)]
struct OpenConstruct {
    mode: Mode,
    at: usize,
    /// How many lists were open when it started.
    lists: usize,
}

/// A sequence of commands: the line itself, or the commands inside a word.
#[derive(Default)]
struct List<'a> {
    command: SimpleCommand<'a>,
    /// The current word, and where it starts.
    word: Option<(usize, Word<'a>)>,
    /// The redirection whose target is the next word.
    waiting: Option<PendingTarget>,
    /// That redirection is `<&` or `>&`.
    copies: bool,
    /// Here-documents whose texts start at the next line.
    documents: Vec<HereDocument>,
    position: WordPosition,
    /// The operator in front of the current command.
    before: ControlOperator,
    /// `!` is in front of the current command.
    is_negated: bool,
    /// `time` is in front of the current command.
    is_timed: bool,
}

/// Iterates over the events of a text.
pub(super) struct Parser<'a> {
    text: &'a str,
    at: usize,
    kind: TextKind,
    home: Option<&'a str>,
    /// The current directory, if it is known.
    pub(super) pwd: Option<String>,
    work: &'a Budget,
    frames: Vec<OpenConstruct>,
    lists: Vec<List<'a>>,
    ready: VecDeque<SyntaxEvent<'a>>,
    /// Where `((` starts two groups instead of arithmetic.
    groups: BTreeSet<usize>,
    variables: KnownVariables<'a>,
    /// The variable of the last loop head.
    loop_variable: Option<&'a str>,
    /// The words in the head of the loop that is being parsed.
    loop_values: Vec<LoopValue>,
    /// The last loop head is a `select`.
    is_select: bool,
    /// A substitution has just ended whose value is not appended yet.
    open_value: Option<SubstitutedValue>,
    ended: bool,
}

impl<'a> Iterator for Parser<'a> {
    type Item = SyntaxEvent<'a>;

    fn next(&mut self) -> Option<SyntaxEvent<'a>> {
        while self.ready.is_empty() && !self.ended {
            self.parse_next();
        }
        self.ready.pop_front()
    }
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str, kind: TextKind, home: Option<&'a str>, work: &'a Budget) -> Self {
        let mut parser = Self {
            text,
            at: 0,
            kind,
            home,
            pwd: None,
            work,
            frames: Vec::new(),
            lists: Vec::new(),
            ready: VecDeque::new(),
            groups: BTreeSet::new(),
            variables: KnownVariables::default(),
            loop_variable: None,
            loop_values: Vec::new(),
            is_select: false,
            open_value: None,
            ended: false,
        };
        parser.open_outermost();
        parser
    }

    fn open_outermost(&mut self) {
        let mode = if self.kind == TextKind::Text { Mode::Text } else { Mode::Top };
        self.frames.push(OpenConstruct { mode, at: self.at, lists: 0 });
        self.lists.push(List::default());
        if self.kind == TextKind::Text {
            // No caller looks at the words of a text.
            self.current_word().unknown = Some(UnknownPart::default());
        }
    }

    fn parse_next(&mut self) {
        self.append_open_value();
        let progress = match (self.peek(0), self.mode()) {
            (None, _) => self.finish_text(),
            (Some(0), _) => Err(self.error("a zero byte")),
            (Some(c), Mode::Double | Mode::Text) => self.parse_in_quotes(c),
            (Some(c), Mode::Braces { quoted }) => self.parse_in_braces(c, quoted),
            (Some(c), Mode::Arithmetic(state)) => self.parse_in_arithmetic(c, state),
            (Some(c), _) => self.parse_in_commands(c),
        };
        if let Err(error) = progress {
            self.recover_from(error);
        }
    }

    fn finish_text(&mut self) -> ParseResult {
        let in_word =
            matches!(self.mode(), Mode::Double | Mode::Text | Mode::Braces { .. } | Mode::Arithmetic(_));
        if !in_word {
            // The last word may close a construct.
            self.end_word()?;
        }
        match self.mode() {
            Mode::Top => {
                self.end_command(ControlOperator::Next)?;
                if let Some(document) = self.list().documents.first() {
                    let at = document.at;
                    self.list().documents.clear();
                    return Err(SyntaxError::new("a here-document without its text", at));
                }
            }
            // The text may contain an escaped substitution.
            Mode::Text => {
                if let Some((_, word)) = self.list().word.take() {
                    self.emit_quoted(&word);
                }
            }
            mode => return Err(SyntaxError::new(mode.unclosed_message(), self.innermost().at)),
        }
        self.ended = true;
        Ok(())
    }

    /// Recovers from a syntax error. `((` is parsed again as two groups. After any other error, the parser emits the
    /// error and what it has parsed so far, and starts again.
    fn recover_from(&mut self, error: SyntaxError) {
        let arithmetic = self
            .frames
            .iter()
            .rposition(|frame| matches!(frame.mode, Mode::Arithmetic(state) if !state.brackets));
        if let Some(depth) = arithmetic {
            let OpenConstruct { at, lists, .. } = self.frames[depth];
            if error.what == QUOTED_ARITHMETIC {
                self.ready.push_back(SyntaxEvent::NotUnderstood { what: error.what, at: error.at });
            }
            self.work.pay((self.at - at) * PARSING_COST);
            self.close_constructs_from(depth);
            self.lists.truncate(lists);
            self.groups.insert(at);
            self.at = at;
            return;
        }
        let SyntaxError { what, at } = error;
        let is_in = |wanted: fn(&Mode) -> bool| self.frames.iter().any(|frame| wanted(&frame.mode));
        let may_be_quoted =
            is_in(|mode| matches!(mode, Mode::Double | Mode::Braces { .. } | Mode::Arithmetic(_)))
                || self.lists.iter().any(|list| !list.documents.is_empty());
        let (blanks, quotes) = match self.kind {
            // The target of a redirection may end at a blank.
            TextKind::Commands => (if self.text[at..].starts_with('<') { 2 } else { 0 }, may_be_quoted),
            // A text contains commands only inside a substitution.
            TextKind::Text if is_in(|mode| matches!(mode, Mode::Substitution(_))) => (1, true),
            TextKind::Text | TextKind::Rest => (0, false),
        };
        self.variables.give_up();
        self.ready.push_back(SyntaxEvent::NotUnderstood { what, at });
        self.emit_structure(StructureEvent::Restart);
        while let Some(mut list) = self.lists.pop() {
            if let Some((_, word)) = &list.word {
                self.emit_quoted(word);
            }
            if let Some((start, mut word)) = list.word.take().filter(|_| self.kind != TextKind::Text) {
                word.source = &self.text[start..self.at];
                word.unknown = Some(UnknownPart { splits: true, may_dash: true });
                match list.waiting {
                    None => list.command.words.push(word),
                    Some(PendingTarget::Write(output)) => {
                        list.command.redirections.push(Redirection::Write { target: word, output });
                    }
                    Some(_) => {}
                }
            }
            self.emit_command(list.command);
        }
        self.close_constructs_from(0);
        // The parser may have looked at the whole rest, and parses the part after the error again.
        self.work.pay(self.text.len() - at + self.at.saturating_sub(at) * PARSING_COST);
        self.ended = at >= self.text.len();
        self.at = (at + 1).min(self.text.len());
        while !self.text.is_char_boundary(self.at) {
            self.at += 1;
        }
        self.queue_alternatives(blanks, quotes);
        self.open_outermost();
    }

    /// Emits the rest of the text from each position where a quote or a word may end.
    fn queue_alternatives(&mut self, blanks: usize, quotes: bool) {
        let rest = self.rest();
        let blanks = rest.match_indices([' ', '\t', '\n']).take(blanks).map(|(at, _)| at);
        let quotes = ['"', '\''].into_iter().filter(|_| quotes).filter_map(|sign| rest.find(sign));
        let places: BTreeSet<usize> = blanks.chain(quotes).collect();
        self.ready.extend(places.into_iter().map(|at| SyntaxEvent::Otherwise(&rest[at + 1..])));
    }

    /// Closes all constructs from this depth on.
    fn close_constructs_from(&mut self, depth: usize) {
        for frame in self.frames.drain(depth..).rev() {
            self.ready.extend(frame.mode.scope().map(StructureEvent::Close).map(SyntaxEvent::Structure));
        }
    }

    fn open_construct(&mut self, mode: Mode) -> ParseResult {
        if self.frames.len() >= DEEPEST {
            return Err(self.error(TOO_DEEP));
        }
        self.frames.push(OpenConstruct { mode, at: self.at, lists: self.lists.len() });
        if matches!(mode, Mode::Loop(_)) {
            // The end of a loop may set the variables that its start uses.
            self.variables.forget_all();
        }
        if matches!(mode, Mode::Subshell | Mode::Group | Mode::If(_) | Mode::Loop(_) | Mode::Case(_)) {
            let list = self.list();
            (list.before, list.is_negated, list.is_timed) = (ControlOperator::Next, false, false);
        }
        self.ready.extend(mode.scope().map(StructureEvent::Open).map(SyntaxEvent::Structure));
        Ok(())
    }

    /// `((…))` as a command. Its expansions do not belong to a word.
    fn open_arithmetic(&mut self) -> ParseResult {
        self.open_construct(Mode::Arithmetic(Arithmetic { is_command: true, ..Arithmetic::default() }))?;
        self.lists.push(List::default());
        self.current_word().unknown = Some(UnknownPart::default());
        self.advance(2)
    }

    fn close_construct(&mut self) {
        if let Some(frame) = self.frames.pop() {
            if matches!(frame.mode, Mode::Loop(_)) {
                self.variables.forget_all();
            }
            self.ready.extend(frame.mode.scope().map(StructureEvent::Close).map(SyntaxEvent::Structure));
        }
    }

    /// Changes the mode of the innermost construct.
    fn set_mode(&mut self, mode: Mode) {
        if let Some(frame) = self.frames.last_mut() {
            frame.mode = mode;
        }
    }

    fn innermost(&self) -> OpenConstruct {
        *self.frames.last().expect("the first frame stays")
    }

    fn mode(&self) -> Mode {
        self.innermost().mode
    }

    fn list(&mut self) -> &mut List<'a> {
        self.lists.last_mut().expect("the first list stays")
    }

    /// Skips bytes at the end of a parsing step.
    fn advance(&mut self, bytes: usize) -> ParseResult {
        self.at += bytes;
        Ok(())
    }

    /// Moves to the start of this rest of the text.
    fn seek(&mut self, rest: &str) {
        self.at = self.text.len() - rest.len();
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn error(&self, what: impl Into<Cow<'static, str>>) -> SyntaxError {
        SyntaxError::new(what, self.at)
    }

    /// Reports a construct that is parsed correctly, but whose effects depend on unknown values.
    fn report_doubt(&mut self, what: &'static str) {
        self.variables.give_up();
        self.ready.push_back(SyntaxEvent::NotUnderstood { what: what.into(), at: self.at });
    }

    /// Emits the literal text of a word if it contains a quoted substitution.
    fn emit_quoted(&mut self, word: &Word) {
        let text = word.literal_text();
        if has_substitution(&text) && self.work.pay(text.len()) {
            self.ready.push_back(SyntaxEvent::Quoted(text.into_owned()));
        }
    }

    fn emit_structure(&mut self, event: StructureEvent) {
        self.ready.push_back(SyntaxEvent::Structure(event));
    }

    fn emit_command(&mut self, command: SimpleCommand<'a>) {
        if !command.is_empty() {
            self.ready.push_back(SyntaxEvent::Simple(command));
        }
    }
}
