//! What stands behind `provost hook`, read without a parser and without ever failing.
//!
//! A client reads a hook's usage error as a failure of the hook, and may block on it. So whatever is
//! unknown here is stepped over and told to the person, and what is known still works.

use std::ffi::OsString;

use crate::clients::{self, Client};
use crate::event::Event;
use crate::registry::{self, Guard, PACKS};

#[derive(Clone)]
pub(super) struct CommandLine {
    pub(super) client: &'static Client,
    packs: Vec<String>,
    /// The guards whose part this call plays, wherever it is called from.
    script: Option<&'static [&'static str]>,
    /// Settings that hold for this call, whatever the files say.
    insistences: &'static [(&'static str, &'static str)],
    pub(super) mistakes: Vec<String>,
    /// The client is known. What another one says may not be readable at all.
    pub(super) speaks: bool,
}

impl CommandLine {
    /// A call that stands in for a script: only these guards, and who is asked about is not looked at,
    /// because the script is registered only where it is wanted.
    pub(super) fn script(
        client: &'static Client,
        guards: &'static [&'static str],
        insistences: &'static [(&'static str, &'static str)],
    ) -> Self {
        let packs = guards.iter().filter_map(|guard| Guard::find(guard)).map(|guard| guard.pack.into());
        Self { script: Some(guards), packs: packs.collect(), insistences, ..Self::of(client) }
    }

    pub(super) fn insistences(&self) -> &'static [(&'static str, &'static str)] {
        self.insistences
    }

    /// The packs that it names.
    pub(super) fn packs(&self) -> &[String] {
        &self.packs
    }

    fn of(client: &'static Client) -> Self {
        Self { client, packs: Vec::new(), script: None, insistences: &[], mistakes: Vec::new(), speaks: true }
    }

    /// Every guard that this command line could ask.
    pub(super) fn guards(&self) -> Vec<&'static Guard> {
        match self.script {
            Some(guards) => guards.iter().filter_map(|guard| Guard::find(guard)).collect(),
            None => registry::of_packs(&self.packs).collect(),
        }
    }

    /// Those of them that an event concerns.
    pub(super) fn concerned(&self, event: &Event) -> Vec<&'static Guard> {
        let mut guards = self.guards();
        guards.retain(|guard| self.script.is_some() || registry::concerns(guard, event));
        guards
    }

    /// Whether guards for some agents are asked only in these.
    pub(super) fn looks_at_agents(&self) -> bool {
        self.script.is_none()
    }

    pub(super) fn read(mut arguments: impl Iterator<Item = OsString>) -> Self {
        let mut line = Self::of(clients::DEFAULT);
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
