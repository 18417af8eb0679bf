use std::process::Command;

use super::*;

fn workspace() -> (tempfile::TempDir, Workspace) {
    let root = tempfile::tempdir().unwrap();
    let project = root.path().join("project");
    fs::create_dir(&project).unwrap();
    let mut workspace = Workspace::for_tests(root.path());
    workspace.project = fs::canonicalize(&project).unwrap();
    (root, workspace)
}

fn git(workspace: &Workspace, line: &str) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(line.split(' '));
    let output = command.current_dir(&workspace.project).output().unwrap();
    assert!(output.status.success(), "{line}: {output:?}");
}

fn names(diff: &ChangeDiff) -> Vec<&str> {
    diff.files.iter().map(|file| file.path.as_str()).collect()
}

#[test]
fn a_clean_diff_is_the_start_of_the_next_one() {
    let (_root, workspace) = workspace();
    git(&workspace, "init -q");
    let file = workspace.project.join("a");
    let changes = [&ChangedPath::File(file.clone())];
    let diff = || workspace.diff_session_changes("s", &changes, 2, &|_: &Path| true).unwrap();
    fs::write(&file, "1\n").unwrap();
    let first = diff();
    assert_eq!((names(&first), first.count_lines()), (vec!["a"], 1));
    workspace.remember_clean_diff("s", &first, 1).unwrap();
    assert_eq!(diff(), first, "one clean review is too few");
    workspace.remember_clean_diff("s", &first, 2).unwrap();
    assert!(diff().files.is_empty());
    fs::remove_file(&file).unwrap();
    assert_eq!((names(&diff()), diff().count_lines()), (vec!["a"], 1));
    let text = workspace.project.join("../text");
    workspace.write_diff_text(&diff(), &text).unwrap();
    assert!(fs::read_to_string(text).unwrap().contains("deleted file mode"));
}

#[test]
fn the_same_content_has_the_same_name() {
    let (_root, workspace) = workspace();
    git(&workspace, "init -q");
    let file = workspace.project.join("a");
    let changes = [&ChangedPath::File(file.clone())];
    let content = |text: &str| {
        fs::write(&file, text).unwrap();
        workspace.diff_session_changes("s", &changes, 1, &|_: &Path| true).unwrap().content
    };
    let first = content("1\n");
    assert_ne!(content("2\n"), first);
    assert_eq!(content("1\n"), first);
}

#[test]
fn paths_outside_of_the_work_tree_and_of_git_are_no_changes() {
    let (root, workspace) = workspace();
    git(&workspace, "init -q");
    fs::write(root.path().join("outside"), "x").unwrap();
    let paths = [root.path().join("outside"), workspace.project.join(".git/config"), "/etc/hostname".into()];
    let changes = paths.map(ChangedPath::File);
    let diff = workspace
        .diff_session_changes("s", &changes.iter().collect::<Vec<_>>(), 1, &|_: &Path| true)
        .unwrap();
    assert_eq!(diff.files, []);
}
