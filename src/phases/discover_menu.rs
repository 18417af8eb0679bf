//! `discover-menu-guard`: a discovery that shows another menu than it should is remarked.
//!
//! A menu is a short run of numbered options that stand near each other and of which most are ones of
//! a discovery, old or new. A list about something else is none, whatever words are in it.

use super::delegation::Answered;
use super::ground::Ground;
use crate::decision::{Fault, Opinion};
use crate::event::Event;
use crate::workspace::Workspace;

/// An option of the menu: its name, and the words by which it is known.
struct Choice {
    name: &'static str,
    said: &'static [&'static [&'static str]],
}

const REQUIRED: &[Choice] = &[
    Choice { name: "New Project", said: &[&["new", "project"]] },
    Choice { name: "Existing Project", said: &[&["existing", "project"]] },
    Choice { name: "Chat / Explore", said: &[&["chat"], &["explore"]] },
];

const REMOVED: &[Choice] = &[
    Choice { name: "Scoped Analysis", said: &[&["scoped", "analysis"]] },
    Choice { name: "Auto-detect", said: &[&["auto", "detect"], &["autodetect"]] },
];

/// A shorter answer holds no menu.
const SHORTEST: usize = 50;
/// An option is named in its first words.
const NAMED_IN: usize = 4;
/// Options of one menu have at most so many bytes between them, for what each of them does.
const NEAR: usize = 600;

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    let Some(answered) = Answered::of(event) else { return Ok(Opinion::unconcerned()) };
    let is_discovery = match &answered.agent {
        Some(_) => answered.is_discovery(),
        None => answered.told.iter().any(|text| text.to_lowercase().contains("discover")),
    };
    if !is_discovery || Ground::of(event, workspace).is_none() {
        return Ok(Opinion::unconcerned());
    }
    // Where the answer shows no menu, the one that the agent was told to show counts.
    let [prompt, _] = answered.told;
    let Some(menu) = menu(answered.text).or_else(|| menu(prompt)) else { return Ok(Opinion::silence()) };
    let missing = named(REQUIRED, |choice| !menu.iter().any(|label| choice.is(label)));
    let removed = named(REMOVED, |choice| menu.iter().any(|label| choice.is(label)));
    let mut findings = Vec::new();
    if !missing.is_empty() {
        findings.push(format!(
            "[discover-menu-guard] WARNING: Incorrect discover menu detected.\n  Missing options: {missing}"
        ));
    }
    if !removed.is_empty() {
        findings.push(format!(
            "[discover-menu-guard] WARNING: Discover menu contains removed options.\n  Found: {removed}"
        ));
    }
    if findings.is_empty() {
        return Ok(Opinion::silence());
    }
    Ok(super::remark(findings.join("\n"), workspace))
}

impl Choice {
    fn is(&self, label: &[String]) -> bool {
        let has = |name: &[&str]| label.windows(name.len()).any(|part| part.iter().eq(name));
        self.said.iter().any(|name| has(name))
    }
}

fn named(choices: &[Choice], which: impl Fn(&Choice) -> bool) -> String {
    choices.iter().filter(|choice| which(choice)).map(|choice| choice.name).collect::<Vec<_>>().join(", ")
}

/// The first words of each option of the menu in a text.
fn menu(text: &str) -> Option<Vec<Vec<String>>> {
    if text.chars().count() < SHORTEST {
        return None;
    }
    // An answer that came as an object is shown as JSON.
    let text = text.replace("\\n", "\n");
    let mut runs: Vec<Vec<Vec<String>>> = Vec::new();
    let mut last: Option<(usize, u32)> = None;
    let marks = marks(&text);
    for (index, mark) in marks.iter().enumerate() {
        let end = marks.get(index + 1).map_or(text.len(), |next| next.from);
        let line = text[mark.to..end].lines().next().unwrap_or_default();
        let label = line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let label = label.take(NAMED_IN).map(str::to_lowercase).collect();
        let follows = last
            .is_some_and(|(at, number)| mark.number.checked_sub(1) == Some(number) && mark.from - at < NEAR);
        match runs.last_mut() {
            Some(run) if follows => run.push(label),
            _ => runs.push(vec![label]),
        }
        last = Some((mark.to, mark.number));
    }
    let is_known = |label: &&Vec<String>| REQUIRED.iter().chain(REMOVED).any(|choice| choice.is(label));
    let known = |run: &Vec<Vec<String>>| run.iter().filter(is_known).count();
    runs.into_iter().find(|run| known(run) >= 2 && known(run) * 2 > run.len())
}

/// A number that stands before an option.
struct Mark {
    from: usize,
    to: usize,
    number: u32,
}

/// `[1]`, `1.`, `1)` and `option 1`, on lines of their own or behind each other.
fn marks(text: &str) -> Vec<Mark> {
    let is_digit = |c: char| c.is_ascii_digit();
    let mut found = Vec::new();
    for (from, _) in text.match_indices(is_digit) {
        let before = &text[..from];
        if before.ends_with(is_digit) {
            continue;
        }
        let behind = text[from..].trim_start_matches(is_digit);
        let to = text.len() - behind.len();
        let Ok(number) = text[from..to].parse() else { continue };
        let margin = before.trim_end_matches(['*', '_', '`', '"', '(']);
        let is_first = margin.is_empty() || margin.ends_with(char::is_whitespace) || before.ends_with('"');
        let is_in_brackets =
            before.strip_suffix('[').is_some_and(|rest| !rest.ends_with(char::is_alphanumeric))
                && behind.starts_with(']');
        let ends =
            |end: char| behind.strip_prefix(end).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
        let follows_option = || {
            let word = before.trim_end().rsplit(|c: char| !c.is_alphanumeric()).next();
            word.is_some_and(|word| word.eq_ignore_ascii_case("option"))
        };
        let is_mark = is_in_brackets
            || is_first && (ends('.') || ends(')'))
            || before.ends_with(' ') && follows_option();
        if is_mark {
            found.push(Mark { from, to, number });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Option<usize> {
        menu(&format!("{text}{}", " ".repeat(SHORTEST))).map(|menu| menu.len())
    }

    #[test]
    fn a_menu_is_found_however_it_is_numbered() {
        for text in [
            "[1] New Project\n[2] Existing Project\n[3] Chat / Explore",
            "1. New Project\n2. Existing Project\n3. Explore",
            "**1.** New Project\n**2.** Existing Project\n**3.** Explore",
            "1) new project 2) existing project 3) chat",
            "Option 1: New Project\n  Begin.\n\nOption 2: Existing Project\n  Look.\nOption 3 - Chat",
            r#"{"text":"Choose:\n1. Start a New Project\n2. Existing Project\n3. Auto-detect"}"#,
        ] {
            assert_eq!(shown(text), Some(3), "{text}");
        }
        assert_eq!(menu("1. New Project 2. Existing Project"), None, "too short");
    }

    #[test]
    fn a_list_about_something_else_is_none() {
        for text in [
            "1. The code lies in src\n2. Tests lie in tests\n3. There is a chat module in the existing project",
            "1. New project files were found\n2. Fix the parser\n3. Run the tests\n4. Chat is broken",
            "1. New Project\n3. Existing Project",
            "Version 1.5 of a new project, 2.5 of an existing project",
            "a new project and an existing project, chat or explore",
            "4294967295. New Project 0. Existing Project",
            "array[1] new project array[2] existing project",
        ] {
            assert_eq!(shown(text), None, "{text}");
        }
        for unit in ["1", "1a", "[1", "1 ", "*1", "1.\\n"] {
            assert_eq!(shown(&unit.repeat(1 << 16)), None, "{unit}");
        }
        let far = format!("1. New Project\n{}\n2. Existing Project", "x ".repeat(NEAR));
        assert_eq!(shown(&far), None);
    }
}
