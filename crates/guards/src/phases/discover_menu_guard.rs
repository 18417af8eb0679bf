//! `discover-menu-guard`: warns if a discovery shows another menu than it should.
//!
//! A menu is a short run of numbered options near each other, most of which are options of a discovery,
//! current or removed. A list about something else is not a menu, even if it contains these words.

use super::delegation::AgentReply;
use super::prelude::*;

/// An option of the menu: its name, and the words that identify it.
struct MenuOption {
    name: &'static str,
    words: &'static [&'static [&'static str]],
}

const REQUIRED: &[MenuOption] = &[
    MenuOption { name: "New Project", words: &[&["new", "project"]] },
    MenuOption { name: "Existing Project", words: &[&["existing", "project"]] },
    MenuOption { name: "Chat / Explore", words: &[&["chat"], &["explore"]] },
];

const REMOVED: &[MenuOption] = &[
    MenuOption { name: "Scoped Analysis", words: &[&["scoped", "analysis"]] },
    MenuOption { name: "Auto-detect", words: &[&["auto", "detect"], &["autodetect"]] },
];

/// A shorter answer contains no menu.
const SHORTEST: usize = 50;
/// The name of an option is within its first words.
const NAMED_IN: usize = 4;
/// Options of one menu have at most so many bytes between them, for their descriptions.
const NEAR: usize = 600;

pub fn judge(event: &Event, workspace: &Workspace) -> Option<Opinion> {
    let reply = AgentReply::from_event(event)?;
    let is_discovery = match &reply.agent {
        Some(_) => reply.is_from_discovery(),
        None => reply.prompts.iter().any(|text| text.to_lowercase().contains("discover")),
    };
    if !is_discovery || WorkflowContext::find(event, workspace).is_none() {
        return None;
    }
    // If the answer shows no menu, the menu in the prompt counts.
    let [prompt, _] = reply.prompts;
    let Some(menu) = find_menu(reply.text).or_else(|| find_menu(prompt)) else {
        return Some(Opinion::silent());
    };
    let is_shown = |option: &MenuOption| menu.iter().any(|label| option.is_named_in(label));
    let missing = list_names(REQUIRED, |option| !is_shown(option))
        .map(|names| format!("Incorrect discover menu detected.\n  Missing options: {names}"));
    let removed = list_names(REMOVED, is_shown)
        .map(|names| format!("Discover menu contains removed options.\n  Found: {names}"));
    let warnings = [missing, removed].into_iter().flatten();
    let warnings: Vec<String> =
        warnings.map(|text| format!("[discover-menu-guard] WARNING: {text}")).collect();
    if warnings.is_empty() {
        return Some(Opinion::silent());
    }
    Some(super::warn(warnings.join("\n"), workspace))
}

impl MenuOption {
    fn is_named_in(&self, label: &[String]) -> bool {
        let has = |name: &[&str]| label.windows(name.len()).any(|part| part.iter().eq(name));
        self.words.iter().any(|name| has(name))
    }
}

fn list_names(options: &[MenuOption], is_listed: impl Fn(&MenuOption) -> bool) -> Option<String> {
    let listed = options.iter().filter(|option| is_listed(option)).map(|option| option.name);
    Some(listed.collect::<Vec<_>>().join(", ")).filter(|names| !names.is_empty())
}

/// The first words of each option of the menu in a text.
fn find_menu(text: &str) -> Option<Vec<Vec<String>>> {
    if text.chars().count() < SHORTEST {
        return None;
    }
    // An answer that came as an object is JSON here.
    let text = text.replace("\\n", "\n");
    let mut runs: Vec<Vec<Vec<String>>> = Vec::new();
    let mut last: Option<(usize, u32)> = None;
    let marks = find_marks(&text);
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
    let is_option =
        |label: &&Vec<String>| REQUIRED.iter().chain(REMOVED).any(|option| option.is_named_in(label));
    runs.into_iter().find(|run| {
        let options = run.iter().filter(is_option).count();
        options >= 2 && options * 2 > run.len()
    })
}

/// The number before an option.
struct OptionNumber {
    from: usize,
    to: usize,
    number: u32,
}

/// `[1]`, `1.`, `1)` and `option 1`, on their own lines or on one line.
fn find_marks(text: &str) -> Vec<OptionNumber> {
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
            found.push(OptionNumber { from, to, number });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count_options(text: &str) -> Option<usize> {
        find_menu(&format!("{text}{}", " ".repeat(SHORTEST))).map(|menu| menu.len())
    }

    #[test]
    fn a_menu_is_found_with_any_numbering() {
        for text in [
            "[1] New Project\n[2] Existing Project\n[3] Chat / Explore",
            "1. New Project\n2. Existing Project\n3. Explore",
            "**1.** New Project\n**2.** Existing Project\n**3.** Explore",
            "1) new project 2) existing project 3) chat",
            "Option 1: New Project\n  Begin.\n\nOption 2: Existing Project\n  Look.\nOption 3 - Chat",
            r#"{"text":"Choose:\n1. Start a New Project\n2. Existing Project\n3. Auto-detect"}"#,
        ] {
            assert_eq!(count_options(text), Some(3), "{text}");
        }
        assert_eq!(find_menu("1. New Project 2. Existing Project"), None, "too short");
    }

    #[test]
    fn a_list_about_something_else_is_not_a_menu() {
        for text in [
            "1. The code lies in src\n2. Tests lie in tests\n3. There is a chat module in the existing project",
            "1. New project files were found\n2. Fix the parser\n3. Run the tests\n4. Chat is broken",
            "1. New Project\n3. Existing Project",
            "Version 1.5 of a new project, 2.5 of an existing project",
            "a new project and an existing project, chat or explore",
            "4294967295. New Project 0. Existing Project",
            "array[1] new project array[2] existing project",
        ] {
            assert_eq!(count_options(text), None, "{text}");
        }
        for unit in ["1", "1a", "[1", "1 ", "*1", "1.\\n"] {
            assert_eq!(count_options(&unit.repeat(1 << 16)), None, "{unit}");
        }
        let far = format!("1. New Project\n{}\n2. Existing Project", "x ".repeat(NEAR));
        assert_eq!(count_options(&far), None);
    }
}
