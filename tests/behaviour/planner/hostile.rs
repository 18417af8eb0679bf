//! Hostile input gets a valid answer in time.

use super::*;

#[track_caller]
fn quick(answer: &Answer) {
    assert!(answer.cpu_seconds < 10.0, "{} s", answer.cpu_seconds);
    answer.check_form().unwrap_or_else(|why| panic!("{why}: {:.300}", answer.stderr));
}

#[test]
fn a_plan_of_100_megabytes_gets_an_answer() {
    let project = TestProject::new();
    let path = plan(&project, "planning/p.md", PLAN, 0);
    File::options().write(true).open(&path).unwrap().set_len(100 << 20).unwrap();
    let answer = project.run_compat(&[VALIDATOR], b"{}");
    quick(&answer);
    assert!(answer.is_silent(), "its sections are at the start: {answer:?}");
    let path = plan(&project, "planning/p.md", "# Draft\n", 0);
    File::options().write(true).open(&path).unwrap().set_len(100 << 20).unwrap();
    let answer = project.run_compat(&[VALIDATOR], b"{}");
    quick(&answer);
    assert!(answer.stderr.contains("only its first 1 MiB were read"), "{answer:?}");
}

#[test]
fn nested_and_unclosed_markdown_gets_an_answer() {
    let project = TestProject::new();
    for text in ["> ", "- ", "[", "*a ", "`", "<!--", "<a ", "\\", "| a ", "![](", "**refactor: ", "#"] {
        plan(&project, "planning/p.md", &text.repeat(300_000 / text.len()), 0);
        let answer = project.run_compat(&[VALIDATOR], b"{}");
        quick(&answer);
    }
}

#[test]
fn a_planning_directory_of_links_and_many_files_gets_an_answer() {
    let project = TestProject::new();
    let planning = project.path.join("planning");
    fs::create_dir(&planning).unwrap();
    for number in 0..2_000 {
        fs::write(planning.join(format!("{number}.txt")), "").unwrap();
    }
    std::os::unix::fs::symlink(".", planning.join("loop")).unwrap();
    std::os::unix::fs::symlink("/", planning.join("root")).unwrap();
    std::os::unix::fs::symlink("self.md", planning.join("self.md")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", planning.join("zero.md")).unwrap();
    let deep = (0..60).fold(planning.clone(), |path, _| path.join("d"));
    fs::create_dir_all(&deep).unwrap();
    fs::create_dir(planning.join("directory.md")).unwrap();
    let answer = project.run_compat(&[VALIDATOR], b"{}");
    quick(&answer);
    assert!(answer.stderr.starts_with("No plan file found"), "{answer:?}");
    plan(&project, "planning/p.md", PLAN, 1);
    assert!(project.run_compat(&[VALIDATOR], b"{}").is_silent());
}

#[test]
fn a_pipe_instead_of_a_plan_does_not_hang_the_hook() {
    let project = TestProject::new();
    fs::create_dir(project.path.join("planning")).unwrap();
    let pipe = project.path.join("planning/p.md");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let answer = project.run_compat(&[VALIDATOR], b"{}");
    quick(&answer);
    assert!(answer.stderr.starts_with("No plan file found"), "{answer:?}");
    quick(&project.run_compat(&[VALIDATOR, "planning/p.md"], b""));
}

#[test]
fn a_command_that_is_too_long_is_blocked() {
    let project = TestProject::new();
    for line in [
        "ls ".repeat(1 << 20),
        "$(".repeat(10_000),
        "ls;".repeat(100_000) + "rm x",
        "ls > a".repeat(20_000),
        format!("{} rm x", "A=1 ".repeat(50_000)),
    ] {
        let event = by_planner(project.bash(&line));
        let answer = project.hook(&event);
        assert!(answer.cpu_seconds < 10.0, "{} s", answer.cpu_seconds);
        let denied = answer.code == Some(2) || answer.stdout.starts_with("{\"decision\":\"block\"");
        assert!(denied, "{line:.40}");
        let script = project.run_compat(&[GUARD], event.to_string().as_bytes());
        assert_eq!(script.code, Some(2), "{line:.40}");
    }
}

#[test]
fn names_from_the_call_cannot_control_a_terminal_or_fill_the_answer() {
    let project = TestProject::new();
    let lines = ["\u{1b}[2Jx y", &format!("{} y", "x".repeat(100_000)), "echo > '\u{202e}a\nb'"];
    let reasons = lines.map(|line| decided(&project, line).unwrap().unwrap_err());
    assert_shown!("planner-hostile-names", reasons.join("\n\n"));
    plan(&project, "planning/\u{1b}[2J.md", "# x\n", 0);
    let reason = stopped(&project).unwrap_err();
    assert!(!reason.contains('\u{1b}'), "{reason}");
}
