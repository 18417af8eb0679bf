//! `adds`: the lines that a write adds, on every channel that says them.

use serde_json::json;

use super::{assert_decisions, project_with_rules};
use crate::support::TestProject;

fn with_todo() -> TestProject {
    let project = project_with_rules(
        "[[rule]]\nname = \"no-todo\"\nwrites = [\"*.rs\", \"*.ipynb\"]\nadds = 'TODO\\b'\ndeny = \"write it down elsewhere\"\n",
    );
    project.write_file("a.rs", "// TODO old\nfn a() {}\n");
    project.write_file("with.txt", "// TODO copied\n");
    project.write_file("n.ipynb", "{\"cells\": [{\"source\": [\"# TODO old\\n\"]}]}");
    project
}

#[test]
fn lines_that_a_command_adds_are_judged() {
    let project = with_todo();
    let denied = [
        "{ echo a; echo '// TODO'; } > a.rs",
        "( echo a; echo '// TODO' ) >> a.rs",
        "{ echo a; echo TODO; } | tee a.rs",
        "{ cat <<'EOF'\n// TODO\nEOF\n} > a.rs",
        "for i in 1 2; do echo \"TODO $i\"; done > a.rs",
        "cat <<< TODO > a.rs",
        "cat > a.rs <<< TODO",
        "tee a.rs <<< TODO",
        "echo TODO | tee -a a.rs",
        "cat <<EOF | tee a.rs\nTODO $X\nEOF",
        "cat <<'EOF' | sudo tee a.rs > /dev/null\nTODO\nEOF",
        "printf '%s\\n' a TODO >> a.rs",
        "printf '%-10s|%5d\\n' TODO 3 >> a.rs",
        "printf 'TODO\\n' > a.rs",
        "echo -e 'a\\nTODO' > a.rs",
        "sed -i 's/fn a/TODO fn a/' a.rs",
        "sed -i '1i\\// TODO' a.rs",
        "sed -i '$ a\\TODO' a.rs",
        "sed -i '/fn/c\\TODO' a.rs",
        "sed -i -e 's/x/y/' -e 's/fn/TODO/' a.rs",
        "perl -pi -e 's/fn/TODO fn/' a.rs",
        "perl -i -pe 's|fn|TODO|g' a.rs",
        "ed -s a.rs <<'EOF'\na\nTODO\n.\nw\nEOF",
        "printf 'a\\nTODO\\n.\\nw\\n' | ed a.rs",
        "bash -c 'echo TODO > a.rs'",
        "cp with.txt b.rs",
        "mv with.txt b.rs",
    ];
    assert_decisions(&project, &denied.map(|line| ("deny rule:no-todo", project.bash(line))));
    let allowed = [
        "{ echo a; echo b; } > a.rs",
        "{ echo TODO; echo b; } > a.md",
        "echo '// TODO old' >> a.rs",
        "sed -i 's/TODO old/done/' a.rs",
        "sed -n '/TODO/p' a.rs",
        "perl -pi -e 's/TODO/done/' a.rs",
        "grep TODO a.rs > found.txt",
        "{ echo TODO; } ; echo x > b.rs",
        "echo TODO; echo x > b.rs",
        "printf '%s\\n' TODOS > b.rs",
        "cp a.rs b.txt",
        "rm a.rs",
    ];
    assert_decisions(&project, &allowed.map(|line| ("silent", project.bash(line))));
}

#[test]
fn lines_that_a_tool_adds_are_judged() {
    let project = with_todo();
    let file = project.path.join("a.rs");
    let notebook = |input: serde_json::Value| {
        let mut input = input;
        input["notebook_path"] = json!(project.path.join("n.ipynb"));
        project.call("NotebookEdit", input)
    };
    let edit_all = |old: &str, new: &str| {
        project.call(
            "Edit",
            json!({"file_path": file, "old_string": old, "new_string": new, "replace_all": true}),
        )
    };
    let mcp = |name: &str, input: serde_json::Value| project.call(&format!("mcp__filesystem__{name}"), input);
    assert_decisions(
        &project,
        &[
            ("deny rule:no-todo", notebook(json!({"new_source": "x\n# TODO"}))),
            ("deny rule:no-todo", notebook(json!({"new_source": "# TODO", "edit_mode": "insert"}))),
            ("silent", notebook(json!({"new_source": "# TODO old"}))),
            ("silent", notebook(json!({"new_source": "# TODO", "edit_mode": "delete"}))),
            ("silent", notebook(json!({"new_source": "x"}))),
            ("deny rule:no-todo", edit_all("fn", "TODO fn")),
            ("silent", edit_all("TODO", "DONE")),
            ("silent", edit_all("fn", "pub fn")),
            ("deny rule:no-todo", project.multi_edit(&file, &[("fn", "pub fn"), ("a()", "a() /* TODO */")])),
            ("silent", project.multi_edit(&file, &[("fn", "TODO fn"), ("TODO fn", "fn")])),
            ("deny rule:no-todo", mcp("write_file", json!({"path": file, "content": "x\n// TODO\n"}))),
            ("silent", mcp("write_file", json!({"path": file, "content": "// TODO old\nfn b() {}\n"}))),
            (
                "deny rule:no-todo",
                mcp("edit_file", json!({"path": file, "edits": [{"oldText": "fn", "newText": "TODO fn"}]})),
            ),
            (
                "silent",
                mcp(
                    "edit_file",
                    json!({"path": file, "edits": [{"oldText": "// TODO old", "newText": "x"}]}),
                ),
            ),
            ("silent", mcp("write_file", json!({"path": "TODO.md", "content": "TODO"}))),
            ("silent", mcp("read_file", json!({"path": file, "note": "TODO"}))),
        ],
    );
}

#[test]
fn a_rule_with_adds_alone_is_about_every_file() {
    let project =
        project_with_rules("[[rule]]\nname = \"key\"\nadds = 'AKIA[0-9A-Z]{16}'\ndeny = \"a key\"\n");
    let key = "AKIAABCDEFGHIJKLMNOP";
    assert_decisions(
        &project,
        &[
            ("deny rule:key", project.write(project.path.join("x"), key)),
            ("deny rule:key", project.bash(&format!("echo {key} > y"))),
            (
                "deny rule:key",
                project.call("mcp__filesystem__write_file", json!({"path": "z", "content": key})),
            ),
            ("silent", project.write(project.path.join("x"), "AKIA")),
            ("silent", project.bash(&format!("echo {key}"))),
            ("silent", project.bash(&format!("echo {key} > /dev/null"))),
            ("deny rule:key", project.bash(&format!("echo {key} | tee x > /dev/null"))),
        ],
    );
    // What cannot be read has no line that the new text may repeat.
    std::fs::create_dir(project.path.join("directory")).unwrap();
    let event = project.write(project.path.join("directory"), key);
    assert_decisions(&project, &[("deny rule:key", event)]);
}

#[test]
fn lines_that_a_patch_adds_are_judged() {
    let project = with_todo();
    let patch = |sign: &str, line: &str| {
        format!("--- a/a.rs\n+++ b/a.rs\n@@ -1,2 +1,2 @@\n // TODO old\n-fn a() {{}}\n{sign}{line}\n")
    };
    let (bad, good) = (patch("+", "// TODO new"), patch("+", "fn b() {}"));
    project.write_file("bad.patch", &bad);
    project.write_file("good.patch", &good);
    project.write_file("removes.patch", &patch("-", "// TODO new"));
    let denied = [
        "git apply bad.patch",
        "git apply --index - < bad.patch",
        "git am bad.patch",
        "patch -p1 < bad.patch",
        "patch -p1 -i bad.patch",
        "cat bad.patch | patch -p1",
        "git apply -R removes.patch",
        &format!("git apply <<'EOF'\n{bad}EOF"),
        &format!("patch -p1 <<'EOF'\n{bad}EOF"),
        // The command names the file, and the patch does not.
        "patch a.rs <<'EOF'\n@@ -1 +1,2 @@\n // TODO old\n+// TODO new\nEOF",
        "patch a.rs < bad.patch",
        "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.rs\n@@\n // TODO old\n+// TODO new\n*** End Patch\nEOF",
    ];
    assert_decisions(&project, &denied.map(|line| ("deny rule:no-todo", project.bash(line))));
    let allowed = [
        "git apply good.patch",
        "patch -p1 < good.patch",
        "git apply removes.patch",
        "git apply -R bad.patch",
        "git apply --check bad.patch",
        "patch --dry-run -p1 < bad.patch",
        &format!("git apply <<'EOF'\n{good}EOF"),
        &format!("git apply <<'EOF'\n{}EOF", bad.replace("a.rs", "a.md")),
        "patch a.rs <<'EOF'\n@@ -1 +1,2 @@\n // TODO old\n+fn b() {}\nEOF",
        "patch a.md <<'EOF'\n@@ -1 +1,2 @@\n a\n+// TODO new\nEOF",
        "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.rs\n@@\n // TODO old\n+fn b() {}\n*** End Patch\nEOF",
    ];
    assert_decisions(&project, &allowed.map(|line| ("silent", project.bash(line))));
}

/// An example has no disk, but a patch in its line.
#[test]
fn a_patch_in_the_line_of_an_example_is_judged() {
    let project = project_with_rules(
        r#"
[[rule]]
name = "no-todo"
writes = "src/*.rs"
adds = 'TODO\b'
deny = "write it down elsewhere"
match = [
    "git apply <<'E'\n--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1 +1,2 @@\n x\n+TODO\nE",
    "cd src && patch a.rs <<'E'\n@@ -1 +1,2 @@\n x\n+TODO\nE",
    "printf '%s\n' '--- a/src/a.rs' '+++ b/src/a.rs' '@@ -1 +1,2 @@' ' x' '+TODO' | git apply",
]
not_match = [
    "git apply <<'E'\n--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1,2 +1 @@\n x\n-TODO\nE",
    "git apply <<'E'\n--- a/doc/a.rs\n+++ b/doc/a.rs\n@@ -1 +1,2 @@\n x\n+TODO\nE",
    "git apply todo.patch",
]
"#,
    );
    let output = project.provost_command("rules", &["test"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn lines_that_are_copied_or_written_by_code_are_judged() {
    let project = with_todo();
    let denied = [
        "cat with.txt > b.rs",
        "cat with.txt >> a.rs",
        "cat < with.txt | tee -a a.rs",
        "dd of=b.rs <<< TODO",
        "python3 -c \"open('b.rs', 'w').write('TODO')\"",
        "python3 - <<'E'\nwith open('b.rs', 'w') as f:\n    f.write('a')\n    f.write('TODO')\nE",
        "node -e \"require('fs').writeFileSync('b.rs', 'TODO')\"",
        "echo \"$(echo TODO)\" > b.rs",
    ];
    assert_decisions(&project, &denied.map(|line| ("deny rule:no-todo", project.bash(line))));
    let allowed = [
        "cat a.rs > b.txt",
        "cat a.rs >> a.rs",
        "python3 -c \"open('b.rs', 'w').write('x'); print('TODO')\"",
        "echo TODO >&2 | tee b.rs",
    ];
    assert_decisions(&project, &allowed.map(|line| ("silent", project.bash(line))));
}
