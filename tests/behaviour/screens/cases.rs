//! The table of cases: which command runs in which project.

/// One command, as the user runs it.
pub struct Case {
    /// The name of its two snapshots.
    pub name: &'static str,
    pub on: On,
    pub arguments: &'static [&'static str],
    /// Columns of the terminal.
    pub width: u16,
    /// What is typed, or comes through the pipe. Recorded paths are replaced.
    pub input: &'static str,
    /// For a command that does not end: it is interrupted when this text is on the screen. Otherwise empty.
    pub until: &'static str,
}

/// The project in which a command runs.
pub enum On {
    /// A project with work in progress, which the command must not change.
    Shared,
    /// A project with work in progress, only for this case.
    Own,
    /// A project with registered hooks, and nothing else.
    Nothing,
    /// An empty project.
    Bare,
    /// An empty project after `provost init`.
    Installed,
    /// A project with rules and a fortnight in its journal.
    Recorded,
}

/// The time of the reports on [`On::Recorded`].
const REPORTED: &str = "2026-11-17T12:00:00Z";

/// The default width of the terminal.
const USUAL: u16 = 80;

/// A case in a terminal of default width, with no input.
const fn case(name: &'static str, on: On, arguments: &'static [&'static str]) -> Case {
    Case { name, on, arguments, width: USUAL, input: "", until: "" }
}

impl Case {
    /// Whether the case also runs in a pipe, which has no width and no user who interrupts.
    pub fn is_in_pipe(&self) -> bool {
        self.width == USUAL && self.until.is_empty()
    }

    const fn wide(self, width: u16) -> Self {
        Self { width, ..self }
    }

    const fn typed(self, input: &'static str) -> Self {
        Self { input, ..self }
    }

    const fn until(self, until: &'static str) -> Self {
        Self { until, ..self }
    }
}

const DENIED_EVENT: &str = r#"{"session_id":"s1","cwd":"/home/dev/project","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm provost.toml"},"tool_use_id":"t1"}"#;

pub static CASES: &[Case] = &[
    case("no-arguments", On::Nothing, &[]),
    case("help", On::Nothing, &["--help"]),
    case("version", On::Nothing, &["--version"]),
    case("wrong-command", On::Nothing, &["gaurds"]),
    case("help-of-a-command", On::Nothing, &["explain", "--help"]),
    case("help-narrow", On::Nothing, &["review", "set", "--help"]).wide(50),
    case("hook", On::Own, &["hook"]).typed(DENIED_EVENT),
    case("hook-help", On::Nothing, &["hook", "--help"]),
    case("compat", On::Own, &["compat", "planner-bash-guard"]).typed(DENIED_EVENT),
    case("init", On::Bare, &["init"]).typed("n\n"),
    case("init-yes", On::Bare, &["init", "--yes", "--pack", "plan-gate", "--closed"]),
    case("init-project", On::Bare, &["init", "--dry-run", "--scope", "project", "--pack", "plan-gate"]),
    case("init-beside-others", On::Nothing, &["init", "--dry-run", "--pack", "review-loop"]),
    case("init-nothing-to-do", On::Installed, &["init"]),
    case("init-narrow", On::Bare, &["init", "--dry-run"]).wide(60),
    case("uninstall", On::Installed, &["uninstall"]).typed("n\n"),
    case("uninstall-yes", On::Installed, &["uninstall", "--yes"]),
    case("uninstall-nothing", On::Bare, &["uninstall"]),
    case("doctor", On::Installed, &["doctor"]),
    case("doctor-faults", On::Nothing, &["doctor"]),
    case("doctor-json", On::Installed, &["doctor", "--json"]),
    case("status", On::Shared, &["status"]),
    case("status-narrow", On::Shared, &["status"]).wide(50),
    case("status-json", On::Shared, &["status", "--json"]),
    case("status-nothing", On::Bare, &["status"]),
    case("status-watch", On::Own, &["status", "--watch"]).until("\u{1b}[J"),
    case("statusline", On::Shared, &["statusline"]),
    case("check", On::Shared, &["check", "--", "git log --oneline | tee log.txt"]),
    case(
        "check-denied",
        On::Shared,
        &["check", "--agent", "tdd-planner", "--", "find . -name '*.tmp' -delete"],
    ),
    case("check-json", On::Shared, &["check", "--json", "--", "rm provost.toml"]),
    case("rules", On::Nothing, &["rules"]),
    case("rules-show-unknown", On::Nothing, &["rules", "show", "no-push"]),
    case("rules-test", On::Nothing, &["rules", "test"]),
    case(
        "rules-add",
        On::Bare,
        &["rules", "add", "--name", "no-push", "--runs", "git push", "--deny", "CI pushes"],
    ),
    case("rules-add-wrong", On::Bare, &["rules", "add", "--name", "no-push", "--runs", "git push"]),
    case("rules-trust", On::Nothing, &["rules", "trust"]),
    case("rules-import-nothing", On::Nothing, &["rules", "import", ".claude/settings.json"]),
    case("guards", On::Shared, &["guards"]),
    case("guards-wide", On::Shared, &["guards"]).wide(120),
    case("explain", On::Shared, &["explain"]),
    case("explain-narrow", On::Shared, &["explain"]).wide(50),
    case("explain-nothing", On::Nothing, &["explain"]),
    case("explain-unknown", On::Shared, &["explain", "zzz"]),
    case("gate", On::Shared, &["gate"]),
    case("gate-status", On::Shared, &["gate", "status"]),
    case("gate-status-all", On::Shared, &["gate", "status", "--all"]),
    case("gate-status-json", On::Shared, &["gate", "status", "--json"]),
    case("gate-status-nothing", On::Nothing, &["gate", "status"]),
    case("gate-show", On::Shared, &["gate", "show"]),
    case("gate-assess", On::Own, &["gate", "assess"]),
    case("gate-assess-nothing", On::Nothing, &["gate", "assess"]),
    case("gate-move", On::Own, &["gate", "move", "--to", "sidecar"]),
    case("review", On::Shared, &["review"]),
    case("review-status", On::Shared, &["review", "status"]),
    case("review-status-json", On::Shared, &["review", "status", "--json"]),
    case("review-status-nothing", On::Nothing, &["review", "status"]),
    case("review-status-watch", On::Own, &["review", "status", "--watch"]).until("\u{1b}[J"),
    case("review-continue", On::Shared, &["review", "continue"]),
    case("review-run", On::Own, &["review", "run"]),
    case("review-set", On::Own, &["review", "set", "max_reviews=4"]),
    case("review-set-refused", On::Shared, &["review", "set", "max_reviews=many"]),
    case("approve", On::Nothing, &["approve", "add-login"]),
    case("workflow", On::Nothing, &["workflow"]),
    case("workflow-status-nothing", On::Nothing, &["workflow", "status"]),
    case("phases", On::Shared, &["phases"]),
    case("phases-status", On::Shared, &["phases", "status"]),
    case("phases-status-narrow", On::Shared, &["phases", "status"]).wide(50),
    case("phases-status-json", On::Shared, &["phases", "status", "--json"]),
    case("phases-status-nothing", On::Nothing, &["phases", "status"]),
    case("phases-migrate", On::Own, &["phases", "migrate"]).typed("n\n"),
    case("phases-migrate-yes", On::Own, &["phases", "migrate", "--yes"]),
    case("journal", On::Shared, &["journal"]),
    case("journal-denied", On::Shared, &["journal", "--denied", "-n", "3"]),
    case("journal-json", On::Shared, &["journal", "--json", "-n", "1"]),
    case("journal-follow", On::Own, &["journal", "--follow", "-n", "2"]).until("Provost's configuration"),
    case("journal-nothing", On::Nothing, &["journal"]),
    case("replay", On::Nothing, &["replay"]),
    case("rules-suggest", On::Nothing, &["rules", "suggest"]),
    case("report", On::Recorded, &["report", "--now", REPORTED]),
    case("report-narrow", On::Recorded, &["report", "--now", REPORTED]).wide(50),
    case("report-wide", On::Recorded, &["report", "--now", REPORTED]).wide(130),
    case("report-json", On::Recorded, &["report", "--json", "--last", "1w", "--now", REPORTED]),
    case(
        "report-all-redacted",
        On::Recorded,
        &["report", "--all", "--redact", "--last", "9w", "--now", REPORTED],
    ),
    case("report-nothing", On::Nothing, &["report", "--last", "12h", "--now", REPORTED]),
    case("report-wrong-time", On::Nothing, &["report", "--last", "soon"]),
    case("config", On::Shared, &["config"]),
    case("override", On::Shared, &["override", "branch-gard", "it is late"]),
    case("config-check", On::Shared, &["config", "check"]),
    case("schema", On::Nothing, &["schema"]),
    case("demo", On::Nothing, &["demo"]),
    case("demo-of-a-pack", On::Nothing, &["demo", "--pack", "phases"]).wide(60),
    case("demo-of-no-pack", On::Nothing, &["demo", "--pack", "reviews"]),
    case("completions", On::Nothing, &["completions", "fish"]),
    case("completions-unknown", On::Nothing, &["completions", "tcsh"]),
    case("man", On::Nothing, &["man", "gate", "status"]),
    case("man-pages", On::Nothing, &["man", "--dir", "man"]),
    case("man-unknown", On::Nothing, &["man", "gait"]),
];
