//! A session in a project whose user has a rule with reviews, and a scripted reviewer.
//!
//! The reviewer does what the next line of `~/script` says: `pass`, `fail TEXT`, `crash`, `silent`, `sleep`, or any other
//! shell command. Without a line, it passes. It keeps each prompt in `~/prompts`.

use std::cell::Cell;
use std::fs;
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::rc::Rc;

use serde_json::{Value, json};

use crate::support::review_project::user_message;
use crate::support::{Answer, TestProject};

const REVIEWER: &str = r#"
number=1
while [ -e ~/prompts/$number ]; do number=$((number + 1)); done
mkdir -p ~/prompts
cat > ~/prompts/$number
echo "$1" >> ~/models
pwd > ~/directory
line=$(sed -n "${number}p" ~/script 2>/dev/null)
file=$(sed -n 's/.*Write your review to \(.*\) and change nothing else.*/\1/p' ~/prompts/$number)
case $line in
'' | pass) echo 'Nothing to fix.' > "$file"; echo 'VERDICT: PASS' ;;
fail*) echo "${line#fail }" > "$file"; echo 'VERDICT: FAIL' ;;
crash) echo 'out of order' >&2; exit 3 ;;
silent) ;;
sleep) sleep 100 ;;
*) eval "$line" ;;
esac
"#;

pub(super) struct ReviewedSession {
    pub(super) project: Rc<TestProject>,
    pub(super) id: String,
    calls: Cell<u32>,
    /// How many turns have ended.
    stops: Cell<u32>,
}

/// The rule of most tests.
pub(super) const RULE: &str = "need = { review = 2 }\nchanged = \"src/**\"";

impl ReviewedSession {
    /// A session with these keys of the rule.
    pub(super) fn new(keys: &str) -> Self {
        Self::with_config(keys, "")
    }

    pub(super) fn with_config(keys: &str, more: &str) -> Self {
        let project = TestProject::new();
        fs::remove_dir(project.path.join(".git")).unwrap();
        project.write_home_file("review.sh", REVIEWER);
        let command = json!(["sh", project.home.join("review.sh"), "{model}"]);
        let config = format!(
            "[reviewer]\ncommand = {command}\n{more}\n[[rule]]\nname = \"review\"\nstops = true\n{keys}\n"
        );
        project.write_home_file(".config/provost/provost.toml", &config);
        let project = Rc::new(project);
        let session = Self { project, id: "session-1".into(), calls: Cell::new(0), stops: Cell::new(0) };
        session.git("init -q -b main");
        session.project.write_file("src/old.rs", "one\ntwo\n");
        session.git("add -A");
        session.git("commit -qm first");
        session.prompt("please work");
        session
    }

    /// Another session in the same project.
    pub(super) fn other(&self, id: &str) -> Self {
        let session =
            Self { project: self.project.clone(), id: id.into(), calls: Cell::new(0), stops: Cell::new(0) };
        session.prompt("please work");
        session
    }

    pub(super) fn git(&self, line: &str) {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]);
        command.args(line.split(' ')).current_dir(&self.project.path).env("HOME", &self.project.home);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{line}: {output:?}");
    }

    /// What the reviewer does, one line for each review.
    pub(super) fn script(&self, lines: &[&str]) {
        let text: String = lines.iter().flat_map(|line| [*line, "\n"]).collect();
        self.project.write_home_file("script", &text);
    }

    pub(super) fn event(&self, recorded: &str) -> Value {
        let mut event = self.project.recorded_event(recorded);
        event["session_id"] = self.id.as_str().into();
        event
    }

    fn next_call(&self) -> String {
        self.calls.set(self.calls.get() + 1);
        format!("toolu_{}_{}", self.id, self.calls.get())
    }

    /// Writes a file, and reports that with the client's own tool.
    pub(super) fn write(&self, path: &str, text: &str) {
        self.project.write_file(path, text);
        let path = self.project.path.join(path);
        let mut event = self.event("PostToolUse.Write");
        event["tool_input"] = json!({"file_path": path, "content": text});
        event["tool_response"]["filePath"] = json!(path);
        event["tool_use_id"] = self.next_call().into();
        let answer = self.project.hook(&event);
        assert!(answer.is_silent(), "{answer:?}");
    }

    /// Runs a command line, and reports it.
    pub(super) fn run(&self, line: &str) {
        let mut command = Command::new("sh");
        command.args(["-c", line]).current_dir(&self.project.path).env("HOME", &self.project.home);
        for (name, value) in [("GIT_AUTHOR_NAME", "a"), ("GIT_COMMITTER_NAME", "a")] {
            command.env(name, value);
        }
        command.env("GIT_AUTHOR_EMAIL", "a@b").env("GIT_COMMITTER_EMAIL", "a@b");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{line}: {output:?}");
        let mut event = self.event("PostToolUse.Bash");
        event["tool_input"]["command"] = line.into();
        event["tool_use_id"] = self.next_call().into();
        let answer = self.project.hook(&event);
        assert!(answer.is_silent(), "{line}: {answer:?}");
    }

    pub(super) fn stop_event(&self) -> Value {
        let mut event = self.event("Stop.active_false");
        event["last_assistant_message"] = format!("turn {}", self.stops.get()).into();
        event
    }

    pub(super) fn stop(&self) -> Answer {
        self.stops.set(self.stops.get() + 1);
        self.project.hook(&self.stop_event())
    }

    /// Starts a hook for a stop.
    pub(super) fn start_stop(&self, arguments: &[&str]) -> Child {
        let mut command = self.project.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(self.stop_event().to_string().as_bytes()).unwrap();
        child
    }

    /// The reason for which a turn cannot end.
    #[track_caller]
    pub(super) fn expect_held(&self) -> String {
        let answer = self.stop();
        answer.find_denial().unwrap_or_else(|why| panic!("not held: {why}: {answer:?}"))
    }

    /// What the user reads when the turn ends.
    #[track_caller]
    pub(super) fn expect_end(&self) -> String {
        let answer = self.stop();
        assert!(answer.find_denial().is_err(), "held: {answer:?}");
        user_message(&answer)
    }

    pub(super) fn prompt(&self, text: &str) -> Answer {
        let mut event = self.event("UserPromptSubmit");
        event["prompt"] = text.into();
        self.project.hook(&event)
    }

    /// An answer without what differs between two runs.
    pub(super) fn hide_times(&self, answer: &Answer) -> String {
        let mut text = self.project.whole(answer);
        for (before, after) in [("/reviews/", "-change-review"), ("; ", " s")] {
            let mut at = 0;
            while let Some(start) = text[at..].find(before).map(|start| at + start + before.len()) {
                at = start;
                let Some(length) = text[start..].find(after).filter(|length| *length < 60) else { continue };
                let is_number = |part: &str| {
                    part.trim_start_matches("2 reviews, ")
                        .trim_start_matches("3 reviews, ")
                        .bytes()
                        .all(|byte| byte.is_ascii_digit())
                };
                if before != "; " || is_number(&text[start..start + length]) {
                    text.replace_range(start..start + length, "…");
                }
            }
        }
        text
    }

    /// The prompts of all reviews so far.
    pub(super) fn prompts(&self) -> Vec<String> {
        let read =
            |number: usize| fs::read_to_string(self.project.home.join(format!("prompts/{number}"))).ok();
        (1..).map_while(read).collect()
    }

    pub(super) fn count_reviews(&self) -> usize {
        self.prompts().len()
    }

    pub(super) fn models(&self) -> String {
        fs::read_to_string(self.project.home.join("models")).unwrap_or_default()
    }
}
