//! The doctor touches nothing, starts no reviewer, and takes any settings file.

use std::fs;
use std::process::Stdio;

use serde_json::json;

use super::{Patient, everything};
use crate::support::waiting::wait_for_process;

#[test]
fn nothing_in_project_and_home_changes() {
    let packs = ["self", "plan-gate", "planner", "review-loop", "phases"];
    let patient = Patient::with_packs(&packs);
    let started = patient.project.home.join("reviewer-was-started");
    let reviewer = patient.program("reviewer", &format!("touch {}", started.display()));
    patient.project.write_file(
        "provost.toml",
        &format!(
            "[plan_gate]\nenabled = true\nassess = \"exit\"\n[reviewer]\ncommand = [\"{}\"]\n",
            reviewer.display()
        ),
    );
    patient.project.write_file(
        ".isdlc/state.json",
        r#"{"active_workflow": {"type": "feature", "current_phase": "06-implementation"}}"#,
    );
    let state = json!({"max_reviews": 8, "current_task": "1", "phase": "complete-task", "phase_iteration": 0,
        "next_phase": "code-review", "review_model": "opus", "consecutive_clean": 0, "tdd": false});
    patient.project.write_file(".taskie/plans/one/state.json", &state.to_string());
    patient.project.write_file(
        ".taskie/plans/one/tasks.md",
        "| Id | Status | Priority |\n|---|---|---|\n| 1 | done | high |\n",
    );
    let start = patient.project.recorded_event("SessionStart.startup");
    patient.project.hook(&start);
    let before = everything(&patient.project.home);
    let diagnosis = patient.doctor(&["--all"]);
    let after = everything(&patient.project.home);
    assert!(!diagnosis.report["runs"].as_array().unwrap().is_empty());
    assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>());
    for (path, state) in &before {
        assert_eq!(Some(state), after.get(path), "{}", path.display());
    }
    diagnosis.is_healthy();
    let left: Vec<_> = fs::read_dir(std::env::temp_dir()).unwrap().flatten().map(|e| e.file_name()).collect();
    let of_this = |name: &std::ffi::OsString| name.to_string_lossy().starts_with("provost-doctor-");
    let alive = |name: &std::ffi::OsString| {
        let pid = name.to_string_lossy().rsplit('-').next().unwrap_or_default().to_owned();
        std::path::Path::new("/proc").join(pid).exists()
    };
    assert!(!left.iter().any(|name| of_this(name) && !alive(name)), "{left:?}");
}

#[test]
fn hostile_settings_files_do_not_harm_it() {
    let deep = format!("{}{}", "{\"hooks\":".repeat(50_000), "}".repeat(50_000));
    let long = format!("{{\"model\": \"{}\"}}", "x".repeat(9 << 20));
    let many: Vec<_> =
        (0..5_000).map(|n| json!({"hooks": [{"type": "command", "command": format!("x{n}")}]})).collect();
    let texts: Vec<Vec<u8>> = vec![
        deep.into_bytes(),
        long.into_bytes(),
        json!({"hooks": {"PreToolUse": many}}).to_string().into_bytes(),
        b"\xff\xfe\x00".to_vec(),
        Vec::new(),
        b"null".to_vec(),
        br#"{"hooks":{"PreToolUse":[{"matcher":7,"hooks":[{"type":"command","command":["provost","hook"],"args":{"a":1},"timeout":-1e308}]}]}}"#.to_vec(),
        br#"{"hooks":{"PreToolUse":[{"matcher":"((((((","hooks":[{"type":"command","command":"provost","args":["hook","\u0000","\u001b[2J"],"timeout":1e308}]}]}}"#.to_vec(),
        br#"{"hooks":{"\u001b[2J":[{"hooks":[{"type":"command","command":"provost hook"}]}]},"env":{"":"x","A=B":"\u0000","PATH":""},"enabledPlugins":{"\u001b[2J@x":true,"a@b@c":[],"@":1}}"#.to_vec(),
    ];
    let patient = Patient::healthy();
    for text in texts {
        fs::write(patient.project.path.join(".claude/settings.json"), &text).unwrap();
        let start = String::from_utf8_lossy(&text[..text.len().min(80)]).into_owned();
        for arguments in [&["--json"][..], &[]] {
            let mut command = patient.command(arguments);
            let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let output = wait_for_process(child).expect("it hangs");
            assert!(matches!(output.status.code(), Some(0 | 1)), "{start}: {}", output.status);
            assert!(!output.stdout.contains(&0x1b), "{start}");
            assert!(output.stderr.is_empty(), "{start}: {}", String::from_utf8_lossy(&output.stderr));
            assert!(output.cpu_seconds < 60.0, "{start}: {} s", output.cpu_seconds);
        }
    }
}

#[test]
fn names_with_odd_letters_do_not_harm_it() {
    let patient = Patient::healthy();
    let odd = patient.project.home.join("odd \\\" $(x) ' \u{1b}[2J");
    fs::create_dir_all(odd.join("temporary")).unwrap();
    fs::rename(patient.project.path.join(".claude"), odd.join(".claude")).unwrap();
    let mut command = patient.command(&[]);
    let output = command.current_dir(&odd).env("TMPDIR", odd.join("temporary")).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("Nothing is wrong") && !text.contains('\u{1b}'), "{text}");
    assert_eq!(fs::read_dir(odd.join("temporary")).unwrap().count(), 0);
}

#[test]
fn without_a_temporary_directory_everything_but_answers_is_checked() {
    let mut patient = Patient::healthy();
    patient.change(|settings| settings["disableAllHooks"] = true.into());
    let missing = patient.project.home.join("missing");
    let patient = Patient {
        project: patient.project.with_variable("TMPDIR", missing.display().to_string()),
        ..patient
    };
    let diagnosis = patient.doctor(&[]);
    diagnosis.has("hooks-off");
    assert!(diagnosis.has("not-tried")["fix"].as_str().unwrap().contains("TMPDIR"));
    assert_eq!(diagnosis.ids().len(), 2, "{:#}", diagnosis.report);
    assert!(!missing.exists());
}

#[test]
fn odd_places_do_not_harm_it() {
    let patient = Patient::healthy();
    let settings = patient.project.path.join(".claude/settings.json");
    fs::remove_file(&settings).unwrap();
    fs::create_dir(&settings).unwrap();
    patient.finds("not-json");
    fs::remove_dir(&settings).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&settings).status().unwrap().success());
    patient.finds("no-hooks");
    let patient = Patient::healthy();
    let patient = Patient { project: patient.project.without_variable("HOME"), ..patient };
    patient.finds("state-unwritable");
}
