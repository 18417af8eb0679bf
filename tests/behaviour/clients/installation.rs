//! `provost init --client` and `uninstall` of each client that it knows the hook files of.

use std::fs;
use std::process::Output;

use crate::support::{TestProject, assert_shown, program};

/// Each client, and the files of both scopes.
const FILES: &[(&str, &str, &str)] = &[
    ("codex", ".codex/hooks.json", ".codex/hooks.json"),
    ("copilot", ".github/hooks/provost.json", ".copilot/hooks/provost.json"),
    ("gemini", ".gemini/settings.json", ".gemini/settings.json"),
    ("qwen", ".qwen/settings.json", ".qwen/settings.json"),
    ("droid", ".factory/settings.json", ".factory/settings.json"),
    ("grok", ".grok/hooks/provost.json", ".grok/hooks/provost.json"),
    ("opencode", ".opencode/plugins/provost.js", ".config/opencode/plugins/provost.js"),
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
                // A module has nothing of the user's.
                if before.is_some() && *client == "opencode" {
                    continue;
                }
                let path = if is_in_home { &project.home } else { &project.path }.join(file);
                if let Some(text) = before {
                    fs::create_dir_all(path.parent().unwrap()).unwrap();
                    fs::write(&path, text).unwrap();
                }
                run(&project, "init", client, &["--scope", scope]);
                let installed = fs::read_to_string(&path).unwrap();
                let words = installed.replace(['"', ','], " ");
                let words: Vec<&str> = words.split_whitespace().collect();
                let wanted = ["hook", "--client", client, "--pack", "self"];
                assert!(words.windows(wanted.len()).any(|part| part == wanted), "{client}: {installed}");
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
fn kimi_gets_its_hooks_in_the_users_file_only() {
    const USERS: &str = "default_model = \"k\"\n\n[providers.p]\ntype = \"openai\"";
    let project = TestProject::unregistered();
    let file = project.write_home_file(".kimi-code/config.toml", USERS);
    run(&project, "init", "kimi", &["--scope", "user", "--pack", "review-loop"]);
    let text = fs::read_to_string(&file).unwrap();
    let program = fs::canonicalize(program()).unwrap();
    let shown = project.shorten_paths(&text).replace(program.to_str().unwrap(), "<program>");
    assert_shown!("clients-entries-kimi", shown);
    toml::from_str::<toml::Table>(&text).unwrap();
    run(&project, "uninstall", "kimi", &[]);
    assert_eq!(fs::read_to_string(&file).unwrap(), USERS);
}

#[test]
fn a_module_that_is_not_provosts_stays() {
    let project = TestProject::unregistered();
    let file = project.write_file(".opencode/plugins/provost.js", "export const Mine = 1\n");
    let output = project.provost_command("init", &["--yes", "--client", "opencode"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("a module that is not Provost's"), "{output:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "export const Mine = 1\n");
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
