//! What can fail around a guard, and how the test makes it fail.
//!
//! Faults are real where possible: modes of files, limits of the system, locks that this process holds, programs that
//! hang. Only the failures of a guard's own code, and a file that vanishes between two reads, need a switch in the
//! program, which exists in builds with debug assertions only.

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use provost::places::fnv1a;

use super::answers::Outcome;
use super::declared::declared;
use super::stage::{Stage, below, make_read_only, make_writable};
use crate::support::waiting::{catches_sigterm, wait_until};
use crate::support::{Answer, PATIENCE, collect_answer};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    Nothing,
    Panic,
    Error,
    Deadline,
    Terminated,
    Unreadable,
    Vanished,
    ProjectReadOnly,
    StateReadOnly,
    DiskFull,
    LockHeld,
    ClockBackwards,
    NoHome,
    NoTemporary,
    HugeEnvironment,
    StdoutClosed,
    StdoutUnread,
    StdoutFull,
    NoGit,
    GitHangs,
    ReviewerHangs,
    ConfigBroken,
    KeyEmpty,
    KeyForeign,
    KeyOpen,
}

impl Fault {
    pub const ALL: [Self; 25] = [
        Self::Nothing,
        Self::Panic,
        Self::Error,
        Self::Deadline,
        Self::Terminated,
        Self::Unreadable,
        Self::Vanished,
        Self::ProjectReadOnly,
        Self::StateReadOnly,
        Self::DiskFull,
        Self::LockHeld,
        Self::ClockBackwards,
        Self::NoHome,
        Self::NoTemporary,
        Self::HugeEnvironment,
        Self::StdoutClosed,
        Self::StdoutUnread,
        Self::StdoutFull,
        Self::NoGit,
        Self::GitHangs,
        Self::ReviewerHangs,
        Self::ConfigBroken,
        Self::KeyEmpty,
        Self::KeyForeign,
        Self::KeyOpen,
    ];

    /// The name and the description on the page.
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Nothing => ("nothing", "no fault"),
            Self::Panic => ("panic", "the guard's code panics"),
            Self::Error => ("error", "the guard's code returns an error"),
            Self::Deadline => ("hang", "the guard's code never ends, and the deadline passes"),
            Self::Terminated => ("SIGTERM", "the process gets SIGTERM while the guard hangs"),
            Self::Unreadable => ("unreadable", "the files that the guard reads have mode 000"),
            Self::Vanished => {
                ("vanished", "a file that the guard reads is deleted between looking and reading")
            }
            Self::ProjectReadOnly => ("read-only project", "home and project are read-only"),
            Self::StateReadOnly => ("read-only state", "Provost's state directory is read-only"),
            Self::DiskFull => ("disk full", "files can be created, but no byte can be written"),
            Self::LockHeld => ("lock held", "another process holds every lock"),
            Self::ClockBackwards => {
                ("clock back", "the times of all files, and those in them, are in the future")
            }
            Self::NoHome => ("no HOME", "`HOME` is not set"),
            Self::NoTemporary => ("no TMPDIR", "`TMPDIR` does not exist"),
            Self::HugeEnvironment => {
                ("huge environment", "two megabytes of variables, or as many as the system accepts")
            }
            Self::StdoutClosed => ("stdout closed", "standard output is closed"),
            Self::StdoutUnread => ("stdout unread", "standard output is a pipe that no process reads"),
            Self::StdoutFull => ("stdout full", "standard output is a full device"),
            Self::NoGit => ("no git", "there is no `git` in `PATH`"),
            Self::GitHangs => ("git hangs", "`git` never ends"),
            Self::ReviewerHangs => ("reviewer hangs", "the reviewer never ends"),
            Self::ConfigBroken => ("provost.toml broken", "it is not TOML"),
            Self::KeyEmpty => ("seal key empty", "the file is empty"),
            Self::KeyForeign => ("seal key damaged", "the file has the wrong length"),
            Self::KeyOpen => ("seal key open", "every user may read the file"),
        }
    }

    /// Whether the process that started the hook can read the answer.
    pub fn is_read(self) -> bool {
        !matches!(self, Self::StdoutClosed | Self::StdoutUnread | Self::StdoutFull)
    }

    /// The hook in a scene around which this has failed.
    pub fn run(self, stage: &mut Stage) -> Answer {
        self.configure(stage);
        stage.write_config();
        let _held = self.damage(stage);
        stage.hand_over();
        self.lock_up(stage);
        let mut command = stage.command(match self {
            Self::StdoutClosed => Some("exec >&-"),
            // Without the signal a write gives an error, as on a full disk.
            Self::DiskFull => Some("trap '' XFSZ; ulimit -f 0"),
            _ => None,
        });
        if self == Self::NoHome {
            command.env_remove("HOME");
        }
        if self == Self::StdoutFull {
            command.stdout(File::options().write(true).open("/dev/full").unwrap());
        }
        let mut child = self.start(command);
        if self == Self::StdoutUnread {
            drop(child.stdout.take());
        }
        let input = stage.event.to_string();
        // A process that ends early reads nothing.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        if self == Self::Terminated {
            // While a closed guard of the event takes long, its process heeds the signal.
            if declared(stage.guard, self) == Outcome::Denied {
                wait_until("the handler of SIGTERM", || catches_sigterm(&child));
            }
            let status = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
            assert!(status.unwrap().success(), "it had ended before");
        }
        let event = stage.event["hook_event_name"].as_str().map(str::to_owned);
        let answer = collect_answer(child, event);
        make_writable(stage.root());
        answer
    }

    /// Settings and variables.
    fn configure(self, stage: &mut Stage) {
        let wish = |how: &str| format!("{}={how}", stage.guard.name);
        match self {
            Self::Panic => stage.set("PROVOST_FAULT", &wish("panic")),
            Self::Error => stage.set("PROVOST_FAULT", &wish("error")),
            Self::Deadline | Self::Terminated => stage.set("PROVOST_FAULT", &wish("hang")),
            Self::Vanished => {
                let first = stage.files.first().map(|file| file.display().to_string());
                stage.set("PROVOST_VANISH", &first.unwrap_or_default());
            }
            Self::NoTemporary => stage.set("TMPDIR", "/nonexistent/place"),
            // What the scenes start needs no other program.
            Self::NoGit => stage.set("PATH", &stage.project.home.join("bin").display().to_string()),
            Self::GitHangs => stage.program("git", HANGING),
            Self::ReviewerHangs => {
                stage.program("claude", HANGING);
                stage.config.push(("plan_gate", "assess = \"exit\"".into()));
                stage.config.push(("reviewer", "seconds = 5".into()));
            }
            // A lock is given up after three seconds, and the guards have five.
            Self::LockHeld => stage.set(PATIENCE.0, "3"),
            _ => {}
        }
        if self == Self::Deadline {
            stage.config.push(("engine", "deadline_seconds = 5".into()));
        }
        if matches!(self, Self::Deadline | Self::Terminated | Self::ReviewerHangs) {
            stage.config.push(("review_loop", "seconds = 1".into()));
        }
    }

    /// Files, and locks that are held as long as what comes back lives.
    fn damage(self, stage: &Stage) -> Vec<File> {
        let own = stage.project.state_directory();
        let key = own.join("seal.key");
        match self {
            Self::LockHeld => return hold_locks(stage),
            Self::ClockBackwards => set_clock_back(stage.root(), &own),
            Self::ConfigBroken => {
                fs::write(stage.project.path.join("provost.toml"), b"[engine\nx = \xff\n").unwrap();
            }
            Self::StateReadOnly | Self::ProjectReadOnly => fs::create_dir_all(&own).unwrap(),
            Self::KeyEmpty => put_key(&key, b"", 0o600),
            Self::KeyForeign => put_key(&key, b"not a key\n", 0o600),
            Self::KeyOpen if key.exists() => {
                fs::set_permissions(&key, Permissions::from_mode(0o644)).unwrap();
            }
            Self::KeyOpen => put_key(&key, &[7; 32], 0o644),
            _ => {}
        }
        Vec::new()
    }

    /// Modes, which come last.
    fn lock_up(self, stage: &Stage) {
        let own = stage.project.state_directory();
        match self {
            Self::Unreadable => {
                for file in &stage.files {
                    fs::set_permissions(file, Permissions::from_mode(0o000)).unwrap();
                }
            }
            Self::ProjectReadOnly => make_read_only(stage.root(), &own),
            Self::StateReadOnly => make_read_only(&own, Path::new("/nonexistent")),
            _ => {}
        }
    }

    fn start(self, mut command: Command) -> Child {
        if self != Self::HugeEnvironment {
            return command.spawn().unwrap();
        }
        for variables in (5..=21).rev() {
            let mut command = copy(&command);
            for number in 0..variables {
                command.env(format!("VARIABLE_{number}"), "x".repeat(100_000));
            }
            if let Ok(child) = command.spawn() {
                return child;
            }
        }
        panic!("the hook could not be started with half a megabyte of variables");
    }
}

const HANGING: &str = "#!/bin/sh\nexec sleep 60\n";

fn copy(command: &Command) -> Command {
    use std::os::unix::process::CommandExt;
    let mut copy = Command::new(command.get_program());
    copy.args(command.get_args()).env_clear().current_dir(command.get_current_dir().unwrap());
    copy.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    copy.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if super::stage::is_superuser() {
        copy.uid(super::stage::NOBODY).gid(super::stage::NOBODY);
    }
    copy
}

fn put_key(key: &Path, bytes: &[u8], mode: u32) {
    fs::create_dir_all(key.parent().unwrap()).unwrap();
    let _ = fs::remove_file(key);
    fs::write(key, bytes).unwrap();
    fs::set_permissions(key, Permissions::from_mode(mode)).unwrap();
}

/// Takes every lock that a guard could want.
fn hold_locks(stage: &Stage) -> Vec<File> {
    let own = stage.project.state_directory();
    let shared = (0..64).map(|number| own.join("locks").join(format!("{number:02}.lock")));
    let plans = below(&stage.project.path.join(".taskie/plans"));
    let reviews = plans.iter().map(|plan| {
        let name = fnv1a(plan.as_os_str().as_encoded_bytes());
        own.join("reviews").join(format!("{name:016x}.lock"))
    });
    let take = |place: std::path::PathBuf| {
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        let file = File::create(place).unwrap();
        file.lock().unwrap();
        file
    };
    shared.chain(reviews).map(take).collect()
}

/// Sets the times of all files to tomorrow. What Provost has signed stays as it is.
fn set_clock_back(root: &Path, state: &Path) {
    let day = |when: &str| {
        let output = Command::new("date").args(["-u", "-d", when, "+%Y-%m-%d"]).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let (today, tomorrow) = (day("today"), day("tomorrow"));
    let later = SystemTime::now() + Duration::from_hours(24);
    for path in below(root) {
        if path.is_file()
            && !path.starts_with(state)
            && let Ok(text) = fs::read_to_string(&path)
            && text.contains(&today)
        {
            fs::write(&path, text.replace(&today, &tomorrow)).unwrap();
        }
        if let Ok(file) = File::open(&path) {
            file.set_modified(later).unwrap();
        }
    }
}
