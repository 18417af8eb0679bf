//! The program that the entries name: one that is still there after the next build or update.
//!
//! In the user's own files that is a path, because the PATH of a client that was started elsewhere may be another
//! one. In a file that a team shares it is the bare name, because a path of one machine is wrong on all others.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cli::file_change::printable_path;
use crate::cli::overview::{Overview, ask_version};
use crate::cli::settings_file::ScopeOption;
use crate::clients::ProgramName;
use crate::places::{is_provost_program, is_within, resolve_path};
use crate::reviewer::is_executable;
use crate::text::make_one_line;
use provost_files as files;

const INSTALL: &str =
    "run `cargo install --locked --path .` in Provost's repository, and then `provost init` again";

/// What an entry calls, and what the user should know about it.
pub(super) struct EntryProgram {
    /// `None`: the bare name.
    path: Option<String>,
    pub(super) notes: Vec<String>,
}

/// Why a program may soon be gone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Instability {
    /// It lies in a directory for builds or temporary files.
    Temporary,
    /// It lies in the directory of one version, which an update removes.
    Versioned,
}

impl EntryProgram {
    pub(super) fn name(&self) -> ProgramName<'_> {
        self.path.as_deref().map_or(ProgramName::Shared, ProgramName::Path)
    }

    /// The program for entries of a scope, or why none can be named.
    pub(super) fn find(scope: ScopeOption, overview: &Overview) -> Result<Self, (String, String)> {
        let home = overview.workspace.places.home.as_deref();
        let this = find_this_program()?;
        let installed = find_installed(home, &overview.settings_root);
        if scope == ScopeOption::Project {
            let note = match installed.first() {
                None => Some(format!(
                    "there is no `provost` on your PATH, so these entries do nothing yet. To fix: {INSTALL}"
                )),
                Some(first) if !files::is_same_file(first, &this) => Some(format!(
                    "the entries call the first `provost` on the PATH, which is {} here, and not this program",
                    printable_path(first)
                )),
                Some(_) => None,
            };
            return Ok(Self { path: None, notes: note.into_iter().collect() });
        }
        let is_stable = |path: &&PathBuf| find_instability(path, home).is_none();
        let is_this = |path: &&PathBuf| files::is_same_file(path, &this);
        let use_path =
            |path: &Path, notes: Vec<String>| Ok(Self { path: path.to_str().map(str::to_owned), notes });
        if let Some(stable) = installed.iter().filter(is_this).chain([&this]).find(is_stable) {
            return use_path(stable, Vec::new());
        }
        if find_instability(&this, home) == Some(Instability::Versioned) {
            let note = format!(
                "the entries call {}, in a directory that the next version removes. To fix: put a link to it into a \
                 directory of your PATH, such as ~/.local/bin, and run `provost init` again",
                printable_path(&this)
            );
            return use_path(&this, vec![note]);
        }
        // Another program is started to see whether it is Provost.
        let is_provost = |path: &&PathBuf| {
            ask_version(&mut Command::new(path)).is_some_and(|version| version.starts_with("provost "))
        };
        if let Some(other) = installed.iter().filter(is_stable).find(is_provost) {
            let note = format!(
                "the entries call the installed program, {}, and not this build",
                printable_path(other)
            );
            return use_path(other, vec![note]);
        }
        let note = format!(
            "the entries call {}, in a directory for builds or temporary files. Once it is gone, tool calls continue \
             unchecked. To fix: {INSTALL}",
            printable_path(&this)
        );
        use_path(&this, vec![note])
    }
}

/// The program that runs now, without links.
fn find_this_program() -> Result<PathBuf, (String, String)> {
    let unknown = |why: String| (why, "install the program again, and run this again".to_owned());
    let path = env::current_exe().and_then(|path| path.canonicalize());
    let path = path.map_err(|error| unknown(format!("this program cannot find its own file ({error})")))?;
    let Some(name) = path.to_str() else {
        return Err(unknown(format!(
            "the path of this program is not UTF-8: {}",
            make_one_line(&path.to_string_lossy())
        )));
    };
    if !is_provost_program(name) {
        return Err((
            format!(
                "this program is called {}, and entries of Provost are known by its name",
                make_one_line(name)
            ),
            "name it `provost`, and run this again".into(),
        ));
    }
    Ok(path)
}

/// Every `provost` on the PATH, and where cargo and people put programs. What lies in the project is not counted:
/// agents write there.
fn find_installed(home: Option<&Path>, root: &Path) -> Vec<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let name = format!("provost{}", env::consts::EXE_SUFFIX);
    let usual = [".cargo/bin", ".local/bin"].into_iter().filter_map(|below| Some(home?.join(below)));
    let folders = env::split_paths(&path).filter(|folder| folder.is_absolute()).chain(usual);
    let mut found: Vec<PathBuf> = folders.map(|folder| folder.join(&name)).collect();
    let is_of_project =
        |path: &Path| home != Some(root) && is_within(&resolve_path(path), &resolve_path(root));
    found.retain(|path| is_executable(path) && path.to_str().is_some() && !is_of_project(path));
    found
}

/// Why a program may not stay where it is; `None`: it stays. A link into the directory of a version is stable, because
/// an update changes the link.
fn find_instability(program: &Path, home: Option<&Path>) -> Option<Instability> {
    let real = resolve_path(program);
    if is_temporary(program, home) || is_temporary(&real, home) {
        return Some(Instability::Temporary);
    }
    let mut folders = program.iter().rev().skip(1).map(|part| part.to_string_lossy());
    folders.any(|folder| is_version_name(&folder)).then_some(Instability::Versioned)
}

fn is_temporary(program: &Path, home: Option<&Path>) -> bool {
    const CACHES: &[&str] = &[".cache", "Caches", "_npx"];
    let is_build = program.ancestors().any(|folder| folder.join("CACHEDIR.TAG").is_file());
    let is_cache = program.iter().any(|part| CACHES.iter().any(|cache| part == *cache));
    let temporary =
        [env::temp_dir(), "/tmp".into(), "/var/tmp".into(), "/dev/shm".into(), "/private/tmp".into()];
    // A home may itself lie there, in a container for example.
    let is_home = |folder: &Path| {
        home.is_some_and(|home| {
            resolve_path(home).starts_with(folder) && program.starts_with(resolve_path(home))
        })
    };
    let is_below = |folder: &PathBuf| program.starts_with(folder) && !is_home(folder);
    is_build || is_cache || temporary.iter().any(is_below)
}

/// Whether the name of a directory is that of one version: `v20`, `1.2.3`, `provost-0.1.0-x86_64`, or one of the
/// stores that have a directory for each.
fn is_version_name(folder: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    if folder == "Cellar" || folder.strip_prefix('v').is_some_and(is_number) {
        return true;
    }
    folder.split(['-', '_', '@']).any(|part| {
        let part = part.strip_prefix('v').unwrap_or(part);
        let mut numbers = part.split('.');
        let major = numbers.next().is_some_and(is_number);
        major && numbers.next().is_some_and(|minor| minor.starts_with(|c: char| c.is_ascii_digit()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_of_one_version_are_known_by_their_names() {
        for folder in [
            "v20",
            "v20.11.1",
            "0.1.0",
            "1.2",
            "provost-0.1.0-x86_64",
            "provost-v0.2.0",
            "Cellar",
            "p@1.2.3-rc1",
        ] {
            assert!(is_version_name(folder), "{folder}");
        }
        for folder in ["bin", "x86_64", "node@20", "python3.11", "2024", "v", "opt", "a.b", ".local", "ada.l"]
        {
            assert!(!is_version_name(folder), "{folder}");
        }
    }
}
