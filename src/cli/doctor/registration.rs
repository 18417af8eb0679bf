//! Where hooks are registered: what the client ignores, what switches hooks off, what is registered twice.

use super::report::{CheckGroup, DoctorFinding, Severity, format_count, join_words};
use crate::cli::overview::activation::SELF;
use crate::cli::overview::registrations::LocatedHook;
use crate::cli::overview::{Overview, add_new};
use crate::clients::{HookSource, HookSwitch, SettingsScope, SwitchReach};
use crate::registry;
use crate::text::make_one_line;
use provost_files as files;

const LARGEST_SETTINGS: u64 = 8 << 20;

pub(super) fn check(overview: &Overview) -> CheckGroup {
    let sources = overview.sources();
    let mut findings = Vec::new();
    for source in sources {
        findings.extend(find_ignored_source(source, overview));
        findings.extend(find_switches(source, overview));
        findings.extend(find_variables(source, overview));
    }
    let here = (overview.client.health().find_steering_variables)().into_iter().map(|variable| {
        DoctorFinding::warning(
            "environment",
            "a client that is started from here asks no guard",
            format!("the variable `{}` is set", variable.name),
            format!("start the client without it: `unset {}`", variable.name),
        )
    });
    findings.extend(here);
    let own = overview.provost_entries();
    if own.is_empty() {
        let why = "no hook entry that the client accepts calls Provost";
        findings.push(DoctorFinding::error("no-hooks", "no guard is asked here", why, "run `provost init`"));
    }
    findings.extend(find_unread_settings(&own, overview));
    findings.extend(find_weak_entries(&own, overview));
    findings.extend(find_duplicates(&own, overview));
    findings.extend(find_old_scripts(overview));
    let plugins =
        sources.iter().filter(|source| matches!(source.scope, SettingsScope::Plugin { .. })).count();
    let files = format_count(sources.len() - plugins, "settings file");
    let plugins =
        if plugins == 0 { String::new() } else { format!(" and {}", format_count(plugins, "plugin")) };
    let call = if own.len() == 1 { "calls" } else { "call" };
    let checked = format!("{files}{plugins} read; {} {call} Provost", format_count(own.len(), "entry"));
    CheckGroup::new("registration", checked, findings)
}

/// A file or plugin that the client ignores.
fn find_ignored_source(source: &HookSource, overview: &Overview) -> Option<DoctorFinding> {
    let why = make_one_line(source.ignored_because.as_ref()?);
    let place = overview.name_source(source);
    let calls = source.hooks.iter().filter(|hook| hook.calls_provost).count();
    let lost = match calls {
        0 => String::new(),
        calls => format!(", with {} for Provost", format_count(calls, "entry")),
    };
    if let SettingsScope::Plugin { root, .. } = &source.scope {
        if root.as_os_str().is_empty() {
            let what = format!("{place} does nothing");
            let fix = "install it with the client, or remove it from the enabled plugins";
            return Some(DoctorFinding::warning("plugin-missing", what, why, fix));
        }
        let what = format!("the client uses no hook of {place}{lost}");
        let fix = format!("fix {} or install the plugin again", overview.short_path(root));
        return Some(DoctorFinding::error("plugin-void", what, why, fix));
    }
    let what = format!("the client ignores all of {place}{lost}");
    if !source.settings.is_object() {
        return Some(DoctorFinding::error(
            "not-json",
            what,
            why,
            format!("fix the JSON of {place} in an editor"),
        ));
    }
    let severity = if calls == 0 { Severity::Warning } else { Severity::Error };
    let fix = format!("correct that value of {place} in an editor");
    Some(DoctorFinding { severity, ..DoctorFinding::error("file-void", what, why, fix) })
}

/// Switches in a settings file that keep hooks from running.
fn find_switches(source: &HookSource, overview: &Overview) -> Vec<DoctorFinding> {
    let place = overview.name_source(source);
    let is_managed = source.scope == SettingsScope::Managed;
    let calls_provost = source.hooks.iter().any(|hook| hook.calls_provost);
    let mut sources = overview.sources().iter();
    let has_managed =
        sources.any(|source| source.scope == SettingsScope::Managed && !source.hooks.is_empty());
    let mut findings = Vec::new();
    for HookSwitch { name: switch, reach } in &source.off_switches {
        let (id, what) = match reach {
            // This switch is reported with the other variables.
            SwitchReach::Provost => continue,
            SwitchReach::UnmanagedHooks if calls_provost => continue,
            SwitchReach::UnmanagedHooks => {
                ("managed-only", "the client runs only the hooks of an administrator")
            }
            SwitchReach::Hooks if !is_managed && has_managed => {
                ("hooks-off", "the client runs no hooks but those of an administrator")
            }
            SwitchReach::Hooks => ("hooks-off", "the client runs no hooks"),
        };
        let fix = if is_managed {
            format!("ask the administrator of {place} to register Provost there, or to remove {switch}")
        } else {
            format!("remove {switch} from {place} in an editor")
        };
        findings.push(DoctorFinding::error(id, what, format!("{place} sets {switch}"), fix));
    }
    findings
}

/// Variables of a settings file that silence hooks or change what they do.
fn find_variables(source: &HookSource, overview: &Overview) -> Vec<DoctorFinding> {
    let place = overview.name_source(source);
    let find = |variable: crate::clients::SteeringValue| {
        let name = make_one_line(&variable.name);
        let fix = format!("remove it from {place} in an editor, if nobody needs it");
        if variable.silences {
            let why = format!("`{name}` in {place} silences hooks");
            return DoctorFinding::error("environment", "no guard is asked", why, fix);
        }
        let why = format!("`{name}` in {place} changes how hooks are started or where they look");
        let what = "Provost may behave differently in the client than here";
        DoctorFinding::warning("environment", what, why, fix)
    };
    (overview.client.health().find_steering)(source).into_iter().map(find).collect()
}

/// Project settings that a client does not read if it is started in the current directory.
fn find_unread_settings(own: &[LocatedHook<'_>], overview: &Overview) -> Option<DoctorFinding> {
    let is_of_project =
        |entry: &LocatedHook<'_>| matches!(entry.source.scope, SettingsScope::Project | SettingsScope::Local);
    let is_unread =
        !own.is_empty() && own.iter().all(is_of_project) && overview.cwd != overview.settings_root;
    let place = overview.settings_root.display();
    is_unread.then(|| {
        DoctorFinding::warning(
            "started-below",
            "a client that is started here asks no guard",
            format!("the entries are in the settings of {place}, and the client does not look above"),
            format!("start the client in {place}, or run `provost init --scope user`"),
        )
    })
}

/// Entries that cannot block what they should, or that the client never runs.
fn find_weak_entries(own: &[LocatedHook<'_>], overview: &Overview) -> Vec<DoctorFinding> {
    let health = overview.client.health();
    let mut findings = Vec::new();
    for entry in own {
        let place = overview.name_source(entry.source);
        if let Some((why, fix)) = (health.find_weakness)(entry.hook) {
            let what = format!("{} does not block everything that it should", overview.name_entry(entry));
            findings.push(DoctorFinding::error("entry-weak", what, why, fix));
        }
        if !(health.is_event)(&entry.hook.event) {
            let event = make_one_line(&entry.hook.event);
            findings.push(DoctorFinding::error(
                "event-unknown",
                format!("the client never runs an entry of {place}"),
                format!("it is registered for `{event}`, and no event has that name"),
                "run `provost init`, and remove the entry",
            ));
        }
    }
    findings
}

/// Two places that ask the same guards.
struct DuplicatePlaces {
    places: [String; 2],
    events: Vec<String>,
    packs: Vec<String>,
}

impl DuplicatePlaces {
    fn into_finding(self) -> DoctorFinding {
        let [first, second] = &self.places;
        let places = if first == second { format!("{first} twice") } else { format!("{first} and {second}") };
        let why = format!(
            "{places} register {}, and the client runs both, so test runs count twice",
            join_words(&self.packs)
        );
        let what = format!("guards are asked twice about one call ({})", join_words(&self.events));
        let fix = "keep one: `provost uninstall` removes what init wrote, and the client can disable plugins";
        DoctorFinding::warning("twice", what, why, fix)
    }
}

/// Entries that ask the same guards about the same call: the client runs both, side by side.
fn find_duplicates(own: &[LocatedHook<'_>], overview: &Overview) -> Vec<DoctorFinding> {
    let in_use = overview.packs_in_use();
    let mut pairs: Vec<DuplicatePlaces> = Vec::new();
    for (at, first) in own.iter().enumerate() {
        for second in &own[at + 1..] {
            if first.hook.event != second.hook.event || first.is_same(second) {
                continue;
            }
            let packs = find_common_packs(first, second, &in_use, overview);
            if packs.is_empty() {
                continue;
            }
            let places = [first, second].map(|entry| overview.name_source(entry.source));
            let at = pairs.iter().position(|pair| pair.places == places).unwrap_or_else(|| {
                pairs.push(DuplicatePlaces { places, events: Vec::new(), packs: Vec::new() });
                pairs.len() - 1
            });
            add_new(&mut pairs[at].events, [make_one_line(&first.hook.event)]);
            add_new(&mut pairs[at].packs, packs);
        }
    }
    pairs.into_iter().map(DuplicatePlaces::into_finding).collect()
}

/// The packs in use that both entries ask about the same calls. `self` counts nothing, so it may be asked twice.
fn find_common_packs(
    first: &LocatedHook<'_>,
    second: &LocatedHook<'_>,
    in_use: &[&str],
    overview: &Overview,
) -> Vec<String> {
    let event = first.hook.event.as_str();
    let health = overview.client.health();
    let others = overview.packs_of_hook(second.hook);
    let is_common = |pack: &&str| {
        let needed =
            (overview.client.installation().list_needed_entries)(&registry::list_guards_in(&[pack]), false);
        let tools = (health.list_judged_tools)(event, pack).0;
        let sees =
            |entry: &LocatedHook<'_>, tool: &str| (health.matches_tool)(entry.hook, tool) == Some(true);
        *pack != SELF
            && others.contains(pack)
            && in_use.contains(pack)
            && needed.iter().any(|needed| needed.event == event)
            && (tools.is_empty() || tools.iter().any(|tool| sees(first, tool) && sees(second, tool)))
    };
    let packs = overview.packs_of_hook(first.hook).into_iter().filter(is_common);
    packs.map(|pack| format!("the pack `{pack}`")).collect()
}

/// Scripts that Provost replaces, and that are still registered.
fn find_old_scripts(overview: &Overview) -> Vec<DoctorFinding> {
    let mut findings = Vec::new();
    for file in (overview.client.migration().list_settings_files)(&overview.settings_root) {
        let Ok(Some(bytes)) = files::read_file(&file, LARGEST_SETTINGS) else { continue };
        let text = String::from_utf8_lossy(&bytes);
        let Ok(migrated) = (overview.client.migration().replace_scripts)(&text, &[]) else { continue };
        let count = migrated.removed.len();
        if count == 0 {
            continue;
        }
        let call = if count == 1 { "calls" } else { "call" };
        findings.push(DoctorFinding::warning(
            "old-scripts",
            format!(
                "{} of {} still {call} a script of the phases",
                format_count(count, "entry"),
                overview.short_path(&file)
            ),
            "the client runs them beside Provost, and both write the same records",
            "run `provost phases migrate`",
        ));
    }
    findings
}
