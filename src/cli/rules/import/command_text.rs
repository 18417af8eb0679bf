//! Command lines in the rules of other tools, as patterns of `runs`.

use crate::shell::pattern::{CommandPattern, END};

/// What may follow the words of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    Anything,
    Nothing,
}

/// A command in a source, as a pattern.
pub(super) struct CommandPatternText {
    /// The value of `runs`.
    pub(super) pattern: String,
    /// The shortest line that the source matches.
    pub(super) line: String,
    /// How the pattern differs from the source.
    pub(super) difference: Option<&'static str>,
}

/// Reads words in which `*` is any text. The error says why they cannot be said.
pub(super) fn read_command(text: &str, rest: Rest) -> Result<CommandPatternText, String> {
    let mut words: Vec<&str> = text.split_whitespace().collect();
    let mut difference = None;
    match words.as_mut_slice() {
        [program] if program.ends_with('*') => {
            *program = program.trim_end_matches('*');
            difference = Some("the rule matches only the program with exactly this name");
        }
        // Each letter of short options counts, so it makes no difference if more follow.
        [_, .., option] if option.starts_with('-') && !option.starts_with("--") => {
            *option = option.trim_end_matches('*');
        }
        _ => {}
    }
    let is_spanning = |at: usize| {
        let is_inner = at == 0 || at + 1 < words.len();
        words[at] == "*" || is_inner && words[at].contains('*')
    };
    let spanning = (0..words.len()).find(|at| is_spanning(*at)).map(|at| words[at]);
    if let Some(word) = spanning {
        let how = "stands for any text, and in a rule for text within one word";
        return Err(format!("the wildcard `{word}` {how}"));
    }
    if words.iter().any(|word| word.trim_end_matches('*').contains('*')) {
        difference = Some("the wildcard stands for text within one word");
    }
    let alternatives: Vec<Vec<String>> = words.iter().map(|word| vec![(*word).to_owned()]).collect();
    let mut pattern = join_with(&alternatives, &['*'])?;
    if rest == Rest::Nothing {
        pattern = format!("{pattern} {END}");
    }
    let difference = difference.or_else(|| describe_difference(&pattern));
    Ok(CommandPatternText { pattern, line: words.join(" ").replace('*', ""), difference })
}

/// Joins words, each with its alternatives, into a pattern. No character is a wildcard.
pub(super) fn join_words(words: &[Vec<String>]) -> Result<String, String> {
    join_with(words, &[])
}

/// Joins words in which some wildcards of patterns are allowed.
pub(super) fn join_with(words: &[Vec<String>], wildcards: &[char]) -> Result<String, String> {
    if words.is_empty() {
        return Err("it names no program".into());
    }
    for word in words.iter().flatten().filter(|word| *word != END) {
        if word.is_empty() {
            return Err("an empty word cannot be said".into());
        }
        let is_wildcard = |c: char| "*?[]".contains(c) && !wildcards.contains(&c);
        if word.contains(is_wildcard) {
            return Err(format!("`{word}` has a wildcard, which a rule cannot say here"));
        }
        let is_shell = |c: char| c.is_whitespace() || "|&;<>()$`\"'\\{}!#".contains(c);
        if word.contains(is_shell) {
            return Err(format!("`{word}` has characters of the shell, and a rule names one program"));
        }
    }
    join_values(words.iter().map(|alternatives| alternatives.join("|")).collect())
}

/// Writes `-X DELETE` as `-X=DELETE` if the program takes the second word for the value of the first.
fn join_values(mut words: Vec<String>) -> Result<String, String> {
    loop {
        let text = words.join(" ");
        let Err(error) = CommandPattern::parse(&text) else { return Ok(text) };
        let value = text[..error.offset].matches(' ').count();
        if !error.is_separate_value || value == 0 {
            return Err(error.message);
        }
        let joined: Vec<String> = words[value - 1]
            .split('|')
            .flat_map(|option| words[value].split('|').map(move |value| format!("{option}={value}")))
            .collect();
        words.splice(value - 1..=value, [joined.join("|")]);
    }
}

/// How a pattern of `runs` differs from the same words as the first words of a command.
pub(super) fn describe_difference(pattern: &str) -> Option<&'static str> {
    let has_option = pattern.split(' ').skip(1).any(|word| word.split('|').any(|part| part.starts_with('-')));
    (has_option && !pattern.ends_with(END))
        .then_some("the rule matches the option wherever it stands in the command")
}
