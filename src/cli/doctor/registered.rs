//! Where hooks are registered: what the client drops, what switches hooks off, what is there twice.

use super::report::{Finding, Group, Severity, counted};
use super::subject::{Entry, Subject, listed};
use crate::clients::{Reach, Scope, Source, Switch};
use crate::files;
use crate::text::one_line;

const LARGEST: u64 = 8 << 20;

pub(super) fn check(subject: &Subject) -> Group {
    let mut findings = Vec::new();
    for source in &subject.sources {
        findings.extend(dropped(source, subject));
        findings.extend(off(source, subject));
        findings.extend(steered(source, subject));
    }
    findings.extend(steered_here(subject));
    let own = subject.own_entries();
    if own.is_empty() {
        findings.push(Finding::error(
            "no-hooks",
            "no guard is asked here".into(),
            "no hook entry that the client takes calls Provost".into(),
            "run `provost init`".into(),
        ));
    }
    findings.extend(started_below(&own, subject));
    findings.extend(weak(&own, subject));
    findings.extend(twice(&own, subject));
    findings.extend(old_scripts(subject));
    let settings = subject.sources.iter().filter(|source| !is_plugin(source)).count();
    let plugins = subject.sources.len() - settings;
    let plugins = if plugins == 0 { String::new() } else { format!(" and {}", counted(plugins, "plugin")) };
    let calls = if own.len() == 1 { "calls" } else { "call" };
    let checked = format!(
        "{}{plugins} read; {} {calls} Provost",
        counted(settings, "settings file"),
        counted(own.len(), "entry")
    );
    Group { name: "registration", checked, findings, is_skipped: false }
}

fn is_plugin(source: &Source) -> bool {
    matches!(source.scope, Scope::Plugin { .. })
}

/// A place of which the client takes nothing.
fn dropped(source: &Source, subject: &Subject) -> Option<Finding> {
    let why = one_line(source.void.as_ref()?);
    let place = subject.place(source);
    let calls = source.hooks.iter().filter(|hook| hook.calls_provost).count();
    let lost = match calls {
        0 => String::new(),
        calls => format!(", with {} for Provost", counted(calls, "entry")),
    };
    if let Scope::Plugin { root, .. } = &source.scope {
        if root.as_os_str().is_empty() {
            let what = format!("{place} does nothing");
            let fix = "install it with the client, or take it out of the enabled plugins";
            return Some(Finding::warning("plugin-missing", what, why, fix.into()));
        }
        let what = format!("the client takes no hook of {place}{lost}");
        let fix = format!("mend {} or install the plugin again", subject.shown(root));
        return Some(Finding::error("plugin-void", what, why, fix));
    }
    let what = format!("the client drops {place} as a whole{lost}");
    if !source.settings.is_object() {
        let fix = format!("mend the JSON of {place} in an editor");
        return Some(Finding::error("not-json", what, why, fix));
    }
    let severity = if calls == 0 { Severity::Warning } else { Severity::Error };
    let fix = format!("correct that value of {place} in an editor");
    Some(Finding { severity, ..Finding::error("file-void", what, why, fix) })
}

/// A switch that keeps hooks from running.
fn off(source: &Source, subject: &Subject) -> Vec<Finding> {
    let place = subject.place(source);
    let is_managed = source.scope == Scope::Managed;
    let calls_provost = source.hooks.iter().any(|hook| hook.calls_provost);
    let mut all = subject.sources.iter();
    let has_managed = all.any(|source| source.scope == Scope::Managed && !source.hooks.is_empty());
    let mut findings = Vec::new();
    for Switch { name: switch, reach } in &source.off {
        let (id, what) = match reach {
            // What it is called is told among the variables.
            Reach::Provost => continue,
            Reach::HooksOfOthers if calls_provost => continue,
            Reach::HooksOfOthers => ("managed-only", "the client runs only the hooks of an administrator"),
            Reach::Hooks if !is_managed && has_managed => {
                ("hooks-off", "the client runs no hooks but those of an administrator")
            }
            Reach::Hooks => ("hooks-off", "the client runs no hooks"),
        };
        let fix = if is_managed {
            format!("ask the administrator of {place} to register Provost there, or to take {switch} out")
        } else {
            format!("take {switch} out of {place} in an editor")
        };
        findings.push(Finding::error(id, what.into(), format!("{place} says {switch}"), fix));
    }
    findings
}

fn steered(source: &Source, subject: &Subject) -> Vec<Finding> {
    let place = subject.place(source);
    let found = (subject.client.health.steering)(source).into_iter().map(|steering| {
        let (what, why) = if steering.silences {
            ("no guard is asked", "keeps hooks silent")
        } else {
            (
                "Provost may work otherwise in the client than here",
                "changes how hooks are started or where they look",
            )
        };
        let why = format!("`{}` in {place} {why}", one_line(&steering.name));
        let fix = format!("take it out of {place} in an editor, if nobody needs it");
        if steering.silences {
            Finding::error("environment", what.into(), why, fix)
        } else {
            Finding::warning("environment", what.into(), why, fix)
        }
    });
    found.collect()
}

fn steered_here(subject: &Subject) -> Vec<Finding> {
    let here = (subject.client.health.steering_here)().into_iter().map(|steering| {
        Finding::warning(
            "environment",
            "a client that is started from here asks no guard".into(),
            format!("the variable `{}` is set", steering.name),
            format!("start the client where it is not set: `unset {}`", steering.name),
        )
    });
    here.collect()
}

/// The client does not look for a project's settings above the directory that it is started in.
fn started_below(own: &[Entry<'_>], subject: &Subject) -> Option<Finding> {
    let is_of_project = |entry: &Entry<'_>| matches!(entry.source.scope, Scope::Project | Scope::Local);
    let is_lost = !own.is_empty() && own.iter().all(is_of_project) && subject.start != subject.project;
    let place = subject.project.display();
    is_lost.then(|| {
        Finding::warning(
            "started-below",
            "a client that is started here asks no guard".into(),
            format!("the entries are in the settings of {place}, and the client does not look above"),
            format!("start the client in {place}, or run `provost init --scope user`"),
        )
    })
}

/// Entries that cannot hold back what they should, or that the client never runs.
fn weak(own: &[Entry<'_>], subject: &Subject) -> Vec<Finding> {
    let mut findings = Vec::new();
    for entry in own {
        let place = subject.place(entry.source);
        let title = entry.title();
        if let Some((why, fix)) = (subject.client.health.weakness)(entry.hook) {
            let what = format!("the {title} entry of {place} does not hold back all that it should");
            findings.push(Finding::error("entry-weak", what, why.into(), fix.into()));
        }
        if !(subject.client.health.knows)(&entry.hook.event) {
            let event = one_line(&entry.hook.event);
            let what = format!("the client never runs an entry of {place}");
            let why = format!("it is registered for `{event}`, and no event has that name");
            findings.push(Finding::error(
                "event-unknown",
                what,
                why,
                "run `provost init`, and take it out".into(),
            ));
        }
    }
    findings
}

/// Two places that have the same guards asked.
struct Pair {
    places: [String; 2],
    events: Vec<String>,
    packs: Vec<String>,
}

impl Pair {
    fn told(self) -> Finding {
        let [first, second] = &self.places;
        let places = if first == second { format!("{first} twice") } else { format!("{first} and {second}") };
        let why = format!(
            "{places} register {}, and the client runs both: what they count, they count twice",
            listed(&self.packs)
        );
        let what = format!("guards are asked twice about one call ({})", listed(&self.events));
        let fix = "keep one: `provost uninstall` takes back what init wrote, and the client disables plugins";
        Finding::warning("twice", what, why, fix.into())
    }
}

/// Two entries that have the same guards asked about the same call: both are run, side by side.
fn twice(own: &[Entry<'_>], subject: &Subject) -> Vec<Finding> {
    let in_use = subject.packs_in_use();
    let mut pairs: Vec<Pair> = Vec::new();
    for (at, first) in own.iter().enumerate() {
        for second in &own[at + 1..] {
            if first.hook.event != second.hook.event || first.is_same(second) {
                continue;
            }
            let packs = common_packs(first, second, &in_use, subject);
            if packs.is_empty() {
                continue;
            }
            let places = [subject.place(first.source), subject.place(second.source)];
            let known = pairs.iter().position(|pair| pair.places == places);
            let at = known.unwrap_or(pairs.len());
            if known.is_none() {
                pairs.push(Pair { places, events: Vec::new(), packs: Vec::new() });
            }
            add(&mut pairs[at].events, vec![one_line(&first.hook.event)]);
            add(&mut pairs[at].packs, packs);
        }
    }
    pairs.into_iter().map(Pair::told).collect()
}

/// Adds the words that are new.
fn add(list: &mut Vec<String>, words: Vec<String>) {
    for word in words {
        if !list.contains(&word) {
            list.push(word);
        }
    }
}

/// The packs in use that both have asked about the same calls. That nobody switches the guards off may
/// be asked as often as one likes.
fn common_packs(first: &Entry<'_>, second: &Entry<'_>, in_use: &[&str], subject: &Subject) -> Vec<String> {
    let health = &subject.client.health;
    let others = subject.packs_of(second.hook);
    let mut packs = subject.packs_of(first.hook);
    packs.retain(|pack| {
        let event = first.hook.event.as_str();
        let is_asked = (subject.client.needed)(&[pack], false).iter().any(|needed| needed.event == event);
        let tools = (health.tools)(event, pack).0;
        let sees = |entry: &Entry<'_>, tool: &str| (health.lets_through)(entry.hook, tool) == Some(true);
        let meet = tools.is_empty() || tools.iter().any(|tool| sees(first, tool) && sees(second, tool));
        *pack != "self" && others.contains(pack) && in_use.contains(pack) && is_asked && meet
    });
    packs.into_iter().map(|pack| format!("the pack `{pack}`")).collect()
}

/// Scripts that Provost stands in for, still registered.
fn old_scripts(subject: &Subject) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in (subject.client.migration.files)(&subject.project) {
        let Ok(Some(bytes)) = files::read(&file, LARGEST) else { continue };
        let text = String::from_utf8_lossy(&bytes);
        let Ok(told) = (subject.client.migration.rewrite)(&text, &[]) else { continue };
        if told.removed.is_empty() {
            continue;
        }
        let call = if told.removed.len() == 1 { "calls" } else { "call" };
        findings.push(Finding::warning(
            "old-scripts",
            format!(
                "{} of {} still {call} a script of the phases",
                counted(told.removed.len(), "entry"),
                subject.shown(&file)
            ),
            "the client runs them beside Provost, and both write the same records".into(),
            "run `provost phases migrate`".into(),
        ));
    }
    findings
}
