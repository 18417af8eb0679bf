//! `provost demo`: shows Provost at work in throwaway projects.
//!
//! Each scene sends a recorded event of the client, with the paths of the throwaway project, to this program as a
//! hook, in a process of its own, and shows the real answer. A script plays the reviewers, and the story says so.

mod sandbox;

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anstyle::Style;
use clap::builder::PossibleValuesParser;

use super::screen::{BOLD, CYAN, DIM, GREEN, RED, YELLOW, display_width, paint, text_width, wrap_line};
use super::{CommandError, CommandResult, Exit};
use crate::cli::client::require;
use crate::cli::current_client;
use crate::clients::{DemoAct, DemoAnswer, DemoScene, SceneAction};
use crate::config::settings::REVIEWER_COMMAND;
use crate::config::{self, Config, ConfigLayer};
use crate::environment::read_places;
use crate::registry::PACKS;
use crate::text::make_one_line;
use sandbox::{ActHome, DemoSandbox};

/// An answer with more words than this is shortened.
const MOST_WORDS: usize = 80;
/// The words that are shown of a longer answer.
const SHOWN_WORDS: usize = 40;

/// See Provost at work in throwaway projects, with real events and real answers
///
/// Plays one act for each pack. Every event was recorded from Claude Code and goes to this program, and you see
/// its real answer. A script plays critics and reviewers. It needs no network and leaves nothing behind.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost demo
  provost demo --pack review-loop
  provost demo | less -R")]
pub(crate) struct Demo {
    /// Play only the act of this pack
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(PACKS.iter().map(|pack| pack.name)))]
    pack: Option<String>,
}

impl Demo {
    pub(crate) fn run(self) -> CommandResult {
        require(current_client().demo.as_ref(), "demo")?;
        let interrupted = SignalRecord::start();
        let sandbox = DemoSandbox::create()?;
        let outcome = self.play(&sandbox, &interrupted);
        drop(sandbox);
        interrupted.raise_again();
        outcome.map(|()| Exit::Done)
    }

    fn play(&self, sandbox: &DemoSandbox, interrupted: &SignalRecord) -> Result<(), CommandError> {
        let mut out = anstream::stdout().lock();
        print_paragraph(&mut out, BOLD, "Provost at work", 0)?;
        let about = "An agent works in throwaway projects. Each event was recorded from the client and is sent to \
                     `provost hook`, as the client would send it; below it you see the real answer.";
        print_paragraph(&mut out, DIM, about, 0)?;
        let managed = load_managed_config();
        if !managed.files.is_empty() {
            print_paragraph(
                &mut out,
                YELLOW,
                "The managed configuration of this machine applies here too.",
                0,
            )?;
        }
        let mut last = None;
        let packs = PACKS.iter().filter(|pack| self.pack.as_deref().is_none_or(|only| only == pack.name));
        for (number, pack) in (1..).zip(packs) {
            let home = sandbox.create_home(pack.name)?;
            let Some(act) = (current_client().demo().find_act)(pack.name, &home.directory, &home.project)
            else {
                continue;
            };
            writeln!(out)?;
            let name =
                if self.pack.is_some() { pack.name.into() } else { format!("{number}. {}", pack.name) };
            let rule = "─".repeat(text_width().saturating_sub(display_width(&name) + 4));
            writeln!(out, "{} {} {}", paint(DIM, "──"), paint(BOLD, &name), paint(DIM, &rule))?;
            print_paragraph(&mut out, BOLD, act.title, 0)?;
            if act.asks_reviewer && managed.configured_value(REVIEWER_COMMAND).is_some() {
                let why = "Not played: the managed configuration names a real reviewer.";
                print_paragraph(&mut out, YELLOW, why, 0)?;
                continue;
            }
            play_act(&mut out, &home, &act, interrupted)?;
            last = Some(home);
        }
        if let Some(home) = last {
            writeln!(out)?;
            writeln!(out, "{}", paint(DIM, &"─".repeat(text_width())))?;
            print_paragraph(&mut out, BOLD, "Afterwards, `provost explain` shows you why:", 0)?;
            writeln!(out)?;
            out.write_all(home.run_explain()?.as_bytes())?;
        }
        writeln!(out)?;
        let end = "All of this happened in a throwaway home directory, which is deleted now. `provost guards` lists \
                   the guards of your own project.";
        print_paragraph(&mut out, DIM, end, 0)?;
        Ok(())
    }
}

/// Loads the administrator's configuration, which no project can override.
fn load_managed_config() -> Config {
    let root = Path::new("/");
    let layers = config::list_config_files(&read_places(), root, root);
    let managed: Vec<_> = layers.into_iter().filter(|(layer, _)| *layer == ConfigLayer::Managed).collect();
    Config::load(&managed, crate::registry::guard_settings, None, None)
}

fn play_act(
    out: &mut impl Write,
    home: &ActHome,
    act: &DemoAct,
    interrupted: &SignalRecord,
) -> io::Result<()> {
    for (path, text) in &act.files {
        sandbox::write_file(path, text)?;
    }
    for scene in &act.scenes {
        if interrupted.has_signal() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        for (path, text) in &scene.files {
            sandbox::write_file(path, text)?;
        }
        writeln!(out)?;
        play_scene(out, home, scene)?;
    }
    Ok(())
}

fn play_scene(out: &mut impl Write, home: &ActHome, scene: &DemoScene) -> io::Result<()> {
    print_paragraph(out, Style::new(), scene.story, 0)?;
    let attempt = wrap_line(&scene.attempt, 4);
    writeln!(out, "  {} {}", paint(CYAN, "▸"), attempt.trim_start())?;
    let SceneResult { style, word, text, time } = run_scene(home, scene)?;
    writeln!(
        out,
        "    {}  {}",
        paint(style, &word),
        paint(DIM, &format!("{:.1} ms", time.as_secs_f64() * 1000.0))
    )?;
    let text = home.shorten_home(&text);
    let mut lines = text.lines();
    let first: Vec<&str> = lines.next().unwrap_or_default().split_inclusive(' ').collect();
    let (shown, more) = first.split_at(if first.len() > MOST_WORDS { SHOWN_WORDS } else { first.len() });
    print_paragraph(out, Style::new(), &shown.concat(), 4)?;
    if !more.is_empty() {
        print_paragraph(out, DIM, &format!("… and {} more words to the agent", more.len()), 4)?;
    }
    // The further lines say how to override a denial, which is the same every time.
    lines.try_for_each(|line| print_paragraph(out, DIM, line, 4))
}

struct SceneResult {
    style: Style,
    /// One or two words; of a command, the first line of its output.
    word: String,
    text: String,
    time: Duration,
}

fn run_scene(home: &ActHome, scene: &DemoScene) -> io::Result<SceneResult> {
    let (event, allowed, denied) = match &scene.action {
        SceneAction::Call(event) => (event(), "allowed", "denied"),
        SceneAction::Stop(event) => (event(), "the turn ends", "must continue"),
        SceneAction::Command(arguments) => {
            let (output, time) = home.run(arguments)?;
            let text = home.shorten_home(&String::from_utf8_lossy(&output.stdout));
            let (word, text) = text.split_once('\n').unwrap_or((&text, ""));
            let style = if output.status.success() { GREEN } else { RED };
            return Ok(SceneResult { style, word: make_one_line(word), text: make_one_line(text), time });
        }
    };
    let (answer, time) = home.run_hook(&event)?;
    let (style, word, text) = match answer {
        DemoAnswer::Nothing => (GREEN, allowed, String::new()),
        DemoAnswer::Noted(text) => (YELLOW, allowed, text),
        DemoAnswer::Denied(text) => (RED, denied, text),
    };
    Ok(SceneResult { style, word: word.into(), text, time })
}

/// Prints a text, wrapped and safe for a terminal. An empty text prints nothing.
fn print_paragraph(out: &mut impl Write, style: Style, text: &str, indent: usize) -> io::Result<()> {
    wrap_line(text, indent).lines().try_for_each(|line| writeln!(out, "{}", paint(style, line)))
}

/// Records a signal that would end this process, so that the throwaway projects are deleted first.
struct SignalRecord(Arc<AtomicUsize>);

impl SignalRecord {
    fn start() -> Self {
        let signal = Arc::<AtomicUsize>::default();
        #[cfg(unix)]
        for number in [signal_hook::consts::SIGHUP, signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM]
        {
            let value = usize::try_from(number).unwrap_or_default();
            let _ = signal_hook::flag::register_usize(number, Arc::clone(&signal), value);
        }
        Self(signal)
    }

    fn has_signal(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }

    /// Ends this process by the recorded signal, if there is one.
    fn raise_again(&self) {
        #[cfg(unix)]
        if let Ok(signal @ 1..) = i32::try_from(self.0.load(Ordering::Relaxed)) {
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    }
}
