//! The pages of `docs/` that are made from the program itself.
//!
//! A test compares each with the file in the repository, so that the reference cannot go stale.

use crate::cli;
use crate::config::settings;
use crate::registry::{GUARDS, PACKS};

/// Every generated file of the repository, with its content.
pub fn pages() -> Vec<(&'static str, String)> {
    vec![
        ("docs/guards.md", guards()),
        ("docs/settings.md", settings_page()),
        ("docs/cli.md", cli::reference()),
        ("schema/provost.schema.json", format!("{:#}\n", settings::schema())),
    ]
}

fn guards() -> String {
    let mut page = String::from(
        "# Guards\n\n\
         Made from the registry, in the order in which the guards are asked. `provost guards` shows the\n\
         same table, and `provost explain` the same sentences.\n\n\
         A **closed** guard that fails (an error, a panic, a missed deadline) denies the call and says\n\
         so; an **open** one lets it go on, and the journal keeps the fault.\n",
    );
    for pack in PACKS {
        page +=
            &format!("\n## Pack `{}`\n\n{}. On: {}.\n\n", pack.name, capitalised(pack.purpose), pack.on_when);
        page += "| guard | asked | on failure | can block |\n|---|---|---|---|\n";
        let members = || GUARDS.iter().filter(|guard| guard.pack == pack.name);
        for guard in members() {
            let blocks = if guard.blocks { "yes" } else { "no" };
            page +=
                &format!("| `{}` | {} | {} | {blocks} |\n", guard.name, guard.asked(), guard.failure.word());
        }
        for guard in members() {
            page += &format!("\n### `{}`\n\n{}\n\nWay out: {}\n", guard.name, guard.purpose, guard.way_out);
            if let Some(form) = guard.override_form() {
                page += &format!("\nOnce: a prompt of the user that begins with {form}.\n");
            }
        }
    }
    page
}

fn settings_page() -> String {
    let mut page = String::from(
        "# Settings\n\n\
         Made from the table of settings. Every key of `provost.toml` is optional. A managed file wins\n\
         over the project's, the project's over the person's; `provost config check` shows which\n\
         files count and what holds in the end.\n\n\
         | layer | file |\n|---|---|\n\
         | managed | `/etc/provost/provost.toml` (macOS: `/Library/Application Support/provost/provost.toml`); while it has a mistake, no other layer can switch a guard off |\n\
         | project | the nearest `provost.toml` at or above the directory where the session started |\n\
         | user | `$XDG_CONFIG_HOME/provost/provost.toml`, by default `~/.config/provost/provost.toml` |\n\n\
         | key | takes | default | meaning |\n|---|---|---|---|\n",
    );
    for setting in settings::all() {
        let (expected, default) = (setting.takes.expected(), setting.takes.default_value());
        page += &format!("| `{}` | {expected} | `{default}` | {} |\n", setting.key(), setting.meaning);
    }
    page
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
