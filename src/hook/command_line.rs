//! What stands behind `provost hook`, read without a parser and without ever failing.
//!
//! A client reads a hook's usage error as a failure of the hook, and may block on it. So whatever is
//! unknown here is stepped over and told to the person, and what is known still works.

use std::ffi::OsString;

use crate::clients::{self, Client};
use crate::registry::PACKS;

#[derive(Clone)]
pub(super) struct CommandLine {
    pub(super) client: &'static Client,
    pub(super) packs: Vec<String>,
    pub(super) mistakes: Vec<String>,
    /// The client is known. What another one says may not be readable at all.
    pub(super) speaks: bool,
}

impl CommandLine {
    pub(super) fn read(mut arguments: impl Iterator<Item = OsString>) -> Self {
        let mut line =
            Self { client: clients::DEFAULT, packs: Vec::new(), mistakes: Vec::new(), speaks: true };
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
        if let Some(client) = clients::find(name) {
            self.client = client;
        } else {
            self.mistakes.push(format!("unknown client `{name}`"));
            self.speaks = false;
        }
    }

    /// An unknown pack is kept: it names no guard, and must not widen the entry to all of them.
    fn add_pack(&mut self, name: String) {
        if !PACKS.iter().any(|pack| pack.name == name) {
            self.mistakes.push(format!("unknown pack `{name}`"));
        }
        self.packs.push(name);
    }
}
