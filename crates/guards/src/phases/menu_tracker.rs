//! `menu-tracker`: records how often the user was asked in the requirements phase, and what they chose.
//!
//! The guard reads the agent's answer, not its prompt: a prompt that describes the menu has shown it to
//! nobody. A choice must be said as one: "I selected a database" and "the selection criteria" are not
//! choices.

use super::delegation::AgentReply;
use super::phase_records::{append_to_field, set_field};
use super::prelude::*;
use super::requirements::{ELICITATION_COUNTER, ELICITATION_RECORD};

const PHASE: &str = "01-requirements";
/// Limit for the lists in the record.
const MOST: usize = 50;
/// The options of the menu: their letters and names.
const CHOICES: &[(&str, &str)] =
    &[("A", "adjust"), ("R", "refine"), ("C", "continue"), ("S", "save"), ("X", "exit")];
/// Two of these, or of the options with their letters, make a menu.
const MENU_PHRASES: &[&str] = &["your choice:", "enter selection", "select an option"];

/// What an answer shows of the conversation with the user.
#[derive(Debug, Default, PartialEq, Eq)]
struct ElicitationSigns {
    shows_menu: bool,
    choice: Option<&'static str>,
    /// The names of the steps that are done.
    steps: Vec<String>,
}

pub fn judge(event: &Event, workspace: &Workspace) -> Option<Opinion> {
    let reply = AgentReply::from_event(event)?;
    let context = WorkflowContext::find(event, workspace)?;
    let phase = CurrentPhase::find(context, workspace)?;
    phase.state.workflow()?;
    if !phase_names::is_same_phase(&phase.name, PHASE) {
        return None;
    }
    // An agent of another phase has other conversations. An agent that is not in the manifest may have this
    // one.
    let agent = reply.agent.unwrap_or_default();
    let own = context.manifest(workspace).and_then(|manifest| manifest.find_agent_phase(&agent));
    if own.is_some_and(|own| own != "all" && !phase_names::is_same_phase(own, PHASE)) {
        return None;
    }
    let signs = ElicitationSigns::read(reply.text);
    if signs == ElicitationSigns::default() {
        return None;
    }
    let evidence =
        vec![format!("menu: {}, choice: {:?}, steps: {:?}", signs.shows_menu, signs.choice, signs.steps)];
    let to_model = match signs.choice {
        Some("save") => Some("ELICITATION COMPLETE: the person chose Save; the requirements are final."),
        Some("exit") => Some("ELICITATION COMPLETE: the person chose Exit; the talk is over."),
        Some("continue") => Some("ELICITATION: the person chose Continue; the next step follows."),
        _ => None,
    };
    let now = workspace.format_now();
    phase.change_record(ELICITATION_RECORD, move |record| signs.update_record(record, &now));
    Some(Opinion { to_model: to_model.map(str::to_owned), evidence, ..Opinion::default() })
}

impl ElicitationSigns {
    fn read(text: &str) -> Self {
        // Emphasis does not belong to the menu.
        let plain: String = text.chars().filter(|c| !matches!(c, '*' | '`' | '_')).collect();
        let folded = plain.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
        let options = CHOICES.iter().map(|(letter, name)| format!("[{}] {name}", letter.to_lowercase()));
        let options = options.filter(|option| folded.contains(option)).count();
        let phrases = MENU_PHRASES.iter().filter(|phrase| folded.contains(**phrase)).count();
        Self {
            shows_menu: options + phrases >= 2,
            choice: plain.lines().find_map(find_choice).or_else(|| infer_choice(&folded)),
            steps: plain.lines().filter_map(find_step).collect(),
        }
    }

    fn update_record(&self, record: &mut Map<String, Value>, now: &str) {
        set_field(record, "required", true);
        if !record.contains_key("completed") {
            set_field(record, "completed", false);
        }
        let known = record.get(ELICITATION_COUNTER).and_then(Value::as_u64).unwrap_or(0);
        // A user who chose was asked, even if no answer has shown the menu.
        let is_asked = self.shows_menu || self.choice.is_some() && known == 0;
        set_field(record, ELICITATION_COUNTER, known + u64::from(is_asked));
        if self.shows_menu {
            set_field(record, "last_menu_at", now);
        }
        for step in &self.steps {
            set_field(record, "last_step_completed", step.as_str());
            let known = record.get("steps_completed").and_then(Value::as_array);
            if !known.is_some_and(|known| known.contains(&json!(step))) {
                append_to_field(record, "steps_completed", json!(step), MOST);
            }
        }
        let Some(choice) = self.choice else { return };
        append_to_field(record, "selections", json!({"selection": choice, "timestamp": now}), MOST);
        set_field(record, "last_selection", choice);
        set_field(record, "last_selection_at", now);
        if matches!(choice, "save" | "exit") {
            set_field(record, "completed", true);
            set_field(record, "completed_at", now);
            set_field(record, "final_selection", choice);
        }
    }
}

/// The choice in a line: "selected \[C\]", "chose Save.", "Selection: C (Continue)", "user picked S".
///
/// After the verb there must be a letter in brackets, a capital letter with its own name or nothing after
/// it, or the name of an option with nothing after it. A line with several options in brackets is the menu.
fn find_choice(line: &str) -> Option<&'static str> {
    const VERBS: &[&str] = &["selected", "selection", "chose", "chosen", "picked"];
    const BETWEEN: &[&str] = &["is", "was", "option", "the", "has", "been"];
    let in_brackets = |letter: &str| [format!("[{letter}]"), format!("({letter})")];
    let capitals = line.to_uppercase();
    let has_option = |letter: &str| in_brackets(letter).iter().any(|mark| capitals.contains(mark));
    if CHOICES.iter().filter(|(letter, _)| has_option(letter)).count() > 1 {
        return None;
    }
    let trim_word = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let ends = |word: &str| word.ends_with(['.', ',', ';', '!', ')', '"', '\'']);
    let words: Vec<&str> = line.split_whitespace().collect();
    let verbs = words.iter().enumerate().filter(|(at, word)| {
        let is_prompt =
            at.checked_sub(1).is_some_and(|before| matches!(&*trim_word(words[before]), "enter" | "your"));
        VERBS.contains(&trim_word(word).as_str()) && !ends(word) && !is_prompt
    });
    verbs.into_iter().find_map(|(at, verb)| {
        let is_sign = |word: &str| matches!(word, "-" | ":" | "=" | "–" | "—");
        let is_label = verb.ends_with(':') || words.get(at + 1).is_some_and(|next| is_sign(next));
        let mut rest = words[at + 1..].iter().filter(|word| !is_sign(word));
        let first = rest.find(|word| !BETWEEN.contains(&trim_word(word).as_str()))?;
        let then = rest.next();
        CHOICES.iter().find_map(|(letter, name)| {
            let is_capital = first.contains(*letter);
            let own_name = then.is_some_and(|then| trim_word(then) == *name);
            let is_last = ends(first) || then.is_none();
            let for_own =
                then == Some(&"to") && rest.clone().next().is_some_and(|word| trim_word(word) == *name);
            let is_alone = own_name || is_last && (is_capital || is_label) || for_own && is_capital;
            let is_letter =
                in_brackets(letter).iter().any(|mark| first.to_uppercase().starts_with(mark.as_str()))
                    || trim_word(first) == letter.to_lowercase() && is_alone;
            let is_name = trim_word(first) == *name
                && (is_last || then.is_some_and(|then| trim_word(then) == "option"));
            (is_letter || is_name).then_some(*name)
        })
    })
}

/// The choice that must precede what an answer reports.
fn infer_choice(folded: &str) -> Option<&'static str> {
    const SIGNS: &[(&str, &str)] = &[
        ("proceeding to next step", "continue"),
        ("proceeding to the next step", "continue"),
        ("saving artifacts", "save"),
        ("artifacts saved", "save"),
        ("requirements finalized", "save"),
    ];
    SIGNS.iter().find(|(sign, _)| folded.contains(sign)).map(|(_, choice)| *choice)
}

/// The name of the step that a line calls done: "Step 3: user stories - complete", "User stories complete". A
/// step that has only a number is `step-3`.
fn find_step(line: &str) -> Option<String> {
    const REACH: usize = 8;
    /// Steps that need no number.
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
    let words: Vec<String> = line
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .filter(|word| !FILLING.contains(&word.as_str()))
        .collect();
    let end = words.iter().position(|word| matches!(word.as_str(), "complete" | "completed" | "done"))?;
    let words = &words[..end];
    if words.iter().any(|word| word == "not") {
        return None;
    }
    let number = |at: usize| words.get(at + 1)?.parse::<u64>().ok().filter(|step| (1..=7).contains(step));
    match words.iter().rposition(|word| word == "step") {
        Some(at) if at + 1 == end => Some(words[..at].join("-")).filter(|_| (1..=REACH).contains(&at)),
        Some(at) => {
            let number = number(at).filter(|_| end - at <= REACH + 2 && !words[..at].contains(&words[at]))?;
            let is_number = |word: &String| word.bytes().all(|byte| byte.is_ascii_digit());
            let name = match &words[at + 2..] {
                // "Step 3 of 7", "step 3/7".
                [of, total, name @ ..] if of == "of" && is_number(total) => name,
                [total, name @ ..] if is_number(total) => name,
                name => name,
            };
            let name = name.join("-");
            Some(if name.is_empty() { format!("step-{number}") } else { name })
        }
        None => NAMED.contains(&words.join(" ").as_str()).then(|| words.join("-")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Else the record would be completed without a choice, and the gate would stay closed.
    #[test]
    fn a_choice_counts_as_a_menu() {
        let mut record = Map::new();
        ElicitationSigns::read("The user selected [S] Save").update_record(&mut record, "t");
        assert_eq!((&record["menu_interactions"], &record["completed"]), (&json!(1), &json!(true)));
        ElicitationSigns::read("The user selected [S] Save").update_record(&mut record, "t");
        assert_eq!(record["menu_interactions"], 1);
    }

    #[test]
    fn only_an_explicit_choice_counts() {
        for (line, wanted) in [
            ("User selected: C", "continue"),
            ("The user selected [A] Adjust", "adjust"),
            ("Selection: **S** (Save)", "save"),
            ("selection was R.", "refine"),
            ("You chose Save.", "save"),
            ("they chose the continue option", "continue"),
            ("user picked X - Exit, so we stop", "exit"),
            ("Artifacts saved to docs", "save"),
            ("proceeding to the next step", "continue"),
        ] {
            assert_eq!(ElicitationSigns::read(line).choice, Some(wanted), "{line}");
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
            assert_eq!(ElicitationSigns::read(line).choice, None, "{line}");
        }
    }

    #[test]
    fn two_marks_make_a_menu() {
        assert!(ElicitationSigns::read("**[A]** Adjust\n[C]  Continue").shows_menu);
        assert!(ElicitationSigns::read("[S] Save\nYour choice:").shows_menu);
        assert!(
            !ElicitationSigns::read("[A] Adjust").shows_menu
                && !ElicitationSigns::read("adjust and continue").shows_menu
        );
    }

    #[test]
    fn a_step_is_completed_in_its_own_line() {
        let step = |line: &str| find_step(line).unwrap_or_default();
        assert_eq!(step("Step 3: user stories - complete"), "user-stories");
        assert_eq!(step("step 7 is done"), "step-7");
        assert_eq!(step("The edge cases are done."), "edge-cases");
        for line in [
            "step 8 done",
            "Step 2 is not complete",
            "step 2, then step 3 done",
            "steps done",
            "step",
            "done",
            "the work is done",
        ] {
            assert_eq!(find_step(line), None, "{line}");
        }
    }
}
