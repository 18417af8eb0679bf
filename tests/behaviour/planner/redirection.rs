//! Slice 2: output goes to `/dev/null` and into `planning/` only.

use super::*;

const REDIRECTION: &str = "output redirection outside planning/";

#[test]
fn blocks_output_redirection_to_arbitrary_paths() {
    blocks(&TestProject::new(), REDIRECTION, &["echo hello > /tmp/output.txt"]);
}

#[test]
fn allows_redirection_to_dev_null() {
    allows(&TestProject::new(), &["git status > /dev/null"]);
}

#[test]
fn allows_redirection_to_planning_directory() {
    allows(&TestProject::new(), &["echo content > planning/notes.md"]);
}

#[test]
fn allows_redirection_to_planning_with_dot_prefix() {
    allows(&TestProject::new(), &["echo content > ./planning/notes.md"]);
}

#[test]
fn append_redirection_is_blocked() {
    blocks(&TestProject::new(), REDIRECTION, &["ls -la >> /tmp/log.txt"]);
}

#[test]
fn stderr_redirection_to_dev_null_is_allowed() {
    allows(&TestProject::new(), &["ls 2>/dev/null"]);
}

#[test]
fn every_kind_of_redirection_counts() {
    blocks(
        &TestProject::new(),
        REDIRECTION,
        &[
            "echo x >| a",
            "echo x &> a",
            "echo x &>> a",
            "echo x 2> a",
            "echo x 2>>a",
            "echo x >& a",
            "cat <> a",
            ">a",
            "{ ls; } > a",
        ],
    );
}

/// Facts A4.8.
#[test]
fn each_of_several_redirections_is_judged() {
    blocks(
        &TestProject::new(),
        REDIRECTION,
        &["echo x > src/main.dart 2>/dev/null", "ls > planning/a > b", "ls > a; ls > /dev/null"],
    );
}

/// Facts A4.8.
#[test]
fn paths_that_leave_planning_by_dots_or_links_are_blocked() {
    let project = TestProject::new();
    fs::create_dir_all(project.path.join("planning/deep")).unwrap();
    std::os::unix::fs::symlink("../src", project.path.join("planning/out")).unwrap();
    std::os::unix::fs::symlink("../pubspec.yaml", project.path.join("planning/file.md")).unwrap();
    blocks(
        &project,
        REDIRECTION,
        &[
            "echo x > planning/../src/x",
            "echo x > planning/deep/../../x",
            "echo x > planning/out/x",
            "echo x > planning/file.md",
            "echo x > planning",
            "echo x > planning.md",
            "echo x > ../planning/x",
            "cd src && echo x > planning/x",
        ],
    );
    let reason = decided(&project, "echo x > planning/out/x").unwrap().unwrap_err();
    assert!(
        reason.contains("leave `planning/out/x`, which is `src/x`, to the main conversation"),
        "{reason}"
    );
    allows(
        &project,
        &[
            "echo x > planning/deep/../x.md",
            "cd planning && echo x > x.md",
            "cd src && echo x > ../planning/x.md",
        ],
    );
}

#[test]
fn the_shell_leaves_a_linked_directory_by_its_name() {
    let project = TestProject::new();
    fs::create_dir_all(project.path.join("planning/old")).unwrap();
    fs::create_dir(project.path.join("docs")).unwrap();
    std::os::unix::fs::symlink("../planning/old", project.path.join("docs/plans")).unwrap();
    blocks(
        &project,
        "redirection",
        &[
            "cd docs/plans && cd .. && echo x > README.md",
            "cd docs/plans/.. && echo x > README.md",
            "cd -P docs/plans && cd .. && cd .. && echo x > README.md",
        ],
    );
    allows(&project, &["cd docs/plans && echo x > y.md", "cd docs/plans && echo x > ../y.md"]);
}

#[test]
fn a_planning_directory_that_is_a_link_does_not_count() {
    let project = TestProject::new();
    fs::create_dir(project.home.join("elsewhere")).unwrap();
    std::os::unix::fs::symlink(project.home.join("elsewhere"), project.path.join("planning")).unwrap();
    blocks(&project, REDIRECTION, &["echo x > planning/x.md"]);
}

#[test]
fn planning_is_that_of_the_project_and_of_the_directory_of_the_call() {
    let project = TestProject::new();
    fs::create_dir_all(project.path.join("app/src")).unwrap();
    let mut event = by_planner(project.bash("echo x > planning/x.md"));
    event["cwd"] = json!(project.path.join("app"));
    assert!(project.hook(&event).is_silent());
    event["tool_input"]["command"] = "echo x > ../planning/x.md".into();
    assert!(project.hook(&event).is_silent());
    event["tool_input"]["command"] = "echo x > src/planning/x.md".into();
    project.hook(&event).expect_denial();
}

/// Facts A4.7.
#[test]
fn signs_that_redirect_to_no_file_are_allowed() {
    allows(
        &TestProject::new(),
        &[
            "ls 2>&1",
            "git log 2>&1 | head -5",
            "grep '->' src/main.rs",
            "grep -n \"=>\" x.js",
            "git log --format='<%ae>'",
            "command -v fvm >/dev/null 2>&1",
            "ls >/dev/null; pwd",
            "ls &>/dev/null",
            "\tls",
            "  ls -la",
            "FOO='a b' grep pattern file.txt",
            "cat < README.md",
            "cat <<'EOF'\na > b\nEOF",
            "ls >&2",
            "echo a \\> b",
            "grep -c '^>' x.fa",
        ],
    );
}

#[test]
fn a_plan_is_written_with_cat_and_a_here_document() {
    let project = TestProject::new();
    allows(&project, &["cat > planning/plan.md <<'EOF'\n## Slice 1\nrm -rf / > x\nEOF"]);
    blocks(&project, REDIRECTION, &["cat > plan.md <<'EOF'\n## Slice 1\nEOF"]);
}

#[test]
fn an_unknown_target_is_blocked() {
    blocks(&TestProject::new(), "", &["echo x > $FILE", "echo x > \"$(cat f)\"", "echo x > planning/$N.md"]);
}
