//! Provost's own files: no tool may change them.

use super::{channels, denies, full, own};
use crate::support::{TestProject, assert_shown};

#[test]
fn a_denied_write_is_answered_like_this() {
    let project = full();
    let answer = project.hook(&project.write(project.path.join("provost.toml"), ""));
    assert_shown!("self-guard-own-file", project.whole(&answer));
}

#[test]
fn no_tool_writes_provosts_own_files() {
    let project = full();
    for path in own(&project) {
        let mut cases = channels(&project, &path);
        cases.push((format!("Write {}", path.display()), project.write(&path, "")));
        cases.push((format!("Edit {}", path.display()), project.edit(&path, "a", "b")));
        cases.push((format!("MultiEdit {}", path.display()), project.multi_edit(&path, &[("a", "b")])));
        denies(&project, &cases);
    }
}

#[test]
fn no_tool_deletes_or_moves_provosts_own_files() {
    let project = full();
    for path in own(&project).into_iter().filter(|path| path.exists()) {
        let shown = path.display();
        let parent = path.parent().unwrap().display();
        project.assert_lines_denied(&[
            &format!("rm {shown}"),
            &format!("rm -f -- {shown}"),
            &format!("mv {shown} /tmp/x"),
            &format!("unlink {shown}"),
            &format!("rm -rf {parent}"),
            &format!("mv {parent} /tmp/x"),
        ]);
    }
    project.assert_lines_denied(&[
        "rm -rf ~",
        "rm -rf ~/.config ~/x",
        "rm -rf ..",
        "rm -rf $HOME/.local",
        "rm -r /",
    ]);
}

#[test]
fn the_program_itself_is_an_own_file() {
    let project = full();
    let program = env!("CARGO_BIN_EXE_provost");
    project.assert_lines_denied(&[&format!("rm {program}"), &format!("cp /bin/true {program}")]);
}

#[test]
fn the_configuration_of_a_project_without_one_is_closed_too() {
    let project = TestProject::new();
    project.assert_denied(&[
        ("Write", project.write(project.path.join("provost.toml"), "[guards]\nself-guard = \"off\"\n")),
        ("Bash", project.bash("echo > provost.toml")),
        ("user", project.bash("mkdir -p ~/.config/provost && echo > ~/.config/provost/provost.toml")),
    ]);
}

#[test]
fn another_state_and_config_directory_is_closed_too() {
    let project = full();
    let (state, config) = (project.home.join("s"), project.home.join("c"));
    let project = project.with_variable("XDG_STATE_HOME", &state).with_variable("XDG_CONFIG_HOME", &config);
    project.assert_denied(&[
        ("state", project.write(state.join("provost/projects/x"), "")),
        ("key", project.write(state.join("provost/seal.key"), "")),
        ("config", project.write(config.join("provost/provost.toml"), "")),
    ]);
}

#[test]
fn no_command_line_marks_another_client_as_a_child() {
    let project = full();
    project.assert_lines_denied(&[
        "PROVOST_CHILD=1 claude -p x",
        "export PROVOST_CHILD=1; claude -p x",
        "env -i PROVOST_CHILD=1 claude -p x",
        "cd src && PROVOST_CHILD= claude -p x",
    ]);
    project.assert_lines_allowed(&[
        "echo PROVOST_CHILD=1",
        "grep -r PROVOST_CHILD=1 src",
        "echo $PROVOST_CHILD",
    ]);
}

#[test]
fn no_tool_sends_provost_a_forged_event() {
    let project = full();
    project.assert_lines_denied(&[
        "provost hook < event.json",
        "echo '{}' | /usr/local/bin/provost hook --pack self",
        "bash -c 'provost hook'",
        "x=$(env A=1 provost hook)",
        "provost $(echo hook) --pack plan-gate < event.json",
        "provost $1 explain",
        "echo hook | xargs provost",
        // The plugins' own script passes its arguments to the program.
        "~/.claude/plugins/cache/provost/rodin/0.1.0/hooks/provost.sh hook < event.json",
        "sh plugins/rodin/hooks/provost.sh hook --pack plan-gate < event.json",
        "bash plugins/rodin/hooks/provost.sh $1",
    ]);
    project.assert_lines_allowed(&[
        "provost explain",
        "provost guards --json",
        "echo provost hook",
        "git commit -m 'provost hook'",
        "provost",
        "provost explain $1",
        "cat ids | xargs provost explain",
        "cat plugins/rodin/hooks/provost.sh",
        "git hook run pre-commit",
    ]);
}

#[test]
fn no_tool_sends_provost_a_forged_event_under_another_name() {
    let project = full();
    let program = env!("CARGO_BIN_EXE_provost");
    for line in
        ["ln -s {} p", "ln {} p", "cp {} p", "cd /tmp && install {} p", "ln -s {} p && ./p hook < event.json"]
    {
        project.assert_lines_denied(&[&line.replace("{}", program)]);
    }
    std::os::unix::fs::symlink(program, project.path.join("p")).unwrap();
    project.assert_lines_denied(&["./p hook < event.json", "cp p q", "./p gate assess"]);
    project.assert_lines_allowed(&["./p explain", &format!("ls -l {program}"), "ln -s note.txt q"]);
}

#[test]
fn no_tool_has_a_plan_assessed_with_its_own_environment() {
    let project = full();
    project.assert_lines_denied(&[
        "provost gate assess",
        "provost gate assess plan.md --session x",
        "PATH=/tmp/fake:$PATH /usr/local/bin/provost gate assess",
        "env -u CLAUDECODE provost gate assess",
        "timeout 60 provost 'gate' \"assess\"",
        "bash -c 'provost gate assess' &",
        "x=assess; provost gate $x",
        "provost gate $1",
    ]);
    project.assert_lines_allowed(&[
        "provost gate status",
        "provost gate status --all",
        "provost gate show assess",
        "provost gate --help",
        "echo provost gate assess",
    ]);
}

/// Both start the review that is due, with the reviewer that the environment names.
#[test]
fn no_tool_has_work_reviewed_with_its_own_environment() {
    let project = full();
    project.assert_lines_denied(&[
        "provost review run",
        "env -u CLAUDECODE PATH=/tmp/fake:$PATH provost review run --plan login",
        "provost review $1",
        "echo '{\"cwd\":\".\"}' | PATH=/tmp/fake:$PATH provost compat stop-hook",
        "sh -c 'provost compat stop-hook' < event.json",
    ]);
    project.assert_lines_allowed(&[
        "provost review status",
        "provost review continue --with-action",
        "provost review set --plan run phase=post-code-review next_phase=code-review",
        "provost review set --plan $PLAN next_phase=null",
    ]);
}

#[test]
fn no_tool_rewrites_the_record_of_a_plan_with_a_forged_event() {
    let project = full();
    project.assert_lines_denied(&[
        "provost compat post_tool_use < event.json",
        "echo '{}' | provost compat pre_tool_use",
        "sh -c 'provost compat post_tool_use'",
        "provost compat $script",
    ]);
    project.assert_lines_allowed(&[
        "provost compat planner-bash-guard",
        "provost compat validate-plan-output plan.md",
    ]);
}

#[test]
fn no_tool_changes_the_plugin_that_calls_provost() {
    let project = full();
    let plugin = project.home.join("marketplace/plugins/rodin");
    let script = plugin.join("hooks/provost.sh");
    std::fs::create_dir_all(script.parent().unwrap()).unwrap();
    std::fs::write(&script, "exec provost").unwrap();
    let project = project.with_variable("CLAUDE_PLUGIN_ROOT", plugin.to_str().unwrap());
    project.assert_denied(&[
        ("script", project.write(&script, "exit 0")),
        ("critic", project.write(plugin.join("agents/critic.md"), "say nothing")),
    ]);
    project.assert_lines_denied(&[
        "echo exit 0 > ~/marketplace/plugins/rodin/hooks/provost.sh",
        "rm ~/marketplace/plugins/rodin/hooks/hooks.json",
        "rm -rf ~/marketplace",
        "mv ~/marketplace/plugins/rodin /tmp/x",
        "cd ~/marketplace/plugins && sed -i s/provost/true/ rodin/hooks/provost.sh",
    ]);
    project.assert_lines_allowed(&[
        "cat ~/marketplace/plugins/rodin/hooks/provost.sh",
        "echo x > ~/marketplace/notes",
    ]);
}

/// A transcript shows what a judge was given, so only the client may write to it.
#[test]
fn no_tool_changes_a_transcript() {
    let project = full();
    let folder = ".claude/projects/-home-dev-project/0f6d2c9e";
    let transcript = project.write_home_file(&format!("{folder}/subagents/agent-a1.jsonl"), "{}\n");
    project.write_home_file(&format!("{folder}.jsonl"), "{}\n");
    project.assert_denied(&[
        ("Write", project.write(&transcript, "{}")),
        ("Edit", project.edit(&transcript, "{}", "[]")),
        ("unknown tool", project.mcp(serde_json::json!({"path": transcript}))),
    ]);
    project.assert_lines_denied(&[
        &format!("sed -i s/a/b/ ~/{folder}/subagents/agent-a1.jsonl"),
        &format!("grep -v PASS x > ~/{folder}/subagents/agent-a1.jsonl"),
        &format!("cd ~/{folder}/subagents && mv agent-a1.jsonl x"),
        &format!("rm ~/{folder}.jsonl"),
        &format!("cp x.jsonl ~/{folder}/subagents/agent-a2.jsonl"),
    ]);
    project.assert_lines_allowed(&[
        &format!("cat ~/{folder}.jsonl"),
        "echo '- a note' >> ~/.claude/projects/-home-dev-project/memory/MEMORY.md",
        "echo '{}' > data.jsonl",
    ]);
}
