//! `state-write-validator`, after a change and, if that is wanted, before it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};

use super::{Flow, begun, denied, told};

const GUARD: &str = "state-write-validator";

/// A state whose phase has this.
fn with(phase: &Value) -> Value {
    json!({"phases": {"01-requirements": phase}})
}

fn validated(count: u32) -> Value {
    with(&json!({"constitutional_validation": {"completed": true, "iterations_used": count}}))
}

fn elicited(count: u32) -> Value {
    let part = json!({"completed": true, "menu_interactions": count});
    with(&json!({"iteration_requirements": {"interactive_elicitation": part}}))
}

fn tested(count: u32) -> Value {
    let part = json!({"completed": true, "current_iteration": count});
    with(&json!({"iteration_requirements": {"test_iteration": part}}))
}

/// A call as it is told after it was made.
fn made(mut event: Value) -> Value {
    event["hook_event_name"] = "PostToolUse".into();
    event["tool_response"] = json!({});
    event
}

/// What is said after a write of the state, which now holds this.
fn warned(state: &Value) -> Option<String> {
    let flow = Flow::new();
    flow.state(state);
    let said = flow.warned(GUARD, &made(flow.project.write(flow.state_file(), "")));
    said.map(|said| flow.project.shown(&said))
}

mod after {
    use super::*;

    #[test]
    fn t01_a_write_of_the_state_is_seen() {
        assert!(warned(&validated(0)).is_some());
    }

    #[test]
    fn t02_a_write_of_a_members_state_is_seen() {
        let flow = Flow::new();
        let file = flow.project.file(".isdlc/projects/api/state.json", &validated(0).to_string());
        let said = flow.warned(GUARD, &made(flow.project.write(&file, ""))).unwrap();
        assert!(said.contains(".isdlc/projects/api/state.json"), "{said}");
    }

    #[test]
    fn t03_a_faked_validation_is_remarked() {
        assert_eq!(
            warned(&validated(0)).unwrap(),
            "[state-write-validator] WARNING: Suspicious state.json write detected.\n  Phase: 01-requirements\n  \
             Issue: constitutional_validation.completed is true but iterations_used is 0\n  Path: \
             <project>/.isdlc/state.json"
        );
        let missing = with(&json!({"constitutional_validation": {"completed": true}}));
        assert!(warned(&missing).unwrap().contains("iterations_used is undefined"));
        let null = with(&json!({"constitutional_validation": {"completed": true, "iterations_used": null}}));
        assert!(warned(&null).unwrap().contains("iterations_used is null"));
    }

    #[test]
    fn t04_a_faked_elicitation_is_remarked() {
        let said = warned(&elicited(0)).unwrap();
        assert!(
            said.contains("interactive_elicitation.completed is true but menu_interactions is 0"),
            "{said}"
        );
    }

    #[test]
    fn t05_a_faked_test_is_remarked() {
        let said = warned(&tested(0)).unwrap();
        assert!(said.contains("test_iteration.completed is true but current_iteration is 0"), "{said}");
    }

    #[test]
    fn t06_a_validation_that_was_done_is_not() {
        assert_eq!(warned(&validated(1)), None);
    }

    #[test]
    fn t07_an_elicitation_that_was_done_is_not() {
        assert_eq!(warned(&elicited(3)), None);
    }

    #[test]
    fn t08_a_test_that_was_done_is_not() {
        assert_eq!(warned(&tested(2)), None);
    }

    /// The stage checks that the script prints nothing; the hook only tells the person.
    #[test]
    fn t09_nothing_is_held_back() {
        let flow = Flow::new();
        flow.state(&validated(0));
        let event = made(flow.project.write(flow.state_file(), ""));
        let answer = flow.only(GUARD).hook_with(&["--pack", "phases"], &event);
        assert_eq!((denied(&answer), answer.code), (None, Some(0)));
        assert!(told(&answer).is_some() && !answer.stdout.contains("additionalContext"), "{answer:?}");
    }

    #[test]
    fn t10_other_files_are_none_of_its_business() {
        let flow = Flow::new();
        for name in
            ["state.json", "src/a.rs", ".isdlc/state.json.bak", ".isdlc/x/state.json", ".isdlc/other.json"]
        {
            let file = flow.project.file(name, &validated(0).to_string());
            assert_eq!(flow.warned(GUARD, &made(flow.project.write(&file, ""))), None, "{name}");
        }
    }

    #[test]
    fn t11_a_state_that_cannot_be_read_claims_nothing() {
        let flow = Flow::new();
        let event = made(flow.project.write(flow.state_file(), ""));
        assert_eq!(flow.warned(GUARD, &event), None, "it vanished in between");
        for text in ["", "{", "null", "[]", "5", "{\"phases\": 5}", "\u{0}"] {
            flow.project.file(".isdlc/state.json", text);
            assert_eq!(flow.warned(GUARD, &event), None, "{text}");
        }
        fs::remove_file(flow.state_file()).unwrap();
        fs::create_dir(flow.state_file()).unwrap();
        assert_eq!(flow.warned(GUARD, &event), None);
    }

    #[test]
    fn t12_what_is_no_event_is_let_pass() {
        let flow = Flow::new();
        flow.state(&validated(0));
        for input in ["", "null", "[]", "{", "{\"tool_name\": 5}", "\u{0}"] {
            let answer = flow.project.script(&[GUARD], input.as_bytes());
            assert_eq!((answer.code, &*answer.stdout, &*answer.stderr), (Some(0), "", ""), "{input}");
        }
    }

    #[test]
    fn t13_either_slash_will_do() {
        let flow = Flow::new();
        flow.state(&validated(0));
        flow.project.file(".isdlc/projects/api/state.json", &validated(0).to_string());
        let here = flow.project.path.display();
        for path in
            [format!("{here}/.isdlc\\state.json"), format!("{here}\\.isdlc\\projects\\api\\state.json")]
        {
            assert!(flow.warned(GUARD, &made(flow.project.write(&path, ""))).is_some(), "{path}");
        }
        assert_eq!(flow.warned(GUARD, &made(flow.project.write("C:\\x\\.isdlc\\state.json", ""))), None);
    }

    /// The stage checks the exit code of every call; a call before the write is not this script's.
    #[test]
    fn t14_the_exit_code_is_0() {
        let flow = Flow::new();
        flow.settings("[phases]\nvalidate = \"before\"\n").state(&validated(0));
        for event in [
            flow.project.write(flow.state_file(), "x"),
            flow.project.bash("rm -rf .isdlc"),
            made(flow.project.bash("ls")),
        ] {
            let answer = flow.project.script(&[GUARD], event.to_string().as_bytes());
            assert_eq!((answer.code, &*answer.stdout), (Some(0), ""), "{event}");
        }
    }

    #[test]
    fn every_way_to_write_it_is_seen() {
        let flow = Flow::new();
        flow.state(&validated(0));
        let file = flow.state_file();
        let project = &flow.project;
        project.file("tmp/state.json", "{}");
        let mut events = vec![
            project.write(&file, "{}"),
            project.write(".isdlc/../.isdlc/state.json", "{}"),
            project.edit(&file, "a", "b"),
            project.multi_edit(&file, &[("a", "b")]),
            project.notebook(&file),
            project.mcp(json!({"path": file})),
        ];
        for line in [
            "echo '{}' > .isdlc/state.json",
            "jq . x >> .isdlc/state.json",
            "echo '{}' | tee .isdlc/state.json",
            "cp x .isdlc/state.json",
            "mv tmp/state.json .isdlc/",
            "cp -t .isdlc tmp/state.json",
            "sed -i s/a/b/ .isdlc/state.json",
            "jq .x .isdlc/state.json > t && mv t .isdlc/state.json",
            "cd .isdlc && echo x > state.json",
            "sh -c 'echo x > .isdlc/state.json'",
            "dd if=x of=.isdlc/state.json",
            "cp -r x .isdlc",
        ] {
            events.push(project.bash(line));
        }
        for event in events {
            let said = flow.warned(GUARD, &made(event.clone()));
            let blocks = said.as_ref().map(|said| said.matches("WARNING").count());
            // A tree that is copied into a directory lands beside the state.
            let wanted = if event["tool_input"]["command"] == "cp -r x .isdlc" { None } else { Some(1) };
            assert_eq!(blocks, wanted, "{event}");
        }
    }

    #[test]
    fn reading_it_is_no_write() {
        let flow = Flow::new();
        flow.state(&validated(0));
        for line in READING {
            assert_eq!(flow.warned(GUARD, &made(flow.project.bash(line))), None, "{line}");
        }
    }

    #[test]
    fn the_same_file_is_the_same_file() {
        let flow = Flow::new();
        flow.state(&validated(0));
        let (hard, soft) = (flow.project.path.join("hard"), flow.project.path.join("soft"));
        fs::hard_link(flow.state_file(), &hard).unwrap();
        symlink(flow.state_file(), &soft).unwrap();
        for path in [&hard, &soft] {
            assert!(flow.warned(GUARD, &made(flow.project.write(path, ""))).is_some(), "{path:?}");
        }
        fs::rename(flow.project.path.join(".isdlc"), flow.project.home.join("kept")).unwrap();
        symlink(flow.project.home.join("kept"), flow.project.path.join(".isdlc")).unwrap();
        let outside = flow.project.home.join("kept/state.json");
        for path in [&outside, &flow.state_file()] {
            assert!(flow.warned(GUARD, &made(flow.project.write(path, ""))).is_some(), "{path:?}");
        }
    }

    #[test]
    fn many_findings_are_counted() {
        let fake = json!({"completed": true});
        let phases: serde_json::Map<String, Value> = (0..30)
            .map(|number| {
                (
                    format!("{number:02}\n\u{1b}[2J{}", "x".repeat(500)),
                    json!({"constitutional_validation": fake}),
                )
            })
            .collect();
        let said = warned(&json!({"phases": phases})).unwrap();
        assert_eq!(said.matches("WARNING").count(), 10);
        assert!(said.ends_with("and 20 more") && said.lines().count() == 41, "{said}");
        assert!(said.len() < 5_000 && !said.contains('\u{1b}'), "{said}");
    }

    #[test]
    fn the_model_is_told_if_the_person_wants_it() {
        let flow = Flow::new();
        flow.settings("[phases]\nnotify = \"model\"\n").state(&validated(0));
        let event = made(flow.project.write(flow.state_file(), ""));
        let answer = flow.only(GUARD).hook_with(&["--pack", "phases"], &event);
        assert!(answer.stdout.contains("additionalContext"), "{answer:?}");
    }

    #[test]
    fn a_large_state_is_read() {
        let mut state = validated(0);
        state["log"] = json!("x".repeat(5 << 20));
        assert!(warned(&state).is_some());
    }
}

/// Lines that only read the state, some of which were held once.
const READING: &[&str] = &[
    "cat .isdlc/state.json",
    "cat .isdlc/state.json 2>/dev/null",
    "jq .phases .isdlc/state.json | head",
    "node -e \"console.log(JSON.parse(require('fs').readFileSync('.isdlc/state.json')).phases)\"",
    "grep -c completed .isdlc/state.json > /dev/null",
    "cp .isdlc/state.json /tmp/kept.json",
    "cat .isdlc/state.json > copy.json",
    "echo \"write .isdlc/state.json > x\"",
    "git diff .isdlc/state.json",
    "ls .isdlc",
];

mod before {
    use super::*;

    /// A workflow in its second phase, judged before.
    fn flow() -> Flow {
        let flow = Flow::new();
        flow.settings("[phases]\nvalidate = \"before\"\n").state(&state());
        flow
    }

    fn state() -> Value {
        let mut state = begun("06-implementation");
        state["active_workflow"]["current_phase_index"] = json!(2);
        state["phases"]["01-requirements"] = json!({"status": "completed",
            "constitutional_validation": {"completed": true, "iterations_used": 2}});
        state["phases"]["06-implementation"]["iteration_requirements"] =
            json!({"test_iteration": {"completed": false, "current_iteration": 3, "history": [1, 2, 3]}});
        state["skill_usage_log"] = json!([{"agent": "a"}, {"agent": "b"}]);
        state
    }

    fn judged(flow: &Flow, event: &Value) -> Option<String> {
        denied(&flow.only(GUARD).hook_with(&["--pack", "phases"], event))
    }

    fn refused(flow: &Flow, event: &Value) -> String {
        let reason = judged(flow, event).unwrap_or_else(|| panic!("allowed: {event}"));
        assert!(reason.starts_with("[provost] `") && reason.contains("` not changed: "), "{reason}");
        reason
    }

    fn passes(flow: &Flow, event: &Value) {
        assert_eq!(judged(flow, event), None, "{event}");
    }

    /// The whole file is written anew with a change.
    fn rewritten(flow: &Flow, change: impl Fn(&mut Value)) -> Value {
        let mut new = state();
        change(&mut new);
        flow.project.write(flow.state_file(), &new.to_string())
    }

    #[test]
    fn by_default_nothing_is_judged_before() {
        let flow = Flow::in_phase("06-implementation");
        passes(&flow, &flow.project.write(flow.state_file(), "gone"));
        passes(&flow, &flow.project.bash("rm -rf .isdlc"));
        passes(&flow, &flow.project.bash("echo > .isdlc/state.json"));
    }

    #[test]
    fn a_new_fake_is_denied_by_every_tool_that_carries_it() {
        let flow = flow();
        let file = flow.state_file();
        let fake = rewritten(&flow, |new| {
            new["phases"]["06-implementation"]["constitutional_validation"] = json!({"completed": true});
        });
        let reason = refused(&flow, &fake);
        let first = flow.project.shown(reason.lines().next().unwrap());
        assert_eq!(
            first,
            "[provost] `.isdlc/state.json` not changed: constitutional_validation is completed, but iterations_used is \
             undefined (06-implementation). To fix: do the work first, and mark it as completed then; Provost counts \
             the tries."
        );
        refused(&flow, &flow.project.edit(&file, "\"iterations_used\": 2", "\"iterations_used\": 0"));
        let edits =
            [("\"iterations_used\": 2", "\"iterations_used\": 1"), ("\"iterations_used\": 1", "\"x\": 1")];
        refused(&flow, &flow.project.multi_edit(&file, &edits));
        passes(&flow, &flow.project.edit(&file, "\"iterations_used\": 2", "\"iterations_used\": 3"));
        passes(
            &flow,
            &flow.project.multi_edit(&file, &[("\"iterations_used\": 2", "\"iterations_used\": 3")]),
        );
        fs::remove_file(&file).unwrap();
        refused(&flow, &fake);
    }

    #[test]
    fn a_fake_that_stands_there_does_not_hold_up_another_change() {
        let flow = flow();
        let mut faked = state();
        faked["phases"]["06-implementation"]["constitutional_validation"] = json!({"completed": true});
        flow.state(&faked);
        faked["note"] = json!("x");
        passes(&flow, &flow.project.write(flow.state_file(), &faked.to_string()));
        passes(&flow, &rewritten(&flow, |_| {}));
    }

    #[test]
    fn a_stale_copy_is_denied() {
        let flow = flow();
        for (wanted, change) in [
            (
                "the status of 01-requirements",
                (|new| new["phases"]["01-requirements"]["status"] = json!("pending")) as fn(&mut Value),
            ),
            ("current_phase would go back", |new| {
                new["active_workflow"]["current_phase"] = json!("01-requirements");
            }),
            ("current_phase_index", |new| new["active_workflow"]["current_phase_index"] = json!(0)),
            ("iterations_used would go back", |new| {
                new["phases"]["01-requirements"]["constitutional_validation"]["iterations_used"] = json!(1);
            }),
            ("skill_usage_log would lose", |new| new["skill_usage_log"] = json!([])),
        ] {
            let reason = refused(&flow, &rewritten(&flow, change));
            assert!(reason.contains(wanted) && reason.contains("read the state file again"), "{reason}");
        }
        for change in [
            (|new| new["active_workflow"]["current_phase"] = json!("07-testing")) as fn(&mut Value),
            |new| new["phases"]["06-implementation"]["status"] = json!("completed"),
            |new| new["active_workflow"] = json!(null),
            |new| *new = json!({}),
            |new| *new = json!({"active_workflow": {"type": "fix", "current_phase": "01-requirements"}}),
        ] {
            passes(&flow, &rewritten(&flow, change));
        }
    }

    #[test]
    fn a_state_is_not_destroyed() {
        let flow = flow();
        let file = flow.state_file();
        for text in ["", "gone", "[]", "null", "{\"a\": 1"] {
            assert!(refused(&flow, &flow.project.write(&file, text)).contains("no JSON object"), "{text}");
        }
        refused(&flow, &flow.project.edit(&file, "{\n  \"active_workflow\"", "\"active_workflow\""));
        flow.project.file(".isdlc/state.json", "broken");
        passes(&flow, &flow.project.write(&file, "{}"));
        passes(&flow, &flow.project.write(&file, "still broken"));
    }

    #[test]
    fn an_edit_that_cannot_be_applied_is_denied() {
        let flow = flow();
        let reason = refused(&flow, &flow.project.edit(flow.state_file(), "not there", "x"));
        assert!(reason.contains("read the file again"), "{reason}");
    }

    #[test]
    fn what_cannot_be_foretold_is_denied_with_a_way_to_do_it() {
        let flow = flow();
        let project = &flow.project;
        project.file("tmp/state.json", "{}");
        let mut events =
            vec![project.notebook(flow.state_file()), project.mcp(json!({"path": flow.state_file()}))];
        for line in [
            "echo '{}' > .isdlc/state.json",
            "echo '{}' >> .isdlc/state.json",
            "echo '{}' | tee .isdlc/state.json",
            "cat <<'E' > .isdlc/state.json\n{}\nE",
            "cp x .isdlc/state.json",
            "mv tmp/state.json .isdlc/",
            "ln -sf /tmp/x .isdlc/state.json",
            "sed -i 's/pending/completed/' .isdlc/state.json",
            "jq '.x=1' .isdlc/state.json > t && mv t .isdlc/state.json",
            "cd .isdlc; echo x > state.json",
            "(cd .isdlc && echo x >| state.json)",
            "sh -c 'echo x > .isdlc/state.json'",
            "truncate -s 0 .isdlc/state.json",
            "jq . .isdlc/state.json | sponge .isdlc/state.json",
            "echo x > \"$ROOT/.isdlc/state.json\"",
            "echo x > .isdlc/{state,x}.json",
            "rm -rf .isdlc/*",
            "cp -r tmp/.isdlc/. .isdlc",
            "cp -r tmp/.isdlc .",
            "rsync -a tmp/.isdlc/ .isdlc/",
            "dd if=x of=.isdlc/state.json",
            "git checkout -- .isdlc/state.json",
            "git checkout HEAD~1 .isdlc/state.json",
            "git restore -s HEAD~1 .isdlc/state.json",
            "git stash push .isdlc/state.json",
        ] {
            events.push(project.bash(line));
        }
        for event in events {
            let reason = refused(&flow, &event);
            assert!(reason.contains("use the Edit or the Write tool"), "{reason}");
        }
    }

    #[test]
    fn reading_is_never_held() {
        let flow = flow();
        for line in READING {
            passes(&flow, &flow.project.bash(line));
        }
        passes(&flow, &flow.project.read(flow.state_file()));
        passes(&flow, &flow.project.grep(".isdlc"));
        let reads = flow.project.call("mcp__files__read_text_file", json!({"path": flow.state_file()}));
        passes(&flow, &reads);
    }

    #[test]
    fn it_is_not_taken_away_while_a_workflow_is_under_way() {
        let flow = flow();
        let lines = [
            "rm .isdlc/state.json",
            "rm -rf .isdlc",
            "rm -rf .",
            "mv .isdlc/state.json /tmp/x",
            "mv .isdlc .old",
            "unlink .isdlc/state.json",
            "git rm .isdlc/state.json",
            "git rm -r .isdlc",
            "git mv .isdlc .old",
        ];
        for line in lines {
            let reason = refused(&flow, &flow.project.bash(line));
            assert!(reason.contains("an active workflow"), "{reason}");
        }
        symlink(".isdlc", flow.project.path.join("link")).unwrap();
        passes(&flow, &flow.project.bash("rm link"));
        for line in ["rm .isdlc/other.json", "rm .isdlc/*.tmp", "rm -rf \"$X\"", "mv notes .isdlc/"] {
            passes(&flow, &flow.project.bash(line));
        }
        flow.state(&json!({"active_workflow": null}));
        for line in lines {
            passes(&flow, &flow.project.bash(line));
        }
        fs::remove_file(flow.state_file()).unwrap();
        passes(&flow, &flow.project.bash("rm -rf .isdlc"));
    }

    #[test]
    fn git_changes_it_with_the_directory_around_it() {
        let flow = flow();
        let project = &flow.project.path;
        fs::remove_dir(project.join(".git")).unwrap();
        let made = std::process::Command::new("git").args(["init", "-q"]).current_dir(project).status();
        assert!(made.unwrap().success());
        for line in [
            "git checkout HEAD -- .isdlc",
            "git clean -fdx",
            "git clean -f .isdlc",
            "git restore -s x .isdlc",
        ] {
            refused(&flow, &flow.project.bash(line));
        }
        for line in
            ["git stash", "git checkout -- .", "git clean -fdn", "git clean -fdx src", "git checkout main"]
        {
            passes(&flow, &flow.project.bash(line));
        }
    }

    #[test]
    fn the_same_file_is_the_same_file() {
        let flow = flow();
        let (hard, soft) = (flow.project.path.join("hard"), flow.project.path.join("soft"));
        fs::hard_link(flow.state_file(), &hard).unwrap();
        symlink(flow.state_file(), &soft).unwrap();
        for path in [&hard, &soft] {
            refused(&flow, &flow.project.write(path, "gone"));
            passes(&flow, &flow.project.write(path, &state().to_string()));
            let name = path.file_name().unwrap().to_str().unwrap();
            refused(&flow, &flow.project.bash(&format!("echo x > {name}")));
            passes(&flow, &flow.project.bash(&format!("rm {name}")));
        }
    }

    #[test]
    fn members_have_states_of_their_own() {
        let flow = flow();
        let file = flow.project.file(".isdlc/projects/api/state.json", &state().to_string());
        refused(&flow, &flow.project.write(&file, "gone"));
        refused(&flow, &flow.project.bash("rm -r .isdlc/projects"));
        let hard = flow.project.path.join("hard");
        fs::hard_link(&file, &hard).unwrap();
        refused(&flow, &flow.project.write(&hard, "gone"));
    }

    #[test]
    fn a_large_state_is_judged() {
        let flow = flow();
        let mut large = state();
        large["log"] = json!("x".repeat(5 << 20));
        flow.state(&large);
        passes(&flow, &flow.project.write(flow.state_file(), &large.to_string()));
        large["phases"]["01-requirements"]["status"] = json!("pending");
        refused(&flow, &flow.project.write(flow.state_file(), &large.to_string()));
        refused(
            &flow,
            &flow.project.edit(flow.state_file(), "\"iterations_used\": 2", "\"iterations_used\": 0"),
        );
    }

    #[test]
    fn wrong_types_are_no_trouble() {
        let flow = flow();
        for odd in [
            json!({"active_workflow": {"phases": 5, "current_phase": [], "current_phase_index": "x"}, "phases": []}),
            json!({"active_workflow": {}, "phases": {"a": null, "b": {"status": 5}}, "skill_usage_log": {}}),
            json!({"active_workflow": "x"}),
        ] {
            flow.state(&odd);
            passes(&flow, &flow.project.write(flow.state_file(), &odd.to_string()));
            passes(&flow, &flow.project.write(flow.state_file(), &state().to_string()));
        }
    }

    /// Before a change it is judged, and after it was made it is still looked at.
    #[test]
    fn what_got_there_all_the_same_is_remarked() {
        let flow = flow();
        flow.state(&validated(0));
        let event = made(flow.project.bash("node fake.js > .isdlc/state.json"));
        assert!(flow.warned(GUARD, &event).is_some());
        let other = flow.project.write(Path::new("src/a.rs"), "x");
        passes(&flow, &other);
    }
}
