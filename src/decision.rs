//! From many opinions to one decision.
//!
//! A guard answers with an [`Opinion`], or fails with a [`Fault`]; [`Decision::fold`] makes one
//! decision of all of them: deny > ask > note > silence. A fault counts by the failure mode that
//! the registry declares for its guard, never by accident. Nothing here knows how a client wants
//! to be told.

use std::fmt;
use std::time::Duration;

use crate::registry::{FailureMode, Guard};
use crate::text;

/// What one guard thinks of an event.
#[derive(Debug, Default, Clone)]
pub struct Opinion {
    pub verdict: Verdict,
    /// What the opinion rests on, for the journal and `explain`. Never file contents.
    pub evidence: Vec<String>,
    pub to_model: Option<String>,
    pub to_person: Option<String>,
    /// What an agent is to be given in the place of what it would be given.
    pub brief: Option<String>,
    /// Having looked, the guard finds that this event is none of its business: there is nothing to keep.
    pub is_unconcerned: bool,
    /// The denial that the user lifted with a prompt.
    pub overridden: Option<Denial>,
    /// A denial that no prompt of the user lifts, also where the guard's others can be.
    pub is_final: bool,
}

/// The part of an opinion that can hold a call back.
#[derive(Debug, Default, Clone)]
pub enum Verdict {
    #[default]
    Silence,
    Ask(Denial),
    Deny(Denial),
}

/// A denial: what was denied, why, how to fix it. A part that is empty is said in those before it.
///
/// A terminal shows about 200 characters, so `what` begins with the command, file or agent, and all three are
/// short where they begin.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Denial {
    pub what: String,
    pub why: String,
    pub fix: String,
    /// What the guard's document says in the place of `what`. A script that stands in for the document's own
    /// begins with it; elsewhere it comes last.
    pub heading: Option<String>,
}

/// How a guard can fail to have an opinion.
#[derive(Debug, Clone)]
pub enum Fault {
    Error(String),
    Panic(String),
    Deadline(Duration),
}

/// What one guard said, and how long it took.
#[derive(Debug, Clone)]
pub struct Finding {
    pub guard: &'static Guard,
    pub outcome: Result<Opinion, Fault>,
    pub micros: u64,
}

/// The one answer to an event.
#[derive(Debug, Default, Clone)]
pub struct Decision {
    pub ruling: Ruling,
    /// What `Ruling::Deny` and `Ruling::Broken` are made of, in registry order.
    pub denials: Vec<(&'static Guard, Denial)>,
    /// Whether the user can lift all of them.
    pub is_overridable: bool,
    pub to_model: Vec<String>,
    pub to_person: Vec<String>,
    /// What an agent is given in the place of what it would be given.
    pub brief: Option<String>,
}

/// What becomes of the call.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub enum Ruling {
    #[default]
    Silence,
    Ask(String),
    Deny(String),
    /// A denial because a closed guard could not judge: it is answered in the form that needs the
    /// least machinery to reach the client.
    Broken(String),
}

impl Opinion {
    pub fn silence() -> Self {
        Self::default()
    }

    /// Nothing to say, and nothing to keep: as if it had not been asked.
    pub fn unconcerned() -> Self {
        Self { is_unconcerned: true, ..Self::default() }
    }

    /// Whether nobody hears anything of it.
    pub fn says_nothing(&self) -> bool {
        let has_words = self.to_model.is_some() || self.to_person.is_some() || self.brief.is_some();
        matches!(self.verdict, Verdict::Silence) && !has_words
    }

    pub fn deny(denial: Denial, evidence: Vec<String>) -> Self {
        Self { verdict: Verdict::Deny(denial), evidence, ..Self::default() }
    }
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A guard of a document that has a tag of its own keeps it.
        let tag = if self.what.starts_with('[') { "" } else { "[provost] " };
        let colon = if self.why.is_empty() { "" } else { ": " };
        let why = self.why.trim_end_matches('.');
        write!(f, "{tag}{}{colon}{why}", self.what)?;
        if !self.fix.is_empty() {
            let end = if why.ends_with('?') { "" } else { "." };
            write!(f, "{end} To fix: {}.", self.fix)?;
        }
        match &self.heading {
            Some(heading) if !self.what.ends_with(heading) => write!(f, " ({heading})"),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error(text) => f.write_str(text),
            Self::Panic(text) => write!(f, "internal error ({text})"),
            Self::Deadline(limit) => write!(f, "no answer within {:.1} s", limit.as_secs_f32()),
        }
    }
}

impl Fault {
    /// The fault in the house form; for a closed guard it is the denial that it becomes.
    pub fn denial(&self, guard: &Guard) -> Denial {
        let result = match guard.failure {
            FailureMode::Closed => "so it is denied",
            FailureMode::Open => "so it goes on unchecked",
        };
        let error = text::repeated(&self.to_string());
        let start = short_error(&error);
        let rest = if start == error { String::new() } else { format!(". The error: {error}") };
        Denial {
            what: format!("`{}` could not judge this", guard.name),
            why: format!("{start}, {result}"),
            fix: format!(
                "run `provost explain` in a terminal to see why; the user can switch the guard off with \
                 `{} = \"off\"` under `[guards]` in provost.toml{rest}",
                guard.name
            ),
            heading: None,
        }
    }
}

impl Finding {
    /// The denial that this is: the guard's own, or the fault of a closed one.
    pub fn denial(&self) -> Option<Denial> {
        match &self.outcome {
            Ok(Opinion { verdict: Verdict::Deny(denial), .. }) => Some(denial.clone()),
            Err(fault) if self.guard.failure == FailureMode::Closed => Some(fault.denial(self.guard)),
            _ => None,
        }
    }
}

impl Finding {
    /// Whether this was a denial that the user lifted.
    pub fn is_overridden(&self) -> bool {
        self.outcome.as_ref().is_ok_and(|opinion| opinion.overridden.is_some())
    }

    /// Whether the user can allow what this denies, once, by a prompt.
    pub fn is_overridable(&self) -> bool {
        let is_final = match &self.outcome {
            Ok(opinion) => opinion.is_final,
            // What this pack could not judge may be what no prompt lifts.
            Err(_) => self.guard.pack == "self",
        };
        self.guard.overridable && !is_final
    }
}

impl Ruling {
    pub fn word(&self) -> &'static str {
        match self {
            Self::Silence => "silence",
            Self::Ask(_) => "ask",
            Self::Deny(_) => "deny",
            Self::Broken(_) => "deny (fault)",
        }
    }
}

impl Decision {
    /// Why something does not happen because of this decision; `None`: it goes on.
    pub fn reason(&self) -> Option<&str> {
        match &self.ruling {
            Ruling::Silence => None,
            Ruling::Ask(reason) | Ruling::Deny(reason) | Ruling::Broken(reason) => Some(reason),
        }
    }

    /// Folds what all guards said, in registry order, into one decision.
    pub fn fold(findings: &[Finding]) -> Self {
        let mut decision = Self::default();
        let mut questions = Vec::new();
        let mut broken = false;
        for finding in findings {
            if let Some(denial) = finding.denial() {
                broken |= finding.outcome.is_err();
                decision.denials.push((finding.guard, denial));
            }
            if let Ok(opinion) = &finding.outcome {
                decision.to_model.extend(opinion.to_model.clone());
                decision.to_person.extend(opinion.to_person.clone());
                decision.brief = decision.brief.or_else(|| opinion.brief.clone());
                if let Verdict::Ask(denial) = &opinion.verdict {
                    questions.push((finding.guard, denial.clone()));
                }
            }
        }
        // While one of them cannot be overridden, a permission for the others would help nobody.
        let holds_back = |finding: &&Finding| finding.denial().is_some();
        decision.is_overridable = findings.iter().filter(holds_back).all(Finding::is_overridable);
        let reason = || decision.denial_reason();
        decision.ruling = match (decision.denials.is_empty(), questions.is_empty(), broken) {
            (false, _, true) => Ruling::Broken(reason()),
            (false, _, false) => Ruling::Deny(reason()),
            // The question is itself the user's way out.
            (true, false, _) => Ruling::Ask(all_reasons(&questions)),
            (true, true, _) => Ruling::Silence,
        };
        decision
    }

    /// This decision, with each denial in the words that its guard's document prescribes.
    #[must_use]
    pub fn in_document_words(&self) -> Self {
        let mut decision = self.clone();
        for (_, denial) in &mut decision.denials {
            if let Some(heading) = denial.heading.take() {
                denial.what = heading;
            }
        }
        let reason = decision.denial_reason();
        if let Ruling::Deny(text) | Ruling::Broken(text) = &mut decision.ruling {
            *text = reason;
        }
        decision
    }

    /// Everything that the model is told of the denials.
    fn denial_reason(&self) -> String {
        all_reasons(&self.denials) + &self.way_out_for_model()
    }

    /// The prompts that let all of the denials pass.
    fn override_forms(&self) -> Option<String> {
        let forms = self.denials.iter().map(|(guard, _)| guard.override_form());
        let forms: Option<Vec<String>> = forms.collect();
        Some(forms.filter(|_| self.is_overridable)?.join(" and "))
    }

    fn way_out_for_model(&self) -> String {
        let Some(forms) = self.override_forms() else { return String::new() };
        let prompt = if self.denials.len() == 1 { "prompt" } else { "prompts" };
        format!("\n[provost] Only the user can allow this once, with the {prompt} {forms}.")
    }

    /// What the user reads of a denied call: the call, the guard, why, and the way out. It stands alone,
    /// because a client may show little of the reason, or nothing.
    pub fn notice(&self, subject: &str) -> Option<String> {
        self.denials.first()?;
        let blamed = self.denials.iter().map(|(guard, denial)| {
            let why = if denial.why.is_empty() { without_tag(&denial.what) } else { &denial.why };
            format!("`{}`: {}", guard.name, text::clipped(why.trim_end_matches('.'), LONGEST_WHY))
        });
        let blamed = blamed.collect::<Vec<_>>().join("; by ");
        let way_out = if let Some(forms) = self.override_forms() {
            format!("You can allow this once: type {forms}")
        } else {
            let firm = self.denials.iter().find(|(guard, _)| !guard.overridable);
            firm.map_or(NEVER, |(guard, _)| guard.way_out).to_owned()
        };
        Some(format!("[provost] {subject} denied by {blamed}.\n{way_out}"))
    }
}

/// The way out where a guard can be overridden, but not for this call.
const NEVER: &str = "No prompt allows this to a tool; you can do it yourself, in a terminal or an editor.";

/// How much of a reason the user's notice repeats.
const LONGEST_WHY: usize = 160;

/// The first reason in full, the others as one line each: the client hands one text to the model.
fn all_reasons(denials: &[(&Guard, Denial)]) -> String {
    let mut text = String::new();
    for (index, (guard, denial)) in denials.iter().enumerate() {
        if index == 0 {
            text = denial.to_string();
        } else if denial.why.is_empty()
            || denials[..index].iter().all(|(_, earlier)| earlier.why != denial.why)
        {
            let what = denial.heading.as_ref().unwrap_or(&denial.what);
            text += &format!("\n[provost] also `{}`: {what}: {}.", guard.name, denial.why);
        } else {
            text += &format!("\n[provost] also `{}`, for the same reason.", guard.name);
        }
    }
    text
}

/// An error, short enough to leave room for the fix. Of one that names a file, the end says more.
fn short_error(error: &str) -> String {
    const MOST: usize = 60;
    let cut = error.chars().count().saturating_sub(MOST);
    match cut {
        0 => error.to_owned(),
        _ if error.starts_with('/') => std::iter::once('…').chain(error.chars().skip(cut)).collect(),
        _ => text::clipped(error, MOST),
    }
}

/// The text without the tag of the document that prescribes it.
fn without_tag(what: &str) -> &str {
    what.strip_prefix('[').and_then(|rest| rest.split_once("] ")).map_or(what, |(_, rest)| rest)
}
