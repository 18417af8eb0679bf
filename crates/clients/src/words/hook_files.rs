//! The files in which the clients of this module register hooks, by their names.

use std::path::{Path, PathBuf};

use provost_core::places::is_within;

/// The directory of a file that registers hooks, and the file's name, in small letters; `*` is any name.
const NAMES: &[(&str, &str)] = &[
    (".codex", "hooks.json"),
    (".codex", "config.toml"),
    (".gemini", "settings.json"),
    (".qwen", "settings.json"),
    (".factory", "hooks.json"),
    (".factory", "settings.json"),
    (".factory", "settings.local.json"),
    (".kimi-code", "config.toml"),
    (".grok", "config.toml"),
    (".grok/hooks", "*"),
    (".github/hooks", "*"),
    (".github/copilot", "settings.json"),
    (".copilot/hooks", "*"),
    (".opencode/plugins", "*"),
    (".opencode/plugin", "*"),
    ("opencode/plugins", "*"),
    ("opencode/plugin", "*"),
    (".clinerules/hooks", "*"),
    (".cline/hooks", "*"),
    ("cline/hooks", "*"),
];

/// The directories below the home and below a project that hold such files.
const FOLDERS: &[&str] = &[
    ".codex",
    ".gemini",
    ".qwen",
    ".factory",
    ".kimi-code",
    ".grok",
    ".grok/hooks",
    ".github/hooks",
    ".github/copilot",
    ".copilot/hooks",
    ".opencode/plugins",
    ".opencode/plugin",
    ".config/opencode/plugins",
    ".config/opencode/plugin",
    ".clinerules/hooks",
    ".cline/hooks",
    "Documents/Cline/Hooks",
];

/// Whether a client other than Claude Code could read hooks from a file with this name.
pub(crate) fn is_hook_file(path: &Path) -> bool {
    let matches_name = |wanted: &str| {
        wanted == "*" || path.file_name().is_some_and(|name| name.eq_ignore_ascii_case(wanted))
    };
    let Some(directory) = path.parent().map(|directory| directory.to_string_lossy().to_ascii_lowercase())
    else {
        return false;
    };
    NAMES.iter().any(|(below, name)| {
        let is_there =
            directory.strip_suffix(below).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
        is_there && matches_name(name)
    })
}

/// The directories that may hold such files, as far as they could lie above, at or below a path.
pub(crate) fn list_folders_near(path: &Path, home: Option<&Path>, project: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for root in home.into_iter().chain([project]) {
        // Most paths have another first name than all folders.
        let first = match path.strip_prefix(root) {
            Ok(below) => below.components().next().map(|name| name.as_os_str().to_string_lossy()),
            Err(_) if is_within(root, path) || is_within(path, root) => None,
            Err(_) => continue,
        };
        let is_near = |folder: &&&str| {
            let name = folder.split('/').next().unwrap_or_default();
            first.as_ref().is_none_or(|first| first.eq_ignore_ascii_case(name))
        };
        found.extend(FOLDERS.iter().filter(is_near).map(|folder| root.join(folder)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hook_files_of_all_clients_are_known_by_name() {
        for file in [
            "/h/.codex/hooks.json",
            ".gemini/settings.json",
            "/p/.github/hooks/provost.json",
            "/h/.config/opencode/plugins/provost.js",
            "/p/.CODEX/Hooks.json",
            "/h/Documents/Cline/Hooks/PreToolUse",
        ] {
            assert!(is_hook_file(Path::new(file)), "{file}");
        }
        for file in [
            "/p/settings.json",
            "/p/x.gemini/settings.json",
            "/p/.codex/AGENTS.md",
            "/p/hooks/a.json",
            ".github/x.yml",
        ] {
            assert!(!is_hook_file(Path::new(file)), "{file}");
        }
    }
}
