//! Numbers the commands of a line while it is walked, and finds those whose exit code decides on that of the line.
//!
//! A command gets its number as soon as something of it is seen, so that the commands inside its words know it. Whether
//! a command decides is known only at the operator after it: each command starts as deciding, and operators revoke that.
//! Texts that are command lines themselves are walked after the line that contains them, when its decisions are final.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::effect::Effect;
use crate::effect::commands::{CommandInput, Line, LineCommand};
use crate::effect::git::GitSite;
use crate::grammar::{ControlOperator, Scope, StructureEvent};

/// At most this many commands that fetch, and as many that run code, are compared with each other.
const MOST_NOTED: usize = 64;

/// The commands of a line so far.
#[derive(Default)]
pub(super) struct CommandTree {
    pub(super) commands: Vec<LineCommand>,
    /// For each effect, the number of its command.
    pub(super) effect_commands: Vec<u32>,
    /// The command whose effects are reported.
    pub(super) current: u32,
    pipelines: u32,
    lists: Vec<CommandList>,
    /// The next construct is the body of a function.
    is_function_next: bool,
    /// A trap or a function may change any exit code.
    is_unreliable: bool,
    /// Commands that fetch from the network, each with whether it prints what it fetches.
    fetches: Vec<(u32, bool)>,
    /// Commands that run code which they get from another command.
    code_inputs: Vec<u32>,
    /// Commands that run a file that they read.
    scripts: Vec<u32>,
    /// Where commands run.
    pub(super) sites: Vec<(u32, GitSite)>,
    inputs: Vec<CommandInput>,
    /// Commands that run the value of a variable as code.
    variable_code: Vec<(u32, String)>,
}

/// A list of commands that is being walked: a text, or what a construct contains.
#[derive(Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about the list")]
struct CommandList {
    /// The construct or the command that contains it.
    within: Option<u32>,
    is_substituted: bool,
    /// The current command, if it has a number.
    command: Option<u32>,
    /// The current pipeline, if it has a number.
    pipeline: Option<u32>,
    /// The operator in front of the current pipeline.
    before: ControlOperator,
    is_negated: bool,
    /// The number of commands when the current stage and the current pipeline started.
    stage_start: usize,
    pipeline_start: usize,
    /// Commands before this one do not decide.
    undecided_to: usize,
    /// The next command starts a new list of `&&` and `||`.
    has_ended: bool,
    can_decide: bool,
    /// The shell may have ended with a success in front of the current command.
    may_have_exited: bool,
    has_pipefail: bool,
}

/// What the shell that runs a text does with exit codes.
#[derive(Clone, Copy, Default)]
pub(super) struct StatusRule {
    /// The exit code of the text is that of the command that runs it.
    pub(super) passes: bool,
    pub(super) has_pipefail: bool,
}

impl CommandTree {
    /// Starts a text that is a part of this command, or the line itself.
    pub(super) fn start_text(&mut self, within: Option<u32>, is_substituted: bool, rule: StatusRule) {
        let decides = within.is_none_or(|number| self.commands[number as usize].decides_status);
        self.lists.clear();
        self.is_function_next = false;
        self.open_list(CommandList {
            within,
            is_substituted,
            can_decide: rule.passes && decides,
            has_pipefail: rule.has_pipefail,
            ..CommandList::default()
        });
    }

    fn open_list(&mut self, list: CommandList) {
        let start = self.commands.len();
        self.lists.push(CommandList {
            stage_start: start,
            pipeline_start: start,
            undecided_to: start,
            ..list
        });
    }

    fn list(&mut self) -> &mut CommandList {
        self.lists.last_mut().expect("a text has started")
    }

    /// Makes the command at hand the one whose effects are reported, and returns its number.
    pub(super) fn enter_command(&mut self) -> u32 {
        self.current = match self.list().command {
            Some(number) => number,
            None => self.add_command(),
        };
        self.current
    }

    fn add_command(&mut self) -> u32 {
        if std::mem::take(&mut self.list().has_ended) {
            self.revoke_list();
        }
        let pipelines = self.pipelines;
        let number = u32::try_from(self.commands.len()).unwrap_or(u32::MAX);
        let list = self.list();
        list.command = Some(number);
        let pipeline = *list.pipeline.get_or_insert(pipelines);
        let CommandList { within, is_substituted, can_decide, may_have_exited, .. } = *list;
        self.pipelines = pipelines.max(pipeline + 1);
        let decides_status = can_decide && !may_have_exited;
        self.commands.push(LineCommand { pipeline, within, is_substituted, decides_status });
        number
    }

    /// Starts a command that the current one runs without passing on its exit code, and returns the current one.
    pub(super) fn enter_child(&mut self) -> u32 {
        let outer = self.current;
        self.current = u32::try_from(self.commands.len()).unwrap_or(u32::MAX);
        self.commands.push(LineCommand {
            pipeline: self.pipelines,
            within: Some(outer),
            is_substituted: false,
            decides_status: false,
        });
        self.pipelines += 1;
        outer
    }

    pub(super) fn note_effect(&mut self) {
        self.effect_commands.push(self.current);
    }

    pub(super) fn follow_structure(&mut self, event: StructureEvent) {
        match event {
            StructureEvent::Open(scope) => {
                let within = self.enter_command();
                let is_function = std::mem::take(&mut self.is_function_next);
                let outer = *self.list();
                let passes = matches!(scope, Scope::Subshell | Scope::Group) && !is_function;
                self.open_list(CommandList {
                    within: Some(within),
                    is_substituted: scope == Scope::Substitution,
                    can_decide: outer.can_decide && passes,
                    may_have_exited: outer.may_have_exited,
                    has_pipefail: outer.has_pipefail,
                    ..CommandList::default()
                });
            }
            StructureEvent::Close(scope) => {
                if self.lists.len() > 1
                    && let Some(inner) = self.lists.pop()
                {
                    let outer = self.list();
                    outer.may_have_exited |= inner.may_have_exited && !scope.is_process();
                    if scope == Scope::Group {
                        outer.has_pipefail = inner.has_pipefail;
                    }
                }
            }
            StructureEvent::Joined { behind, .. } => self.end_command(behind),
            StructureEvent::Negated => {
                let list = self.list();
                list.is_negated = !list.is_negated;
            }
            StructureEvent::Function => (self.is_function_next, self.is_unreliable) = (true, true),
            StructureEvent::Restart => self.is_unreliable = true,
            StructureEvent::Part(_) => {
                let list = self.list();
                (list.command, list.pipeline) = (None, None);
            }
        }
    }

    /// Ends a command that this operator follows.
    fn end_command(&mut self, behind: ControlOperator) {
        let end = self.commands.len();
        let list = self.list();
        list.command = None;
        let stage = std::mem::replace(&mut list.stage_start, end);
        if behind == ControlOperator::Pipe {
            if !list.has_pipefail {
                self.revoke_from(stage);
            }
            return;
        }
        let pipeline = std::mem::replace(&mut list.pipeline_start, end);
        list.pipeline = None;
        let before = std::mem::replace(&mut list.before, behind);
        // After `||`, the list may succeed without it.
        if std::mem::take(&mut list.is_negated) || before == ControlOperator::Or {
            self.revoke_from(pipeline);
        }
        match behind {
            ControlOperator::And | ControlOperator::Pipe => {}
            ControlOperator::Next => self.list().has_ended = true,
            ControlOperator::Or | ControlOperator::Background => self.revoke_list(),
        }
    }

    /// Lets no command of the current list decide that has ended so far.
    fn revoke_list(&mut self) {
        let end = self.commands.len();
        let from = std::mem::replace(&mut self.list().undecided_to, end);
        self.revoke_from(from);
    }

    fn revoke_from(&mut self, from: usize) {
        self.commands[from..].iter_mut().for_each(|command| command.decides_status = false);
    }

    /// The current command does not pass on the exit code of what it runs.
    pub(super) fn revoke_current(&mut self) {
        self.commands[self.current as usize].decides_status = false;
    }

    /// The shell may end here with a success.
    pub(super) fn note_exit(&mut self) {
        self.list().may_have_exited = true;
    }

    /// A trap or an alias may change any exit code of the line.
    pub(super) fn distrust_status(&mut self) {
        self.is_unreliable = true;
    }

    pub(super) fn has_pipefail(&self) -> bool {
        self.lists.last().is_some_and(|list| list.has_pipefail)
    }

    pub(super) fn set_pipefail(&mut self, is_on: bool) {
        let list = self.list();
        list.has_pipefail = is_on && list.before != ControlOperator::Or;
    }

    /// The current command fetches from the network.
    pub(super) fn note_fetch(&mut self, prints: bool) {
        if self.fetches.len() < MOST_NOTED {
            self.fetches.push((self.current, prints));
        }
    }

    /// The current command runs code that it gets from another command.
    pub(super) fn note_code_input(&mut self) {
        if self.code_inputs.len() < MOST_NOTED {
            self.code_inputs.push(self.current);
        }
    }

    /// The current command runs a file that it reads.
    pub(super) fn note_script(&mut self) {
        if self.scripts.len() < MOST_NOTED {
            self.scripts.push(self.current);
        }
    }

    /// The current command runs the value of this variable as code.
    pub(super) fn note_variable_code(&mut self, name: &str) {
        if self.variable_code.len() < MOST_NOTED {
            self.variable_code.push((self.current, name.to_owned()));
        }
    }

    /// A command reads this text from its input.
    pub(super) fn note_input(&mut self, command: u32, text: Arc<str>) {
        self.inputs.push(CommandInput { command, text });
    }

    /// Decides on all commands, after the last text has been walked.
    pub(super) fn finish(mut self, effects: Vec<Effect>) -> Line {
        if self.is_unreliable {
            self.revoke_from(0);
        }
        let Self {
            commands,
            effect_commands,
            fetches,
            code_inputs,
            scripts,
            inputs,
            variable_code,
            mut sites,
            ..
        } = self;
        sites.sort_by_key(|(number, _)| *number);
        let mut line = Line { effects, command_numbers: effect_commands, commands, sites, inputs };
        if !fetches.is_empty() {
            let fetched = find_fetched_values(&line, &fetches, &variable_code);
            find_fetched_code(&mut line, &fetches, &code_inputs, &scripts, fetched);
        }
        line
    }
}

/// The commands that run the value of a variable that another command of the line has fetched: `X=$(curl …); eval "$X"`.
fn find_fetched_values(line: &Line, fetches: &[(u32, bool)], variable_code: &[(u32, String)]) -> Vec<u32> {
    let assigns = |number: u32, wanted: &str| {
        let is_it = |effect: &Effect| matches!(effect, Effect::SetVariable { name, .. } if name == wanted);
        line.effects_of(number).any(is_it)
    };
    let is_fetched = |runner: u32, name: &str| {
        fetches.iter().any(|(fetch, prints)| {
            let assignment = line.commands[*fetch as usize].within;
            *prints && assignment.is_some_and(|number| number < runner && assigns(number, name))
        })
    };
    let runners = variable_code.iter().filter(|(runner, name)| is_fetched(*runner, name));
    runners.map(|(runner, _)| *runner).collect()
}

/// Adds an effect for each command that runs what another command of the line has fetched.
fn find_fetched_code(
    line: &mut Line,
    fetches: &[(u32, bool)],
    code_inputs: &[u32],
    scripts: &[u32],
    mut runners: Vec<u32>,
) {
    let is_fed =
        |runner: &&u32| fetches.iter().any(|(fetch, prints)| *prints && line.feeds(*fetch, **runner));
    runners.extend(code_inputs.iter().filter(is_fed).copied());
    let mut files: Vec<(u32, PathBuf)> = Vec::new();
    for (effect, number) in line.effects.iter().zip(&line.command_numbers) {
        let is_fetch = fetches.iter().any(|(fetch, _)| fetch == number);
        match effect {
            Effect::Write { path, .. } if is_fetch && files.len() < MOST_NOTED => {
                files.push((*number, path.clone()));
            }
            Effect::Place { names, to, .. } if is_fetch && files.len() < MOST_NOTED => {
                files.extend(names.iter().take(MOST_NOTED).map(|name| (*number, to.join(name))));
            }
            _ => {}
        }
    }
    let is_fetched =
        |path: &Path, number: u32| files.iter().any(|(fetch, file)| *fetch < number && file == path);
    for (effect, number) in line.effects.iter().zip(&line.command_numbers).filter(|_| !files.is_empty()) {
        let runs = match effect {
            Effect::Read { path, .. } => scripts.contains(number) && is_fetched(path, *number),
            Effect::Run { program, directory: Some(directory), .. } if program.contains('/') => {
                is_fetched(&directory.join(program), *number)
            }
            _ => false,
        };
        if runs {
            runners.push(*number);
        }
    }
    runners.sort_unstable();
    runners.dedup();
    line.effects.extend(runners.iter().map(|_| Effect::RunFetched));
    line.command_numbers.extend(runners);
}
