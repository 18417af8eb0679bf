//! Rules for all plugins: one marketplace, one version, one form, and each plugin is complete.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{isdlc, json_file, planner, rodin, root, taskie, text};

#[test]
fn the_marketplace_offers_every_plugin_as_it_calls_itself() {
    let marketplace = json_file(root().join(".claude-plugin/marketplace.json"));
    assert_eq!(marketplace["name"], "provost");
    let offers = marketplace["plugins"].as_array().unwrap();
    let folders = fs::read_dir(root().join("plugins")).unwrap().count();
    assert_eq!(offers.len(), folders);
    for offer in offers {
        let folder = root().join(offer["source"].as_str().unwrap());
        let plugin = json_file(folder.join(".claude-plugin/plugin.json"));
        assert_eq!(plugin["name"], offer["name"]);
        assert_eq!(plugin["description"], offer["description"]);
        assert_eq!(offer["source"], format!("./plugins/{}", plugin["name"].as_str().unwrap()));
        assert!(offer.get("version").is_none(), "the plugin's own version counts");
        assert_eq!(plugin["version"], env!("CARGO_PKG_VERSION"), "plugin and program are released together");
    }
}

#[test]
fn the_client_finds_nothing_wrong_with_marketplace_and_plugins() {
    let Some(client) = crate::support::client::find_client() else { return };
    // Each plugin is checked in a directory of its own.
    let alone = tempfile::tempdir().unwrap();
    let mut folders = vec![root().to_owned()];
    for plugin in plugins() {
        let copied = Command::new("cp").arg("-R").arg(&plugin).arg(alone.path()).status();
        assert!(copied.unwrap().success());
        folders.push(alone.path().join(name_of(&plugin)));
    }
    for folder in folders {
        let home = tempfile::tempdir().unwrap();
        let output = Command::new(&client)
            .args(["plugin", "validate", "--strict"])
            .arg(&folder)
            .env_clear()
            .envs([("PATH", "/usr/bin:/bin"), ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")])
            .env("HOME", home.path())
            .current_dir(home.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{}: {told}", folder.display());
        assert!(told.contains("Validation passed"), "{told}");
    }
}

/// Every file of a plugin, by its relative path.
fn files_of(plugin: &Path) -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![plugin.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            assert!(!path.is_symlink(), "{}: a link may lead to what is not installed", path.display());
            if path.is_dir() { open.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

fn plugins() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        fs::read_dir(root().join("plugins")).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    assert_eq!(found, [isdlc(), rodin(), taskie(), planner()]);
    found
}

fn name_of(plugin: &Path) -> &str {
    plugin.file_name().and_then(|name| name.to_str()).unwrap()
}

/// The client installs only the plugin's directory. Only its README may link to other files.
#[test]
fn every_plugin_is_complete_by_itself() {
    for plugin in plugins() {
        for path in files_of(&plugin) {
            let is_page = path == plugin.join("README.md");
            let leads_out = text(&path).contains("../") && !is_page;
            assert!(!leads_out, "{}: `../` leads out of what is installed", path.display());
        }
        let hooks = json_file(plugin.join("hooks/hooks.json"));
        let groups =
            hooks["hooks"].as_object().unwrap().values().flat_map(|groups| groups.as_array().unwrap());
        for entry in groups.flat_map(|group| group["hooks"].as_array().unwrap()) {
            let command = entry["command"].as_str().unwrap();
            assert!(entry["timeout"].as_u64().is_some(), "{command}: a hook without a limit");
            // The planner's directory is made by a program of the system.
            let Some(script) = command.strip_prefix("${CLAUDE_PLUGIN_ROOT}/") else {
                assert!(!command.contains('/'), "{command} is not in the plugin");
                continue;
            };
            let mode = fs::metadata(plugin.join(script)).expect(script).permissions().mode();
            assert_eq!(mode & 0o777, 0o755, "{}: {script}", plugin.display());
        }
    }
}

/// A project's rules hold wherever a plugin is installed, and no tool changes them.
#[test]
fn every_plugin_asks_the_rules_and_protects_them() {
    use provost::clients::DEFAULT_CLIENT;
    use provost::registry::list_guards_in;
    for plugin in plugins() {
        let hooks = json_file(plugin.join("hooks/hooks.json"));
        for pack in ["self", "rules", "workflow"] {
            let needed = (DEFAULT_CLIENT.installation().list_needed_entries)(&list_guards_in(&[pack]), false);
            for needed in needed {
                let groups = hooks["hooks"][needed.event].as_array();
                let groups = groups.unwrap_or_else(|| panic!("{}: {}", plugin.display(), needed.event));
                let is_it = |group: &serde_json::Value| {
                    let asks = |entry: &serde_json::Value| {
                        entry["args"].as_array().unwrap().iter().any(|word| word == pack)
                    };
                    group["matcher"].as_str() == needed.matcher
                        && group["hooks"].as_array().unwrap().iter().any(asks)
                };
                assert!(groups.iter().any(is_it), "{}: {pack} at {}", plugin.display(), needed.event);
            }
        }
    }
}

/// The README is all that users see in the client's list of plugins.
#[test]
fn every_plugins_page_tells_how_to_install_it_what_a_block_looks_like_and_the_way_out() {
    for plugin in plugins() {
        let (page, name) = (text(plugin.join("README.md")), name_of(&plugin));
        assert!(page.starts_with(&format!("# {name}\n")), "{name}");
        for part in ["\n## Install\n", "\n## What a block looks like\n", "\n## How to ", "\n## What runs\n"] {
            assert!(page.contains(part), "{name}: {part:?}");
        }
        for line in
            [format!("claude plugin install {name}@provost"), format!("claude plugin disable {name}@provost")]
        {
            assert!(page.contains(&line), "{name}: {line}");
        }
    }
}

/// Rehearsals install each plugin with the real client, with and without the program.
#[test]
fn every_plugin_is_installed_and_used_in_rehearsals() {
    for plugin in plugins() {
        let command = format!("plugin install {}@provost", name_of(&plugin));
        let entries = fs::read_dir(root().join("rehearsals")).unwrap().map(|entry| entry.unwrap().path());
        let scenes: Vec<PathBuf> = entries
            .filter(|path| {
                path.extension().is_some_and(|kind| kind == "toml") && text(path).contains(&command)
            })
            .collect();
        let without = |path: &PathBuf| path.to_string_lossy().ends_with("-without-provost.toml");
        assert!(scenes.iter().any(without), "{command}: no rehearsal without the program");
        assert!(!scenes.iter().all(without), "{command}: no rehearsal with the program");
    }
}

/// The client does not accept a bare `.`.
#[test]
fn the_marketplace_is_added_as_the_pages_say() {
    let mut pages = vec![root().join("README.md")];
    pages.extend(fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path()));
    pages.extend(plugins().iter().map(|plugin| plugin.join("README.md")));
    pages.retain(|page| page.extension().is_some_and(|kind| kind == "md"));
    let sources: Vec<String> = pages
        .iter()
        .flat_map(|page| {
            let text = text(page);
            let source =
                |line: &str| line.trim().strip_prefix("claude plugin marketplace add ").map(str::to_owned);
            text.lines().filter_map(source).collect::<Vec<_>>()
        })
        .collect();
    // The README, the guide, and two pages for each plugin.
    assert_eq!(sources.len(), 10);
    assert!(sources.windows(2).all(|pair| pair[0] == pair[1]), "{sources:?}");
    let Some(client) = crate::support::client::find_client() else { return };
    let home = tempfile::tempdir().unwrap();
    let output = Command::new(&client)
        .args(["plugin", "marketplace", "add", &sources[0]])
        .env_clear()
        .envs([("PATH", "/usr/bin:/bin"), ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")])
        .env("HOME", home.path())
        .current_dir(root())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
