//! The command line of a hook entry in a settings file that a team shares.
//!
//! If the program of a hook is missing, Claude Code shows an error for every event. A teammate may not have Provost, or
//! may have it in another directory. So a shared entry is a shell command: it looks for `provost` where people and cargo
//! install programs, and does nothing if there is none. Only the start of a session warns, and an entry that must block
//! on failure blocks with the reason.

use crate::NeededEntry;

/// If Claude Code was started from a desktop, its PATH lacks the directories of a login shell.
const FIND: &str = "PATH=$PATH:~/.cargo/bin:~/.local/bin; command -v provost >/dev/null || ";
const RUN: &str = "; exec provost ";

/// The warning at the start of a session.
const UNCHECKED: &str = r#"{"systemMessage": "[provost] Tool calls are not checked: this project uses Provost, and there is no program provost on the PATH. To fix: install Provost."}"#;
/// Blocks a call. With exit code 2, Claude Code would show this whole command line before the reason.
const BLOCKED: &str = r#"{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "[provost] Not run: this project has it checked by Provost, and there is no program provost on the PATH. To fix: end here and say so; the user can install Provost."}}"#;

/// The command of an entry that calls Provost with these arguments.
pub(super) fn build_command(needed: &NeededEntry, arguments: &[String]) -> String {
    let if_missing = match (needed.blocks_on_failure, needed.event) {
        (true, _) => format!("{{ echo '{BLOCKED}'; exit 0; }}"),
        (false, "SessionStart") => format!("{{ echo '{UNCHECKED}'; exit 0; }}"),
        (false, _) => "exit 0".to_owned(),
    };
    format!("{FIND}{if_missing}{RUN}{}", arguments.join(" "))
}

/// The arguments of Provost in a command of this form; `None` if it has another form.
pub(super) fn parse_arguments(command: &str) -> Option<Vec<&str>> {
    let (_, arguments) = command.strip_prefix(FIND)?.rsplit_once(RUN)?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '-' | '_');
    arguments.chars().all(is_plain).then(|| arguments.split(' ').collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_command_is_recognised() {
        let arguments = ["hook".to_owned(), "--pack".to_owned(), "plan-gate".to_owned()];
        for (event, blocks_on_failure) in [("SessionStart", false), ("Stop", false), ("PreToolUse", true)] {
            let needed = NeededEntry { event, matcher: None, seconds: 10, blocks_on_failure };
            let line = build_command(&needed, &arguments);
            assert_eq!(parse_arguments(&line), Some(vec!["hook", "--pack", "plan-gate"]), "{line}");
            for other in [format!("{line}; rm -r x"), format!("{line} > log"), format!("true; {line}")] {
                assert_eq!(parse_arguments(&other), None, "{other}");
            }
        }
        assert_eq!(parse_arguments("provost hook --pack self"), None);
    }
}
