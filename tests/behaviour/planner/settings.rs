//! What the user can allow in addition.

use super::*;

#[test]
fn programs_can_be_added_by_their_exact_names() {
    let project = TestProject::new();
    blocks(&project, "'sort'", &["ls | sort"]);
    project.write_file("provost.toml", "[planner]\nallow = [\"sort\", \"./tool/list\"]\n");
    allows(&project, &["ls | sort", "./tool/list", "cat x"]);
    let reasons =
        ["/usr/bin/sort", "tool/list", "uniq x"].map(|line| decided(&project, line).unwrap().unwrap_err());
    assert_shown!("planner-added-programs", reasons.join("\n\n"));
}

#[test]
fn an_added_program_may_write_only_into_planning() {
    let project = TestProject::new();
    project.write_file("provost.toml", "[planner]\nallow = [\"tee\", \"cp\", \"rm\", \"xargs\"]\n");
    allows(&project, &["ls | tee planning/a.txt", "cp README.md planning/x.md"]);
    blocks(&project, "outside planning/", &["ls | tee a.txt", "cp planning/x.md src/y"]);
    blocks(&project, "a planner deletes nothing", &["rm planning/x.md"]);
    blocks(&project, "'python3'", &["ls | xargs python3"]);
}

#[test]
fn without_strictness_only_the_first_word_and_written_files_count() {
    let project = TestProject::new();
    project.write_file("provost.toml", "[planner]\nstrict = false\n");
    allows(
        &project,
        &[
            "ls && rm x",
            "find . -name x -delete",
            "echo $(rm x)",
            "git checkout .",
            "cat x | sort",
            "GIT_PAGER=less git log",
        ],
    );
    blocks(&project, "is not in the planner's allowlist", &["rm x", "FOO=1 python3 x", "rm x && ls"]);
    blocks(&project, "Empty command", &[""]);
    blocks(&project, "redirection", &["ls > x", "ls && rm y > x", "ls > planning/../x"]);
    blocks(&project, "", &["$X y", "ls > $X"]);
}

#[test]
fn the_settings_of_the_plugin_pass_the_check() {
    let project = TestProject::new();
    let output = std::process::Command::new(crate::support::program())
        .args(["config", "check"])
        .env_clear()
        .env("HOME", &project.home)
        .current_dir(&project.path)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let row = text.lines().find(|line| line.starts_with("planner.agents ")).unwrap();
    assert_eq!(
        row.split_whitespace().collect::<Vec<_>>(),
        ["planner.agents", "default", "[\"tdd-planner\"]"]
    );
}
