//! The plan gate as plans grow: in size, and in number.
//!
//! Whole processes again, the ones to compare in turns. A plan of 10 MB has to be read, searched for
//! marks and hashed before it may leave plan mode; where the event does not name the plan, it has to
//! be found by its session among all others, which the document does with `grep -l`.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Instant, SystemTime};

use provost::plan_gate::{digest::Digest, prompts};
use serde_json::{Value, json};

use crate::programs::built;
use crate::statistics::median;

const SESSION: &str = "db05b49a-780f-4b0b-bd53-5359177b8aba";
const LARGE: usize = 10_000_000;
const MANY: usize = 10_000;
const EACH: usize = 100_000;
/// Megabytes in a second above the start of the process, and the share of `grep`'s time.
const GOALS: (f64, f64) = (500.0, 0.1);

pub struct Plans {
    /// Microseconds of the way out with a small plan and with a large one.
    small: f64,
    large: f64,
    /// Microseconds of finding a plan by its session: by the note of what it wrote last, without it
    /// when the plan is the one that was changed last and when all others were changed after it, and
    /// of `grep -l` over the same files.
    noted: f64,
    found: f64,
    found_last: f64,
    grep: f64,
}

pub struct Stage {
    home: PathBuf,
    project: PathBuf,
    provost: PathBuf,
}

pub fn measure(rounds: usize) -> io::Result<Plans> {
    let root = tempfile::tempdir()?;
    let stage = Stage::set(root.path().join("home"), root.path().join("home/project"))?;
    // The programs inherit it, and are then started in the cheap way.
    std::env::set_current_dir(&stage.project)?;
    let small = stage.assessed("small.md", 1_000)?;
    let large = stage.assessed("large.md", LARGE)?;
    let (mut small_times, mut large_times) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        small_times.push(stage.leave(&small)?);
        large_times.push(stage.leave(&large)?);
    }
    fs::remove_file(stage.plans().join("large.md"))?;
    stage.fill(MANY, EACH)?;
    let mut event = small;
    event["tool_input"] = json!({});
    let (mut noted, mut found, mut found_last, mut grep) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds.clamp(3, 15) {
        let plan = stage.plans().join("small.md");
        stage.written(&plan)?;
        noted.push(stage.leave(&event)?);
        stage.forget()?;
        fs::File::options().write(true).open(&plan)?.set_modified(SystemTime::UNIX_EPOCH)?;
        found_last.push(stage.leave(&event)?);
        fs::File::options().write(true).open(&plan)?.set_modified(SystemTime::now())?;
        found.push(stage.leave(&event)?);
        grep.push(stage.grep()?);
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

impl Stage {
    pub fn set(home: PathBuf, project: PathBuf) -> io::Result<Self> {
        let stage = Self { home, project, provost: built("provost")? };
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

    /// One call of the hook, and how long it took in microseconds. It must be silent.
    fn hook(&self, event: &Value) -> io::Result<f64> {
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
        Err(io::Error::other(format!("the hook said {}", String::from_utf8_lossy(&output.stdout))))
    }

    fn leave(&self, event: &Value) -> io::Result<f64> {
        self.hook(event)
    }

    /// The client reports that a plan was written.
    fn written(&self, plan: &Path) -> io::Result<()> {
        let mut written = self.event("PostToolUse");
        written["tool_name"] = "Write".into();
        written["tool_input"] = json!({"file_path": plan});
        self.hook(&written).map(drop)
    }

    /// A plan of about this size that was assessed, and the event of its way out.
    pub fn assessed(&self, name: &str, size: usize) -> io::Result<Value> {
        let line = "This is a line of a plan with some words in it, and it says nothing.\n";
        let content = format!("# Plan\n\n## Goals\n- x\n\n{}", line.repeat(size / line.len()));
        let gaps = "### GAP-1: a\n- **Severity**: low\n";
        let plan = self.plans().join(name);
        fs::write(&plan, format!("{content}<!-- rodin:gaps:start -->\n{gaps}<!-- rodin:gaps:end -->\n"))?;
        self.written(&plan)?;
        let critic = "### NO ISSUES FOUND";
        self.answer("rodin:critic", &prompts::for_critic(&content), critic)?;
        self.answer("rodin:validator", &prompts::for_validator(gaps, critic), "### VERDICT: PASS")?;
        let mut leaving = self.event("PreToolUse");
        leaving["tool_name"] = "ExitPlanMode".into();
        leaving["tool_input"] = json!({"plan": fs::read_to_string(&plan)?, "planFilePath": plan});
        Ok(leaving)
    }

    fn answer(&self, agent: &str, given: &str, answer: &str) -> io::Result<()> {
        let transcript = self.home.join("agent.jsonl");
        let asked = json!({"type": "user", "message": {"content": given}});
        let said = json!({"type": "assistant", "message": {"content": [{"type": "text", "text": answer}]}});
        fs::write(&transcript, format!("{asked}\n{said}\n"))?;
        let mut event = self.event("SubagentStop");
        // Each agent is another one: who has answered once is not heard again.
        event["agent_id"] = format!("{agent}-{}", given.len()).into();
        event["agent_type"] = agent.into();
        event["agent_transcript_path"] = json!(transcript);
        event["last_assistant_message"] = answer.into();
        self.hook(&event).map(drop)
    }

    /// Takes away the notes of which plan a session wrote last.
    pub fn forget(&self) -> io::Result<()> {
        fs::remove_dir_all(self.home.join(".local/state/provost/plans"))
    }

    /// So many plans of other sessions, each of this size.
    pub fn fill(&self, count: usize, size: usize) -> io::Result<()> {
        let line = "Another plan of another day, with a line that is as long as lines are.\n";
        let text = line.repeat(size / line.len());
        for number in 0..count {
            let mut file = fs::File::create(self.plans().join(format!("plan-{number:05}.md")))?;
            let hash = Digest::of(&[text.as_bytes()]);
            write!(file, "{text}<!-- rodin:session=other-{number} -->\n<!-- rodin:plan:hash={hash} -->\n")?;
        }
        Ok(())
    }

    /// As the document finds a plan.
    fn grep(&self) -> io::Result<f64> {
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
