//! Whether a call would move the workflow on.
//!
//! What a call says in a field of its own comes first: an agent of the phase that the work is in does
//! ordinary work, and one that sets things up stands beside the workflow, whatever they are told. Only
//! for others is the prose read, in whole words and phrases: "investigate" is no gate, and "proceed with
//! the fix" proceeds to nowhere. That something is delegated is no reason by itself, as it once was.
//!
//! Nor is what somebody is told not to do, or to find out: "do not proceed to the next phase", "verify
//! that the implementation is complete". And a single word says something only to whoever leads, or where
//! it stands alone: others are told of feature gates and of iterators that advance.

use super::delegation::Assignment;
use super::ground::Ground;
use super::orders::{
    asks, before_proceed, completed_phase, gives_away, goes_to, is_condition, is_elsewhere, is_lead_in,
    wanted,
};
use super::requirements;
use super::state::State;
use super::table;
use super::words::{clauses, has_phrase, is_setup};
use crate::event::{Event, Tool};
use crate::workspace::Workspace;

/// What an agent is told.
pub struct Told {
    /// The agent by its own name, where one is named.
    pub agent: Option<String>,
    /// The prompt and the description in clauses, each in words.
    clauses: Vec<Vec<String>>,
}

/// A skill that is used.
#[derive(Debug, PartialEq, Eq)]
pub struct SkillUse {
    /// In lower case, without its slash and its plugin.
    pub name: String,
    /// The first word of its arguments.
    pub verb: String,
    pub arguments: String,
}

/// A call that says something which the phase that the work is in may not allow yet.
pub struct Attempt<'w> {
    pub ground: &'w Ground,
    pub state: &'w State,
    pub phase: String,
    /// The words that say it.
    pub said: String,
}

impl<'w> Attempt<'w> {
    /// What is `said` to an agent, or by the workflow's skill; `None`: nothing of the kind, the workflow's
    /// checks are off, or it is said to somebody who does ordinary work.
    pub fn of(
        event: &Event,
        workspace: &'w Workspace,
        said: impl Fn(&Told) -> Option<String>,
    ) -> Option<Self> {
        let ground = Ground::of(event, workspace)?;
        let told = ground.told(event, workspace);
        let said = match told {
            Some(told) => said(told),
            None => SkillUse::of(&event.call()?.tool).and_then(|skill| skill.moves_on()),
        }?;
        let state = ground.state(workspace)?;
        if requirements::are_off(state) {
            return None;
        }
        let phase = state.current_phase()?;
        if told.is_some_and(|told| told.is_ordinary(&phase, ground, workspace)) {
            return None;
        }
        Some(Self { ground, state, phase, said })
    }
}

impl Told {
    pub fn of(assignment: &Assignment) -> Self {
        let clauses = assignment.texts.iter().flat_map(|text| clauses(text)).collect();
        Self { agent: assignment.agent.clone(), clauses }
    }

    /// Whether the call itself names an agent that does ordinary work of this phase, or sets things up.
    /// One that only the prose names does not count: it could be named to get past.
    fn is_ordinary(&self, phase: &str, ground: &Ground, workspace: &Workspace) -> bool {
        let agent = self.agent.as_deref();
        let own = agent.and_then(|agent| ground.manifest(workspace)?.phase_of(agent));
        own.is_some_and(|own| own == "setup" || table::is_same(own, phase))
    }

    /// Whether it is told to an agent that leads others.
    pub fn is_to_leader(&self) -> bool {
        self.agent.as_deref().is_some_and(|agent| agent.split('-').any(|part| part == "orchestrator"))
    }

    /// The words that would move the workflow on.
    ///
    /// Single words can be about something else where the text is about setting things up ("configure
    /// the quality gate"). A phrase that says what is meant counts there too: else the word "status"
    /// would open every gate.
    pub fn moves_on(&self) -> Option<String> {
        let only_clear = self.clauses.iter().any(|clause| is_setup(clause));
        self.find(|clause| {
            let words = wanted(clause);
            let clear = ["next phase", "move to phase", "pass the gate"];
            let clear = clear.into_iter().find(|phrase| has_phrase(words, phrase) && !is_elsewhere(words));
            let clear = clear.map(str::to_owned);
            let is_bare = |word: &&String| is_advance(word) && (self.is_to_leader() || is_alone(words, word));
            let bare = || words.iter().filter(|_| !only_clear).find(is_bare).cloned();
            clear.or_else(|| goes_to(words)).or_else(|| self.proceeds(words)).or_else(bare)
        })
    }

    /// A bare order to proceed. To others than whoever leads it may be about their own work: "once it passes, proceed".
    fn proceeds(&self, words: &[String]) -> Option<String> {
        let before = before_proceed(words)?;
        let is_conditional = || self.clauses.iter().any(|clause| is_condition(clause));
        let is_order = self.is_to_leader() || is_lead_in(before) && !is_conditional();
        is_order.then(|| "proceed".to_owned())
    }

    /// The words that would hand the work on, or call it done.
    pub fn hands_over(&self) -> Option<String> {
        const PHRASES: &[&str] = &["handoff to", "hand-off to", "phase complete", "declare complete"];
        self.find(|clause| {
            let words = wanted(clause);
            let phrase =
                PHRASES.iter().find(|phrase| has_phrase(words, phrase)).map(|phrase| (*phrase).into());
            let alone = || words.first().filter(|_| words.len() == 1);
            phrase
                .or_else(|| gives_away(words))
                .or_else(|| alone().filter(|word| matches!(word.as_str(), "handoff" | "hand-off")).cloned())
        })
    }

    /// The words that call a phase complete. Those that do not speak of a phase can be about anything
    /// that is set up, and count only where they are an order.
    pub fn completes(&self) -> Option<String> {
        const OTHERS: &[&str] = &[
            "submit for review",
            "finalize artifacts",
            "finalize the artifacts",
            "declare complete",
            "mark as complete",
        ];
        let of_phase = self.find(|clause| completed_phase(clause).filter(|_| !asks(clause)));
        let others = || {
            self.find(|clause| {
                let is_lead_in = |word: &&String| matches!(word.as_str(), "and" | "then" | "now" | "please");
                let order: Vec<String> = clause.iter().skip_while(is_lead_in).take(3).cloned().collect();
                OTHERS.iter().find(|phrase| has_phrase(&order, phrase)).map(|phrase| (*phrase).into())
            })
        };
        let is_setup = self.clauses.iter().any(|clause| is_setup(clause));
        if is_setup { of_phase } else { of_phase.or_else(others) }
    }

    fn find(&self, find: impl Fn(&[String]) -> Option<String>) -> Option<String> {
        self.clauses.iter().find_map(|clause| find(clause))
    }
}

impl SkillUse {
    pub fn of(tool: &Tool) -> Option<Self> {
        let Tool::Skill { name, arguments } = tool else { return None };
        // Some clients hand over the whole line.
        let line = name.as_deref()?.trim();
        let (name, behind) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let name = name.strip_prefix('/').unwrap_or(name);
        let name = name.rsplit(':').next().unwrap_or(name).to_lowercase();
        let arguments = format!("{behind} {}", arguments.as_deref().unwrap_or_default()).trim().to_owned();
        let verb = arguments.split_whitespace().next().unwrap_or_default();
        let verb = verb.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        Some(Self { name, verb, arguments })
    }

    /// Whether it is the workflow's own skill.
    pub fn is_workflow(&self) -> bool {
        matches!(self.name.as_str(), "sdlc" | "isdlc")
    }

    /// The words that would move the workflow on. Only the first word of the arguments is a verb:
    /// "feature investigate the gate" is a feature.
    pub fn moves_on(&self) -> Option<String> {
        (self.is_workflow() && is_advance(&self.verb)).then(|| format!("/{} {}", self.name, self.verb))
    }
}

/// `advance`, `gate`, `gate-06`, `gate-check`.
fn is_advance(word: &str) -> bool {
    word == "advance" || word == "gate" || word.starts_with("gate-")
}

/// Whether a clause says nothing but this word: "Advance now!", "the gate", "Gate check". The number of a
/// gate says enough by itself.
fn is_alone(clause: &[String], word: &str) -> bool {
    const FILLING: &[&str] = &["the", "now", "please", "then", "and", "it", "check", "validation", "review"];
    let is_number = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    word.strip_prefix("gate-").is_some_and(is_number)
        || clause.iter().all(|other| other == word || FILLING.contains(&other.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Told {
        Told { agent: None, clauses: clauses(text) }
    }

    /// Each of the first four was held back once.
    #[test]
    fn ordinary_words_move_nothing() {
        for text in [
            "investigate the failing test",
            "aggregate the errors",
            "proceed with the fix",
            "mitigate the risk at the gateway",
            "delegate nothing",
            "proceed to the next test",
            "continue to fix the next failing test",
            "report your progress to me",
            "configure the quality gate",
            "the advanced aggregates",
            "read docs/gate/next.md",
            "Find where the feature gate is read and why its test fails",
            "Fix gate",
            "Thanks in advance",
            "Advance the cursor by the length of the token",
            "why does the iterator not advance?",
            "add progress to the upload bar",
            "pass the progress to the caller",
            "Fix the failing tests. Do NOT proceed to the next phase.",
            "Don't move to phase 07 yet, only fix",
            "mend the parser before we move on to the next phase",
            "repair it so that we can advance to 07-testing",
            "stay here until the tests pass, and never advance",
            "go to the definition of gate() in src/gate.rs",
            "",
        ] {
            assert_eq!(told(text).moves_on(), None, "{text}");
            assert_eq!(told(text).hands_over(), None, "{text}");
        }
        for text in ["Write the handoff document", "fix the socket hand-off race", "do not hand off yet"] {
            assert_eq!(told(text).hands_over(), None, "{text}");
        }
        assert_eq!(told("how does the gate work").moves_on(), None);
        let leader = Told { agent: Some("sdlc-orchestrator".into()), ..told("how does the gate work") };
        assert_eq!(leader.moves_on().as_deref(), Some("gate"));
    }

    #[test]
    fn phrases_that_move_the_workflow_on_are_seen() {
        for text in [
            "Proceed to the next phase",
            "proceed to next",
            "Advance!",
            "pass the gate",
            "Validate GATE-06",
            "the gate",
            "move to phase 07",
            "move on to 07-testing",
            "progress to testing",
            "go to the next phase",
            "check the status of the constitution and proceed to the next phase",
            "the initial definition is there. Advance",
            "Do not stop. Proceed to the next phase",
            "do not wait and proceed to the next phase",
            "do not wait, proceed to the next\nphase",
            "please advance now",
            "advance the workflow",
            "Advance to 07-testing",
            "All is well, so proceed to the next phase",
            "Gate check",
        ] {
            assert!(told(text).moves_on().is_some(), "{text}");
        }
        for text in ["hand off to qa", "Handoff.", "handoff to qa", "phase complete", "declare complete"] {
            assert!(told(text).hands_over().is_some() && told(text).moves_on().is_none(), "{text}");
        }
    }

    #[test]
    fn completion_is_seen_by_what_it_speaks_of() {
        for text in [
            "phase complete",
            "The phase is done.",
            "phase 06 is complete",
            "phase 06-implementation finished",
            "06-implementation complete",
            "implementation is complete",
            "requirements complete",
            "ready for the gate",
            "run gate validation",
            "the constitution status: phase complete",
        ] {
            assert!(told(text).completes().is_some(), "{text}");
        }
        for text in ["submit for review", "finalize the artifacts", "mark as complete"] {
            assert!(told(text).completes().is_some(), "{text}");
            assert!(told(&format!("set up: init, then {text}")).completes().is_none(), "{text}");
        }
        for text in [
            "complete the phase plan",
            "the phase",
            "the implementation of complete",
            "done",
            "Verify that the implementation is complete",
            "are the requirements complete?",
            "tell me whether phase 06 is done",
            "keep going until testing is complete",
            "Add a 'mark as complete' button to the list of todos",
            "the phase is not complete",
        ] {
            assert!(told(text).completes().is_none(), "{text}");
        }
    }

    #[test]
    fn a_skill_has_a_name_and_a_verb() {
        let of = |name: &str, arguments: Option<&str>| {
            let arguments = arguments.map(str::to_owned);
            SkillUse::of(&Tool::Skill { name: Some(name.into()), arguments }).unwrap().moves_on()
        };
        for name in ["sdlc", "/sdlc", "SDLC", "isdlc:sdlc", "/isdlc:sdlc"] {
            assert_eq!(of(name, Some(" Advance now")).as_deref(), Some("/sdlc advance"), "{name}");
        }
        assert!(of("/sdlc gate-check", None).is_some() && of("sdlc", Some("gate")).is_some());
        for (name, arguments) in [
            ("sdlc", "feature investigate login"),
            ("sdlc", "feature pass the gate"),
            ("sdlc", ""),
            ("other", "advance"),
            ("sdlc-gate", "x"),
        ] {
            assert_eq!(of(name, Some(arguments)), None, "{name} {arguments}");
        }
        assert_eq!(SkillUse::of(&Tool::Skill { name: None, arguments: Some("advance".into()) }), None);
    }
}
