//! Tasks that say to archive the change. They cannot be done before the archive, so they do not count against it.

use provost_core::workflow::tasks::TaskItem;

/// Whether a task says to archive its change, and nothing else: `Archive the change`, ``Run `openspec archive x` ``.
pub(crate) fn is_archive_task(task: &TaskItem) -> bool {
    /// A longer text says to do more.
    const LONGEST: usize = 120;
    const COMMANDS: &[&str] =
        &["openspec archive", "/opsx:archive", "openspec-archive-change", "/openspec:archive"];
    let text = task.text.to_lowercase().replace(['*', '_', '`', '"', '\''], "");
    if text.chars().count() > LONGEST {
        return false;
    }
    let names_command = COMMANDS.iter().any(|command| text.contains(command));
    let mut words = text.split_whitespace().map(|word| word.trim_end_matches(['.', ',', ':', ';', '!']));
    match words.next() {
        Some("archive" | "archiving") => {
            names_command || words.clone().next().is_none() || words.any(|word| word == "change")
        }
        Some("run" | "execute" | "use" | "call" | "finally" | "then") => names_command,
        _ => COMMANDS.iter().any(|command| text.starts_with(command)),
    }
}

#[cfg(test)]
mod tests {
    use provost_core::workflow::tasks::{TaskFormat, read_tasks};

    use super::*;

    fn is_archive(text: &str) -> bool {
        is_archive_task(&read_tasks(TaskFormat::Boxes, &format!("- [ ] {text}\n"))[0])
    }

    #[test]
    fn only_a_task_that_archives_its_change_is_one() {
        for text in [
            "4.3 Archive the change",
            "Archive this change with `openspec archive add-login`",
            "Archive.",
            "**Archive** change add-login",
            "Run `openspec archive add-login --yes`",
            "5.1 Run /opsx:archive",
            "`openspec archive add-login`",
        ] {
            assert!(is_archive(text), "{text}");
        }
        for text in [
            "Archive old log files",
            "Implement `openspec archive`",
            "Add a test for openspec archive",
            "Create the archive",
            "Change the archive format",
            "Run the tests",
            &format!("Archive the change {}", "and do much more ".repeat(10)),
        ] {
            assert!(!is_archive(text), "{text}");
        }
    }
}
