//! Every hook that Claude Code would run in a project, read from where it is registered.
//!
//! Settings files and plugins register hooks, and the client runs them all. What cannot be read is
//! told with the place where it stands, because the client only drops it. Nothing is run here.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{installation, settings};
use crate::clients::{Hook, Reach, Scope, Source, Switch};
use crate::faults;
use crate::files;
use crate::workspace::Places;

/// No settings file that people write is as large.
const LARGEST: u64 = 8 << 20;

pub(super) fn all(places: &Places, project: &Path) -> Vec<Source> {
    let mut sources = Vec::new();
    for (scope, file) in settings_files(places, project) {
        sources.extend(settings_source(scope, file));
    }
    let plugins = enabled_plugins(&sources);
    for name in plugins {
        sources.push(plugin_source(&name, places));
    }
    sources
}

/// The settings files of a project by the order in which they count, the strongest first.
pub(super) fn settings_files(places: &Places, project: &Path) -> Vec<(Scope, PathBuf)> {
    let own = super::own_directory(places).map(|own| (Scope::User, own.join("settings.json")));
    let folder = project.join(".claude");
    let mut files = vec![(Scope::Managed, managed_file())];
    files.push((Scope::Local, folder.join("settings.local.json")));
    files.push((Scope::Project, folder.join("settings.json")));
    // A project may be the home itself: then its settings are the person's.
    files.extend(own.filter(|(_, file)| *file != folder.join("settings.json")));
    files
}

/// The settings of an administrator; tests have theirs elsewhere.
fn managed_file() -> PathBuf {
    let elsewhere = faults::switch("PROVOST_MANAGED").map(PathBuf::from);
    elsewhere.map_or_else(settings::managed_file, |folder| folder.join("managed-settings.json"))
}

fn settings_source(scope: Scope, file: PathBuf) -> Option<Source> {
    let mut source = Source { file, scope, ..Source::default() };
    let text = match read(&source.file) {
        Ok(None) => return None,
        Ok(Some(text)) => text,
        Err(why) => {
            source.void = Some(why);
            return Some(source);
        }
    };
    match settings::read(Some(&text)) {
        Ok(switches) => {
            source.off = switches.off.into_iter().filter_map(|name| switch(name, &source.scope)).collect();
        }
        Err(why) => source.void = Some(why),
    }
    // A byte order mark is no part of the text.
    if let Ok(file) = serde_json::from_str::<Value>(text.trim_start_matches('\u{feff}')) {
        source.hooks = hooks(&file["hooks"]);
        source.settings = file;
    }
    Some(source)
}

/// What a switch in a file of this scope does; `None`: nothing there.
fn switch(name: String, scope: &Scope) -> Option<Switch> {
    let reach = match name.trim_matches('`') {
        settings::ONLY_MANAGED if *scope != Scope::Managed => return None,
        settings::ONLY_MANAGED => Reach::HooksOfOthers,
        settings::ALL_OFF => Reach::Hooks,
        _ => Reach::Provost,
    };
    Some(Switch { name, reach })
}

/// The plugins that are on: of several files that name one, the strongest counts.
fn enabled_plugins(sources: &[Source]) -> Vec<String> {
    let mut seen: Vec<(&String, bool)> = Vec::new();
    for source in sources.iter().filter(|source| source.void.is_none()) {
        for (name, on) in source.settings["enabledPlugins"].as_object().into_iter().flatten() {
            if !seen.iter().any(|(known, _)| *known == name) {
                seen.push((name, *on != Value::Bool(false)));
            }
        }
    }
    seen.into_iter().filter(|(_, on)| *on).map(|(name, _)| name.clone()).collect()
}

/// What a plugin registers; one that is enabled but not there has no root, and registers nothing.
fn plugin_source(name: &str, places: &Places) -> Source {
    let Some(root) = plugin_root(name, places) else {
        let scope = Scope::Plugin { name: name.to_owned(), root: PathBuf::new() };
        let void = Some("it is enabled, but not installed".to_owned());
        return Source { scope, void, ..Source::default() };
    };
    let mut source = Source {
        file: root.join("hooks/hooks.json"),
        scope: Scope::Plugin { name: name.to_owned(), root: root.clone() },
        ..Source::default()
    };
    for (file, is_needed) in [(root.join(".claude-plugin/plugin.json"), true), (source.file.clone(), false)] {
        match read(&file).map(|text| text.map(|text| (serde_json::from_str::<Value>(&text), text))) {
            Ok(None) if is_needed => source.void = Some(format!("there is no file {}", file.display())),
            Ok(None) => {}
            Ok(Some((Ok(content), text))) => {
                if let Err(why) = settings::read(Some(&text)) {
                    source.void = Some(why);
                }
                source.hooks.extend(hooks(&content["hooks"]));
            }
            Ok(Some((Err(error), _))) => {
                source.void = Some(format!("{} is no JSON ({error})", file.display()));
            }
            Err(why) => source.void = Some(why),
        }
    }
    source
}

/// Where a plugin (`name@marketplace`) lies. From a marketplace that is a directory, the client reads it in
/// its place; from others, a copy.
pub(super) fn plugin_root(name: &str, places: &Places) -> Option<PathBuf> {
    let plugins = super::own_directory(places)?.join("plugins");
    let json = |file: &Path| -> Value {
        let text = read(file).ok().flatten().unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    };
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

/// The hooks below `hooks` of a settings file or a plugin; what has another form is not one.
fn hooks(events: &Value) -> Vec<Hook> {
    let mut found = Vec::new();
    for (event, groups) in events.as_object().into_iter().flatten() {
        for group in groups.as_array().into_iter().flatten() {
            let matcher = group["matcher"].as_str().filter(|matcher| !settings::matches_all(matcher));
            for entry in group["hooks"].as_array().into_iter().flatten() {
                found.push(hook(event, matcher, entry));
            }
        }
    }
    found
}

fn hook(event: &str, matcher: Option<&str>, entry: &Value) -> Hook {
    let texts = |value: &Value| -> Option<Vec<String>> {
        let list = value.as_array()?;
        Some(list.iter().map(|text| text.as_str().unwrap_or_default().to_owned()).collect())
    };
    let arguments = texts(&entry["args"]);
    let command = entry["command"].as_str().unwrap_or_default().to_owned();
    let words = match &arguments {
        Some(arguments) => arguments.clone(),
        None => command.split_whitespace().map(|word| word.trim_matches(['"', '\'']).to_owned()).collect(),
    };
    let pairs = words.iter().zip(words.iter().skip(1));
    let kind = entry["type"].as_str().unwrap_or_default().to_owned();
    // Of any other kind, the client does not look at the command.
    let is_run = kind == "command";
    Hook {
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

/// A file's text; `None`: there is none.
fn read(file: &Path) -> Result<Option<String>, String> {
    let bytes = files::read(file, LARGEST).map_err(|error| format!("the file cannot be read ({error})"))?;
    bytes.map(|bytes| String::from_utf8(bytes).map_err(|_| "the file is not UTF-8".to_owned())).transpose()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    fn written(file: &Path, content: &Value) {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, content.to_string()).unwrap();
    }

    fn stage() -> (tempfile::TempDir, Places, PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let home = Some(root.path().join("home"));
        let places = Places { home, config: None, state: None, managed: None };
        let project = root.path().join("project");
        (root, places, project)
    }

    #[test]
    fn hooks_of_settings_files_are_found_with_their_place() {
        let (_root, places, project) = stage();
        let entry = json!({"type": "command", "command": "/usr/bin/provost", "args": ["hook", "--pack", "self"],
            "timeout": 10, "onFailure": "block"});
        let group = json!([{"matcher": "Bash", "hooks": [entry, {"type": "prompt", "prompt": "ok?"}, 5]}, 7]);
        written(&project.join(".claude/settings.json"), &json!({"hooks": {"PreToolUse": group, "Stop": 5}}));
        let sources = all(&places, &project);
        assert_eq!(sources.len(), 1);
        assert_eq!(sources[0].scope, Scope::Project);
        let hook = &sources[0].hooks[0];
        assert_eq!((hook.event.as_str(), hook.matcher.as_deref()), ("PreToolUse", Some("Bash")));
        assert!(hook.calls_provost && hook.blocks_on_failure && hook.packs == ["self"]);
        assert_eq!(hook.seconds, Some(10.0));
        assert_eq!(sources[0].hooks[1].kind, "prompt");
        assert!(sources[0].void.is_some(), "the client drops a file with a hook that is a number");
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
    fn what_the_client_drops_says_so() {
        let (_root, places, project) = stage();
        for (file, text) in [("settings.json", "{"), ("settings.local.json", "{\"disableAllHooks\": true}")] {
            let file = project.join(".claude").join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let sources = all(&places, &project);
        assert_eq!(sources[0].scope, Scope::Local);
        assert_eq!(sources[0].off, [Switch { name: "`disableAllHooks`".into(), reach: Reach::Hooks }]);
        assert!(sources[1].void.is_some() && sources[1].hooks.is_empty());
    }

    #[test]
    fn plugins_that_are_on_are_read_where_the_client_reads_them() {
        let (root, places, project) = stage();
        let own = places.home.clone().unwrap().join(".claude");
        let market = root.path().join("market");
        let entry =
            json!({"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/hooks/provost.sh", "args": ["hook"]});
        let hooks = json!({"hooks": {"Stop": [{"hooks": [entry]}]}});
        let offers = json!({"plugins": [{"name": "taskie", "source": "./plugins/taskie"}]});
        written(&market.join(".claude-plugin/marketplace.json"), &offers);
        written(&market.join("plugins/taskie/.claude-plugin/plugin.json"), &json!({"name": "taskie"}));
        written(&market.join("plugins/taskie/hooks/hooks.json"), &hooks);
        let known = json!({"m": {"source": {"source": "directory"}, "installLocation": market}});
        written(&own.join("plugins/known_marketplaces.json"), &known);
        let copy = own.join("plugins/cache/n/other/1");
        let installed = json!({"plugins": {"other@n": [{"installPath": copy}]}});
        written(&own.join("plugins/installed_plugins.json"), &installed);
        let settings =
            json!({"enabledPlugins": {"taskie@m": true, "other@n": true, "off@m": true, "none@x": true}});
        written(&own.join("settings.json"), &settings);
        written(&project.join(".claude/settings.json"), &json!({"enabledPlugins": {"off@m": false}}));
        let sources = all(&places, &project);
        let plugins: Vec<_> =
            sources.iter().filter(|source| matches!(source.scope, Scope::Plugin { .. })).collect();
        assert_eq!(plugins.len(), 3, "{plugins:?}");
        assert!(plugins[2].void.as_ref().is_some_and(|why| why.contains("not installed")));
        assert_eq!(plugins[0].file, market.join("plugins/taskie/hooks/hooks.json"));
        assert!(plugins[0].void.is_none() && plugins[0].hooks[0].calls_provost);
        assert!(plugins[1].void.as_ref().is_some_and(|why| why.contains("plugin.json")));
    }
}
