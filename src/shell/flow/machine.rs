//! Runs the ops of a call once, and finds the switches in front of each command that asks for its branch.

mod constructs;

use std::rc::Rc;
use std::sync::Arc;

use super::state::{Outcome, Point, State, either};
use super::{Op, unknown_switch};
use crate::effect::git::Switch;
use crate::shell::grammar::{Join, Scope};

/// So many switches of a loop or of a background job are told apart.
const MOST: usize = 16;

/// A construct that is open.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about the construct")]
struct Frame {
    /// `None`: a script.
    scope: Option<Scope>,
    /// How the script of this frame was started, and where its caller goes on.
    call: Option<Call>,
    /// Where the next command starts.
    input: Point,
    /// What the current command came to, if an op has told.
    last: Option<Outcome>,
    /// What the commands joined in front of the current one came to, if they decide whether it runs.
    before: Option<(Join, Outcome)>,
    is_negated: bool,
    /// The current pipeline has so many stages in front of this one, and this one started behind so many
    /// switches.
    stages: usize,
    stage: usize,
    /// Where the pipeline and the list started.
    pipeline: Mark,
    list: Mark,
    /// The status of the last list.
    outcome: Outcome,
    entry: Point,
    /// Where the next part of an `if` or `case` starts.
    otherwise: Point,
    /// What the parts so far came to.
    ends: Outcome,
    /// Where `break` or `exit` left it.
    exits: Point,
    /// It is a `while` or `until` whose condition has been read.
    has_condition: bool,
    is_until: bool,
    is_function: bool,
    /// What had happened when it was opened.
    start: Mark,
}

#[derive(Clone, Copy, PartialEq)]
enum Call {
    Inline,
    Before,
    Later,
}

/// A place in the run: where it was, and what had happened by then.
#[derive(Clone, Default)]
struct Mark {
    input: Point,
    switches: usize,
    sites: usize,
}

struct Site {
    effect: usize,
    state: State,
    /// It may happen while all else does.
    is_open: bool,
}

struct Machine<'a> {
    scripts: &'a [Vec<Op>],
    frames: Vec<Frame>,
    /// The script and the op that are next, for each script that is running.
    calls: Vec<(usize, usize)>,
    sites: Vec<Site>,
    /// All switches that were met, in order.
    met: Vec<Rc<Switch>>,
    /// Switches that may happen at any time from now on.
    pending: Vec<Rc<Switch>>,
    exits_on_error: bool,
    is_function_next: bool,
    is_lost: bool,
}

/// The switches in front of each effect that asked.
pub(super) fn run(scripts: &[Vec<Op>]) -> Vec<(usize, Arc<[Switch]>)> {
    let mut machine = Machine {
        scripts,
        frames: Vec::new(),
        calls: Vec::new(),
        sites: Vec::new(),
        met: Vec::new(),
        pending: Vec::new(),
        exits_on_error: false,
        is_function_next: false,
        is_lost: false,
    };
    machine.start(0, Some(State::default()), None);
    while let Some((script, at)) = machine.calls.last_mut() {
        let next = scripts.get(*script).and_then(|ops| ops.get(*at));
        *at += 1;
        match next {
            Some(op) => machine.op(op),
            None => machine.end_script(),
        }
    }
    let all = bounded(machine.met);
    let mut told: Option<(State, Arc<[Switch]>)> = None;
    let tell = |site: Site| {
        let state = if site.is_open || machine.is_lost { site.state.perhaps_after(&all) } else { site.state };
        let shared = told.take().filter(|(known, _)| known.is(&state));
        let (_, switches) = told.insert(shared.unwrap_or_else(|| (state.clone(), state.switches().into())));
        (site.effect, switches.clone())
    };
    machine.sites.into_iter().map(tell).collect()
}

fn bounded(switches: Vec<Rc<Switch>>) -> Vec<Rc<Switch>> {
    if switches.len() > MOST { vec![Rc::new(unknown_switch())] } else { switches }
}

impl Machine<'_> {
    fn frame(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a script is running")
    }

    fn start(&mut self, script: usize, input: Point, call: Option<Call>) {
        self.calls.push((script, 0));
        self.open(None, input);
        self.frame().call = call;
    }

    fn open(&mut self, scope: Option<Scope>, input: Point) {
        let outcome = Outcome::at(&input);
        self.frames.push(Frame { scope, entry: input.clone(), outcome, input, ..Frame::default() });
        self.mark_start();
        let frame = self.frame();
        frame.start = frame.list.clone();
    }

    fn op(&mut self, op: &Op) {
        match op {
            Op::Switch(switch) => self.switch(switch),
            Op::Site(effect) => {
                let pending = std::mem::take(&mut self.pending);
                let frame = self.frame();
                let point = frame.last.as_ref().map_or(&frame.input, |last| &last.yes);
                let state = point.clone().unwrap_or_default().perhaps_after(&pending);
                self.pending = pending;
                self.sites.push(Site { effect: *effect, state, is_open: false });
            }
            Op::Run(script) => {
                let input = self.frame().input.clone();
                self.start(*script, input, Some(Call::Inline));
            }
            Op::RunBefore(script) => {
                let input = self.frame().input.clone();
                self.start(*script, input, Some(Call::Before));
            }
            Op::RunLater(script) => {
                let input = self.frame().input.clone();
                self.start(*script, input, Some(Call::Later));
            }
            Op::Doubt => {
                let frame = self.frame();
                if let Some(last) = &frame.last {
                    frame.last = Some(Outcome::at(&either(&frame.input, &last.any())));
                }
            }
            Op::Outcome(is_yes) => {
                let frame = self.frame();
                let point = frame.input.clone();
                let (yes, no) = if *is_yes { (point, None) } else { (None, point) };
                frame.last = Some(Outcome { yes, no });
            }
            Op::Leave { shell } => self.leave(*shell),
            Op::ExitOnError(is_on) => self.exits_on_error = *is_on,
            Op::Function => self.is_function_next = true,
            Op::Lost => self.is_lost = true,
            Op::Negate => {
                let frame = self.frame();
                frame.is_negated = !frame.is_negated;
            }
            Op::Join(join) => self.join(*join),
            Op::Open(scope) => self.enter(*scope),
            Op::Turn(turn) => self.turn(*turn),
            Op::Close(scope) => self.close(*scope),
        }
    }

    fn switch(&mut self, switch: &Rc<Switch>) {
        self.met.push(switch.clone());
        let frame = self.frame();
        let before = frame.last.take().unwrap_or_else(|| Outcome::at(&frame.input));
        let yes = before.yes.as_ref().map(|state| state.after(switch));
        frame.last = Some(Outcome { yes, no: before.any() });
    }

    fn leave(&mut self, shell: bool) {
        let input = self.frame().input.clone();
        let ends = |frame: &&mut Frame| {
            let is_shell = matches!(frame.scope, None | Some(Scope::Subshell | Scope::Substitution));
            if shell { is_shell } else { is_shell || frame.is_function || frame.scope == Some(Scope::Loop) }
        };
        if let Some(frame) = self.frames.iter_mut().rev().find(ends) {
            frame.exits = either(&frame.exits, &input);
        }
        self.frame().last = Some(Outcome::default());
    }

    /// A command is over, and this stands behind it.
    fn join(&mut self, join: Join) {
        // `coproc` in front of a simple command.
        let join = if std::mem::take(&mut self.is_function_next) { Join::Background } else { join };
        let met = self.met.len();
        let frame = self.frame();
        let mut outcome = frame.last.take().unwrap_or_else(|| Outcome::at(&frame.input));
        if join == Join::Pipe {
            frame.stages += 1;
            frame.stage = met;
            let pipeline = frame.pipeline.clone();
            let switches = bounded(self.met[pipeline.switches..].to_vec());
            self.frame().input = Outcome::at(&pipeline.input).perhaps_after(&switches).yes;
            return;
        }
        if std::mem::take(&mut frame.stages) > 0 {
            // All stages run at the same time, and the last one decides.
            let (stage, pipeline) = (frame.stage, frame.pipeline.clone());
            outcome = outcome.perhaps_after(&bounded(self.met[pipeline.switches..stage].to_vec()));
            let switches = bounded(self.met[pipeline.switches..].to_vec());
            for site in &mut self.sites[pipeline.sites..] {
                site.state = site.state.perhaps_after(&switches);
            }
        }
        let frame = self.frame();
        if std::mem::take(&mut frame.is_negated) {
            outcome = Outcome { yes: outcome.no, no: outcome.yes };
        }
        let before = frame.before.take();
        let is_alone = before.is_none();
        outcome = match before {
            Some((Join::And, before)) => Outcome { yes: outcome.yes, no: either(&before.no, &outcome.no) },
            Some((_, before)) => Outcome { yes: either(&before.yes, &outcome.yes), no: outcome.no },
            None => outcome,
        };
        match join {
            Join::And => {
                frame.input.clone_from(&outcome.yes);
                frame.before = Some((join, outcome));
            }
            Join::Or => {
                frame.input.clone_from(&outcome.no);
                frame.before = Some((join, outcome));
            }
            Join::Background => self.run_beside(&outcome),
            Join::Next | Join::Pipe => {
                // Inside a construct, what stands behind it may exempt it from `set -e`.
                if self.exits_on_error && is_alone && self.frames.len() == 1 {
                    outcome.no = None;
                }
                let frame = self.frame();
                frame.input = outcome.any();
                frame.outcome = outcome;
            }
        }
        self.mark_start();
    }

    /// A pipeline starts here, and unless another one decides whether it runs, so does a list.
    fn mark_start(&mut self) {
        let input = self.frame().input.clone();
        let mark = Mark { input, switches: self.met.len(), sites: self.sites.len() };
        let frame = self.frame();
        if frame.before.is_none() {
            frame.list = mark.clone();
        }
        frame.pipeline = mark;
    }

    /// The list that is over goes on while the rest of the line runs.
    fn run_beside(&mut self, outcome: &Outcome) {
        let list = self.frame().list.clone();
        let switches = bounded(self.met[list.switches..].to_vec());
        self.sites[list.sites..].iter_mut().for_each(|site| site.is_open = true);
        let input = either(&list.input, &outcome.any());
        let point = Outcome::at(&input).perhaps_after(&switches);
        self.postpone(switches);
        let frame = self.frame();
        frame.input = point.any();
        frame.outcome = point;
    }

    /// These switches may happen at any time from now on.
    fn postpone(&mut self, switches: Vec<Rc<Switch>>) {
        self.pending.extend(switches);
        self.pending = bounded(std::mem::take(&mut self.pending));
    }
}
