//! The plugins: what their files promise, what their scripts do, and what the client says of them.
//!
//! How they behave in a session is rehearsed (`rehearsals/planner-*.toml`, `rehearsals/plan-gate-*.toml`).
//! Here are the integration tests of the planner's document by their names, what the plan gate's
//! document says word for word, the form that the review loop's commands share with the program, and a
//! machine on which the program is missing.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};
use support::{Answer, TestProject};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn planner() -> PathBuf {
    root().join("plugins/tdd-planner")
}

fn rodin() -> PathBuf {
    root().join("plugins/rodin")
}

fn taskie() -> PathBuf {
    root().join("plugins/taskie")
}

fn isdlc() -> PathBuf {
    root().join("plugins/isdlc")
}

fn text(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn json_file(path: impl AsRef<Path>) -> Value {
    serde_json::from_str(&text(path)).unwrap()
}

/// The frontmatter of a Markdown file, each value under the keys that lead to it. Lists make no
/// difference to the path.
fn frontmatter(path: impl AsRef<Path>) -> BTreeMap<String, String> {
    let text = text(path);
    let (head, _) = text.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap();
    let mut values = BTreeMap::new();
    let mut above: Vec<(usize, &str)> = Vec::new();
    for line in head.lines() {
        let content = line.trim_start_matches([' ', '-']);
        let indent = line.len() - content.len();
        above.retain(|(outer, _)| *outer < indent);
        let (key, value) = content.split_once(':').unwrap_or((content, ""));
        above.push((indent, key));
        let path: Vec<&str> = above.iter().map(|(_, key)| *key).collect();
        values.insert(path.join("."), value.trim().trim_matches('"').to_owned());
    }
    values
}

/// The entry of a hook file for a matcher.
fn entry(event: &str, matcher: &str) -> Value {
    let hooks = json_file(planner().join("hooks/hooks.json"));
    let groups = hooks["hooks"][event].as_array().unwrap();
    let group = groups.iter().find(|group| group["matcher"] == matcher).unwrap();
    assert_eq!(group["hooks"].as_array().unwrap().len(), 1);
    group["hooks"][0].clone()
}

#[test]
fn planner_frontmatter_contains_pre_tool_use_bash_hook() {
    let agent = frontmatter(planner().join("agents/tdd-planner.md"));
    assert_eq!(agent["hooks.PreToolUse.matcher"], "Bash");
    assert_eq!(agent["hooks.PreToolUse.hooks.type"], "command");
    assert_eq!(agent["hooks.PreToolUse.hooks.command"], "${CLAUDE_PLUGIN_ROOT}/hooks/planner-bash-guard.sh");
}

#[test]
fn planner_frontmatter_contains_stop_hook() {
    let agent = frontmatter(planner().join("agents/tdd-planner.md"));
    assert_eq!(agent["hooks.Stop.hooks.type"], "command");
    assert_eq!(agent["hooks.Stop.hooks.command"], "${CLAUDE_PLUGIN_ROOT}/hooks/validate-plan-output.sh");
}

#[test]
fn all_existing_frontmatter_fields_are_preserved() {
    let agent = frontmatter(planner().join("agents/tdd-planner.md"));
    for field in
        ["name", "description", "tools", "disallowedTools", "model", "permissionMode", "maxTurns", "skills"]
    {
        assert!(agent.contains_key(field), "{field}");
    }
    assert_eq!(agent["name"], "tdd-planner");
    for tool in ["Write", "Edit", "MultiEdit"] {
        assert!(agent["disallowedTools"].split(", ").any(|name| name == tool), "{tool}");
        assert!(!agent["tools"].split(", ").any(|name| name == tool), "{tool}");
    }
    assert!(planner().join("skills/plan-form/SKILL.md").is_file());
    assert!(agent.contains_key("skills.plan-form"), "{agent:?}");
}

#[test]
fn hooks_json_contains_subagent_stop_entry_for_tdd_planner() {
    let entry = entry("SubagentStop", "tdd-planner");
    assert_eq!(entry["type"], "command");
    assert_eq!(entry["command"], "${CLAUDE_PLUGIN_ROOT}/hooks/validate-plan-output.sh");
    assert_eq!(entry["timeout"], 10);
}

#[test]
fn hooks_json_is_valid_json_and_all_its_entries_are_there() {
    let hooks = json_file(planner().join("hooks/hooks.json"));
    let events: Vec<&String> = hooks["hooks"].as_object().unwrap().keys().collect();
    assert_eq!(events, ["PreToolUse", "SubagentStart", "SubagentStop", "UserPromptSubmit", "Stop"]);
    // The client knows the plugin's agent by both names, and a plain matcher is an exact one.
    let asked = json!(["hook", "--pack", "planner"]);
    assert_eq!(entry("PreToolUse", "*")["args"], asked);
    assert_eq!(entry("PreToolUse", "*")["onFailure"], "block");
    assert_eq!(entry("SubagentStop", ":tdd-planner$")["args"], asked);
    assert_eq!(hooks["hooks"]["Stop"][0]["hooks"][0]["args"], asked);
    // The person's way out of the planner's guards.
    assert_eq!(hooks["hooks"]["UserPromptSubmit"][0]["hooks"][0]["args"], json!(["hook", "--pack", "self"]));
}

#[test]
fn every_command_of_the_hooks_is_there_and_can_be_run() {
    let mut named: Vec<String> = Vec::new();
    let hooks = json_file(planner().join("hooks/hooks.json"));
    for group in hooks["hooks"].as_object().unwrap().values().flat_map(|groups| groups.as_array().unwrap()) {
        named.push(group["hooks"][0]["command"].as_str().unwrap().to_owned());
    }
    let agent = frontmatter(planner().join("agents/tdd-planner.md"));
    named.extend(agent.into_iter().filter(|(key, _)| key.ends_with(".command")).map(|(_, value)| value));
    let scripts: Vec<&str> =
        named.iter().filter_map(|command| command.strip_prefix("${CLAUDE_PLUGIN_ROOT}/")).collect();
    assert!(scripts.len() >= 6, "{named:?}");
    for script in scripts {
        let mode = fs::metadata(planner().join(script)).expect(script).permissions().mode();
        assert_eq!(mode & 0o777, 0o755, "{script}");
    }
}

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
    let Some(client) = support::client::find() else { return };
    // Each plugin is looked at where nothing else is.
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

/// Every file of a plugin, by its path in it.
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

/// The client installs the folder and nothing around it. Only the page for people links to the others.
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

/// A page that is all that somebody sees in the client's list of plugins.
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

/// Whether the real client installs it, and what happens then, with the program and without.
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

/// The client takes a bare `.` for the name of nothing.
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
    // The first page, the guide, and two for each plugin.
    assert_eq!(sources.len(), 10);
    assert!(sources.windows(2).all(|pair| pair[0] == pair[1]), "{sources:?}");
    let Some(client) = support::client::find() else { return };
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

/// The form that the planner is given is one that its validator accepts.
#[test]
fn the_example_of_a_plan_passes_the_validator() {
    let machine = Machine::without_provost().install(".cargo/bin/provost");
    let skill = text(planner().join("skills/plan-form/SKILL.md"));
    let example: Vec<&str> = skill
        .lines()
        .filter_map(|line| line.strip_prefix("    ").or(line.is_empty().then_some("")))
        .collect();
    let example = example.join("\n");
    assert!(example.contains("\n### Slice 1: "), "{example}");
    machine.project.file("planning/20260131_0930_login_throttle.md", &example);
    let answer = machine.run("validate-plan-output.sh", &[], &machine.stop("tdd-planner", false));
    assert!(answer.is_silent(), "{answer:?}");
}

const HOOK: &[&str] = &["hook", "--pack", "planner"];

/// A machine with the few programs that the scripts call, and with or without Provost.
struct Machine {
    project: TestProject,
    programs: PathBuf,
    plugin: PathBuf,
}

impl Machine {
    fn without_provost() -> Self {
        let project = TestProject::new();
        let programs = project.home.join("programs");
        fs::create_dir_all(&programs).unwrap();
        for name in ["cat", "grep"] {
            let found = ["/usr/bin", "/bin"].map(|folder| Path::new(folder).join(name));
            symlink(found.iter().find(|path| path.is_file()).unwrap(), programs.join(name)).unwrap();
        }
        Self { project, programs, plugin: planner() }
    }

    fn of(self, plugin: PathBuf) -> Self {
        Self { plugin, ..self }
    }

    /// Puts Provost somewhere below the home.
    fn install(self, place: &str) -> Self {
        let path = self.project.home.join(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(support::program(), path).unwrap();
        self
    }

    /// The same with a program in its place that shows how it was called.
    fn install_echo(self, place: &str) -> Self {
        let script = self.project.home_file("echo", "#!/bin/sh\necho \"$@\"\ncat\nexit 2\n");
        let path = self.project.home.join(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // Another process writes the file: one that this process has open, and a parallel test
        // may inherit at that moment, cannot be run.
        let copied = Command::new("install").args(["-m", "755"]).arg(script).arg(path).status();
        assert!(copied.unwrap().success());
        self
    }

    fn run(&self, script: &str, arguments: &[&str], event: &Value) -> Answer {
        let compact = self.run_on(script, arguments, &event.to_string());
        let spaced = self.run_on(script, arguments, &format!("{event:#}"));
        assert_eq!(
            (compact.code, &compact.stderr),
            (spaced.code, &spaced.stderr),
            "spaces made a difference"
        );
        compact
    }

    fn run_on(&self, script: &str, arguments: &[&str], input: &str) -> Answer {
        let began = Instant::now();
        let mut child = Command::new(self.plugin.join("hooks").join(script))
            .args(arguments)
            .env_clear()
            .env("PATH", &self.programs)
            .env("HOME", &self.project.home)
            .current_dir(&self.project.path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        support::finish(child, began, None)
    }

    fn call(&self, agent: &str) -> Value {
        let mut event = self.project.event("PreToolUse.Bash.in_subagent");
        event["agent_type"] = agent.into();
        event
    }

    fn stop(&self, agent: &str, active: bool) -> Value {
        let mut event = self.project.event("SubagentStop.general-purpose");
        event["agent_type"] = agent.into();
        event["stop_hook_active"] = active.into();
        event
    }
}

#[test]
fn without_the_program_the_planner_is_held() {
    let machine = Machine::without_provost();
    for agent in ["tdd-planner", "tdd-planner:tdd-planner", "other-plugin:tdd-planner"] {
        let answer = machine.run("provost.sh", HOOK, &machine.call(agent));
        let told = answer.closed_failure();
        assert!(told.contains("BLOCKED") && told.contains("no program `provost`"), "{told}");
        assert!(told.contains("disable the plugin"), "no way out: {told}");
        machine.run("provost.sh", HOOK, &machine.stop(agent, false)).closed_failure();
        let again = machine.run("provost.sh", HOOK, &machine.stop(agent, true));
        assert!(again.is_silent(), "it would be held for ever: {again:?}");
    }
    let mut call = machine.call("tdd-planner");
    call["tool_input"]["stop_hook_active"] = true.into();
    machine.run("provost.sh", HOOK, &call).closed_failure();
}

#[test]
fn without_the_program_nobody_else_is_held() {
    let machine = Machine::without_provost();
    let mut events = vec![
        machine.project.event("PreToolUse.Bash"),
        machine.project.event("PreToolUse.Write"),
        machine.project.event("Stop.active_false"),
    ];
    for agent in ["", "general-purpose", "not-tdd-planner", "tdd-planner-2", "tdd-planner:other"] {
        events.extend([machine.call(agent), machine.stop(agent, false)]);
    }
    // Someone else who starts the planner, or speaks of it, or has it in the background.
    let mut starting = machine.project.event("PreToolUse.Agent.in_subagent");
    starting["tool_input"]["subagent_type"] = "tdd-planner:tdd-planner".into();
    let quoting = machine.project.bash(r#"echo '{"agent_type":"tdd-planner"}'"#);
    let mut waiting = machine.project.event("Stop.active_false.bgtask");
    waiting["background_tasks"][0]["agent_type"] = "tdd-planner:tdd-planner".into();
    events.extend([starting, quoting, waiting]);
    for event in events {
        let answer = machine.run("provost.sh", HOOK, &event);
        assert!(answer.is_silent(), "{event}: {answer:?}");
    }
}

#[test]
fn without_the_program_the_persons_prompts_go_on() {
    let machine = Machine::without_provost();
    let mut event = machine.project.event("UserPromptSubmit");
    event["agent_type"] = "tdd-planner:tdd-planner".into();
    let answer = machine.run("provost.sh", &["hook", "--pack", "self"], &event);
    assert!(answer.is_silent(), "{answer:?}");
}

/// Whoever calls the scripts of the document calls them for the planner, whatever the event says.
#[test]
fn without_the_program_the_documents_scripts_block() {
    let machine = Machine::without_provost();
    let call = json!({"tool_input": {"command": "cat README.md"}});
    machine.run("planner-bash-guard.sh", &[], &call).closed_failure();
    machine.run("validate-plan-output.sh", &[], &json!({"stop_hook_active": false})).closed_failure();
    let again = machine.run("validate-plan-output.sh", &[], &json!({"stop_hook_active": true}));
    assert!(again.is_silent(), "{again:?}");
}

#[test]
fn the_scripts_ask_the_program_and_pass_everything_on() {
    for place in ["programs/provost", ".cargo/bin/provost", ".local/bin/provost"] {
        let machine = Machine::without_provost().install_echo(place);
        for (script, arguments, asked) in [
            ("provost.sh", HOOK, "hook --pack planner"),
            ("planner-bash-guard.sh", &[], "compat planner-bash-guard"),
            ("validate-plan-output.sh", &[], "compat validate-plan-output"),
        ] {
            let answer = machine.run_on(script, arguments, "{\"any\": 1}\n\n");
            assert_eq!(answer.stdout, format!("{asked}\n{{\"any\": 1}}\n\n"), "{script}");
            assert_eq!(answer.code, Some(2), "{script}");
        }
    }
}

const GATE: &[&str] = &["hook", "--pack", "self", "--pack", "plan-gate"];

#[test]
fn the_gates_hooks_are_one_command_for_each_event() {
    let hooks = json_file(rodin().join("hooks/hooks.json"));
    let events = hooks["hooks"].as_object().unwrap();
    let (after, own) = (json!(["hook", "--pack", "plan-gate"]), json!(["hook", "--pack", "self"]));
    let expected = [
        ("PreToolUse", json!("*"), json!(GATE)),
        ("PostToolUse", json!("*"), after.clone()),
        ("SubagentStop", Value::Null, after),
        ("UserPromptSubmit", Value::Null, own.clone()),
        ("SessionStart", Value::Null, own.clone()),
        ("ConfigChange", Value::Null, own),
    ];
    assert_eq!(events.len(), expected.len());
    for (event, matcher, arguments) in expected {
        let group = &events[event][0];
        assert_eq!(group["matcher"], matcher, "{event}");
        let entry = &group["hooks"][0];
        assert_eq!(entry["args"], arguments, "{event}");
        assert_eq!(entry["command"], "${CLAUDE_PLUGIN_ROOT}/hooks/provost.sh");
        // Above Provost's own deadline; at the way out reviewers may be asked.
        assert_eq!(entry["timeout"], if event == "PreToolUse" { 1000 } else { 10 }, "{event}");
        // A way out of plan mode that nobody judged is worse than a call that is held.
        assert_eq!(entry["onFailure"], if event == "PreToolUse" { json!("block") } else { Value::Null });
    }
    let mode = fs::metadata(rodin().join("hooks/provost.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
}

/// With `assess = "exit"` the client must not give up before the hook does.
#[test]
fn the_gates_hook_may_take_as_long_as_an_assessment_by_default() {
    let mut config = provost::config::Config::default();
    config.insist("plan_gate.assess", "exit");
    let own = provost::plan_gate::gate::deadline(&config).unwrap();
    let hooks = json_file(rodin().join("hooks/hooks.json"));
    let limit = hooks["hooks"]["PreToolUse"][0]["hooks"][0]["timeout"].as_u64().unwrap();
    assert!(limit > own.as_secs() + 5, "{own:?}");
}

#[test]
fn the_judges_have_no_tools_and_the_detector_only_what_it_needs() {
    for (name, model, tools) in
        [("critic", "opus", "[]"), ("validator", "haiku", "[]"), ("leakage-detector", "haiku", "Read, Edit")]
    {
        let agent = frontmatter(rodin().join(format!("agents/{name}.md")));
        assert_eq!((agent["name"].as_str(), agent["model"].as_str()), (name, model));
        assert_eq!(agent["tools"], tools, "{name}");
    }
}

/// The words and the order of the document's skill flow.
#[test]
fn the_skill_follows_the_document_step_by_step() {
    let skill = text(rodin().join("skills/plan-gate/SKILL.md"));
    let steps = [
        "Must be invoked in plan mode",
        "Plan must have ## Goals section. Add success criteria and re-run.",
        "Plan must have gaps block. Add <!-- rodin:gaps:start/end --> markers and re-run.",
        "`rodin:leakage-detector`",
        "`rodin:critic`",
        "The plan:\n",
        "### FINDING-1:",
        "### NO ISSUES FOUND",
        "`rodin:validator`",
        "The gaps:\n",
        "The findings:\n",
        "### VERDICT: PASS",
        r#"<!-- rodin:verdict:signal={"status":"pass","reason":"All findings covered"} -->"#,
        r#"<!-- rodin:verdict:signal={"status":"fail","reason":"Uncovered findings X, Y, Z"} -->"#,
        "Ready to exit plan mode",
        "Update gaps to cover findings, re-run",
    ];
    let mut rest = skill.as_str();
    for step in steps {
        let (_, after) = rest.split_once(step).unwrap_or_else(|| panic!("not there, or too early: {step}"));
        rest = after;
    }
    assert!(skill.contains("run_in_background: false") && skill.contains("started once more"));
}

#[test]
fn without_the_program_no_plan_leaves_plan_mode() {
    let machine = Machine::without_provost().of(rodin());
    let mut leaving = machine.project.event("PreToolUse.ExitPlanMode");
    for plan in [json!({}), leaving["tool_input"].clone(), json!({"plan": "\"tool_name\": \"Bash\""})] {
        leaving["tool_input"] = plan;
        let answer = machine.run("provost.sh", GATE, &leaving);
        let told = &answer.stderr;
        assert_eq!((answer.code, answer.stdout.as_str()), (Some(2), ""));
        assert!(told.starts_with("[RODIN] BLOCKED") && told.contains("no program `provost`"), "{told}");
        assert!(told.contains("To fix: ") && told.contains("disable the plugin"), "no way out: {told}");
    }
}

#[test]
fn without_the_program_all_but_the_way_out_of_plan_mode_goes_on() {
    let machine = Machine::without_provost().of(rodin());
    let mut events: Vec<Value> = [
        "PreToolUse.Bash",
        "PreToolUse.Write",
        "PreToolUse.Agent",
        "PreToolUse.EnterPlanMode",
        "PostToolUse.ExitPlanMode",
        "SubagentStop.general-purpose",
        "UserPromptSubmit",
        "SessionStart.startup",
        "ConfigChange",
    ]
    .map(|name| machine.project.event(name))
    .into();
    events.push(machine.project.bash(r#"echo '{"tool_name":"ExitPlanMode"}'"#));
    for event in events {
        let answer = machine.run("provost.sh", GATE, &event);
        assert!(answer.is_silent(), "{event}: {answer:?}");
    }
}

#[test]
fn the_gates_script_asks_the_program_and_passes_everything_on() {
    for place in ["programs/provost", ".cargo/bin/provost", ".local/bin/provost"] {
        let machine = Machine::without_provost().of(rodin()).install_echo(place);
        let answer = machine.run_on("provost.sh", GATE, "{\"any\": 1}\n\n");
        assert_eq!(answer.stdout, "hook --pack self --pack plan-gate\n{\"any\": 1}\n\n");
        assert_eq!(answer.code, Some(2));
    }
}

const LOOP: &[&str] = &["hook", "--pack", "review-loop"];

const REVIEWS: [&str; 4] = ["all-code-review", "code-review", "plan-review", "tasks-review"];

const COMMANDS: [&str; 17] = [
    "add-task",
    "all-code-review",
    "code-review",
    "complete-task",
    "complete-task-tdd",
    "continue-plan",
    "continue-task",
    "create-tasks",
    "new-plan",
    "next-task",
    "next-task-tdd",
    "plan-review",
    "post-all-code-review",
    "post-code-review",
    "post-plan-review",
    "post-tasks-review",
    "tasks-review",
];

const FIELDS: [&str; 8] = [
    "max_reviews",
    "current_task",
    "phase",
    "phase_iteration",
    "next_phase",
    "review_model",
    "consecutive_clean",
    "tdd",
];

fn command(name: &str) -> String {
    text(taskie().join(format!("commands/{name}.md")))
}

/// What a command's last section says.
fn state_section(name: &str) -> String {
    let text = command(name);
    let (_, section) = text.split_once("\n## State\n").unwrap_or_else(|| panic!("{name} has no state"));
    assert!(
        !section.lines().any(|line| line.starts_with("## ")),
        "{name}: the state is not the last section"
    );
    section.to_owned()
}

/// The JSON blocks of a text.
fn json_blocks(text: &str) -> Vec<Value> {
    let blocks = text.split("\n```json\n").skip(1).map(|rest| rest.split_once("\n```\n").unwrap().0);
    blocks.map(|block| serde_json::from_str(block).unwrap()).collect()
}

#[test]
fn the_commands_of_the_loop_are_those_of_the_document() {
    let folder = fs::read_dir(taskie().join("commands")).unwrap();
    let mut names: Vec<String> =
        folder.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_by_key(|name| name.trim_end_matches(".md").to_owned());
    assert_eq!(names, COMMANDS.map(|name| format!("{name}.md")));
}

#[test]
fn every_command_of_the_loop_is_a_persons_and_begins_with_the_ground_rules() {
    for name in COMMANDS {
        let head = frontmatter(taskie().join(format!("commands/{name}.md")));
        assert!(!head["description"].is_empty(), "{name}");
        assert_eq!(head["disable-model-invocation"], "true", "{name}");
        // The state is set through the program. A file of the plugin can be read only by a rule with a
        // slash in front of its path, and only one command needs it: where the program is missing.
        let tools = match name {
            "continue-plan" => "Bash(provost review:*), Read(/${CLAUDE_PLUGIN_ROOT}/**)",
            _ => "Bash(provost review:*)",
        };
        assert_eq!(head["allowed-tools"], tools, "{name}");
        let text = command(name);
        let (_, body) = text.split_once("\n---\n\n").unwrap();
        let mut paragraphs = body.split("\n\n");
        assert!(paragraphs.next().unwrap().starts_with("# "), "{name}");
        let first = "The ground rules hold: @${CLAUDE_PLUGIN_ROOT}/ground-rules.md";
        assert_eq!(paragraphs.next(), Some(first), "{name}");
        assert!(text.contains("$ARGUMENTS"), "{name}");
    }
    assert!(taskie().join("ground-rules.md").is_file());
}

/// Another test compares them with the state machine; it relies on this form.
#[test]
fn every_command_of_the_loop_says_which_fields_it_sets() {
    for name in COMMANDS {
        let section = state_section(name);
        let blocks = json_blocks(&command(name));
        if name == "continue-plan" {
            assert!(blocks.is_empty());
            continue;
        }
        assert_eq!(blocks.len(), 1, "{name}");
        assert!(section.starts_with("\n```json\n"), "{name}");
        let fields = blocks[0].as_object().unwrap();
        assert!(fields.keys().all(|field| FIELDS.contains(&field.as_str())), "{name}: {fields:?}");
        if name != "add-task" {
            assert_eq!(fields["phase"], name);
        }
    }
    let first = json_blocks(&state_section("new-plan")).remove(0);
    assert_eq!(first.as_object().unwrap().len(), FIELDS.len());
    assert_eq!(json_blocks(&text(taskie().join("codex/taskie-new-plan.md"))), [first]);
}

#[test]
fn the_routes_of_a_plan_are_one_regular_table() {
    let section = state_section("continue-plan");
    let mut rows = section.lines().filter(|line| line.starts_with('|'));
    assert_eq!(rows.next(), Some("| next_phase | phase | condition | action |"));
    assert_eq!(rows.next(), Some("|---|---|---|---|"));
    let mut actions = 0;
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        assert_eq!(cells.len(), 4, "{row}");
        let cells: Vec<&str> =
            cells.iter().map(|cell| cell.strip_prefix('`').unwrap().strip_suffix('`').unwrap()).collect();
        let known = |name: &str| COMMANDS.contains(&name) || ["*", "null", "complete"].contains(&name);
        assert!(known(cells[0]) && known(cells[1]), "{row}");
        assert!(known(cells[3]) || ["stop", "tell", "ask"].contains(&cells[3]), "{row}");
        // A condition is explained above the table.
        let subject = cells[2].strip_suffix(" incomplete").map(|subject| format!("`{subject} complete`: "));
        let explained = subject.unwrap_or_else(|| format!("`{}`: ", cells[2]));
        assert!(cells[2] == "*" || command("continue-plan").contains(&explained), "{row}");
        actions += 1;
    }
    assert!(actions > 20, "{actions}");
}

/// The client runs the command before the model is asked. It gives up on the whole prompt, in silence,
/// where that command fails, and what a person typed must not become part of it.
#[test]
fn the_route_comes_with_the_prompt_whether_the_program_is_there_or_not() {
    let text = command("continue-plan");
    let injections: Vec<&str> = text.lines().filter(|line| line.contains("!`")).collect();
    assert_eq!(injections.len(), 1, "{injections:?}");
    let line = injections[0].strip_prefix("!`").and_then(|line| line.strip_suffix('`')).unwrap();
    assert!(line.starts_with("provost review continue --with-action || echo \""), "{line}");
    assert!(!line.contains(['`', '$', '\'']), "{line}");
    let (_, below) = text.split_once(injections[0]).unwrap();
    assert!(below.contains("$ARGUMENTS"));

    let run = |machine: &Machine| {
        let output = Command::new("/bin/bash")
            .args(["-c", line])
            .env_clear()
            .env("PATH", &machine.programs)
            .env("HOME", &machine.project.home)
            .current_dir(&machine.project.path)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let otherwise = "(No route from the program: take it from the table below.)\n";
    let machine = Machine::without_provost().of(taskie());
    machine.project.file(".taskie/plans/p/plan.md", "# P\n\n## Overview\n");
    machine.project.file(
        ".taskie/plans/p/state.json",
        r#"{"phase": "plan-review", "next_phase": "post-plan-review", "phase_iteration": 1}"#,
    );
    assert_eq!(run(&machine), otherwise);
    let machine = machine.install("programs/provost");
    let told = run(&machine);
    assert!(told.starts_with("Route: post-plan-review\n") && !told.contains(otherwise), "{told}");
    assert!(told.contains("<action>\n# Answer a review of the plan\n"), "{told}");
    assert!(!told.contains("$ARGUMENTS"), "{told}");
    fs::remove_dir_all(machine.project.path.join(".taskie")).unwrap();
    let told = run(&machine);
    assert!(told.starts_with("[provost] there are no plans") && told.ends_with(otherwise), "{told}");
}

/// A reviewer that the hook asks is given the text up to the first of these sections.
#[test]
fn what_a_reviewer_is_given_speaks_of_the_review_alone() {
    for name in REVIEWS {
        let text = command(name);
        let (given, rest) = text.split_once("\n## Standalone\n").unwrap();
        assert!(!given.contains("\n## State\n") && rest.contains("\n## State\n"), "{name}");
        let (_, given) = given.split_once("\n---\n").unwrap();
        for word in ["/taskie:", "state.json", "$ARGUMENTS", "next_phase", "hook"] {
            assert!(!given.contains(word), "{name}: {word}");
        }
        for word in [
            "Be very critical",
            "`*-review-*.md`",
            "## Issues",
            "`No issues found.`",
            "PASS",
            "FAIL",
            "CLAUDE.md",
        ] {
            assert!(given.contains(word), "{name}: {word}");
        }
    }
}

#[test]
fn the_loops_hooks_are_one_command_for_each_event() {
    let hooks = json_file(taskie().join("hooks/hooks.json"));
    let events = hooks["hooks"].as_object().unwrap();
    let own = json!(["hook", "--pack", "self"]);
    let expected = [
        ("Stop", Value::Null, json!(LOOP)),
        ("PreToolUse", json!("*"), own.clone()),
        ("UserPromptSubmit", Value::Null, own.clone()),
        ("SessionStart", Value::Null, own.clone()),
        ("ConfigChange", Value::Null, own),
    ];
    assert_eq!(events.len(), expected.len());
    for (event, matcher, arguments) in expected {
        let groups = events[event].as_array().unwrap();
        assert_eq!((groups.len(), groups[0]["hooks"].as_array().unwrap().len()), (1, 1), "{event}");
        assert_eq!(groups[0]["matcher"], matcher, "{event}");
        let entry = &groups[0]["hooks"][0];
        assert_eq!(entry["args"], arguments, "{event}");
        assert_eq!(entry["command"], "${CLAUDE_PLUGIN_ROOT}/hooks/provost.sh");
        let stop = event == "Stop";
        assert_eq!(entry["timeout"], if stop { 7200 } else { 10 }, "{event}");
        assert_eq!(entry["statusMessage"], if stop { json!("Reviewing the work") } else { Value::Null });
        assert_eq!(entry["onFailure"], if event == "PreToolUse" { json!("block") } else { Value::Null });
    }
    let mode = fs::metadata(taskie().join("hooks/provost.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
}

#[test]
fn without_the_program_a_person_with_plans_is_told_that_nothing_is_reviewed() {
    let machine = Machine::without_provost().of(taskie());
    machine.project.file(".taskie/plans/login-limit/plan.md", "# Login limit\n");
    for name in ["Stop.active_false", "Stop.active_true"] {
        let answer = machine.run("provost.sh", LOOP, &machine.project.event(name));
        assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""));
        let told = answer.json();
        assert_eq!(told.len(), 1, "nothing is held: {told:?}");
        let told = told["systemMessage"].as_str().unwrap();
        assert!(told.contains("no program `provost`") && told.contains("To fix: "), "{told}");
        assert!(told.contains("disable the plugin"), "no way out: {told}");
    }
    for name in ["PreToolUse.Bash", "UserPromptSubmit", "SessionStart.startup", "ConfigChange"] {
        let answer = machine.run("provost.sh", &["hook", "--pack", "self"], &machine.project.event(name));
        assert!(answer.is_silent(), "{name}: {answer:?}");
    }
    let quoting = machine.project.bash(r#"echo '{"hook_event_name":"Stop"}'"#);
    let mut mentioning = machine.project.event("SubagentStop.general-purpose");
    mentioning["last_assistant_message"] = r#""hook_event_name":"Stop""#.into();
    for event in [quoting, mentioning] {
        let answer = machine.run("provost.sh", LOOP, &event);
        assert!(answer.is_silent(), "{event}: {answer:?}");
    }
}

#[test]
fn without_the_program_and_without_plans_the_loop_is_silent() {
    let machine = Machine::without_provost().of(taskie());
    let answer = machine.run("provost.sh", LOOP, &machine.project.event("Stop.active_false"));
    assert!(answer.is_silent(), "{answer:?}");
}

#[test]
fn the_loops_script_asks_the_program_and_passes_everything_on() {
    for place in ["programs/provost", ".cargo/bin/provost", ".local/bin/provost"] {
        let machine = Machine::without_provost().of(taskie()).install_echo(place);
        let answer = machine.run_on("provost.sh", LOOP, "{\"any\": 1}\n\n");
        assert_eq!(answer.stdout, "hook --pack review-loop\n{\"any\": 1}\n\n");
        assert_eq!(answer.code, Some(2));
    }
}

const PHASES: &[&str] = &["hook", "--pack", "phases"];

#[test]
fn the_hooks_of_the_phases_are_one_command_for_each_event() {
    let hooks = json_file(isdlc().join("hooks/hooks.json"));
    let events = hooks["hooks"].as_object().unwrap();
    let own = json!(["hook", "--pack", "self"]);
    let expected = [
        ("PreToolUse", json!("*"), json!(["hook", "--pack", "self", "--pack", "phases"])),
        ("PostToolUse", json!("*"), json!(PHASES)),
        ("PostToolUseFailure", json!("Bash"), json!(PHASES)),
        ("SubagentStop", Value::Null, json!(PHASES)),
        ("Stop", Value::Null, json!(PHASES)),
        ("UserPromptSubmit", Value::Null, own.clone()),
        ("SessionStart", Value::Null, own.clone()),
        ("ConfigChange", Value::Null, own),
    ];
    assert_eq!(events.len(), expected.len());
    for (event, matcher, arguments) in expected {
        let groups = events[event].as_array().unwrap();
        assert_eq!((groups.len(), groups[0]["hooks"].as_array().unwrap().len()), (1, 1), "{event}");
        assert_eq!(groups[0]["matcher"], matcher, "{event}");
        let entry = &groups[0]["hooks"][0];
        assert_eq!(entry["args"], arguments, "{event}");
        assert_eq!(entry["command"], "${CLAUDE_PLUGIN_ROOT}/hooks/provost.sh");
        assert_eq!(entry["timeout"], 10, "{event}");
        assert_eq!(entry["onFailure"], if event == "PreToolUse" { json!("block") } else { Value::Null });
    }
    let mode = fs::metadata(isdlc().join("hooks/provost.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
}

#[test]
fn without_the_program_a_person_with_a_workflow_is_told_that_nothing_is_guarded() {
    let machine = Machine::without_provost().of(isdlc());
    machine.project.file(".isdlc/state.json", "{}");
    for name in ["Stop.active_false", "Stop.active_true", "SessionStart.startup"] {
        let answer = machine.run("provost.sh", PHASES, &machine.project.event(name));
        assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""));
        let told = answer.json();
        assert_eq!(told.len(), 1, "nothing is held: {told:?}");
        let told = told["systemMessage"].as_str().unwrap();
        assert!(told.contains("no program `provost`") && told.contains("To fix: "), "{told}");
        assert!(told.contains("disable the plugin"), "no way out: {told}");
    }
    let mut events: Vec<Value> =
        ["PreToolUse.Bash", "PreToolUse.Agent", "PreToolUse.Write", "UserPromptSubmit", "ConfigChange"]
            .map(|name| machine.project.event(name))
            .into();
    events.push(machine.project.bash(r#"echo '{"hook_event_name":"Stop"}'"#));
    for event in events {
        let answer = machine.run("provost.sh", PHASES, &event);
        assert!(answer.is_silent(), "{event}: {answer:?}");
    }
    fs::remove_dir_all(machine.project.path.join(".isdlc")).unwrap();
    let answer = machine.run("provost.sh", PHASES, &machine.project.event("Stop.active_false"));
    assert!(answer.is_silent(), "without a workflow: {answer:?}");
}

#[test]
fn the_script_of_the_phases_asks_the_program_and_passes_everything_on() {
    for place in ["programs/provost", ".cargo/bin/provost", ".local/bin/provost"] {
        let machine = Machine::without_provost().of(isdlc()).install_echo(place);
        let answer = machine.run_on("provost.sh", PHASES, "{\"any\": 1}\n\n");
        assert_eq!(answer.stdout, "hook --pack phases\n{\"any\": 1}\n\n");
        assert_eq!(answer.code, Some(2));
    }
}

/// As for the route of a plan: a command that fails would take the whole prompt with it.
#[test]
fn where_the_workflow_stands_comes_with_the_prompt() {
    let page = isdlc().join("commands/status.md");
    assert_eq!(frontmatter(&page)["allowed-tools"], "Bash(provost phases status:*)");
    let text = text(page);
    let injections: Vec<&str> = text.lines().filter(|line| line.contains("!`")).collect();
    assert_eq!(injections.len(), 1, "{injections:?}");
    let line = injections[0].strip_prefix("!`").and_then(|line| line.strip_suffix('`')).unwrap();
    assert!(
        line.starts_with("provost phases status || echo \"") && !line.contains(['`', '$', '\'']),
        "{line}"
    );
    let run = |machine: &Machine| {
        let output = Command::new("/bin/bash")
            .args(["-c", line])
            .env_clear()
            .env("PATH", &machine.programs)
            .env("HOME", &machine.project.home)
            .current_dir(&machine.project.path)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let machine = Machine::without_provost().of(isdlc());
    let otherwise = "(The program tells no more: ";
    assert!(run(&machine).starts_with(otherwise));
    let machine = machine.install("programs/provost");
    assert!(run(&machine).contains(otherwise), "there is no workflow");
    machine.project.file(".isdlc/state.json", r#"{"active_workflow": {"current_phase": "07-testing"}}"#);
    let told = run(&machine);
    assert!(told.contains("> 07-testing  not begun\n") && !told.contains(otherwise), "{told}");
}
