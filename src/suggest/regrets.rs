//! Finds the calls of a session that the user did not want.
//!
//! Three signs count. The user rejected or interrupted the call. After a prompt, a later call undid it: the commit was
//! reset, the package removed, the file restored. Or the next prompt complains about it and names it. The words of a
//! complaint are English ones; a complaint in another language is not seen.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use crate::clients::past::{CallFate, PastCall, PastEvent, PastEventKind};
use crate::effect::Effect;
use crate::event::Event;
use crate::text::{clip_line, make_one_line};
use crate::tool::Tool;

/// So many calls before a prompt may be undone or complained about.
const MOST_RECENT: usize = 50;
/// A complaint stands at the beginning of a prompt.
const COMPLAINT_PART: usize = 400;
/// How much of a prompt is shown.
const SHOWN_PROMPT: usize = 80;

/// What a call is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CallSubject {
    Command(String),
    /// A path as a rule writes it.
    Write(String),
    Read(String),
    /// A tool by its name.
    Use(String),
}

/// Why a call counts as not wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RegretSign {
    Rejected,
    /// By this command line.
    Undone(String),
    /// With these words.
    Complaint(String),
}

/// A call that the user did not want.
#[derive(Debug)]
pub struct Regret {
    pub subject: CallSubject,
    pub sign: RegretSign,
    pub session: String,
    /// Milliseconds since 1970.
    pub time: u64,
}

/// What became of the calls of one session.
#[derive(Debug, Default)]
pub struct SessionRegrets {
    pub regrets: Vec<Regret>,
    /// What the user let pass.
    pub accepted: Vec<CallSubject>,
    recent: VecDeque<RecentCall>,
    prompts: usize,
}

#[derive(Debug)]
struct RecentCall {
    subject: CallSubject,
    event: Event,
    session: String,
    time: u64,
    /// How many prompts came before it.
    prompt: usize,
    is_regretted: bool,
}

impl SessionRegrets {
    /// Takes the next event of the session. `event` is what a hook would have got. `is_wanted`: the user allowed the
    /// call by an override.
    pub fn add(&mut self, past: &PastEvent, event: Option<Event>, project: &Path, is_wanted: bool) {
        match &past.kind {
            PastEventKind::Call(call, fate) => {
                let Some(event) = event else { return };
                if let Some(subject) = find_subject(&event, project) {
                    self.add_call(subject, event, past, (call, *fate), is_wanted);
                }
            }
            PastEventKind::Prompt(text) => self.add_prompt(text),
            _ => {}
        }
    }

    /// The session has ended: what is not regretted by now was accepted.
    pub fn end(&mut self) {
        while let Some(call) = self.recent.pop_front() {
            self.settle(call);
        }
    }

    fn add_call(
        &mut self,
        subject: CallSubject,
        event: Event,
        past: &PastEvent,
        (_, fate): (&PastCall, CallFate),
        is_wanted: bool,
    ) {
        let call = RecentCall {
            subject,
            event,
            session: past.session.as_deref().unwrap_or_default().to_owned(),
            time: past.time.unwrap_or(0),
            prompt: self.prompts,
            is_regretted: false,
        };
        match fate {
            CallFate::RejectedByUser => self.regrets.push(call.to_regret(RegretSign::Rejected)),
            // Neither says what the user thinks of the call.
            CallFate::NeverAsked
            | CallFate::DeniedByHook
            | CallFate::DeniedByPermission
            | CallFate::Unknown => {}
            CallFate::Succeeded | CallFate::Failed if is_wanted => self.accepted.push(call.subject),
            CallFate::Succeeded | CallFate::Failed => {
                if fate == CallFate::Succeeded {
                    self.find_undone(&call);
                }
                self.recent.push_back(call);
                if self.recent.len() > MOST_RECENT
                    && let Some(oldest) = self.recent.pop_front()
                {
                    self.settle(oldest);
                }
            }
        }
    }

    fn settle(&mut self, call: RecentCall) {
        if !call.is_regretted {
            self.accepted.push(call.subject);
        }
    }

    /// Marks what a call undoes. Without a prompt in between, the agent only tidies up.
    fn find_undone(&mut self, later: &RecentCall) {
        let CallSubject::Command(line) = &later.subject else { return };
        let undone = self.recent.iter_mut().rev();
        let mut undone = undone.filter(|call| {
            !call.is_regretted && call.prompt < later.prompt && undoes(&later.event, &call.event)
        });
        if let Some(call) = undone.next() {
            call.is_regretted = true;
            let sign = RegretSign::Undone(make_one_line(&clip_line(line, SHOWN_PROMPT)));
            self.regrets.push(call.to_regret(sign));
        }
    }

    fn add_prompt(&mut self, text: &str) {
        self.prompts += 1;
        let words = split_words(text);
        if !is_complaint(&words) {
            return;
        }
        let before = self.prompts - 1;
        let mut calls =
            self.recent.iter_mut().rev().filter(|call| call.prompt == before && !call.is_regretted);
        if let Some(call) = calls.find(|call| is_named(call, &words)) {
            call.is_regretted = true;
            let sign = RegretSign::Complaint(make_one_line(&clip_line(text.trim(), SHOWN_PROMPT)));
            self.regrets.push(call.to_regret(sign));
        }
    }
}

impl RecentCall {
    fn to_regret(&self, sign: RegretSign) -> Regret {
        Regret { subject: self.subject.clone(), sign, session: self.session.clone(), time: self.time }
    }
}

/// What a call is about; `None` for calls that say nothing about what an agent may do.
fn find_subject(event: &Event, project: &Path) -> Option<CallSubject> {
    let call = event.call()?;
    let path = |path: &PathBuf| name_path(&event.make_absolute(path), project, event.home.as_deref());
    Some(match &call.tool {
        Tool::Shell { command } => CallSubject::Command(command.trim().to_owned()),
        Tool::Write { path: file, .. }
        | Tool::Edit { path: file, .. }
        | Tool::Notebook { path: file, .. } => CallSubject::Write(path(file)?),
        Tool::Read { path: Some(file), is_recursive: false } => CallSubject::Read(path(file)?),
        Tool::Other { .. } => CallSubject::Use(call.native_tool.clone()),
        _ => return None,
    })
}

/// A path as a pattern that means only this file.
fn name_path(path: &Path, project: &Path, home: Option<&Path>) -> Option<String> {
    let text = |path: &Path| path.to_str().filter(|text| !text.is_empty()).map(str::to_owned);
    if let Ok(below) = path.strip_prefix(project) {
        return Some(format!("./{}", text(below)?));
    }
    if let Some(below) = home.and_then(|home| path.strip_prefix(home).ok()) {
        return Some(format!("~/{}", text(below)?));
    }
    text(path)
}

/// Whether the later call takes back what the earlier one did.
fn undoes(later: &Event, earlier: &Event) -> bool {
    runs(later).any(|(program, words)| match (program, words.first().map(String::as_str)) {
        ("git", Some("checkout" | "restore")) => changes_one_of(earlier, &words[1..], later),
        ("git", Some("revert")) => has_run(earlier, "git", &["commit", "merge", "cherry-pick"]),
        ("git", Some("reset")) if words.iter().any(|word| is_earlier_commit(word)) => {
            has_run(earlier, "git", &["commit", "merge", "cherry-pick"])
        }
        (_, Some("uninstall" | "remove" | "rm" | "un")) => runs(earlier).any(|(other, added)| {
            other == program
                && matches!(added.first().map(String::as_str), Some("install" | "add" | "i"))
                && added[1..].iter().any(|word| !word.starts_with('-') && words[1..].contains(word))
        }),
        _ => false,
    })
}

fn is_earlier_commit(word: &str) -> bool {
    word.starts_with("HEAD~") || word.starts_with("HEAD^") || word.starts_with("@~") || word.starts_with("@^")
}

/// Whether a file tool changed one of the files that these words name.
fn changes_one_of(earlier: &Event, words: &[String], later: &Event) -> bool {
    let is_tool = !matches!(earlier.call().map(|call| &call.tool), Some(Tool::Shell { .. }));
    let named = || {
        words.iter().filter(|word| !word.starts_with('-')).map(|word| later.make_absolute(Path::new(word)))
    };
    is_tool
        && earlier.effects().iter().any(|effect| match effect {
            Effect::Write { path, .. } => named().any(|named| *path == named),
            _ => false,
        })
}

fn has_run(event: &Event, program: &str, first_words: &[&str]) -> bool {
    runs(event).any(|(name, words)| {
        name == program && words.first().is_some_and(|word| first_words.contains(&&**word))
    })
}

/// The programs that a call starts, by name, with their known words.
pub(super) fn runs(event: &Event) -> impl Iterator<Item = (&str, &[String])> {
    event.effects().iter().filter_map(|effect| match effect {
        Effect::Run { program, arguments, .. } => {
            Some((program.rsplit('/').next().unwrap_or(program), arguments.as_slice()))
        }
        _ => None,
    })
}

fn split_words(text: &str) -> Vec<String> {
    let part: String = text.chars().take(COMPLAINT_PART).collect();
    let is_inside = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '’' | '-' | '_' | '.' | '/');
    let words = part.split(|c: char| !is_inside(c)).map(|word| word.trim_matches(['.', '\'', '’']));
    words.filter(|word| !word.is_empty()).map(|word| word.to_lowercase().replace('’', "'")).collect()
}

/// Whether a prompt says that something should not have been done.
fn is_complaint(words: &[String]) -> bool {
    const PHRASES: &[&[&str]] = &[
        &["don't"],
        &["do", "not"],
        &["dont"],
        &["never"],
        &["stop"],
        &["undo"],
        &["revert"],
        &["roll", "back"],
        &["why", "did", "you"],
        &["should", "not", "have"],
        &["shouldn't", "have"],
        &["i", "said"],
        &["i", "told", "you"],
        &["not", "allowed"],
    ];
    let has = |phrase: &&[&str]| words.windows(phrase.len()).any(|part| part.iter().eq(phrase.iter()));
    PHRASES.iter().any(has)
}

/// Whether a prompt names what the call did: the program and its first word, or the file.
fn is_named(call: &RecentCall, words: &[String]) -> bool {
    /// Programs whose names are everyday words. Their first word has to be named too.
    const EVERYDAY: &[&str] =
        &["make", "go", "find", "test", "cat", "at", "which", "time", "type", "kill", "touch"];
    let has = |name: &str| words.iter().any(|word| *word == name.to_lowercase());
    match &call.subject {
        CallSubject::Command(_) => runs(&call.event).any(|(program, arguments)| {
            let first = arguments.first().map(String::as_str).filter(|word| is_subcommand(word));
            let names_first = first.is_some_and(|word| word.len() > 3 && has(word));
            let names_program = has(program);
            match first {
                Some(_) if EVERYDAY.contains(&program) => names_program && names_first,
                // `git` alone may mean any of its commands.
                Some(_) => names_first,
                None => names_program && !EVERYDAY.contains(&program),
            }
        }),
        CallSubject::Write(path) => {
            let name = path.rsplit('/').next().unwrap_or(path);
            has(name) || has(path.trim_start_matches("./"))
        }
        CallSubject::Use(name) => has(name),
        CallSubject::Read(_) => false,
    }
}

/// Whether a word looks like the name of a command of a program, and not like a file or a value.
pub(super) fn is_subcommand(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.bytes().all(|byte| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_' | b':')
        })
}
