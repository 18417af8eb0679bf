//! The rules that people write in `provost.toml`: what a rule looks at, and what it does.
//!
//! A [`Rule`] holds the words of the file. Its patterns and regular expressions are compiled by the guard, and only
//! where an event gets that far. [`RuleSet`] is the rules of all layers, after `off` and `mode`. The mistakes of a rule
//! concern that rule only: it decides nothing, and all others still hold.

mod baseline_index;
pub mod evidence;
pub mod examples;
mod interest;
pub(crate) mod key_values;
pub mod keys;
mod layers;
mod mistakes;
mod needed_bytes;
pub mod path_pattern;
mod quick_reader;
mod reader;
pub mod review_evidence;
mod rule_regex;
mod sound_sections;
pub(crate) mod value;

use std::path::Path;
use std::sync::Arc;

use crate::layer::ConfigLayer;

pub use interest::RuleInterest;
pub use layers::{LayerRules, RuleSet, read_baseline};
pub(crate) use reader::{RuleSource, read_concerned_rules, read_layer_rules, read_table};
pub use rule_regex::RuleRegex;
pub(crate) use sound_sections::read_sound_sections;

/// The rules that are built in, in the same language.
pub const BASELINE: &str = include_str!("baseline.toml");
/// In `runs`: program code that comes from the network, whatever runs it.
pub const FETCHED_CODE: &str = "<fetched>";
/// In `fed_by`: a program of the same name.
pub const SAME_PROGRAM: &str = "<itself>";
/// Programs that show or copy what they read, for the key `shows`.
#[rustfmt::skip]
pub const SHOWING_PROGRAMS: &[&str] = &[
    "cat", "bat", "batcat", "head", "tail", "less", "more", "most", "nl", "tac", "rev", "od", "xxd", "hexdump", "strings", "grep", "egrep",
    "fgrep", "zgrep", "rg", "ag", "ack", "awk", "gawk", "mawk", "sed", "gsed", "cut", "sort", "uniq", "paste", "column", "fold", "fmt",
    "tr", "diff", "cmp", "comm", "base64", "base32", "jq", "yq", "tee", "cp", "mv", "install", "rsync", "scp", "tar", "zip", "7z", "gzip",
    "curl", "dd", "pbcopy", "xclip", "vim", "vi", "nvim", "nano", "emacs", "view", "code", "open", "echo", "printf", "mapfile", "split",
    "git", "perl", "sqlite3",
];
/// The name of the built-in set.
pub const BASELINE_NAME: &str = "baseline";

/// What the name of a rule begins with in answers, in the journal and in overrides.
pub const RULE_PREFIX: &str = "rule:";

/// A text of the file, and where it begins there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleText {
    pub text: String,
    /// The byte in the file.
    pub offset: usize,
}

/// One rule.
#[derive(Debug)]
pub struct Rule {
    /// Its name in messages and commands, without `rule:`. A built-in rule has its set in front: `baseline/publish`.
    pub name: String,
    pub origin: RuleOrigin,
    /// It is judged and recorded, but not enforced.
    pub is_watched: bool,
    /// What its own `mode` says: whether it is watched.
    pub(crate) own_mode: Option<bool>,
    pub subject: RuleSubject,
    pub action: RuleAction,
    /// What the agent should do instead.
    pub fix: Option<String>,
}

/// Where a rule comes from.
#[derive(Debug, Clone)]
pub struct RuleOrigin {
    /// The layer that has the rule, or that uses its built-in set.
    pub layer: ConfigLayer,
    pub is_built_in: bool,
    pub file: Arc<Path>,
    pub line: usize,
}

/// What a rule looks at. All keys that are given must match; a list matches if one of its entries does.
#[derive(Debug, Default)]
pub struct RuleSubject {
    pub runs: Vec<RuleText>,
    /// For an argument of the program.
    pub argument: Option<RuleRegex>,
    /// For an argument of the program, or for a text that it reads from its input.
    pub code: Option<RuleRegex>,
    /// Programs whose output the program gets.
    pub fed_by: Vec<RuleText>,
    /// For a variable that the line sets, as `NAME=VALUE`.
    pub sets: Option<RuleRegex>,
    pub reads: Vec<RuleText>,
    pub shows: Vec<RuleText>,
    pub sends: Vec<RuleText>,
    pub writes: Vec<RuleText>,
    pub deletes: Vec<RuleText>,
    pub changes: Vec<RuleText>,
    pub adds: Option<RuleRegex>,
    pub commits: Vec<RuleText>,
    pub pushes: Vec<RuleText>,
    /// How a push changes the branch.
    pub by: Option<PushWay>,
    pub message: Option<RuleRegex>,
    pub uses: Vec<RuleText>,
    pub delegates: Vec<RuleText>,
    pub stops: bool,
    pub changed: Vec<RuleText>,
    pub in_agent: Vec<RuleText>,
    pub on_branch: Vec<RuleText>,
    pub unless: Vec<Unless>,
    pub except: Vec<RuleText>,
    pub unknown: UnknownMeans,
}

/// Where a rule does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unless {
    /// The file does not exist yet.
    New,
    /// The file keeps its content: the command appends to it, changes its mode or time, or moves it.
    Kept,
    /// Nothing that git does not have elsewhere would be lost.
    Saved,
}

/// How a push changes a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PushWay {
    /// It may take commits away.
    Force,
    /// It deletes the branch or tag.
    Deletion,
}

/// What a word that cannot be known means for a rule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UnknownMeans {
    #[default]
    Pass,
    Ask,
    Deny,
}

/// What a rule does. The text of the first three is the reason.
#[derive(Debug)]
pub enum RuleAction {
    Deny(String),
    Ask(String),
    Warn(String),
    Need(Need),
    /// A command that runs after a write.
    Run {
        command: String,
        seconds: u64,
    },
}

/// The evidence that a call or the end of a turn waits for.
#[derive(Debug)]
pub struct Need {
    pub evidence: NeedEvidence,
    /// How often in a row the end of a turn is stopped.
    pub rounds: u64,
}

#[derive(Debug)]
pub enum NeedEvidence {
    /// A command pattern: its last run in this session since the last change succeeded.
    Passed(RuleText),
    /// A command that Provost runs itself.
    Check { command: String, seconds: u64 },
    /// Reviews of the changed files that Provost has made itself.
    Review(ReviewNeed),
}

/// How many clean reviews a rule needs, and what they may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReviewNeed {
    /// How many clean reviews in a row.
    pub clean: u64,
    /// How long one review may take.
    pub seconds: u64,
    /// How many reviews there are at most, until the next change.
    pub max_reviews: u64,
    /// A change of fewer lines is not reviewed by itself.
    pub least_lines: u64,
}

impl Default for ReviewNeed {
    fn default() -> Self {
        Self { clean: 2, seconds: 570, max_reviews: 8, least_lines: 1 }
    }
}

/// The prompt with which the user trusts the commands of a project's rules.
pub const TRUST_PROMPT: &str = "provost trust rules";

/// Whether the first line of a text asks to trust the commands of a project's rules.
pub fn is_trust_prompt(text: &str) -> bool {
    begins_with_prompt(text, TRUST_PROMPT)
}

/// The prompt with which the user ends the reviews of a turn.
pub const SKIP_REVIEWS_PROMPT: &str = "provost skip reviews";

/// Whether the first line of a text asks to end the reviews of this turn.
pub fn is_skip_reviews_prompt(text: &str) -> bool {
    begins_with_prompt(text, SKIP_REVIEWS_PROMPT) || begins_with_prompt(text, "provost skip review")
}

fn begins_with_prompt(text: &str, prompt: &str) -> bool {
    let line = text.trim_start().lines().next().unwrap_or_default();
    let line = line.trim().trim_matches('`').trim_end_matches('.');
    line.len() <= 2 * prompt.len()
        && line.split_whitespace().map(str::to_ascii_lowercase).eq(prompt.split(' '))
}

impl Rule {
    /// The name that answers, the journal and overrides use.
    pub fn full_name(&self) -> String {
        format!("{RULE_PREFIX}{}", self.name)
    }

    /// The command pattern that must have passed, if the rule needs one.
    pub fn needed_pattern(&self) -> Option<&str> {
        match &self.action {
            RuleAction::Need(Need { evidence: NeedEvidence::Passed(pattern), .. }) => Some(&pattern.text),
            _ => None,
        }
    }

    /// The reviews that the rule needs.
    pub fn needed_reviews(&self) -> Option<&ReviewNeed> {
        match &self.action {
            RuleAction::Need(Need { evidence: NeedEvidence::Review(need), .. }) => Some(need),
            _ => None,
        }
    }

    /// The command that Provost runs for it.
    pub fn command(&self) -> Option<&str> {
        match &self.action {
            RuleAction::Need(Need { evidence: NeedEvidence::Check { command, .. }, .. })
            | RuleAction::Run { command, .. } => Some(command),
            _ => None,
        }
    }

    /// The file and line, for messages.
    pub fn place(&self) -> String {
        if self.origin.is_built_in {
            return format!("the built-in {}.toml:{}", BASELINE_NAME, self.origin.line);
        }
        format!("{}:{}", self.origin.file.display(), self.origin.line)
    }
}

impl RuleSubject {
    /// Whether it concerns a tool call, as distinct from the end of a turn.
    pub fn concerns_calls(&self) -> bool {
        !self.stops
    }

    pub fn has_path_keys(&self) -> bool {
        [&self.reads, &self.shows, &self.sends, &self.writes, &self.deletes, &self.changes]
            .iter()
            .any(|key| !key.is_empty())
            || self.adds.is_some()
    }
}

impl RuleAction {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Deny(_) => "deny",
            Self::Ask(_) => "ask",
            Self::Warn(_) => "warn",
            Self::Need(_) => "need",
            Self::Run { .. } => "run",
        }
    }
}
