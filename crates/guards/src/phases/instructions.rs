//! What a clause of a prompt tells an agent to do: go to another phase, hand the work over, call it complete.
//!
//! Each function gets a clause as its words and returns the words that give the instruction: "proceed to
//! testing" does, and "proceed with the fix" does not.

use super::clauses::find_phrase;
use super::phase_names::PhaseSet;
use super::prelude::*;

/// Verbs for a workflow that moves.
const VERBS: &[&str] = &["advance", "proceed", "move", "go", "continue", "transition", "progress"];

/// A clause up to where it says what should not happen, or not yet: "do not proceed …", "before we move …",
/// "so that we can advance …".
pub fn cut_at_negation(clause: &[String]) -> &[String] {
    const NOT: &[&str] = &["not", "never", "don", "don’t", "cannot", "without", "before", "until", "unless"];
    const NOUNS: &[&str] =
        &["advancing", "proceeding", "moving", "going", "continuing", "next", "pass", "hand", "delegate"];
    /// How far after the negation the move may be, in words.
    const REACH: usize = 4;
    let is_move = |word: &String| is_any(word, VERBS) || is_any(word, NOUNS);
    let is_negated = |at: usize| {
        let next = clause.get(at + 1).map(String::as_str);
        let is_not = is_any(&clause[at], NOT)
            || clause[at] == "so" && matches!(next, Some("that" | "we" | "i" | "you"));
        // "Do not stop and proceed" is an instruction to proceed.
        let behind = clause[at + 1..].iter().take_while(|word| !is_any(word, &["and", "but", "just"]));
        is_not && behind.take(REACH).any(is_move)
    };
    let end = (0..clause.len()).find(|at| is_negated(*at)).unwrap_or(clause.len());
    &clause[..end]
}

/// "Delegate to qa-engineer", "delegate the work", "hand it off to the tester", but not "delegate the sorting
/// to the database" and not "hand the buffer over to the parser".
pub fn find_handover(words: &[String]) -> Option<String> {
    /// What is handed over, and the way to the agent's name, have at most so many words.
    const REACH: usize = 8;
    const WORK: &[&str] = &[
        "this",
        "that",
        "it",
        "all",
        "the",
        "of",
        "work",
        "task",
        "tasks",
        "rest",
        "remaining",
        "everything",
        "next",
        "now",
    ];
    const AGENTS: &[&str] = &["agent", "engineer", "tester", "developer", "designer", "architect", "phase"];
    const ARTICLES: &[&str] = &["the", "a", "an", "this", "our", "its"];
    let is_work = |words: &[String]| words.iter().all(|word| is_any(word, WORK));
    words.iter().enumerate().find_map(|(at, verb)| {
        let rest = &words[at + 1..];
        let (is_clear, rest) = match verb.as_str() {
            // "Fix the app delegate" has it as a noun.
            "delegate" | "delegating" => {
                (!words[at.saturating_sub(2)..at].iter().any(|word| is_any(word, ARTICLES)), rest)
            }
            "hand" | "handing" => {
                let away = rest.iter().take(REACH).position(|word| is_any(word, &["off", "over"]))?;
                let given = &rest[..away];
                if !is_work(given) {
                    return None;
                }
                // Programs "hand over to" each other as well.
                (rest[away] == "off" || !given.is_empty(), &rest[away + 1..])
            }
            _ => return None,
        };
        let Some(to) = rest.iter().take(REACH).position(|word| word == "to") else {
            return (is_clear && is_work(rest)).then(|| verb.clone());
        };
        let is_agent = |word: &String| {
            let agent = phase_names::canonical_agent_name(word);
            phase_names::is_phase_agent(&agent)
                || phase_names::is_outside_phases(&agent)
                || PhaseSet::from_name(word).is_some()
                || is_any(word, AGENTS)
        };
        let is_to_agent = rest[to + 1..].iter().take(REACH).any(is_agent);
        (is_clear && is_work(&rest[..to]) || is_to_agent).then(|| format!("{verb} to"))
    })
}

/// Whether a clause is about the phases of something other than the workflow: "the next phase of the
/// compiler".
pub fn is_about_other_phases(words: &[String]) -> bool {
    let at = words.windows(2).position(|pair| pair[0] == "phase" && pair[1] == "of");
    let owner = at.and_then(|at| words[at + 2..].iter().find(|word| *word != "the" && *word != "this"));
    owner.is_some_and(|owner| !is_any(owner, &["workflow", "feature", "project", "sdlc", "work"]))
}

/// The words before "proceed" in a clause that ends with it: "all is done, please proceed".
pub fn find_words_before_proceed(words: &[String]) -> Option<&[String]> {
    let end = words.iter().rposition(|word| !is_any(word, &["now", "please"]))?;
    (words[end] == "proceed").then(|| &words[..end])
}

/// Whether the next clause depends on this one: "once it passes, …".
pub fn is_condition(clause: &[String]) -> bool {
    clause.first().is_some_and(|word| is_any(word, &["once", "when", "after", "if", "as"]))
}

/// Whether only an instruction can follow these words.
pub fn is_lead_in(words: &[String]) -> bool {
    const LEAD_IN: &[&str] =
        &["and", "then", "now", "please", "so", "we", "can", "may", "let", "us", "you", "next"];
    words.iter().all(|word| is_any(word, LEAD_IN))
}

/// Whether a clause asks something, or makes something depend on it.
pub fn is_question(clause: &[String]) -> bool {
    const WORDS: &[&str] = &[
        "whether", "if", "verify", "check", "confirm", "ensure", "sure", "assess", "until", "once", "when",
        "before", "unless", "not",
    ];
    clause.first().is_some_and(|word| is_any(word, &["is", "are"]))
        || clause.iter().any(|word| is_any(word, WORDS))
}

/// "Proceed to the next phase", "move on to 07-testing", "advance the workflow", but not "proceed to the next
/// test" and not "pass the progress to the caller".
pub fn find_move(words: &[String]) -> Option<String> {
    /// The target is at most so many words after "to".
    const REACH: usize = 3;
    words.iter().enumerate().filter(|(_, word)| is_any(word, VERBS)).find_map(|(at, verb)| {
        let rest = &words[at + 1..];
        let rest = rest.strip_prefix(&["on".to_owned()]).unwrap_or(rest);
        let to = rest.first().filter(|to| is_any(to, &["to", "into"]));
        if to.is_none() && verb != "advance" {
            return None;
        }
        let rest = &rest[usize::from(to.is_some())..];
        let is_target = |(index, word): (usize, &String)| match word.as_str() {
            "phase" | "gate" => true,
            "workflow" => verb == "advance",
            "next" => rest.get(index + 1).is_none_or(|then| is_any(then, &["phase", "gate", "stage"])),
            // An instruction that says nothing more is about the work: "proceed to testing".
            "implementation" | "testing" | "validation" | "deployment" => {
                is_lead_in(&words[..at]) && (verb == "progress" && index == 0 || index + 1 == rest.len())
            }
            word => PhaseSet::from_name(word).is_some() || word.starts_with("gate-"),
        };
        let instruction = || if to.is_some() { format!("{verb} to") } else { verb.clone() };
        rest.iter().take(REACH).enumerate().any(is_target).then(instruction)
    })
}

/// "Phase 06 is complete", "testing complete", "ready for the gate".
pub fn find_completion(words: &[String]) -> Option<String> {
    const DONE: &[&str] = &["complete", "completed", "done", "finished"];
    const BETWEEN: &[&str] = &["is", "are", "was", "has", "have", "been", "now", "fully", "already"];
    const PHRASES: &[&str] = &["ready for gate", "ready for the gate", "gate validation"];
    let in_words = || {
        words.iter().enumerate().find_map(|(at, word)| {
            let mut rest = words[at + 1..].iter().map(String::as_str).peekable();
            let is_work = is_any(word, &["implementation", "testing", "requirements"]);
            if word == "phase" {
                rest.next_if(|next| {
                    PhaseSet::from_name(next).is_some() || next.chars().all(|c| c.is_ascii_digit())
                });
            } else if !is_work && PhaseSet::from_name(word).is_none() {
                return None;
            }
            while rest.next_if(|next| BETWEEN.contains(next)).is_some() {}
            let end =
                rest.next().filter(|end| if is_work { *end == "complete" } else { DONE.contains(end) })?;
            Some(format!("{word} {end}"))
        })
    };
    find_phrase(words, PHRASES).or_else(in_words)
}

pub fn is_any(word: &str, list: &[&str]) -> bool {
    list.contains(&word)
}
