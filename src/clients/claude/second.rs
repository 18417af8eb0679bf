//! A second client that an agent starts: the words by which it would run without hooks.
//!
//! What stands in a file (`--settings FILE`) is not looked at, and which sources of settings a person leaves
//! out on purpose is not known; only what switches hooks off in plain sight is told.

use std::path::{Component, PathBuf};

use super::absolute_variable;

/// The word that leaves the hooks out, or takes the plugin away that brings them.
pub(super) fn disarms(program: &str, arguments: &[String]) -> Option<String> {
    if program != "claude" {
        return None;
    }
    told(arguments, absolute_variable("CLAUDE_PLUGIN_ROOT"))
}

fn told(arguments: &[String], plugin: Option<PathBuf>) -> Option<String> {
    let is_bare = |word: &&String| matches!(word.as_str(), "--bare" | "--safe-mode");
    if let Some(word) = arguments.iter().find(is_bare) {
        return Some(word.clone());
    }
    let mut words = arguments.iter().map(String::as_str);
    while let Some(word) = words.next() {
        let settings = match word {
            "--settings" => words.next(),
            word => word.strip_prefix("--settings="),
        };
        if settings.is_some_and(|settings| settings.contains("disableAllHooks")) {
            return Some("disableAllHooks".into());
        }
    }
    let [first, rest @ ..] = arguments else { return None };
    let takes_away = |word: &String| matches!(word.as_str(), "disable" | "uninstall" | "remove" | "rm");
    if !matches!(first.as_str(), "plugin" | "plugins") || !rest.iter().any(takes_away) {
        return None;
    }
    // The directory of a plugin holds its name, and that of its marketplace.
    let plugin = plugin?;
    let names: Vec<&str> = plugin
        .components()
        .filter_map(|part| if let Component::Normal(name) = part { name.to_str() } else { None })
        .collect();
    let is_ours = |word: &&String| {
        let name = word.split_once('@').map_or(word.as_str(), |(name, _)| name);
        names.contains(&name) || matches!(word.as_str(), "--all" | "-a")
    };
    rest.iter().find(is_ours).map(|word| format!("plugin … {word}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str, plugin: Option<&str>) -> Option<String> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        told(&words, plugin.map(PathBuf::from))
    }

    #[test]
    fn a_client_without_hooks_is_told() {
        assert_eq!(of("--bare -p x", None).as_deref(), Some("--bare"));
        assert_eq!(of("-p x --safe-mode", None).as_deref(), Some("--safe-mode"));
        assert!(of("-p x --settings {\"disableAllHooks\":true}", None).is_some());
        assert!(of("-p x --settings={\"disableAllHooks\":true}", None).is_some());
        assert_eq!(of("-p what-does-disableAllHooks-do", None), None);
        assert_eq!(of("-p x --settings other.json", None), None);
    }

    #[test]
    fn only_the_plugin_that_calls_is_missed() {
        let plugin = Some("/h/.claude/plugins/cache/provost/rodin/0.1.0");
        assert!(of("plugin disable rodin@provost", plugin).is_some());
        assert!(of("plugin uninstall rodin", plugin).is_some());
        assert!(of("plugin marketplace remove provost", plugin).is_some());
        assert!(of("plugin disable --all", plugin).is_some());
        for harmless in ["plugin list", "plugin disable other@house", "plugin install rodin"] {
            assert_eq!(of(harmless, plugin), None, "{harmless}");
        }
        assert_eq!(of("plugin disable rodin@provost", None), None);
    }
}
