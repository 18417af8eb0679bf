//! Which rules an event may concern, judged by their words alone.
//!
//! Only a rule that may concern an event is built and matched. So a rule is left out only if it surely does not match:
//! its tool, its program or its kind of effect is not in the event.

use super::FETCHED_CODE;
use super::value::{RuleEntry, RuleValue};
use crate::effect::Effect;
use crate::event::{Event, EventKind};
use crate::tool::Tool;
use provost_shell::pattern::{find_script, may_name_program};

/// The event that rules are read for.
pub struct RuleInterest<'a> {
    pub(super) event: &'a Event,
    /// The scripts that interpreters start.
    scripts: Vec<&'a str>,
}

impl<'a> RuleInterest<'a> {
    /// `None`: the event needs all rules, and all mistakes in them.
    pub fn new(event: &'a Event) -> Option<Self> {
        let needs_some = match &event.kind {
            EventKind::BeforeTool(_)
            | EventKind::AfterTool(_)
            | EventKind::ToolFailed(_)
            | EventKind::Stop(_)
            | EventKind::SubagentStop(_)
            | EventKind::SessionStart { .. } => true,
            // A prompt to Provost may name any rule.
            EventKind::Prompt { text, .. } => !text.as_deref().is_some_and(is_to_provost),
            _ => false,
        };
        let scripts = || event.effects().iter().filter_map(started_script).collect();
        needs_some.then(|| Self { event, scripts: scripts() })
    }

    /// Whether mistakes have to be found, even in rules that decide nothing about the event.
    pub(crate) fn needs_mistakes(&self) -> bool {
        matches!(self.event.kind, EventKind::SessionStart { .. })
    }

    pub(super) fn may_concern(&self, entries: &[RuleEntry<'_>]) -> bool {
        // Every call looks at every entry of all rules, so each key is compared once.
        let keys = entries.iter().fold(0, |keys, entry| keys | key_bit(&entry.key));
        let has_any = |wanted: u16| keys & wanted != 0;
        let call = match &self.event.kind {
            EventKind::BeforeTool(call) => call,
            EventKind::SessionStart { .. } => return true,
            EventKind::Stop(_) | EventKind::SubagentStop(_) => return has_any(STOPS),
            EventKind::Prompt { .. } => return has_any(NEED | STOPS | CHANGED),
            _ => return has_any(NEED | RUN | STOPS | CHANGED),
        };
        // The start of a run that a rule needs is recorded, whatever else the rule is about.
        let needs_run = |entry: &RuleEntry<'_>| {
            entry.key == "need" && self.has_effect(|effect| runs_needed_program(effect, &entry.value.0))
        };
        if has_any(NEED) && entries.iter().any(needs_run) {
            return true;
        }
        if has_any(STOPS | RUN) {
            return false;
        }
        entries.iter().all(|entry| match key_bit(&entry.key) {
            RUNS => {
                self.has_effect(|effect| runs_program(effect, &entry.value.0))
                    || self.scripts.iter().any(|script| may_name_any(script, &entry.value.0))
            }
            SENDS => self.has_effect(|effect| matches!(effect, Effect::Send { .. })),
            READS => self.has_effect(|effect| {
                matches!(
                    effect,
                    Effect::Read { .. }
                        | Effect::Touch { .. }
                        | Effect::UnknownRead { .. }
                        | Effect::Unparsed { .. }
                        | Effect::TooLarge { .. }
                )
            }),
            WRITES => self.has_effect(changes_files),
            // What `find` deletes is seen in its words only.
            DELETES => self.has_effect(|effect| changes_files(effect) || is_search(effect)),
            COMMITS => {
                self.has_effect(|effect| matches!(effect, Effect::Commit { .. } | Effect::UpdateBranch(_)))
            }
            PUSHES => self.has_effect(|effect| matches!(effect, Effect::Push(_))),
            DELEGATES => matches!(call.tool, Tool::Delegate { .. }),
            USES => texts(&entry.value.0).any(|text| call.names().any(|name| may_name_tool(text, name))),
            _ => true,
        })
    }

    fn has_effect(&self, accept: impl Fn(&Effect) -> bool) -> bool {
        self.event.effects().iter().any(accept)
    }
}

const RUNS: u16 = 1;
const SENDS: u16 = 1 << 1;
const READS: u16 = 1 << 2;
const WRITES: u16 = 1 << 3;
const DELETES: u16 = 1 << 4;
const COMMITS: u16 = 1 << 5;
const PUSHES: u16 = 1 << 6;
const DELEGATES: u16 = 1 << 7;
const USES: u16 = 1 << 8;
const NEED: u16 = 1 << 9;
const RUN: u16 = 1 << 10;
const STOPS: u16 = 1 << 11;
const CHANGED: u16 = 1 << 12;

/// The bit of a key that decides whether its rule concerns an event; 0 for all other keys.
fn key_bit(key: &str) -> u16 {
    match key {
        "runs" => RUNS,
        "sends" => SENDS,
        "reads" | "shows" => READS,
        "writes" | "adds" => WRITES,
        "deletes" | "changes" => DELETES,
        "commits" => COMMITS,
        "pushes" => PUSHES,
        "delegates" => DELEGATES,
        "uses" => USES,
        "need" => NEED,
        "run" => RUN,
        "stops" => STOPS,
        "changed" => CHANGED,
        _ => 0,
    }
}

/// Whether a prompt may be one of Provost's own, which begin with the program's name.
fn is_to_provost(prompt: &str) -> bool {
    const PROGRAM: &[u8] = b"provost";
    /// Room for quotes and blanks in front of the name.
    const BEGINNING: usize = 64;
    let start = prompt.trim_start().as_bytes();
    let start = &start[..start.len().min(BEGINNING)];
    start.windows(PROGRAM.len()).any(|word| word.eq_ignore_ascii_case(PROGRAM))
}

fn texts<'v>(value: &'v RuleValue<'_>) -> impl Iterator<Item = &'v str> {
    let own = match value {
        RuleValue::Text(text) => Some(text.as_ref()),
        _ => None,
    };
    let list = match value {
        RuleValue::List(list) => list.as_slice(),
        _ => &[],
    };
    let items = list.iter().filter_map(|(item, _)| match item {
        RuleValue::Text(text) => Some(text.as_ref()),
        _ => None,
    });
    own.into_iter().chain(items)
}

/// Whether a pattern may be about the program that an effect starts: it names the program, or any.
fn runs_program(effect: &Effect, patterns: &RuleValue<'_>) -> bool {
    let program = match effect {
        Effect::Run { program, .. } => program.as_str(),
        Effect::Unparsed { .. } | Effect::TooLarge { .. } => return true,
        Effect::RunFetched => return texts(patterns).any(|pattern| pattern == FETCHED_CODE),
        _ => return false,
    };
    may_name_any(program, patterns)
}

fn may_name_any(program: &str, patterns: &RuleValue<'_>) -> bool {
    texts(patterns).any(|pattern| may_name_program(pattern, program))
}

/// The script that an effect gives to an interpreter: `bash deploy.sh`.
fn started_script(effect: &Effect) -> Option<&str> {
    let Effect::Run { program, arguments, .. } = effect else { return None };
    let at = find_script(program, arguments.iter().map(|word| Some(word.as_str())))?;
    Some(&arguments[at])
}

/// Whether an effect starts the program that `need = { passed = … }` names.
fn runs_needed_program(effect: &Effect, need: &RuleValue<'_>) -> bool {
    let RuleValue::Table(entries) = need else { return false };
    entries.iter().any(|entry| entry.key == "passed" && runs_program(effect, &entry.value.0))
}

fn changes_files(effect: &Effect) -> bool {
    matches!(
        effect,
        Effect::Write { .. }
            | Effect::Place { .. }
            | Effect::Delete { .. }
            | Effect::Touch { .. }
            | Effect::UnknownTarget { .. }
            | Effect::ChangeTree(_)
            | Effect::ChangeBelow { .. }
            | Effect::ApplyPatch(_)
            | Effect::Unparsed { .. }
            | Effect::TooLarge { .. }
    )
}

fn is_search(effect: &Effect) -> bool {
    let Effect::Run { program, .. } = effect else { return false };
    matches!(program.rsplit('/').next(), Some("find" | "gfind" | "fd" | "fdfind" | "xargs" | "parallel"))
}

/// Whether the text in front of a pattern's first wildcard is the start of the tool's name.
fn may_name_tool(pattern: &str, tool: &str) -> bool {
    pattern.split('|').map(str::trim).any(|name| match name.find(['*', '?', '[', '\\']) {
        Some(wildcard) => tool.starts_with(&name[..wildcard]),
        None => name == tool,
    })
}
