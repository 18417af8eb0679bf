//! Whether a call would move the workflow to another phase.
//!
//! The agent that the call names comes first: an agent of the current phase does ordinary work, and an agent
//! that sets things up is not part of the workflow; their prompts are not read. Only for other agents is the
//! prompt read, in whole words and phrases: "investigate" is not a gate, and "proceed with the fix" proceeds
//! to no phase. To delegate something is not a move by itself.
//!
//! A prompt may also say what not to do, or what to find out: "do not proceed to the next phase", "verify
//! that the implementation is complete". Neither moves the workflow. A single word counts only for an agent
//! that leads others, or if nothing else is in its clause: prompts talk of feature gates and of iterators
//! that advance.

use super::clauses::{find_phrase, is_about_setup, split_clauses};
use super::delegation::Assignment;
use super::instructions::{self, is_any, is_lead_in};
use super::prelude::*;

/// The prompt of an agent.
pub struct DelegationText {
    /// The agent's canonical name, if the call names one.
    pub agent: Option<String>,
    /// The clauses of the prompt and the description, each as its words.
    clauses: Vec<Vec<String>>,
}

/// The use of a skill.
#[derive(Debug, PartialEq, Eq)]
pub struct SkillUse {
    /// In lower case, without its slash and its plugin.
    pub name: String,
    /// The first word of its arguments.
    pub verb: String,
    pub arguments: String,
}

/// The current phase, and the words with which a call would leave it: those that `find` finds in an agent's
/// prompt, or the arguments of the workflow's skill. `None`: there are no such words, the workflow's checks
/// are off, or the agent does ordinary work.
pub fn find_phase_change<'w>(
    event: &Event,
    workspace: &'w Workspace,
    find: impl Fn(&DelegationText) -> Option<String>,
) -> Option<(CurrentPhase<'w>, String)> {
    let context = WorkflowContext::find(event, workspace)?;
    let text = context.delegation_text(event, workspace);
    let words = match text {
        Some(text) => find(text),
        None => SkillUse::parse(&event.call()?.tool).and_then(|skill| skill.find_advance()),
    }?;
    let phase = CurrentPhase::find(context, workspace)?;
    if text.is_some_and(|text| text.is_ordinary_work(&phase)) {
        return None;
    }
    Some((phase, words))
}

impl DelegationText {
    pub fn new(assignment: &Assignment) -> Self {
        let clauses = assignment.texts.iter().flat_map(|text| split_clauses(text)).collect();
        Self { agent: assignment.agent.clone(), clauses }
    }

    /// Whether the call itself names an agent that works in this phase or sets things up. An agent that only
    /// the prompt names does not count, because the prompt could name it to get past the guards.
    fn is_ordinary_work(&self, phase: &CurrentPhase) -> bool {
        let manifest = || phase.context.manifest(phase.workspace);
        let own = self.agent.as_deref().and_then(|agent| manifest()?.find_agent_phase(agent));
        own.is_some_and(|own| own == "setup" || phase_names::is_same_phase(own, &phase.name))
    }

    /// Whether the agent leads others.
    pub fn is_to_leader(&self) -> bool {
        self.agent.as_deref().is_some_and(|agent| agent.split('-').any(|part| part == "orchestrator"))
    }

    /// The words that would move the workflow on.
    ///
    /// In a text about setting things up, a single word can mean something else ("configure the quality
    /// gate"). A clear phrase counts there too: else the word "status" would open every gate.
    pub fn find_advance(&self) -> Option<String> {
        const CLEAR: &[&str] = &["next phase", "move to phase", "pass the gate"];
        let only_clear = self.is_about_setup();
        self.find_in_clauses(|clause| {
            let words = instructions::cut_at_negation(clause);
            let clear = find_phrase(words, CLEAR).filter(|_| !instructions::is_about_other_phases(words));
            let is_bare = |word: &&String| is_advance(word) && (self.is_to_leader() || is_alone(words, word));
            let bare = || words.iter().filter(|_| !only_clear).find(is_bare).cloned();
            clear
                .or_else(|| instructions::find_move(words))
                .or_else(|| self.find_proceed(words))
                .or_else(bare)
        })
    }

    /// A bare instruction to proceed. For an agent that does not lead it may be about its own work: "once it
    /// passes, proceed".
    fn find_proceed(&self, words: &[String]) -> Option<String> {
        let before = instructions::find_words_before_proceed(words)?;
        let is_conditional = || self.clauses.iter().any(|clause| instructions::is_condition(clause));
        let is_instruction = self.is_to_leader() || is_lead_in(before) && !is_conditional();
        is_instruction.then(|| "proceed".to_owned())
    }

    /// The words that would hand the work over, or call it done.
    pub fn find_handover(&self) -> Option<String> {
        const PHRASES: &[&str] = &["handoff to", "hand-off to", "phase complete", "declare complete"];
        self.find_in_clauses(|clause| {
            let words = instructions::cut_at_negation(clause);
            let alone = || match words {
                [word] if is_any(word, &["handoff", "hand-off"]) => Some(word.clone()),
                _ => None,
            };
            find_phrase(words, PHRASES).or_else(|| instructions::find_handover(words)).or_else(alone)
        })
    }

    /// The words that call a phase complete. Phrases that do not mention a phase can be about a setup, and
    /// count only as an instruction.
    pub fn find_completion(&self) -> Option<String> {
        const OTHERS: &[&str] = &[
            "submit for review",
            "finalize artifacts",
            "finalize the artifacts",
            "declare complete",
            "mark as complete",
        ];
        let phase = self.find_in_clauses(|clause| {
            instructions::find_completion(clause).filter(|_| !instructions::is_question(clause))
        });
        let other = || {
            self.find_in_clauses(|clause| {
                let is_filler = |word: &&String| is_any(word, &["and", "then", "now", "please"]);
                let start: Vec<String> = clause.iter().skip_while(is_filler).take(3).cloned().collect();
                find_phrase(&start, OTHERS)
            })
        };
        phase.or_else(|| if self.is_about_setup() { None } else { other() })
    }

    fn is_about_setup(&self) -> bool {
        self.clauses.iter().any(|clause| is_about_setup(clause))
    }

    fn find_in_clauses(&self, find: impl Fn(&[String]) -> Option<String>) -> Option<String> {
        self.clauses.iter().find_map(|clause| find(clause))
    }
}

impl SkillUse {
    pub fn parse(tool: &Tool) -> Option<Self> {
        let Tool::Skill { name, arguments } = tool else { return None };
        // Some clients pass the whole line as the name.
        let line = name.as_deref()?.trim();
        let (name, behind) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let name = name.strip_prefix('/').unwrap_or(name);
        let name = name.rsplit(':').next().unwrap_or(name).to_lowercase();
        let arguments = format!("{behind} {}", arguments.as_deref().unwrap_or_default()).trim().to_owned();
        let verb = arguments.split_whitespace().next().unwrap_or_default();
        let verb = verb.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        Some(Self { name, verb, arguments })
    }

    /// The words that would move the workflow on. Only the first word of the arguments is a verb: "feature
    /// investigate the gate" is a feature.
    fn find_advance(&self) -> Option<String> {
        let is_workflow = is_any(&self.name, &["sdlc", "isdlc"]);
        (is_workflow && is_advance(&self.verb)).then(|| format!("/{} {}", self.name, self.verb))
    }
}

/// `advance`, `gate`, `gate-06`, `gate-check`.
fn is_advance(word: &str) -> bool {
    word == "advance" || word == "gate" || word.starts_with("gate-")
}

/// Whether a clause says nothing but this word: "Advance now!", "the gate", "Gate check". The number of a
/// gate is enough by itself.
fn is_alone(clause: &[String], word: &str) -> bool {
    const FILLING: &[&str] = &["the", "now", "please", "then", "and", "it", "check", "validation", "review"];
    let is_number = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    word.strip_prefix("gate-").is_some_and(is_number)
        || clause.iter().all(|other| other == word || is_any(other, FILLING))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> DelegationText {
        DelegationText { agent: None, clauses: split_clauses(text) }
    }

    /// Each of the first four was denied once.
    #[test]
    fn ordinary_words_do_not_move_the_workflow() {
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
            assert_eq!(read(text).find_advance(), None, "{text}");
            assert_eq!(read(text).find_handover(), None, "{text}");
        }
        for text in ["Write the handoff document", "fix the socket hand-off race", "do not hand off yet"] {
            assert_eq!(read(text).find_handover(), None, "{text}");
        }
        assert_eq!(read("how does the gate work").find_advance(), None);
        let leader =
            DelegationText { agent: Some("sdlc-orchestrator".into()), ..read("how does the gate work") };
        assert_eq!(leader.find_advance().as_deref(), Some("gate"));
    }

    #[test]
    fn phrases_that_move_the_workflow_are_found() {
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
            assert!(read(text).find_advance().is_some(), "{text}");
        }
        for text in ["hand off to qa", "Handoff.", "handoff to qa", "phase complete", "declare complete"] {
            assert!(read(text).find_handover().is_some() && read(text).find_advance().is_none(), "{text}");
        }
    }

    #[test]
    fn completion_must_be_about_a_phase() {
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
            assert!(read(text).find_completion().is_some(), "{text}");
        }
        for text in ["submit for review", "finalize the artifacts", "mark as complete"] {
            assert!(read(text).find_completion().is_some(), "{text}");
            assert!(read(&format!("set up: init, then {text}")).find_completion().is_none(), "{text}");
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
            assert!(read(text).find_completion().is_none(), "{text}");
        }
    }

    #[test]
    fn a_skill_has_a_name_and_a_verb() {
        let of = |name: &str, arguments: Option<&str>| {
            let arguments = arguments.map(str::to_owned);
            SkillUse::parse(&Tool::Skill { name: Some(name.into()), arguments }).unwrap().find_advance()
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
        assert_eq!(SkillUse::parse(&Tool::Skill { name: None, arguments: Some("advance".into()) }), None);
    }
}
