//! From many opinions to one decision.
//!
//! A guard answers with an [`Opinion`] or fails with a [`Fault`]. [`Decision::fold`] makes one decision of all answers:
//! deny > ask > note > silence. A fault counts by the failure mode that the registry declares for its guard. How a
//! client is answered is not known here.

use std::sync::Arc;

use crate::config::PROTECTING_GUARDS;
use crate::guard::{FailureMode, Guard};
use crate::opinion::{Denial, Fault, Opinion, Verdict};
use crate::text;

/// The answer of one guard or one rule, and how long it took.
#[derive(Debug, Clone)]
pub struct Finding {
    pub judge: Judge,
    /// It is recorded, but not enforced.
    pub is_watched: bool,
    pub outcome: Result<Opinion, Fault>,
    pub micros: u64,
}

/// Who judges: a guard, or one rule of the guard `rules`.
#[derive(Debug, Clone)]
pub struct Judge {
    pub guard: &'static Guard,
    /// `rule:NAME`.
    pub rule: Option<Arc<str>>,
}

/// The one answer to an event.
#[derive(Debug, Default, Clone)]
pub struct Decision {
    pub ruling: Ruling,
    /// The denials behind `Ruling::Deny` and `Ruling::Broken`, in registry order.
    pub denials: Vec<(Judge, Denial)>,
    /// Whether the user can lift all of them.
    pub is_overridable: bool,
    pub to_model: Vec<String>,
    pub to_user: Vec<String>,
    /// The prompt that an agent gets instead of the one in the call.
    pub agent_prompt: Option<String>,
}

/// What happens to the call.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub enum Ruling {
    #[default]
    Silence,
    Ask(String),
    Deny(String),
    /// A denial because a closed guard could not judge. Its answer takes the simplest form, so that it reaches the
    /// client even if much is broken.
    FaultDenial(String),
}

impl Guard {
    /// Describes this guard's fault. For a closed guard, that is the denial.
    pub fn describe_fault(&self, fault: &Fault) -> Denial {
        let result = match self.failure_mode {
            FailureMode::Closed => "so it is denied",
            FailureMode::Open => "so it is allowed unchecked",
        };
        let error = text::sanitize_for_model(&fault.to_string());
        let start = short_error(&error);
        let is_own = PROTECTING_GUARDS.contains(&self.name);
        let file = if is_own { "~/.config/provost/provost.toml" } else { "provost.toml" };
        let rest = if start == error { String::new() } else { format!(". The error: {error}") };
        Denial {
            what: format!("`{}` could not judge this", self.name),
            why: format!("{start}, {result}"),
            fix: format!(
                "run `provost explain` in a terminal to see why; the user can switch the guard off with \
                 `{} = \"off\"` under `[guards]` in {file}{rest}",
                self.name
            ),
            document_wording: None,
        }
    }
}

impl Judge {
    /// The name in answers, in the journal and in overrides.
    pub fn name(&self) -> &str {
        self.rule.as_deref().unwrap_or(self.guard.name)
    }

    /// The prompt with which the user overrides a denial once, if that is possible.
    pub fn override_prompt(&self) -> Option<String> {
        self.guard.is_overridable.then(|| format!("`provost override {} REASON`", self.name()))
    }
}

impl Finding {
    pub fn for_guard(guard: &'static Guard, outcome: Result<Opinion, Fault>, micros: u64) -> Self {
        Self { judge: Judge { guard, rule: None }, is_watched: false, outcome, micros }
    }

    pub fn name(&self) -> &str {
        self.judge.name()
    }

    /// The denial of the guard, if it denied or is closed and failed; `None` if it is only watched.
    pub fn denial(&self) -> Option<Denial> {
        if self.is_watched { None } else { self.possible_denial() }
    }

    /// What the guard denies or asks about; `None` if it is only watched.
    pub fn obstacle(&self) -> Option<Denial> {
        match &self.outcome {
            Ok(Opinion { verdict: Verdict::Ask(denial), .. }) if !self.is_watched => Some(denial.clone()),
            _ => self.denial(),
        }
    }

    /// The denial of the guard, whether it is enforced or not.
    pub fn possible_denial(&self) -> Option<Denial> {
        match &self.outcome {
            Ok(Opinion { verdict: Verdict::Deny(denial), .. }) => Some(denial.clone()),
            Err(fault) if self.judge.guard.failure_mode == FailureMode::Closed => {
                Some(self.judge.guard.describe_fault(fault))
            }
            _ => None,
        }
    }

    /// Whether it stops the call, or would if it were enforced.
    pub fn would_stop(&self) -> bool {
        let is_question = matches!(&self.outcome, Ok(Opinion { verdict: Verdict::Ask(_), .. }));
        is_question || self.possible_denial().is_some()
    }

    /// Whether the guard found that the event is not its business.
    pub fn is_unconcerned(&self) -> bool {
        self.outcome.as_ref().is_ok_and(|opinion| opinion.is_unconcerned)
    }

    /// Whether this was a denial that the user lifted.
    pub fn is_overridden(&self) -> bool {
        self.outcome.as_ref().is_ok_and(|opinion| opinion.lifted_denial.is_some())
    }

    /// Whether the user can allow what this denies, once, by a prompt.
    pub fn is_overridable(&self) -> bool {
        let is_final = match &self.outcome {
            Ok(opinion) => opinion.is_final,
            // An event that this pack could not judge may be one that no prompt allows.
            Err(_) => self.judge.guard.pack == "self",
        };
        self.judge.guard.is_overridable && !is_final
    }
}

impl Ruling {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Silence => "silence",
            Self::Ask(_) => "ask",
            Self::Deny(_) => "deny",
            Self::FaultDenial(_) => "deny (fault)",
        }
    }
}

impl Decision {
    /// Why the call is stopped; `None` if it is not.
    pub fn stop_reason(&self) -> Option<&str> {
        match &self.ruling {
            Ruling::Silence => None,
            Ruling::Ask(reason) | Ruling::Deny(reason) | Ruling::FaultDenial(reason) => Some(reason),
        }
    }

    /// Folds the findings of all guards, in registry order, into one decision.
    pub fn fold(findings: &[Finding]) -> Self {
        let mut decision = Self { is_overridable: true, ..Self::default() };
        let mut questions = Vec::new();
        let mut broken = false;
        for finding in findings.iter().filter(|finding| !finding.is_watched) {
            if let Some(denial) = finding.denial() {
                broken |= finding.outcome.is_err();
                // If one of the denials cannot be overridden, overriding the others does not help.
                decision.is_overridable &= finding.is_overridable();
                decision.denials.push((finding.judge.clone(), denial));
            }
            if let Ok(opinion) = &finding.outcome {
                decision.to_model.extend(opinion.to_model.clone());
                decision.to_user.extend(opinion.to_user.clone());
                decision.agent_prompt = decision.agent_prompt.or_else(|| opinion.agent_prompt.clone());
                if let Verdict::Ask(denial) = &opinion.verdict {
                    questions.push((finding.judge.clone(), denial.clone()));
                }
            }
        }
        let reason = || {
            // The user answers no question about a call that is denied, but the model should know all reasons.
            let all: Vec<_> = decision.denials.iter().chain(&questions).cloned().collect();
            all_reasons(&all) + &decision.way_out_for_model()
        };
        decision.ruling = match (decision.denials.is_empty(), questions.is_empty(), broken) {
            (false, _, true) => Ruling::FaultDenial(reason()),
            (false, _, false) => Ruling::Deny(reason()),
            // The user can allow the call by answering the question.
            (true, false, _) => Ruling::Ask(all_reasons(&questions)),
            (true, true, _) => Ruling::Silence,
        };
        decision
    }

    /// This decision, with each denial in the words that its guard's document prescribes.
    #[must_use]
    pub fn with_document_wording(&self) -> Self {
        let mut decision = self.clone();
        for (_, denial) in &mut decision.denials {
            if let Some(heading) = denial.document_wording.take() {
                denial.what = heading;
            }
        }
        let reason = decision.denial_reason();
        if let Ruling::Deny(text) | Ruling::FaultDenial(text) = &mut decision.ruling {
            *text = reason;
        }
        decision
    }

    /// The text about the denials that the model reads.
    fn denial_reason(&self) -> String {
        all_reasons(&self.denials) + &self.way_out_for_model()
    }

    /// The prompts that override all denials.
    fn override_forms(&self) -> Option<String> {
        let forms = self.denials.iter().map(|(judge, _)| judge.override_prompt());
        let forms: Option<Vec<String>> = forms.collect();
        Some(forms.filter(|_| self.is_overridable)?.join(" and "))
    }

    fn way_out_for_model(&self) -> String {
        let Some(forms) = self.override_forms() else { return String::new() };
        let prompt = if self.denials.len() == 1 { "prompt" } else { "prompts" };
        format!("\n[provost] Only the user can allow this once, with the {prompt} {forms}.")
    }

    /// The user's text about a denied call: the call, the guard, why, and the way out. It is complete, because a client
    /// may show little of the reason, or nothing.
    pub fn user_notice(&self, subject: &str) -> Option<String> {
        self.denials.first()?;
        let blamed = self.denials.iter().map(|(judge, denial)| {
            let why = if denial.why.is_empty() { without_tag(&denial.what) } else { &denial.why };
            format!("`{}`: {}", judge.name(), text::clip_line(why.trim_end_matches('.'), LONGEST_WHY))
        });
        let blamed = blamed.collect::<Vec<_>>().join("; by ");
        let way_out = if let Some(forms) = self.override_forms() {
            format!("You can allow this once: type {forms}")
        } else {
            let final_denial = self.denials.iter().find(|(judge, _)| !judge.guard.is_overridable);
            final_denial.map_or(NEVER, |(judge, _)| judge.guard.way_out).to_owned()
        };
        Some(format!("[provost] {subject} denied by {blamed}.\n{way_out}"))
    }
}

/// The way out if a guard can be overridden, but not for this call.
const NEVER: &str = "No prompt allows this to a tool; you can do it yourself, in a terminal or an editor.";

/// How much of a reason the user's notice repeats.
const LONGEST_WHY: usize = 160;

/// The first reason in full and one line for each other one: the client passes one text to the model.
fn all_reasons(denials: &[(Judge, Denial)]) -> String {
    let mut text = String::new();
    for (index, (judge, denial)) in denials.iter().enumerate() {
        if index == 0 {
            text = denial.to_string();
        } else if denial.why.is_empty()
            || denials[..index].iter().all(|(_, earlier)| earlier.why != denial.why)
        {
            let what = denial.document_wording.as_ref().unwrap_or(&denial.what);
            text += &format!("\n[provost] also `{}`: {what}: {}.", judge.name(), denial.why);
        } else {
            text += &format!("\n[provost] also `{}`, for the same reason.", judge.name());
        }
    }
    text
}

/// An error, shortened to leave room for the fix. Keeps the end of an error that begins with a path.
fn short_error(error: &str) -> String {
    const MOST: usize = 60;
    let cut = error.chars().count().saturating_sub(MOST);
    match cut {
        0 => error.to_owned(),
        _ if error.starts_with('/') => std::iter::once('…').chain(error.chars().skip(cut)).collect(),
        _ => text::clip_line(error, MOST),
    }
}

/// Removes the tag of a prescribed text.
fn without_tag(what: &str) -> &str {
    what.strip_prefix('[').and_then(|rest| rest.split_once("] ")).map_or(what, |(_, rest)| rest)
}
