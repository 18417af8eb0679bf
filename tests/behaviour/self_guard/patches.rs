//! A patch names the files that it changes, and is denied if one of them is protected.

use serde_json::json;

use super::git_files::{committed, git};

const PATCH: &str = "\
diff --git a/provost.toml b/provost.toml
--- a/provost.toml
+++ b/provost.toml
@@ -1 +1 @@
-[engine]
+[guards]
";

const HARMLESS: &str = "\
diff --git a/old.rs b/old.rs
--- a/old.rs
+++ b/old.rs
@@ -1 +1,2 @@
 
+// The user's provost.toml decides.
";

/// A command line that feeds a patch to a command with a here-document.
fn fed(command: &str, patch: &str) -> String {
    format!("{command} <<'END'\n{patch}END\n")
}

#[test]
fn a_patch_on_disk_that_names_a_protected_file_is_denied() {
    let project = committed();
    project.write_file("x.patch", PATCH);
    project.write_file("good.patch", HARMLESS);
    project.write_file("sub/y.patch", "From 1 Mon Sep 17\nSubject: x\n\n---\n");
    project.write_file(
        "mail/1",
        &format!("From 1 Mon Sep 17 00:00:00 2001\nSubject: x\n\n---\n{PATCH}-- \n2.4\n"),
    );
    project.write_home_file("up.patch", PATCH);
    project.assert_lines_denied(&[
        "git apply x.patch",
        "git apply -- x.patch",
        "git apply good.patch x.patch",
        "git apply *.patch",
        "git apply < x.patch",
        "git apply - < x.patch",
        "cat x.patch | git apply",
        "cat < x.patch | git apply -",
        "git apply /dev/stdin < x.patch",
        "git apply /dev/fd/3 3< x.patch",
        "git apply <(cat x.patch)",
        "git apply <<< \"$(cat x.patch)\"",
        "git apply -p1 --index x.patch",
        "git apply -3 x.patch",
        "git apply -R x.patch",
        "git apply --stat --apply x.patch",
        "git apply --exclude=old.rs x.patch",
        "git apply --reject --whitespace=nowarn x.patch",
        "git apply ~/up.patch",
        "git apply \"$HOME/up.patch\"",
        "git -C . apply x.patch",
        "cd sub && git apply --directory=.. ../x.patch",
        "git am mail/1",
        "git am -3 --signoff mail/1",
        "git am < mail/1",
        "cat mail/1 | git am",
        "git mailinfo m p < mail/1 && git apply x.patch",
        "patch -p1 < x.patch",
        "patch -p1 -i x.patch",
        "patch -p1 -ix.patch",
        "patch --strip=1 --input=x.patch",
        "patch -p1 --input x.patch",
        "patch < x.patch",
        "cat x.patch | patch -p1",
        "cd sub && patch -d .. -p1 < ../x.patch",
        "patch provost.toml good.patch",
        "patch provost.toml < good.patch",
        "patch -o provost.toml old.rs good.patch",
        "patch --output=provost.toml old.rs good.patch",
        "patch -r provost.toml old.rs good.patch",
        "sh -c 'git apply x.patch'",
    ]);
    project.assert_lines_allowed(&[
        "git apply good.patch",
        "git apply < good.patch",
        "cat good.patch | git apply -R",
        "patch -p1 < good.patch",
        "patch -p1 -i good.patch",
        "patch old.rs good.patch",
        "patch -p1 --dry-run < x.patch",
        "git apply --check x.patch",
        "git apply --stat x.patch",
        "git apply --numstat --summary x.patch",
        "git apply --cached x.patch",
        "git apply --exclude=provost.toml x.patch",
        "git apply --include='src/*' x.patch",
        "git apply missing.patch",
        "git am sub/y.patch",
        "git am --abort",
        "git am --continue",
        "git diff HEAD~1 | git apply -R",
        "cat x.patch",
        "grep -n provost x.patch && git status",
    ]);
}

#[test]
fn a_patch_that_is_too_large_to_be_read_is_denied() {
    let project = committed();
    let padding = "From the list: a long cover letter.\n".repeat(500_000);
    project.write_file("large.patch", &format!("{padding}{PATCH}"));
    project.write_file("large.log", &padding);
    project.assert_lines_denied(&[
        "git apply large.patch",
        "git apply < large.patch",
        "patch -p1 -i large.patch",
    ]);
    project.assert_lines_allowed(&["grep cover large.log", "git apply --check large.patch"]);
}

#[test]
fn a_patch_in_the_line_that_names_a_protected_file_is_denied() {
    let project = committed();
    let renamed =
        "diff --git a/provost.toml b/x\nsimilarity index 100%\nrename from provost.toml\nrename to x\n";
    let copied = "diff --git a/a.txt b/sub/provost.toml\nsimilarity index 100%\ncopy from a.txt\ncopy to sub/provost.toml\n";
    let deleted = "--- a/provost.toml\n+++ /dev/null\n@@ -1 +0,0 @@\n-[engine]\n";
    let mode = "diff --git a/provost.toml b/provost.toml\nold mode 100644\nnew mode 100755\n";
    let quoted = PATCH
        .replace("b/provost.toml\n@@", "\"b/provost.\\164oml\"\n@@")
        .replace("--git a/provost.toml b/provost.toml", "--git x y")
        .replace("--- a/provost.toml", "--- a/x");
    let dated = PATCH.replace("+++ b/provost.toml", "+++ b/provost.toml\t2026-01-01 00:00:00");
    let settings = PATCH.replace("provost.toml", ".claude/settings.json");
    let bare = PATCH.replace("a/provost", "provost").replace("b/provost", "provost");
    let context =
        "*** provost.toml\n--- provost.toml\n***************\n*** 1 ****\n! [engine]\n--- 1 ----\n! x\n";
    let index = "Index: provost.toml\n===\n@@ -1 +1 @@\n-[engine]\n+x\n";
    let deep = PATCH.replace("a/provost", "a/b/c/provost").replace("b/provost", "b/b/c/provost");
    let lines = [
        fed("git apply", PATCH),
        fed("git apply -", renamed),
        fed("git apply", copied),
        fed("git apply", deleted),
        fed("git apply", mode),
        fed("git apply", &quoted),
        fed("git apply", &dated),
        fed("git apply", &settings),
        fed("git apply -p0", &bare),
        fed("git apply -p3", &deep),
        fed("git am", PATCH),
        fed("patch", &bare),
        fed("patch -p0", context),
        fed("patch", index),
        fed("patch -p1", &settings),
        fed("cat > p && git apply p; true", PATCH),
        fed("cat > p", PATCH) + "git apply p",
        fed("tee p", PATCH) + "patch -p1 -i p",
        format!("git apply <<< '{PATCH}'"),
        format!("echo '{PATCH}' | git apply"),
        format!("printf '{}' | patch -p1", PATCH.replace('\n', "\\n")),
        fed("git apply", &format!("{HARMLESS}{PATCH}")),
    ];
    project.assert_lines_denied(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let harmless = [
        fed("git apply", HARMLESS),
        fed("patch -p1", HARMLESS),
        fed("cat > x.patch", PATCH),
        fed("git apply --check", PATCH),
        fed("cat", PATCH) + "git status",
        fed("git apply --cached", PATCH),
    ];
    project.assert_lines_allowed(&harmless.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn an_unknown_tool_that_is_given_a_patch_is_judged_by_it() {
    let project = committed();
    let own = "*** Begin Patch\n*** Update File: provost.toml\n@@\n-x\n+y\n*** End Patch\n";
    project.assert_denied(&[
        ("patch", project.mcp(json!({"patch": PATCH}))),
        ("in a list", project.mcp(json!({"edits": [{"diff": PATCH}]}))),
        ("of its own form", project.mcp(json!({"input": own}))),
        (
            "moved",
            project.mcp(json!({"input": own.replace("provost.toml\n", "x\n*** Move to: provost.toml\n")})),
        ),
        ("in a text of JSON", project.mcp(json!({"arguments": json!({"path": "provost.toml"}).to_string()}))),
        (
            "deep in it",
            project.mcp(json!({"a": json!({"b": json!({"c": "provost.toml"}).to_string()}).to_string()})),
        ),
    ]);
    project.assert_allowed(&[
        ("harmless", project.mcp(json!({"patch": HARMLESS}))),
        (
            "a text about a patch",
            project.mcp(
                json!({"body": "The patch changes `provost.toml`:\n\n> +++ b/provost.toml\n\nIt is fine."}),
            ),
        ),
        ("a text of JSON", project.mcp(json!({"arguments": "{\"path\": \"src/main.rs\"}"}))),
    ]);
}

#[test]
fn a_sparse_checkout_that_takes_a_protected_file_away_is_denied() {
    let project = committed();
    project.write_file("list", "src\n");
    project.assert_lines_denied(&[
        "git sparse-checkout set src",
        "git sparse-checkout set --cone src sub",
        "git sparse-checkout init",
        "git sparse-checkout init --cone",
        "git sparse-checkout set",
        "git sparse-checkout set --no-cone src",
        "git sparse-checkout set --no-cone '/*' '!provost.toml'",
        "git sparse-checkout set --no-cone '/*' '!/.claude/'",
        "echo src | git sparse-checkout set --stdin",
        "git sparse-checkout set --stdin < list",
        "git -C src sparse-checkout set src",
        "git clone -q . c && git sparse-checkout set src",
    ]);
    project.assert_lines_allowed(&[
        "git sparse-checkout list",
        "git sparse-checkout disable",
        "git sparse-checkout add src",
        "git sparse-checkout set .claude src",
        "git sparse-checkout set --no-cone '/*' '!/sub/'",
        "git sparse-checkout set --no-cone '/*' '!*.bin'",
        "git sparse-checkout check-rules",
        "git -C ../other sparse-checkout set src",
    ]);
    git(&project.path, "git rm -q --cached -r .claude && git commit -qm less");
    project.assert_lines_allowed(&["git sparse-checkout set src", "git sparse-checkout init --cone"]);
}
