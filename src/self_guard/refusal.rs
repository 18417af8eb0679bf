//! What self-guard says when it denies a call, and which denials the user can lift with a prompt.
//!
//! The terminal shows 200 characters of a denial, so each one begins with the file or command, says why, and
//! names the fix before anything else.

use std::path::Path;

use crate::decision::{Denial, Opinion};
use crate::text;
use crate::workspace::Workspace;

/// A denied call.
#[derive(Clone)]
pub(super) struct Refusal {
    denial: Denial,
    evidence: Vec<String>,
    /// No prompt lifts it: with it, an agent could forge verdicts or permissions from then on.
    pub(super) is_final: bool,
}

impl Refusal {
    /// A denial that the user can lift once.
    pub(super) fn new(
        what: String,
        why: impl Into<String>,
        fix: impl Into<String>,
        evidence: String,
    ) -> Self {
        let denial = Denial { what, why: why.into(), fix: fix.into(), heading: None };
        Self { denial, evidence: vec![evidence], is_final: false }
    }

    /// A denial that no prompt lifts.
    pub(super) fn never(
        what: String,
        why: impl Into<String>,
        fix: impl Into<String>,
        evidence: String,
    ) -> Self {
        Self { is_final: true, ..Self::new(what, why, fix, evidence) }
    }

    /// The denial of a call that adds a hook which would itself be denied.
    pub(super) fn of_hook(self, file: &Path, workspace: &Workspace) -> Self {
        Self {
            denial: Denial {
                what: format!("{} not changed", shown(file, workspace)),
                why: "a new hook in it would do what tools may not do".into(),
                fix: format!("leave that hook out: {} ({})", self.denial.what, self.denial.why),
                heading: None,
            },
            ..self
        }
    }

    pub(super) fn opinion(self) -> Opinion {
        Opinion { is_final: self.is_final, ..Opinion::deny(self.denial, self.evidence) }
    }
}

/// A path as the user knows it: seen from the project or from home.
pub(super) fn shown(path: &Path, workspace: &Workspace) -> String {
    let home = workspace.places.home.as_deref();
    let path = match (path.strip_prefix(&workspace.project), home.map(|home| path.strip_prefix(home))) {
        (Ok(below), _) if !below.as_os_str().is_empty() => below.to_string_lossy().into_owned(),
        (_, Some(Ok(below))) => format!("~/{}", below.display()),
        _ => path.to_string_lossy().into_owned(),
    };
    text::short_path(&path)
}

/// For a file or directory of Provost's own.
pub(super) fn own(done: &str, path: &Path, thing: Thing, workspace: &Workspace) -> Refusal {
    let what = format!("{} not {done}", shown(path, workspace));
    let fix = "leave it as it is, or ask the user to change it";
    let why = format!("tools may not change {}", thing.name());
    let evidence = format!("{} is {}", path.display(), thing.name());
    Refusal { is_final: thing.is_final(), ..Refusal::new(what, why, fix, evidence) }
}

/// What a protected file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thing {
    Configuration,
    State,
    Program,
    SearchPath,
    Plugin,
    Reviewer,
    Transcript,
    OwnFile,
    OwnDirectory,
    Settings,
    DecidesByName,
    Decides,
}

impl Thing {
    fn name(self) -> &'static str {
        match self {
            Self::Configuration => "Provost's configuration",
            Self::State => "Provost's own state",
            Self::Program => "the program that hooks start",
            Self::SearchPath => "where hooks look for Provost",
            Self::Plugin => "part of the plugin that calls Provost",
            Self::Reviewer => "the program that reviews, which the user chooses",
            Self::Transcript => "the client's record of the session",
            Self::OwnFile => "one of Provost's own files",
            Self::OwnDirectory => "a directory that holds Provost's own files",
            Self::Settings => "a settings file of the client",
            Self::DecidesByName | Self::Decides => "a file that switches guards on and off",
        }
    }

    /// Whether a tool that changes it could forge what guards go by.
    fn is_final(self) -> bool {
        let is_users = matches!(self, Self::Configuration | Self::Plugin | Self::Reviewer | Self::Settings);
        !is_users && !matches!(self, Self::DecidesByName)
    }
}

/// For a change to a settings file.
pub(super) fn settings(path: &Path, found: Vec<String>, workspace: &Workspace) -> Option<Refusal> {
    let first = found.first()?;
    let what = format!("{} not changed", shown(path, workspace));
    let fix = workspace.client.settings.how_to_edit;
    let why = text::repeated(&text::clipped(first, text::room_for_why(&what)));
    let denial = Denial { what, why, fix: fix.into(), heading: None };
    Some(Refusal { denial, evidence: found, is_final: false })
}

/// For a settings file that is written in a way that cannot be judged beforehand.
pub(super) fn unknown_content(path: &Path, workspace: &Workspace) -> Refusal {
    let what = format!("{} not written", shown(path, workspace));
    let fix = "use the Edit or Write tool; this file switches hooks on and off";
    Refusal::new(
        what,
        "the new content of these settings cannot be known",
        fix,
        "the new content cannot be known".into(),
    )
}

/// For an agent, skill or command file with hooks.
pub(super) fn hooked_instructions(path: &Path, workspace: &Workspace) -> Refusal {
    let what = format!("{} not written", shown(path, workspace));
    let why = "its `hooks` could change calls after Provost's check";
    let fix =
        "leave out `hooks` that run before calls, permissions or agents; they could also speak to a critic";
    Refusal::new(what, why, fix, format!("{} would get such hooks", path.display()))
}

/// For an agent, skill or command file that is written in a way that cannot be judged beforehand.
pub(super) fn unknown_instructions(path: &Path, workspace: &Workspace) -> Refusal {
    let what = format!("{} not written", shown(path, workspace));
    let why = "it may get `hooks` that change calls after Provost's check";
    let fix = "use the Edit or Write tool, without `hooks` that run before calls, permissions or agents";
    Refusal::new(what, why, fix, format!("{} may get such hooks", path.display()))
}

/// For a path at which a directory with protected files is, or may be.
pub(super) fn place_of(real: &Path, held: &Path, workspace: &Workspace) -> Refusal {
    let what = format!("{} not replaced", shown(real, workspace));
    let why = "files below it switch guards on and off";
    let fix = format!("write the files one by one; {} is looked for there", shown(held, workspace));
    let evidence = format!("{} lies below {}", held.display(), real.display());
    Refusal::new(what, why, fix, evidence)
}

/// For a call that is too large to be read.
pub(super) fn too_large(what: &str) -> Refusal {
    let fix =
        "split the call, or write the data with the file tools; it could hide what switches a guard off";
    Refusal::never(format!("{what} denied"), "it is too large to check", fix, what.to_owned())
}
