//! A client that an agent starts inside of its session: the arguments that disable its hooks, or make it play an agent.
//!
//! This module only finds what switches hooks off on the command line. It does not read a file (`--settings FILE`).

use std::path::{Component, PathBuf};

use serde_json::Value;

use super::read_path_variable;
use super::settings::OFF_SWITCHES;

pub(super) const DISARMING_VARIABLES: &[&str] = &["CLAUDE_CODE_SAFE_MODE", "CLAUDE_CODE_SIMPLE"];

/// The argument that disables hooks, or removes the plugin that registers them.
pub(super) fn find_disarming_argument(program: &str, arguments: &[String]) -> Option<String> {
    find_in_arguments(client_arguments(program, arguments)?, read_path_variable("CLAUDE_PLUGIN_ROOT"))
}

/// The agent that the client is started as.
pub(super) fn find_started_agent(program: &str, arguments: &[String]) -> Option<String> {
    let program = program.rsplit('/').next().unwrap_or(program);
    let arguments = client_arguments(program, arguments)?;
    let mut words = arguments.iter().take_while(|word| *word != "--");
    while let Some(word) = words.next() {
        if word == "--agent" {
            return words.next().cloned();
        }
        if let Some(agent) = word.strip_prefix("--agent=") {
            return Some(agent.to_owned());
        }
    }
    None
}

/// The arguments of the client that a program starts, if it starts one.
fn client_arguments<'a>(program: &str, arguments: &'a [String]) -> Option<&'a [String]> {
    match program {
        "claude" => Some(arguments),
        // They start a program of a package, behind arguments of their own.
        "npx" | "bunx" | "pnpx" | "npm" | "pnpm" | "yarn" | "bun" | "node" | "deno" => {
            let at = arguments.iter().position(|word| is_client(word))?;
            let rest = &arguments[at + 1..];
            Some(rest.strip_prefix(&["--".to_owned()]).unwrap_or(rest))
        }
        _ => None,
    }
}

/// Whether a word names the client as a program or as a package.
fn is_client(word: &str) -> bool {
    let is_package = ["@anthropic-ai/claude-code", "npm:@anthropic-ai/claude-code"];
    word == "claude"
        || is_package.iter().any(|package| word.starts_with(package))
        || word.contains("node_modules/@anthropic-ai/claude-code/")
        || word.ends_with("node_modules/.bin/claude")
}

fn find_in_arguments(arguments: &[String], plugin: Option<PathBuf>) -> Option<String> {
    // `--` is followed by a prompt, or by the command of another program.
    let own = arguments.split(|word| word == "--").next().unwrap_or_default();
    let is_bare = |word: &&String| matches!(word.as_str(), "--bare" | "--safe-mode");
    if let Some(word) = own.iter().find(is_bare) {
        return Some(word.clone());
    }
    let mut words = own.iter().map(String::as_str);
    while let Some(word) = words.next() {
        let settings = match word {
            "--settings" => words.next(),
            word => word.strip_prefix("--settings="),
        };
        // JSON can spell a name in several ways, so it has to be parsed.
        let settings = settings.and_then(|text| serde_json::from_str::<Value>(text).ok());
        if let Some(switch) =
            OFF_SWITCHES.iter().find(|name| settings.as_ref().is_some_and(|all| all[**name] == true))
        {
            return Some((*switch).into());
        }
    }
    let [first, rest @ ..] = arguments else { return None };
    let is_removal = |word: &String| matches!(word.as_str(), "disable" | "uninstall" | "remove" | "rm");
    if !matches!(first.as_str(), "plugin" | "plugins") || !rest.iter().any(is_removal) {
        return None;
    }
    // The directory of a plugin contains its name and that of its marketplace.
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

    fn find(line: &str, plugin: Option<&str>) -> Option<String> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        find_in_arguments(&words, plugin.map(PathBuf::from))
    }

    #[test]
    fn an_argument_that_disables_hooks_is_found() {
        assert_eq!(find("--bare -p x", None).as_deref(), Some("--bare"));
        assert_eq!(find("-p x --safe-mode", None).as_deref(), Some("--safe-mode"));
        assert!(find("-p x --settings {\"disableAllHooks\":true}", None).is_some());
        assert!(find("-p x --settings={\"disableAllHooks\":true}", None).is_some());
        assert_eq!(find("-p what-does-disableAllHooks-do", None), None);
        assert!(find("-p x --settings {\"disable\\u0041llHooks\":true}", None).is_some());
        assert!(find("-p x --settings {\"allowManagedHooksOnly\":true}", None).is_some());
        assert_eq!(find("-p x --settings other.json", None), None);
        assert_eq!(find("-p x --settings {\"disableAllHooks\":false}", None), None);
        assert_eq!(find("mcp add x -- server --bare", None), None);
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!(
            find_disarming_argument("npx", &words("-y @anthropic-ai/claude-code@latest --bare")).is_some()
        );
        assert_eq!(find_disarming_argument("npx", &words("prettier --bare claude")), None);
    }

    #[test]
    fn only_the_removal_of_the_own_plugin_is_found() {
        let plugin = Some("/h/.claude/plugins/cache/provost/rodin/0.1.0");
        assert!(find("plugin disable rodin@provost", plugin).is_some());
        assert!(find("plugin uninstall rodin", plugin).is_some());
        assert!(find("plugin marketplace remove provost", plugin).is_some());
        assert!(find("plugin disable --all", plugin).is_some());
        for harmless in ["plugin list", "plugin disable other@house", "plugin install rodin"] {
            assert_eq!(find(harmless, plugin), None, "{harmless}");
        }
        assert_eq!(find("plugin disable rodin@provost", None), None);
    }
}
