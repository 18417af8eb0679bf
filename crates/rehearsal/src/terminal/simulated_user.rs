//! Simulates the user at the terminal: types, presses keys, and waits.
//!
//! No step waits a fixed time. Each waits for a condition: a text on the screen, a request to the model, or an idle client.
//! Enter is pressed only after the screen shows the typed text, because the client takes both together for a paste.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::{Frame, Key, Terminal};
use crate::actions::ActionRunner;
use crate::check::is_met;
use crate::client::Client;
use crate::error::Error;
use crate::observer::RunEvent;
use crate::run_monitor::RunMonitor;
use crate::scenario::{Keys, Scenario, UserStep};

/// An idle client repaints nothing for this long.
const QUIET: Duration = Duration::from_millis(300);
/// How long to wait until the screen stops changing, and how long a client is idle that has lost a key.
const REACTION: Duration = Duration::from_secs(5);
/// How often to press a key without a reaction. The client loses keys while it builds a dialog.
const ATTEMPTS: usize = 3;
/// How long an idle client gets to show what is expected.
const GRACE: Duration = Duration::from_secs(30);

/// The result of all steps.
#[derive(Debug, Default)]
pub(crate) struct TerminalRun {
    /// The client's exit code, if it ended.
    pub(crate) exit: Option<i32>,
    /// The screen after each step, and before the client is told to exit.
    pub(crate) screens: Vec<Frame>,
    pub(crate) frames: Vec<Frame>,
    pub(crate) stall: Option<Stall>,
}

/// A wait of the user that did not end.
#[derive(Debug, Clone)]
pub struct Stall {
    /// What did not happen: `step 2 (waits for "Ready?" on the screen): the time limit of 600 s is over`.
    pub what: String,
    pub screen: Frame,
}

pub(crate) struct SimulatedUser<'a, 'w> {
    pub(crate) terminal: &'a mut Terminal,
    pub(crate) client: &'a mut Client,
    pub(crate) monitor: &'a mut RunMonitor<'w>,
    pub(crate) actions: &'a ActionRunner,
    pub(crate) in_flight: Arc<AtomicUsize>,
    pub(crate) deadline: Instant,
}

/// Why a wait ended before its condition was met.
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

/// Does all steps of a scenario, then exits the client.
pub(crate) fn perform(scenario: &Scenario, user: &mut SimulatedUser<'_, '_>) -> TerminalRun {
    let mut run_result = TerminalRun::default();
    perform_steps(scenario, user, &mut run_result);
    run_result.frames = user.terminal.take_frames();
    run_result
}

fn perform_steps(scenario: &Scenario, user: &mut SimulatedUser<'_, '_>, run_result: &mut TerminalRun) {
    let steps = scenario.user_steps();
    for (index, step) in steps.iter().enumerate() {
        let done = user.perform(step).and_then(|()| user.await_expected(scenario, Some(index + 1)));
        if let Err(halt) = done {
            let is_last = index + 1 == steps.len();
            let what = format!("step {} ({})", index + 1, step.describe());
            user.record_halt(halt, is_last, &what, scenario, run_result);
            return;
        }
        run_result.screens.push(user.terminal.frame().clone());
    }
    let settled = user
        .wait_until_idle()
        .and_then(|()| user.await_expected(scenario, None))
        .map(|()| run_result.screens.push(user.terminal.frame().clone()))
        .and_then(|()| user.exit_client());
    match settled {
        Ok(exit) => run_result.exit = Some(exit),
        Err(halt) => user.record_halt(halt, true, "after the last step", scenario, run_result),
    }
}

impl SimulatedUser<'_, '_> {
    fn perform(&mut self, step: &UserStep) -> Result<(), Halt> {
        let variables = self.actions.variables.clone();
        self.monitor.report(RunEvent::User(step.describe()));
        match step {
            UserStep::Prompt(text) => {
                let text = variables.fill_strictly(text)?;
                self.wait_until_idle()?;
                self.send_line(&text)
            }
            UserStep::Type(text) => self.type_text(&variables.fill_strictly(text)?),
            UserStep::Press(Keys(keys)) => keys.iter().try_for_each(|key| self.press(key)),
            UserStep::WaitFor(text) => {
                let text = variables.fill(text);
                self.wait_until(|user| user.terminal.frame().contains(&text))
            }
            UserStep::WaitForMatch(pattern) => {
                self.wait_until(|user| pattern.matches(&user.terminal.frame().in_one_line()))
            }
            UserStep::WaitGone(text) => {
                let text = variables.fill(text);
                self.wait_until(|user| !user.terminal.frame().contains(&text))
            }
            UserStep::WaitIdle(_) => self.wait_until_idle(),
            UserStep::WaitForRequest { route, n } => self.wait_until(|user| user.requests_of(route) >= *n),
            UserStep::WaitForHook { event, n } => {
                self.wait_until(|user| user.monitor.ended_hooks(event) >= *n)
            }
            UserStep::Outside(actions) => {
                let done = self.actions.perform(actions, "", |_| {});
                done.map_err(|problem| Halt::Failed(Error::Stage(problem)))
            }
        }
    }

    /// Types a line, and sends it once the screen shows it.
    fn send_line(&mut self, text: &str) -> Result<(), Halt> {
        self.type_text(text)?;
        let before = self.monitor.requests().len();
        self.terminal.send(b"\r")?;
        self.wait_until(|user| {
            let frame = user.terminal.frame();
            frame.is_busy() || user.monitor.requests().len() > before || !frame.shows_in_input(text)
        })
    }

    /// Types a text, and waits until the screen shows it.
    fn type_text(&mut self, text: &str) -> Result<(), Halt> {
        // The client shows a long text as `[Pasted text #…]`.
        let shown = |frame: &Frame| frame.count(text) + frame.count("[Pasted text #");
        self.terminal.refresh();
        let before = shown(self.terminal.frame());
        self.terminal.send(text.as_bytes())?;
        self.wait_until(|user| shown(user.terminal.frame()) > before)
    }

    /// Presses a key, and again if the client has lost it.
    ///
    /// A key is lost if the client has read it, was idle for a while, and shows no reaction. A slow client has not read it yet or
    /// is still working, so no key acts twice.
    fn press(&mut self, key: &Key) -> Result<(), Halt> {
        for _ in 0..ATTEMPTS {
            self.wait_at_most(Instant::now() + REACTION, |user| user.terminal.unchanged_for() >= QUIET)?;
            let before = self.terminal.frame().clone();
            self.terminal.send(key.bytes())?;
            let mut has_reacted = false;
            let mut rest = Duration::ZERO;
            let mut looked = Instant::now();
            self.wait_until(|user| {
                has_reacted = *user.terminal.frame() != before;
                let passed = looked.elapsed();
                looked = Instant::now();
                if !user.client.is_working() && !user.terminal.has_unread_input() {
                    // If this thread itself was delayed, only a part of the time counts.
                    rest += passed.min(QUIET);
                }
                has_reacted || rest >= REACTION
            })?;
            if has_reacted {
                break;
            }
        }
        // Some keys change nothing on the screen.
        Ok(())
    }

    fn exit_client(&mut self) -> Result<i32, Halt> {
        match self.send_line("/exit").and_then(|()| self.wait_until(|_| false)) {
            Err(Halt::Ended(exit)) => Ok(exit),
            Err(halt) => Err(halt),
            Ok(()) => Err(Halt::OutOfTime),
        }
    }

    fn wait_until_idle(&mut self) -> Result<(), Halt> {
        self.wait_until(Self::is_idle)
    }

    fn is_idle(&mut self) -> bool {
        let frame = self.terminal.frame();
        frame.input().is_some()
            && !frame.is_busy()
            && self.in_flight.load(Ordering::SeqCst) == 0
            && self.terminal.unchanged_for() >= QUIET
    }

    /// Waits for what is expected after a step, or at the end. If it does not come, the check reports it later.
    fn await_expected(&mut self, scenario: &Scenario, after: Option<usize>) -> Result<(), Halt> {
        let expected: Vec<_> = scenario.expect.screen.iter().filter(|screen| screen.after == after).collect();
        if after.is_some() && expected.is_empty() {
            return Ok(());
        }
        let variables = self.actions.variables.clone();
        self.wait_at_most(Instant::now() + GRACE, |user| {
            let requests = &scenario.expect.requests;
            let is_ready = after.is_some()
                || (user.is_idle() && requests.iter().all(|(route, n)| user.requests_of(route) >= *n));
            let (frame, frames) = (user.terminal.frame(), user.terminal.frames());
            is_ready && expected.iter().all(|screen| is_met(screen, frame, frames, &variables))
        })
        .map(drop)
    }

    fn requests_of(&self, route: &str) -> usize {
        self.monitor.requests().iter().filter(|request| request.route.as_deref() == Some(route)).count()
    }

    fn wait_until(&mut self, condition: impl FnMut(&mut Self) -> bool) -> Result<(), Halt> {
        if self.wait_at_most(self.deadline, condition)? { Ok(()) } else { Err(Halt::OutOfTime) }
    }

    /// Waits until a condition is met, at most until `limit`; returns whether it was met.
    fn wait_at_most(
        &mut self,
        limit: Instant,
        mut condition: impl FnMut(&mut Self) -> bool,
    ) -> Result<bool, Halt> {
        loop {
            self.monitor.poll();
            self.terminal.refresh();
            if condition(self) {
                return Ok(true);
            }
            if self.monitor.has_seen_enough() {
                return Err(Halt::Interrupted);
            }
            if let Some(exit) = self.client.exit_code() {
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

    /// Reads the last output of a client that has ended. Processes that it leaves behind may keep the terminal open.
    fn read_last_output(&mut self) {
        let limit = Instant::now() + REACTION;
        while !self.terminal.is_closed() && Instant::now() < limit {
            self.monitor.poll();
        }
        self.terminal.refresh();
    }

    /// Records why the steps ended early.
    fn record_halt(
        &mut self,
        halt: Halt,
        was_last: bool,
        what: &str,
        scenario: &Scenario,
        run_result: &mut TerminalRun,
    ) {
        let reason = match halt {
            Halt::Failed(error) => error.to_string(),
            Halt::Interrupted => return,
            Halt::OutOfTime => format!("the time limit of {} s is over", scenario.timeout().as_secs_f64()),
            Halt::Ended(exit) => {
                run_result.exit = Some(exit);
                self.read_last_output();
                format!("the client has ended with exit status {exit}")
            }
        };
        let screen = self.terminal.frame().clone();
        run_result.screens.push(screen.clone());
        // The last step may exit the client.
        if !(was_last && run_result.exit.is_some()) {
            run_result.stall = Some(Stall { what: format!("{what}: {reason}"), screen });
        }
    }
}
