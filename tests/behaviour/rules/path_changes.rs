//! `writes`, `deletes` and `changes`: files that a call changes, one by one or as whole trees.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use super::{assert_decisions, decide, project_with_rules};
use crate::phases::branch_guard::git_in;
use crate::support::TestProject;

fn with_locked(more: &str) -> TestProject {
    let project = project_with_rules(&format!(
        "[[rule]]\nname = \"locked\"\nchanges = \"locked/**\"\n{more}\ndeny = \"generated\"\n"
    ));
    project.write_file("locked/a.txt", "x\n");
    project.write_file("free/a.txt", "x\n");
    git_in(&project.path, &["add", "locked", "free"]);
    git_in(&project.path, &["-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", "x"]);
    project
}

const GIT_DISCARDS: &[&str] = &[
    "git restore .",
    "git checkout .",
    "git checkout -- .",
    "git checkout locked",
    "git restore locked/",
    "git restore :/",
    "git restore '*.txt'",
    "git stash",
    "git stash push -- locked",
    "git reset --hard",
    "git checkout -f",
    "cd free && git checkout ..",
    "git -C free restore ../locked",
];

#[test]
fn git_commands_over_trees_change_the_files_that_they_would_change() {
    let project = with_locked("");
    for line in GIT_DISCARDS {
        assert_eq!(decide(&project, &project.bash(line)), "silent", "nothing has changed: {line}");
    }
    project.write_file("locked/a.txt", "changed\n");
    for line in GIT_DISCARDS {
        assert_eq!(decide(&project, &project.bash(line)), "deny rule:locked", "{line}");
    }
    for line in [
        "git restore free",
        "git checkout -- free/a.txt",
        "git restore --staged .",
        "git stash list",
        "git add .",
    ] {
        assert_eq!(decide(&project, &project.bash(line)), "silent", "{line}");
    }
}

#[test]
fn files_that_git_commands_name_change() {
    let project = with_locked("");
    let denied = [
        "git checkout -- locked/a.txt",
        "git checkout HEAD~1 -- locked/a.txt",
        "git checkout main locked/a.txt",
        "git restore --source=HEAD locked/a.txt",
        "git rm locked/a.txt",
        "git rm -r locked",
        "git rm 'locked/*.txt'",
        "git mv locked/a.txt free/b.txt",
        "git mv free/a.txt locked/b.txt",
        "git mv free/a.txt locked",
        "git mv locked other",
    ];
    assert_decisions(&project, &denied.map(|line| ("deny rule:locked", project.bash(line))));
    let allowed = [
        "git rm --cached locked/a.txt",
        "git mv free/a.txt free/b.txt",
        "git rm free/a.txt",
        "git mv -n locked x",
    ];
    assert_decisions(&project, &allowed.map(|line| ("silent", project.bash(line))));
}

#[test]
fn git_clean_deletes_what_is_not_tracked() {
    let project =
        project_with_rules("[[rule]]\nname = \"d\"\ndeletes = \"scratch/**\"\ndeny = \"keep it\"\n");
    git_in(&project.path, &["add", "-A"]);
    project.write_file("other.txt", "x");
    assert_decisions(&project, &[("silent", project.bash("git clean -fd"))]);
    project.write_file("scratch/a.txt", "x");
    git_in(&project.path, &["add", "other.txt"]);
    assert_decisions(
        &project,
        &[
            ("deny rule:d", project.bash("git clean -fd")),
            ("deny rule:d", project.bash("git clean -fdx scratch")),
            ("silent", project.bash("git clean -n")),
            ("silent", project.bash("git clean -fd src")),
            ("silent", project.bash("git clean -fX")),
        ],
    );
    git_in(&project.path, &["add", "scratch"]);
    assert_decisions(&project, &[("silent", project.bash("git clean -fd"))]);
}

#[test]
fn patches_change_the_files_that_they_name() {
    let project = with_locked("");
    let patch = |path: &str| format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-x\n+y\n");
    project.write_file("bad.patch", &patch("locked/a.txt"));
    project.write_file("good.patch", &patch("free/a.txt"));
    let heredoc = format!("git apply <<'EOF'\n{}EOF", patch("locked/a.txt"));
    assert_decisions(
        &project,
        &[
            ("deny rule:locked", project.bash("git apply bad.patch")),
            ("deny rule:locked", project.bash("patch -p1 < bad.patch")),
            ("deny rule:locked", project.bash("patch -p1 -i bad.patch")),
            ("deny rule:locked", project.bash("git am bad.patch")),
            ("deny rule:locked", project.bash(&heredoc)),
            ("deny rule:locked", project.bash("cat bad.patch | git apply")),
            ("silent", project.bash("git apply good.patch")),
            ("silent", project.bash("git apply --check bad.patch")),
            ("silent", project.bash("patch -p1 --dry-run < bad.patch")),
            ("silent", project.bash("git diff | git apply -R")),
        ],
    );
}

#[test]
fn an_archive_changes_files_below_the_directory_where_it_is_unpacked() {
    for (unknown, expected) in [("pass", "silent"), ("ask", "ask rule:locked")] {
        let project = with_locked(&format!("unknown = \"{unknown}\""));
        let denied = [
            "tar xf a.tar -C locked",
            "tar -xzf a.tgz --directory=locked",
            "cd locked && tar xf ../a.tar",
            "unzip a.zip -d locked",
            "unzip -o a.zip -d locked/sub",
            "7z x a.7z -olocked",
            "tar xf a.tar locked/a.txt",
        ];
        assert_decisions(&project, &denied.map(|line| ("deny rule:locked", project.bash(line))));
        let unknown = ["tar xf a.tar", "unzip a.zip", "tar xf a.tar -C ."];
        assert_decisions(&project, &unknown.map(|line| (expected, project.bash(line))));
        let allowed = [
            "tar tf a.tar",
            "tar xf a.tar -C /opt",
            "unzip -l a.zip",
            "unzip a.zip -d free",
            "tar czf a.tgz locked",
        ];
        assert_decisions(&project, &allowed.map(|line| ("silent", project.bash(line))));
    }
    let project = with_locked("unless = \"new\"");
    assert_decisions(&project, &[("silent", project.bash("tar xf a.tar -C locked"))]);
}

#[test]
fn what_find_and_rsync_delete_is_deleted() {
    let project = with_locked("");
    let denied = [
        "find . -name '*.txt' -delete",
        "find . -name 'a.*' -exec rm {} +",
        "find . -type f -name '*.txt' -print0 | xargs -0 rm -f",
        "find locked -mtime +7 -delete",
        "find . -type f -delete",
        "rsync -a --delete free/ locked/",
        "rsync -a --delete-after /tmp/x/ .",
        "rsync -a free/ locked",
    ];
    assert_decisions(&project, &denied.map(|line| ("deny rule:locked", project.bash(line))));
    let allowed = [
        "find . -name '*.pyc' -delete",
        "find free -name '*.txt' -delete",
        "find . -name '*.txt'",
        "find . -name __pycache__ -exec rm -rf {} +",
        "find . -type d -empty -delete",
        "find . -type f -empty -delete",
        "rsync -a locked/ free/",
        "rsync -a --delete locked/ /tmp/x/",
    ];
    assert_decisions(&project, &allowed.map(|line| ("silent", project.bash(line))));
}

#[test]
fn a_directory_above_is_changed_with_all_that_it_holds() {
    let project = with_locked("");
    let denied = [
        "rm -rf locked",
        "rm -rf ./locked/",
        "rm -rf *",
        "rm -rf .",
        "rm -rf lock*",
        "mv locked other",
        "rmdir locked",
        "rm -rf \"$PWD/locked\"",
        "sudo rm -rf locked",
        "cp -r free locked",
        "cp -r free/. locked",
        "mv free/a.txt locked/",
        "echo x > locked/new.txt",
        "truncate -s 0 locked/a.txt",
        "chmod +x locked/a.txt",
        "sed -i s/x/y/ locked/*.txt",
        "perl -pi -e s/x/y/ locked/a.txt",
        "printf 'a\\nx\\n.\\nw\\n' | ed -s locked/a.txt",
        "ln -s x locked/l",
        "install free/a.txt locked",
    ];
    assert_decisions(&project, &denied.map(|line| ("deny rule:locked", project.bash(line))));
    let allowed = [
        "rm -rf free",
        "cp -r locked free",
        "cat locked/a.txt",
        "ls locked",
        "cp locked/a.txt free/",
        "echo locked > x",
    ];
    assert_decisions(&project, &allowed.map(|line| ("silent", project.bash(line))));
}

#[test]
fn a_pattern_of_a_directory_names_it_with_what_it_holds() {
    let project = project_with_rules("[[rule]]\nname = \"r\"\nchanges = \"vendor/\"\ndeny = \"no\"\n");
    let denied =
        ["rm -rf vendor", "rm -rf a/vendor", "echo x > vendor/a", "echo x > a/vendor/b/c", "mv vendor x"];
    assert_decisions(&project, &denied.map(|line| ("deny rule:r", project.bash(line))));
    project.write_file("vendor", "a file");
    assert_decisions(&project, &["rm vendor", "echo x > vendor"].map(|line| ("silent", project.bash(line))));
}

#[test]
fn writes_and_deletes_are_told_apart() {
    let project = project_with_rules(
        "[[rule]]\nname = \"w\"\nwrites = \"w/**\"\ndeny = \"w\"\n[[rule]]\nname = \"d\"\ndeletes = \"d/**\"\ndeny = \"d\"\n",
    );
    project.write_file("w/a", "x");
    project.write_file("d/a", "x");
    assert_decisions(
        &project,
        &[
            ("silent", project.bash("rm w/a")),
            ("silent", project.bash("echo x > d/a")),
            ("deny rule:w", project.bash("echo x > w/a")),
            ("deny rule:d", project.bash("rm d/a")),
            ("deny rule:d", project.bash("mv d/a x")),
            ("deny rule:w", project.bash("mv x w/")),
            ("silent", project.bash("mv w/a x")),
            ("silent", project.bash("cp d/a x")),
            (
                "deny rule:w",
                project.call("mcp__filesystem__move_file", json!({"source": "x", "destination": "w/b"})),
            ),
            (
                "deny rule:d",
                project.call("mcp__filesystem__move_file", json!({"source": "d/a", "destination": "y"})),
            ),
        ],
    );
}

#[test]
fn a_link_that_is_deleted_or_replaced_is_not_followed() {
    let project = with_locked("");
    let link =
        |target: &str, name: &str| symlink(project.path.join(target), project.path.join(name)).unwrap();
    link("locked/a.txt", "to-locked");
    link("locked", "dir-link");
    link("free/a.txt", "locked/to-free");
    assert_decisions(
        &project,
        &[
            ("silent", project.bash("rm to-locked")),
            ("silent", project.bash("mv free/a.txt to-locked")),
            ("silent", project.bash("ln -sf free/a.txt to-locked")),
            ("silent", project.bash("mv to-locked other")),
            ("silent", project.bash("rm dir-link")),
            ("deny rule:locked", project.bash("echo x > to-locked")),
            ("deny rule:locked", project.bash("cp free/a.txt to-locked")),
            ("deny rule:locked", project.bash("tee to-locked < x")),
            ("deny rule:locked", project.write(project.path.join("to-locked"), "y")),
            ("deny rule:locked", project.write(project.path.join("dir-link/new.txt"), "y")),
            ("deny rule:locked", project.bash("rm dir-link/a.txt")),
            ("deny rule:locked", project.bash("mv free/a.txt dir-link/")),
            ("deny rule:locked", project.bash("rm locked/to-free")),
            ("deny rule:locked", project.bash("mv free/a.txt locked/to-free")),
            ("deny rule:locked", project.bash("ln -sf x locked/to-free")),
            ("silent", project.bash("echo x > locked/to-free")),
        ],
    );
}

#[test]
fn unless_new_holds_for_files_that_are_overwritten() {
    let project = project_with_rules(
        "[[rule]]\nname = \"final\"\nchanges = \"db/**\"\nunless = \"new\"\nask = \"it is applied\"\n",
    );
    project.write_file("db/1.sql", "x");
    project.write_file("db/sub/2.sql", "x");
    project.write_file("next/1.sql", "x");
    project.write_file("later/9.sql", "x");
    project.write_file("1.sql", "x");
    project.write_file("9.sql", "x");
    let asked = [
        "cp -r next/. db",
        "cp -r next/* db",
        "rsync -a next/ db/",
        "cp 1.sql db/",
        "cp 1.sql 9.sql db",
        "mv 1.sql db",
        "mv 9.sql db/1.sql",
        "install 1.sql db",
        "git mv -f 1.sql db/1.sql",
        "echo x >> db/1.sql",
        "echo x > db/1.sql",
        "echo x | tee -a db/1.sql",
        "sed -i s/x/y/ db/1.sql",
        "rm db/1.sql",
        "rm -rf db",
        "rm db/*.sql",
        "mv db old",
        "mv db/1.sql db/3.sql",
    ];
    assert_decisions(&project, &asked.map(|line| ("ask rule:final", project.bash(line))));
    let allowed = [
        "cp -r later/. db",
        "cp -r next db",
        "rsync -a later/ db/",
        "cp 9.sql db/",
        "cp 1.sql db/7.sql",
        "mv 9.sql db",
        "install 9.sql db",
        "git mv 9.sql db/9.sql",
        "echo x >> db/3.sql",
        "echo x | tee db/3.sql",
        "touch db/3.sql",
        "mkdir -p db/new",
        "rm db/9.sql",
        "mkdir db/more && cp 1.sql db/more/",
    ];
    assert_decisions(&project, &allowed.map(|line| ("silent", project.bash(line))));
    let path = |name: &str| project.path.join(name);
    assert_decisions(
        &project,
        &[
            ("ask rule:final", project.write(path("db/1.sql"), "y")),
            ("ask rule:final", project.edit(path("db/1.sql"), "x", "y")),
            (
                "ask rule:final",
                project
                    .call("mcp__filesystem__write_file", json!({"path": path("db/1.sql"), "content": "y"})),
            ),
            ("silent", project.write(path("db/3.sql"), "y")),
            (
                "silent",
                project
                    .call("mcp__filesystem__write_file", json!({"path": path("db/3.sql"), "content": "y"})),
            ),
        ],
    );
}

#[test]
fn an_exception_counts_for_the_file_that_results() {
    let project = project_with_rules(
        "[[rule]]\nname = \"r\"\nchanges = \"**\"\nexcept = [\"build/**\", \"*.log\"]\ndeny = \"ask first\"\n",
    );
    project.write_file("build/a", "x");
    project.write_file("src/a", "x");
    let allowed = [
        "cp x build/",
        "cp x build",
        "cp x y build",
        "mv /tmp/x build/",
        "cp -r src build/",
        "mkdir -p build/out && cp x build/out",
        "rm -rf build",
        "rm -rf build/*",
        "rm build/a",
        "echo x > build/b",
        "echo x > a.log",
        "rm -rf build && rm -rf build/x",
        "tar xf a.tar -C build",
    ];
    assert_decisions(&project, &allowed.map(|line| ("silent", project.bash(line))));
    let denied = [
        "rm -rf build src",
        "rm -rf build && rm -rf src",
        "cp x src/",
        "mv build/a src/",
        "echo x > a.log.txt",
    ];
    assert_decisions(&project, &denied.map(|line| ("deny rule:r", project.bash(line))));
}

#[test]
fn every_tool_that_changes_files_is_judged() {
    let project = with_locked("");
    let file = project.path.join("locked/a.txt");
    let mut in_agent = project.write(&file, "y");
    in_agent["agent_id"] = "a1".into();
    in_agent["agent_type"] = "builder".into();
    let denied = [
        project.write(&file, "y"),
        project.write("locked/b.txt", "y"),
        project.edit(&file, "x", "y"),
        project.multi_edit(&file, &[("x", "y")]),
        project.notebook(project.path.join("locked/n.ipynb")),
        project.call("mcp__filesystem__write_file", json!({"path": file, "content": "y"})),
        project.call(
            "mcp__filesystem__edit_file",
            json!({"path": file, "edits": [{"oldText": "x", "newText": "y"}]}),
        ),
        project.call("mcp__filesystem__create_directory", json!({"path": project.path.join("locked/new")})),
        project.call("mcp__files__delete_file", json!({"path": file})),
        project.call("mcp__files__delete_directory", json!({"path": project.path.join("locked")})),
        project.call("mcp__shell__run", json!({"command": "rm locked/a.txt"})),
        project.call("PowerShell", json!({"command": "Remove-Item -Recurse -Force locked"})),
        project.call("PowerShell", json!({"command": "Move-Item locked/a.txt /tmp/b"})),
        project.call("PowerShell", json!({"command": "Copy-Item /tmp/b locked/a.txt"})),
        in_agent,
    ];
    assert_decisions(&project, &denied.map(|event| ("deny rule:locked", event)));
    let allowed = [
        project.read(&file),
        project.grep(&file),
        project.call("mcp__filesystem__read_file", json!({"path": file})),
        project.call("mcp__filesystem__read_text_file", json!({"path": file, "head": 3})),
        project.call("mcp__filesystem__list_directory", json!({"path": project.path.join("locked/sub")})),
        project.call("mcp__filesystem__directory_tree", json!({"path": project.path.join("locked/sub")})),
        project.call(
            "mcp__filesystem__search_files",
            json!({"path": project.path.join("locked/sub"), "pattern": "x"}),
        ),
        project.call("mcp__filesystem__get_file_info", json!({"path": file})),
        project.call(
            "mcp__github__get_file_contents",
            json!({"owner": "o", "repo": "r", "path": "locked/a.txt"}),
        ),
        project.call("mcp__notes__add", json!({"text": "see\nlocked/a.txt"})),
        project.write(project.path.join("free/a.txt"), "locked/a.txt"),
    ];
    assert_decisions(&project, &allowed.map(|event| ("silent", event)));
}

#[test]
fn outside_leaves_out_project_temporary_files_and_devices() {
    let project = project_with_rules("[[rule]]\nname = \"out\"\nchanges = \"<outside>\"\ndeny = \"no\"\n");
    fs::create_dir_all(project.path.join("sub")).unwrap();
    let denied = [
        "touch ~/x",
        "touch ../other",
        "cd .. && touch x",
        "tar xf a.tar -C /opt",
        "cp a /etc/",
        "rm -rf /var/lib/x",
        "touch /tmp/../etc/x",
    ];
    assert_decisions(&project, &denied.map(|line| ("deny rule:out", project.bash(line))));
    let allowed = [
        "touch /tmp/x",
        "rm -rf /var/tmp/x",
        "echo x > /dev/null",
        "x 2> /dev/stderr",
        "touch sub/../y",
        "cd sub && touch ../y",
    ];
    assert_decisions(&project, &allowed.map(|line| ("silent", project.bash(line))));
}
