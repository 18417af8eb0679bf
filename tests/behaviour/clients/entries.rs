//! Hook entries whose arguments a client has dropped.

use std::path::Path;

use super::{BEFORE_SHELL, guarded_project, shell_event};

#[test]
fn a_call_without_arguments_is_the_hook() {
    let project = guarded_project();
    for (client, name) in BEFORE_SHELL {
        let answer = project.run_bare(&shell_event(&project, client, name, "git tag v1"));
        assert!(answer.whole().contains("releases are tagged"), "{client}: {}", answer.whole());
    }
}

#[test]
fn a_hook_entry_without_arguments_and_without_an_event_is_told_to_the_user() {
    let project = guarded_project();
    for input in ["", "hello", " \n"] {
        let answer = project.run_bare(input.as_bytes());
        assert_eq!(answer.code, Some(0), "{}", answer.whole());
        assert!(
            answer.stdout.contains("the hook entry has a mistake: it names no command"),
            "{}",
            answer.whole()
        );
    }
}

#[test]
fn a_plugin_guards_where_the_client_drops_the_arguments() {
    for plugin in ["isdlc", "rodin", "taskie", "tdd-planner"] {
        let project = guarded_project();
        let script =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("plugins").join(plugin).join("hooks/provost.sh");
        let answer =
            project.run_script(&script, &shell_event(&project, "codex", "PreToolUse.Bash", "git tag v1"));
        assert!(answer.whole().contains("releases are tagged"), "{plugin}: {}", answer.whole());
    }
}
