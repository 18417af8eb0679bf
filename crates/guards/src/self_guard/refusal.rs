//! The denials of self-guard, and which of them the user can lift with a prompt.
//!
//! The terminal shows 200 characters of a denial, so each one begins with the file or command, says why, and names
//! the fix before anything else.

use crate::prelude::*;
use std::path::Path;

use provost_core::opinion::{Denial, Fault, Opinion};
use provost_core::text;
use provost_core::workspace::Workspace;

/// A denied call.
#[derive(Clone)]
pub(super) struct Refusal {
    denial: Denial,
    evidence: Vec<String>,
    /// No prompt lifts it, because an agent could use the call to forge verdicts or permissions.
    pub(super) is_final: bool,
}

/// `None`: the call is not refused.
pub(super) type Refused = Result<Option<Refusal>, Fault>;

impl Refusal {
    /// A denial that the user can lift once.
    pub(super) fn new(
        what: String,
        why: impl Into<String>,
        fix: impl Into<String>,
        evidence: String,
    ) -> Self {
        let denial = Denial { what, why: why.into(), fix: fix.into(), document_wording: None };
        Self { denial, evidence: vec![evidence], is_final: false }
    }

    /// Makes it a denial that no prompt lifts.
    pub(super) fn permanent(self) -> Self {
        Self { is_final: true, ..self }
    }

    /// Denies the edit of a settings file that adds a hook which would be denied with this refusal.
    pub(super) fn blame_hook(self, file: &Path, workspace: &Workspace) -> Self {
        let denial = Denial {
            what: format!("{} not changed", display_path(file, workspace)),
            why: "a new hook in it would do what tools may not do".into(),
            fix: format!("leave that hook out: {} ({})", self.denial.what, self.denial.why),
            document_wording: None,
        };
        Self { denial, ..self }
    }

    pub(super) fn into_opinion(self) -> Opinion {
        Opinion { is_final: self.is_final, ..Opinion::deny(self.denial, self.evidence) }
    }

    pub(super) fn for_own_file(done: &str, path: &Path, file: ProtectedFile, workspace: &Workspace) -> Self {
        let refusal = Self::new(
            format!("{} not {done}", display_path(path, workspace)),
            format!("tools may not change {}", file.name()),
            "leave it as it is, or ask the user to change it",
            format!("{} is {}", path.display(), file.name()),
        );
        Self { is_final: file.is_final(), ..refusal }
    }

    /// `losses`: what Provost would lose; `None` if that is nothing.
    pub(super) fn for_settings(path: &Path, losses: Vec<String>, workspace: &Workspace) -> Option<Self> {
        let first = losses.first()?;
        let what = format!("{} not changed", display_path(path, workspace));
        let why = text::sanitize_for_model(&text::clip_line(first, text::room_for_reason(&what)));
        let fix = workspace.client.settings.how_to_edit.into();
        Some(Self {
            denial: Denial { what, why, fix, document_wording: None },
            evidence: losses,
            is_final: false,
        })
    }

    /// For a settings file whose new content cannot be known beforehand.
    pub(super) fn for_unknown_settings(path: &Path, workspace: &Workspace) -> Self {
        Self::new(
            format!("{} not written", display_path(path, workspace)),
            "the new content of these settings cannot be known",
            "use the Edit or Write tool; this file switches hooks on and off",
            "the new content cannot be known".into(),
        )
    }

    /// For an agent, skill or command file with hooks.
    pub(super) fn for_hooked_instructions(path: &Path, workspace: &Workspace) -> Self {
        Self::new(
            format!("{} not written", display_path(path, workspace)),
            "its `hooks` could change calls after Provost's check",
            "leave out `hooks` that run before calls, permissions or agents; they could also speak to a critic",
            format!("{} would get such hooks", path.display()),
        )
    }

    /// For an agent, skill or command file whose new content cannot be known beforehand.
    pub(super) fn for_unknown_instructions(path: &Path, workspace: &Workspace) -> Self {
        Self::new(
            format!("{} not written", display_path(path, workspace)),
            "it may get `hooks` that change calls after Provost's check",
            "use the Edit or Write tool, without `hooks` that run before calls, permissions or agents",
            format!("{} may get such hooks", path.display()),
        )
    }

    /// For a path below which a protected file is, or would be.
    pub(super) fn for_parent(real: &Path, below: &Path, workspace: &Workspace) -> Self {
        Self::new(
            format!("{} not replaced", display_path(real, workspace)),
            "files below it switch guards on and off",
            format!("write the files one by one; {} is looked for there", display_path(below, workspace)),
            format!("{} lies below {}", below.display(), real.display()),
        )
    }

    /// For a call that is too large to be read.
    pub(super) fn for_oversized(what: &str) -> Self {
        Self::new(
            format!("{what} denied"),
            "it is too large to check",
            "split the call, or write the data with the file tools; it could hide what switches a guard off",
            what.to_owned(),
        )
        .permanent()
    }
}

/// A path relative to the project or to the home directory.
pub(super) fn display_path(path: &Path, workspace: &Workspace) -> String {
    let home = workspace.places.home.as_deref();
    let path = match (path.strip_prefix(&workspace.project), home.map(|home| path.strip_prefix(home))) {
        (Ok(below), _) if !below.as_os_str().is_empty() => below.to_string_lossy().into_owned(),
        (_, Some(Ok(below))) => format!("~/{}", below.display()),
        _ => path.to_string_lossy().into_owned(),
    };
    text::quote_path_end(&path)
}

/// The kinds of protected files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProtectedFile {
    Configuration,
    State,
    Program,
    SearchPath,
    Plugin,
    Reviewer,
    Transcript,
    OwnFile,
    OwnDirectory,
    HookFile,
    Settings,
    DecidesByName,
    Decides,
}

impl ProtectedFile {
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
            Self::HookFile => "a file that makes a client call Provost",
            Self::Settings => "a settings file of the client",
            Self::DecidesByName | Self::Decides => "a file that switches guards on and off",
        }
    }

    /// Whether a tool that changes it could forge what guards rely on.
    fn is_final(self) -> bool {
        !matches!(
            self,
            Self::Configuration
                | Self::Plugin
                | Self::Reviewer
                | Self::HookFile
                | Self::Settings
                | Self::DecidesByName
        )
    }
}
