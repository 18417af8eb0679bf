//! Help, man pages and completions are complete, and valid for the programs that read them.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use super::stage::Stage;

/// All commands that the help lists: `["gate"]`, `["gate", "assess"]`.
pub fn commands() -> Vec<Vec<String>> {
    let stage = Stage::empty();
    let mut found = Vec::new();
    let mut open = vec![Vec::new()];
    while let Some(path) = open.pop() {
        for name in parse_commands(&read_help(&stage, &path)) {
            let mut below: Vec<String> = path.clone();
            below.push(name);
            open.push(below.clone());
            found.push(below);
        }
    }
    found
}

fn read_help(stage: &Stage, path: &[String]) -> String {
    let mut arguments: Vec<&str> = path.iter().map(String::as_str).collect();
    arguments.push("--help");
    let output = stage.command(&arguments).output().unwrap();
    assert!(output.status.success(), "{path:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The names below `Commands:`.
fn parse_commands(help: &str) -> Vec<String> {
    let Some((_, list)) = help.split_once("\nCommands:\n") else { return Vec::new() };
    let lines = list.lines().take_while(|line| !line.is_empty());
    // Further lines of a long description are indented more.
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

#[test]
fn every_command_has_examples_in_its_help() {
    let stage = Stage::empty();
    let mut paths = commands();
    paths.push(Vec::new());
    for path in paths {
        let help = read_help(&stage, &path);
        let examples =
            help.split_once("\nExamples:\n").unwrap_or_else(|| panic!("{path:?} has no examples")).1;
        let spelt = path.iter().fold("provost".to_owned(), |spelt, name| format!("{spelt} {name}"));
        assert!(examples.contains(&spelt), "no example of {path:?} shows it: {examples}");
    }
}

#[test]
fn the_help_lists_every_exit_code() {
    let help = read_help(&Stage::empty(), &[]);
    let (_, table) = help.split_once("\nExit codes:\n").unwrap();
    for code in [0, 1, 2, 64, 74] {
        assert!(table.lines().any(|line| line.starts_with(&format!("  {code} "))), "{code}: {table}");
    }
}

#[test]
fn the_bash_script_completes_commands() {
    let stage = Stage::empty();
    let script = stage.home.join("provost.bash");
    std::fs::write(&script, stage.command(&["completions", "bash"]).output().unwrap().stdout).unwrap();
    let complete = |words: &[&str]| -> Vec<String> {
        let last = words.last().unwrap();
        let before = words[words.len() - 2];
        let line = format!(
            "source '{}' && [ \"$(complete -p provost)\" ] && COMP_WORDS=({}) && COMP_CWORD={} && \
             _provost provost '{last}' '{before}' && printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            script.display(),
            words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" "),
            words.len() - 1
        );
        let output = Command::new("bash").args(["--norc", "-c", &line]).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
    };
    assert_eq!(complete(&["provost", "rev"]), ["review"]);
    assert_eq!(complete(&["provost", "review", "st"]), ["status"]);
    assert_eq!(complete(&["provost", "demo", "--pack", "pl"]), ["plan-gate", "planner"]);
    let all = complete(&["provost", ""]);
    for path in commands().iter().filter(|path| path.len() == 1) {
        assert!(all.contains(&path[0]), "{path:?} is not completed: {all:?}");
    }
}

#[test]
fn every_shell_has_completions() {
    let stage = Stage::empty();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = stage.command(&["completions", shell]).output().unwrap();
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(
            output.status.success() && script.contains("journal") && script.contains("migrate"),
            "{shell}"
        );
    }
}

#[test]
fn every_command_has_a_man_page() {
    let stage = Stage::empty();
    let output = stage.command(&["man", "--dir", "manual/man1"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let directory = stage.project.join("manual/man1");
    let mut expected: Vec<String> =
        commands().iter().map(|path| format!("provost-{}.1", path.join("-"))).collect();
    expected.push("provost.1".into());
    expected.sort();
    let mut pages: Vec<String> = std::fs::read_dir(&directory)
        .unwrap()
        .map(|page| page.unwrap().file_name().into_string().unwrap())
        .collect();
    pages.sort();
    assert_eq!(pages, expected);
    for page in pages {
        check_page(&directory.join(page));
    }
    // Man pages have the default permissions of a new file.
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode();
    let usual = stage.project.join("usual");
    std::fs::write(&usual, "").unwrap();
    assert_eq!(mode(&directory.join("provost.1")), mode(&usual));
}

/// Checks the sections of a man page, and that groff, if installed, prints no warnings.
fn check_page(page: &Path) {
    let text = std::fs::read_to_string(page).unwrap();
    for part in ["\n.TH ", "\n.SH NAME\n", "\n.SH SYNOPSIS\n", "\n.SH EXAMPLES\n.nf\n"] {
        assert!(text.contains(part), "{}: no {part:?}", page.display());
    }
    assert!(text.is_ascii() && text.matches("\n.nf\n").count() == text.matches("\n.fi\n").count());
    let groff = Command::new("groff").args(["-ww", "-man", "-Tutf8"]).arg(page).stdin(Stdio::null()).output();
    let Ok(output) = groff else {
        eprintln!("skipped: groff is not installed");
        return;
    };
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && complaints.is_empty(), "{}: {complaints}", page.display());
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.contains("General Commands Manual") && shown.contains("\n       provost "), "{shown}");
}

#[test]
fn a_man_page_that_cannot_be_written_is_an_error() {
    let stage = Stage::empty();
    std::fs::write(stage.project.join("file"), "").unwrap();
    let output = stage.command(&["man", "--dir", "file/below"]).output().unwrap();
    assert_eq!(output.status.code(), Some(74));
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert!(complaint.starts_with("[provost] `file/below` cannot be written: "), "{complaint}");
}
