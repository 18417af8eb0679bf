//! The set: a home and a project that belong to this run alone.
//!
//! The environment of the client is built from nothing. A rehearsal that sees the person's own
//! settings, keys or plugins proves nothing, and one that could change them is dangerous.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::error::{Error, Result};
use crate::hooks::{Recorder, holds_hooks};
use crate::outside::Outside;
use crate::scenario::{Content, HookEntry, Scenario, Scope, place};
use crate::variables::Variables;

/// The directories of one run. They go when it goes, unless it is kept.
#[derive(Debug)]
pub(crate) struct Scenery {
    /// The same directory as `dir`, without the links in its name.
    pub(crate) root: PathBuf,
    dir: Option<TempDir>,
}

impl Scenery {
    pub(crate) fn new(keep: bool) -> Result<Self> {
        let build = || {
            let dir = tempfile::Builder::new().prefix("rehearsal-").tempdir()?;
            // The client resolves links before it compares paths with its list of trusted
            // projects, and on some systems the temporary directory is behind one.
            let root = dir.path().canonicalize()?;
            for name in ["home/.claude", "project/.claude"] {
                std::fs::create_dir_all(root.join(name))?;
            }
            let dir = if keep {
                let _ = dir.keep();
                None
            } else {
                Some(dir)
            };
            Ok(Self { root, dir })
        };
        build().map_err(Error::machine("build the run's directories"))
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    pub(crate) fn hook_log(&self) -> PathBuf {
        self.root.join("hooks.jsonl")
    }

    pub(crate) fn is_kept(&self) -> bool {
        self.dir.is_none()
    }
}

/// Opens nothing; the model does not look at it.
const API_KEY: &str = "sk-test-not-a-key";

/// The client's whole environment.
pub(crate) fn environment(
    scenario: &Scenario,
    home: &Path,
    port: u16,
    variables: &Variables,
) -> Result<Vec<(String, String)>> {
    let mut environment: Vec<(String, String)> = [
        ("HOME", home.display().to_string()),
        ("PATH", "/usr/bin:/bin".to_owned()),
        ("DISABLE_TELEMETRY", "1".to_owned()),
        ("DISABLE_AUTOUPDATER", "1".to_owned()),
        ("DISABLE_ERROR_REPORTING", "1".to_owned()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
        ("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{port}")),
        ("ANTHROPIC_API_KEY", API_KEY.to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    if scenario.terminal.is_some() {
        environment.push(("TERM".to_owned(), "xterm-256color".to_owned()));
        environment.push(("LANG".to_owned(), "C.UTF-8".to_owned()));
    }
    for (name, value) in &scenario.env {
        environment.retain(|(known, _)| known != name);
        environment.push((name.clone(), variables.fill_strictly(value)?));
    }
    Ok(environment)
}

/// Writes everything that is there before the client starts.
pub(crate) fn build(scenario: &Scenario, outside: &Outside) -> Result<()> {
    let write = |path: &Path, content: &Content| outside.write(path, content).map_err(Error::Stage);
    // A new home would ask for a theme, for trust and about the key: none of them is what a scenario is about.
    let mut known = json!({
        "hasCompletedOnboarding": true,
        "theme": "dark",
        "customApiKeyResponses": { "approved": [API_KEY], "rejected": [] },
        "projects": { outside.project.display().to_string(): {
            "hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true,
        }},
    });
    if scenario.terminal.is_some() {
        // Only a terminal asks this. The client moves the answer into the user's settings file.
        known["bypassPermissionsModeAccepted"] = true.into();
    }
    write(&outside.home.join(".claude.json"), &Content::Json(known))?;
    for (name, content) in &scenario.files {
        let path = locate(name, outside)?;
        write(&path, &outside.fill(content))?;
    }
    for scope in Scope::ALL {
        let entries: Vec<&HookEntry> = scenario.hooks.iter().filter(|hook| hook.scope == scope).collect();
        if !entries.is_empty() {
            add_hooks(scope, &entries, outside)?;
        }
    }
    if scenario.git {
        found_repository(outside)?;
    }
    if !scenario.setup.is_empty() {
        let before = texts_with_hooks(outside);
        outside
            .perform(&scenario.setup, "", |_| {})
            .map_err(|problem| Error::Stage(format!("setup: {problem}")))?;
        // A setup command may have installed hooks, in settings or as a plugin. What it left alone is as
        // the scenario wants it, with entries that are not recorded.
        let after = texts_with_hooks(outside);
        for (file, _) in after.iter().filter(|(file, text)| before.get(*file) != Some(*text)) {
            outside.adopt(file).map_err(Error::Stage)?;
        }
    }
    Ok(())
}

/// The files of the run from which the client may read hooks, as they are now.
fn texts_with_hooks(outside: &Outside) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = [&outside.home, &outside.project].into_iter().flat_map(|root| hook_files(root));
    files.map(|file| (file.clone(), std::fs::read(&file).unwrap_or_default())).collect()
}

/// The files below a directory from which the client may read hooks. Links are not followed: what
/// they lead to may not belong to the run.
fn hook_files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => found.extend(hook_files(&path)),
            Ok(kind) if kind.is_file() && holds_hooks(&path) => found.push(path),
            _ => {}
        }
    }
    found
}

fn locate(name: &str, outside: &Outside) -> Result<PathBuf> {
    place(&outside.variables.fill_strictly(name)?, &outside.project, &outside.home)
}

/// Adds the scenario's entries to a settings file, which `files` may have begun.
fn add_hooks(scope: Scope, entries: &[&HookEntry], outside: &Outside) -> Result<()> {
    let path = locate(scope.settings(), outside)?;
    let begun = std::fs::read_to_string(&path).unwrap_or_else(|_| "{}".to_owned());
    let refuse = || {
        Error::stage(format!("`{}` cannot take a `[[hook]]`: it is not a settings file", scope.settings()))
    };
    let mut settings: Value = serde_json::from_str(&begun).map_err(|_| refuse())?;
    let hooks = settings.as_object_mut().ok_or_else(refuse)?.entry("hooks").or_insert_with(|| json!({}));
    for entry in entries {
        let (event, group) = group(entry, &outside.variables, &outside.recorder)?;
        let groups = hooks.as_object_mut().ok_or_else(refuse)?.entry(event).or_insert_with(|| json!([]));
        groups.as_array_mut().ok_or_else(refuse)?.push(group);
    }
    // Written as it is: entries of the file are recorded already, and some of ours must not be.
    std::fs::write(&path, format!("{settings:#}\n"))
        .map_err(Error::machine(format!("write `{}`", scope.settings())))
}

fn group(hook: &HookEntry, variables: &Variables, recorder: &Recorder) -> Result<(String, Value)> {
    let mut entry = Map::from_iter([
        ("type".to_owned(), json!("command")),
        ("command".to_owned(), json!(variables.fill_strictly(&hook.command)?)),
    ]);
    if let Some(args) = &hook.args {
        let args = args.iter().map(|arg| variables.fill_strictly(arg)).collect::<Result<Vec<_>>>()?;
        entry.insert("args".into(), json!(args));
    }
    if let Some(timeout) = hook.timeout {
        entry.insert("timeout".into(), json!(timeout));
    }
    if let Some(on_failure) = hook.on_failure {
        entry.insert("onFailure".into(), json!(on_failure.as_str()));
    }
    entry.extend(hook.entry.iter().map(|(key, value)| (key.clone(), variables.fill_json(value))));
    if hook.record {
        recorder.wrap(&mut entry);
    }
    let mut group = json!({"hooks": [entry]});
    if let Some(matcher) = &hook.matcher {
        group["matcher"] = json!(matcher);
    }
    Ok((hook.event.clone(), group))
}

/// A repository with one commit that holds the scenario's files.
fn found_repository(outside: &Outside) -> Result<()> {
    let git = |args: &[&str]| {
        let output = Command::new("git")
            .args([
                "-c",
                "user.name=Rehearsal",
                "-c",
                "user.email=rehearsal@localhost",
                "-c",
                "commit.gpgsign=false",
            ])
            .args(args)
            .current_dir(&outside.project)
            .env_clear()
            .env("HOME", &outside.home)
            .env("PATH", std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into()))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .stdin(Stdio::null())
            .output()
            .map_err(Error::machine("run git"))?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(Error::stage(format!("`git {}` failed: {said}", args.join(" "))))
    };
    git(&["init", "--quiet", "--initial-branch=main"])?;
    git(&["add", "--all"])?;
    git(&["commit", "--quiet", "--allow-empty", "--message=The scene is set"])
}
