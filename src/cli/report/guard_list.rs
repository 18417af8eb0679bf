//! The guards and rules of the configuration, so that a report can name those that never fired.

use std::path::PathBuf;

use crate::cli::CommandError;
use crate::cli::overview::Overview;
use crate::config::{self, Config};
use crate::environment::read_places;
use crate::registry::{GUARDS, RULES, guard_settings};
use crate::report::totals::KnownGuard;
use crate::rules::{Rule, RuleAction};

/// The most projects whose configuration is read.
const MOST_PROJECTS: usize = 200;

/// The guards and rules of the current project.
pub(super) fn list_here() -> Result<Vec<KnownGuard>, CommandError> {
    let overview = Overview::open_here()?;
    let on = overview.guards_on();
    Ok(list(&overview.workspace.config, |name| on.contains(&name)))
}

/// The guards and rules of several projects. Which packs are on there is unknown, so no guard is listed without a decision.
pub(super) fn list_for_projects(projects: &[PathBuf]) -> Vec<KnownGuard> {
    let places = read_places();
    let existing = projects.iter().filter(|project| project.is_dir()).take(MOST_PROJECTS);
    let read = |project: &PathBuf| {
        let layers = config::list_config_files(&places, project, project);
        let config = Config::load(&layers, guard_settings, places.kept_rules_directory().as_deref(), None);
        list(&config, |_| false)
    };
    existing.flat_map(read).collect()
}

fn list(config: &Config, is_on: impl Fn(&str) -> bool) -> Vec<KnownGuard> {
    let guards = GUARDS.iter().map(|guard| KnownGuard {
        name: guard.name.into(),
        pack: guard.pack.into(),
        purpose: guard.purpose.into(),
        mode: match () {
            () if !config.is_guard_on(guard.name) => "off",
            () if config.is_guard_watched(guard.name, guard.pack) => "watch",
            () => "enforce",
        },
        is_on: is_on(guard.name) && guard.name != RULES,
    });
    let watches_all = config.is_guard_watched(RULES, RULES);
    let is_guard_on = config.is_guard_on(RULES);
    let rule = |rule: &Rule, is_off: bool| KnownGuard {
        name: rule.full_name(),
        pack: RULES.into(),
        purpose: describe_rule(rule),
        mode: match () {
            () if is_off || !is_guard_on => "off",
            () if rule.is_watched || watches_all => "watch",
            () => "enforce",
        },
        is_on: !is_off && is_guard_on,
    };
    let rules = config.rules.rules.iter().map(|known| rule(known, false));
    let off = config.rules.off.iter().map(|known| rule(known, true));
    guards.chain(rules).chain(off).collect()
}

/// What a rule does, with the reason that it gives.
fn describe_rule(rule: &Rule) -> String {
    let name = rule.action.name();
    match &rule.action {
        RuleAction::Deny(why) | RuleAction::Ask(why) | RuleAction::Warn(why) => format!("{name}: {why}"),
        RuleAction::Need(_) | RuleAction::Run { .. } => name.to_owned(),
    }
}
