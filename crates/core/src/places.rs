//! Where files are: Provost's directories, a project and its configuration, and the file that a path means.

use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The variable that marks a client that Provost started itself. Every hook in it is silent.
pub const CHILD_MARK: &str = "PROVOST_CHILD";

/// The name of the configuration file, in every layer.
pub const CONFIG_FILE: &str = "provost.toml";

/// The directories of this user and machine. Each is `None` if the environment does not name it.
#[derive(Debug, Clone, Default)]
pub struct Places {
    pub home: Option<PathBuf>,
    /// The directory of the user's `provost.toml`.
    pub config: Option<PathBuf>,
    /// The directory of the journal, the seal key and what guards remember.
    pub state: Option<PathBuf>,
    /// The directory of the administrator's `provost.toml`.
    pub managed: Option<PathBuf>,
}

impl Places {
    /// The directory of what Provost keeps about one project.
    pub fn project_state_directory(&self, project: &Path) -> Option<PathBuf> {
        let name = project.file_name().unwrap_or_default().to_string_lossy();
        let is_plain = |c: &char| c.is_ascii_alphanumeric() || "-_.".contains(*c);
        let name: String = name.chars().filter(is_plain).take(40).collect();
        let digest = fnv1a(project.to_string_lossy().as_bytes());
        Some(self.state.as_ref()?.join("projects").join(format!("{name}-{digest:016x}")))
    }

    /// The key that seals verdicts. No tool may read it.
    pub fn seal_key_file(&self) -> Option<PathBuf> {
        self.state.as_ref().map(|state| state.join("seal.key"))
    }

    /// The directory of the user's overrides.
    pub fn overrides_directory(&self) -> Option<PathBuf> {
        self.state.as_ref().map(|state| state.join("overrides"))
    }

    /// The directory of the last good versions of files that have rules.
    pub fn kept_rules_directory(&self) -> Option<PathBuf> {
        self.state.as_ref().map(|state| state.join("rules"))
    }

    /// The directory in which the processes that handle one event share their answers.
    pub fn answers_directory(&self) -> Option<PathBuf> {
        self.state.as_ref().map(|state| state.join("answers"))
    }
}

/// Whether `path` is `base` or below it, with or without regard to case as this system compares names.
pub fn is_within(path: &Path, base: &Path) -> bool {
    if cfg!(any(target_os = "macos", windows)) {
        let folded = |path: &Path| PathBuf::from(path.to_string_lossy().to_lowercase());
        folded(path).starts_with(folded(base))
    } else {
        path.starts_with(base)
    }
}

/// Whether two names of files are the same, with or without regard to case as this system compares names.
pub fn is_same_name(one: &str, other: &str) -> bool {
    one == other || cfg!(any(target_os = "macos", windows)) && one.to_lowercase() == other.to_lowercase()
}

/// The repository of `start`, or `start` itself. A project's journal is kept under this name. No protection may depend on
/// it, because an agent can create a `.git`.
pub fn find_project_root(start: &Path) -> PathBuf {
    let root = start.ancestors().find(|directory| directory.join(".git").exists());
    root.unwrap_or(start).to_owned()
}

/// The project's configuration: the nearest file at or above `start`, or where it would be.
pub fn find_project_config(start: &Path, project: &Path) -> PathBuf {
    let mut candidates = start.ancestors().map(|directory| directory.join(CONFIG_FILE));
    candidates.find(|file| file.exists()).unwrap_or_else(|| project.join(CONFIG_FILE))
}

/// Whether a program is Provost by its file name.
pub fn is_provost_program(program: &str) -> bool {
    matches!(program.rsplit(['/', '\\']).next(), Some("provost" | "provost.exe"))
}

/// Follows `..` and links as the system would, as far as they exist.
pub fn resolve_path(path: &Path) -> PathBuf {
    resolve_path_below(PathBuf::new(), path)
}

/// Resolves `path` from the directory `real`, which is resolved already.
pub fn resolve_path_below(mut real: PathBuf, path: &Path) -> PathBuf {
    /// How many links systems follow before they give up.
    const LINKS: u32 = 40;
    /// How many parts the longest path can have.
    const LONGEST: usize = 2048;
    let mut links = 0;
    let mut rest: Vec<OsString> = Vec::new();
    push_components(&mut rest, path);
    // No system opens a longer path, so the disk is not asked about it.
    let mut follows_links = rest.len() <= LONGEST;
    while let Some(part) = rest.pop() {
        if part == ".." {
            real.pop();
            continue;
        }
        real.push(&part);
        // A root is not a link.
        if follows_links
            && real.parent().is_some()
            && let Ok(target) = fs::read_link(&real)
        {
            links += 1;
            follows_links = links < LINKS && rest.len() <= LONGEST;
            real.pop();
            push_components(&mut rest, &target);
        }
    }
    real
}

/// Pushes the parts of a path so that the first is popped first. A root part replaces the path so far, because that is
/// what `PathBuf::push` does with it.
fn push_components(rest: &mut Vec<OsString>, path: &Path) {
    let parts = path.components().filter(|part| !matches!(part, Component::CurDir));
    let parts: Vec<OsString> = parts.map(|part| part.as_os_str().to_owned()).collect();
    rest.extend(parts.into_iter().rev());
}

/// A digest of a text for file names (FNV-1a). It protects no secret.
pub fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Workspace;

    #[cfg(unix)]
    #[test]
    fn links_are_followed_as_the_system_follows_them() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("a/b")).unwrap();
        symlink("a/b", root.join("link")).unwrap();
        symlink("nowhere", root.join("dangling")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        assert_eq!(resolve_path(&root.join("link/../x")), root.join("a/x"));
        assert_eq!(resolve_path(&root.join("./a/../a/./b")), root.join("a/b"));
        assert_eq!(resolve_path(&root.join("dangling")), root.join("nowhere"));
        assert_eq!(resolve_path(&root.join("missing/../x")), root.join("x"));
        assert!(resolve_path(&root.join("loop")).starts_with(&root));
        assert_eq!(resolve_path(Path::new("/../..")), Path::new("/"));
        let workspace = Workspace::for_tests(&root.join("a"));
        symlink("../../link", root.join("a/b/out")).unwrap();
        for path in
            ["a", "a/", "a/b/../..", "a/../link", "a/b/out/x", "a/none/../b", "a/../../x", "ab", "link/x"]
        {
            let path = root.join(path);
            assert_eq!(workspace.resolve(&path), resolve_path(&path), "{}", path.display());
        }
    }

    #[test]
    fn a_project_is_its_repository_and_its_configuration_the_nearest() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let sub = top.join("a/b");
        fs::create_dir_all(&sub).unwrap();
        assert_eq!(find_project_root(&sub), sub);
        fs::create_dir(top.join(".git")).unwrap();
        assert_eq!(find_project_root(&sub), top);
        assert_eq!(find_project_config(&sub, &top), top.join("provost.toml"));
        fs::write(top.join("a/provost.toml"), "").unwrap();
        assert_eq!(find_project_config(&sub, &top), top.join("a/provost.toml"));
        // A new repository in a subdirectory does not hide the configuration above it.
        fs::create_dir(sub.join(".git")).unwrap();
        assert_eq!(find_project_root(&sub), sub);
        assert_eq!(find_project_config(&sub, &sub), top.join("a/provost.toml"));
    }
}
