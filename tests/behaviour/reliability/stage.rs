//! A scene that is set: a project, the event that happens in it, and what the guard is to do about it.
//!
//! Modes of files do not bind a superuser, and tests may run as one. So the hook is then started under
//! another user id, which owns the whole stage: what is forbidden by a mode is forbidden everywhere.

use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

use provost::registry::{GUARDS, Guard, find_guard};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Answer, TestProject};

/// Who owns nothing on any machine.
pub const NOBODY: u32 = 65_534;

pub struct Stage {
    pub guard: &'static Guard,
    pub project: TestProject,
    pub packs: &'static [&'static str],
    pub event: Value,
    /// What the judgement rests on; the first one is the one that vanishes.
    pub files: Vec<PathBuf>,
    pub deed: Deed,
    /// Tables of the configuration and lines in them.
    pub config: Vec<(&'static str, String)>,
    pub variables: Vec<(String, String)>,
}

/// What a guard does in health, and how that shows.
pub enum Deed {
    /// The call, the stop or the change is held back, with these words in the reason.
    Denies(&'static str),
    /// The user or the model reads these words.
    Says(&'static str),
    /// A file, or a file of a directory, has these words in it afterwards.
    Keeps(PathBuf, &'static str),
}

impl Stage {
    pub fn new(guard: &str, project: TestProject, event: Value, deed: Deed) -> Self {
        let guard = find_guard(guard).unwrap_or_else(|| panic!("the registry has no guard `{guard}`"));
        // The guards that only note need the one that writes.
        let stays = |other: &Guard| {
            other.name == guard.name || guard.pack == "phases" && other.name == "phase-records"
        };
        let others = GUARDS.iter().filter(|other| !stays(other));
        let config = others.map(|other| ("guards", format!("{} = \"off\"", other.name))).collect();
        let (packs, files, variables) = (&[] as &[_], Vec::new(), Vec::new());
        Self { guard, project, packs, event, files, deed, config, variables }
    }

    pub fn resting_on(mut self, files: impl IntoIterator<Item = PathBuf>) -> Self {
        self.files = files.into_iter().collect();
        self
    }

    pub fn set(&mut self, name: &str, value: &str) {
        self.variables.push((name.into(), value.into()));
    }

    /// The directory of all files of this stage.
    pub fn root(&self) -> &Path {
        self.project.home.parent().unwrap()
    }

    /// Writes the configuration that the scene and the fault want.
    pub fn write_config(&self) {
        let mut tables: Vec<&str> = self.config.iter().map(|(table, _)| *table).collect();
        tables.sort_unstable();
        tables.dedup();
        let mut text = String::new();
        for table in tables {
            let lines =
                self.config.iter().filter(|(of, _)| *of == table).map(|(_, line)| format!("{line}\n"));
            text += &format!("[{table}]\n{}", lines.collect::<String>());
        }
        self.project.write_file("provost.toml", &text);
        if self.guard.pack == "self" {
            return;
        }
        // A project cannot switch off what protects Provost.
        let lines =
            self.config.iter().filter(|(table, line)| *table == "guards" && line.ends_with("\"off\""));
        let text: Vec<&str> = lines.map(|(_, line)| line.as_str()).collect();
        self.project
            .write_home_file(".config/provost/provost.toml", &format!("[guards]\n{}\n", text.join("\n")));
    }

    /// Puts a program of this name before all others.
    pub fn program(&mut self, name: &str, script: &str) {
        // Another process writes the file: one that this process has open, and a parallel test may inherit
        // at that moment, cannot be run.
        let text = self.project.write_home_file(&format!("programs/{name}"), script);
        let place = self.project.home.join("bin").join(name);
        let copied = Command::new("install").args(["-D", "-m", "755"]).arg(text).arg(&place).status();
        assert!(copied.unwrap().success());
        self.set("PATH", &format!("{}:/usr/bin:/bin", place.parent().unwrap().display()));
    }

    /// The hook as the user who owns the stage. `shell`: what happens in the same process before.
    pub fn command(&self, shell: Option<&str>) -> Command {
        let model = self.project.command(&[]);
        let hook = ["hook"].into_iter().chain(self.packs.iter().flat_map(|pack| ["--pack", pack]));
        let mut command = match shell {
            None => Command::new(program()),
            Some(before) => {
                let mut command = Command::new("/bin/sh");
                command.args(["-c", &format!("{before}; exec \"$@\""), "sh"]).arg(program());
                command
            }
        };
        command.args(hook).env_clear().current_dir(&self.project.path);
        command.envs(model.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if is_superuser() {
            use std::os::unix::process::CommandExt;
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    /// Gives the stage to the user who runs the hook.
    pub fn hand_over(&self) {
        if is_superuser() {
            for path in below(self.root()) {
                lchown(&path, Some(NOBODY), Some(NOBODY)).unwrap();
            }
        }
    }

    /// Whether the guard did what it does in health.
    pub fn is_done(&self, answer: &Answer) -> bool {
        match &self.deed {
            Deed::Denies(words) => denial(answer).is_some_and(|reason| reason.contains(words)),
            Deed::Says(words) => {
                serde_json::from_str::<Value>(&answer.stdout).is_ok() && answer.stdout.contains(words)
            }
            Deed::Keeps(place, words) => below(place)
                .iter()
                .any(|file| fs::read(file).is_ok_and(|text| String::from_utf8_lossy(&text).contains(words))),
        }
    }

    /// Files that only an interrupted write leaves: new ones beside the old, and halves.
    pub fn litter(&self) -> Vec<PathBuf> {
        let is_half = |path: &Path| {
            let text = fs::read(path).unwrap_or_default();
            serde_json::from_slice::<Value>(&text).is_err()
        };
        let is_litter = |path: &PathBuf| match path.extension().and_then(OsStr::to_str) {
            Some("tmp") => true,
            Some("json") => is_half(path),
            _ => false,
        };
        below(self.root()).into_iter().filter(is_litter).collect()
    }
}

/// Why an answer holds something back, whichever of its two forms it has.
pub fn denial(answer: &Answer) -> Option<String> {
    if answer.code == Some(2) {
        return Some(answer.stderr.clone());
    }
    let object: Value = serde_json::from_str(&answer.stdout).ok()?;
    (object["decision"] == "block").then(|| object["reason"].as_str().unwrap_or_default().to_owned())
}

/// A path and everything below it. Links are not followed.
pub fn below(path: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![path.to_owned()];
    while let Some(path) = open.pop() {
        let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
        if metadata.is_dir() {
            open.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        }
        found.push(path);
    }
    found
}

/// Takes away the right to write a directory and everything below it.
pub fn make_read_only(path: &Path, except: &Path) {
    for path in below(path) {
        if path.starts_with(except) || path.is_symlink() {
            continue;
        }
        let mode = fs::metadata(&path).unwrap().mode();
        fs::set_permissions(&path, Permissions::from_mode(mode & 0o555)).unwrap();
    }
}

/// Gives back what [`make_read_only`] took, so that the stage can be taken away.
pub fn make_writable(path: &Path) {
    for path in below(path) {
        if !path.is_symlink() {
            let mode = fs::metadata(&path).unwrap().mode();
            let _ = fs::set_permissions(&path, Permissions::from_mode(mode | 0o700));
        }
    }
}

pub fn is_superuser() -> bool {
    static IS: OnceLock<bool> = OnceLock::new();
    *IS.get_or_init(|| tempfile::tempfile().and_then(|file: File| file.metadata()).unwrap().uid() == 0)
}

static COPY: Mutex<Option<TempDir>> = Mutex::new(None);

/// The program under test where anybody can run it, as long as this lives: its own directory may be closed to
/// others.
pub struct Copied;

impl Copied {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::set_permissions(directory.path(), Permissions::from_mode(0o755)).unwrap();
        let place = directory.path().join("provost");
        let copied =
            Command::new("install").args(["-m", "755"]).arg(crate::support::program()).arg(&place).status();
        assert!(copied.unwrap().success());
        *COPY.lock().unwrap() = Some(directory);
        Self
    }
}

impl Drop for Copied {
    // What is static is never dropped.
    fn drop(&mut self) {
        COPY.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

fn program() -> PathBuf {
    COPY.lock().unwrap().as_ref().expect("the program was copied").path().join("provost")
}
