//! Creates the home directory, the project and the environment of one run.
//!
//! Nothing of the user's environment gets in: a run must neither depend on the user's settings, keys or plugins, nor change
//! them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::actions::ActionRunner;
use crate::error::{Error, Result};
use crate::hooks::{Recorder, is_hook_file};
use crate::scenario::{Content, HookEntry, Scenario, Scope, resolve_path};
use crate::variables::Variables;

/// The directory of one run. It is deleted on drop, unless it is kept.
#[derive(Debug)]
pub(crate) struct RunDirectory {
    /// The path of `dir` with its links resolved.
    pub(crate) root: PathBuf,
    dir: Option<TempDir>,
}

impl RunDirectory {
    pub(crate) fn new(keep: bool) -> Result<Self> {
        let build = || {
            let dir = tempfile::Builder::new().prefix("rehearsal-").tempdir()?;
            // The client resolves links before it looks for a path in its list of trusted projects, and on some
            // systems the path of the temporary directory has a link.
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
        build().map_err(Error::machine("create the run's directories"))
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

/// Not a real key. The scripted model ignores it.
const API_KEY: &str = "sk-test-not-a-key";

/// The client's complete environment.
pub(crate) fn client_environment(
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
        environment.retain(|(other, _)| other != name);
        environment.push((name.clone(), variables.fill_strictly(value)?));
    }
    Ok(environment)
}

/// Writes all files of the scenario before the client starts, and runs its `setup`.
pub(crate) fn set_up(scenario: &Scenario, actions: &ActionRunner) -> Result<()> {
    let write = |path: &Path, content: &Content| actions.write(path, content).map_err(Error::Stage);
    // With a new home directory, the client would ask for a theme, for trust and about the key.
    let mut state = json!({
        "hasCompletedOnboarding": true,
        "theme": "dark",
        "customApiKeyResponses": { "approved": [API_KEY], "rejected": [] },
        "projects": { actions.project.display().to_string(): {
            "hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true,
        }},
    });
    if scenario.terminal.is_some() {
        // Only the interactive client asks this. It moves the answer to the user's settings file.
        state["bypassPermissionsModeAccepted"] = true.into();
    }
    write(&actions.home.join(".claude.json"), &Content::Json(state))?;
    for (name, content) in &scenario.files {
        let path = locate(name, actions)?;
        write(&path, &actions.fill(content))?;
    }
    for scope in Scope::ALL {
        let entries: Vec<&HookEntry> = scenario.hooks.iter().filter(|hook| hook.scope == scope).collect();
        if !entries.is_empty() {
            add_hooks(scope, &entries, actions)?;
        }
    }
    if scenario.git {
        create_repository(actions)?;
    }
    if !scenario.setup.is_empty() {
        let before = read_hook_files(actions);
        actions
            .perform(&scenario.setup, "", |_| {})
            .map_err(|problem| Error::Stage(format!("setup: {problem}")))?;
        // A setup command may have installed hooks, in settings or as a plugin. Files that it did not change may have
        // entries that the scenario does not record.
        let after = read_hook_files(actions);
        for (file, _) in after.iter().filter(|(file, text)| before.get(*file) != Some(*text)) {
            actions.record_hooks_in(file).map_err(Error::Stage)?;
        }
    }
    Ok(())
}

/// The current files of the run from which the client may read hooks.
fn read_hook_files(actions: &ActionRunner) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = [&actions.home, &actions.project].into_iter().flat_map(|root| find_hook_files(root));
    files.map(|file| (file.clone(), std::fs::read(&file).unwrap_or_default())).collect()
}

/// The files below a directory from which the client may read hooks. Links are not followed, because they may lead out of
/// the run.
fn find_hook_files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => found.extend(find_hook_files(&path)),
            Ok(kind) if kind.is_file() && is_hook_file(&path) => found.push(path),
            _ => {}
        }
    }
    found
}

fn locate(name: &str, actions: &ActionRunner) -> Result<PathBuf> {
    resolve_path(&actions.variables.fill_strictly(name)?, &actions.project, &actions.home)
}

/// Adds the scenario's entries to a settings file, which `files` may have created.
fn add_hooks(scope: Scope, entries: &[&HookEntry], actions: &ActionRunner) -> Result<()> {
    let path = locate(scope.settings_path(), actions)?;
    let text = std::fs::read_to_string(&path).unwrap_or_else(|_| "{}".to_owned());
    let fail = || {
        Error::stage(format!(
            "`{}` cannot take a `[[hook]]`: it is not a settings file",
            scope.settings_path()
        ))
    };
    let mut settings: Value = serde_json::from_str(&text).map_err(|_| fail())?;
    let hooks = settings.as_object_mut().ok_or_else(fail)?.entry("hooks").or_insert_with(|| json!({}));
    for entry in entries {
        let (event, group) = build_group(entry, &actions.variables, &actions.recorder)?;
        let groups = hooks.as_object_mut().ok_or_else(fail)?.entry(event).or_insert_with(|| json!([]));
        groups.as_array_mut().ok_or_else(fail)?.push(group);
    }
    // Written without wrapping: the file's own entries are wrapped already, and some new ones must not be.
    std::fs::write(&path, format!("{settings:#}\n"))
        .map_err(Error::machine(format!("write `{}`", scope.settings_path())))
}

fn build_group(hook: &HookEntry, variables: &Variables, recorder: &Recorder) -> Result<(String, Value)> {
    let mut entry = Map::from_iter([
        ("type".to_owned(), json!("command")),
        ("command".to_owned(), json!(variables.fill_strictly(&hook.command)?)),
    ]);
    let fill_all = |args: &Vec<String>| args.iter().map(|arg| variables.fill_strictly(arg)).collect();
    let args: Option<Vec<String>> = hook.args.as_ref().map(fill_all).transpose()?;
    let options =
        [("args", json!(args)), ("timeout", json!(hook.timeout)), ("onFailure", json!(hook.on_failure))];
    let options = options.into_iter().filter(|(_, value)| !value.is_null());
    entry.extend(options.map(|(name, value)| (name.to_owned(), value)));
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

/// Creates a repository with one commit of the scenario's files.
fn create_repository(actions: &ActionRunner) -> Result<()> {
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
            .current_dir(&actions.project)
            .env_clear()
            .env("HOME", &actions.home)
            .env("PATH", std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into()))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .stdin(Stdio::null())
            .output()
            .map_err(Error::machine("run git"))?;
        if output.status.success() {
            return Ok(());
        }
        let stderr = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(Error::stage(format!("`git {}` failed: {stderr}", args.join(" "))))
    };
    git(&["init", "--quiet", "--initial-branch=main"])?;
    git(&["add", "--all"])?;
    git(&["commit", "--quiet", "--allow-empty", "--message=The scene is set"])
}
