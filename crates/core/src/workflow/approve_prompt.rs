//! The prompts of the user that approve an instance or name one.

use super::WorkflowTable;

/// What a prompt begins with that approves an instance.
pub const APPROVE_PROMPT: &str = "provost approve";
/// How many bytes of a prompt are looked at.
const LONGEST_LINE: usize = 2000;

/// What a prompt asks for.
#[derive(Debug, PartialEq, Eq)]
pub enum PromptRequest<'p> {
    /// `provost approve NAME`. The name is empty if it is missing.
    Approve(&'p str),
    /// A command that starts the work, `/opsx:apply NAME`, and the table that it belongs to.
    Command { workflow: &'p str, name: Option<&'p str> },
}

impl<'p> PromptRequest<'p> {
    /// Reads the first line of a prompt.
    pub fn parse(text: &'p str, tables: &'p [WorkflowTable]) -> Option<Self> {
        let line = text.trim_start().lines().next()?;
        let end = (0..=LONGEST_LINE.min(line.len())).rev().find(|at| line.is_char_boundary(*at))?;
        let mut words = line[..end].trim_start_matches(is_quote).split_whitespace();
        let first = words.next()?;
        if first.eq_ignore_ascii_case("provost") {
            let is_approval = words.next()?.trim_end_matches([':', '`']).eq_ignore_ascii_case("approve");
            return is_approval.then(|| Self::Approve(words.next().map_or("", strip_name)));
        }
        let table = tables.iter().find(|table| table.commands.iter().any(|command| command == first))?;
        let name = words.next().map(strip_name).filter(|name| !name.is_empty() && !name.starts_with('-'));
        Some(Self::Command { workflow: &table.name, name })
    }
}

/// A name without quotes around it and without the end of a sentence.
fn strip_name(word: &str) -> &str {
    word.trim_matches(is_quote).trim_end_matches([',', ';', '!', '.']).trim_matches(is_quote)
}

fn is_quote(c: char) -> bool {
    matches!(c, '`' | '"' | '\'')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workflow::find_built_in;

    #[test]
    fn approvals_are_read_in_the_forms_that_people_type() {
        for text in [
            "provost approve add-login",
            "  Provost Approve add-login, and begin",
            "`provost approve add-login`",
            "provost approve: `add-login`.",
            "provost approve add-login\nthen go on",
        ] {
            assert_eq!(PromptRequest::parse(text, &[]), Some(PromptRequest::Approve("add-login")), "{text}");
        }
        assert_eq!(PromptRequest::parse("provost approve", &[]), Some(PromptRequest::Approve("")));
        for text in [
            "please provost approve x",
            "provost approved x",
            "provost",
            "",
            "> provost approve x",
            "provost override x",
        ] {
            assert_eq!(PromptRequest::parse(text, &[]), None, "{text}");
        }
        assert_eq!(PromptRequest::parse(&"é".repeat(5000), &[]), None);
    }

    #[test]
    fn a_command_says_which_instance_is_meant() {
        let tables = [find_built_in("openspec").unwrap(), find_built_in("spec-kit").unwrap()];
        let command = |workflow, name| Some(PromptRequest::Command { workflow, name });
        assert_eq!(
            PromptRequest::parse("/opsx:apply add-login", &tables),
            command("openspec", Some("add-login"))
        );
        assert_eq!(PromptRequest::parse("/speckit-implement", &tables), command("spec-kit", None));
        assert_eq!(PromptRequest::parse("/opsx:applyx add-login", &tables), None);
    }
}
