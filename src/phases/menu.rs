//! `menu-tracker`: how often the person was asked in the requirements phase, and what they chose.
//!
//! Read from what an agent answered, not from what it was told: a prompt that describes the menu has
//! shown it to nobody. A choice must be said as one. "I selected a database" and "the selection
//! criteria" were taken for choices once.

use serde_json::{Map, Value, json};

use super::ground::Ground;
use super::requirements::{self, TALKS, put, put_behind};
use super::table;
use crate::decision::{Fault, Opinion};
use crate::event::{Event, Kind, Tool};
use crate::workspace::Workspace;

const PHASE: &str = "01-requirements";
const MOST: usize = 50;
/// Two of these make a menu.
const MARKS: &[&str] = &[
    "[a] adjust",
    "[r] refine",
    "[c] continue",
    "[s] save",
    "[x] exit",
    "your choice:",
    "enter selection",
    "select an option",
];

/// An option of the menu.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    Adjust,
    Refine,
    Continue,
    Save,
    Exit,
}

const CHOICES: &[(Choice, &str, &str)] = &[
    (Choice::Adjust, "A", "adjust"),
    (Choice::Refine, "R", "refine"),
    (Choice::Continue, "C", "continue"),
    (Choice::Save, "S", "save"),
    (Choice::Exit, "X", "exit"),
];

/// What an answer tells about the talk.
#[derive(Debug, Default, PartialEq, Eq)]
struct Heard {
    shows_menu: bool,
    choice: Option<Choice>,
    /// The names of the steps that are done.
    steps: Vec<String>,
}

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    Ok(noted(event, workspace).unwrap_or_else(Opinion::unconcerned))
}

fn noted(event: &Event, workspace: &Workspace) -> Option<Opinion> {
    let (agent, text) = match &event.kind {
        Kind::AfterTool(call) => match &call.tool {
            Tool::Delegate { agent, .. } => (agent.as_deref(), call.outcome.text.as_deref()?),
            _ => return None,
        },
        // The answer of one that somebody waits for comes with its call, and counts once.
        Kind::SubagentStop(stopping) if stopping.in_background => {
            let agent = event.agent.as_ref().and_then(|agent| agent.kind.as_deref());
            (agent, stopping.last_message.as_deref()?)
        }
        _ => return None,
    };
    let ground = Ground::of(event, workspace)?;
    let state = ground.state(workspace)?;
    state.workflow()?;
    if requirements::are_off(state) || !table::is_same(&state.current_phase()?, PHASE) {
        return None;
    }
    // An agent of another phase talks about other things. One that nobody knows may talk about these.
    let agent = agent.map(table::agent).unwrap_or_default();
    let own = ground.manifest(workspace).and_then(|manifest| manifest.phase_of(&agent));
    if own.is_some_and(|own| own != "all" && !table::is_same(own, PHASE)) {
        return None;
    }
    let heard = Heard::in_text(text);
    if heard == Heard::default() {
        return None;
    }
    let evidence =
        vec![format!("menu: {}, choice: {:?}, steps: {:?}", heard.shows_menu, heard.choice, heard.steps)];
    let to_model = match heard.choice {
        Some(Choice::Save) => {
            Some("ELICITATION COMPLETE: the person chose Save; the requirements are final.")
        }
        Some(Choice::Exit) => Some("ELICITATION COMPLETE: the person chose Exit; the talk is over."),
        Some(Choice::Continue) => Some("ELICITATION: the person chose Continue; the next step follows."),
        _ => None,
    };
    let now = workspace.now();
    let phase = state.current_phase()?;
    ground.notes.add(move |state| {
        requirements::change(state, &phase, TALKS, |record| heard.keep(record, &now));
    });
    Some(Opinion { to_model: to_model.map(str::to_owned), evidence, ..Opinion::default() })
}

impl Heard {
    fn in_text(text: &str) -> Self {
        // Emphasis is no part of a menu.
        let plain: String = text.chars().filter(|c| !matches!(c, '*' | '`' | '_')).collect();
        let folded = plain.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
        Self {
            shows_menu: MARKS.iter().filter(|mark| folded.contains(**mark)).count() >= 2,
            choice: plain.lines().find_map(choice).or_else(|| implied(&folded)),
            steps: plain.lines().filter_map(step).collect(),
        }
    }

    fn keep(&self, record: &mut Map<String, Value>, now: &str) {
        let number =
            |record: &Map<String, Value>, name: &str| record.get(name).and_then(Value::as_u64).unwrap_or(0);
        put(record, "required", json!(true));
        if !record.contains_key("completed") {
            put(record, "completed", json!(false));
        }
        let known = number(record, "menu_interactions");
        // Who chose was asked, even if nobody has seen the menu here.
        let is_asked = self.shows_menu || self.choice.is_some() && known == 0;
        let interactions = known + u64::from(is_asked);
        put(record, "menu_interactions", json!(interactions));
        if self.shows_menu {
            put(record, "last_menu_at", json!(now));
        }
        for step in &self.steps {
            put(record, "last_step_completed", json!(step));
            let known = record.get("steps_completed").and_then(Value::as_array);
            if !known.is_some_and(|known| known.contains(&json!(step))) {
                put_behind(record, "steps_completed", json!(step), MOST);
            }
        }
        let Some(choice) = self.choice else { return };
        let name = choice.name();
        put_behind(record, "selections", json!({"selection": name, "timestamp": now}), MOST);
        put(record, "last_selection", json!(name));
        put(record, "last_selection_at", json!(now));
        if matches!(choice, Choice::Save | Choice::Exit) {
            put(record, "completed", json!(true));
            put(record, "completed_at", json!(now));
            put(record, "final_selection", json!(name));
        }
    }
}

impl Choice {
    fn name(self) -> &'static str {
        CHOICES.iter().find(|(choice, ..)| *choice == self).map_or("", |(.., name)| name)
    }
}

/// A choice that a line tells: "selected [C]", "chose Save.", "Selection: C (Continue)", "user picked S".
///
/// Behind the verb stands a letter in brackets, or a capital letter with its own name or nothing more
/// behind it, or the name of an option with nothing more behind it. A line with several options in
/// brackets is the menu.
fn choice(line: &str) -> Option<Choice> {
    const VERBS: &[&str] = &["selected", "selection", "chose", "chosen", "picked"];
    const BETWEEN: &[&str] = &["is", "was", "option", "the", "has", "been"];
    let in_brackets = |letter: &str| [format!("[{letter}]"), format!("({letter})")];
    let capitals = line.to_uppercase();
    let options = CHOICES
        .iter()
        .filter(|(_, letter, _)| in_brackets(letter).iter().any(|mark| capitals.contains(mark)));
    if options.count() > 1 {
        return None;
    }
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let ends = |word: &str| word.ends_with(['.', ',', ';', '!', ')', '"', '\'']);
    let words: Vec<&str> = line.split_whitespace().collect();
    let verbs = words.iter().enumerate().filter(|(at, word)| {
        let asks = at.checked_sub(1).is_some_and(|before| matches!(&*bare(words[before]), "enter" | "your"));
        VERBS.contains(&bare(word).as_str()) && !ends(word) && !asks
    });
    verbs.into_iter().find_map(|(at, verb)| {
        let is_sign = |word: &str| matches!(word, "-" | ":" | "=" | "–" | "—");
        let is_label = verb.ends_with(':') || words.get(at + 1).is_some_and(|next| is_sign(next));
        let mut rest = words[at + 1..].iter().filter(|word| !is_sign(word));
        let first = rest.find(|word| !BETWEEN.contains(&bare(word).as_str()))?;
        let then = rest.next();
        CHOICES.iter().find_map(|(choice, letter, name)| {
            let is_capital = first.contains(*letter);
            let own_name = then.is_some_and(|then| bare(then) == *name);
            let is_last = ends(first) || then.is_none();
            let for_own = then == Some(&"to") && rest.clone().next().is_some_and(|word| bare(word) == *name);
            let is_alone = own_name || is_last && (is_capital || is_label) || for_own && is_capital;
            let is_letter =
                in_brackets(letter).iter().any(|mark| first.to_uppercase().starts_with(mark.as_str()))
                    || bare(first) == letter.to_lowercase() && is_alone;
            let is_name =
                bare(first) == *name && (is_last || then.is_some_and(|then| bare(then) == "option"));
            (is_letter || is_name).then_some(*choice)
        })
    })
}

/// What follows a choice is a sign of it.
fn implied(folded: &str) -> Option<Choice> {
    const SIGNS: &[(&str, Choice)] = &[
        ("proceeding to next step", Choice::Continue),
        ("proceeding to the next step", Choice::Continue),
        ("saving artifacts", Choice::Save),
        ("artifacts saved", Choice::Save),
        ("requirements finalized", Choice::Save),
    ];
    SIGNS.iter().find(|(sign, _)| folded.contains(sign)).map(|(_, choice)| *choice)
}

/// The step that a line calls done, by its name: "Step 3: user stories - complete", "User stories complete".
/// One that is only numbered is `step-3`.
fn step(line: &str) -> Option<String> {
    const REACH: usize = 8;
    /// Steps of the talk that are known by their names alone.
    const NAMED: &[&str] = &[
        "project discovery",
        "user personas",
        "personas",
        "core journey",
        "core features",
        "features",
        "technical context",
        "non functional requirements",
        "edge cases",
        "user stories",
        "prioritization",
    ];
    const FILLING: &[&str] = &["the", "a", "is", "are", "was", "now", "has", "have", "been"];
    let is_done = |word: &str| matches!(word, "complete" | "completed" | "done");
    let words: Vec<String> = line
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .filter(|word| !FILLING.contains(&word.as_str()))
        .collect();
    let end = words.iter().position(|word| is_done(word))?;
    let said = &words[..end];
    if said.iter().any(|word| word == "not") {
        return None;
    }
    let number = |at: usize| said.get(at + 1)?.parse::<u64>().ok().filter(|step| (1..=7).contains(step));
    match said.iter().rposition(|word| word == "step") {
        Some(at) if at + 1 == end => Some(said[..at].join("-")).filter(|_| (1..=REACH).contains(&at)),
        Some(at) => {
            let number = number(at).filter(|_| end - at <= REACH + 2 && !said[..at].contains(&said[at]))?;
            let is_number = |word: &String| word.bytes().all(|byte| byte.is_ascii_digit());
            let name = match &said[at + 2..] {
                // "Step 3 of 7", "step 3/7".
                [of, total, name @ ..] if of == "of" && is_number(total) => name,
                [total, name @ ..] if is_number(total) => name,
                name => name,
            };
            let name = name.join("-");
            Some(if name.is_empty() { format!("step-{number}") } else { name })
        }
        None => NAMED.contains(&said.join(" ").as_str()).then(|| said.join("-")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Else the record would be called completed by nobody's choice, and the gate would hold.
    #[test]
    fn who_chose_was_asked() {
        let mut record = Map::new();
        Heard::in_text("The user selected [S] Save").keep(&mut record, "t");
        assert_eq!((&record["menu_interactions"], &record["completed"]), (&json!(1), &json!(true)));
        Heard::in_text("The user selected [S] Save").keep(&mut record, "t");
        assert_eq!(record["menu_interactions"], 1);
    }

    #[test]
    fn a_choice_is_said_as_one() {
        for (line, wanted) in [
            ("User selected: C", Choice::Continue),
            ("The user selected [A] Adjust", Choice::Adjust),
            ("Selection: **S** (Save)", Choice::Save),
            ("selection was R.", Choice::Refine),
            ("You chose Save.", Choice::Save),
            ("they chose the continue option", Choice::Continue),
            ("user picked X - Exit, so we stop", Choice::Exit),
            ("Artifacts saved to docs", Choice::Save),
            ("proceeding to the next step", Choice::Continue),
        ] {
            assert_eq!(Heard::in_text(line).choice, Some(wanted), "{line}");
        }
        for line in [
            "I selected a database",
            "I selected A database",
            "the selection criteria",
            "selected save location",
            "selected C code",
            "Enter selection: [A] Adjust",
            "Select an option: [C] Continue",
            "selected: [A] Adjust [C] Continue",
            "Your selection:",
            "chose",
            "",
        ] {
            assert_eq!(Heard::in_text(line).choice, None, "{line}");
        }
    }

    #[test]
    fn two_marks_make_a_menu() {
        assert!(Heard::in_text("**[A]** Adjust\n[C]  Continue").shows_menu);
        assert!(Heard::in_text("[S] Save\nYour choice:").shows_menu);
        assert!(
            !Heard::in_text("[A] Adjust").shows_menu && !Heard::in_text("adjust and continue").shows_menu
        );
    }

    #[test]
    fn a_step_is_done_in_its_own_line() {
        let of = |line: &str| step(line).unwrap_or_default();
        assert_eq!(of("Step 3: user stories - complete"), "user-stories");
        assert_eq!(of("step 7 is done"), "step-7");
        assert_eq!(of("The edge cases are done."), "edge-cases");
        for line in [
            "step 8 done",
            "Step 2 is not complete",
            "step 2, then step 3 done",
            "steps done",
            "step",
            "done",
            "the work is done",
        ] {
            assert_eq!(step(line), None, "{line}");
        }
    }
}
