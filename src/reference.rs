//! Generates the reference pages of `docs/` and the schema from the program.
//!
//! A test compares each with the file in the repository, so that they cannot go stale.

use crate::cli;
use crate::clients::{CLIENTS, ClientTraits};
use crate::config::settings;
use crate::registry::{GUARDS, PACKS, TimeLimit, guard_settings};
use crate::rules::keys;
use crate::text::capitalize;

/// Every generated file of the repository, with its content.
pub fn generate_pages() -> Vec<(&'static str, String)> {
    vec![
        ("docs/guards.md", guards_page()),
        ("docs/settings.md", settings_page()),
        ("docs/cli.md", cli::render_cli_reference()),
        ("docs/rules.md", rules_page()),
        ("docs/clients.md", clients_page()),
        (
            "schema/provost.schema.json",
            format!("{:#}\n", settings::build_schema(&settings::list_settings(guard_settings()))),
        ),
    ]
}

fn guards_page() -> String {
    let mut page = String::from(
        "# Guards\n\n\
         This page lists every guard in the order in which Provost asks them: when a guard is asked, what it\n\
         promises, and how you get past it. It is generated from the registry. `provost guards` shows the same table.\n\n\
         If a **closed** guard fails (an error, a panic, a missed deadline), the call is denied, and the reason says so.\n\
         If an **open** guard fails, the call is allowed, and the journal records the fault.\n",
    );
    for pack in PACKS {
        page += &format!(
            "\n## Pack `{}`\n\n{}. On: {}.\n\n",
            pack.name,
            capitalize(pack.purpose),
            pack.activation
        );
        page += "| guard | asked | on failure | can block |\n|---|---|---|---|\n";
        let members = || GUARDS.iter().filter(|guard| guard.pack == pack.name);
        for guard in members() {
            let blocks = if guard.can_block { "yes" } else { "no" };
            page += &format!(
                "| `{}` | {} | {} | {blocks} |\n",
                guard.name,
                guard.describe_triggers(),
                guard.failure_mode.name()
            );
        }
        for guard in members() {
            page += &format!("\n### `{}`\n\n{}\n\nWay out: {}\n", guard.name, guard.purpose, guard.way_out);
            if matches!(guard.time_limit, TimeLimit::Reviewer(_)) {
                page += "\nTime: it may start a reviewer and wait for the answer, for minutes or hours. It has a time \
                         limit of its own.\n";
            }
            if matches!(guard.time_limit, TimeLimit::Commands(_)) {
                page += "\nTime: it runs the commands of rules (`need.check`, `run`) within the time limits that they have.\n";
            }
            if let Some(form) = guard.override_prompt() {
                page += &format!("\nAllow once: type {form} as your prompt.\n");
            }
        }
    }
    page
}

fn clients_page() -> String {
    let mut page = String::from(
        "# Clients\n\n\
         Provost guards sessions of ten coding agents with the same guards and rules. This page says how to add it to yours,\n\
         and what it cannot do there. The tables are generated from the program.\n\n\
         \x20   provost init --client codex\n\
         \x20   provost uninstall --client codex\n\n\
         `init` shows the change and asks before it writes; `uninstall` restores the file byte for byte. Without `--client`,\n\
         both are about Claude Code. Some clients also run the hook entries of others. Such an event is answered in the form of the client that sent the event.\n\n\
         On every client, no tool may change or delete a file that makes any client call Provost.\n\n\
         | client | `--client` | in a project | for all projects |\n|---|---|---|---|\n",
    );
    let file = |file: Option<&str>| file.map_or("-".to_owned(), |file| format!("`{file}`"));
    let home = |name: Option<&str>| name.map_or("-".to_owned(), |name| format!("`~/{name}`"));
    for client in CLIENTS {
        let [in_project, in_home] = client.traits.files;
        page += &format!(
            "| {} | `{}` | {} | {} |\n",
            client.traits.title,
            client.name,
            file(in_project),
            home(in_home)
        );
    }
    page += "\n## What each client can do\n\n\
             Every client keeps a denied call from running and tells the model why. `ask` in a rule is a denial where the client \
             cannot ask.\n\n\
             | client | holds the end of a turn | asks you | override by prompt |\n|---|---|---|---|\n";
    let word = |can: bool| if can { "yes" } else { "no" };
    for ClientTraits { title, can_hold, can_ask, has_prompts, .. } in
        CLIENTS.iter().map(|client| client.traits)
    {
        page += &format!("| {title} | {} | {} | {} |\n", word(can_hold), word(can_ask), word(has_prompts));
    }
    page += "\n## Limits\n";
    for client in CLIENTS.iter().filter(|client| !client.traits.limits.is_empty()) {
        page += &format!("\n### {}\n\n", client.traits.title);
        for limit in client.traits.limits {
            page += &format!("- {limit}\n");
        }
    }
    page += "\n`provost doctor`, `demo`, `replay` and the status line know Claude Code only.\n";
    page
}

fn settings_page() -> String {
    let mut page = String::from(
        "# Settings\n\n\
         This page lists every key of `provost.toml`. All keys are optional. A managed file wins over the project's, and\n\
         the project's over the user's. `provost config check` shows which files are read and the resulting values. The\n\
         page is generated from the program.\n\n\
         | layer | file |\n|---|---|\n\
         | managed | `/etc/provost/provost.toml` (macOS: `/Library/Application Support/provost/provost.toml`); while it has a mistake, no other layer can switch a guard off |\n\
         | project | the nearest `provost.toml` at or above the directory where the session started; it cannot switch off `self-guard` and `registration-guard`, or rules of the other two files |\n\
         | user | `$XDG_CONFIG_HOME/provost/provost.toml`, by default `~/.config/provost/provost.toml` |\n\n\
         | key | takes | default | meaning |\n|---|---|---|---|\n",
    );
    for setting in settings::list_settings(guard_settings()) {
        let (expected, default) = (setting.value_type.describe(), setting.value_type.default_value());
        page += &format!("| `{}` | {expected} | `{default}` | {} |\n", setting.key(), setting.meaning);
    }
    page
}

/// The page about rules, whose reference is made from the keys.
fn rules_page() -> String {
    const PAGE: &str = include_str!("../docs/rules.md");
    const BEGIN: &str = "<!-- generated: keys -->\n";
    const END: &str = "<!-- end of generated -->";
    let (before, rest) = PAGE.split_once(BEGIN).unwrap_or((PAGE, ""));
    let (_, after) = rest.split_once(END).unwrap_or_default();
    let mut table = String::new();
    for (title, list) in [("`[[rule]]`", keys::KEYS), ("`[rules]`", keys::TABLE_KEYS)] {
        table += &format!("\n### Keys of {title}\n\n| key | takes | meaning |\n|---|---|---|\n");
        for key in list {
            let meaning = key.meaning.replace('|', "\\|");
            table += &format!("| `{}` | {} | {meaning} |\n", key.name, key.takes.describe());
        }
    }
    format!("{before}{BEGIN}{table}\n{END}{after}")
}
