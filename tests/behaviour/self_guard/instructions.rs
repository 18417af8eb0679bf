//! No tool gives agents, skills or commands hooks that could rewrite a checked call.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use super::full;

const HOOKED: &str = "---\nname: helper\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: ./rewrite.sh\n---\nHelp.\n";
const PLAIN: &str = "---\nname: helper\ndescription: explains PreToolUse\n---\nWrite `hooks:` with care.\n";
const FORMATTED: &str = "---\nname: helper\nhooks:\n  PostToolUse:\n    - hooks:\n        - type: command\n          command: fmt\n---\nHelp.\n";

const FILES: &[&str] = &[
    ".claude/agents/helper.md",
    ".claude/agents/team/helper.md",
    ".claude/skills/new/SKILL.md",
    ".claude/commands/helper.md",
    "plugins/mine/skills/new/SKILL.md",
];

#[test]
fn no_file_tool_writes_such_hooks() {
    let project = full();
    for file in FILES {
        let path = project.path.join(file);
        let home = project.home.join(file);
        project.assert_denied(&[
            (file, project.write(&path, HOOKED)),
            (file, project.write(&home, &HOOKED.replace('\n', "\r\n"))),
            (file, project.edit(&path, "", &format!("\u{feff}{HOOKED}"))),
            (
                file,
                project.write(
                    file,
                    "---\n\"hooks\": {PreToolUse: [{hooks: [{type: command, command: x}]}]}\n---\n",
                ),
            ),
            (file, project.mcp(json!({"path": path, "content": HOOKED}))),
        ]);
        project.assert_allowed(&[
            (file, project.write(&path, PLAIN)),
            (file, project.write(&home, FORMATTED)),
            (file, project.mcp(json!({"path": path, "content": PLAIN}))),
        ]);
    }
}

#[test]
fn no_edit_adds_such_hooks() {
    let project = full();
    let path = project.write_file(".claude/agents/a.md", &HOOKED.replace("hooks:\n  Pre", "notes:\n  Pre"));
    project.assert_denied(&[
        ("the key alone", project.edit(&path, "notes:", "hooks:")),
        ("in two steps", project.multi_edit(&path, &[("notes:", "nooks:"), ("nooks:", "hooks:")])),
    ]);
    let path = project.write_file(".claude/agents/b.md", FORMATTED);
    project.assert_denied(&[("the event alone", project.edit(&path, "PostToolUse", "PreToolUse"))]);
    project.assert_allowed(&[("another key", project.edit(&path, "name: helper", "name: other"))]);
}

#[test]
fn hooks_that_the_user_wrote_may_stay() {
    let project = full();
    let path = project.write_file(".claude/agents/a.md", HOOKED);
    project.assert_allowed(&[
        ("the body", project.edit(&path, "Help.", "Help more.")),
        ("the name", project.edit(&path, "name: helper", "name: other")),
        ("all hooks gone", project.write(&path, PLAIN)),
    ]);
    project.assert_denied(&[("another command", project.edit(&path, "./rewrite.sh", "./other.sh"))]);
}

#[test]
fn no_command_line_writes_such_hooks() {
    let project = full();
    project.write_file("draft.md", HOOKED);
    project.write_file("draft/SKILL.md", HOOKED);
    project.write_file("set/one/SKILL.md", PLAIN);
    project.write_file("set/two/SKILL.md", HOOKED);
    project.write_file(".claude/agents/a.md", &HOOKED.replace("hooks:\n  Pre", "notes:\n  Pre"));
    fs::create_dir_all(project.path.join(".claude/skills")).unwrap();
    project.assert_lines_denied(&[
        &format!("cat > .claude/agents/x.md <<'EOF'\n{HOOKED}EOF"),
        &format!("cd .claude/agents && cat > x.md <<EOF\n{HOOKED}EOF"),
        &format!("tee ~/.claude/agents/x.md <<'EOF' >/dev/null\n{HOOKED}EOF"),
        "printf -- '---\\nhooks: {PreToolUse: []}\\n---\\n' > .claude/skills/x/SKILL.md",
        "printf -- '---\\nho''oks: {Pre''ToolUse: []}\\n---\\n' > .claude/commands/x.md",
        "echo 'hooks: {PreToolUse: []}' >> .claude/agents/a.md",
        "sed -i s/notes:/hooks:/ .claude/agents/a.md",
        "cp draft.md .claude/agents/x.md",
        "mv draft.md .claude/agents/",
        "cat draft.md > .claude/agents/x.md",
        "install -m 644 draft.md ~/.claude/commands/x.md",
        "mv draft .claude/skills/new",
        "cp -r draft .claude/skills/",
        "cp -a set .claude/skills/",
        "mv set ~/.claude/skills",
        &format!("D=.claude/agents; cat > $D/agents/x.md <<'EOF'\n{HOOKED}EOF"),
    ]);
}

/// A link is one more name for a file, whichever end is written.
#[test]
fn no_link_brings_such_hooks() {
    let project = full();
    project.write_file("notes.txt", HOOKED);
    project.write_file("draft/SKILL.md", HOOKED);
    project.write_file("draft.md", HOOKED);
    project.write_file(".claude/agents/x.md", PLAIN);
    project.assert_lines_denied(&[
        "ln -s ../../notes.txt .claude/agents/y.md",
        "ln -sf ../../draft .claude/skills/new",
        "ln -s $PWD/notes.txt .claude/agents/y.md",
        "mv notes.txt .claude/agents/y.md",
        "mkdir -p ~/.claude/agents && cp draft.md ~/.claude/agents",
    ]);
    fs::create_dir_all(project.path.join("team")).unwrap();
    fs::create_dir_all(project.path.join(".claude/skills")).unwrap();
    symlink(project.path.join("team"), project.path.join(".claude/agents/team")).unwrap();
    symlink(project.path.join("team"), project.path.join(".claude/commands")).unwrap();
    symlink(project.path.join("plain.txt"), project.path.join(".claude/skills/a.md")).unwrap();
    project.assert_denied(&[
        ("behind a link in the directory", project.write(project.path.join("team/x.md"), HOOKED)),
        ("through the link", project.write(project.path.join(".claude/agents/team/x.md"), HOOKED)),
        ("through a linked directory", project.write(project.path.join(".claude/commands/x.md"), HOOKED)),
        ("a file that is linked", project.write(project.path.join("plain.txt"), HOOKED)),
    ]);
    project.assert_allowed(&[
        ("no hooks", project.write(project.path.join("team/x.md"), PLAIN)),
        ("nobody links it", project.write(project.path.join("other/x.md"), HOOKED)),
    ]);
    project.assert_lines_allowed(&[
        "ln -s ../../docs .claude/skills/docs",
        "mkdir -p ~/.claude/agents && cp README.md ~/.claude/agents",
    ]);
}

#[test]
fn ordinary_files_are_written_by_command_lines() {
    let project = full();
    project.write_file("draft.md", PLAIN);
    project.write_file("draft/SKILL.md", FORMATTED);
    project.write_file("notes/hooked.md", HOOKED);
    project.write_file(".claude/agents/a.md", PLAIN);
    fs::create_dir_all(project.path.join(".claude/skills")).unwrap();
    project.assert_lines_allowed(&[
        "cat > .claude/agents/x.md <<'EOF'\n---\nname: x\ndescription: reviews code\n---\nReview.\nEOF",
        "mkdir -p .claude/skills/x && echo '# X' > .claude/skills/x/SKILL.md",
        "cp draft.md .claude/agents/x.md; mv draft .claude/skills/new",
        "sed -i s/helper/other/ .claude/agents/a.md",
        "mv notes old-notes; cp -r notes/. backup/",
        "rm -rf .claude/agents .claude/skills",
        "git mv .claude/agents/a.md .claude/agents/b.md",
    ]);
    project
        .assert_allowed(&[("a page about hooks", project.write(project.path.join("docs/hooks.md"), HOOKED))]);
}
