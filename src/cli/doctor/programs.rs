//! The programs that have to be there: Provost as the entries call it, the client, the reviewer.

use std::path::{Path, PathBuf};

use super::report::{Finding, Group, counted};
use super::stage::Stage;
use super::subject::Subject;
use crate::clients::Program;
use crate::config::settings;
use crate::files;
use crate::registry::PACKS;
use crate::reviewer::{self, Silence};
use crate::text::one_line;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Without a stage no program is started, so that versions stay unknown.
pub(super) fn check(subject: &Subject, stage: Option<&Stage>) -> Group {
    let mut findings = Vec::new();
    let (own, told) = provost(subject, stage);
    findings.extend(own);
    let (client, version) = client(subject, stage);
    findings.extend(client);
    findings.extend(missing_reviewer(subject));
    Group { name: "programs", checked: format!("{told}, {version}"), findings, is_skipped: false }
}

/// Provost as the entries call it.
fn provost(subject: &Subject, stage: Option<&Stage>) -> (Vec<Finding>, String) {
    let mut findings = Vec::new();
    let mut found: Vec<(PathBuf, String)> = Vec::new();
    for entry in subject.own_entries() {
        let scope = &entry.source.scope;
        match (subject.client.health.program)(entry.hook, scope, &subject.project, &subject.places) {
            Some(Program::Found(path)) if !found.iter().any(|(known, _)| files::same(known, &path)) => {
                found.push((path, subject.place(entry.source)));
            }
            _ => {}
        }
    }
    for (path, place) in &found {
        let Some(stage) = stage else { break };
        let version = stage.version(path).unwrap_or_default();
        let version = version.trim().strip_prefix("provost ").map(one_line);
        if version.as_deref() == Some(VERSION) {
            continue;
        }
        let (what, why) = match version {
            Some(version) => (
                format!("{place} calls another version of Provost"),
                format!("{} is {version}, and this is {VERSION}", subject.shown(path)),
            ),
            None => (
                format!("what {place} calls may not be Provost"),
                format!("{} does not tell its version", subject.shown(path)),
            ),
        };
        let fix = "install one version in both places, or run `provost init`".to_owned();
        findings.push(Finding::warning("other-version", what, why, fix));
    }
    if let [(first, _), (second, place), ..] = found.as_slice()
        && !is_copy(first, second)
    {
        findings.push(Finding::warning(
            "two-programs",
            "entries call different programs".into(),
            format!("one calls {}, and {place} calls {}", subject.shown(first), subject.shown(second)),
            "keep one program, and run `provost init`".into(),
        ));
    }
    let told = match found.as_slice() {
        [] => "no program of Provost in the entries".to_owned(),
        [(one, _)] if stage.is_none() => format!("Provost as {}", subject.shown(one)),
        [(one, _)] => format!("Provost {VERSION} as {}", subject.shown(one)),
        more => counted(more.len(), "program of Provost"),
    };
    (findings, told)
}

/// Whether two programs are the same bytes.
fn is_copy(first: &Path, second: &Path) -> bool {
    const LARGEST: u64 = 64 << 20;
    let read = |path| files::read(path, LARGEST).ok().flatten();
    read(first).is_some_and(|bytes| read(second).is_some_and(|other| bytes == other))
}

fn client(subject: &Subject, stage: Option<&Stage>) -> (Option<Finding>, String) {
    let health = &subject.client.health;
    let name = subject.client.reviewer.program;
    let Ok(program) = reviewer::own_program(subject.client) else {
        let finding = Finding::warning(
            "client-missing",
            format!("the version of the client `{name}` is not known"),
            "it is not on the PATH".into(),
            "install it, or run the doctor where it is found".into(),
        );
        return (Some(finding), format!("no client `{name}`"));
    };
    let Some(stage) = stage else { return (None, format!("client `{name}`, not started")) };
    let printed = stage.version(&program).unwrap_or_default();
    let shown = |version: [u32; 3]| version.map(|part| part.to_string()).join(".");
    let oldest = shown(health.oldest);
    match (health.version)(&printed) {
        Some(version) if version >= health.oldest => {
            let says_block = subject.own_entries().iter().any(|entry| entry.hook.blocks_on_failure);
            let finding = (says_block && version < health.blocks_since).then(|| {
                Finding::warning(
                    "client-goes-on",
                    "the client goes on where Provost cannot be run, against what the entries say".into(),
                    format!(
                        "{} is {}, and only since {} it knows `{}`",
                        subject.shown(&program),
                        shown(version),
                        shown(health.blocks_since),
                        health.block_on_failure
                    ),
                    "update the client".into(),
                )
            });
            (finding, format!("client `{name}` {}", shown(version)))
        }
        Some(version) => {
            let finding = Finding::error(
                "client-old",
                "the client is too old for the hook entries".into(),
                format!(
                    "{} is {}, and only since {oldest} it starts programs with arguments",
                    subject.shown(&program),
                    shown(version)
                ),
                "update the client".into(),
            );
            (Some(finding), format!("client `{name}` {}", shown(version)))
        }
        None => {
            let finding = Finding::warning(
                "client-unknown",
                "the version of the client is not known".into(),
                format!("{} does not tell it", subject.shown(&program)),
                format!("make sure that it is at least {oldest}"),
            );
            (Some(finding), format!("client `{name}` of an unknown version"))
        }
    }
}

/// A reviewer that guards in use would start, and that is not there, or not the one that was remembered.
fn missing_reviewer(subject: &Subject) -> Option<Finding> {
    let in_use = subject.packs_in_use();
    let assesses = subject.config.word(settings::PLAN_GATE_ASSESS) == "exit";
    let needs = |pack: &str| match pack {
        "review-loop" => true,
        "plan-gate" => assesses,
        _ => false,
    };
    let pack = PACKS.iter().map(|pack| pack.name).find(|pack| in_use.contains(pack) && needs(pack))?;
    let silence = reviewer::program(&subject.config, subject.client, &subject.project).err()?;
    if let Silence::Changed(program) = &silence {
        return Some(Finding::error(
            "reviewer-changed",
            format!("the pack `{pack}` gets no review"),
            format!("the reviewer `{program}` has changed since Provost remembered it, so it is not started"),
            "if you updated it yourself, run `provost init`; otherwise find out who did, and install it again"
                .into(),
        ));
    }
    let why = match silence {
        Silence::NotFound(name) => format!("there is no program `{}` to ask", one_line(&name)),
        other => one_line(&other.to_string()),
    };
    Some(Finding::error(
        "reviewer-missing",
        format!("the pack `{pack}` gets no review"),
        why,
        "install it, or name another one as `reviewer.command` in provost.toml".into(),
    ))
}
