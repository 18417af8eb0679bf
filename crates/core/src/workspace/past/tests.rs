use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;

use super::*;
use crate::config::ConfigLayer;
use crate::event::{Event, EventKind};
use crate::overrides::store_permission;
use crate::reviewer::{ReviewLogs, ReviewerTask, ask_reviewer, remember_reviewer, run_review};

/// Every file below a directory with its content.
fn snapshot(directory: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                found.insert(path.clone(), None);
                open.push(path);
            } else {
                found.insert(path.clone(), Some(fs::read(&path).unwrap()));
            }
        }
    }
    found
}

/// A method that changes something, with its name.
type Change = (&'static str, fn(&Workspace, &Path) -> bool);

/// Every method that writes, locks or starts a program. Each returns whether it was refused.
const CHANGES: &[Change] = &[
    ("append_evidence", |workspace, _| {
        // What a past session has done is kept in memory.
        workspace.append_evidence("s", &[EvidenceRecord::Prompt]).is_ok()
    }),
    ("claim_event", |workspace, root| workspace.claim_event(&make_event(root)).is_err()),
    ("create_file", |workspace, root| workspace.create_file(&root.join("new"), b"x", None).is_err()),
    ("keep_good_rules", |workspace, _| {
        workspace.keep_good_rules();
        true
    }),
    ("lock", |workspace, root| workspace.lock(&root.join("f")).is_err()),
    ("lock_directory", |workspace, root| workspace.lock_directory(root).is_err()),
    ("make_directory", |workspace, root| workspace.make_directory(&root.join("new")).is_err()),
    ("move_file", |workspace, root| workspace.move_file(&root.join("f"), &root.join("g")).is_err()),
    ("new_state_file", |workspace, root| workspace.new_state_file("x", root, "n").is_err()),
    ("read_tree_state", |workspace, _| workspace.read_tree_state().is_none()),
    ("remember_session", |workspace, _| workspace.remember_session("s", &json!(1)).is_err()),
    ("remove_file", |workspace, root| workspace.remove_file(&root.join("f")).is_err()),
    ("remove_leftovers", |workspace, root| {
        workspace.remove_leftovers(&root.join("f"));
        true
    }),
    ("replace_unless_changed", |workspace, root| {
        workspace.replace_unless_changed(&root.join("f"), Some(b"old"), b"new").is_err()
    }),
    ("run_check", |workspace, root| {
        workspace.run_check("touch made", Duration::from_secs(5), &make_event(root)).is_err()
    }),
    ("run_rule_command", |workspace, _| {
        workspace.run_rule_command("touch made", Instant::now() + Duration::from_secs(5), 5).is_err()
    }),
    ("save_seal_key", |workspace, _| workspace.save_seal_key(b"key").is_err()),
    ("trust_commands", |workspace, _| {
        let _ = workspace.trust_commands();
        true
    }),
    ("wait_for_lock", |workspace, root| workspace.wait_for_lock("x", root, Duration::ZERO).is_err()),
    ("diff_range", |workspace, _| workspace.diff_range(None).is_err()),
    ("diff_session_changes", |workspace, _| {
        workspace.diff_session_changes("s", &[], 1, &|_: &Path| true).is_err()
    }),
    ("remember_clean_diff", |workspace, _| {
        workspace.remember_clean_diff("s", &crate::workspace::change_diff::ChangeDiff::default(), 1).is_err()
    }),
    ("remember_session_commit", |workspace, _| workspace.remember_session_commit("s").is_err()),
    ("write_diff_text", |workspace, root| {
        let diff = crate::workspace::change_diff::ChangeDiff::default();
        workspace.write_diff_text(&diff, &root.join("d")).is_err()
    }),
    ("try_lock", |workspace, root| workspace.try_lock("x", root).is_err()),
    ("write_state_file", |workspace, root| {
        workspace.write_state_file(&root.join("state/x/y"), b"x").is_err()
    }),
    // Functions that get a workspace.
    ("ask_reviewer", |workspace, root| ask_reviewer(&review_task(root), workspace).is_err()),
    ("run_review", |workspace, root| {
        let logs = ReviewLogs { out: root.join("out"), err: root.join("err") };
        run_review(&review_task(root), &logs, workspace).result.is_err()
    }),
    ("remember_reviewer", |workspace, root| remember_reviewer(workspace, root, true).is_none()),
    ("store_permission", |workspace, _| store_permission(workspace, "s", "self-guard", "x").is_err()),
    ("lift_permitted_denials", |workspace, root| {
        crate::overrides::lift_permitted_denials(&mut [], &make_event(root), workspace);
        true
    }),
];

fn make_event(root: &Path) -> Event {
    let mut event = Event::new("Stop".to_owned(), EventKind::Other, root.to_owned());
    event.session = Some("s".to_owned());
    event
}

fn review_task(root: &Path) -> ReviewerTask<'_> {
    ReviewerTask { prompt: "x", model: "m", directory: root, limit: Duration::from_secs(5) }
}

/// A project with a file, a half-written file beside it, and a rule with a command that waits for trust.
fn make_workspace(root: &Path) -> Workspace {
    fs::write(root.join("f"), "old").unwrap();
    fs::write(root.join(".f.provost.tmp"), "half").unwrap();
    let mut workspace = Workspace::for_tests(root);
    let config = "reviewer.command = [\"sh\", \"-c\", \"touch made\"]\n";
    fs::write(root.join("provost.toml"), config).unwrap();
    workspace.config =
        crate::config::Config::load(&[(ConfigLayer::User, root.join("provost.toml"))], Vec::new, None, None);
    workspace
}

#[test]
fn a_workspace_of_the_past_changes_nothing() {
    let root = tempfile::tempdir().unwrap();
    let workspace = make_workspace(root.path()).into_past();
    let before = snapshot(root.path());
    for (name, change) in CHANGES {
        assert!(change(&workspace, root.path()), "{name} is not refused");
        assert_eq!(snapshot(root.path()), before, "{name}");
    }
}

/// The list above is complete: in the present, the same calls change something or start a program.
#[test]
fn every_method_of_the_list_would_change_something_in_the_present() {
    const QUIET: &[&str] = &[
        // Without anything to keep, remove or lift, these have nothing to do.
        "keep_good_rules",
        "lift_permitted_denials",
        "read_tree_state",
        "remember_reviewer",
        "remove_leftovers",
        "trust_commands",
    ];
    for (name, change) in CHANGES.iter().filter(|(name, _)| !QUIET.contains(name)) {
        let root = tempfile::tempdir().unwrap();
        let workspace = make_workspace(root.path());
        let before = snapshot(root.path());
        let was_refused = change(&workspace, root.path());
        let is_changed = snapshot(root.path()) != before;
        let is_program = matches!(*name, "ask_reviewer" | "run_review");
        assert!(is_changed || is_program && was_refused, "{name}");
    }
}

#[test]
fn a_judgement_of_another_disk_sees_nothing_or_everything() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("f");
    fs::write(&file, "x").unwrap();
    let missing = root.path().join("missing");
    let mut workspace = Workspace::for_tests(root.path()).into_past();
    let look = |workspace: &Workspace| {
        (
            workspace.exists(&file),
            workspace.exists(&missing),
            workspace.is_directory(&file),
            workspace.read_text(&file, 99).unwrap(),
            workspace.has_path_below(root.path(), |_| true, |_| true),
        )
    };
    workspace.begin_past_judgement(PastDisk::Today);
    assert_eq!(look(&workspace), (true, false, false, Some("x".into()), true));
    assert!(workspace.take_disk_use().includes_content());
    workspace.begin_past_judgement(PastDisk::Empty);
    assert_eq!(look(&workspace), (false, false, false, None, false));
    workspace.begin_past_judgement(PastDisk::Full);
    assert_eq!(look(&workspace), (true, true, true, None, true));
}

#[test]
fn following_links_is_no_look_at_the_disk() {
    let root = tempfile::tempdir().unwrap();
    let mut workspace = Workspace::for_tests(root.path()).into_past();
    workspace.begin_past_judgement(PastDisk::Today);
    workspace.resolve(&root.path().join("a/../b"));
    assert!(workspace.take_disk_use().is_none());
    workspace.exists(root.path());
    let disk_use = workspace.take_disk_use();
    assert!(!disk_use.is_none() && !disk_use.includes_content());
}

#[test]
fn what_guards_share_counts_for_each_of_them() {
    let root = tempfile::tempdir().unwrap();
    let mut workspace = Workspace::for_tests(root.path()).into_past();
    workspace.begin_past_judgement(PastDisk::Today);
    let share = |workspace: &Workspace| *workspace.cached(|| workspace.read_text(root.path(), 9).is_ok());
    share(&workspace);
    assert!(workspace.take_disk_use().includes_content());
    share(&workspace);
    assert!(workspace.take_disk_use().includes_content());
    assert!(workspace.take_disk_use().is_none());
}

#[test]
fn the_event_may_say_what_a_file_held() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("f");
    fs::write(&file, "now").unwrap();
    let mut workspace = Workspace::for_tests(root.path()).into_past();
    let root = root.path();
    let known = |content: Option<&str>| RecordedFacts {
        file: Some((file.clone(), content.map(str::to_owned))),
        branch: None,
    };
    workspace.begin_past_event(root, root, known(Some("then")));
    workspace.begin_past_judgement(PastDisk::Empty);
    assert_eq!(workspace.read_text(&file, 99).unwrap().as_deref(), Some("then"));
    assert!(workspace.exists(&file) && workspace.take_disk_use().is_none());
    workspace.begin_past_event(root, root, known(None));
    workspace.begin_past_judgement(PastDisk::Full);
    assert!(!workspace.exists(&file) && workspace.take_disk_use().is_none());
}

#[test]
fn what_a_session_did_is_kept_in_memory() {
    let root = tempfile::tempdir().unwrap();
    let mut workspace = Workspace::for_tests(root.path()).into_past();
    let ran = EvidenceRecord::Ran { pattern: "make".into(), has_succeeded: true, call: "1".into() };
    workspace.append_evidence("s", std::slice::from_ref(&ran)).unwrap();
    // A second look at the same event records nothing again.
    workspace.begin_past_judgement(PastDisk::Empty);
    workspace
        .append_evidence(
            "s",
            &[EvidenceRecord::Ran { pattern: "make".into(), has_succeeded: false, call: "2".into() }],
        )
        .unwrap();
    assert!(workspace.read_evidence("s").unwrap().find_last_run("make").is_some_and(|run| run.has_succeeded));
    assert!(workspace.read_evidence("other").unwrap().find_last_run("make").is_none());
    workspace.forget_evidence();
    assert!(workspace.read_evidence("s").unwrap().find_last_run("make").is_none());
}

#[test]
fn a_long_session_is_remembered_in_part() {
    let root = tempfile::tempdir().unwrap();
    let workspace = Workspace::for_tests(root.path()).into_past();
    for number in 0..25_000 {
        let change = ChangedPath::File(format!("/{number}").into());
        let record = EvidenceRecord::Changed { change, call: String::new() };
        workspace.append_evidence("s", &[record]).unwrap();
    }
    let evidence = workspace.read_evidence("s").unwrap();
    assert_eq!(evidence.list_changes_since(None).next(), Some(&ChangedPath::Any));
    assert!(evidence.list_changes_since(None).count() <= 20_000);
}
