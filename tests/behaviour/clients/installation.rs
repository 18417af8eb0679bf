//! `provost init --client` and `uninstall` for clients whose hook files are JSON.

use std::fs;
use std::process::Output;

use crate::support::{TestProject, assert_shown};

/// Each client, and the files of both scopes.
const FILES: &[(&str, &str, &str)] = &[
    ("codex", ".codex/hooks.json", ".codex/hooks.json"),
    ("copilot", ".github/hooks/provost.json", ".copilot/hooks/provost.json"),
    ("gemini", ".gemini/settings.json", ".gemini/settings.json"),
    ("qwen", ".qwen/settings.json", ".qwen/settings.json"),
    ("droid", ".factory/settings.json", ".factory/settings.json"),
    ("grok", ".grok/hooks/provost.json", ".grok/hooks/provost.json"),
];

fn run(project: &TestProject, command: &str, client: &str, rest: &[&str]) -> Output {
    let mut arguments = vec!["--yes", "--client", client];
    arguments.extend(rest);
    let output = project.provost_command(command, &arguments).output().unwrap();
    assert!(output.status.success(), "{command} for {client}: {output:?}");
    output
}

#[test]
fn the_entries_of_each_client_have_its_events_and_units() {
    for (client, in_project, _) in FILES {
        let project = TestProject::unregistered();
        run(&project, "init", client, &["--rules", "off", "--pack", "phases"]);
        let text = fs::read_to_string(project.path.join(in_project)).unwrap();
        assert_shown!(format!("clients-entries-{client}"), project.shorten_paths(&text));
    }
}

#[test]
fn uninstalling_restores_each_file_byte_by_byte() {
    const USERS: &str = "{\n\t\"theme\": \"dark\",   \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"true\"}]}]}\n}";
    for (client, in_project, in_home) in FILES {
        for (scope, is_in_home, file) in [("project", false, in_project), ("user", true, in_home)] {
            for before in [None, Some(USERS)] {
                let project = TestProject::unregistered();
                let path = if is_in_home { &project.home } else { &project.path }.join(file);
                if let Some(text) = before {
                    fs::create_dir_all(path.parent().unwrap()).unwrap();
                    fs::write(&path, text).unwrap();
                }
                run(&project, "init", client, &["--scope", scope]);
                let installed = fs::read_to_string(&path).unwrap();
                assert!(
                    installed.contains(&format!("hook --client {client} --pack self")),
                    "{client}: {installed}"
                );
                let again = run(&project, "init", client, &["--scope", scope]);
                assert!(String::from_utf8_lossy(&again.stdout).contains("nothing to do"), "{client}");
                run(&project, "uninstall", client, &[]);
                assert_eq!(fs::read_to_string(&path).ok().as_deref(), before, "{client}, {scope}");
                assert!(!project.path.join("provost.toml").exists(), "{client}: the proposed rules are gone");
            }
        }
    }
}

#[test]
fn the_rules_stay_while_another_client_is_guarded() {
    let project = TestProject::unregistered();
    run(&project, "init", "codex", &[]);
    run(&project, "init", "gemini", &[]);
    run(&project, "uninstall", "codex", &[]);
    assert!(project.path.join("provost.toml").exists());
    run(&project, "uninstall", "gemini", &[]);
    assert!(!project.path.join("provost.toml").exists());
}
