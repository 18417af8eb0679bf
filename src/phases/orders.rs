//! What a clause orders: to go on to another phase, to give the work away, to call it complete.
//!
//! A clause comes as its words. Each of these finds the words that say it, or nothing: "proceed to testing" is an order,
//! and "proceed with the fix" is none.

use super::table::{self, Phases};
use super::words::has_phrase;

/// Verbs of a workflow that moves.
const VERBS: &[&str] = &["advance", "proceed", "move", "go", "continue", "transition", "progress"];

/// A clause up to where it speaks of what is not to be done, or not yet: "do not proceed …", "before we
/// move …", "so that we can advance …".
pub fn wanted(clause: &[String]) -> &[String] {
    const NOT: &[&str] = &["not", "never", "don", "don’t", "cannot", "without", "before", "until", "unless"];
    const NOUNS: &[&str] =
        &["advancing", "proceeding", "moving", "going", "continuing", "next", "pass", "hand", "delegate"];
    /// So many words stand between the two.
    const REACH: usize = 4;
    let is_move = |word: &String| VERBS.contains(&word.as_str()) || NOUNS.contains(&word.as_str());
    let is_held = |at: usize| {
        let next = clause.get(at + 1).map(String::as_str);
        let is_not = NOT.contains(&clause[at].as_str())
            || clause[at] == "so" && matches!(next, Some("that" | "we" | "i" | "you"));
        // "Do not stop and proceed" is an order to proceed.
        let then =
            clause[at + 1..].iter().take_while(|word| !matches!(word.as_str(), "and" | "but" | "just"));
        is_not && then.take(REACH).any(is_move)
    };
    let end = (0..clause.len()).find(|at| is_held(*at)).unwrap_or(clause.len());
    &clause[..end]
}

/// "Delegate to qa-engineer", "delegate the work", "hand it off to the tester", but not "delegate the sorting to the
/// database" nor "hand the buffer over to the parser".
pub fn gives_away(words: &[String]) -> Option<String> {
    /// What is given away may have so many words, and so many stand before the name of who gets it.
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
    let is_work = |words: &[String]| words.iter().all(|word| WORK.contains(&word.as_str()));
    let is_article = |word: &String| matches!(word.as_str(), "the" | "a" | "an" | "this" | "our" | "its");
    words.iter().enumerate().find_map(|(at, verb)| {
        let rest = &words[at + 1..];
        let (is_clear, rest) = match verb.as_str() {
            // In "fix the app delegate" it is no verb.
            "delegate" | "delegating" => (!words[at.saturating_sub(2)..at].iter().any(is_article), rest),
            "hand" | "handing" => {
                let is_away = |word: &String| matches!(word.as_str(), "off" | "over");
                let away = rest.iter().take(REACH).position(is_away)?;
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
            let own = table::agent(word);
            table::is_worker(&own)
                || table::is_beside_phases(&own)
                || Phases::named(word).is_some()
                || AGENTS.contains(&word.as_str())
        };
        let is_to_agent = rest[to + 1..].iter().take(REACH).any(is_agent);
        (is_clear && is_work(&rest[..to]) || is_to_agent).then(|| format!("{verb} to"))
    })
}

/// Whether the phases that a clause speaks of are those of something else: "the next phase of the compiler".
pub fn is_elsewhere(words: &[String]) -> bool {
    let of = words.windows(2).position(|pair| pair[0] == "phase" && pair[1] == "of");
    let whose = of.and_then(|at| words[at + 2..].iter().find(|word| *word != "the" && *word != "this"));
    whose.is_some_and(|whose| !matches!(whose.as_str(), "workflow" | "feature" | "project" | "sdlc" | "work"))
}

/// What stands before "proceed" where a clause ends with it: "all is done, please proceed".
pub fn before_proceed(words: &[String]) -> Option<&[String]> {
    let end = words.iter().rposition(|word| !matches!(word.as_str(), "now" | "please"))?;
    (words[end] == "proceed").then(|| &words[..end])
}

/// Whether a clause makes the next one depend on it: "once it passes, …".
pub fn is_condition(clause: &[String]) -> bool {
    clause.first().is_some_and(|word| matches!(word.as_str(), "once" | "when" | "after" | "if" | "as"))
}

/// Whether only an order can follow these words.
pub fn is_lead_in(words: &[String]) -> bool {
    const LEAD_IN: &[&str] =
        &["and", "then", "now", "please", "so", "we", "can", "may", "let", "us", "you", "next"];
    words.iter().all(|word| LEAD_IN.contains(&word.as_str()))
}

/// Whether a clause asks, or makes something depend on what it says.
pub fn asks(clause: &[String]) -> bool {
    const ASKING: &[&str] = &[
        "whether", "if", "verify", "check", "confirm", "ensure", "sure", "assess", "until", "once", "when",
        "before", "unless", "not",
    ];
    clause.first().is_some_and(|word| matches!(word.as_str(), "is" | "are"))
        || clause.iter().any(|word| ASKING.contains(&word.as_str()))
}

/// "Proceed to the next phase", "move on to 07-testing", "advance the workflow", but not "proceed to the
/// next test" nor "pass the progress to the caller".
pub fn goes_to(words: &[String]) -> Option<String> {
    /// So many words stand between "to" and where it goes.
    const REACH: usize = 3;
    words.iter().enumerate().filter(|(_, word)| VERBS.contains(&word.as_str())).find_map(|(at, verb)| {
        let rest = &words[at + 1..];
        let rest = rest.strip_prefix(&["on".to_owned()]).unwrap_or(rest);
        let to = rest.first().filter(|to| matches!(to.as_str(), "to" | "into"));
        if to.is_none() && verb != "advance" {
            return None;
        }
        let rest = &rest[usize::from(to.is_some())..];
        let is_aim = |(index, word): (usize, &String)| match word.as_str() {
            "phase" | "gate" => true,
            "workflow" => verb == "advance",
            "next" => {
                rest.get(index + 1).is_none_or(|then| matches!(then.as_str(), "phase" | "gate" | "stage"))
            }
            // An order that says nothing more is about the work: "proceed to testing".
            "implementation" | "testing" | "validation" | "deployment" => {
                is_lead_in(&words[..at]) && (verb == "progress" && index == 0 || index + 1 == rest.len())
            }
            word => Phases::named(word).is_some() || word.starts_with("gate-"),
        };
        let says = || if to.is_some() { format!("{verb} to") } else { verb.clone() };
        rest.iter().take(REACH).enumerate().any(is_aim).then(says)
    })
}

/// "Phase 06 is complete", "testing complete", "ready for the gate".
pub fn completed_phase(words: &[String]) -> Option<String> {
    const DONE: &[&str] = &["complete", "completed", "done", "finished"];
    const BETWEEN: &[&str] = &["is", "are", "was", "has", "have", "been", "now", "fully", "already"];
    const PHRASES: &[&str] = &["ready for gate", "ready for the gate", "gate validation"];
    if let Some(phrase) = PHRASES.iter().find(|phrase| has_phrase(words, phrase)) {
        return Some((*phrase).to_owned());
    }
    words.iter().enumerate().find_map(|(at, word)| {
        let mut rest = words[at + 1..].iter().map(String::as_str).peekable();
        let work = matches!(word.as_str(), "implementation" | "testing" | "requirements");
        if word == "phase" {
            rest.next_if(|next| Phases::named(next).is_some() || next.chars().all(|c| c.is_ascii_digit()));
        } else if !work && Phases::named(word).is_none() {
            return None;
        }
        while rest.next_if(|next| BETWEEN.contains(next)).is_some() {}
        let end = rest.next().filter(|next| if work { *next == "complete" } else { DONE.contains(next) })?;
        Some(format!("{word} {end}"))
    })
}
