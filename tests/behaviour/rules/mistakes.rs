//! Mistakes in rules: each is reported with its place, and no other rule and no guard is affected.

use std::fs;

use crate::support::{TestProject, assert_shown};
use serde_json::Value;

/// A rule that must still hold beside the mistake.
const GOOD: &str = "[[rule]]\nname = \"no-fetch\"\nruns = \"git fetch\"\ndeny = \"the network is down\"\n";

fn with_config(text: &str) -> TestProject {
    let project = TestProject::new();
    project.write_file("provost.toml", text);
    project
}

fn start_message(project: &TestProject) -> String {
    project.shorten_paths(&project.start_session("s").expect_note())
}

fn is_denied(project: &TestProject, line: &str) -> bool {
    project.hook(&project.bash(line)).stdout.contains("\"permissionDecision\":\"deny\"")
}

fn shown(project: &TestProject, name: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let output = project.provost_command(name, arguments).output().unwrap();
    (output.status.code(), project.shorten_paths(&String::from_utf8(output.stdout).unwrap()))
}

#[test]
fn a_mistake_in_a_rule_is_reported_everywhere_and_the_other_rules_hold() {
    let rule = |lines: &str| format!("{GOOD}\n[[rule]]\nname = \"wrong\"\n{lines}");
    let mut all = String::new();
    for (lines, place) in [
        ("runs = \"git push\"\ndenny = \"no\"\n", "9:1"),
        ("runs = \"git push\"\ndeny = \"no\"\nask = \"no\"\n", "10:1"),
        ("runs = \"git push\"\n", "6:1"),
        ("deny = \"no\"\n", "6:1"),
        ("runs = 5\ndeny = \"no\"\n", "8:8"),
        ("runs = [\"git push\", \"\"]\ndeny = \"no\"\n", "8:21"),
        ("writes = \"a[b\"\ndeny = \"no\"\n", "8:10"),
        ("writes = \"a/../b\"\ndeny = \"no\"\n", "8:10"),
        ("adds = \"(TODO\"\ndeny = \"no\"\n", "8:8"),
        ("commits = \"*\"\nmessage = \"[a\"\ndeny = \"no\"\n", "9:11"),
        ("runs = \"git push\"\ndeny = \"no\"\nmode = \"wach\"\n", "10:8"),
    ] {
        let project = with_config(&rule(lines));
        let told = start_message(&project);
        assert!(told.contains(&format!("<project>/provost.toml:{place}: ")), "{lines}: {told}");
        all += &format!("{lines}\n{told}\n\n");
        let (code, checked) = shown(&project, "config", &["check"]);
        assert!(code == Some(1) && checked.contains(&format!("provost.toml:{place}: ")), "{checked}");
        let (_, report) = shown(&project, "doctor", &["--json"]);
        let (line, column) = place.split_once(':').unwrap();
        assert!(
            report.contains(&format!("provost.toml line {line}, column {column} is ignored")),
            "{report}"
        );
        let (_, line) = shown(&project, "statusline", &[]);
        assert!(line.contains("1 mistake in its configuration (provost.toml:"), "{line}");
        let (_, status) = shown(&project, "status", &["--json"]);
        let status: Value = serde_json::from_str(&status).unwrap();
        assert!(status["mistakes"][0].as_str().unwrap().contains(&format!(":{place}: ")), "{status}");
        assert!(is_denied(&project, "git fetch") && !is_denied(&project, "git push"), "{lines}");
        // The guards still judge.
        project.hook(&project.write(project.path.join("provost.toml"), "")).expect_denial();
    }
    assert_shown!("rules-mistake-places", all);
}

#[test]
fn of_two_rules_with_one_name_the_first_holds() {
    let second = GOOD.replace("git fetch", "git pull");
    let project = with_config(&format!("{GOOD}\n{second}"));
    assert!(start_message(&project).contains("provost.toml:6:1: there are two rules `no-fetch`"));
    assert!(is_denied(&project, "git fetch") && !is_denied(&project, "git pull"));
    // Not if it has a mistake itself.
    for mistake in ["runs = \"git fetch;\"", "runss = \"git fetch\"", "runs = \"git fetch\"\nexcept = \"a;\""]
    {
        let project = with_config(&format!("{}\n{second}", GOOD.replace("runs = \"git fetch\"", mistake)));
        assert!(!is_denied(&project, "git fetch") && is_denied(&project, "git pull"), "{mistake}");
        assert!(start_message(&project).contains("has a mistake"), "{}", start_message(&project));
    }
}

#[test]
fn a_rule_with_one_broken_pattern_decides_nothing() {
    for mistake in [
        "runs = [\"git push\", \"git pull;\"]",
        "runs = \"git push\"\nexcept = \"git push 'x'\"",
        "runs = \"git push\"\non_branch = \"[main\"",
        "runs = \"git push\"\nin_agent = \"main|\"",
        "pushes = [\"main\", \"[x\"]",
        "runs = \"git push\"\nargument = \"(\"",
        "uses = [\"Bash\", \"mcp__[x\"]",
    ] {
        let project = with_config(&format!("{GOOD}\n[[rule]]\nname = \"wrong\"\n{mistake}\ndeny = \"no\"\n"));
        assert!(!is_denied(&project, "git push origin main"), "{mistake}");
        assert!(is_denied(&project, "git fetch"), "{mistake}");
        assert!(start_message(&project).contains("rule `wrong`"), "{mistake}");
    }
}

#[test]
fn a_file_with_a_byte_order_mark_and_windows_lines_is_read() {
    let text = format!("\u{feff}{GOOD}\n[[rule]]\nname = \"wrong\"\nrun = \"x\"\n").replace('\n', "\r\n");
    let project = with_config(&text);
    assert!(
        start_message(&project).contains("provost.toml:6:1: rule `wrong`: "),
        "{}",
        start_message(&project)
    );
    assert!(is_denied(&project, "git fetch"));
}

#[test]
fn the_last_good_version_of_a_broken_file_holds() {
    let project = with_config(GOOD);
    assert!(is_denied(&project, "git fetch"));
    for broken in [
        b"[[rule\nname = 1".to_vec(),
        b"\0\xff\x80\x01[[rule]]".to_vec(),
        format!("{GOOD}\n{GOOD}\nname = 5 5\n").into_bytes(),
        GOOD.replace("down", "\u{7f}").repeat(100_000).into_bytes(),
        [GOOD.replace("git fetch", "git pull").as_bytes(), b"# \xff\n"].concat(),
    ] {
        fs::write(project.path.join("provost.toml"), &broken).unwrap();
        assert!(is_denied(&project, "git fetch"), "{:?}", String::from_utf8_lossy(&broken[..10]));
        assert!(!is_denied(&project, "git pull"));
        let told = start_message(&project);
        assert!(told.starts_with("[provost] <project>/provost.toml: "), "{told}");
        let (code, checked) = shown(&project, "config", &["check"]);
        let holds = "is broken, so the rule of its last good version holds";
        assert!(code == Some(1) && checked.contains(holds), "{checked}");
    }
    fs::write(project.path.join("provost.toml"), "[[rule\n").unwrap();
    assert_shown!("rules-last-good", start_message(&project));
}

#[test]
fn the_copy_follows_each_good_change() {
    let project = with_config(GOOD);
    assert!(is_denied(&project, "git fetch"));
    // A change that keeps the size and comes at once is followed too.
    project.write_file("provost.toml", &GOOD.replace("fetch", "pulls"));
    assert!(is_denied(&project, "git pulls"));
    project.write_file("provost.toml", "[[rule\n");
    assert!(is_denied(&project, "git pulls") && !is_denied(&project, "git fetch"));
    // An older file that comes back.
    let file = project.write_file("provost.toml", GOOD);
    let file = fs::File::options().write(true).open(file).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000))
        .unwrap();
    assert!(is_denied(&project, "git fetch"));
    project.write_file("provost.toml", "[[rule\n");
    assert!(is_denied(&project, "git fetch") && !is_denied(&project, "git pulls"));
    // A good file without rules has none, also when it breaks.
    project.write_file("provost.toml", "[journal]\nenabled = true\n");
    assert!(!is_denied(&project, "git fetch"));
    project.write_file("provost.toml", "[[rule\n");
    assert!(!is_denied(&project, "git fetch"));
}

#[test]
fn an_unchanged_file_is_not_copied_again() {
    let project = with_config(GOOD);
    let file = fs::File::options().write(true).open(project.path.join("provost.toml")).unwrap();
    let long_ago = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    file.set_modified(long_ago).unwrap();
    assert!(is_denied(&project, "git fetch"));
    let copies =
        || fs::read_dir(project.state_directory().join("rules")).unwrap().map(|copy| copy.unwrap().path());
    let [copy] = &copies().collect::<Vec<_>>()[..] else { panic!("one copy") };
    let identity = || provost::files::file_identity(copy);
    let before = identity();
    assert!(is_denied(&project, "git fetch"));
    assert_eq!(identity(), before);
    assert_eq!(fs::read_to_string(copy).unwrap(), GOOD);
}

#[test]
fn of_a_broken_file_without_an_earlier_version_the_rules_hold_that_can_be_read() {
    let project = with_config(&format!("{GOOD}\n[[rule\n"));
    assert!(is_denied(&project, "git fetch"));
    assert_shown!("rules-no-last-good", start_message(&project));
    let other =
        |line: &str| format!("{}{line}", GOOD.replace("no-fetch", "other").replace("git fetch", "git pull"));
    // A rule with a broken line does not hold, and what is behind it does.
    let project = with_config(&format!("{}\n{GOOD}", other("fix = \"x\n")));
    assert!(is_denied(&project, "git fetch") && !is_denied(&project, "git pull"));
    let project = with_config(&format!("[rules]\noff = [\"no-fetch\"]\n{GOOD}\n{}\n[engine\n", other("")));
    assert!(!is_denied(&project, "git fetch") && is_denied(&project, "git pull"));
    // A table of a rule belongs to it.
    let project = with_config(&format!(
        "{GOOD}\n[[rule]]\nname = \"n\"\nruns = \"git pull\"\n[rule.need]\npassed = \"x\"\n[a\n"
    ));
    assert!(is_denied(&project, "git fetch") && is_denied(&project, "git pull"));
    // The broken file is not kept as a good version.
    project.write_file("provost.toml", "[[rule\n");
    assert!(!is_denied(&project, "git fetch"));
    let project = with_config("[[rule\nname = \"a\"\n[rules]\nuse = 5\n");
    assert!(start_message(&project).contains("none of its rules holds"), "{}", start_message(&project));
    // A broken file without rules loses none.
    let project = with_config("[engine\n");
    assert!(!start_message(&project).contains("rules"));
}

#[test]
fn ten_megabytes_of_rules_and_a_file_without_end_are_answered_in_time() {
    for text in [
        GOOD.repeat(100_000),
        "[[rule]]\n".repeat(100_000),
        "[[rule]]\nx = [".repeat(60_000),
        "[".repeat(1_000_000),
    ] {
        let project = with_config(&text);
        let answer = project.hook(&project.bash("ls"));
        assert!(answer.code == Some(0) && answer.cpu_seconds < 5.0, "{} {answer:?}", &text[..20]);
        let answer = project.start_session("s");
        assert!(answer.cpu_seconds < 5.0 && answer.expect_note().len() < 2000, "{}", &text[..20]);
    }
}

/// What every surface says about the configuration: the start of a session, and the commands.
fn ask_everywhere(project: &TestProject) -> Vec<(&'static str, String)> {
    let run = |name: &str, arguments: &[&str]| {
        let output = project.provost_command(name, arguments).output().unwrap();
        assert!(output.status.code().is_some_and(|code| code < 100), "{name}: {output:?}");
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        project.shorten_paths(&text)
    };
    let start = project.start_session("s");
    assert!(start.cpu_seconds < 5.0, "{start:?}");
    vec![
        ("session start", project.shorten_paths(&start.expect_note())),
        ("config check", run("config", &["check"])),
        ("doctor", run("doctor", &["--json"])),
        ("rules", run("rules", &[])),
        ("status", run("status", &["--json"])),
    ]
}

#[test]
fn every_kind_of_mistake_is_told_on_every_surface_and_takes_nothing_else_down() {
    let own = "[[rule]]\nname = \"of-user\"\nruns = \"git pull\"\ndeny = \"no\"\n";
    let wrong = |lines: &str| format!("{GOOD}\n[[rule]]\nname = \"wrong\"\n{lines}").into_bytes();
    // The file, what the messages say, and whether the other rule of the file holds.
    let cases: Vec<(Vec<u8>, &str, bool)> = vec![
        (wrong("runss = \"git push\"\ndeny = \"no\"\n"), "did you mean `runs`?", true),
        (wrong("runs = \"git push\"\ndeny = \"no\"\nunknown = \"aks\"\n"), "did you mean `ask`?", true),
        (wrong("runs = \"git push;\"\ndeny = \"no\"\n"), "rule `wrong`", true),
        (wrong("adds = 'a{1000}{1000}'\ndeny = \"no\"\n"), "too large", true),
        (wrong("adds = '(?=a)'\ndeny = \"no\"\n"), "look-around", true),
        (wrong("stops = true\nneed = { pased = \"x\" }\n"), "did you mean `passed`?", true),
        (wrong("stops = true\nneed = { passed = \"x\", check = \"y\" }\n"), "`need` takes", true),
        (wrong("stops = true\ndeny = \"no\"\n"), "`stops` goes with", true),
        (wrong("runs = \"x\"\nrun = \"y\"\n"), "`run` goes with", true),
        (wrong("runs = \"x\"\ndeny = \"no\"\nmatch = [{ wriet = \"a\" }]\n"), "an example has one of", true),
        (wrong("runs = \"x\"\ndeny = \"no\"\nmatch = \"x\"\n"), "`match` takes", true),
        (format!("{GOOD}[rules]\nof = [\"x\"]\n").into_bytes(), "did you mean `off`?", true),
        (format!("{GOOD}[rules]\nuse = [\"basline\"]\n").into_bytes(), "did you mean `baseline`?", true),
        (format!("{GOOD}[rules]\noff = [\"no-fetc\"]\n").into_bytes(), "did you mean `no-fetch`?", true),
        (wrong("commits = \"[main\"\ndeny = \"no\"\n"), "without `]`", true),
        (wrong("uses = \"Bash(git *)\"\ndeny = \"no\"\n"), "use `runs` for commands", true),
        (wrong("runs = [bad]\ndeny = \"no\"\n"), "only one of its rules", true),
        (wrong("adds = \"\\d+\"\ndeny = \"no\"\n"), "only one of its rules", true),
        (wrong("match = [bad]\nruns = \"x\"\ndeny = \"no\"\n"), "only one of its rules", true),
        (GOOD.repeat(100_000).into_bytes(), "cannot be read whole", true),
        (vec![b'['; 100 << 20], "cannot be read", false),
        (b"\x7fELF\0\x01\xff\xfe[[rule]]".to_vec(), "is not UTF-8", false),
        ([GOOD.as_bytes(), b"# \xff\n"].concat(), "is not UTF-8", true),
        (
            format!("{GOOD}x = {}1{}\n", "[".repeat(100_000), "]".repeat(100_000)).into_bytes(),
            "none of its rules holds",
            false,
        ),
        (format!("{GOOD}x{} = 1\n", ".x".repeat(100_000)).into_bytes(), "none of its rules holds", false),
    ];
    let mut failures = Vec::new();
    for (bytes, expected, holds) in cases {
        let shown_bytes = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).into_owned();
        let mut check = |is_right: bool, what: &str| {
            if !is_right {
                failures.push(format!("{shown_bytes}\n{what}\n"));
            }
        };
        let project = TestProject::new();
        project.write_home_file(".config/provost/provost.toml", own);
        fs::write(project.path.join("provost.toml"), &bytes).unwrap();
        for (surface, text) in ask_everywhere(&project) {
            let is_told = text.contains(expected) && text.contains("provost.toml");
            check(is_told, &format!("`{expected}` expected from {surface}: {text}"));
        }
        let (_, line) = shown(&project, "statusline", &[]);
        check(line.contains("in its configuration (provost.toml"), &line);
        check(is_denied(&project, "git fetch") == holds, "the other rule of the file");
        check(is_denied(&project, "git pull"), "the user's rule");
        let write = project.write(project.home.join(".config/provost/provost.toml"), "");
        check(project.hook(&write).find_denial().is_ok(), "the guards");
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[cfg(unix)]
#[test]
fn a_file_that_is_none_is_told_and_its_last_good_version_holds() {
    use std::os::unix::fs::PermissionsExt;
    let replace: [fn(&std::path::Path); 4] = [
        |path| fs::create_dir(path).unwrap(),
        |path| assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success()),
        |path| std::os::unix::fs::symlink("/dev/zero", path).unwrap(),
        |path| {
            fs::write(path, GOOD).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o0)).unwrap();
        },
    ];
    for (number, replace) in replace.iter().enumerate() {
        let project = with_config(GOOD);
        assert!(is_denied(&project, "git fetch"));
        let path = project.path.join("provost.toml");
        fs::remove_file(&path).unwrap();
        replace(&path);
        if number == 3 && fs::read(&path).is_ok() {
            continue; // Root reads every file.
        }
        for (surface, text) in ask_everywhere(&project) {
            assert!(
                text.contains("cannot be read") && text.contains("last good version"),
                "{number} {surface}: {text}"
            );
        }
        assert!(is_denied(&project, "git fetch"), "{number}");
    }
}
