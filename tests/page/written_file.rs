//! The page as a file: what it contains and does not contain, and where it is written.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::json;

use super::{page_with, project_with, project_with_a_month, run_report, write_month};

#[test]
fn the_page_is_one_small_file_that_loads_nothing() {
    let page = page_with(&project_with_a_month(), &[]);
    assert!(page.len() < 500_000, "{}", page.len());
    assert!(page.contains(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'; img-src data:;"
    ));
    for reference in [" href=\"", "url("] {
        assert!(page.split(reference).skip(1).all(|rest| rest.starts_with('#')), "{reference}");
    }
    // A quote within a text is escaped, so these are only attributes.
    for loading in [" src=\"", " srcset=\"", " data=\"", " action=\"", "@import", "http://", "https://"] {
        assert!(!page.contains(loading), "{loading}");
    }
    assert_eq!((page.matches("<script>").count(), page.matches("</script>").count()), (1, 1));
    assert!(page.contains("&lt;script&gt;document.title"));
}

#[test]
fn the_same_report_gives_the_same_bytes() {
    let project = project_with_a_month();
    let page = page_with(&project, &[]);
    let project = project.with_variable("TZ", "Asia/Tokyo").with_variable("LANG", "de_DE.UTF-8");
    assert!(page == page_with(&project, &[]));
    let project = project.with_variable("SOURCE_DATE_EPOCH", "1794938400");
    let output = project.provost_command("report", &["--html", "-"]).output().unwrap();
    let shown = |page: &str| page.replace("--now &#39;2026-11-17T18:00:00Z&#39; ", "");
    assert!(shown(&page) == shown(&String::from_utf8(output.stdout).unwrap()));
}

#[test]
fn a_page_of_too_many_decisions_says_how_many_are_left_off_and_how_to_get_them() {
    let project = project_with("");
    let journal = write_month(&project.path).repeat(6);
    let project = project_with(&journal);
    let page = page_with(&project, &[]);
    assert!(page.len() < 500_000, "{}", page.len());
    let (_, note) = page.split_once("This page shows ").unwrap();
    let (shown, note) = note.split_once(" of ").unwrap();
    assert_eq!(page.matches("<tr id=\"d-").count(), shown.parse::<usize>().unwrap());
    assert!(
        note.contains("decisions: the newest, denials first. <code>provost report --json</code> has all")
    );
}

#[test]
fn a_redacted_page_names_no_path_command_session_or_reason() {
    let project = project_with_a_month();
    let plain = page_with(&project, &[]);
    let page = page_with(&project, &["--redact"]);
    let home = project.home.to_string_lossy().into_owned();
    let journal = write_month(&project.path);
    let (_, session) = journal.split_once("\"session\":\"").unwrap();
    let texts = ["toolu_01", "0042_orders", "git push -uf", "hotfix", "checkout-vat", &session[..8], &home];
    for text in texts {
        assert!(plain.contains(text), "{text} is nowhere");
        assert!(!page.contains(text), "{text}");
    }
    assert!(page.contains("rule:no-force-push") && page.contains("session 1") && page.contains("project 1"));
}

/// One line of a journal.
fn line(second: u64, decision: &str, opinion: &str) -> String {
    json!({
        "id": format!("1k0000000000{second}"), "time": format!("2026-11-16T10:00:0{second}.000Z"), "version": "0.1.0",
        "client": "claude", "project": "/p", "event": "PreToolUse", "session": "s", "tool": "Bash", "call": "c",
        "subject_hash": "00000001", "subject": "yarn",
        "guards": [{"guard": "rule:pnpm", "opinion": opinion, "what": "`yarn` denied by rule:pnpm", "why": "w", "fix": "f", "micros": 1}],
        "decision": decision, "micros": 400
    })
    .to_string()
        + "\n"
}

#[test]
fn a_project_that_only_watches_sees_what_would_have_been_denied() {
    let journal = line(1, "silence", "would deny") + &line(2, "silence", "would deny");
    let page = page_with(&project_with(&journal), &[]);
    for shown in [
        "<h2 id=\"days-h\">What would have been denied</h2>",
        "2 events on 2 days. The busiest was Mon 16 Nov with 2; 1 day had none.",
        "<b>rule:pnpm</b> would have denied most: 2 of 2 denials (100.0 %).",
        "No tool call was denied.",
        "<rect ",
    ] {
        assert!(page.contains(shown), "{shown}");
    }
}

#[test]
fn a_journal_without_decisions_gives_a_page_that_says_so() {
    for journal in ["", "broken\n"] {
        let page = page_with(&project_with(journal), &[]);
        assert!(
            page.contains("No guard or rule said anything in this period.") && page.ends_with("</html>\n")
        );
        assert!(!page.contains("<table class=\"sortable list\">"));
    }
}

#[test]
fn the_page_replaces_a_file_and_nothing_else() {
    let project = project_with(&line(1, "deny", "deny"));
    let file = project.write_file("report.html", "old");
    let output = run_report(&project, &["--html", "report.html"]);
    let said = String::from_utf8(output.stdout).unwrap();
    let page = fs::read_to_string(&file).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>"));
    let size = page.len() / 1000;
    assert_eq!(said, format!("wrote report.html ({size} KB); open it in a browser\n"));
    // The umask decides who can read it, as for other files.
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o600, 0o600);

    symlink(&file, project.path.join("link.html")).unwrap();
    fs::create_dir(project.path.join("directory")).unwrap();
    for place in ["link.html", "directory", "/dev/null"] {
        let output = run_report(&project, &["--html", place]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(74), "{place}");
        assert!(error.contains("is a directory, a link or a device. To fix: name a file"), "{error}");
    }
    assert!(project.path.join("link.html").is_symlink());
    let output = run_report(&project, &["--html", "report.html/inside.html"]);
    assert_eq!(output.status.code(), Some(74));
    assert!(
        String::from_utf8(output.stderr).unwrap().contains("`report.html/inside.html` cannot be written")
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), page);
}
