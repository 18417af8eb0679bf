//! Claude Code: the events that it reports to hooks, the answers that it obeys, and everything else about it.
//!
//! The facts behind every choice were measured on the real client; `docs/protocol.md` lists them. In short: a denial is
//! one JSON object as the only output; a failure that must block is exit code 2 with a reason on standard error, which
//! needs no parsing; silence allows.

mod agents;
mod demo;
pub(crate) mod entries;
pub(crate) mod events;
pub mod example_calls;
mod frontmatter;
mod health;
pub(crate) mod installation;
mod instructions;
mod matcher;
mod migration;
mod nested_client;
mod past;
mod plans;
mod recorded;
pub(crate) mod registrations;
pub(crate) mod render;
mod reserved_tags;
mod reviewer;
mod samples;
pub mod script;
mod settings;
mod settings_schema;
mod shared_entry;
mod status_line;
pub(crate) mod tools;
mod transcript;
mod unknown_tool;

use std::env;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Client, ClientDemo, ClientTraits, Dialect, Installation, StatusLine};
use crate::words::hook_files;
use provost_core::client::{ClientFacts, Settings, Transcripts};
use provost_core::places::Places;
use provost_files as files;
use tools::EXIT;

/// Which files switch hooks on and off. Other clients protect them too.
pub(crate) const SETTINGS: Settings = Settings {
    is_settings_file: settings::is_settings_file,
    list_files: settings::list_files,
    is_other_hook_file: hook_files::is_hook_file,
    list_other_hook_folders: hook_files::list_folders_near,
    parse_switches: settings::parse_switches,
    find_plugin: || read_path_variable("CLAUDE_PLUGIN_ROOT"),
    find_disarming_argument: nested_client::find_disarming_argument,
    disarming_variables: nested_client::DISARMING_VARIABLES,
    how_to_edit: settings::HOW_TO_EDIT,
    instructions: instructions::INSTRUCTIONS,
};

pub(super) static CLIENT: Client = Client {
    traits: ClientTraits {
        title: "Claude Code",
        files: [Some(".claude/settings.local.json"), Some(".claude/settings.json")],
        can_hold: true,
        can_ask: true,
        has_prompts: true,
        limits: &[],
    },
    facts: ClientFacts {
        find_project: || read_path_variable("CLAUDE_PROJECT_DIR"),
        folder: ".claude",
        find_plans_directory: plans::find_directory,
        find_forked_agent: agents::find_forked_agent,
        find_started_agent: nested_client::find_started_agent,
        settings: SETTINGS,
        transcripts: Some(Transcripts {
            is_transcript: transcript::is_transcript,
            agent_transcripts_directory: agents::transcript_directory,
            agent_transcript_name: |id| format!("agent-{id}.jsonl"),
            find_recipient: agents::find_recipient,
            parse_subagent_transcript: transcript::parse_subagent_transcript,
            parse_transcript_line: transcript::parse_transcript_line,
            ends_message: transcript::ends_message,
            find_task_end: transcript::find_task_end,
        }),
        reviewer: Some(reviewer::REVIEWER),
    },
    is_agent_process: || env::var_os("CLAUDECODE").is_some(),
    events_before_call: &["PreToolUse"],
    find_session: || env::var("CLAUDE_CODE_SESSION_ID").ok(),
    installation: Some(Installation {
        list_registrations: registrations::list_registrations,
        list_needed_entries: entries::list_needed_entries,
        fit_timeouts: entries::fit_timeouts,
        find_settings_file: installation::find_settings_file,
        install_entries: installation::install_entries,
        remove_entries: installation::remove_entries,
        has_installed_entries: installation::has_installed_entries,
        find_fault: |text| settings::parse_switches(text).map(drop),
        example: "In a settings file of Claude Code:
  \"PreToolUse\": [{\"matcher\": \"*\", \"hooks\": [
      {\"type\": \"command\", \"command\": \"provost\", \"args\": [\"hook\"],
       \"timeout\": 10, \"onFailure\": \"block\"}]}]",
    }),
    migration: Some(migration::MIGRATION),
    health: Some(health::HEALTH),
    past_sessions: Some(past::PAST_SESSIONS),
    status_line: Some(StatusLine { parse: status_line::parse_session, example: status_line::ENTRY }),
    demo: Some(ClientDemo {
        variable: "CLAUDE_PROJECT_DIR",
        find_act: demo::find_act,
        parse_answer: demo::parse_answer,
    }),
    ..Client::new("claude", Dialect { parse: events::parse, render: render::render, refuse: None })
};

/// Whether a list of words, separated by spaces, has this word.
fn has_word(list: &str, word: &str) -> bool {
    list.split(' ').any(|known| known == word)
}

/// A variable that holds an absolute path.
fn read_path_variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// The path in a tool's input. Claude Code's tools take `~` for the home directory.
fn expand_home(text: String) -> PathBuf {
    match (text.strip_prefix('~'), home_directory()) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            home.join(rest.trim_start_matches('/'))
        }
        _ => text.into(),
    }
}

/// The directory that Claude Code was started in. Outside of a session it is the project.
fn start_directory(project: &Path) -> PathBuf {
    read_path_variable("CLAUDE_PROJECT_DIR").unwrap_or_else(|| project.to_owned())
}

/// The directory of the user's settings, plans and transcripts.
fn config_directory(places: &Places) -> Option<PathBuf> {
    read_path_variable("CLAUDE_CONFIG_DIR").or_else(|| places.home.as_ref().map(|home| home.join(".claude")))
}

/// The JSON in a file; `None` if it is missing, larger than the limit or not JSON.
fn read_json(file: &Path, limit: u64) -> Option<Value> {
    serde_json::from_slice(&files::read_file(file, limit).ok().flatten()?).ok()
}

fn home_directory() -> Option<PathBuf> {
    read_path_variable("HOME")
}

#[cfg(test)]
mod tests;
