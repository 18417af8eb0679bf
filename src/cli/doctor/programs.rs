//! The programs that must exist: Provost as the entries call it, the client, the reviewer.

use std::path::{Path, PathBuf};

use super::report::{CheckGroup, DoctorFinding, format_count};
use super::sandbox::DoctorSandbox;
use crate::cli::overview::Overview;
use crate::cli::overview::activation::PLAN_GATE;
use crate::clients::HookProgram;
use crate::config::settings;
use crate::registry::PACKS;
use crate::review_verdict::NoAnswer;
use crate::reviewer;
use crate::text::make_one_line;
use provost_files as files;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Without a sandbox no program is started, and versions stay unknown.
pub(super) fn check(overview: &Overview, sandbox: Option<&DoctorSandbox>) -> CheckGroup {
    let (mut findings, provost) = check_provost(overview, sandbox);
    let (finding, client) = check_client(overview, sandbox);
    findings.extend(finding);
    findings.extend(check_reviewer(overview));
    CheckGroup::new("programs", format!("{provost}, {client}"), findings)
}

/// Provost as the entries call it.
fn check_provost(overview: &Overview, sandbox: Option<&DoctorSandbox>) -> (Vec<DoctorFinding>, String) {
    let mut found: Vec<(PathBuf, String)> = Vec::new();
    for entry in overview.provost_entries() {
        if let Some(HookProgram::Found(path)) = overview.find_program(&entry)
            && !found.iter().any(|(known, _)| files::is_same_file(known, &path))
        {
            found.push((path, overview.name_source(entry.source)));
        }
    }
    let mut findings = Vec::new();
    for (path, place) in found.iter().filter(|_| sandbox.is_some()) {
        let output = sandbox.and_then(|sandbox| sandbox.ask_version(path)).unwrap_or_default();
        let path = overview.short_path(path);
        let (what, why) = match output.strip_prefix("provost ").map(make_one_line) {
            Some(version) if version == VERSION => continue,
            Some(version) => (
                format!("{place} calls another version of Provost"),
                format!("{path} is {version}, and this is {VERSION}"),
            ),
            None => (
                format!("what {place} calls may not be Provost"),
                format!("{path} does not print its version"),
            ),
        };
        let fix = "install one version in both places, or run `provost init`";
        findings.push(DoctorFinding::warning("other-version", what, why, fix));
    }
    if let [(first, _), (second, place), ..] = found.as_slice()
        && !is_copy(first, second)
    {
        let (first, second) = (overview.short_path(first), overview.short_path(second));
        findings.push(DoctorFinding::warning(
            "two-programs",
            "entries call different programs",
            format!("one calls {first}, and {place} calls {second}"),
            "keep one program, and run `provost init`",
        ));
    }
    let checked = match found.as_slice() {
        [] => "no program of Provost in the entries".to_owned(),
        [(one, _)] if sandbox.is_none() => format!("Provost as {}", overview.short_path(one)),
        [(one, _)] => format!("Provost {VERSION} as {}", overview.short_path(one)),
        more => format_count(more.len(), "program of Provost"),
    };
    (findings, checked)
}

/// Whether two programs are the same bytes.
fn is_copy(first: &Path, second: &Path) -> bool {
    const LARGEST: u64 = 64 << 20;
    let read = |path| files::read_file(path, LARGEST).ok().flatten();
    read(first).is_some_and(|bytes| read(second).is_some_and(|other| bytes == other))
}

fn check_client(overview: &Overview, sandbox: Option<&DoctorSandbox>) -> (Option<DoctorFinding>, String) {
    let health = overview.client.health();
    let name = overview.client.facts.reviewer().program;
    let Ok(program) = reviewer::find_client_program(&overview.client.facts, &overview.workspace.places)
    else {
        let finding = DoctorFinding::warning(
            "client-missing",
            format!("the version of the client `{name}` is unknown"),
            "it is not on the PATH",
            "install it, or run the doctor where it is on the PATH",
        );
        return (Some(finding), format!("no client `{name}`"));
    };
    let Some(sandbox) = sandbox else { return (None, format!("client `{name}`, not started")) };
    let output = sandbox.ask_version(&program).unwrap_or_default();
    let program = overview.short_path(&program);
    let join = |version: [u32; 3]| version.map(|part| part.to_string()).join(".");
    let Some(version) = (health.parse_version)(&output) else {
        let finding = DoctorFinding::warning(
            "client-unknown",
            "the version of the client is unknown",
            format!("{program} does not print it"),
            format!("make sure that it is at least {}", join(health.oldest_version)),
        );
        return (Some(finding), format!("client `{name}` of an unknown version"));
    };
    let must_block = overview.provost_entries().iter().any(|entry| entry.hook.blocks_on_failure);
    let finding = if version < health.oldest_version {
        let why = format!(
            "{program} is {}, and it starts programs with arguments only since {}",
            join(version),
            join(health.oldest_version)
        );
        let what = "the client is too old for the hook entries";
        Some(DoctorFinding::error("client-old", what, why, "update the client"))
    } else if must_block && version < health.blocks_since {
        let why = format!(
            "{program} is {}, and it knows `{}` only since {}",
            join(version),
            health.block_on_failure,
            join(health.blocks_since)
        );
        let what = "the client continues if Provost cannot run, although the entries say that it should not";
        Some(DoctorFinding::warning("client-goes-on", what, why, "update the client"))
    } else {
        None
    };
    (finding, format!("client `{name}` {}", join(version)))
}

/// A reviewer that a pack in use needs, and that is missing or was replaced.
fn check_reviewer(overview: &Overview) -> Option<DoctorFinding> {
    let workspace = &overview.workspace;
    let in_use = overview.packs_in_use();
    let assesses = workspace.config.word(settings::PLAN_GATE_ASSESS) == "exit";
    let needs_reviewer = |pack: &str| pack == "review-loop" || pack == PLAN_GATE && assesses;
    let mut packs = PACKS.iter().map(|pack| pack.name);
    let pack = packs.find(|pack| in_use.contains(pack) && needs_reviewer(pack))?;
    let root = &overview.settings_root;
    let silence =
        reviewer::find_reviewer(&workspace.config, &overview.client.facts, &workspace.places, root).err()?;
    let what = format!("the pack `{pack}` gets no review");
    if let NoAnswer::Changed(program) = &silence {
        return Some(DoctorFinding::error(
            "reviewer-changed",
            what,
            format!("the reviewer `{program}` has changed since Provost remembered it, so it is not started"),
            "if you updated it yourself, run `provost init`; otherwise find out who did, and install it again",
        ));
    }
    let why = match silence {
        NoAnswer::NotFound(name) => format!("there is no program `{}`", make_one_line(&name)),
        other => make_one_line(&other.to_string()),
    };
    let fix = "install it, or name another one as `reviewer.command` in provost.toml";
    Some(DoctorFinding::error("reviewer-missing", what, why, fix))
}
