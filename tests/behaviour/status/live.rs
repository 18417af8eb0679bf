//! `provost status --watch` in a real terminal, and `provost statusline` beside it, while the real client
//! plays a review loop with a scripted model.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use std::process::Output;
use std::sync::mpsc::{self, Sender};

use rehearsal::{Observer, Playback, RunEvent, Scenario, ScenarioPlayer, Silent};

use super::*;

/// A terminal of its own: a tmux server with its own socket and home.
struct Terminal {
    socket: String,
    home: tempfile::TempDir,
}

impl Terminal {
    /// `None` where tmux is missing and that is allowed: never in CI.
    fn find() -> Option<Self> {
        let there = Command::new("tmux").arg("-V").stdin(Stdio::null()).output();
        if !there.is_ok_and(|output| output.status.success()) {
            assert!(std::env::var_os("CI").is_none(), "tmux is missing: install it");
            eprintln!("not watched: tmux is missing");
            return None;
        }
        // The socket lies in the home, so that two tests of one process do not meet.
        let socket = format!("provost-test-{}", std::process::id());
        Some(Self { socket, home: tempfile::tempdir().unwrap() })
    }

    fn tmux<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Output {
        let mut command = Command::new("tmux");
        command.args(["-L", &self.socket, "-f", "/dev/null"]).args(arguments).stdin(Stdio::null());
        command.env_clear().env("HOME", self.home.path()).env("TMUX_TMPDIR", self.home.path());
        command
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("TERM", "xterm-256color")
            .env("LANG", "C.UTF-8");
        command.output().unwrap()
    }

    /// Starts a command line in a pane of this size.
    fn open(&self, directory: &Path, columns: u16, rows: u16, line: &str) {
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let place = directory.to_str().unwrap();
        let opened = self.tmux(&["new-session", "-d", "-x", &columns, "-y", &rows, "-c", place, line]);
        assert!(opened.status.success(), "{}", String::from_utf8_lossy(&opened.stderr));
    }

    /// What the user sees now.
    fn pane(&self) -> String {
        String::from_utf8_lossy(&self.tmux(&["capture-pane", "-p"]).stdout).into_owned()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

/// Tells which project a rehearsal plays in, as soon as the model names a file of it.
struct Scout(Sender<PathBuf>);

impl Observer for Scout {
    fn observe(&mut self, moment: &RunEvent) {
        let RunEvent::Answered { calls, .. } = moment else { return };
        for (_, input) in calls {
            let input: Value = serde_json::from_str(input).unwrap_or_default();
            if let Some((project, _)) =
                input["file_path"].as_str().and_then(|file| file.split_once("/.taskie/"))
            {
                let _ = self.0.send(project.into());
            }
        }
    }
}

/// The stage for a rehearsal, on which `${socket}` names the terminal.
fn stage(client: PathBuf, terminal: &Terminal) -> ScenarioPlayer {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let built =
        Command::new(env!("CARGO")).args(["build", "-q", "-p", "rehearsal"]).current_dir(root).status();
    assert!(built.is_ok_and(|status| status.success()), "the rehearsal crate does not build");
    let program = env!("CARGO_BIN_EXE_provost");
    let variables = [("provost", program), ("socket", terminal.socket.as_str())];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let recorder = Path::new(program).with_file_name("rehearse");
    ScenarioPlayer { client, variables: BTreeMap::from(variables), recorder, keep: false }
}

/// Plays a scenario, in which everything must be as expected. Its directories are there as long as what
/// comes back.
fn play(stage: &ScenarioPlayer, file: &str, observer: &mut dyn Observer) -> Playback {
    let scenario = Scenario::load(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
    let playback = stage.play(&scenario, observer).unwrap_or_else(|error| panic!("{error}"));
    let wrong: Vec<String> = scenario.check(&playback).iter().map(ToString::to_string).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    playback
}

/// The environment of the rehearsal's user with another home, because everything that runs in the first one ends with it.
fn beside(project: &Path, home: &Path) -> Vec<(&'static str, String)> {
    let state = project.with_file_name("home").join(".local/state");
    vec![
        ("HOME", home.display().to_string()),
        ("XDG_STATE_HOME", state.display().to_string()),
        ("PATH", "/usr/bin:/bin".into()),
        ("TERM", "xterm-256color".into()),
    ]
}

/// The counters on a screen or in a line: the round, and how many were clean.
fn counters(text: &str, round: (&str, &str), clean: (&str, &str)) -> Option<(u64, u64)> {
    let number = |(before, behind): (&str, &str)| -> Option<u64> {
        let (_, rest) = text.split_once(before)?;
        rest.split_once(behind)?.0.parse().ok()
    };
    Some((number(round)?, number(clean)?))
}

/// Adds what is new.
fn follow<T: PartialEq>(seen: &mut Vec<T>, now: Option<T>) {
    if let Some(now) = now.filter(|now| seen.last() != Some(now)) {
        seen.push(now);
    }
}

#[test]
fn a_terminal_follows_a_review_loop_live() {
    let (Some(terminal), Some(client)) = (Terminal::find(), crate::support::client::find_client()) else {
        return;
    };
    let stage = stage(client, &terminal);
    let (send, scout) = mpsc::channel();
    let playing = thread::spawn(move || play(&stage, "rehearsals/status-review-loop.toml", &mut Scout(send)));
    let project = scout.recv_timeout(HANG).expect("the model names a file of the project");
    let variables = beside(&project, terminal.home.path());
    let assigned: Vec<String> = variables.iter().map(|(name, value)| format!("{name}='{value}'")).collect();
    let assigned = assigned.join(" ");
    let program = env!("CARGO_BIN_EXE_provost");
    terminal.open(&project, 100, 30, &format!("exec env -i {assigned} '{program}' status --watch"));

    let line = || {
        let mut command = Command::new(program);
        command.arg("statusline").env_clear().envs(variables.iter().cloned()).current_dir(&project);
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let (mut panes, mut lines, mut screens) = (Vec::new(), Vec::new(), Vec::new());
    let (mut seconds, mut ran) = (Vec::new(), 0);
    // From now on the rehearsal waits until each of its states has been shown.
    let home = project.with_file_name("home");
    fs::write(home.join("watched"), "").unwrap();
    let shown = |state: &str| fs::write(home.join(format!("shown-{state}")), "").unwrap();
    while !playing.is_finished() {
        let pane = terminal.pane();
        follow(
            &mut panes,
            counters(&pane, ("; round ", " of 8"), ("answer; ", " of 2 clean"))
                .or_else(|| counters(&pane, ("; round ", " of 8"), ("is due; ", " of 2 clean"))),
        );
        let running =
            pane.split_once("a review is running for ").and_then(|(_, rest)| rest.split_once(" s\n"));
        follow(&mut seconds, running.and_then(|(seconds, _)| seconds.trim().parse::<u64>().ok()));
        follow(&mut screens, Some(pane));
        let line = line();
        ran += usize::from(line.contains(" running "));
        follow(&mut lines, counters(&line, ("review ", "/8"), ("clean ", "/2")));
        for (round, clean) in panes.iter().filter(|state| lines.contains(state)) {
            shown(&format!("{round}-{clean}"));
        }
        if seconds.iter().any(|seconds| *seconds > 1) && ran > 3 {
            shown("running");
        }
        thread::sleep(Duration::from_millis(100));
    }
    let playback = playing.join().unwrap();

    // Round 1 finds issues, round 2 is clean and so is round 3, which ends the loop.
    let expected = [(1, 0), (2, 0), (2, 1), (3, 1)];
    let story = screens.join("\n----\n");
    assert_eq!(panes, expected, "{story}");
    assert_eq!(lines, expected, "the line has shown something else than the screen");
    assert!(ran > 3, "the line has shown a running review {ran} times");
    assert!(seconds.iter().any(|seconds| *seconds > 1), "the seconds are counted: {seconds:?}");

    let end = wait_for("the end of the loop on the screen", || {
        let pane = terminal.pane();
        let is_over = pane.contains("no review is due; create-tasks is next") && !pane.contains("is running");
        is_over.then_some(pane)
    });
    assert!(end.contains("\nreview     greeting: Plan review\n"), "{end}");
    assert!(end.contains("\ndenied     nothing lately\n"), "a review is no denial: {end}");
    assert!(end.contains("\nnext       `/taskie:continue-plan` continues with create-tasks\n"), "{end}");
    assert_eq!(line(), "provost · on\n");

    // All of it vanishes, and the screen stays.
    drop(playback);
    wait_for("the screen of a project that is gone", || {
        terminal.pane().contains("there is no `.taskie/plans` here or above").then_some(())
    });
}

/// The client itself in a terminal, with its status line, while a call is denied.
#[test]
fn the_client_shows_the_line() {
    let (Some(terminal), Some(client)) = (Terminal::find(), crate::support::client::find_client()) else {
        return;
    };
    play(&stage(client, &terminal), "tests/behaviour/status/line-of-the-client.toml", &mut Silent);
}

#[test]
fn a_narrow_terminal_shows_every_screen_within_its_width() {
    let project = TestProject::new();
    plan(&project);
    workflow(&project);
    denied(&project, "s1");
    denied(&project, "s2");
    let home = project.home.to_str().unwrap();
    let program = env!("CARGO_BIN_EXE_provost");
    for (columns, arguments) in [
        (40, "guards"),
        (80, "guards"),
        (40, "journal"),
        (60, "journal"),
        (40, "config check"),
        (40, "explain"),
        (40, "review status"),
        (40, "phases status"),
        (40, "status"),
    ] {
        let Some(terminal) = Terminal::find() else { return };
        let shown = project.path.join("shown");
        let _ = fs::remove_file(&shown);
        // The pane is the terminal; `script` would be one more program.
        let line = format!(
            "env -i HOME='{home}' TERM=xterm NO_COLOR=1 '{program}' {arguments}; touch '{}'; sleep 60",
            shown.display()
        );
        terminal.open(&project.path, columns, 300, &line);
        wait_for("the end of the command", || shown.exists().then_some(()));
        // Lines that the terminal had to break are joined, and are longer than it is wide.
        let lines = String::from_utf8(terminal.tmux(&["capture-pane", "-p", "-J"]).stdout).unwrap();
        let is_breakable = |line: &&str| !line.contains(['/', '`']);
        for line in lines.lines().map(str::trim_end).filter(is_breakable) {
            assert!(line.chars().count() <= usize::from(columns), "{arguments}: {line:?}");
        }
        assert!(lines.lines().filter(|line| !line.trim().is_empty()).count() > 2, "{arguments}: {lines}");
    }
}
