//! What the journal keeps, and which configuration counts.

use std::fs;

use crate::support::TestProject;
use serde_json::{Value, json};

const OFF: &str = "[guards]\nself-guard = \"off\"\n";
const ON: &str = "[guards]\nself-guard = \"on\"\n";

fn forbidden(project: &TestProject) -> Value {
    project.write(project.path.join("provost.toml"), "TOPSECRETCONTENT")
}

mod journal {
    use super::*;

    #[test]
    fn a_line_tells_the_whole_decision() {
        let project = TestProject::new();
        project.hook(&forbidden(&project)).expect_denial();
        let mut lines = project.read_journal();
        assert_eq!(lines.len(), 1);
        let line = &mut lines[0];
        let said = &mut line["guards"][0];
        assert!(said["micros"].take().as_u64().is_some());
        assert!(line["micros"].take().as_u64().is_some());
        let hash = line["subject_hash"].take();
        assert!(hash.as_str().is_some_and(|hash| hash.len() == 8), "{hash}");
        assert_eq!(line["id"].take().as_str().unwrap().len(), 13);
        let time = line["time"].take();
        assert!(time.as_str().unwrap().starts_with("20") && time.as_str().unwrap().ends_with('Z'), "{time}");
        let shown: Value = serde_json::from_str(&project.shorten_paths(&line.to_string())).unwrap();
        assert_eq!(
            shown,
            json!({
                "id": null,
                "time": null,
                "version": env!("CARGO_PKG_VERSION"),
                "client": "claude",
                "project": "<project>",
                "event": "PreToolUse",
                "session": "a6244560-d03c-4a53-ac56-5d9a9e0a04bd",
                "turn": "156882bc-21f5-4b5b-9c10-7131b94997e7",
                "tool": "Write",
                "call": "toolu_main_4_0",
                "mode": "default",
                "subject_hash": null,
                "subject": "<project>/provost.toml",
                "guards": [{
                    "guard": "self-guard",
                    "opinion": "deny",
                    "what": "`provost.toml` not written",
                    "why": "tools may not change Provost's configuration",
                    "fix": "leave it as it is, or ask the user to change it",
                    "evidence": ["<project>/provost.toml is Provost's configuration"],
                    "micros": null,
                }],
                "decision": "deny",
                "micros": null,
            })
        );
    }

    #[test]
    fn a_silent_decision_is_kept_too() {
        let project = TestProject::new();
        assert!(project.hook(&project.bash("ls")).is_silent());
        let line = &project.read_journal()[0];
        assert_eq!(
            (&line["decision"], &line["guards"][0]["opinion"]),
            (&json!("silence"), &json!("silence"))
        );
    }

    #[test]
    fn an_event_that_concerns_no_guard_leaves_no_line() {
        let project = TestProject::new();
        assert!(project.hook(&project.recorded_event("Notification")).is_silent());
        assert_eq!(project.read_journal_text(), "");
    }

    #[test]
    fn a_mistake_on_the_command_line_is_kept() {
        let project = TestProject::new();
        project.hook_with(&["--of-tomorrow"], &project.recorded_event("Stop.active_false")).expect_note();
        assert_eq!(project.read_journal()[0]["remark"], "unknown argument `--of-tomorrow`");
    }

    #[test]
    fn a_subagent_and_an_unknown_mode_are_kept() {
        let project = TestProject::new();
        let mut event = project.recorded_event("PreToolUse.Bash.in_subagent");
        event["permission_mode"] = "of-tomorrow".into();
        project.hook(&event);
        let line = &project.read_journal()[0];
        assert_eq!((&line["agent"], &line["mode"]), (&event["agent_type"], &json!("of-tomorrow")));
    }

    #[test]
    fn no_file_contents_are_kept() {
        let project = TestProject::new();
        let settings = project.path.join(".claude/settings.json");
        fs::write(&settings, "{\"secret_of_the_file\": 1").unwrap();
        let calls = [
            forbidden(&project),
            project.edit(project.path.join("provost.toml"), "TOPSECRETCONTENT", "TOPSECRETCONTENT"),
            project.write(&settings, "TOPSECRETCONTENT"),
            project.bash("cat > provost.toml <<EOF\nTOPSECRETCONTENT\nEOF"),
            project.mcp(json!({"path": settings, "text": "TOPSECRETCONTENT"})),
        ];
        for call in &calls {
            project.hook(call).expect_denial();
        }
        project.report_settings_change("s", &settings);
        assert_eq!(project.read_journal().len(), 6);
        assert!(!project.read_journal_text().contains("TOPSECRETCONTENT"), "{}", project.read_journal_text());
        assert!(
            !project.read_journal_text().contains("secret_of_the_file"),
            "{}",
            project.read_journal_text()
        );
    }

    #[test]
    fn what_looks_like_a_credential_is_masked() {
        let project = TestProject::new();
        for name in ["sk-ant-abcdefghijklmnop", "ghp_abcdefghijklmnop1234", "password=abcdefghijklmnop"] {
            let mut call = project.write(project.path.join(name).join("provost.toml"), "");
            call["session_id"] = format!("token: {name}").into();
            call["permission_mode"] = name.into();
            call["tool_use_id"] = name.into();
            project.hook(&call).expect_denial();
        }
        let text = project.read_journal_text();
        assert!(!text.contains("abcdefghijklmnop"), "{text}");
        assert!(text.contains("••••"), "{text}");
    }

    #[test]
    fn a_line_is_bounded_whatever_the_call_holds() {
        let project = TestProject::new();
        let mut call = project.write(project.path.join("x/".repeat(2_000)).join("provost.toml"), "");
        for field in ["session_id", "prompt_id", "tool_use_id", "permission_mode", "agent_type"] {
            call[field] = "y".repeat(100_000).into();
        }
        project.hook(&call).expect_denial();
        assert!(project.read_journal_text().len() < 20_000, "{} bytes", project.read_journal_text().len());
    }

    #[test]
    fn a_session_name_cannot_break_a_line() {
        let project = TestProject::new();
        let mut call = project.bash("ls");
        call["session_id"] = "a\n{\"decision\":\"forged\"}\n\u{1b}[2J".into();
        project.hook(&call);
        let lines = project.read_journal();
        assert_eq!((lines.len(), &lines[0]["decision"]), (1, &json!("silence")));
    }

    #[test]
    fn each_project_has_a_journal_of_its_own() {
        let project = TestProject::new();
        project.hook(&project.bash("ls"));
        let other = project.home.join("other/project");
        fs::create_dir_all(&other).unwrap();
        let project = project.with_variable("CLAUDE_PROJECT_DIR", &other);
        project.hook(&project.bash("ls"));
        assert_eq!(fs::read_dir(project.state_directory().join("projects")).unwrap().count(), 2);
        assert_eq!(project.read_journal().len(), 2);
    }

    #[test]
    fn the_journal_can_be_switched_off_and_moved() {
        let project = TestProject::new();
        project.write_file("provost.toml", "[journal]\nenabled = false\n");
        project.hook(&project.bash("ls"));
        assert_eq!(project.read_journal_text(), "");
        fs::remove_file(project.path.join("provost.toml")).unwrap();
        let state = project.home.join("elsewhere");
        let project = project.with_variable("XDG_STATE_HOME", &state);
        project.hook(&project.bash("ls"));
        assert!(state.join("provost/projects").is_dir() && !project.state_directory().exists());
    }
}

mod layers {
    use super::*;

    fn judges(project: &TestProject) -> bool {
        project.hook(&forbidden(project)).find_denial().is_ok()
    }

    #[test]
    fn with_no_file_at_all_every_guard_is_on() {
        assert!(judges(&TestProject::new()));
    }

    #[test]
    fn the_users_file_counts_where_no_other_speaks() {
        let project = TestProject::new();
        project.write_home_file(".config/provost/provost.toml", OFF);
        assert!(!judges(&project));
    }

    #[test]
    fn the_project_wins_over_the_user() {
        let project = TestProject::new();
        project.write_home_file(".config/provost/provost.toml", OFF);
        project.write_file("provost.toml", ON);
        assert!(judges(&project));
    }

    #[test]
    fn a_project_cannot_switch_off_what_protects_provost() {
        let project = TestProject::new();
        let own = project.home.join(".config/provost/provost.toml");
        project.write_file("provost.toml", OFF);
        assert!(judges(&project));
        project.hook(&project.write(&own, "")).expect_denial();
        let told = project.hook(&project.recorded_event("SessionStart.startup")).expect_note();
        assert!(told.contains("cannot switch `self-guard` off"), "{told}");
    }

    #[cfg(debug_assertions)]
    #[test]
    fn the_administrator_wins_over_both() {
        let project = TestProject::new();
        project.write_home_file(".config/provost/provost.toml", OFF);
        project.write_file("provost.toml", OFF);
        project.write_managed_config(ON);
        assert!(judges(&project));
        project.write_managed_config(OFF);
        project.write_file("provost.toml", ON);
        assert!(!judges(&project));
    }

    #[test]
    fn a_layer_that_says_nothing_about_a_key_leaves_it_to_the_next() {
        let project = TestProject::new();
        project.write_home_file(".config/provost/provost.toml", OFF);
        project.write_file("provost.toml", "[engine]\ndeadline_seconds = 2\n");
        assert!(!judges(&project));
    }

    #[test]
    fn a_project_is_found_from_a_directory_below() {
        let project = TestProject::new().without_variable("CLAUDE_PROJECT_DIR");
        project.write_home_file(".config/provost/provost.toml", OFF);
        let below = project.path.join("src/deep");
        fs::create_dir_all(&below).unwrap();
        let mut call = forbidden(&project);
        call["cwd"] = json!(below);
        assert!(project.hook(&call).is_silent());
        project.write_file("provost.toml", ON);
        project.hook(&call).expect_denial();
    }
}

mod mistakes {
    use super::*;

    fn config_warning(toml: &str) -> String {
        let project = TestProject::new();
        project.write_file("provost.toml", toml);
        let answer = project.hook(&project.recorded_event("SessionStart.startup"));
        project.shorten_paths(&answer.expect_note())
    }

    #[test]
    fn an_unknown_key_is_told_with_its_line_and_the_nearest_known_one() {
        assert_eq!(
            config_warning("# mine\n[engine]\ndeadline_second = 3\n"),
            "[provost] the configuration has a mistake: <project>/provost.toml:3:1: unknown key \
             `deadline_second`; did you mean `deadline_seconds`? To fix: correct the line; `provost config \
             check` lists all of them."
        );
    }

    #[test]
    fn several_mistakes_are_counted() {
        let text = config_warning("[guard]\nx = 1\n[guards]\nself-gard = \"off\"\n[journal]\nenabled = 5\n");
        assert!(
            text.contains("provost.toml:1:2: unknown table `guard`; did you mean `guards`? (2 more)"),
            "{text}"
        );
    }

    #[test]
    fn the_rest_of_a_file_with_a_mistake_still_counts() {
        let project = TestProject::new();
        project.write_home_file(".config/provost/provost.toml", &format!("[engine]\nspeed = 9\n{OFF}"));
        assert!(project.hook(&forbidden(&project)).is_silent());
    }

    #[test]
    fn a_mistake_is_not_told_at_every_call() {
        let project = TestProject::new();
        project.write_file("provost.toml", "[nonsense]\n");
        assert!(project.hook(&project.bash("ls")).is_silent());
    }

    #[test]
    fn a_broken_file_leaves_the_guards_on() {
        for broken in
            ["[guards\nself-guard = \"off\"", "\0\0", "self-guard = off", "[guards]\nself-guard = false\n"]
        {
            let project = TestProject::new();
            project.write_file("provost.toml", broken);
            project.hook(&forbidden(&project)).expect_denial();
            project.hook(&project.recorded_event("SessionStart.startup")).expect_note();
        }
    }

    #[test]
    fn a_file_that_cannot_be_read_is_told_and_left_out() {
        let project = TestProject::new();
        fs::create_dir(project.path.join("provost.toml")).unwrap();
        let text = project.hook(&project.recorded_event("SessionStart.startup")).expect_note();
        assert!(text.contains("cannot be read, so it is left out"), "{text}");
        let large = TestProject::new();
        large.write_file("provost.toml", &format!("{OFF}# {}\n", "x".repeat(2 << 20)));
        large.hook(&forbidden(&large)).expect_denial();
        large.hook(&large.recorded_event("SessionStart.startup")).expect_note();
    }

    #[test]
    fn an_escape_in_a_key_does_not_reach_the_terminal() {
        let text = config_warning("[engine]\n\"\\u001b[2J\" = 1\n");
        assert!(!text.contains('\u{1b}') && text.contains("[2J"), "{text:?}");
    }
}
