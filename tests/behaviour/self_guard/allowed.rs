//! What the guard must allow, because otherwise users would switch it off.

use serde_json::json;

use super::full;
use crate::support::{TestProject, registered_settings};

#[test]
fn other_parts_of_a_settings_file_may_change() {
    let project = full();
    let path = project.path.join(".claude/settings.json");
    let before = registered_settings().to_string();
    let mut other = registered_settings();
    other["model"] = "two".into();
    other["permissions"] = json!({"allow": ["Bash(ls)"], "deny": ["Read(.env)"]});
    other["env"] = json!({"EDITOR": "vi"});
    other["enabledPlugins"] = json!({"new@house": true});
    project.assert_allowed(&[
        ("Write", project.write(&path, &other.to_string())),
        ("pretty", project.write(&path, &format!("{other:#}\n"))),
        ("Edit", project.edit(&path, "\"one\"", "\"two\"")),
        ("MultiEdit", project.multi_edit(&path, &[("\"one\"", "\"two\""), ("\"two\"", "\"three\"")])),
        ("whole", project.edit(&path, &before, &other.to_string())),
        ("relative", project.edit(".claude/settings.json", "\"one\"", "\"two\"")),
        ("user", project.edit(project.home.join(".claude/settings.json"), "\"one\"", "\"two\"")),
        ("new file", project.write(project.home.join(".claude/settings.local.json"), "{\"model\":\"x\"}")),
    ]);
}

#[test]
fn everything_but_the_key_may_be_read() {
    let project = full();
    let journal = project.state_directory().join("projects/x/journal.jsonl");
    project.assert_allowed(&[
        ("settings", project.read(project.path.join(".claude/settings.json"))),
        ("configuration", project.read(project.path.join("provost.toml"))),
        ("journal", project.read(&journal)),
        ("Grep the project", project.grep(&project.path)),
        ("Grep the journal", project.grep(journal.parent().unwrap())),
        ("Glob", project.call("Glob", json!({"pattern": "**/*", "path": project.state_directory()}))),
    ]);
    project.assert_lines_allowed(&[
        "cat provost.toml .claude/settings.json",
        "grep hooks < .claude/settings.json",
        "cat ~/.local/state/provost/projects/x/journal.jsonl | tail -1",
        "diff .claude/settings.json ~/.claude/settings.json",
    ]);
}

#[test]
fn a_copy_of_the_configuration_under_another_name_is_a_read() {
    let project = full();
    project.assert_lines_allowed(&["cp provost.toml provost.toml.bak", "cp provost.toml /tmp/copy.txt"]);
}

#[test]
fn ordinary_work_is_not_touched() {
    let project = full();
    let at = |name: &str| project.path.join(name);
    project.assert_allowed(&[
        ("a file", project.write(at("src/main.rs"), "fn main() {}")),
        ("a name that ends alike", project.write(at("notprovost.toml"), "")),
        ("a name that starts alike", project.write(at("provost.toml.md"), "")),
        ("settings elsewhere", project.write(at("settings.json"), "{\"disableAllHooks\":true}")),
        ("settings of another tool", project.write(at(".vscode/settings.json"), "[]")),
        ("a sibling of the settings", project.write(at(".claude/agents/a.md"), "")),
        ("a command", project.write(at(".claude/commands/provost.md"), "rm provost.toml")),
        ("an edit", project.edit(at("a.txt"), "one", "two")),
        ("a notebook", project.notebook(at("n.ipynb"))),
        ("an unknown tool", project.mcp(json!({"path": at("a.txt"), "text": "provost.toml is closed\n"}))),
        ("a todo", project.call("TodoWrite", json!({"todos": [{"content": "provost.toml"}]}))),
        ("a task", project.call("Task", json!({"prompt": "look at provost.toml", "subagent_type": "x"}))),
        ("a search", project.call("WebSearch", json!({"query": "provost.toml"}))),
    ]);
    project.assert_lines_allowed(&[
        "echo \"provost.toml\"",
        "echo 'rm provost.toml > .claude/settings.json'",
        "git add -A && git commit -m 'close provost.toml'",
        "ls -la .claude ~/.local/state/provost",
        "rm -rf target a.txt && touch b.txt",
        "cp a.txt b.txt; mv b.txt sub/",
        "cat > notes.md <<'EOF'\nrm provost.toml\nEOF",
        "rm -rf sub/.claude.bak",
        "cargo test 2>&1 | tee log.txt > /dev/null",
    ]);
}

#[test]
fn a_settings_directory_without_hooks_may_be_deleted() {
    let project = TestProject::unregistered();
    project.write_file(".claude/settings.json", r#"{"model":"x"}"#);
    project.assert_lines_allowed(&[
        "rm -rf .claude",
        "rm .claude/settings.json",
        "rm -rf .claude/*",
        "rm -rf .cl*",
        "rm .claude/settings.{json,local.json}",
    ]);
}

/// Words that only the shell can expand: most of them mean other files.
#[test]
fn patterns_and_names_of_other_files_pass() {
    let project = full();
    project.write_file("sub/deep/provider.toml", "");
    project.assert_lines_allowed(&[
        "cp provost.toml{,.bak}",
        "cp -a .claude/settings.json{,.orig}",
        "mv a.txt{,.bak}",
        "rm -rf target/* sub/*.toml $PWD/target/* ${HOME}/cache/*",
        "mv $X/*.toml .",
        "find . -name '*.pyc' -exec rm {} +; find target -exec rm -rf {} \\; -ok mv {} {}.old \\;",
        "ls *.log | xargs -I{} rm {}; ls | xargs -I{} mv {} old/{}",
        "cp *.toml /tmp/backup/; cp -r $SRC/* .",
        "touch {a..z}.txt {1..9}; mkdir -p src/{a,b}/{c,d}",
        "mkdir -p $(pwd)/provost",
        "rm -rf \"$(git rev-parse --show-toplevel)/provost/target\"",
        "touch $(basename ~/src/provost).log",
        "cargo build > $(cd ~/src/provost && pwd)/build.log",
        "echo x > $(provost --version | cut -d' ' -f2).txt",
        "pkill -f provost-web/server.js; pkill -f ~/src/provost/target/debug/server; killall provost-ui",
        "pkill node; pkill -u root -f 'next dev'; pgrep provost",
        "claude mcp add x -- node server.js --bare",
        "claude -p hi; claude --version; claude -p 'what does --bare do'",
        "CLAUDE_CODE_SIMPLE=0 claude -p x",
        "ln -s ~/.claude/skills/x skills; ln -s ../main/.claude wt; ln -s $PWD/a.txt b",
    ]);
}

/// The cost of a line is proportional to its length, so that none is denied for the time it takes.
#[test]
fn long_lines_are_judged_in_time() {
    let project = full();
    for line in [
        "rm a*;".repeat(5_000),
        format!("rm {}", "a* ".repeat(10_000)),
        "cp a b;".repeat(3_000),
        format!("rm {}", "[".repeat(500_000)),
    ] {
        project.assert_lines_allowed(&[&line]);
    }
}

#[test]
fn everyday_lines_pass_in_silence() {
    let project = full();
    project.assert_lines_allowed(&[
        "git status --short && git diff --stat",
        "git commit -m \"$(cat <<'EOF'\nIt's done: 'quotes', (parens) and > signs\n\necho x > provost.toml; rm -rf .claude\nEOF\n)\"",
        "git commit -m \"$(cat <<'EOF'\nThe end stands badly\nEOF)\"",
        "git add -A && git commit -q -F - <<'EOF'\nKeep provost.toml; don't rm provost.toml\nEOF",
        "git log --oneline -20 | cat",
        "git log --format='%h %s (%an)' --since='2 weeks ago' -- provost.toml",
        "git show HEAD:provost.toml | head -50",
        "git diff HEAD~1 -- .claude/settings.json",
        "git stash list; git branch -a | grep -v HEAD",
        "git rev-parse --show-toplevel 2>/dev/null || pwd",
        "gh pr create --title \"A title\" --body \"$(cat <<'EOF'\n## Summary\n- it's `rm provost.toml` (not really)\nEOF\n)\"",
        "cargo test 2>&1 | tail -40",
        "cargo build --release 2>&1 | grep -E '^(warning|error)' | sort | uniq -c",
        "RUST_BACKTRACE=1 cargo test --lib shell -- --nocapture > /tmp/out.txt 2>&1; tail -5 /tmp/out.txt",
        "cargo clippy --all-targets -- -D warnings 2>&1 | head -n 60",
        "cargo fmt --check && echo formatted || echo 'not formatted'",
        "cd sub && cargo run --quiet -- --help",
        "npm ci && npm run build -- --mode production",
        "npm test -- --watch=false 2>&1 | tee /tmp/test.log",
        "npx tsc --noEmit -p tsconfig.json | head",
        "NODE_ENV=test npx jest src/a.test.ts -t 'does (not) fail'",
        "python -m pytest -x -q tests/ 2>&1 | tail -n 30",
        "pytest -k 'a and not b' --maxfail=1 --tb=short",
        "python3 - <<'EOF'\nimport json\nprint(json.load(open('provost.toml')) if 1 > 2 else \"it's\")\nEOF",
        "python3 -c \"import sys; print(sys.version)\"",
        "python3 <<EOF\nfor x in range(1 << 3):\n    print('(', x)\nEOF\necho done",
        "pip install -r requirements.txt --quiet 2>&1 | tail -1",
        "source .venv/bin/activate && which python",
        "sed -n '10,40p' src/main.rs",
        "sed -n '1,20p' provost.toml",
        "sed -i 's/one/two/g; s/(a|b)/c/' a.txt",
        "sed -e 's/#.*//' -e '/^$/d' a.txt | sort -u",
        "awk '{ if ($1 > 3) print $2 }' a.txt",
        "awk -F: 'NR>1 && $3 >= 1000 {sum += $3} END {print sum}' /etc/passwd",
        "find . -name '*.rs' -not -path './target/*' | xargs wc -l | sort -n | tail",
        "find . -type f -size +1M -exec ls -lh {} \\;",
        "find src \\( -name '*.ts' -o -name '*.tsx' \\) -print0 | xargs -0 grep -l 'useState'",
        "for f in src/*.rs; do echo \"== $f\"; head -3 \"$f\"; done",
        "for i in $(seq 1 5); do curl -s localhost:8080/health && break; sleep 1; done",
        "for ((i = 0; i < 1 << 3; i++)); do echo $i; done",
        "while read -r line; do echo \"$line\"; done < a.txt",
        "if [[ -f provost.toml && ! -d .git ]]; then echo yes; else echo no; fi",
        "[[ \"$x\" =~ ^(a|b)$ ]] && echo match",
        "[ -d node_modules ] || npm install",
        "test -f .claude/settings.json && jq '.hooks | keys' .claude/settings.json",
        "case \"$1\" in a|b) echo ab;; *) echo other;; esac",
        "jq -r '.items[] | select(.n > 3) | \"\\(.name): \\(.n)\"' data.json",
        "jq --arg v \"$(date +%s)\" '.version = $v' package.json > /tmp/p.json && mv /tmp/p.json package.json",
        "curl -fsSL https://example.com/install.sh -o /tmp/install.sh",
        "curl -s -X POST -H 'Content-Type: application/json' -d '{\"a\": \"b > c\"}' http://localhost:3000/api | jq .",
        "wget -q https://example.com/data.tar.gz && tar xzf data.tar.gz",
        "tar czf /tmp/src.tgz src && ls -lh /tmp/src.tgz",
        "docker run --rm -v \"$PWD\":/app -w /app node:20 npm test",
        "docker compose up -d && docker compose logs --tail=50 web",
        "grep -rn 'provost.toml' src/ docs/ | head -20",
        "rg -n \"it's|(foo)\" --glob '!target' src || true",
        "ls -la && cat README.md | head -100",
        "mkdir -p sub/new && cp a.txt sub/new/ && rm -rf sub/old",
        "cat > sub/new.sh <<'EOF'\n#!/bin/bash\nrm -f provost.toml\nEOF\nchmod +x sub/new.sh",
        "echo \"$(git rev-parse --short HEAD) $(date '+%F')\" >> notes.txt",
        "diff <(sort a.txt) <(sort b.txt) || true",
        "timeout 60 make -j$(nproc) check 2>&1 | tail -20",
        "kill %1 2>/dev/null; (sleep 1; echo late) & wait",
        "export PATH=\"$HOME/.cargo/bin:$PATH\" && rustc --version",
        "SIZE=$((1 << 20)); head -c $SIZE /dev/zero | wc -c",
        "files=(provost.toml a.txt); echo \"${files[@]}\" ${#files[@]} ${HOME##*/}",
        "ps aux | grep -v grep | awk '{print $2}' | head -3",
        "sqlite3 app.db \"select count(*) from t where a > 3 and b < 'x';\"",
        "provost explain; provost journal | tail -3",
    ]);
}

/// A word that only the shell can expand is denied only if it surely reaches a protected file.
#[test]
fn patterns_links_and_programs_of_others_are_left_alone() {
    let project = full();
    std::fs::create_dir_all(project.path.join("build")).unwrap();
    project.assert_lines_allowed(&[
        "rm -rf build/*",
        "rm -f *.txt *.json",
        "cd build && rm -rf *",
        "rm -rf \"$TMPDIR\"/x",
        "rm $f; echo x > \"$out/notes.toml\"",
        "for f in *.rs; do sed -i s/a/b/ \"$f\"; done",
        "rm {a,b}.txt",
        "mv *.md docs/",
        "echo x > $(mktemp)",
        "ln -s ../x y",
        "ln -sf a.txt b.txt",
        "cp -ls a.txt b.txt",
        "pkill node; killall -q server",
        "claude -p 'what does disableAllHooks do?'",
        "claude plugin disable other@house",
        "cp a.txt build/provost",
        "curl -s file:///etc/hostname",
    ]);
}

#[test]
fn a_pattern_means_only_what_is_there() {
    let project = TestProject::new();
    project.assert_lines_allowed(&["rm -f *", "rm -f *.toml", "sed -i s/a/b/ *.toml"]);
}
