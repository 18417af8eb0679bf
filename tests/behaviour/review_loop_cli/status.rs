//! `provost review status`: where the work on a plan is.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::Desk;
use crate::support::assert_shown;
use crate::support::waiting::HANG;

#[test]
fn status_of_a_plan_that_was_just_written() {
    assert_shown!("review-cli-status-new-plan", Desk::new().screen(&["status"], 0));
}

#[test]
fn status_in_the_middle_of_the_work() {
    let desk = Desk::at_work();
    desk.project.write_file(".taskie/plans/older/plan.md", "# Older\n");
    desk.file("notes.md", "x\n");
    assert_shown!("review-cli-status", desk.screen(&["status", "--plan", "login-limit"], 0));
}

#[test]
fn the_plan_that_was_changed_last_is_the_default() {
    let desk = Desk::new();
    let other = desk.project.write_file(".taskie/plans/older/plan.md", "# Older\n");
    fs::File::options().write(true).open(other).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    assert!(desk.screen(&["status"], 0).starts_with("plan       login-limit (changed last)\n"));
    assert!(desk.screen(&["continue"], 0).contains("\nothers     older; `--plan` names one of them\n"));
    assert!(
        desk.screen(&["status", "--plan", "older"], 0)
            .starts_with("plan       older\nstate      there is no")
    );
    // Also in the directory of another plan.
    let inside = |name: &str| {
        let output = desk.command(&["status", "--plan", name]).current_dir(&desk.plan).output().unwrap();
        String::from_utf8(output.stdout).unwrap().lines().next().unwrap().to_owned()
    };
    assert_eq!(inside("older"), "plan       older");
    assert_eq!(inside("."), "plan       login-limit");
    assert_eq!(inside("../older/plan.md"), "plan       older");
    assert!(inside("nope").starts_with("[provost] there is no plan `nope`."));
    let path = desk.plan.join("plan.md");
    assert!(
        desk.screen(&["status", "--plan", path.to_str().unwrap()], 0).starts_with("plan       login-limit\n")
    );
}

#[test]
fn status_says_what_happens_at_each_kind_of_stop() {
    let desk = Desk::at_work();
    let next_stop = |changes: &[&str]| {
        desk.screen(&[&["set"], changes].concat(), 0);
        let all: Value = serde_json::from_str(&desk.screen(&["status", "--json"], 0)).unwrap();
        let stop = &all["next_stop"];
        format!("{}: {}", stop["does"].as_str().unwrap(), stop["text"].as_str().unwrap())
    };
    assert_eq!(
        next_stop(&["phase=post-code-review", "next_phase=code-review", "consecutive_clean=1"]),
        "review: the code review of task 2 runs (round 4 of 8, by sonnet), and the agent continues with its findings, \
         unless it is clean, which ends the cycle"
    );
    assert_eq!(
        next_stop(&["current_task=null"]),
        "review: the code review is due and cannot run: state.json names no current_task"
    );
    assert_eq!(
        next_stop(&["current_task=2", "max_reviews=3"]),
        "limit: the agent may stop: the code review of task 2 has had all its 3 reviews, and the next step is yours"
    );
    assert_eq!(
        next_stop(&["max_reviews=0"]),
        "skip: the code review of task 2 is skipped, because max_reviews is 0; next: complete-task"
    );
    assert_eq!(next_stop(&["next_phase=null"]), "nothing: the agent may stop: nothing is due");
    assert_eq!(
        next_stop(&["next_phase=create-tasks"]),
        "nothing: the agent may stop: no review is due; create-tasks is next"
    );
    desk.project.write_file("provost.toml", "[guards]\nreview-loop = \"off\"\n");
    assert_eq!(
        next_stop(&["next_phase=code-review", "max_reviews=8"]),
        "off: nothing: the guard `review-loop` is switched off here"
    );
    let go_on = desk.screen(&["status"], 0).replace("\n           ", " ");
    let expected = "\ncontinue   no hook runs the review that is due; `provost review run` runs it\n";
    assert!(go_on.contains(expected), "{go_on}");
}

#[test]
fn an_existing_answer_counts_before_the_state_says_so() {
    let desk = Desk::at_work();
    desk.file("task-2-post-review-3.md", "# Answer\n");
    let text = desk.screen(&["status"], 0);
    assert!(text.contains("\nround      round 4 of 8 is due\n"), "{text}");
    assert!(desk.screen(&["continue"], 0).contains("\nnote       the file to write exists already"));
}

#[test]
fn status_without_a_plan_or_a_state() {
    let desk = Desk::empty();
    assert_shown!("review-cli-status-no-state", desk.screen(&["status"], 0));
    for (text, why) in [
        ("[1, 2]", "state.json is not a JSON object (invalid type: sequence"),
        ("{\"phase\": ", "state.json is not a JSON object (EOF while parsing"),
        ("", "state.json is not a JSON object"),
    ] {
        desk.file("state.json", text);
        let screen = desk.screen(&["status"], 0);
        assert!(screen.contains(&format!("\nstate      {why}")), "{screen}");
        let all: Value = serde_json::from_str(&desk.screen(&["status", "--json"], 0)).unwrap();
        assert!(all["fault"].as_str().unwrap().starts_with(why) && all["phase"].is_null(), "{all}");
    }
    fs::remove_file(desk.plan.join("state.json")).unwrap();
    fs::create_dir(desk.plan.join("state.json")).unwrap();
    assert!(desk.screen(&["status"], 0).contains("\nstate      state.json cannot be read"));
    assert!(desk.screen(&["continue"], 0).starts_with("Route: ask\nstate.json cannot be read"));
    assert!(desk.screen(&["set", "tdd=true"], 1).replace('\n', " ").contains("it cannot be read ("));

    assert_eq!(
        desk.screen(&["status", "--plan", "nope"], 1),
        "[provost] there is no plan `nope`. To fix: name one of these with --plan: login-limit.\n"
    );
    assert_eq!(desk.screen(&["status", "--plan", "nope", "--json"], 1), "{\"plan\":null}\n");
    fs::remove_dir_all(desk.project.path.join(".taskie")).unwrap();
    let none = "[provost] there are no plans: <project> and the directories above it have no `.taskie/plans`. To fix: go \
                to the project of the plan, or begin one with `/taskie:new-plan`.";
    // `run` reviews what is not committed there.
    for command in ["status", "continue", "set"] {
        assert_eq!(desk.screen(&[command], 1).replace('\n', " ").trim(), none, "{command}");
    }
    fs::create_dir_all(desk.project.path.join(".taskie/plans")).unwrap();
    let empty = "[provost] there are no plans: `.taskie/plans` is empty. To fix: begin one with \
                 `/taskie:new-plan`.";
    assert_eq!(desk.screen(&["status"], 1).replace('\n', " ").trim(), empty);
    assert_eq!(desk.screen(&["status", "--json"], 1), "{\"plan\":null}\n");
}

#[test]
fn status_as_json_has_everything() {
    let desk = Desk::at_work();
    let all: Value = serde_json::from_str(&desk.screen(&["status", "--json"], 0)).unwrap();
    let expected = json!({
        "plan": "login-limit", "path": "<project>/.taskie/plans/login-limit", "newest": true, "others": [],
        "fault": null, "stage": "Implementation", "phase": "code-review", "next_phase": "post-code-review",
        "current_task": "2", "phase_iteration": 3, "max_reviews": 8, "review_model": "sonnet",
        "consecutive_clean": 0, "clean_needed": 2, "tdd": false, "round": 3,
        "tasks": {"all": 3, "left": 1},
        "last_review": {
            "file": "<project>/.taskie/plans/login-limit/task-2-review-3.md", "verdict": "FAIL",
        },
        "running": false, "log": null, "began": null,
        "next_stop": {"does": "nothing", "text": "the agent may stop: .taskie/plans/login-limit/task-2-post-review-3.md, \
                      the answer to .taskie/plans/login-limit/task-2-review-3.md, does not exist yet"},
        "route": {"action": "post-code-review",
                  "why": "a code-review has been made, and the agent has to answer its findings"},
        "go_on": "`/taskie:continue-plan` continues with post-code-review",
        "violations": [], "warnings": [],
    });
    assert_eq!(all, expected);
}

#[test]
fn status_changes_nothing() {
    let desk = Desk::at_work();
    for arguments in [&["status"][..], &["status", "--json"], &["continue"], &["continue", "--with-action"]] {
        desk.screen(arguments, 0);
    }
    assert!(!desk.project.state_directory().exists(), "a look has made files");
    desk.no_litter();
}

#[test]
fn watch_prints_a_block_for_each_change_only() {
    let desk = Desk::new();
    let mut child = desk.command(&["status", "--watch", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    let (line, lines) = mpsc::channel();
    let out = BufReader::new(child.stdout.take().unwrap());
    let reading = thread::spawn(move || {
        for text in out.lines().map_while(Result::ok) {
            let _ = line.send(serde_json::from_str::<Value>(&text).unwrap());
        }
    });
    let next = || lines.recv_timeout(HANG).unwrap();
    assert_eq!(next()["round"], 1);
    assert!(lines.recv_timeout(Duration::from_millis(2500)).is_err(), "nothing has changed");
    desk.screen(&["set", "phase_iteration=4"], 0);
    assert_eq!(next()["round"], 5);
    fs::remove_dir_all(desk.project.path.join(".taskie")).unwrap();
    // `status` may see it half-written.
    let last = std::iter::from_fn(|| Some(next())).find(|seen| seen["plan"].is_null());
    assert_eq!(last, Some(json!({"plan": null})));
    child.kill().unwrap();
    child.wait().unwrap();
    reading.join().unwrap();
}

/// The screen shows an agent's claims only as far as reviews confirm them.
#[test]
fn status_shows_the_state_that_reviews_confirm() {
    let desk = Desk::new();
    desk.reviewer("FAIL", "");
    desk.screen(&["run"], 0);
    let mut forged = desk.value();
    forged["phase"] = json!("post-plan-review");
    forged["next_phase"] = json!("plan-review");
    forged["consecutive_clean"] = json!(1);
    desk.state(&forged);
    let text = desk.screen(&["status"], 0);
    for line in [
        "clean      0 of 2 clean in a row\n",
        "warning    state.json claims 1 clean in a row, but Provost counts 0 after its own reviews\n",
        "next stop  the plan review runs (round 2 of 8, by sonnet), and the agent continues with its\n",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    // What the user sets counts, and what an agent sets does not.
    let set = |field: &str, inside: bool| {
        let mut command = desk.command(&["set", field]);
        if inside {
            command.env("CLAUDECODE", "1");
        }
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    assert!(!set("consecutive_clean=1", true).contains("which ends the cycle"));
    assert!(!set("max_reviews=7", false).contains("which ends the cycle"), "a word about something else");
    assert!(set("consecutive_clean=1", false).contains("which ends the cycle"));
    assert!(desk.screen(&["status"], 0).contains("clean      1 of 2 clean in a row\n"));
}

/// Outside of the project, a plan is named by its path, and the commands that the screen shows work there.
#[test]
fn a_plan_of_another_project_is_named_by_its_path() {
    let desk = Desk::at_work();
    let outside = |arguments: &[&str]| {
        let output = desk.command(arguments).current_dir("/").output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let plan = desk.plan.canonicalize().unwrap();
    let path = plan.to_str().unwrap();
    let file = plan.join("plan.md");
    for named in [path, file.to_str().unwrap(), &path[1..]] {
        let (code, screen) = outside(&["status", "--plan", named]);
        assert_eq!(code, Some(0), "{named}: {screen}");
        assert!(screen.contains(&format!("`provost review set --plan {path} next_phase=null`")), "{screen}");
    }
    assert_eq!(outside(&["set", "--plan", path, "max_reviews=5"]).0, Some(0));
    assert_eq!(desk.value()["max_reviews"], 5);
    // The settings of the plan's project count.
    desk.project.write_file("provost.toml", "[guards]\nreview-loop = \"off\"\n");
    assert!(outside(&["status", "--plan", path]).1.contains("the guard `review-loop` is switched off here"));
    for nothing in ["login-limit", "tmp", "/nowhere"] {
        assert_eq!(outside(&["status", "--plan", nothing]).0, Some(1), "{nothing}");
    }
}

/// The screen shows the state that counts, and not what an agent has written.
#[test]
fn an_unconfirmed_claim_is_not_shown() {
    let desk = Desk::at_work();
    desk.screen(&["set", "phase=post-code-review", "next_phase=code-review"], 0);
    desk.reviewer("FAIL", "");
    desk.screen(&["run"], 0);
    let mut state = desk.value();
    let next = json!({"consecutive_clean": 1, "next_phase": "code-review"});
    state.as_object_mut().unwrap().extend(next.as_object().unwrap().clone());
    desk.state(&state);
    assert_shown!("review-cli-status-false-claim", desk.screen(&["status"], 0));
    fs::remove_file(desk.plan.join("state.json")).unwrap();
    let screen = desk.screen(&["status"], 0);
    assert!(screen.contains("\nwarning    the code review of task 2 was left after round 4"), "{screen}");
    // The command that it shows continues the loop.
    let set = screen
        .replace('\n', " ")
        .split('`')
        .find(|part| part.contains(" --new phase=code"))
        .unwrap()
        .to_owned();
    let words: Vec<&str> = set.split_whitespace().skip(2).collect();
    desk.screen(&words, 0);
    assert!(desk.screen(&["continue"], 0).starts_with("Route: post-code-review\n"));
}
