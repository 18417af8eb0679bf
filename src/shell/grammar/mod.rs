//! A command line, read once from left to right.
//!
//! This is a pushdown automaton over the part of the shell's language that people and agents write:
//! every open construct is a [`Frame`] on a stack, so a substitution is read where it stands and is
//! never looked for twice, and no input makes the program recurse. What it gives are [`Step`]s: the
//! simple commands in the order in which the shell reads them, and the scopes around them.
//!
//! What it does not understand it says ([`Step::NotUnderstood`]) and then goes on behind it: a strict guard
//! refuses such a line, and a lenient one still sees the rest. Where a quote was open, nobody knows whether
//! it still is: there the rest is also read as it is behind the next quotes ([`Step::Otherwise`]).

mod commands;
mod compounds;
mod documents;
mod expansions;
mod modes;
#[cfg(test)]
mod tests;
mod variables;
mod words;

use std::borrow::Cow;
use std::collections::{BTreeSet, VecDeque};

use super::arithmetic::has_substitution;
use super::word::{Unknown, Word};
use super::{READING, Work};
use documents::Delimiter;
use modes::{Arithmetic, Case, For, If, Loop, Mode, Position, Waiting};
use variables::Variables;

/// Constructs within each other beyond this are not understood.
const DEEPEST: usize = 64;
/// What is not read because it is deeper.
pub(super) const TOO_DEEP: &str = "nesting deeper than 64 levels";
/// What makes text that was quoted run: the shell expands it once more.
pub(super) const QUOTED_ARITHMETIC: &str = "a quote in arithmetic";
pub(super) const TRANSFORMED: &str = "a transformed variable";
/// What a command line is made of, in the order of its text. Commands inside a substitution come
/// before the command that uses it.
pub(super) enum Step<'a> {
    Simple(Simple<'a>),
    /// A command is over. `behind`: what stands behind it; `join`: as far as it tells whether the next one
    /// runs in the same shell behind a success.
    Joined {
        join: Join,
        behind: Join,
    },
    /// `!` stands in front of the next pipeline.
    Negated,
    /// The innermost construct goes on with another part.
    Turn(Turn),
    /// The text of a here-document, in the order of their announcements. `quoted`: nothing in it is
    /// expanded.
    Body {
        text: &'a str,
        quoted: bool,
    },
    /// A text that is a command line of its own: what stands between backticks.
    Commands(String),
    /// What follows something that was not understood, from a place where it may go on.
    Otherwise(&'a str),
    /// A text with a substitution that runs only if the shell evaluates the text.
    Quoted(String),
    /// The shell sets a variable to something that is not known.
    Set(&'a str),
    Open(Scope),
    Close(Scope),
    NotUnderstood {
        what: Cow<'static, str>,
        at: usize,
    },
    /// The next construct is the body of a function or of a coprocess.
    Function,
    /// All open constructs are given up, and reading starts anew.
    Restart,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// Its own process: what it changes in the shell is gone at its end.
    Subshell,
    /// A subshell inside a word.
    Substitution,
    Group,
    If,
    Case,
    /// Its commands run any number of times.
    Loop,
}

impl Scope {
    pub(super) fn is_process(self) -> bool {
        matches!(self, Self::Subshell | Self::Substitution)
    }
}

/// A part of a construct that starts or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    Until,
    Do,
    Then,
    Elif,
    Else,
    /// The commands of a `case` behind a pattern.
    Clause,
    /// `;;`; `falls_through`: `;&` or `;;&`.
    ClauseEnd {
        falls_through: bool,
    },
}

/// A simple command: its words with assignments in front, and where its input and output go. Behind
/// a compound command it has no words.
#[derive(Default)]
pub(super) struct Simple<'a> {
    pub(super) words: Vec<Word<'a>>,
    pub(super) redirections: Vec<Redirection<'a>>,
}

pub(super) enum Redirection<'a> {
    Read(Word<'a>),
    Write(Word<'a>),
    HereString(Word<'a>),
    /// A here-document, whose text is a later [`Step::Body`].
    Document,
}

/// What a text is read as.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Commands,
    /// Commands perhaps: a text of which a part is not known, or the rest of one, from a place where it
    /// may go on. What is not understood in it is not read in still other ways.
    Rest,
    /// Only its expansions count: the body of a here-document.
    Text,
}

/// Something that is not understood, and the byte at which it starts.
struct Stuck {
    what: Cow<'static, str>,
    at: usize,
}

type Progress = Result<(), Stuck>;

/// A construct that is open, and where it was opened.
#[derive(Clone, Copy)]
struct Frame {
    mode: Mode,
    at: usize,
    /// How many lists were open below it.
    lists: usize,
}

/// What stands behind a command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Join {
    /// The next one follows in any case.
    #[default]
    Next,
    /// The next one runs only if it succeeded.
    And,
    Or,
    /// The next one runs beside it; both are subshells.
    Pipe,
    Background,
}

/// Commands that are read one after the other: the line itself, or those inside a word.
#[derive(Default)]
struct List<'a> {
    command: Simple<'a>,
    /// The word that is being read, and where it started.
    word: Option<(usize, Word<'a>)>,
    waiting: Option<Waiting>,
    /// What is waited for stands behind `<&` or `>&`.
    copies: bool,
    /// Here-documents whose texts start after this line.
    documents: Vec<Delimiter>,
    position: Position,
    /// What joins the current command to the one in front of it.
    before: Join,
    /// `!` stands in front of the current command.
    is_negated: bool,
    /// `time` stands there.
    is_timed: bool,
}

/// Gives the steps of a text one by one.
pub(super) struct Grammar<'a> {
    text: &'a str,
    at: usize,
    kind: Kind,
    home: Option<&'a str>,
    /// The current directory, where it is certain.
    pub(super) pwd: Option<String>,
    work: &'a Work,
    frames: Vec<Frame>,
    lists: Vec<List<'a>>,
    ready: VecDeque<Step<'a>>,
    /// Where `((` turned out to be two groups.
    groups: BTreeSet<usize>,
    variables: Variables<'a>,
    /// The variable of the loop whose head was read last.
    loop_variable: Option<&'a str>,
    /// That loop is a `select`.
    is_select: bool,
    ended: bool,
}

impl<'a> Iterator for Grammar<'a> {
    type Item = Step<'a>;

    fn next(&mut self) -> Option<Step<'a>> {
        while self.ready.is_empty() && !self.ended {
            self.step();
        }
        self.ready.pop_front()
    }
}

impl<'a> Grammar<'a> {
    pub(super) fn new(text: &'a str, kind: Kind, home: Option<&'a str>, work: &'a Work) -> Self {
        let mut grammar = Self {
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
            variables: Variables::default(),
            loop_variable: None,
            is_select: false,
            ended: false,
        };
        grammar.start();
        grammar
    }

    fn start(&mut self) {
        let mode = if self.kind == Kind::Text { Mode::Text } else { Mode::Top };
        self.frames.push(Frame { mode, at: self.at, lists: 0 });
        self.lists.push(List::default());
        if self.kind == Kind::Text {
            // Nothing of it is a word that anybody looks at.
            self.word().unknown = Some(Unknown::default());
        }
    }

    fn step(&mut self) {
        let progress = match (self.peek(0), self.mode()) {
            (None, _) => self.finish(),
            (Some(0), _) => Err(self.stuck("a zero byte")),
            (Some(c), Mode::Double | Mode::Text) => self.in_quotes(c),
            (Some(c), Mode::Braces { quoted }) => self.in_braces(c, quoted),
            (Some(c), Mode::Arithmetic(state)) => self.in_arithmetic(c, state),
            (Some(c), _) => self.in_commands(c),
        };
        if let Err(stuck) = progress {
            self.go_on_behind(stuck);
        }
    }

    fn finish(&mut self) -> Progress {
        let in_word =
            matches!(self.mode(), Mode::Double | Mode::Text | Mode::Braces { .. } | Mode::Arithmetic(_));
        if !in_word {
            // The last word may close what is open.
            self.end_word()?;
        }
        match self.mode() {
            Mode::Top => {
                self.end_command(Join::Next)?;
                if let Some(document) = self.list().documents.first() {
                    let at = document.at;
                    self.list().documents.clear();
                    return Err(Stuck { what: "a here-document without its text".into(), at });
                }
            }
            // A substitution that is escaped in it.
            Mode::Text => {
                if let Some((_, word)) = self.list().word.take() {
                    self.keep_quoted(&word);
                }
            }
            mode => {
                return Err(Stuck { what: mode.name().into(), at: self.frame().at });
            }
        }
        self.ended = true;
        Ok(())
    }

    /// After something that is not understood: `((` may have been two groups; anything else is
    /// told, what was read so far is given, and reading starts anew behind it.
    fn go_on_behind(&mut self, stuck: Stuck) {
        let arithmetic = self
            .frames
            .iter()
            .rposition(|frame| matches!(frame.mode, Mode::Arithmetic(state) if !state.brackets));
        if let Some(depth) = arithmetic {
            let Frame { at, lists, .. } = self.frames[depth];
            if stuck.what == QUOTED_ARITHMETIC {
                self.ready.push_back(Step::NotUnderstood { what: stuck.what, at: stuck.at });
            }
            self.work.pay((self.at - at) * READING);
            self.leave(depth);
            self.lists.truncate(lists);
            self.groups.insert(at);
            self.at = at;
            return;
        }
        let Stuck { what, at } = stuck;
        let is_in = |wanted: fn(&Mode) -> bool| self.frames.iter().any(|frame| wanted(&frame.mode));
        let may_be_quoted =
            is_in(|mode| matches!(mode, Mode::Double | Mode::Braces { .. } | Mode::Arithmetic(_)))
                || self.lists.iter().any(|list| !list.documents.is_empty());
        let (blanks, quotes) = match self.kind {
            // What a redirection takes may end at a blank.
            Kind::Commands => (if self.text[at..].starts_with('<') { 2 } else { 0 }, may_be_quoted),
            // Of a text that is no commands itself, only what a substitution holds is read as commands.
            Kind::Text if is_in(|mode| *mode == Mode::Substitution) => (1, true),
            Kind::Text | Kind::Rest => (0, false),
        };
        self.variables.give_up();
        self.ready.push_back(Step::NotUnderstood { what, at });
        self.ready.push_back(Step::Restart);
        while let Some(mut list) = self.lists.pop() {
            if let Some((_, word)) = &list.word {
                self.keep_quoted(word);
            }
            if let Some((start, mut word)) = list.word.take().filter(|_| self.kind != Kind::Text) {
                word.source = &self.text[start..self.at];
                word.unknown = Some(Unknown { splits: true, may_dash: true });
                match list.waiting {
                    None => list.command.words.push(word),
                    Some(Waiting::Write) => list.command.redirections.push(Redirection::Write(word)),
                    Some(_) => {}
                }
            }
            self.give(list.command);
        }
        self.leave(0);
        // All that follows may have been looked at, and what was read behind this place is read again.
        self.work.pay(self.text.len() - at + self.at.saturating_sub(at) * READING);
        self.ended = at >= self.text.len();
        self.at = (at + 1).min(self.text.len());
        while !self.text.is_char_boundary(self.at) {
            self.at += 1;
        }
        self.read_otherwise(blanks, quotes);
        self.start();
    }

    /// Where a quote or a word may end that is not known to be open.
    fn read_otherwise(&mut self, blanks: usize, quotes: bool) {
        let rest = self.rest();
        let blanks = rest.match_indices([' ', '\t', '\n']).take(blanks).map(|(at, _)| at);
        let quotes = ['"', '\''].into_iter().filter(|_| quotes).filter_map(|sign| rest.find(sign));
        let places: BTreeSet<usize> = blanks.chain(quotes).collect();
        self.ready.extend(places.into_iter().map(|at| Step::Otherwise(&rest[at + 1..])));
    }

    /// Closes all frames from this depth on.
    fn leave(&mut self, depth: usize) {
        for frame in self.frames.drain(depth..).rev() {
            self.ready.extend(frame.mode.scope().map(Step::Close));
        }
    }

    fn push(&mut self, mode: Mode) -> Progress {
        if self.frames.len() >= DEEPEST {
            return Err(self.stuck(TOO_DEEP));
        }
        self.frames.push(Frame { mode, at: self.at, lists: self.lists.len() });
        if matches!(mode, Mode::Loop(_)) {
            // The end of the loop may set what its beginning uses.
            self.variables.forget_all();
        }
        if matches!(mode, Mode::Subshell | Mode::Group | Mode::If(_) | Mode::Loop(_) | Mode::Case(_)) {
            let list = self.list();
            (list.before, list.is_negated, list.is_timed) = (Join::Next, false, false);
        }
        self.ready.extend(mode.scope().map(Step::Open));
        Ok(())
    }

    /// `((…))` where a command stands. Its expansions are parts of no word.
    fn open_arithmetic(&mut self) -> Progress {
        self.push(Mode::Arithmetic(Arithmetic { is_command: true, ..Arithmetic::default() }))?;
        self.lists.push(List::default());
        self.word().unknown = Some(Unknown::default());
        self.at += 2;
        Ok(())
    }

    fn pop(&mut self) {
        if let Some(frame) = self.frames.pop() {
            if matches!(frame.mode, Mode::Loop(_)) {
                self.variables.forget_all();
            }
            self.ready.extend(frame.mode.scope().map(Step::Close));
        }
    }

    /// The innermost construct goes on in another mode.
    fn turn(&mut self, mode: Mode) {
        if let Some(frame) = self.frames.last_mut() {
            frame.mode = mode;
        }
    }

    fn frame(&self) -> Frame {
        *self.frames.last().expect("the first frame stays")
    }

    fn mode(&self) -> Mode {
        self.frame().mode
    }

    fn list(&mut self) -> &mut List<'a> {
        self.lists.last_mut().expect("the first list stays")
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn stuck(&self, what: impl Into<Cow<'static, str>>) -> Stuck {
        Stuck { what: what.into(), at: self.at }
    }

    /// Something is read as the shell reads it, but what it will do depends on values.
    fn doubt(&mut self, what: &'static str) {
        self.variables.give_up();
        self.ready.push_back(Step::NotUnderstood { what: what.into(), at: self.at });
    }

    /// Gives the literal text of a word if a substitution in it is quoted.
    fn keep_quoted(&mut self, word: &Word) {
        let text = word.literal_text();
        if has_substitution(&text) && self.work.pay(text.len()) {
            self.ready.push_back(Step::Quoted(text.into_owned()));
        }
    }

    fn give(&mut self, command: Simple<'a>) {
        if !command.words.is_empty() || !command.redirections.is_empty() {
            self.ready.push_back(Step::Simple(command));
        }
    }
}
