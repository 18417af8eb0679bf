//! Lists every hook that Claude Code would run in a project.
//!
//! Settings files and plugins register hooks, and Claude Code runs them all. It silently ignores a file that it cannot
//! read; this module reports the file and the reason. It runs nothing.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{installation, settings};
use crate::{HookSource, HookSwitch, RegisteredHook, SettingsScope, SwitchReach};
use provost_core::places::Places;
use provost_files as files;
use provost_files::faults;

/// No settings file that people write is larger.
const LARGEST: u64 = 8 << 20;

pub(super) fn list_registrations(places: &Places, project: &Path) -> Vec<HookSource> {
    let files = settings_files(places, project).into_iter();
    let mut sources: Vec<HookSource> = files.filter_map(|(scope, file)| read_settings(scope, file)).collect();
    let plugins = enabled_plugins(&sources);
    sources.extend(plugins.iter().map(|name| read_plugin(name, places)));
    sources
}

/// The settings files of a project, the one with the highest precedence first.
pub(super) fn settings_files(places: &Places, project: &Path) -> Vec<(SettingsScope, PathBuf)> {
    let own = super::config_directory(places).map(|own| (SettingsScope::User, own.join("settings.json")));
    let folder = project.join(".claude");
    let mut files = vec![
        (SettingsScope::Managed, managed_file()),
        (SettingsScope::Local, folder.join("settings.local.json")),
        (SettingsScope::Project, folder.join("settings.json")),
    ];
    // The project may be the home directory itself.
    files.extend(own.filter(|(_, file)| *file != folder.join("settings.json")));
    files
}

/// The administrator's settings file; tests set another directory.
fn managed_file() -> PathBuf {
    let test_folder = faults::switch("PROVOST_MANAGED").map(PathBuf::from);
    test_folder.map_or_else(settings::managed_file, |folder| folder.join("managed-settings.json"))
}

fn read_settings(scope: SettingsScope, file: PathBuf) -> Option<HookSource> {
    let mut source = HookSource { file, scope, ..HookSource::default() };
    let text = match read_text(&source.file) {
        Ok(None) => return None,
        Ok(Some(text)) => text,
        Err(why) => {
            source.ignored_because = Some(why);
            return Some(source);
        }
    };
    match settings::parse_switches(Some(&text)) {
        Ok(switches) => {
            source.off_switches = switches
                .disabling_switches
                .into_iter()
                .filter_map(|name| read_switch(name, &source.scope))
                .collect();
        }
        Err(why) => source.ignored_because = Some(why),
    }
    if let Ok(file) = serde_json::from_str::<Value>(text.trim_start_matches('\u{feff}')) {
        source.hooks = list_hooks(&file["hooks"]);
        source.settings = file;
    }
    Some(source)
}

/// What a switch in a file of this scope does; `None` if it does nothing there.
fn read_switch(name: String, scope: &SettingsScope) -> Option<HookSwitch> {
    let reach = match name.trim_matches('`') {
        settings::ONLY_MANAGED if *scope != SettingsScope::Managed => return None,
        settings::ONLY_MANAGED => SwitchReach::UnmanagedHooks,
        settings::ALL_OFF => SwitchReach::Hooks,
        _ => SwitchReach::Provost,
    };
    Some(HookSwitch { name, reach })
}

/// The enabled plugins. If several files name one, the file with the highest precedence counts.
fn enabled_plugins(sources: &[HookSource]) -> Vec<String> {
    let mut seen: Vec<(&String, bool)> = Vec::new();
    for source in sources.iter().filter(|source| source.ignored_because.is_none()) {
        for (name, on) in source.settings["enabledPlugins"].as_object().into_iter().flatten() {
            if !seen.iter().any(|(known, _)| *known == name) {
                seen.push((name, *on != Value::Bool(false)));
            }
        }
    }
    seen.into_iter().filter(|(_, on)| *on).map(|(name, _)| name.clone()).collect()
}

/// What a plugin registers. One that is not installed has no root, and registers nothing.
fn read_plugin(name: &str, places: &Places) -> HookSource {
    let Some(root) = plugin_root(name, places) else {
        let scope = SettingsScope::Plugin { name: name.to_owned(), root: PathBuf::new() };
        let void = Some("it is enabled, but not installed".to_owned());
        return HookSource { scope, ignored_because: void, ..HookSource::default() };
    };
    let mut source = HookSource {
        file: root.join("hooks/hooks.json"),
        scope: SettingsScope::Plugin { name: name.to_owned(), root: root.clone() },
        ..HookSource::default()
    };
    for (file, is_needed) in [(root.join(".claude-plugin/plugin.json"), true), (source.file.clone(), false)] {
        match read_text(&file).map(|text| text.map(|text| (serde_json::from_str::<Value>(&text), text))) {
            Ok(None) if is_needed => {
                source.ignored_because = Some(format!("there is no file {}", file.display()));
            }
            Ok(None) => {}
            Ok(Some((Ok(content), text))) => {
                if let Err(why) = settings::parse_switches(Some(&text)) {
                    source.ignored_because = Some(why);
                }
                source.hooks.extend(list_hooks(&content["hooks"]));
            }
            Ok(Some((Err(error), _))) => {
                source.ignored_because = Some(format!("{} is not JSON ({error})", file.display()));
            }
            Err(why) => source.ignored_because = Some(why),
        }
    }
    source
}

/// The directory of a plugin (`name@marketplace`). Claude Code reads plugins of a local marketplace in place, and copies
/// those of other marketplaces.
pub(super) fn plugin_root(name: &str, places: &Places) -> Option<PathBuf> {
    let plugins = super::config_directory(places)?.join("plugins");
    let json = |file: &Path| super::read_json(file, LARGEST).unwrap_or_default();
    let (plugin, market) = name.split_once('@')?;
    let known = json(&plugins.join("known_marketplaces.json"));
    let market = &known[market];
    if market["source"]["source"] == "directory"
        && let Some(folder) = market["installLocation"].as_str().map(Path::new)
    {
        let offers = json(&folder.join(".claude-plugin/marketplace.json"));
        let mut offers = offers["plugins"].as_array().into_iter().flatten();
        let offer = offers.find(|offer| offer["name"] == plugin)?;
        return offer["source"].as_str().map(|below| folder.join(below.trim_start_matches("./")));
    }
    let installed = json(&plugins.join("installed_plugins.json"));
    let copies = installed["plugins"][name].as_array().into_iter().flatten();
    copies.filter_map(|copy| copy["installPath"].as_str()).next_back().map(PathBuf::from)
}

/// The hooks in the `hooks` of a settings file or a plugin. What has another form is left out.
pub(crate) fn list_hooks(events: &Value) -> Vec<RegisteredHook> {
    let mut found = Vec::new();
    for (event, groups) in events.as_object().into_iter().flatten() {
        for group in groups.as_array().into_iter().flatten() {
            let matcher = group["matcher"].as_str().filter(|matcher| !settings::matches_all(matcher));
            for entry in group["hooks"].as_array().into_iter().flatten() {
                found.push(parse_hook(event, matcher, entry));
            }
        }
    }
    found
}

fn parse_hook(event: &str, matcher: Option<&str>, entry: &Value) -> RegisteredHook {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let arguments: Option<Vec<String>> = entry["args"].as_array().map(|list| list.iter().map(text).collect());
    let command = text(&entry["command"]);
    let words = match &arguments {
        Some(arguments) => arguments.clone(),
        None => command.split_whitespace().map(|word| word.trim_matches(['"', '\'']).to_owned()).collect(),
    };
    let pairs = words.iter().zip(words.iter().skip(1));
    let kind = text(&entry["type"]);
    // Claude Code ignores the command of any other kind.
    let is_run = kind == "command";
    RegisteredHook {
        event: event.to_owned(),
        matcher: matcher.map(str::to_owned),
        kind,
        is_installed: installation::is_own(entry),
        calls_provost: is_run && settings::calls_provost(entry),
        packs: pairs.filter(|(option, _)| *option == "--pack").map(|(_, pack)| pack.clone()).collect(),
        command,
        arguments,
        seconds: entry["timeout"].as_f64(),
        blocks_on_failure: entry["onFailure"] == "block",
        entry: entry.clone(),
    }
}

/// A file's text; `None` if there is no file.
pub(crate) fn read_text(file: &Path) -> Result<Option<String>, String> {
    let bytes =
        files::read_file(file, LARGEST).map_err(|error| format!("the file cannot be read ({error})"))?;
    bytes.map(|bytes| String::from_utf8(bytes).map_err(|_| "the file is not UTF-8".to_owned())).transpose()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    fn write_json(file: &Path, content: &Value) {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, content.to_string()).unwrap();
    }

    fn make_project() -> (tempfile::TempDir, Places, PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let home = Some(root.path().join("home"));
        let places = Places { home, config: None, state: None, managed: None };
        let project = root.path().join("project");
        (root, places, project)
    }

    #[test]
    fn hooks_in_settings_files_are_listed_with_their_file() {
        let (_root, places, project) = make_project();
        let entry = json!({"type": "command", "command": "/usr/bin/provost", "args": ["hook", "--pack", "self"],
            "timeout": 10, "onFailure": "block"});
        let group = json!([{"matcher": "Bash", "hooks": [entry, {"type": "prompt", "prompt": "ok?"}, 5]}, 7]);
        write_json(
            &project.join(".claude/settings.json"),
            &json!({"hooks": {"PreToolUse": group, "Stop": 5}}),
        );
        let sources = list_registrations(&places, &project);
        assert_eq!(sources.len(), 1);
        assert_eq!(sources[0].scope, SettingsScope::Project);
        let hook = &sources[0].hooks[0];
        assert_eq!((hook.event.as_str(), hook.matcher.as_deref()), ("PreToolUse", Some("Bash")));
        assert!(hook.calls_provost && hook.blocks_on_failure && hook.packs == ["self"]);
        assert_eq!(hook.seconds, Some(10.0));
        assert_eq!(sources[0].hooks[1].kind, "prompt");
        assert!(sources[0].ignored_because.is_some(), "the client drops a file with a hook that is a number");
    }

    #[test]
    fn provost_is_found_in_the_middle_of_a_command_line() {
        let calls = |command: &str| settings::calls_provost(&json!({"command": command}));
        for command in ["cd x && provost hook; true", "(provost hook)|cat", "echo; /opt/provost hook>log"] {
            assert!(calls(command), "{command}");
        }
        for command in ["provost;hook", "echo provost; true", "true; provost status"] {
            assert!(!calls(command), "{command}");
        }
    }

    #[test]
    fn a_file_that_the_client_ignores_is_reported() {
        let (_root, places, project) = make_project();
        for (file, text) in [("settings.json", "{"), ("settings.local.json", "{\"disableAllHooks\": true}")] {
            let file = project.join(".claude").join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let sources = list_registrations(&places, &project);
        assert_eq!(sources[0].scope, SettingsScope::Local);
        assert_eq!(
            sources[0].off_switches,
            [HookSwitch { name: "`disableAllHooks`".into(), reach: SwitchReach::Hooks }]
        );
        assert!(sources[1].ignored_because.is_some() && sources[1].hooks.is_empty());
    }

    #[test]
    fn enabled_plugins_are_read_where_the_client_reads_them() {
        let (root, places, project) = make_project();
        let own = places.home.clone().unwrap().join(".claude");
        let market = root.path().join("market");
        let entry =
            json!({"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/hooks/provost.sh", "args": ["hook"]});
        let hooks = json!({"hooks": {"Stop": [{"hooks": [entry]}]}});
        let offers = json!({"plugins": [{"name": "taskie", "source": "./plugins/taskie"}]});
        write_json(&market.join(".claude-plugin/marketplace.json"), &offers);
        write_json(&market.join("plugins/taskie/.claude-plugin/plugin.json"), &json!({"name": "taskie"}));
        write_json(&market.join("plugins/taskie/hooks/hooks.json"), &hooks);
        let known = json!({"m": {"source": {"source": "directory"}, "installLocation": market}});
        write_json(&own.join("plugins/known_marketplaces.json"), &known);
        let copy = own.join("plugins/cache/n/other/1");
        let installed = json!({"plugins": {"other@n": [{"installPath": copy}]}});
        write_json(&own.join("plugins/installed_plugins.json"), &installed);
        let settings =
            json!({"enabledPlugins": {"taskie@m": true, "other@n": true, "off@m": true, "none@x": true}});
        write_json(&own.join("settings.json"), &settings);
        write_json(&project.join(".claude/settings.json"), &json!({"enabledPlugins": {"off@m": false}}));
        let sources = list_registrations(&places, &project);
        let plugins: Vec<_> =
            sources.iter().filter(|source| matches!(source.scope, SettingsScope::Plugin { .. })).collect();
        assert_eq!(plugins.len(), 3, "{plugins:?}");
        assert!(plugins[2].ignored_because.as_ref().is_some_and(|why| why.contains("not installed")));
        assert_eq!(plugins[0].file, market.join("plugins/taskie/hooks/hooks.json"));
        assert!(plugins[0].ignored_because.is_none() && plugins[0].hooks[0].calls_provost);
        assert!(plugins[1].ignored_because.as_ref().is_some_and(|why| why.contains("plugin.json")));
    }
}
