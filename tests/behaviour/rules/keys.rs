//! What a rule looks at: one test for each key.

use std::fs;

use serde_json::json;

use super::{assert_decisions, decide, project_with_rules};
use crate::phases::branch_guard::git_in;

#[test]
fn runs_is_the_program_with_its_operands_and_options() {
    let project = project_with_rules(
        r#"
        [[rule]]
        name = "no-force-push"
        runs = "git push --force|-f"
        deny = "it rewrites history that others have"
        [[rule]]
        name = "pnpm"
        runs = ["npm install|i|ci|add", "yarn"]
        deny = "this project uses pnpm"
        "#,
    );
    let denied = [
        "git push --force",
        "git push -uf origin x",
        "bash -c 'git push --\"force\"'",
        "git -C sub push --force",
        "cd x && sudo git push -f",
        "(git push origin main --force) || true",
    ];
    let allowed = [
        "git push",
        "git push --force-with-lease",
        "echo 'git push --force' >> notes.md",
        "git commit -m 'no git push --force'",
        "grep -rn 'git push --force' .",
        "npm run install",
    ];
    assert_decisions(&project, &denied.map(|line| ("deny rule:no-force-push", project.bash(line))));
    assert_decisions(&project, &allowed.map(|line| ("silent", project.bash(line))));
    for line in ["npm i x", "npm ci", "yarn", "yarn add x", "npm --prefix web install"] {
        assert_eq!(decide(&project, &project.bash(line)), "deny rule:pnpm", "{line}");
    }
}

#[test]
fn paths_hold_on_every_channel() {
    let project = project_with_rules(
        r#"
        [[rule]]
        name = "locked"
        changes = "locked/**"
        deny = "generated"
        [[rule]]
        name = "secret"
        reads = ["**/.env", "**/.env.*", "!**/.env.example", "~/.ssh/**", "!~/.ssh/*.pub"]
        deny = "it holds secrets"
        "#,
    );
    let file = project.write_file("locked/a.txt", "x");
    project.write_file(".env", "KEY=1");
    let changed = [
        project.write(&file, "y"),
        project.edit(&file, "x", "y"),
        project.multi_edit(&file, &[("x", "y")]),
        project.notebook(&file),
        project.mcp(json!({"path": file, "text": "y"})),
        project.bash("echo y > locked/a.txt"),
        project.bash("echo y | tee -a locked/a.txt"),
        project.bash("sed -i s/x/y/ locked/a.txt"),
        project.bash("rm locked/a.txt"),
        project.bash("rm -rf locked"),
        project.bash("rm -rf locked/*"),
        project.bash("mv locked/a.txt /tmp/b"),
        project.bash("cp /tmp/b locked/"),
        project.bash("cd locked && rm a.txt"),
        project.bash("touch ./src/../locked/new"),
    ];
    assert_decisions(&project, &changed.map(|event| ("deny rule:locked", event)));
    let read = [
        project.read(project.path.join(".env")),
        project.bash("cat .env"),
        project.bash("cp .env /tmp/x"),
        project.bash("grep KEY < .env.local"),
        project.bash("cat ~/.ssh/id_rsa"),
    ];
    assert_decisions(&project, &read.map(|event| ("deny rule:secret", event)));
    let allowed = [
        project.bash("cat .env.example"),
        project.bash("cat ~/.ssh/id_rsa.pub"),
        project.bash("cat locked/a.txt"),
        project.bash("echo locked/a.txt .env"),
        project.write(project.path.join("free.txt"), ".env"),
    ];
    assert_decisions(&project, &allowed.map(|event| ("silent", event)));
}

#[test]
fn links_are_resolved_and_a_deleted_link_is_not() {
    let project =
        project_with_rules("[[rule]]\nname = \"locked\"\nchanges = \"locked/**\"\ndeny = \"generated\"\n");
    project.write_file("locked/a.txt", "x");
    std::os::unix::fs::symlink(project.path.join("locked/a.txt"), project.path.join("link")).unwrap();
    assert_decisions(
        &project,
        &[
            ("deny rule:locked", project.write(project.path.join("link"), "y")),
            ("silent", project.bash("rm link")),
        ],
    );
}

#[test]
fn unless_new_allows_files_that_do_not_exist_yet() {
    let project = project_with_rules(
        "[[rule]]\nname = \"final\"\nchanges = \"db/**\"\nunless = \"new\"\nask = \"applied migrations are not edited\"\n",
    );
    let old = project.write_file("db/1.sql", "x");
    assert_decisions(
        &project,
        &[
            ("ask rule:final", project.write(&old, "y")),
            ("ask rule:final", project.bash("rm db/1.sql")),
            ("silent", project.write(project.path.join("db/2.sql"), "y")),
        ],
    );
}

#[test]
fn outside_is_neither_the_project_nor_temporary() {
    let project = project_with_rules(
        "[[rule]]\nname = \"out\"\nchanges = \"<outside>\"\ndeny = \"it is not this project's\"\n",
    );
    for line in ["rm -rf ~/Documents", "echo x > /etc/hosts", "rm -rf ~", "touch ../other"] {
        assert_eq!(decide(&project, &project.bash(line)), "deny rule:out", "{line}");
    }
    for line in ["rm -rf build", "echo x > /tmp/y", "make > /dev/null 2>&1", "touch /var/tmp/z"] {
        assert_eq!(decide(&project, &project.bash(line)), "silent", "{line}");
    }
}

#[test]
fn adds_looks_at_the_lines_that_a_write_adds() {
    let project = project_with_rules(
        "[[rule]]\nname = \"no-todo\"\nwrites = \"*.rs\"\nadds = 'TODO\\b'\ndeny = \"write it down elsewhere\"\n",
    );
    let file = project.write_file("a.rs", "// TODO old\nfn a() {}\n");
    assert_decisions(
        &project,
        &[
            ("deny rule:no-todo", project.write(&file, "// TODO old\n// TODO new\n")),
            ("deny rule:no-todo", project.edit(&file, "fn a() {}", "fn a() { /* TODO */ }")),
            ("silent", project.edit(&file, "fn a() {}", "fn b() {}")),
            ("silent", project.write(project.path.join("a.md"), "TODO")),
            ("deny rule:no-todo", project.bash("cat >> a.rs <<'EOF'\n// TODO later\nEOF")),
            ("deny rule:no-todo", project.bash("echo '// TODO' > b.rs")),
            ("deny rule:no-todo", project.bash("sed -i 's/fn a/TODO fn a/' a.rs")),
            ("silent", project.bash("grep -n TODO a.rs > found.txt")),
        ],
    );
}

#[test]
fn commits_is_the_branch_that_a_commit_lands_on() {
    let project = project_with_rules(
        "[[rule]]\nname = \"main\"\ncommits = \"main|release/*\"\ndeny = \"use a branch\"\n",
    );
    git_in(&project.path, &["branch", "topic"]);
    assert_decisions(
        &project,
        &[
            ("deny rule:main", project.bash("git commit -m x")),
            ("deny rule:main", project.bash("git merge topic")),
            ("deny rule:main", project.bash("git cherry-pick topic")),
            ("deny rule:main", project.bash("git checkout -b release/1 && git commit -m x")),
            ("silent", project.bash("git commit --dry-run")),
            ("silent", project.bash("git switch topic && git commit -m x")),
            ("silent", project.bash("git log main")),
        ],
    );
    git_in(&project.path, &["checkout", "-q", "topic"]);
    assert_decisions(&project, &[("silent", project.bash("git commit -m x"))]);
}

#[test]
fn uses_and_delegates_are_names_of_tools_and_agents() {
    let project = project_with_rules(
        r#"
        [[rule]]
        name = "no-web"
        uses = "WebFetch|mcp__github__*"
        deny = "work offline"
        [[rule]]
        name = "no-agents"
        uses = "Task"
        in_agent = "planner"
        deny = "plan yourself"
        [[rule]]
        name = "no-explorer"
        delegates = "explorer|review-*"
        deny = "search yourself"
        "#,
    );
    // The client sends `Agent`, and knows `Task` as another name of it.
    let in_planner = |mut event: serde_json::Value| {
        event["agent_id"] = "a1".into();
        event["agent_type"] = "team:planner".into();
        event
    };
    let agent =
        |kind: &str| project.call("Agent", json!({"subagent_type": kind, "prompt": "p", "description": "d"}));
    assert_decisions(
        &project,
        &[
            (
                "deny rule:no-web",
                project.call("WebFetch", json!({"url": "https://example.org", "prompt": "x"})),
            ),
            ("deny rule:no-web", project.call("mcp__github__create_issue", json!({"title": "x"}))),
            ("silent", project.call("mcp__gitlab__create_issue", json!({"title": "x"}))),
            ("deny rule:no-explorer", agent("explorer")),
            ("deny rule:no-explorer", agent("tools:explorer")),
            ("deny rule:no-explorer", agent("tools:review-code")),
            ("silent", agent("writer")),
            ("deny rule:no-agents", in_planner(agent("writer"))),
        ],
    );
}

#[test]
fn in_agent_and_on_branch_narrow_a_rule() {
    let project = project_with_rules(
        r#"
        [[rule]]
        name = "agents-do-not-push"
        runs = "git push"
        in_agent = "builder"
        deny = "the main conversation pushes"
        [[rule]]
        name = "main-is-quiet"
        writes = "src/**"
        on_branch = "main"
        in_agent = "main"
        deny = "work on a branch"
        "#,
    );
    let in_agent = |kind: &str, mut event: serde_json::Value| {
        event["agent_id"] = "a1".into();
        event["agent_type"] = kind.into();
        event
    };
    let source = project.path.join("src/a.rs");
    assert_decisions(
        &project,
        &[
            ("deny rule:agents-do-not-push", in_agent("builder", project.bash("git push"))),
            ("deny rule:agents-do-not-push", in_agent("team:builder", project.bash("git push"))),
            ("silent", in_agent("other", project.bash("git push"))),
            ("silent", project.bash("git push")),
            ("deny rule:main-is-quiet", project.write(&source, "x")),
            ("silent", in_agent("builder", project.write(&source, "x"))),
            ("silent", in_agent("main", project.write(&source, "x"))),
            ("silent", in_agent("team:main", project.write(&source, "x"))),
        ],
    );
    git_in(&project.path, &["checkout", "-q", "-b", "topic"]);
    assert_decisions(&project, &[("silent", project.write(&source, "x"))]);
}

#[test]
fn an_exception_is_judged_for_each_command() {
    let project = project_with_rules(
        "[[rule]]\nname = \"no-rm\"\nruns = \"rm -r\"\nexcept = [\"rm -r build\", \"rm -r target|dist\"]\ndeny = \"too much\"\n",
    );
    assert_decisions(
        &project,
        &[
            ("silent", project.bash("rm -rf build")),
            ("silent", project.bash("rm -r dist/ && rm -r build")),
            ("silent", project.bash("rm -rf build dist")),
            ("deny rule:no-rm", project.bash("rm -r build && rm -r src")),
            ("deny rule:no-rm", project.bash("rm -r build src")),
            ("deny rule:no-rm", project.bash("rm -r build $OTHER")),
        ],
    );
}

#[test]
fn unknown_words_pass_unless_the_rule_says_otherwise() {
    for (unknown, expected) in [("pass", "silent"), ("ask", "ask rule:r"), ("deny", "deny rule:r")] {
        let project = project_with_rules(&format!(
            "[[rule]]\nname = \"r\"\nruns = \"git push --force\"\nunknown = \"{unknown}\"\ndeny = \"no\"\n"
        ));
        assert_eq!(decide(&project, &project.bash("git push $OPTIONS")), expected, "{unknown}");
        assert_eq!(decide(&project, &project.bash("git status")), "silent", "{unknown}");
    }
}

#[test]
fn of_several_rules_the_strictest_counts_and_all_reasons_are_said() {
    let project = project_with_rules(
        r#"
        [[rule]]
        name = "a"
        runs = "git push"
        ask = "first reason"
        [[rule]]
        name = "b"
        runs = "git push"
        deny = "second reason"
        "#,
    );
    let reason = project.hook(&project.bash("git push")).expect_denial();
    assert!(reason.contains("second reason"), "{reason}");
    fs::write(
        project.path.join("provost.toml"),
        "[rules]\noff = [\"b\"]\n[[rule]]\nname = \"b\"\nruns = \"git push\"\ndeny = \"x\"\n",
    )
    .unwrap();
    assert_decisions(&project, &[("silent", project.bash("git push"))]);
}

#[test]
fn pushes_is_the_branch_that_a_push_changes() {
    let project =
        project_with_rules("[[rule]]\nname = \"main\"\npushes = \"main\"\ndeny = \"open a pull request\"\n");
    git_in(&project.path, &["branch", "topic"]);
    let denied = [
        "git push",
        "git push origin main",
        "git push origin HEAD",
        "git push origin topic:main",
        "git push origin +topic:refs/heads/main",
        "git push origin :main",
        "git push --delete origin main",
        "git push --all",
        "git push --mirror",
        "git -C . push origin main",
    ];
    assert_decisions(&project, &denied.map(|line| ("deny rule:main", project.bash(line))));
    let allowed = [
        "git push origin topic",
        "git push origin main:topic",
        "git push --tags",
        "git push --dry-run",
        "git switch topic && git push",
        "git pull origin main",
    ];
    assert_decisions(&project, &allowed.map(|line| ("silent", project.bash(line))));
    git_in(&project.path, &["checkout", "-q", "topic"]);
    assert_decisions(&project, &[("silent", project.bash("git push"))]);
    for (key, value, expected) in [
        ("branch.topic.merge", "refs/heads/main", "deny rule:main"),
        ("push.default", "current", "silent"),
        ("push.default", "nothing", "silent"),
        ("push.default", "matching", "deny rule:main"),
        ("push.default", "upstream", "deny rule:main"),
        ("branch.topic.merge", "refs/heads/topic", "silent"),
        ("remote.origin.push", "HEAD:refs/heads/main", "deny rule:main"),
    ] {
        git_in(&project.path, &["config", key, value]);
        assert_eq!(decide(&project, &project.bash("git push")), expected, "{key} = {value}");
    }
}

#[test]
fn message_is_what_a_commit_message_must_have() {
    let project = project_with_rules(
        "[[rule]]\nname = \"ticket\"\ncommits = \"*\"\nmessage = '^[A-Z]+-[0-9]+: '\ndeny = \"name the ticket\"\n",
    );
    project.write_file("wrong.txt", "fix it\n");
    project.write_file("right.txt", "AB-1: fix it\n");
    assert_decisions(
        &project,
        &[
            ("deny rule:ticket", project.bash("git commit -m 'fix it'")),
            ("deny rule:ticket", project.bash("git commit -m \"$(cat <<'EOF'\nfix it\nEOF\n)\"")),
            ("silent", project.bash("git commit -m 'AB-12: fix it'")),
            ("silent", project.bash("git commit -m \"$(cat <<'EOF'\nAB-1: fix it\n\nmore\nEOF\n)\"")),
            ("silent", project.bash("git commit --amend --no-edit")),
            ("silent", project.bash("git commit -F nowhere.txt")),
            ("deny rule:ticket", project.bash("git commit -m ''")),
            ("deny rule:ticket", project.bash("git commit -am x -m 'AB-1: body'")),
            ("deny rule:ticket", project.bash("git commit -F wrong.txt")),
            ("deny rule:ticket", project.bash("echo x > new.txt && git commit --file=new.txt")),
            ("silent", project.bash("git commit -F right.txt")),
            ("silent", project.bash("echo 'AB-1: x' > new.txt && git commit -F new.txt")),
            ("deny rule:ticket", project.bash("git merge topic -m x")),
            ("silent", project.bash("git merge topic")),
            ("deny rule:ticket", project.bash("git commit -m \"$(echo 'fix it')\"")),
            ("silent", project.bash("git commit -m \"$(printf '%s' 'AB-1: x')\"")),
            ("deny rule:ticket", project.bash("cat wrong.txt | git commit -F -")),
            ("deny rule:ticket", project.bash("git commit -F - < wrong.txt")),
            ("deny rule:ticket", project.bash("git commit -m \"$(cat wrong.txt)\"")),
            ("silent", project.bash("git commit -m \"$(<right.txt)\"")),
            ("silent", project.bash("git commit -m '\n\nAB-1: x'".replace("\\n", "\n").as_str())),
            ("silent", project.bash("git commit -F /dev/null -F src")),
        ],
    );
}

#[test]
fn a_message_that_cannot_be_known_passes_unless_the_rule_says_otherwise() {
    for (unknown, expected) in [("pass", "silent"), ("ask", "ask rule:ticket"), ("deny", "deny rule:ticket")]
    {
        let project = project_with_rules(&format!(
            "[[rule]]\nname = \"ticket\"\ncommits = \"*\"\nmessage = '^[A-Z]+-[0-9]+: '\nunknown = \"{unknown}\"\n\
             deny = \"name the ticket\"\n"
        ));
        for line in ["git commit -m \"$MESSAGE\"", "git commit -F \"$FILE\"", "git commit -m \"$(date)\""] {
            assert_eq!(decide(&project, &project.bash(line)), expected, "{line}");
        }
        for line in ["git commit", "git commit --amend --no-edit", "git commit -m 'AB-1: x'"] {
            assert_eq!(decide(&project, &project.bash(line)), "silent", "{line}");
        }
    }
}

#[test]
fn a_script_is_started_by_its_interpreter_too() {
    let project = project_with_rules(
        "[[rule]]\nname = \"deploy\"\nruns = [\"./scripts/deploy.sh\", \"manage.py migrate\"]\ndeny = \"no\"\n",
    );
    for line in [
        "scripts/deploy.sh",
        "bash scripts/deploy.sh prod",
        "bash -euo pipefail ./scripts/deploy.sh",
        "sh -x ./scripts/deploy.sh",
        "source scripts/deploy.sh",
        ". ./scripts/deploy.sh",
        "cd scripts; ./deploy.sh",
        "(cd scripts; bash deploy.sh)",
        "sudo bash scripts/deploy.sh",
        "python3 -W ignore manage.py migrate",
        "./manage.py migrate",
        "uv run python manage.py migrate app",
    ] {
        assert_eq!(decide(&project, &project.bash(line)), "deny rule:deploy", "{line}");
    }
    for line in [
        "cat scripts/deploy.sh",
        "bash other/scripts/deploy.sh",
        "bash -c 'echo scripts/deploy.sh'",
        "bash x.sh scripts/deploy.sh",
        "python3 manage.py test migrate",
        "python3 -m manage.py migrate",
        "cd /tmp && bash scripts/deploy.sh",
    ] {
        assert_eq!(decide(&project, &project.bash(line)), "silent", "{line}");
    }
}

#[test]
fn values_that_the_line_itself_gives_are_known() {
    let project =
        project_with_rules("[[rule]]\nname = \"force\"\nruns = \"git push --force|-f\"\ndeny = \"no\"\n");
    for line in [
        "CMD='git push -f'; $CMD",
        "ARGS='push --force'; git $ARGS origin",
        "$(echo git) push -f",
        "git $(echo push -f)",
        "git push \"$(printf %s --force)\"",
        "F=$(echo -f); git push $F",
        "eval \"$(echo git push -f)\"",
        "bash -c \"$(cat <<'E'\ngit push -f\nE\n)\"",
    ] {
        assert_eq!(decide(&project, &project.bash(line)), "deny rule:force", "{line}");
    }
    for line in
        ["$(command) push -f", "git push $(echo -n)", "F='-f'; git push '$F'", "git push \"$(echo x -f)\""]
    {
        assert_eq!(decide(&project, &project.bash(line)), "silent", "{line}");
    }
}

#[test]
fn except_leaves_out_branches_of_commits_and_pushes() {
    let project = project_with_rules(
        r#"
        [[rule]]
        name = "commits"
        commits = "*"
        except = "topic/*"
        deny = "use a topic branch"
        [[rule]]
        name = "pushes"
        pushes = "*"
        except = "topic/*"
        deny = "push a topic branch"
        "#,
    );
    assert_decisions(
        &project,
        &[
            ("deny rule:commits", project.bash("git commit -m x")),
            ("silent", project.bash("git checkout -b topic/a && git commit -m x")),
            ("deny rule:pushes", project.bash("git push origin main")),
            ("silent", project.bash("git push origin topic/a")),
        ],
    );
}
