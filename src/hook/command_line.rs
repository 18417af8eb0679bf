//! The arguments of `provost hook`, read without a parser and without ever failing.
//!
//! A client takes a usage error for a failure of the hook, and may block because of it. So an unknown argument is
//! skipped and reported to the user, and the known ones still count.

use std::ffi::OsString;

use crate::clients::{self, Client, Dialect};
use crate::registry::{GuardSelection, PACKS, find_guard};

#[derive(Clone)]
pub(super) struct CommandLine {
    pub(super) client: &'static Client,
    pub(super) dialect: &'static Dialect,
    pub(super) selection: GuardSelection,
    /// Settings of this call that override all configuration files.
    pub(super) fixed_settings: &'static [(&'static str, &'static str)],
    pub(super) mistakes: Vec<String>,
    /// The entry says which client calls. Otherwise the event itself tells.
    pub(super) is_client_named: bool,
    /// There are no arguments: a client has dropped those of its entry, or somebody wants to know what this program is.
    pub(super) is_bare: bool,
    /// Another client's input may not be readable at all.
    pub(super) is_client_known: bool,
}

impl CommandLine {
    /// A call in the place of a script, with exactly its guards.
    pub(super) fn for_script(
        dialect: &'static Dialect,
        guards: &'static [&'static str],
        fixed_settings: &'static [(&'static str, &'static str)],
    ) -> Self {
        let packs = guards.iter().filter_map(|guard| find_guard(guard)).map(|guard| guard.pack.into());
        let selection = GuardSelection { packs: packs.collect(), script: Some(guards) };
        Self {
            dialect,
            selection,
            fixed_settings,
            is_client_named: true,
            ..Self::for_client(clients::DEFAULT_CLIENT)
        }
    }

    fn for_client(client: &'static Client) -> Self {
        Self {
            client,
            dialect: &client.dialect,
            selection: GuardSelection::default(),
            fixed_settings: &[],
            mistakes: Vec::new(),
            is_client_named: false,
            is_bare: false,
            is_client_known: true,
        }
    }

    /// A call without any argument.
    pub(super) fn bare() -> Self {
        Self { is_bare: true, ..Self::for_client(clients::DEFAULT_CLIENT) }
    }

    pub(super) fn parse(mut arguments: impl Iterator<Item = OsString>) -> Self {
        let mut line = Self::for_client(clients::DEFAULT_CLIENT);
        while let Some(argument) = arguments.next() {
            let argument = argument.to_string_lossy().into_owned();
            let (name, value) = match argument.split_once('=') {
                Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                None => (argument.clone(), None),
            };
            if name != "--client" && name != "--pack" {
                line.mistakes.push(format!("unknown argument `{argument}`"));
                continue;
            }
            let value = value.or_else(|| arguments.next().map(|value| value.to_string_lossy().into_owned()));
            match value {
                None => line.mistakes.push(format!("`{name}` needs a value")),
                Some(value) if name == "--client" => line.choose_client(&value),
                Some(value) => line.add_pack(value),
            }
        }
        line
    }

    fn choose_client(&mut self, name: &str) {
        self.is_client_named = true;
        if let Some(client) = clients::find_client(name) {
            self.client = client;
            self.dialect = &client.dialect;
        } else {
            self.mistakes.push(format!("unknown client `{name}`"));
            self.is_client_known = false;
        }
    }

    /// Adds an unknown pack too: it names no guard, and must not widen the entry to all of them.
    fn add_pack(&mut self, name: String) {
        if !PACKS.iter().any(|pack| pack.name == name) {
            self.mistakes.push(format!("unknown pack `{name}`"));
        }
        self.selection.packs.push(name);
    }
}
