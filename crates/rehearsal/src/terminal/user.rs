//! The user at the terminal: types, presses keys, and waits for what the screen shows.
//!
//! Nothing here waits a fixed time to be ready. Every step waits for a condition: a text on the screen, a request that reached the
//! model, or a client that says that it is idle. A text is sent only after the screen has shown it, because the client takes a text
//! and an Enter that arrive together for a paste.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::{Frame, Key, Terminal};
use crate::check::is_met;
use crate::client::Client;
use crate::error::Error;
use crate::observer::Moment;
use crate::outside::Outside;
use crate::scenario::{Scenario, UserStep};
use crate::watch::Watch;

/// An idle client repaints nothing for this long.
const QUIET: Duration = Duration::from_millis(300);
/// How long to wait for a screen that does not change any more, and how long a client rests that has lost a key.
const REACTION: Duration = Duration::from_secs(5);
/// How often to press a key that the screen does not react to: the client loses keys while it builds a dialog.
const ATTEMPTS: usize = 3;
/// How long an idle client gets to show what is expected.
const GRACE: Duration = Duration::from_secs(30);

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Performance {
    /// The client's exit code, if it ended.
    pub(crate) exit: Option<i32>,
    /// The screen after each step, and the last screen before the client was asked to leave.
    pub(crate) screens: Vec<Frame>,
    pub(crate) frames: Vec<Frame>,
    pub(crate) stall: Option<Stall>,
}

/// Where the user waited in vain.
#[derive(Debug, Clone)]
pub struct Stall {
    /// What did not happen: `step 2 (waits for "Ready?" on the screen): the time limit of 600 s is over`.
    pub what: String,
    pub screen: Frame,
}

pub(crate) struct User<'a, 'w> {
    pub(crate) terminal: &'a mut Terminal,
    pub(crate) client: &'a mut Client,
    pub(crate) watch: &'a mut Watch<'w>,
    pub(crate) outside: &'a Outside,
    pub(crate) in_flight: Arc<AtomicUsize>,
    pub(crate) deadline: Instant,
}

/// Why a wait ended without what was waited for.
enum Halt {
    Ended(i32),
    OutOfTime,
    Interrupted,
    Failed(Error),
}

impl From<Error> for Halt {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Does all steps of a scenario, then leaves the client.
pub(crate) fn perform(scenario: &Scenario, user: &mut User<'_, '_>) -> Performance {
    let mut performance = Performance::default();
    perform_steps(scenario, user, &mut performance);
    performance.frames = user.terminal.take_frames();
    performance
}

fn perform_steps(scenario: &Scenario, user: &mut User<'_, '_>, performance: &mut Performance) {
    let steps = scenario.user_steps();
    for (index, step) in steps.iter().enumerate() {
        let done = user.perform(step).and_then(|()| user.await_expected(scenario, Some(index + 1)));
        if let Err(halt) = done {
            let is_last = index + 1 == steps.len();
            let what = format!("step {} ({})", index + 1, step.describe());
            user.halt(halt, is_last, &what, scenario, performance);
            return;
        }
        performance.screens.push(user.terminal.frame().clone());
    }
    let settled = user
        .until_idle()
        .and_then(|()| user.await_expected(scenario, None))
        .map(|()| performance.screens.push(user.terminal.frame().clone()))
        .and_then(|()| user.leave());
    match settled {
        Ok(exit) => performance.exit = Some(exit),
        Err(halt) => user.halt(halt, true, "after the last step", scenario, performance),
    }
}

impl User<'_, '_> {
    fn perform(&mut self, step: &UserStep) -> Result<(), Halt> {
        let variables = self.outside.variables.clone();
        self.watch.tell(Moment::User(step.describe()));
        match step {
            UserStep::Prompt(text) => {
                let text = variables.fill_strictly(text)?;
                self.until_idle()?;
                self.send(&text)
            }
            UserStep::Type(text) => self.write(&variables.fill_strictly(text)?),
            UserStep::Press(keys) => keys.iter().try_for_each(|key| self.press(key)),
            UserStep::WaitFor(text) => {
                let text = variables.fill(text);
                self.until(|user| user.terminal.frame().contains(&text))
            }
            UserStep::WaitForMatch(pattern) => {
                self.until(|user| pattern.matches(&user.terminal.frame().in_one_line()))
            }
            UserStep::WaitGone(text) => {
                let text = variables.fill(text);
                self.until(|user| !user.terminal.frame().contains(&text))
            }
            UserStep::WaitIdle => self.until_idle(),
            UserStep::WaitForRequest { route, n } => self.until(|user| user.requests_of(route) >= *n),
            UserStep::WaitForHook { event, n } => self.until(|user| user.watch.ended_hooks(event) >= *n),
            UserStep::Outside(actions) => {
                let done = self.outside.perform(actions, "", |_| {});
                done.map_err(|problem| Halt::Failed(Error::Stage(problem)))
            }
        }
    }

    /// Types a line, and sends it once the screen shows it.
    fn send(&mut self, text: &str) -> Result<(), Halt> {
        self.write(text)?;
        let before = self.watch.requests().len();
        self.terminal.send(b"\r")?;
        self.until(|user| {
            let frame = user.terminal.frame();
            frame.is_busy() || user.watch.requests().len() > before || !frame.shows_in_input(text)
        })
    }

    /// Types a text, and waits until the screen shows it.
    fn write(&mut self, text: &str) -> Result<(), Halt> {
        // The client folds a long text.
        let shown = |frame: &Frame| frame.count(text) + frame.count("[Pasted text #");
        self.terminal.refresh();
        let before = shown(self.terminal.frame());
        self.terminal.send(text.as_bytes())?;
        self.until(|user| shown(user.terminal.frame()) > before)
    }

    /// Presses a key, and again if the client has lost it.
    ///
    /// A key is lost only if the client has read it, had nothing to do for a while, and shows no reaction. A client that is slow has
    /// not read it yet or is still at work, so that no key acts twice however long the client takes.
    fn press(&mut self, key: &Key) -> Result<(), Halt> {
        for _ in 0..ATTEMPTS {
            self.until_or(Instant::now() + REACTION, |user| user.terminal.unchanged_for() >= QUIET)?;
            let before = self.terminal.frame().clone();
            self.terminal.send(key.bytes())?;
            let mut has_reacted = false;
            let mut rest = Duration::ZERO;
            let mut looked = Instant::now();
            self.until(|user| {
                has_reacted = *user.terminal.frame() != before;
                let passed = looked.elapsed();
                looked = Instant::now();
                if !user.client.is_working() && !user.terminal.has_unread_input() {
                    // A look that came late has seen less than it seems.
                    rest += passed.min(QUIET);
                }
                has_reacted || rest >= REACTION
            })?;
            if has_reacted {
                break;
            }
        }
        // Some keys change nothing that can be seen.
        Ok(())
    }

    fn leave(&mut self) -> Result<i32, Halt> {
        match self.send("/exit").and_then(|()| self.until(|_| false)) {
            Err(Halt::Ended(exit)) => Ok(exit),
            Err(halt) => Err(halt),
            Ok(()) => Err(Halt::OutOfTime),
        }
    }

    fn until_idle(&mut self) -> Result<(), Halt> {
        self.until(Self::is_idle)
    }

    fn is_idle(&mut self) -> bool {
        let frame = self.terminal.frame();
        frame.input().is_some()
            && !frame.is_busy()
            && self.in_flight.load(Ordering::SeqCst) == 0
            && self.terminal.unchanged_for() >= QUIET
    }

    /// Gives the client time to show what is expected after a step, or at the end. If it does not, the check will say so.
    fn await_expected(&mut self, scenario: &Scenario, after: Option<usize>) -> Result<(), Halt> {
        let expected: Vec<_> = scenario.expect.screen.iter().filter(|screen| screen.after == after).collect();
        if after.is_some() && expected.is_empty() {
            return Ok(());
        }
        let variables = self.outside.variables.clone();
        self.until_or(Instant::now() + GRACE, |user| {
            let requests = &scenario.expect.requests;
            let is_told = after.is_some()
                || (user.is_idle() && requests.iter().all(|(route, n)| user.requests_of(route) >= *n));
            let (frame, frames) = (user.terminal.frame(), user.terminal.frames());
            is_told && expected.iter().all(|screen| is_met(screen, frame, frames, &variables))
        })
        .map(drop)
    }

    fn requests_of(&self, route: &str) -> usize {
        self.watch.requests().iter().filter(|request| request.route.as_deref() == Some(route)).count()
    }

    fn until(&mut self, holds: impl FnMut(&mut Self) -> bool) -> Result<(), Halt> {
        if self.until_or(self.deadline, holds)? { Ok(()) } else { Err(Halt::OutOfTime) }
    }

    /// Waits until something holds, at most until `limit`; says whether it did.
    fn until_or(&mut self, limit: Instant, mut holds: impl FnMut(&mut Self) -> bool) -> Result<bool, Halt> {
        loop {
            self.watch.glance();
            self.terminal.refresh();
            if holds(self) {
                return Ok(true);
            }
            if self.watch.has_seen_enough() {
                return Err(Halt::Interrupted);
            }
            if let Some(exit) = self.client.ended() {
                return Err(Halt::Ended(exit));
            }
            if Instant::now() >= self.deadline {
                return Err(Halt::OutOfTime);
            }
            if Instant::now() >= limit {
                return Ok(false);
            }
        }
    }

    /// Shows what a client that has ended wrote last.
    fn read_last_words(&mut self) {
        let limit = Instant::now() + REACTION;
        while self.terminal.unchanged_for() < QUIET && Instant::now() < limit {
            self.watch.glance();
            self.terminal.refresh();
        }
    }

    /// Keeps why the performance ended early.
    fn halt(
        &mut self,
        halt: Halt,
        was_last: bool,
        what: &str,
        scenario: &Scenario,
        performance: &mut Performance,
    ) {
        let reason = match halt {
            Halt::Failed(error) => error.to_string(),
            Halt::Interrupted => return,
            Halt::OutOfTime => format!("the time limit of {} s is over", scenario.timeout().as_secs_f64()),
            Halt::Ended(exit) => {
                performance.exit = Some(exit);
                self.read_last_words();
                format!("the client has ended with exit status {exit}")
            }
        };
        let screen = self.terminal.frame().clone();
        performance.screens.push(screen.clone());
        // A user who leaves the client with the last step has done everything.
        if !(was_last && performance.exit.is_some()) {
            performance.stall = Some(Stall { what: format!("{what}: {reason}"), screen });
        }
    }
}
