//! Settings for one git command: `-c name=value`.

/// What a setting does to a reading command.
#[derive(Debug, PartialEq)]
pub(super) enum GitSetting {
    Harmless,
    /// It names a program, or a place where programs are named.
    Runs,
    Unknown,
}

/// Settings of the output. `*` stands for any text.
#[rustfmt::skip]
const HARMLESS: &[&str] = &[
    "advice.*", "blame.*", "color.*", "column.*", "i18n.*", "log.*", "pretty.*", "status.*", "versionsort.*",
    "branch.sort", "core.abbrev", "core.autocrlf", "core.commentchar", "core.eol", "core.filemode",
    "core.ignorecase", "core.longpaths", "core.precomposeunicode", "core.preloadindex", "core.quotepath",
    "core.safecrlf", "core.untrackedcache", "core.whitespace", "diff.algorithm", "diff.colormoved",
    "diff.colormovedws", "diff.context", "diff.ignoresubmodules", "diff.indentheuristic",
    "diff.interhunkcontext", "diff.mnemonicprefix", "diff.noprefix", "diff.relative", "diff.renamelimit",
    "diff.renames", "diff.statgraphwidth", "diff.submodule", "diff.suppressblankempty", "diff.wordregex",
    "format.pretty", "gc.auto", "grep.column", "grep.extendedregexp", "grep.fullname", "grep.linenumber",
    "grep.patterntype", "grep.threads", "init.defaultbranch", "maintenance.auto", "merge.conflictstyle",
    "submodule.recurse", "tag.sort", "user.email", "user.name",
];

/// Settings that name a program, or where programs are named.
#[rustfmt::skip]
const RUNS: &[&str] = &[
    "alias.*", "browser.*", "credential.*", "difftool.*", "filter.*", "gpg.*", "include.*", "includeif.*",
    "man.*", "mergetool.*", "protocol.*", "remote.*", "sendemail.*", "tar.*", "trailer.*", "diff.*", "merge.*",
    "submodule.*", "core.alternaterefscommand", "core.askpass", "core.editor", "core.gitproxy",
    "core.hookspath", "core.sshcommand", "help.browser", "instaweb.browser", "interactive.difffilter",
    "sequence.editor", "uploadpack.packobjectshook", "web.browser",
];

/// Compares names without regard to case, as git does.
pub(super) fn classify_setting(name: &str, value: Option<&str>) -> GitSetting {
    let name = name.to_ascii_lowercase();
    let is_off = matches!(value, Some("false" | "0" | "no" | "off" | ""));
    let harmless = match &*name {
        "core.pager" => matches!(value, Some("cat" | "")),
        "core.fsmonitor" | "commit.gpgsign" | "tag.gpgsign" | "log.showsignature" => is_off,
        _ if name.starts_with("pager.") => is_off || value == Some("cat"),
        _ if value.is_some_and(shows_signature) => false,
        _ if matches_any(&name, HARMLESS) => true,
        _ if matches_any(&name, RUNS) => false,
        _ => return GitSetting::Unknown,
    };
    if harmless { GitSetting::Harmless } else { GitSetting::Runs }
}

/// Whether a name matches one of the patterns, in which one `*` stands for any text.
pub(super) fn matches_any(name: &str, patterns: &[&str]) -> bool {
    patterns.iter().any(|pattern| match pattern.split_once('*') {
        Some((start, end)) => name.strip_prefix(start).is_some_and(|rest| rest.ends_with(end)),
        None => name == *pattern,
    })
}

/// Whether a format makes git run the program that verifies signatures: `%G?`.
pub(in crate::programs) fn shows_signature(format: &str) -> bool {
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        let field = &rest[at + 1..];
        if field.trim_start_matches(['+', '-', ' ']).starts_with('G')
            || field
                .strip_prefix('(')
                .is_some_and(|name| name.trim_start_matches('*').starts_with("signature"))
        {
            return true;
        }
        // `%%` is a percent sign.
        rest = field.strip_prefix('%').unwrap_or(field);
    }
    false
}
