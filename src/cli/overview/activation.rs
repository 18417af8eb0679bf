//! Whether the client calls Provost here, and which packs judge.
//!
//! Two things must be true for a pack to judge: a hook entry asks its guards, and the project has what the pack is
//! about. An entry has no effect in a file that the client rejects, or while hooks are switched off.

use super::Overview;
use crate::clients::{HookSource, RegisteredHook, SettingsScope};
use crate::config::settings;
use crate::phases::workflow_context;
use crate::registry::{GUARDS, Guard, PACKS, RULES, WORKFLOW, is_switched_on};
use crate::review_loop::plan;
use crate::text::{make_one_line, truncate_utf16};

/// The pack that protects Provost itself.
pub(crate) const SELF: &str = "self";
pub(crate) const PLAN_GATE: &str = "plan-gate";

/// Whether the client calls Provost.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum HookState {
    Active,
    /// No file registers Provost, but the journal has lines. A session can be given plugins on its command line,
    /// and only the journal shows these.
    OnlyInJournal,
    Missing,
    /// A settings file keeps all hooks from running.
    SwitchedOff,
    /// The client rejects the file or plugin that may register Provost.
    Rejected,
}

/// Whether a pack judges here, and why.
pub(crate) struct PackActivation {
    pub(crate) name: &'static str,
    pub(crate) is_on: bool,
    pub(crate) why: String,
}

/// Evidence in the project that somebody works with a pack.
#[derive(PartialEq, Eq)]
pub(crate) enum PackSign {
    Always,
    Setting(&'static str),
    Agent(String),
    Folder(&'static str),
    Rules(usize),
}

impl PackSign {
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Always => "always".into(),
            Self::Setting(name) => format!("`{name}` is set"),
            Self::Agent(name) => format!("there is an agent `{}`", make_one_line(name)),
            Self::Folder(name) => format!("there is `{name}`"),
            Self::Rules(1) => "there is 1 rule".into(),
            Self::Rules(count) => format!("there are {count} rules"),
        }
    }
}

impl Overview {
    pub(crate) fn hook_state(&self) -> HookState {
        let sources = self.sources();
        let is_silenced = |source: &HookSource| sources.iter().any(|other| other.silences(source));
        let calls = |source: &HookSource| source.hooks.iter().any(|hook| hook.calls_provost);
        // A settings file that is not JSON may contain anything.
        let may_call = |source: &HookSource| {
            calls(source)
                || !matches!(source.scope, SettingsScope::Plugin { .. }) && !source.settings.is_object()
        };
        if sources
            .iter()
            .any(|source| source.ignored_because.is_none() && calls(source) && !is_silenced(source))
        {
            HookState::Active
        } else if is_silenced(&HookSource::default()) {
            HookState::SwitchedOff
        } else if sources.iter().any(|source| source.ignored_because.is_some() && may_call(source)) {
            HookState::Rejected
        } else if self.readable_journal().is_some_and(|journal| !journal.sessions.is_empty()) {
            HookState::OnlyInJournal
        } else {
            HookState::Missing
        }
    }

    /// The guards that judge here: not switched off, and their pack is on.
    pub(crate) fn guards_on(&self) -> Vec<&'static str> {
        let is_on = |guard: &&Guard| {
            let mut packs = self.packs().iter();
            is_switched_on(guard, &self.workspace.config)
                && packs.any(|pack| pack.is_on && pack.name == guard.pack)
        };
        GUARDS.iter().filter(is_on).map(|guard| guard.name).collect()
    }

    /// Every pack, in the order of the registry.
    pub(crate) fn packs(&self) -> &[PackActivation] {
        self.packs.get_or_init(|| {
            let activation = |name| {
                let (is_on, why) = match self.activate_pack(name) {
                    Ok(why) => (true, why),
                    Err(why) => (false, why),
                };
                PackActivation { name, is_on, why }
            };
            PACKS.iter().map(|pack| activation(pack.name)).collect()
        })
    }

    /// Why a pack is on, or as an error why it is off.
    fn activate_pack(&self, name: &str) -> Result<String, String> {
        const LONGEST_AGENTS: usize = 200;
        let config = &self.workspace.config;
        if GUARDS.iter().all(|guard| guard.pack != name || !is_switched_on(guard, config)) {
            return Err("all its guards are switched off".into());
        }
        let entries = self.provost_entries();
        let asks_pack = |hook: &RegisteredHook| {
            // An entry for prompts asks `self` only so that other packs can be overridden.
            let is_for_overrides = name == SELF && hook.event == self.client.health().prompt_event;
            !is_for_overrides && (hook.packs.is_empty() || hook.packs.iter().any(|pack| pack == name))
        };
        let is_asked = entries.is_empty() || entries.iter().any(|entry| asks_pack(entry.hook));
        let is_set = config.is_switched_on(settings::PLAN_GATE_ENABLED);
        match name {
            PLAN_GATE if is_set && is_asked => Ok(PackSign::Setting(settings::PLAN_GATE_ENABLED).describe()),
            PLAN_GATE if self.is_plan_gate_named() => Ok("a hook entry names it".into()),
            PLAN_GATE if !is_set => {
                Err(format!("`{}` is not set, and no hook entry names it", settings::PLAN_GATE_ENABLED))
            }
            SELF if !is_asked => Err("no hook entry asks it about tool calls".into()),
            _ if !is_asked => Err("the hook entries name other packs".into()),
            "planner" => match config.words(settings::PLANNER_AGENTS).join(", ") {
                agents if agents.is_empty() => Err("`planner.agents` names no agent".into()),
                agents => {
                    Ok(format!("in the agents {}", truncate_utf16(&make_one_line(&agents), LONGEST_AGENTS)))
                }
            },
            "review-loop" if plan::has_plans(&self.cwd, &self.workspace) => {
                Ok(PackSign::Folder(plan::PLANS).describe())
            }
            "review-loop" => Err(format!("there is no `{}` here or above", plan::PLANS)),
            WORKFLOW if config.uses_workflows() => Ok(self.describe_workflows()),
            WORKFLOW => Err(format!("`{}` names no workflow", settings::WORKFLOW_USE)),
            "phases" if !matches!(self.workflow(), Ok(None)) => {
                Ok(PackSign::Folder(workflow_context::WORKFLOW_FOLDER).describe())
            }
            "phases" => Err(format!("there is no `{}` in this project", workflow_context::WORKFLOW_FOLDER)),
            RULES if config.rules.rules.is_empty() => Err("there are no rules in `provost.toml`".into()),
            RULES => Ok(PackSign::Rules(config.rules.rules.len()).describe()),
            _ => Ok(PackSign::Always.describe()),
        }
    }

    /// The packs that are on because a hook entry names them, and not by a setting.
    pub(crate) fn packs_only_named(&self) -> Vec<String> {
        let is_named = self.is_plan_gate_named();
        is_named.then(|| PLAN_GATE.to_owned()).into_iter().collect()
    }

    pub(super) fn is_plan_gate_on(&self) -> bool {
        self.workspace.config.is_switched_on(settings::PLAN_GATE_ENABLED) || self.is_plan_gate_named()
    }

    /// Whether a hook entry names the plan gate, or was seen to ask it.
    fn is_plan_gate_named(&self) -> bool {
        self.is_named_by_entry(PLAN_GATE)
            || self.readable_journal().is_some_and(|journal| journal.has_plan_gate)
    }

    fn is_named_by_entry(&self, name: &str) -> bool {
        self.provost_entries().iter().any(|entry| entry.hook.packs.iter().any(|pack| pack == name))
    }

    fn describe_workflows(&self) -> String {
        const LONGEST_NAMES: usize = 200;
        let names = self.workspace.config.words(settings::WORKFLOW_USE).join(", ");
        format!(
            "`{}` names {}",
            settings::WORKFLOW_USE,
            truncate_utf16(&make_one_line(&names), LONGEST_NAMES)
        )
    }

    /// What shows that somebody works with this pack in the project.
    pub(crate) fn find_sign(&self, pack: &str) -> Option<PackSign> {
        let config = &self.workspace.config;
        let has_folder = |folder: &'static str| {
            let places = [&self.settings_root, &self.workspace.project];
            places.iter().any(|place| place.join(folder).is_dir()).then_some(PackSign::Folder(folder))
        };
        match pack {
            SELF => Some(PackSign::Always),
            PLAN_GATE => config
                .is_switched_on(settings::PLAN_GATE_ENABLED)
                .then_some(PackSign::Setting(settings::PLAN_GATE_ENABLED)),
            "planner" => {
                let agents = config.words(settings::PLANNER_AGENTS);
                let files = self.client.health().list_agent_files;
                let is_described = |name: &&String| {
                    let files = files(name, &self.settings_root, &self.workspace.places);
                    files.iter().any(|file| file.is_file())
                };
                let is_set =
                    || config.configured_value(settings::PLANNER_AGENTS).is_some() && !agents.is_empty();
                let agent = agents.iter().find(is_described).map(|name| PackSign::Agent(name.clone()));
                agent.or_else(|| is_set().then_some(PackSign::Setting(settings::PLANNER_AGENTS)))
            }
            "review-loop" => has_folder(plan::PLANS),
            "phases" => has_folder(workflow_context::WORKFLOW_FOLDER),
            WORKFLOW => config.uses_workflows().then_some(PackSign::Setting(settings::WORKFLOW_USE)),
            RULES => Some(config.rules.rules.len()).filter(|count| *count > 0).map(PackSign::Rules),
            _ => None,
        }
    }

    /// The packs that somebody works with here, so that their entries must be complete.
    pub(crate) fn packs_in_use(&self) -> Vec<&'static str> {
        let is_in_use = |name: &&str| match (*name, self.find_sign(name)) {
            (SELF, _) => !self.is_only_for_overrides(name),
            ("planner", Some(PackSign::Setting(_))) | (PLAN_GATE | "planner", None) => {
                self.is_named_by_entry(name)
            }
            (_, sign) => sign.is_some(),
        };
        PACKS.iter().map(|pack| pack.name).filter(is_in_use).collect()
    }

    /// Whether entries ask a pack about nothing but prompts, which is how a user overrides another pack.
    fn is_only_for_overrides(&self, pack: &str) -> bool {
        let entries = self.provost_entries();
        let mut pack_entries =
            entries.iter().filter(|entry| self.packs_of_hook(entry.hook).contains(&pack)).peekable();
        pack_entries.peek().is_some()
            && pack_entries.all(|entry| entry.hook.event == self.client.health().prompt_event)
    }
}
