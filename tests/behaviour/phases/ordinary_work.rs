//! Ordinary work in the middle of a workflow: none of it is denied.

use std::fs;

use serde_json::json;

use super::gate_blocker::{test_and_article_requirements, write_requirements};
use super::*;

/// Prompts of people and agents at work.
const PROMPTS: &[&str] = &[
    "Find all callers of parse_config and report them",
    "Fix the failing test in tests/gate.rs. Do not proceed to the next phase.",
    "Investigate why the quality gate in CI is red",
    "Find where the feature gate `new-checkout` is read",
    "Advance the cursor past the closing quote, see lexer.ts",
    "Why does the iterator not advance on an empty input?",
    "Thanks in advance for a short summary",
    "Continue to fix the type errors in src/",
    "Move to a smaller buffer and measure again",
    "Go to the definition of Session and explain it",
    "Review the diff for security problems",
    "Verify that the implementation is complete and list the gaps",
    "Are the requirements complete? List what is missing",
    "Check whether testing is complete for the payment module",
    "Add a 'mark as complete' button to the list of todos",
    "Pass the progress to the caller as a fraction",
    "Add progress to the upload dialog",
    "Write the handoff document for the night shift",
    "Delegate the sorting to the database",
    "Read docs/requirements/REQ-0004/01-requirements/spec.md and summarise it",
    "Look at v10-alpha and 2026-02-15-ish builds",
    "Run the linter and aggregate the errors",
    "Look up how phase shifting is done in the audio code",
    "The phase of the moon is computed wrongly: find out why",
    "Write the plan for the migration of the database",
    "Mitigate the memory leak, then run npm test again",
    "Make the tests pass so that we can advance to 07-testing",
    "Explain the state machine of the upload",
    "Compare both branches and describe what differs",
    "Rename `gateway` to `router` everywhere",
    "Implement logical AND gate simulation in circuit.py",
    "Mend the parser before we move on to the next phase",
    "List the TODOs in src and group them",
    "Search the web for how others handle the deadline",
    "Progress to report: what did you change since yesterday",
    "Proceed with option 2 and keep the API",
    "Complete the table in README.md",
    "Explore the code base and tell me where requests are logged",
    "Finalize the wording of the error messages",
    "Test the completed form with an empty name",
];

const PHASES: &[&str] = &[
    "00-quick-scan",
    "01-requirements",
    "02-tracing",
    "03-architecture",
    "04-design",
    "05-test-strategy",
    "06-implementation",
    "11-local-testing",
    "07-testing",
    "08-code-review",
    "10-cicd",
];

/// A workflow whose tests fail, or whose constitution has to be checked.
fn flow(phase: &str, tests_fail: bool) -> WorkflowProject {
    let flow = WorkflowProject::new();
    flow.write_tasks();
    write_requirements(&flow, &json!({"phase_requirements": {phase: test_and_article_requirements()}}));
    let mut state = started_workflow(phase);
    let record = if tests_fail {
        json!({"completed": false, "last_test_result": "failed", "current_iteration": 2})
    } else {
        json!({"completed": true, "status": "success", "current_iteration": 1})
    };
    state["phases"][phase]["iteration_requirements"] = json!({"test_iteration": record});
    flow.write_state(&state);
    flow
}

#[test]
fn prompts_of_helpers_are_never_denied() {
    for (at, phase) in PHASES.iter().enumerate() {
        let flow = flow(phase, at % 2 == 0);
        for (agent, every) in [("general-purpose", 1), ("Explore", 3), ("", 4)] {
            for prompt in PROMPTS.iter().skip(at % every).step_by(every) {
                let event = if agent.is_empty() {
                    flow.prompt_without_agent(prompt)
                } else {
                    flow.delegation(agent, prompt)
                };
                let reason = read_denial(&flow.project.hook_with(&["--pack", "phases"], &event));
                assert_eq!(reason, None, "{phase}, {agent}: {prompt}");
            }
        }
    }
}

/// Without an agent, the prompt names the phase; it can name others for their results.
#[test]
fn work_of_this_phase_may_mention_other_phases() {
    let flow = flow("06-implementation", false);
    for (prompt, reason) in [
        ("Do 06-implementation with the results of 05-test-strategy", false),
        ("By the design of 04-design, software-developer writes the code", false),
        ("The system-designer left notes for 06-implementation: follow them", false),
        ("Start 07-testing", true),
        ("Do 04-design again with 05-test-strategy", true),
    ] {
        assert_eq!(
            flow.find_denial("phase-sequence-guard", &flow.prompt_without_agent(prompt)).is_some(),
            reason,
            "{prompt}"
        );
    }
}

#[test]
fn commands_and_edits_are_never_denied() {
    let flow = flow("06-implementation", true);
    flow.write_settings("[phases]\nvalidate = \"before\"\n");
    flow.project.write_file("src/state.json", "{}");
    fs::create_dir_all(flow.project.path.join(".git/objects")).unwrap();
    fs::create_dir_all(flow.project.path.join(".git/refs/heads")).unwrap();
    flow.project.write_file(".git/HEAD", "ref: refs/heads/main\n");
    for command in [
        "git status",
        "git log --oneline -5",
        "git diff HEAD~1",
        "git log --grep='git commit'",
        "echo 'run git commit later'",
        "git commit --dry-run",
        "git stash",
        "git add -A",
        "git checkout -b feature/REQ-0004-x && git commit -m x",
        "git switch feature/x && git commit -am wip",
        "git fetch && git pull",
        "git push origin feature/x",
        "git tag v1",
        "cat .isdlc/state.json",
        "jq .phases .isdlc/state.json",
        "cat .isdlc/state.json 2>/dev/null | head",
        "node -e 'console.log(require(\"./.isdlc/state.json\").phases)'",
        "grep -r gate .isdlc",
        "python3 -c 'import json; print(json.load(open(\".isdlc/state.json\")))'",
        "ls -la .isdlc",
        "cp .isdlc/state.json /tmp/copy.json",
        "diff .isdlc/state.json /tmp/copy.json",
        "wc -l .isdlc/state.json",
        "npm test",
        "cargo build 2>&1 | tail -5",
        "make test > out.txt",
        "rm -rf node_modules",
        "rm src/state.json",
        "sed -i s/a/b/ src/main.rs",
        "echo '{}' > src/state.json",
        "tee log.txt < out.txt",
        "find . -name '*.json' -not -path './.isdlc/*'",
        "git show HEAD:.isdlc/state.json",
        "mv a.txt b.txt",
        "for f in src/*.rs; do wc -l $f; done",
        "docker compose up -d",
        "curl -s localhost:3000 > page.html",
        "git rebase main",
        "git commit --help",
        "git add .isdlc/state.json",
        "git diff .isdlc/state.json",
        "test -f .isdlc/state.json && echo there",
        "python3 -m json.tool .isdlc/state.json",
        "python3 - <<'EOF'\nimport json\nprint(json.load(open('.isdlc/state.json', 'r'))['phases'])\nEOF",
        "python3 -c \"open('out.json', 'w').write('{}')\"",
        "python3 -c \"import json; d = json.load(open('.isdlc/state.json')); print(d.copy(), '->', d['x'])\"",
        "python3 -c \"print(open('.isdlc/state.json').read().replace('a b', 'c'))\"",
        "ruby -rjson -e \"puts JSON.parse(File.read('.isdlc/state.json'))['phases']\"",
        "perl -ne \"print if /phase/\" .isdlc/state.json",
        "python3 -c \"import shutil; shutil.copy('a', 'b')\"",
        "node -p \"JSON.parse(fs.readFileSync('.isdlc/state.json', 'utf8')).active_workflow\"",
        "cd /tmp && git init x && cd x && git commit -m first",
    ] {
        let event = flow.call("PreToolUse.Bash", &json!({"command": command}));
        let reason = read_denial(&flow.project.hook_with(&["--pack", "phases"], &event));
        assert_eq!(reason, None, "{command}");
    }
    // Calls that are denied in the same place.
    for command in [
        "git merge feature/x",
        "git commit -m x",
        "git add -A && git commit -am x",
        "git -C . commit -m x",
        "bash -c 'git commit -m x'",
        "(cd . && git commit -m x)",
        "git commit -m \"$(cat <<'EOF'\nA title\n\nCo-Authored-By: x\nEOF\n)\"",
        "git checkout main && git commit -m x",
        "GIT_EDITOR=true git commit --amend",
        "env A=b git commit -qF msg.txt",
        "time git commit -m x",
        "git commit -m x || true",
        "if true; then git commit -am x; fi",
        "git commit -m x > /dev/null 2>&1 &",
        "npm run lint && git commit -m 'fix: lint' && git push",
        "echo '{}' > .isdlc/state.json",
        "jq '.x=1' .isdlc/state.json > /tmp/s && mv /tmp/s .isdlc/state.json",
        "sed -i s/pending/completed/ .isdlc/state.json",
        "perl -pi -e s/a/b/ .isdlc/state.json",
        "cp /tmp/s.json .isdlc/state.json",
        "cat <<'EOF' > .isdlc/state.json\n{}\nEOF",
        "echo '{}' | tee .isdlc/state.json",
        "cd .isdlc && echo '{}' > state.json",
        "rm .isdlc/state.json",
        "rm -rf .isdlc",
        "truncate -s 0 .isdlc/state.json",
        "python3 -c \"import json; json.dump({}, open('.isdlc/state.json', 'w'))\"",
        "python3 -c 'open(\".isdlc/state.json\", mode=\"w\").write(\"{}\")'",
        "node -e \"require('fs').writeFileSync('.isdlc/state.json', '{}')\"",
        "python3 - <<'EOF'\nopen('.isdlc/state.json','w').write('{}')\nEOF",
        "cd src && python3.12 <<'EOF'\nPath('../.isdlc/state.json').write_text('{}')\nEOF",
        "python3 -c \"import shutil; shutil.copy('old.json', '.isdlc/state.json')\"",
        "python3 -c \"import shutil; shutil.copyfile('old.json', '.isdlc/state.json')\"",
        "python3 -c \"from shutil import move; move('old.json', '.isdlc/state.json')\"",
        "python3 -c 'import os; os.replace(\"old.json\", \".isdlc/state.json\")'",
        "python3 -c \"import os; os.rename('old.json', '.isdlc/state.json')\"",
        "python3 -c \"from pathlib import Path; Path('old.json').rename('.isdlc/state.json')\"",
        "python3 -c \"import os; os.remove('.isdlc/state.json')\"",
        "python3 -c \"from pathlib import Path; Path('.isdlc/state.json').unlink()\"",
        "python3 -c \"open('.isdlc/state.json', 'rb+').write(b'x')\"",
        "python3 -c \"import os; os.system('cp old.json .isdlc/state.json')\"",
        "python3 -c \"import subprocess; subprocess.run(['cp', 'old.json', '.isdlc/state.json'])\"",
        "node -e \"require('fs').copyFileSync('old.json', '.isdlc/state.json')\"",
        "node -e \"require('fs').renameSync('old.json', '.isdlc/state.json')\"",
        "node -e \"require('fs').createWriteStream('.isdlc/state.json').end('{}')\"",
        "node -e \"require('child_process').execSync('cp old.json .isdlc/state.json')\"",
        "ruby -e \"require 'fileutils'; FileUtils.cp('old.json', '.isdlc/state.json')\"",
        "perl -e \"use File::Copy; copy('old.json', '.isdlc/state.json')\"",
        "perl -e \"open F, '>', '.isdlc/state.json'\"",
        "perl -e \"rename 'old.json', '.isdlc/state.json'\"",
        "php -r \"copy('old.json', '.isdlc/state.json');\"",
    ] {
        let event = flow.call("PreToolUse.Bash", &json!({"command": command}));
        assert!(read_denial(&flow.project.hook_with(&["--pack", "phases"], &event)).is_some(), "{command}");
    }
}
