//! Command lines in the rules of other tools, as patterns of `runs`.

/// A command in a source, as a pattern.
pub(super) struct CommandPatternText {
    /// The value of `runs`.
    pub(super) pattern: String,
    /// The line that the source wrote, without its wildcard.
    pub(super) line: String,
    /// More may follow in the source. A pattern of `runs` always means that.
    pub(super) is_prefix: bool,
}

/// Reads `git push:*`, `git push *` or `git push`. The error says why it cannot be said.
pub(super) fn read_command(text: &str) -> Result<CommandPatternText, String> {
    let text = text.trim();
    let (line, is_prefix) = match text.strip_suffix(":*").or_else(|| text.strip_suffix(" *")) {
        Some(line) => (line.trim(), true),
        None => (text, false),
    };
    let words: Vec<Vec<String>> = line.split_whitespace().map(|word| vec![word.to_owned()]).collect();
    Ok(CommandPatternText { pattern: join_words(&words)?, line: line.to_owned(), is_prefix })
}

/// Joins words, each with its alternatives, into a pattern.
pub(super) fn join_words(words: &[Vec<String>]) -> Result<String, String> {
    if words.is_empty() {
        return Err("it names no program".into());
    }
    for word in words.iter().flatten() {
        if word.is_empty() {
            return Err("an empty word cannot be said".into());
        }
        if word.contains(['*', '?', '[', ']']) {
            return Err(format!(
                "the wildcard `{word}` within a command stands for text, and in a rule for one whole word"
            ));
        }
        let is_shell = |c: char| c.is_whitespace() || "|&;<>()$`\"'\\{}!#".contains(c);
        if word.contains(is_shell) {
            return Err(format!("`{word}` has characters of the shell, and a rule names one program"));
        }
    }
    Ok(words.iter().map(|alternatives| alternatives.join("|")).collect::<Vec<_>>().join(" "))
}

/// How a pattern of `runs` differs from the same words as a prefix of the text.
pub(super) fn describe_difference(pattern: &str, is_prefix: bool) -> Option<&'static str> {
    let has_option = pattern.split(' ').skip(1).any(|word| word.split('|').any(|part| part.starts_with('-')));
    match (has_option, is_prefix) {
        (true, _) => Some("the rule matches the option wherever it stands in the command"),
        (false, false) => Some("the rule also matches the command with more arguments"),
        (false, true) => None,
    }
}
