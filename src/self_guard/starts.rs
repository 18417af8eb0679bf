//! Programs that a line starts to get around the guards: a link to what is protected, a client without
//! hooks, an end to Provost itself, a copy of its program.

use std::path::Path;

use super::protected::{Meaning, Protected};
use super::refusal::{self, Refusal, Thing};
use crate::decision::Fault;
use crate::glob::is_like;
use crate::text::excerpt;
use crate::workspace::Workspace;

/// What needs no look at the disk.
pub(super) fn refused(program: &str, arguments: &[String], workspace: &Workspace) -> Option<Refusal> {
    let name = program.rsplit('/').next().unwrap_or(program);
    if ends_provost(name, arguments) {
        return Some(Refusal::never(
            format!("`{name}` not run"),
            "it would end Provost, whose hooks then check nothing",
            "end other processes by name or number",
            format!("{name} ends provost"),
        ));
    }
    without_hooks(&(workspace.client.settings.disarms)(name, arguments)?)
}

pub(super) fn without_hooks(how: &str) -> Option<Refusal> {
    Some(Refusal::new(
        format!("a client with {} not started", excerpt(how)),
        "it would run without Provost's hooks",
        "start it without that; no guard would see what it does",
        format!("starts the client with {how}"),
    ))
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
) -> Result<Option<Refusal>, Fault> {
    // What is protected may be neither end of a link, so which word is which does not matter.
    let operands: Vec<&String> = arguments.iter().filter(|word| !word.starts_with('-')).collect();
    for operand in &operands {
        let named = directory.join(operand);
        let real = workspace.resolve(&named);
        let thing = match protected.meaning(&named, &real)? {
            Meaning::Own(thing) => thing,
            Meaning::Settings if workspace.exists(&real) => Thing::Settings,
            _ => continue,
        };
        return Ok(Some(refusal::own("linked", &real, thing, workspace)));
    }
    Ok(None)
}
