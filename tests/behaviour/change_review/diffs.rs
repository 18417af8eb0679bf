//! What a reviewer reads: which files, since when, and how.

use std::fs;

use super::session::{RULE, ReviewedSession};

/// The last prompt, from its list of files on.
fn last_prompt(session: &ReviewedSession) -> String {
    let prompt = session.prompts().pop().unwrap_or_default();
    prompt[prompt.find("Changed files:").unwrap_or(0)..].to_owned()
}

#[test]
fn a_diff_has_changed_new_deleted_and_moved_files() {
    let session = ReviewedSession::new(RULE);
    session.project.write_file("src/moved.rs", "1\n2\n3\n4\n5\n");
    session.git("add -A");
    session.git("commit -qm more");
    let other = session.other("session-2");
    other.write("src/old.rs", "one\nthree\n");
    other.write("src/new file.rs", "new\n");
    other.run("mv src/moved.rs src/here.rs");
    let index = fs::read(session.project.path.join(".git/index")).unwrap();
    other.expect_end();
    let prompt = last_prompt(&other);
    for part in
        ["-two\n+three\n", "b/src/new file.rs", "+new\n", "rename from src/moved.rs\nrename to src/here.rs"]
    {
        assert!(prompt.contains(part), "{part}: {prompt}");
    }
    assert_eq!(fs::read(session.project.path.join(".git/index")).unwrap(), index);
    other.run("rm src/old.rs");
    other.expect_end();
    assert!(last_prompt(&other).contains("deleted file mode 100644"), "{}", last_prompt(&other));
    assert!(!last_prompt(&other).contains("here.rs"));
}

#[test]
fn a_diff_starts_at_the_last_clean_review() {
    let session = ReviewedSession::new(RULE);
    session.write("src/a.rs", "first\n");
    session.expect_end();
    session.write("src/a.rs", "first\nsecond\n");
    session.expect_end();
    let prompt = last_prompt(&session);
    assert!(prompt.contains(" first\n+second\n"), "{prompt}");
    // Another session goes on from there, as long as nobody has committed something else.
    let next = session.other("session-2");
    next.write("src/a.rs", "first\nsecond\nthird\n");
    next.expect_end();
    assert!(last_prompt(&next).contains(" second\n+third\n"), "{}", last_prompt(&next));
    session.project.write_file("src/a.rs", "of others\n");
    session.git("add -A");
    session.git("commit -qm others");
    let last = session.other("session-3");
    last.write("src/a.rs", "of others\nfourth\n");
    last.expect_end();
    assert!(last_prompt(&last).contains(" of others\n+fourth\n"), "{}", last_prompt(&last));
}

#[test]
fn a_commit_in_between_changes_nothing() {
    let session = ReviewedSession::new(RULE);
    session.script(&["fail 1", "pass", "pass"]);
    session.write("src/a.rs", "x\n");
    session.run("git add -A && git commit -qm work");
    session.expect_held();
    assert!(last_prompt(&session).contains("+x\n"));
    session.run("git commit -q --amend -m better");
    assert!(session.expect_end().contains("clean 2 times"));
    session.run("git reset -q --soft HEAD~1");
    assert!(session.stop().is_silent());
    assert_eq!(session.count_reviews(), 3);
}

#[test]
fn what_a_rebase_brings_is_not_reviewed() {
    let session = ReviewedSession::new(RULE);
    session.git("checkout -q -b topic");
    let session = session.other("session-2");
    session.write("src/mine.rs", "mine\n");
    session.run("git add -A && git commit -qm mine");
    session.git("checkout -q main");
    session.project.write_file("src/theirs.rs", "theirs\n");
    session.git("add -A");
    session.git("commit -qm theirs");
    session.git("checkout -q topic");
    session.run("git rebase -q main");
    session.expect_end();
    let prompt = last_prompt(&session);
    assert!(prompt.contains("+mine\n") && !prompt.contains("theirs"), "{prompt}");
    session.run("git rebase -q main");
    assert!(session.stop().is_silent());
}

#[test]
fn two_sessions_do_not_review_each_others_work() {
    let session = ReviewedSession::new(RULE);
    let other = session.other("session-2");
    session.write("src/a.rs", "mine\n");
    other.write("src/b.rs", "theirs\n");
    // Git changes the work tree as a whole, and no file of the other session.
    session.run("git checkout -q -b topic");
    session.expect_end();
    assert!(last_prompt(&session).contains("src/a.rs") && !last_prompt(&session).contains("src/b.rs"));
    other.expect_end();
    assert!(last_prompt(&other).contains("src/b.rs") && !last_prompt(&other).contains("src/a.rs"));
}

#[test]
fn files_that_programs_write_are_left_alone() {
    let session = ReviewedSession::new("need = { review = 1 }");
    session
        .project
        .write_file(".gitattributes", "*.gen.rs linguist-generated\nlib/** linguist-vendored=true\n");
    session.project.write_file(".gitignore", "target/\n");
    session.git("add -A");
    session.git("commit -qm attributes");
    let session = session.other("session-2");
    for file in
        ["Cargo.lock", "web/node_modules/a/b.js", "src/x.gen.rs", "lib/y.c", "target/z", "vendor/q.go"]
    {
        session.write(file, "x\n");
    }
    assert!(session.stop().is_silent());
    assert_eq!(session.count_reviews(), 0);
    session.write("src/a.rs", "x\n");
    session.expect_end();
    let prompt = last_prompt(&session);
    let left_out = "- Cargo.lock (a lock file)\n- vendor/q.go (vendored)\n- web/node_modules/a/b.js (vendored)\n- target/z (ignored by git)\n- lib/y.c (vendored)\n- src/x.gen.rs (generated)\n";
    assert!(prompt.starts_with("Changed files:\n- src/a.rs\n") && prompt.contains(left_out), "{prompt}");
}

#[test]
fn an_agent_cannot_hide_a_file_by_calling_it_generated() {
    let session = ReviewedSession::new(RULE);
    session.write(".gitattributes", "src/** linguist-generated\n");
    session.write("src/a.rs", "x\n");
    session.expect_end();
    assert!(last_prompt(&session).contains("- src/a.rs"));
}

#[test]
fn files_of_any_name_and_kind_are_reviewed() {
    let session = ReviewedSession::new("need = { review = 1 }");
    let names = [":(top)x", "-x", "a\nb", "é/ü", "\"q\"", "src/*.rs", "#c", "a b"];
    for name in names {
        session.write(name, "x\n");
    }
    session.write("crlf.txt", "a\r\nb\r\n");
    fs::write(session.project.path.join("binary"), [0, 1, 2, 255, 0]).unwrap();
    session.run("true > binary; printf '\\000\\377' > binary");
    let told = session.expect_end();
    assert!(told.contains("clean once (10 files, "), "{told}");
    let prompt = last_prompt(&session);
    assert!(prompt.contains("Binary files /dev/null and b/binary differ"), "{prompt}");
}

#[test]
fn large_and_unreadable_files_are_named_and_hold_nobody() {
    let session = ReviewedSession::new("need = { review = 1 }");
    session.write("large.txt", &"x\n".repeat(3 << 20));
    session.write("src/a.rs", &"y\n".repeat(40_000));
    session.write("inner/.git/HEAD", "ref: refs/heads/main\n");
    session.write("inner/file", "x\n");
    session.expect_end();
    let prompt = last_prompt(&session);
    assert!(prompt.contains("- large.txt (larger than 4 MiB)"), "{prompt}");
    assert!(prompt.contains("- inner/file (in another repository)"), "{prompt}");
    assert!(prompt.contains("The diff is in /") && !prompt.contains("+y\n"), "{prompt}");
}

#[test]
fn a_project_without_git_is_reviewed_too() {
    let session = ReviewedSession::new(RULE);
    fs::remove_dir_all(session.project.path.join(".git")).unwrap();
    let session = session.other("session-2");
    session.write("src/a.rs", "x\n");
    session.expect_end();
    assert!(last_prompt(&session).contains("+x\n"), "{}", last_prompt(&session));
    session.write("src/a.rs", "x\ny\n");
    session.expect_end();
    assert!(last_prompt(&session).contains(" x\n+y\n"), "{}", last_prompt(&session));
    assert!(!session.project.path.join(".git").exists());
}

#[test]
fn a_repository_without_a_commit_is_reviewed_too() {
    let session = ReviewedSession::new(RULE);
    fs::remove_dir_all(session.project.path.join(".git")).unwrap();
    session.git("init -q");
    let session = session.other("session-2");
    session.write("src/a.rs", "x\n");
    session.run("git add -A && git commit -qm first");
    session.expect_end();
    assert!(last_prompt(&session).contains("+x\n"));
}

#[test]
fn an_unknown_write_counts_every_file_that_is_not_committed() {
    let session = ReviewedSession::new(RULE);
    session.run("for f in src/one.rs src/two.rs; do echo x > \"$f\"; done");
    session.expect_end();
    let prompt = last_prompt(&session);
    assert!(prompt.contains("- src/one.rs\n- src/two.rs"), "{prompt}");
}

#[test]
fn instructions_are_chosen_by_the_files_and_can_be_the_users() {
    let session = ReviewedSession::new("need = { review = 1 }");
    session.write("docs/a.md", "x\n");
    session.expect_end();
    let has = |part: &str| session.prompts().pop().unwrap().contains(part);
    assert!(
        has("# How to review documents") && !has("# How to review code") && !has("# How to review tests")
    );
    session.write("src/a.rs", "x\n");
    session.write("tests/a.rs", "x\n");
    session.expect_end();
    assert!(!has("# How to review documents") && has("# How to review code") && has("# How to review tests"));

    let own = |value: &str| {
        let session = ReviewedSession::with_config("need = { review = 1 }", &format!("prompt = \"{value}\""));
        session.write("src/a.rs", "x\n");
        session.write("docs/a.md", "x\n");
        session
    };
    let session = own("review.md");
    session.project.write_file("review.md", "Look for typos.");
    session.expect_end();
    let prompt = session.prompts().pop().unwrap();
    assert!(prompt.contains("Look for typos.") && !prompt.contains("# How to review"), "{prompt}");
    let session = own("~/prompts-of-mine");
    session.project.write_home_file("prompts-of-mine/code.md", "Look for bugs.");
    session.expect_end();
    let prompt = session.prompts().pop().unwrap();
    assert!(prompt.contains("Look for bugs.") && prompt.contains("# How to review documents"), "{prompt}");
    let mut event = session.event("PreToolUse.Write");
    for (file, is_denied) in [("code.md", true), ("docs.md", true), ("notes.md", false)] {
        event["tool_input"] = serde_json::json!({"file_path": session.project.home.join("prompts-of-mine").join(file), "content": "x"});
        assert_eq!(session.project.hook(&event).find_denial().is_ok(), is_denied, "{file}");
    }
    let session = own("missing.md");
    let told = session.expect_end();
    assert!(told.contains("`reviewer.prompt` names") && told.contains("missing.md"), "{told}");
}

#[test]
fn findings_go_to_the_directory_that_the_user_sets() {
    let session = ReviewedSession::with_config("need = { review = 1 }", "findings = \"notes/reviews\"");
    session.script(&["fail here it is"]);
    session.write("src/a.rs", "x\n");
    let held = session.expect_held();
    let directory = session.project.path.join("notes/reviews");
    let file = fs::read_dir(&directory).unwrap().next().unwrap().unwrap().path();
    assert!(held.contains(file.to_str().unwrap()), "{held}");
    assert_eq!(fs::read_to_string(file).unwrap(), "here it is\n");
    session.expect_end();
    assert!(!session.prompts().pop().unwrap().contains("- notes/"));
}

#[test]
fn hostile_findings_stay_text() {
    let session = ReviewedSession::new(RULE);
    session.script(&["printf '\\033[2J\\nlast %s' \"$(head -c 200000 /dev/zero | tr '\\0' x)\" > \"$file\"; echo VERDICT: FAIL"]);
    session.write("src/a.rs", "x\n");
    let held = session.expect_held();
    assert!(held.contains("\\u{1b}[2J") && !held.contains('\x1b'), "{held}");
    assert!(held.len() < 8_000 && held.contains("\n[provost] end of the findings"), "{}", held.len());
}
