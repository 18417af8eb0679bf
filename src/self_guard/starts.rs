//! Programs that a line starts to get around the guards: a link to what is protected, a client without
//! hooks, an end to Provost itself, a copy of its program.

use std::path::Path;

use super::protected::{Meaning, Protected};
use super::tools::Refusal;
use crate::decision::{Denial, Fault};
use crate::effect::Effect;
use crate::event::Event;
use crate::glob::is_like;
use crate::text::quoted;
use crate::workspace::Workspace;

/// What needs no look at the disk.
pub(super) fn refused(program: &str, arguments: &[String], workspace: &Workspace) -> Refusal {
    let name = program.rsplit('/').next().unwrap_or(program);
    if ends_provost(name, arguments) {
        let denial = Denial {
            what: "a tool may not end Provost".into(),
            why:
                "a hook that is ended judges nothing, and no guard may be switched off from inside a session"
                    .into(),
            fix: "end other processes by their names or numbers".into(),
        };
        return Some((denial, vec![format!("{name} ends provost")]));
    }
    without_hooks(&(workspace.client.settings.disarms)(name, arguments)?)
}

pub(super) fn without_hooks(how: &str) -> Refusal {
    let denial = Denial {
        what: format!("a tool may not have the client run without these hooks ({})", quoted(how)),
        why: "no guard would see what happens there".into(),
        fix: "start it without that, or ask the person to do it".into(),
    };
    Some((denial, vec![format!("starts the client with {how}")]))
}

/// Whether one of the words fits a hook that runs, as these programs compare: by a part of its name, with `-f`
/// by a part of its command line, `killall` by the whole name.
fn ends_provost(program: &str, arguments: &[String]) -> bool {
    let has = |short: char, long: &str| {
        let is_short = |word: &str| word.starts_with('-') && !word.starts_with("--") && word.contains(short);
        arguments.iter().any(|word| word == long || is_short(word))
    };
    let running = match program {
        "pkill" if has('f', "--full") => "provost hook --pack",
        "pkill" | "killall" => "provost",
        _ => return false,
    };
    let is_whole = program == "killall" && !has('r', "--regexp");
    let fits = |pattern: &str| {
        let name = match pattern.rsplit_once('/') {
            Some((_, "")) => return false,
            Some((_, name)) => name,
            None => pattern,
        };
        if is_whole {
            return name == running;
        }
        let name = name.trim_start_matches('^').trim_end_matches('$');
        let name = name.replace(".*", "*").replace(".+", "*").replace('.', "?");
        is_like(&format!("*{name}*"), running)
    };
    let words = arguments.iter().filter(|word| !word.starts_with('-'));
    words.flat_map(|word| word.split('|')).any(fits)
}

/// Whether a call makes links: most do not, and then nothing is looked up.
pub(super) fn makes_links(program: &str, arguments: &[String]) -> bool {
    match program.rsplit('/').next() {
        Some("ln" | "link") => true,
        Some("cp") => arguments.iter().any(|word| {
            let is_short = word.starts_with('-') && !word.starts_with("--");
            is_short && word.contains(['l', 's']) || word.starts_with("--l") || word.starts_with("--sy")
        }),
        _ => false,
    }
}

/// A link is written through later, under a name that nobody knows: also in the same line.
pub(super) fn linked(
    arguments: &[String],
    directory: &Path,
    workspace: &Workspace,
    protected: &Protected,
) -> Result<Refusal, Fault> {
    // What is protected may be neither end of a link, so which word is which does not matter.
    let operands: Vec<&String> = arguments.iter().filter(|word| !word.starts_with('-')).collect();
    for operand in &operands {
        let named = directory.join(operand);
        let real = workspace.resolve(&named);
        let thing = match protected.meaning(&named, &real)? {
            Meaning::Own(thing) => thing,
            Meaning::Settings if workspace.exists(&real) => "a settings file of the client",
            _ => continue,
        };
        let shown = quoted(&real.to_string_lossy());
        let denial = Denial {
            what: format!("a tool may not link {shown}"),
            why: format!("it is {thing}, and under another name it could be changed unseen"),
            fix: "name the file itself where it is read".into(),
        };
        return Ok(Some((denial, vec![format!("links {shown}")])));
    }
    Ok(None)
}

/// Under a name of its own, a copy of the program could be called unseen.
pub(super) fn copied(event: &Event, workspace: &Workspace) -> Refusal {
    let program = workspace.program()?;
    let own = workspace.identity(&program)?;
    let is_own = |effect: &Effect| match effect {
        Effect::Read { path, .. } => workspace.identity(path) == Some(own),
        _ => false,
    };
    if !event.effects().iter().any(is_own) {
        return None;
    }
    let denial = Denial {
        what: "a tool may not copy or link the program `provost`".into(),
        why: "under another name it could be given made-up events, and no guard would know it".into(),
        fix: "call it by its own name".into(),
    };
    Some((denial, vec![format!("copies or links {}", program.display())]))
}
