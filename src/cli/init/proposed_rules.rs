//! Proposes rules for `provost.toml`: the built-in ones when Provost is installed for the first time, and the rule with
//! reviews for `--pack review`.
//!
//! They go into `provost.toml`, which is the user's file: `uninstall` removes only what is still as it was proposed.

use std::io::{self, BufRead, IsTerminal, Write};
use std::time::Duration;

use crate::cli::overview::Overview;
use crate::cli::rules::RuleFileEdit;
use crate::cli::screen::print_sentence;
use crate::cli::settings_file::ScopeOption;
use crate::cli::{CommandError, CurrentProject};
use crate::config::{Config, ConfigLayer};
use crate::registry::{Guard, Trigger, guard_settings};
use crate::rules::{BASELINE_NAME, read_baseline};

/// What the rule with reviews is called in `--pack`.
pub(super) const REVIEW_PACK: &str = "review";
const REVIEW_RULE: &str = "review";
/// The rule with reviews, as it is written into `provost.toml`.
pub(crate) const REVIEW_RULE_TEXT: &str = "[[rule]]
name    = \"review\"
stops   = true
changed = \"**\"
need    = { review = 2, max_reviews = 8, least_lines = 5 }
";

/// What happens to the built-in rules.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum RulesChoice {
    /// Do not use them
    Off,
    /// Judge and record them, but do not enforce them
    Watch,
    /// Enforce them
    Enforce,
}

/// A change of `provost.toml` that the user has not agreed to yet.
pub(super) struct RulesProposal {
    layer: ConfigLayer,
    choice: Option<RulesChoice>,
    uses_baseline: bool,
    adds_review: bool,
    edit: RuleFileEdit,
}

impl RulesProposal {
    /// The proposal, unless a file has the rules already. `is_baseline_wanted`: the built-in rules are a part of it.
    pub(super) fn make(
        choice: Option<RulesChoice>,
        (is_baseline_wanted, is_review_wanted): (bool, bool),
        scope: ScopeOption,
        overview: &Overview,
    ) -> Result<Option<Self>, CommandError> {
        let set = &overview.workspace.config.rules;
        let is_used = set.rules.iter().chain(&set.off).any(|rule| rule.origin.is_built_in);
        let is_baseline_wanted = is_baseline_wanted && choice != Some(RulesChoice::Off) && !is_used;
        let is_review_wanted = is_review_wanted && !set.rules.iter().any(|rule| rule.name == REVIEW_RULE);
        if !is_baseline_wanted && !is_review_wanted {
            return Ok(None);
        }
        let here = CurrentProject::locate()?;
        let layer = if scope == ScopeOption::User { ConfigLayer::User } else { ConfigLayer::Project };
        let is_watched = choice == Some(RulesChoice::Watch);
        let edit = RuleFileEdit::open(&here, layer).and_then(|mut edit| {
            let uses_baseline = is_baseline_wanted && edit.use_set(BASELINE_NAME, is_watched)?;
            let adds_review = is_review_wanted && !edit.has_rule(REVIEW_RULE);
            if adds_review {
                edit.append(REVIEW_RULE_TEXT);
            }
            Ok((uses_baseline, adds_review, edit))
        });
        match edit {
            Ok((false, false, _)) => Ok(None),
            Ok((uses_baseline, adds_review, edit)) => {
                Ok(Some(Self { layer, choice, uses_baseline, adds_review, edit }))
            }
            Err(why) => {
                let what =
                    if is_review_wanted { "the rule with reviews is" } else { "the built-in rules are" };
                eprintln!("[provost] {what} not proposed: {why}");
                Ok(None)
            }
        }
    }

    /// How much longer the hook entries of a guard may take with the rules.
    pub(super) fn find_more_time(&self, guard: &Guard, trigger: Trigger) -> Duration {
        if !self.adds_review {
            return Duration::ZERO;
        }
        let config = Config::read_text(self.layer, self.edit.path(), REVIEW_RULE_TEXT, guard_settings);
        guard.command_limit(trigger, &config).unwrap_or_default()
    }

    /// Shows what would change.
    pub(super) fn print(&self, out: &mut impl Write) -> io::Result<()> {
        if self.uses_baseline {
            let count = read_baseline(self.layer, None).len();
            let effect = match self.choice {
                Some(RulesChoice::Watch) => "are judged and recorded, but not enforced",
                _ => "deny what destroys files outside the project, and ask where work could be lost",
            };
            let other = match self.choice {
                Some(_) => "",
                None => {
                    " With `--rules watch`, they only record what they would deny; `--rules off` leaves them out."
                }
            };
            print_sentence(out, &format!("Rules: the {count} built-in rules {effect}.{other}"))?;
        }
        if self.adds_review {
            let text = "Reviews: a turn ends only after fresh reviewers have found its changes clean twice in a row, in at most \
                        8 reviews. Each review is a session of its own, which takes minutes and costs tokens.";
            print_sentence(out, text)?;
        }
        writeln!(out)?;
        self.edit.as_file_change().print_diff(out)
    }

    /// Asks the user whether the built-in rules are enforced or only watched, where nobody has said so yet.
    pub(super) fn confirm(&mut self, out: &mut impl Write, is_agreed: bool) -> Result<bool, CommandError> {
        if is_agreed || !self.uses_baseline || self.choice.is_some() || !io::stdin().is_terminal() {
            return Ok(true);
        }
        write!(out, "Use the built-in rules? [Y]es, [w]atch only, [n]o: ")?;
        out.flush()?;
        let mut answer = String::new();
        let count = io::stdin().lock().read_line(&mut answer)?;
        match answer.trim().to_lowercase().as_str() {
            "" if count > 0 => Ok(true),
            "y" | "yes" => Ok(true),
            "w" | "watch" => {
                self.choice = Some(RulesChoice::Watch);
                self.edit.use_set(BASELINE_NAME, true).map_err(CommandError::Io)?;
                Ok(true)
            }
            _ => {
                print_sentence(
                    out,
                    "The built-in rules are not used; `provost rules add baseline` adds them later.",
                )?;
                Ok(false)
            }
        }
    }

    pub(super) fn write(self, out: &mut impl Write, overview: &Overview) -> Result<(), CommandError> {
        let file = overview.short_path(self.edit.path());
        let how = if self.choice == Some(RulesChoice::Watch) { "watched" } else { "enforced" };
        let baseline = self.uses_baseline.then(|| format!("the built-in rules are {how}"));
        let review = self.adds_review.then(|| "the rule `review` holds".to_owned());
        let what: Vec<String> = baseline.into_iter().chain(review).collect();
        self.edit.write(&overview.workspace)?;
        let text = format!("Wrote {file}: {}. `provost rules` lists them.", what.join(", and "));
        Ok(print_sentence(out, &text)?)
    }
}
