//! Measures the plan gate with large plans and with many plans.
//!
//! Measures whole processes, interleaved. A plan of 10 MB has to be read, searched for marks and hashed before the agent may
//! leave plan mode. If the event does not name the plan, it has to be found by its session among all others, which the
//! design document does with `grep -l`.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Instant, SystemTime};

use provost::plan_gate::{digest::Digest, prompts};
use serde_json::{Value, json};

use crate::programs::find_built;
use crate::statistics::median;

const SESSION: &str = "db05b49a-780f-4b0b-bd53-5359177b8aba";
const LARGE: usize = 10_000_000;
const MANY: usize = 10_000;
const EACH: usize = 100_000;
/// The goals: megabytes per second without the start of the process, and the share of `grep`'s time.
const GOALS: (f64, f64) = (500.0, 0.1);

pub struct Plans {
    /// Microseconds to leave plan mode with a small and a large plan.
    small: f64,
    large: f64,
    /// Microseconds to find a plan by its session: with the note of the session's last plan; without it as the newest and
    /// as the oldest plan; and with `grep -l` over the same files.
    noted: f64,
    found: f64,
    found_last: f64,
    grep: f64,
}

pub struct PlanDirectory {
    home: PathBuf,
    project: PathBuf,
    provost: PathBuf,
}

pub fn measure(rounds: usize) -> io::Result<Plans> {
    let root = tempfile::tempdir()?;
    let stage = PlanDirectory::create(root.path().join("home"), root.path().join("home/project"))?;
    // The programs inherit the directory, which allows the cheap way to start a process.
    std::env::set_current_dir(&stage.project)?;
    let small = stage.create_assessed("small.md", 1_000)?;
    let large = stage.create_assessed("large.md", LARGE)?;
    let (mut small_times, mut large_times) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        small_times.push(stage.run_hook(&small)?);
        large_times.push(stage.run_hook(&large)?);
    }
    fs::remove_file(stage.plans().join("large.md"))?;
    stage.create_others(MANY, EACH)?;
    let mut event = small;
    event["tool_input"] = json!({});
    let (mut noted, mut found, mut found_last, mut grep) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds.clamp(3, 15) {
        let plan = stage.plans().join("small.md");
        stage.report_written(&plan)?;
        noted.push(stage.run_hook(&event)?);
        stage.forget_notes()?;
        fs::File::options().write(true).open(&plan)?.set_modified(SystemTime::UNIX_EPOCH)?;
        found_last.push(stage.run_hook(&event)?);
        fs::File::options().write(true).open(&plan)?.set_modified(SystemTime::now())?;
        found.push(stage.run_hook(&event)?);
        grep.push(stage.run_grep()?);
    }
    Ok(Plans {
        small: median(&small_times),
        large: median(&large_times),
        noted: median(&noted),
        found: median(&found),
        found_last: median(&found_last),
        grep: median(&grep),
    })
}

impl PlanDirectory {
    pub fn create(home: PathBuf, project: PathBuf) -> io::Result<Self> {
        let stage = Self { home, project, provost: find_built("provost")? };
        fs::create_dir_all(stage.project.join(".git"))?;
        fs::create_dir_all(stage.plans())?;
        Ok(stage)
    }

    fn plans(&self) -> PathBuf {
        self.home.join(".claude/plans")
    }

    fn event(&self, name: &str) -> Value {
        json!({"session_id": SESSION, "cwd": self.project, "hook_event_name": name, "permission_mode": "plan"})
    }

    fn environment<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command.env_clear().env("HOME", &self.home).env("PATH", "/usr/bin:/bin");
        command.env("CLAUDE_PROJECT_DIR", &self.project)
    }

    /// Runs the hook, which must be silent, and returns the microseconds that it took.
    fn run_hook(&self, event: &Value) -> io::Result<f64> {
        let input = self.home.join("input");
        fs::write(&input, event.to_string())?;
        let mut command = Command::new(&self.provost);
        self.environment(command.args(["hook", "--pack", "plan-gate"]));
        command.stdin(fs::File::open(&input)?).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let began = Instant::now();
        let output = command.output()?;
        let took = began.elapsed().as_secs_f64() * 1e6;
        if output.status.success() && output.stdout.is_empty() {
            return Ok(took);
        }
        Err(io::Error::other(format!("the hook answered {}", String::from_utf8_lossy(&output.stdout))))
    }

    /// Sends the event of a written plan.
    fn report_written(&self, plan: &Path) -> io::Result<()> {
        let mut written = self.event("PostToolUse");
        written["tool_name"] = "Write".into();
        written["tool_input"] = json!({"file_path": plan});
        self.run_hook(&written).map(drop)
    }

    /// Creates an assessed plan of about this size, and returns the event of leaving plan mode with it.
    pub fn create_assessed(&self, name: &str, size: usize) -> io::Result<Value> {
        let line = "This is a line of a plan with some words in it, and it says nothing.\n";
        let content = format!("# Plan\n\n## Goals\n- x\n\n{}", line.repeat(size / line.len()));
        let gaps = "### GAP-1: a\n- **Severity**: low\n";
        let plan = self.plans().join(name);
        fs::write(&plan, format!("{content}<!-- rodin:gaps:start -->\n{gaps}<!-- rodin:gaps:end -->\n"))?;
        self.report_written(&plan)?;
        let critic = "### NO ISSUES FOUND";
        self.report_answer("rodin:critic", &prompts::write_critic_prompt(&content), critic)?;
        self.report_answer(
            "rodin:validator",
            &prompts::write_validator_prompt(gaps, critic),
            "### VERDICT: PASS",
        )?;
        let mut leaving = self.event("PreToolUse");
        leaving["tool_name"] = "ExitPlanMode".into();
        leaving["tool_input"] = json!({"plan": fs::read_to_string(&plan)?, "planFilePath": plan});
        Ok(leaving)
    }

    fn report_answer(&self, agent: &str, given: &str, answer: &str) -> io::Result<()> {
        let transcript = self.home.join("agent.jsonl");
        let request = json!({"type": "user", "message": {"content": given}});
        let reply = json!({"type": "assistant", "message": {"content": [{"type": "text", "text": answer}]}});
        fs::write(&transcript, format!("{request}\n{reply}\n"))?;
        let mut event = self.event("SubagentStop");
        // Each answer comes from another agent, because the second answer of an agent is ignored.
        event["agent_id"] = format!("{agent}-{}", given.len()).into();
        event["agent_type"] = agent.into();
        event["agent_transcript_path"] = json!(transcript);
        event["last_assistant_message"] = answer.into();
        self.run_hook(&event).map(drop)
    }

    /// Deletes the notes of each session's last plan.
    pub fn forget_notes(&self) -> io::Result<()> {
        fs::remove_dir_all(self.home.join(".local/state/provost/plans"))
    }

    /// Creates plans of other sessions.
    pub fn create_others(&self, count: usize, size: usize) -> io::Result<()> {
        let line = "Another plan of another day, with a line that is as long as lines are.\n";
        let text = line.repeat(size / line.len());
        for number in 0..count {
            let mut file = fs::File::create(self.plans().join(format!("plan-{number:05}.md")))?;
            let hash = Digest::hash_text(&[text.as_bytes()]);
            write!(file, "{text}<!-- rodin:session=other-{number} -->\n<!-- rodin:plan:hash={hash} -->\n")?;
        }
        Ok(())
    }

    /// Finds the plan as the design document does, and returns the microseconds.
    fn run_grep(&self) -> io::Result<f64> {
        let files = fs::read_dir(self.plans())?.collect::<Result<Vec<_>, _>>()?;
        let mut command = Command::new("grep");
        self.environment(command.arg("-l").arg(format!("<!-- rodin:session={SESSION} -->")));
        command.args(files.iter().map(fs::DirEntry::path)).stdout(Stdio::piped());
        let began = Instant::now();
        let output = command.output()?;
        let took = began.elapsed().as_secs_f64() * 1e6;
        let small = self.plans().join("small.md");
        if Path::new(String::from_utf8_lossy(&output.stdout).trim()) == small {
            return Ok(took);
        }
        Err(io::Error::other("grep did not find the plan"))
    }
}

impl Plans {
    #[allow(clippy::cast_precision_loss)]
    fn speed(&self) -> f64 {
        LARGE as f64 / (self.large - self.small)
    }

    fn share(&self) -> f64 {
        self.found / self.grep
    }

    pub fn goals_hold(&self) -> bool {
        self.speed() >= GOALS.0 && self.share() <= GOALS.1
    }

    pub fn table(&self) -> String {
        let mut text = String::from("\nThe way out of plan mode, whole processes, microseconds (median)\n\n");
        let _ = writeln!(text, "{:>10.0}  a plan of 1 KB", self.small);
        let _ =
            writeln!(text, "{:>10.0}  a plan of 10 MB: {:.0} MB/s above the first", self.large, self.speed());
        let _ = writeln!(
            text,
            "{:>10.0}  found by its session among {MANY} plans of 100 KB, by the note",
            self.noted
        );
        let _ = writeln!(
            text,
            "{:>10.0}  found by its session among {MANY} plans of 100 KB, as the latest",
            self.found
        );
        let _ = writeln!(text, "{:>10.0}  the same, as the oldest", self.found_last);
        let _ = writeln!(
            text,
            "{:>10.0}  `grep -l` over the same files: {:.1} % of it",
            self.grep,
            self.share() * 100.0
        );
        let _ = writeln!(
            text,
            "\nGoals: at least {:.0} MB/s, and at most {:.0} % of grep. They {}.",
            GOALS.0,
            GOALS.1 * 100.0,
            if self.goals_hold() { "hold" } else { "do not hold" }
        );
        text
    }

    pub fn json(&self) -> Value {
        json!({
            "small_micros": self.small, "large_micros": self.large, "megabytes_per_second": self.speed(),
            "noted_micros": self.noted, "found_micros": self.found, "found_last_micros": self.found_last, "grep_micros": self.grep, "share_of_grep": self.share(),
            "goals_hold": self.goals_hold(),
        })
    }
}
