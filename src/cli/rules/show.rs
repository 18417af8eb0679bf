//! `provost rules show`: one rule as it is written, with its place and its mode.

use std::io::Write;

use toml_edit::{DocumentMut, Item};

use crate::cli::screen::{print_labelled, text_width, wrap};
use crate::cli::{CommandResult, CurrentProject, Exit, open_current_workspace};
use crate::config::{ConfigLayer, suggest_word};
use crate::rules::{BASELINE, BASELINE_NAME, Rule, read_baseline};
use crate::text::{make_one_line, make_printable, shorten_name};

/// Show a rule as it is written, with its file and line
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost rules show no-force-push
  provost rules show baseline/no-force-push

Exit codes: 0 shown; 1 there is no such rule.")]
pub(super) struct Show {
    /// The name of the rule, with or without `rule:` and `baseline/`
    name: String,
}

impl Show {
    pub(super) fn run(self) -> CommandResult {
        let here = CurrentProject::locate()?;
        let name = self.name.strip_prefix(crate::rules::RULE_PREFIX).unwrap_or(&self.name);
        let set = &here.config.rules;
        // A built-in rule can be looked at before it is used.
        let built_in = read_baseline(ConfigLayer::default(), None);
        let of_layers = || set.rules.iter().chain(&set.off);
        let is_used = of_layers().any(|rule| rule.origin.is_built_in);
        let unused = built_in.iter().filter(|_| !is_used);
        let find = |name: &str| -> Vec<&Rule> {
            of_layers().chain(unused.clone()).filter(|rule| rule.name == name).collect()
        };
        let mut found = find(name);
        if found.is_empty() {
            found = find(&format!("{BASELINE_NAME}/{name}"));
        }
        if found.is_empty() {
            let names = of_layers().chain(unused).map(|rule| rule.name.clone());
            let hint = match suggest_word(name, names) {
                none if none.is_empty() => "; `provost rules` lists all".to_owned(),
                suggestion => suggestion,
            };
            let text = format!("there is no rule `{}`{hint}", shorten_name(name));
            eprintln!("{}", wrap(&make_one_line(&format!("[provost] {text}")), 0, text_width()));
            return Ok(Exit::Problem);
        }
        let (_, workspace) = open_current_workspace()?;
        let mut out = anstream::stdout().lock();
        for (at, rule) in found.into_iter().enumerate() {
            if at > 0 {
                writeln!(out)?;
            }
            let is_off = set.off.iter().any(|off| std::ptr::eq(off, rule));
            let mode = match (rule.is_watched, is_off) {
                _ if rule.origin.is_built_in && !is_used => "not used here",
                (_, true) => "off",
                (true, _) => "watch: judged and recorded, but not enforced",
                _ => "enforce",
            };
            print_labelled(&mut out, "rule", &make_one_line(&rule.full_name()))?;
            print_labelled(&mut out, "place", &make_one_line(&rule.place()))?;
            print_labelled(&mut out, "layer", rule.origin.layer.name())?;
            print_labelled(&mut out, "mode", mode)?;
            if rule.command().is_some() {
                let text = if workspace.is_trusted(rule) {
                    "its command runs"
                } else {
                    "its command does not run before you trust it: `provost rules trust`"
                };
                print_labelled(&mut out, "trust", text)?;
            }
            let text = if rule.origin.is_built_in {
                find_text(BASELINE, name.strip_prefix(&format!("{BASELINE_NAME}/")).unwrap_or(name))
            } else {
                let file = here.config.rule_files.iter().find(|file| file.path == *rule.origin.file);
                file.and_then(|file| find_text(&file.text, name))
            };
            writeln!(out, "\n{}", make_printable(text.as_deref().unwrap_or_default()).trim_end())?;
        }
        Ok(Exit::Done)
    }
}

/// The text of a rule, with the comments above it.
fn find_text(file: &str, name: &str) -> Option<String> {
    let document: DocumentMut = file.parse().ok()?;
    let is_named = |value: Option<&Item>| value.and_then(Item::as_str) == Some(name);
    match document.get("rule")? {
        Item::ArrayOfTables(rules) => {
            let mut table = rules.iter().find(|rule| is_named(rule.get("name")))?.clone();
            let before = table.decor().prefix().and_then(|prefix| prefix.as_str()).unwrap_or_default();
            let before = before.trim_start_matches(['\n', '\r']).to_owned();
            table.decor_mut().clear();
            Some(format!("{before}[[rule]]\n{table}"))
        }
        Item::Value(list) => {
            let rule = list.as_array()?.iter().find(|rule| {
                rule.as_inline_table().and_then(|rule| rule.get("name")).and_then(|name| name.as_str())
                    == Some(name)
            })?;
            Some(rule.to_string().trim().to_owned())
        }
        _ => None,
    }
}
