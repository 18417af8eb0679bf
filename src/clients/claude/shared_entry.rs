//! The command line of a hook entry in a settings file that a team shares.
//!
//! Where the program of a hook is missing, Claude Code shows an error for every event. A teammate may not have
//! Provost, and has it in another directory if at all. So a shared entry is a line for the shell: it looks for
//! `provost` where people and cargo put programs, and where there is none it is quiet. Only the start of a
//! session says so, and an entry that has to be closed blocks with the reason.

use crate::clients::Needed;

/// A client that was started from a desktop does not have the directories of a login shell on its PATH.
const FIND: &str = "PATH=$PATH:~/.cargo/bin:~/.local/bin; command -v provost >/dev/null || ";
const RUN: &str = "; exec provost ";

/// What the user reads once a session.
const UNCHECKED: &str = r#"{"systemMessage": "[provost] Tool calls are not checked: this project uses Provost, and there is no program provost on the PATH. To fix: install Provost."}"#;
/// Blocks a call. With exit code 2, Claude Code would show this whole command line before the reason.
const BLOCKED: &str = r#"{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "[provost] Not run: this project has it checked by Provost, and there is no program provost on the PATH. To fix: end here and say so; the user can install Provost."}}"#;

/// The command of an entry that calls Provost with these arguments.
pub(super) fn build_command(needed: &Needed, arguments: &[String]) -> String {
    let otherwise = match (needed.blocks_on_failure, needed.event) {
        (true, _) => format!("{{ echo '{BLOCKED}'; exit 0; }}"),
        (false, "SessionStart") => format!("{{ echo '{UNCHECKED}'; exit 0; }}"),
        (false, _) => "exit 0".to_owned(),
    };
    format!("{FIND}{otherwise}{RUN}{}", arguments.join(" "))
}

/// The arguments of Provost in a command of this form; `None`: it has another form.
pub(super) fn parse_arguments(command: &str) -> Option<Vec<&str>> {
    let (_, arguments) = command.strip_prefix(FIND)?.rsplit_once(RUN)?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '-' | '_');
    arguments.chars().all(is_plain).then(|| arguments.split(' ').collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_recognised_by_its_form() {
        let arguments_of = ["hook".to_owned(), "--pack".to_owned(), "plan-gate".to_owned()];
        for (event, blocks_on_failure) in [("SessionStart", false), ("Stop", false), ("PreToolUse", true)] {
            let needed = Needed { event, matcher: None, seconds: 10, blocks_on_failure };
            let line = build_command(&needed, &arguments_of);
            assert_eq!(parse_arguments(&line), Some(vec!["hook", "--pack", "plan-gate"]), "{line}");
            for other in [format!("{line}; rm -r x"), format!("{line} > log"), format!("true; {line}")] {
                assert_eq!(parse_arguments(&other), None, "{other}");
            }
        }
        assert_eq!(parse_arguments("provost hook --pack self"), None);
    }
}
