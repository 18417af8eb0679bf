//! What a command line would do.
//!
//! The seam is [`effects`]: text in, the same [`Effect`]s out that the file tools produce. The
//! [`grammar`] reads the text, [`programs`] is the table of what is known about programs, and this
//! module walks from one to the other: where each command runs, which texts are command lines
//! themselves. Nothing recurses, and everything is paid from [`Work`]. What cannot be known is never
//! guessed at: a variable as a target becomes [`Effect::Somewhere`], a variable as a program or a
//! construct that is not understood [`Effect::Obscure`].

mod ansi;
mod arithmetic;
mod builtins;
mod directories;
mod flow;
mod grammar;
mod programs;
#[cfg(test)]
mod tests;
mod word;

use std::cell::Cell;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::effect::{Content, Deed, Effect};
use arithmetic::{Evaluation, Reach};
use directories::{Directories, Parts, Round, Whereabouts};
use flow::{Flow, Op};
use grammar::{
    Grammar, Join, Kind, QUOTED_ARITHMETIC, Redirection, Scope, Simple, Step, TOO_DEEP, TRANSFORMED,
};
use programs::git::GitContext;
pub use programs::steers;
use word::Word;

const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh"];
/// How deep texts that are command lines themselves are followed: `sh -c "sh -c …"`, backticks.
const DEEPEST: u32 = 8;
/// A longer line is not read at all.
const LONGEST_LINE: usize = 1 << 20;
/// No system opens a longer path.
const LONGEST_PATH: usize = 4096;

/// What reading a byte again costs, in bytes that are built: texts can be read in two ways, in one another, and
/// here-documents that never end hold all that follows, each of them.
const READING: usize = 16;

/// As many effects as a line can have for each of its bytes.
const EFFECTS_PER_BYTE: usize = 64;

/// How many bytes a line may still make the reader build or pass again. A line that names its
/// files in the cross product of many directories ends here, and not in memory.
struct Work(Cell<usize>);

impl Work {
    fn of(line: &str) -> Self {
        const LEAST: usize = 256 << 10;
        const MOST: usize = 64 << 20;
        Self(Cell::new(MOST.min(LEAST + line.len() * EFFECTS_PER_BYTE * size_of::<Effect>())))
    }

    /// What is for the line itself, and a part for what may not belong to it.
    fn shared(self) -> (Self, Self) {
        let guesses = self.0.get() / 4;
        (Self(Cell::new(self.0.get() - guesses)), Self(Cell::new(guesses)))
    }

    fn pay(&self, bytes: usize) -> bool {
        self.0.set(self.0.get().saturating_sub(bytes));
        !self.is_spent()
    }

    fn is_spent(&self) -> bool {
        self.0.get() == 0
    }
}

/// The effects of a command line that starts in `cwd`.
pub fn effects(command: &str, cwd: &Path, home: Option<&Path>) -> Vec<Effect> {
    if command.len() > LONGEST_LINE {
        return vec![Effect::TooLarge { what: format!("a command line of {} bytes", command.len()) }];
    }
    let home = home.and_then(Path::to_str);
    let (work, guesses) = Work::of(command).shared();
    let mut effects = Vec::new();
    let mut flow = Flow::default();
    let mut evaluation = Evaluation::default();
    let mut open = VecDeque::from([Nested {
        text: command.to_owned(),
        script: flow.new_script(),
        git: GitContext::default(),
        kind: Kind::Commands,
        directories: Directories::from([cwd.into()]),
        entered: Directories::default(),
        is_lost: false,
        is_guess: false,
        depth: 0,
    }]);
    while let Some(nested) = open.pop_front().or_else(|| evaluation.next_text()) {
        let Nested { text, script, git, kind, directories, entered, is_lost, is_guess, depth } = nested;
        // What may not be commands at all must not make a line too large.
        if is_guess && guesses.is_spent() {
            continue;
        }
        let work = if is_guess { &guesses } else { &work };
        let mut line = Line {
            git,
            flow: &mut flow,
            evaluation: &mut evaluation,
            script,
            inner: 0,
            start: directories.clone(),
            place: Whereabouts::new(directories, entered, is_lost),
            parts: Parts::default(),
            outside: Vec::new(),
            loops: Vec::new(),
            home,
            work,
            guesses: &guesses,
            is_guess,
            effects: &mut effects,
            nested: Vec::new(),
            fed: VecDeque::new(),
            depth,
        };
        line.walk(Grammar::new(&text, kind, home, work));
        open.extend(std::mem::take(&mut line.nested));
        if !is_guess && work.is_spent() {
            // In front: who minds it need not look at all the others.
            let what = "a command line that does so much";
            effects.insert(0, Effect::TooLarge { what: what.into() });
            return effects;
        }
    }
    flow.resolve(&mut effects);
    effects
}

/// The first word of a command line that is no assignment, where it is known.
pub fn first_word(command: &str) -> Option<String> {
    let work = Work::of(command);
    let place = |word: &Word| word.source.as_ptr() as usize;
    // A substitution is read before the command that it stands in.
    let words = Grammar::new(command, Kind::Commands, None, &work).filter_map(|step| match step {
        Step::Simple(command) => command.words.into_iter().find(|word| word.assigned().is_none()),
        _ => None,
    });
    words.min_by_key(place)?.known().map(str::to_owned)
}

/// A text that a command line makes the shell read, and where.
struct Nested {
    text: String,
    /// Its number in the [`Flow`].
    script: usize,
    git: GitContext,
    kind: Kind,
    directories: Directories,
    entered: Directories,
    /// It may run in another directory as well.
    is_lost: bool,
    /// It may be no commands at all.
    is_guess: bool,
    depth: u32,
}

/// One command line while it is walked.
struct Line<'a> {
    git: GitContext,
    flow: &'a mut Flow,
    evaluation: &'a mut Evaluation,
    /// The number of this line in the flow.
    script: usize,
    /// How many programs of this line the current one runs in.
    inner: u32,
    place: Whereabouts,
    parts: Parts,
    /// Where the pipeline starts that is being read.
    start: Directories,
    /// Where the commands around each open subshell are.
    outside: Vec<(Whereabouts, GitContext)>,
    loops: Vec<Round>,
    home: Option<&'a str>,
    work: &'a Work,
    /// What pays for texts that may be no commands at all.
    guesses: &'a Work,
    is_guess: bool,
    effects: &'a mut Vec<Effect>,
    nested: Vec<Nested>,
    /// For each here-document whose text is still to come: the script that it is, if a shell reads it.
    fed: VecDeque<Option<usize>>,
    depth: u32,
}

impl Line<'_> {
    fn walk(&mut self, mut grammar: Grammar) {
        grammar.pwd = self.place.certain();
        while let Some(step) = grammar.next() {
            let before = self.place.current.clone();
            let starts = !matches!(step, Step::Simple(_) | Step::Joined { join: Join::Pipe, .. });
            self.record_structure(&step);
            self.parts.follow(&step, &mut self.place);
            match step {
                Step::Simple(command) => {
                    self.redirect(&command);
                    self.simple(&command);
                }
                // Behind `&&` a `cd` has succeeded. Behind anything else it may have failed, so every
                // directory of the line is possible.
                Step::Joined { join: Join::And, .. } => {}
                // Every part of a pipeline starts where the pipeline does.
                Step::Joined { join: Join::Pipe, .. } if Rc::ptr_eq(&self.place.current, &self.start) => {}
                Step::Joined { .. } => self.place.forget(),
                Step::Body { text, quoted } => match self.fed.pop_front().flatten() {
                    Some(script) => self.read_script(text.to_owned(), Kind::Commands, script),
                    None if quoted => self.keep_quoted(text),
                    None => self.read_before(text.to_owned(), Kind::Text),
                },
                Step::Commands(text) => self.read_before(text, Kind::Commands),
                Step::Otherwise(text) => self.read_before(text.to_owned(), Kind::Rest),
                Step::Quoted(text) => self.keep_quoted(&text),
                Step::Set(name) => {
                    self.evaluate_set(name);
                    self.push(Effect::SetVariable { name: name.to_owned(), value: None }, name.len());
                }
                Step::Open(scope) if scope.is_process() => {
                    self.outside.push((self.place.clone(), self.git.clone()));
                }
                Step::Close(scope) if scope.is_process() => {
                    if let Some((place, git)) = self.outside.pop() {
                        (self.place, self.git) = (place, git);
                    }
                }
                Step::Open(Scope::Loop) => self.loops.push(Round {
                    effects: self.effects.len(),
                    nested: self.nested.len(),
                    subshells: self.outside.len(),
                }),
                Step::Close(Scope::Loop) => {
                    self.loops.pop();
                }
                Step::NotUnderstood { what, .. } if what == TOO_DEEP => self.beyond(&what),
                Step::NotUnderstood { what, at } => {
                    let is_text = what == QUOTED_ARITHMETIC || what == TRANSFORMED;
                    self.may_evaluate(if is_text { Reach::Everything } else { Reach::Subscripts });
                    self.obscure(&format!("{what} at byte {at}"));
                }
                Step::Open(_)
                | Step::Close(_)
                | Step::Negated
                | Step::Turn(_)
                | Step::Function
                | Step::Restart => {}
            }
            if starts {
                self.start = self.place.current.clone();
            }
            if self.place.is_lost || !Rc::ptr_eq(&before, &self.place.current) {
                grammar.pwd = self.place.certain();
            }
            if self.work.is_spent() {
                return;
            }
        }
    }

    /// What decides on which commands run, and in which order.
    fn record_structure(&mut self, step: &Step) {
        let op = match step {
            Step::Open(scope) => Op::Open(*scope),
            Step::Close(scope) => Op::Close(*scope),
            Step::Turn(turn) => Op::Turn(*turn),
            Step::Joined { behind, .. } => Op::Join(*behind),
            Step::Negated => Op::Negate,
            Step::Function => Op::Function,
            Step::Restart => Op::Lost,
            _ => return,
        };
        match step {
            Step::Open(Scope::If | Scope::Loop | Scope::Case) | Step::Function => self.place.conditions += 1,
            Step::Close(Scope::If | Scope::Loop | Scope::Case) => {
                self.place.conditions = self.place.conditions.saturating_sub(1);
            }
            Step::Joined { behind, .. } => {
                self.place.is_chained = matches!(behind, Join::And | Join::Or | Join::Pipe);
            }
            _ => {}
        }
        self.record(op);
    }

    fn record(&mut self, op: Op) {
        if self.work.pay(size_of::<Op>()) {
            self.flow.record(self.script, op);
        }
    }

    fn redirect(&mut self, command: &Simple) {
        for redirection in &command.redirections {
            match redirection {
                Redirection::Write(target) => self.write(target),
                Redirection::Read(target) => self.read(target, false),
                Redirection::HereString(_) => {}
                Redirection::Document => self.fed.push_back(None),
            }
        }
    }

    /// A text that is a command line of its own, and whose status is that of the command.
    fn run(&mut self, text: String) {
        let script = self.flow.new_script();
        self.record(Op::Run(script));
        self.read_script(text, Kind::Commands, script);
    }

    /// A text whose commands run before the command in which it stands, or perhaps do.
    fn read_before(&mut self, text: String, kind: Kind) {
        let script = self.flow.new_script();
        self.record(Op::RunBefore(script));
        self.read_script(text, kind, script);
    }

    fn read_script(&mut self, text: String, kind: Kind, script: usize) {
        if text.is_empty() {
            return;
        }
        let is_guess = self.is_guess || kind == Kind::Rest;
        let work = if is_guess { self.guesses } else { self.work };
        let can_be_paid = work.pay(text.len() * READING);
        if is_guess && !can_be_paid {
            return;
        }
        if self.depth >= DEEPEST || !can_be_paid {
            return self.beyond("deeply nested shells");
        }
        let directories = self.place.current.clone();
        let entered = self.place.entered();
        let is_lost = self.place.is_lost;
        let git = self.git.clone();
        self.nested.push(Nested {
            text,
            script,
            git,
            kind,
            directories,
            entered,
            is_lost,
            is_guess,
            depth: self.depth + 1,
        });
    }

    fn run_word(&mut self, word: &Word) {
        let script = self.flow.new_script();
        let is_known = word.known().is_some();
        self.record(if is_known { Op::Run(script) } else { Op::RunBefore(script) });
        self.read_word(word, script);
    }

    fn read_word(&mut self, word: &Word, script: usize) {
        if let Some(text) = word.known() {
            return self.read_script(text.to_owned(), Kind::Commands, script);
        }
        self.obscure_word(word);
        self.read_script(word.unquoted(), Kind::Rest, script);
    }

    fn write(&mut self, word: &Word) {
        self.each(word, 0, |path| Effect::Write { path, content: Content::Unknown });
    }

    /// What is read without being known is not told: reading changes nothing.
    fn read(&mut self, word: &Word, recursive: bool) {
        if let Some(text) = word.known().filter(|text| !text.is_empty() && text.len() <= LONGEST_PATH) {
            self.at_each_place(text, 0, |path| Effect::Read { path, recursive });
        }
    }

    /// One effect for each place that a word may mean; `cost`: what it takes besides the path.
    fn each(&mut self, word: &Word, cost: usize, effect: impl Fn(PathBuf) -> Effect) {
        let deed = match effect(PathBuf::new()) {
            Effect::Delete { .. } => Deed::Delete,
            Effect::Place { .. } => Deed::Place,
            _ => Deed::Write,
        };
        let Some(text) = word.known().filter(|text| !text.is_empty()) else {
            return self.somewhere(format!("`{}`", word.source()), deed);
        };
        if self.place.is_lost && !Path::new(text).is_absolute() {
            self.somewhere(format!("`{}` in a directory that is not known", word.source()), deed);
        }
        self.at_each_place(text, cost, effect);
    }

    fn at_each_place(&mut self, text: &str, cost: usize, effect: impl Fn(PathBuf) -> Effect) {
        let current = self.place.current.clone();
        let is_absolute = Path::new(text).is_absolute();
        for cwd in &current[..if is_absolute { 1.min(current.len()) } else { current.len() }] {
            let cost = cost + cwd.as_os_str().len() + text.len();
            if self.work.pay(cost + size_of::<Effect>()) {
                self.effects.push(effect(cwd.join(text)));
            }
        }
    }

    /// An assignment: what stands behind the first `=` of the word is the value.
    fn set(&mut self, name: &str, word: &Word) {
        self.note_git_variable(name, word);
        self.evaluate_assignment(name, word);
        self.run_variable(name, word);
        let value = word.known().and_then(|text| text.split_once('=')).map(|(_, value)| value.to_owned());
        let cost = name.len() + value.as_ref().map_or(0, String::len);
        self.push(Effect::SetVariable { name: name.to_owned(), value }, cost);
    }

    fn push(&mut self, effect: Effect, cost: usize) {
        if self.work.pay(cost + size_of::<Effect>()) {
            self.effects.push(effect);
        }
    }

    fn obscure(&mut self, what: &str) {
        self.push(Effect::Obscure { what: what.to_owned() }, what.len());
    }

    /// What is deeper than anybody writes is not read, and may be anything.
    fn beyond(&mut self, what: &str) {
        if self.is_guess {
            return self.obscure(what);
        }
        self.push(Effect::TooLarge { what: what.to_owned() }, what.len());
    }

    fn somewhere(&mut self, target: String, deed: Deed) {
        let places = self.place.possible();
        let cost = target.len() + places.iter().map(|place| place.as_os_str().len()).sum::<usize>();
        self.push(Effect::Somewhere { target, places, deed }, cost);
    }

    fn obscure_word(&mut self, word: &Word) {
        self.obscure(&format!("`{}`", word.source()));
    }
}
