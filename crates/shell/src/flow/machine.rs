//! Runs the steps of a line once, and finds the branch switches before each git command.

mod constructs;

use std::rc::Rc;
use std::sync::Arc;

use super::state::{FlowPoint, Outcome, SwitchHistory, merge_points};
use super::{FlowStep, ScriptTime, SiteOwner, unknown_switch};
use crate::effect::git::BranchSwitch;
use crate::grammar::{ControlOperator, Scope, StructureEvent};

/// At most this many switches of a loop or of a background job are kept apart.
const MOST: usize = 16;

/// A construct that is open.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about the construct")]
struct FlowFrame {
    /// `None`: a script.
    scope: Option<Scope>,
    /// When the script of this frame runs.
    call: Option<ScriptTime>,
    /// Where the next command starts.
    input: FlowPoint,
    /// The outcome of the current command, if a step has set it.
    last: Option<Outcome>,
    /// The outcome of the commands in front of the current one, if it decides whether that runs.
    before: Option<(ControlOperator, Outcome)>,
    is_negated: bool,
    /// The number of stages of the current pipeline in front of this one.
    stages: usize,
    /// The number of switches before this stage.
    stage: usize,
    /// Where the pipeline and the list started.
    pipeline: FlowMark,
    list: FlowMark,
    /// The outcome of the last list.
    outcome: Outcome,
    entry: FlowPoint,
    /// Where the next part of an `if` or `case` starts.
    otherwise: FlowPoint,
    /// The outcome of the parts so far.
    ends: Outcome,
    /// Where `break` or `exit` left it.
    exits: FlowPoint,
    /// It is a `while` or `until` whose condition has ended.
    has_condition: bool,
    is_until: bool,
    is_function: bool,
    /// The state when it was opened.
    start: FlowMark,
}

/// A position in the run, with the number of switches and git commands before it.
#[derive(Clone, Default)]
struct FlowMark {
    input: FlowPoint,
    switches: usize,
    sites: usize,
}

struct Site {
    owner: SiteOwner,
    state: SwitchHistory,
    /// It may run at the same time as the rest of the line.
    is_open: bool,
}

#[derive(Default)]
struct Machine<'a> {
    scripts: &'a [Vec<FlowStep>],
    frames: Vec<FlowFrame>,
    /// The running scripts, each with the index of its next step.
    calls: Vec<(usize, usize)>,
    sites: Vec<Site>,
    /// All switches so far, in order.
    switches: Vec<Rc<BranchSwitch>>,
    /// Switches that may happen at any time from now on.
    pending: Vec<Rc<BranchSwitch>>,
    exits_on_error: bool,
    is_function_next: bool,
    is_lost: bool,
}

/// Returns the switches before everything that needs its branch.
pub(super) fn find_switches(scripts: &[Vec<FlowStep>]) -> Vec<(SiteOwner, Arc<[BranchSwitch]>)> {
    let mut machine = Machine { scripts, ..Machine::default() };
    machine.start_script(0, Some(SwitchHistory::default()), None);
    while let Some((script, at)) = machine.calls.last_mut() {
        let next = scripts.get(*script).and_then(|steps| steps.get(*at));
        *at += 1;
        match next {
            Some(step) => machine.run_step(step),
            None => machine.end_script(),
        }
    }
    let all = limit_switches(machine.switches);
    // Commands with the same state share one list.
    let mut last: Option<(SwitchHistory, Arc<[BranchSwitch]>)> = None;
    let list_switches = |site: Site| {
        let state = if site.is_open || machine.is_lost { site.state.perhaps_after(&all) } else { site.state };
        let shared = last.take().filter(|(known, _)| known.is_same_as(&state));
        let (_, switches) =
            last.insert(shared.unwrap_or_else(|| (state.clone(), state.to_switches().into())));
        (site.owner, switches.clone())
    };
    machine.sites.into_iter().map(list_switches).collect()
}

/// Replaces too many switches with one to an unknown branch.
fn limit_switches(switches: Vec<Rc<BranchSwitch>>) -> Vec<Rc<BranchSwitch>> {
    if switches.len() > MOST { vec![Rc::new(unknown_switch())] } else { switches }
}

impl Machine<'_> {
    fn frame(&mut self) -> &mut FlowFrame {
        self.frames.last_mut().expect("a script is running")
    }

    fn switches_since(&self, at: usize) -> Vec<Rc<BranchSwitch>> {
        limit_switches(self.switches[at..].to_vec())
    }

    fn start_script(&mut self, script: usize, input: FlowPoint, call: Option<ScriptTime>) {
        self.calls.push((script, 0));
        self.open_frame(None, input);
        self.frame().call = call;
    }

    fn open_frame(&mut self, scope: Option<Scope>, input: FlowPoint) {
        let outcome = Outcome::at(&input);
        self.frames.push(FlowFrame { scope, entry: input.clone(), outcome, input, ..FlowFrame::default() });
        self.mark_start();
        let frame = self.frame();
        frame.start = frame.list.clone();
    }

    fn run_step(&mut self, step: &FlowStep) {
        match step {
            FlowStep::Switch(switch) => self.record_switch(switch),
            FlowStep::Site(owner) => {
                let pending = std::mem::take(&mut self.pending);
                let frame = self.frame();
                let point = frame.last.as_ref().map_or(&frame.input, |last| &last.yes);
                let state = point.clone().unwrap_or_default().perhaps_after(&pending);
                self.pending = pending;
                self.sites.push(Site { owner: *owner, state, is_open: false });
            }
            FlowStep::Run(script, time) => {
                let input = self.frame().input.clone();
                self.start_script(*script, input, Some(*time));
            }
            FlowStep::Doubt => {
                let frame = self.frame();
                if let Some(last) = &frame.last {
                    frame.last = Some(Outcome::at(&merge_points(&frame.input, &last.either())));
                }
            }
            FlowStep::Outcome(is_yes) => {
                let frame = self.frame();
                let point = frame.input.clone();
                let (yes, no) = if *is_yes { (point, None) } else { (None, point) };
                frame.last = Some(Outcome { yes, no });
            }
            FlowStep::Leave { shell } => self.leave_construct(*shell),
            FlowStep::ExitOnError(is_on) => self.exits_on_error = *is_on,
            FlowStep::Structure(StructureEvent::Function) => self.is_function_next = true,
            FlowStep::Structure(StructureEvent::Restart) => self.is_lost = true,
            FlowStep::Structure(StructureEvent::Negated) => {
                let frame = self.frame();
                frame.is_negated = !frame.is_negated;
            }
            FlowStep::Structure(StructureEvent::Joined { behind, .. }) => self.end_command(*behind),
            FlowStep::Structure(StructureEvent::Open(scope)) => self.open_construct(*scope),
            FlowStep::Structure(StructureEvent::Part(part)) => self.change_part(*part),
            FlowStep::Structure(StructureEvent::Close(scope)) => self.close_construct(*scope),
        }
    }

    fn record_switch(&mut self, switch: &Rc<BranchSwitch>) {
        self.switches.push(switch.clone());
        let frame = self.frame();
        let before = frame.last.take().unwrap_or_else(|| Outcome::at(&frame.input));
        let yes = before.yes.as_ref().map(|state| state.after(switch));
        frame.last = Some(Outcome { yes, no: before.either() });
    }

    fn leave_construct(&mut self, shell: bool) {
        let input = self.frame().input.clone();
        let ends = |frame: &&mut FlowFrame| {
            let is_shell = matches!(frame.scope, None | Some(Scope::Subshell | Scope::Substitution));
            if shell { is_shell } else { is_shell || frame.is_function || frame.scope == Some(Scope::Loop) }
        };
        if let Some(frame) = self.frames.iter_mut().rev().find(ends) {
            frame.exits = merge_points(&frame.exits, &input);
        }
        self.frame().last = Some(Outcome::default());
    }

    /// Ends a command that this operator follows.
    fn end_command(&mut self, join: ControlOperator) {
        // `coproc` in front of a simple command.
        let join =
            if std::mem::take(&mut self.is_function_next) { ControlOperator::Background } else { join };
        let switches = self.switches.len();
        let frame = self.frame();
        let mut outcome = frame.last.take().unwrap_or_else(|| Outcome::at(&frame.input));
        if join == ControlOperator::Pipe {
            frame.stages += 1;
            frame.stage = switches;
            let pipeline = frame.pipeline.clone();
            let switches = self.switches_since(pipeline.switches);
            self.frame().input = Outcome::at(&pipeline.input).perhaps_after(&switches).yes;
            return;
        }
        if std::mem::take(&mut frame.stages) > 0 {
            // All stages run at the same time, and the last one decides on the outcome.
            let (stage, pipeline) = (frame.stage, frame.pipeline.clone());
            outcome =
                outcome.perhaps_after(&limit_switches(self.switches[pipeline.switches..stage].to_vec()));
            let switches = self.switches_since(pipeline.switches);
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
            Some((ControlOperator::And, before)) => {
                Outcome { yes: outcome.yes, no: merge_points(&before.no, &outcome.no) }
            }
            Some((_, before)) => Outcome { yes: merge_points(&before.yes, &outcome.yes), no: outcome.no },
            None => outcome,
        };
        match join {
            ControlOperator::And => {
                frame.input.clone_from(&outcome.yes);
                frame.before = Some((join, outcome));
            }
            ControlOperator::Or => {
                frame.input.clone_from(&outcome.no);
                frame.before = Some((join, outcome));
            }
            ControlOperator::Background => self.run_in_background(&outcome),
            ControlOperator::Next | ControlOperator::Pipe => {
                // Inside a construct, a later operator may exempt it from `set -e`.
                if self.exits_on_error && is_alone && self.frames.len() == 1 {
                    outcome.no = None;
                }
                let frame = self.frame();
                frame.input = outcome.either();
                frame.outcome = outcome;
            }
        }
        self.mark_start();
    }

    /// Marks the start of a pipeline, and of a list unless a command in front decides whether the pipeline runs.
    fn mark_start(&mut self) {
        let input = self.frame().input.clone();
        let mark = FlowMark { input, switches: self.switches.len(), sites: self.sites.len() };
        let frame = self.frame();
        if frame.before.is_none() {
            frame.list = mark.clone();
        }
        frame.pipeline = mark;
    }

    /// Lets the list that has ended run at the same time as the rest of the line.
    fn run_in_background(&mut self, outcome: &Outcome) {
        let list = self.frame().list.clone();
        let switches = self.switches_since(list.switches);
        self.sites[list.sites..].iter_mut().for_each(|site| site.is_open = true);
        let input = merge_points(&list.input, &outcome.either());
        let point = Outcome::at(&input).perhaps_after(&switches);
        self.postpone_switches(switches);
        let frame = self.frame();
        frame.input = point.either();
        frame.outcome = point;
    }

    /// Lets these switches happen at any time from now on.
    fn postpone_switches(&mut self, switches: Vec<Rc<BranchSwitch>>) {
        self.pending.extend(switches);
        self.pending = limit_switches(std::mem::take(&mut self.pending));
    }
}
