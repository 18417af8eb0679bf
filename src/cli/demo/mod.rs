//! `provost demo`: Provost at work, in throwaway projects.
//!
//! Nothing is staged: each scene is an event as the client really sends it (recorded, with the
//! paths of the throwaway project put in), given to this very program as a hook, in a process of
//! its own, and what is shown is what it answered. Reviewers are played by a script, and the story says so.

mod stage;

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anstyle::Style;
use clap::builder::PossibleValuesParser;

use super::screen::{BOLD, CYAN, DIM, GREEN, RED, YELLOW, painted, width, wrapped};
use super::{Exit, Outcome, Trouble};
use crate::clients::{self, Act, Deed, Scene, Told};
use crate::config::settings::REVIEWER_COMMAND;
use crate::config::{self, Config, Layer};
use crate::registry::PACKS;
use crate::text::one_line;
use crate::workspace::Places;
use stage::{Set, Stage};

/// Agents are given more words than people like to read: of an answer that is longer than this, the
/// beginning is shown.
const LONG: usize = 80;
const BEGINNING: usize = 40;

/// Show Provost at work: throwaway projects, real events, the decisions
///
/// One act for each pack. Every event was recorded from the client and is given to this very program; what is
/// shown is what it answered. Critics and reviewers are played by a script. It needs no network and leaves
/// nothing behind.
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
    pub(crate) fn run(self) -> Outcome {
        let interrupted = Interrupted::heed();
        let stage = Stage::build()?;
        let outcome = self.play(&stage, &interrupted);
        drop(stage);
        interrupted.obey();
        outcome.map(|()| Exit::Done)
    }

    fn play(&self, stage: &Stage, interrupted: &Interrupted) -> Result<(), Trouble> {
        let mut out = anstream::stdout().lock();
        paragraph(&mut out, BOLD, "Provost at work", 0)?;
        let about = "An agent works in throwaway projects. Each event was recorded from the client and is given to \
                     `provost hook`, as the client would; what stands below it is the answer.";
        paragraph(&mut out, DIM, about, 0)?;
        let managed = managed();
        if !managed.files.is_empty() {
            paragraph(&mut out, YELLOW, "The managed configuration of this machine holds here, too.", 0)?;
        }
        let mut last = None;
        let packs = PACKS.iter().filter(|pack| self.pack.as_deref().is_none_or(|only| only == pack.name));
        for (number, pack) in (1..).zip(packs) {
            let set = stage.set(pack.name)?;
            let Some(act) = (clients::DEFAULT.demo.act)(pack.name, &set.home, &set.project) else { continue };
            writeln!(out)?;
            let name =
                if self.pack.is_some() { pack.name.into() } else { format!("{number}. {}", pack.name) };
            let rule = "─".repeat(width().saturating_sub(name.chars().count() + 4));
            writeln!(out, "{} {} {}", painted(DIM, "──"), painted(BOLD, &name), painted(DIM, &rule))?;
            paragraph(&mut out, BOLD, act.title, 0)?;
            if act.asks_reviewer && managed.get(REVIEWER_COMMAND).is_some() {
                let why = "Not played: the managed configuration names a real reviewer.";
                paragraph(&mut out, YELLOW, why, 0)?;
                continue;
            }
            play(&mut out, &set, &act, interrupted)?;
            last = Some(set);
        }
        if let Some(set) = last {
            writeln!(out)?;
            writeln!(out, "{}", painted(DIM, &"─".repeat(width())))?;
            paragraph(&mut out, BOLD, "Afterwards, `provost explain` tells a person why:", 0)?;
            writeln!(out)?;
            out.write_all(set.explained()?.as_bytes())?;
        }
        writeln!(out)?;
        let end = "All of this was in a throwaway home, which is gone now. `provost guards` shows what is guarded \
                   in your own project.";
        paragraph(&mut out, DIM, end, 0)?;
        Ok(())
    }
}

/// The administrator's configuration, which no project can set aside.
fn managed() -> Config {
    let nowhere = Path::new("/");
    let layers = config::layers(&Places::from_environment(), nowhere, nowhere);
    let managed: Vec<_> = layers.into_iter().filter(|(layer, _)| *layer == Layer::Managed).collect();
    Config::load(&managed)
}

fn play(out: &mut impl Write, set: &Set, act: &Act, interrupted: &Interrupted) -> io::Result<()> {
    for (path, text) in &act.files {
        stage::put(path, text)?;
    }
    for scene in &act.scenes {
        if interrupted.is_wanted() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        for (path, text) in &scene.files {
            stage::put(path, text)?;
        }
        writeln!(out)?;
        show(out, set, scene)?;
    }
    Ok(())
}

fn show(out: &mut impl Write, set: &Set, scene: &Scene) -> io::Result<()> {
    paragraph(out, Style::new(), scene.story, 0)?;
    let attempt = wrapped(&one_line(&scene.attempt), 4, width());
    writeln!(out, "  {} {}", painted(CYAN, "▸"), attempt.trim_start())?;
    let Came { style, word, text, time } = outcome(set, scene)?;
    writeln!(out, "    {}  {}", painted(style, &word), painted(DIM, &milliseconds(time)))?;
    let text = set.shown(&text);
    let mut lines = text.lines();
    let first: Vec<&str> = lines.next().unwrap_or_default().split_inclusive(' ').collect();
    let (shown, more) = first.split_at(if first.len() > LONG { BEGINNING } else { first.len() });
    paragraph(out, Style::new(), &shown.concat(), 4)?;
    if !more.is_empty() {
        paragraph(out, DIM, &format!("… and {} more words to the agent", more.len()), 4)?;
    }
    // How a person gets past it is the same every time.
    lines.try_for_each(|line| paragraph(out, DIM, line, 4))
}

/// What came of a scene.
struct Came {
    style: Style,
    /// In a word; of a command, the first line that it shows.
    word: String,
    text: String,
    time: Duration,
}

fn outcome(set: &Set, scene: &Scene) -> io::Result<Came> {
    let (event, free, held) = match &scene.deed {
        Deed::Call(event) => (event(), "goes on", "denied"),
        Deed::Stop(event) => (event(), "the turn ends", "held back"),
        Deed::Command(arguments) => {
            let (output, time) = set.run(arguments)?;
            let text = set.shown(&String::from_utf8_lossy(&output.stdout));
            let (word, text) = text.split_once('\n').unwrap_or((&text, ""));
            let style = if output.status.success() { GREEN } else { RED };
            return Ok(Came { style, word: one_line(word), text: one_line(text), time });
        }
    };
    let (told, time) = set.hook(&event)?;
    let (style, word, text) = match told {
        Told::Nothing => (GREEN, free, String::new()),
        Told::Noted(text) => (YELLOW, free, text),
        Told::Denied(text) => (RED, held, text),
    };
    Ok(Came { style, word: word.into(), text, time })
}

/// A text that was made by nobody here is made printable; an empty one is no line.
fn paragraph(out: &mut impl Write, style: Style, text: &str, indent: usize) -> io::Result<()> {
    wrapped(&one_line(text), indent, width())
        .lines()
        .try_for_each(|line| writeln!(out, "{}", painted(style, line)))
}

fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}

/// A signal that would end this process is noted, so that nothing is left behind.
struct Interrupted(Arc<AtomicUsize>);

impl Interrupted {
    fn heed() -> Self {
        let signal = Arc::<AtomicUsize>::default();
        #[cfg(unix)]
        for number in [signal_hook::consts::SIGHUP, signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM]
        {
            let value = usize::try_from(number).unwrap_or_default();
            let _ = signal_hook::flag::register_usize(number, Arc::clone(&signal), value);
        }
        Self(signal)
    }

    fn is_wanted(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }

    /// Ends this process by the signal that came, if one did.
    fn obey(&self) {
        #[cfg(unix)]
        if let Ok(signal @ 1..) = i32::try_from(self.0.load(Ordering::Relaxed)) {
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    }
}
