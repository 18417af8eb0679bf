//! Settings that are given to git for one command: `-c name=value`.

/// What a setting does to a command that reads.
#[derive(Debug, PartialEq)]
pub(super) enum Setting {
    Harmless,
    /// It names a program, or a place where programs are named.
    Runs,
    Unknown,
}

/// Settings that say how things are shown. `*` stands for any rest.
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

/// Names are told apart without regard to case, as git does.
pub(super) fn setting(name: &str, value: Option<&str>) -> Setting {
    let name = name.to_ascii_lowercase();
    let is_off = matches!(value, Some("false" | "0" | "no" | "off" | ""));
    let is_among = |list: &[&str]| {
        list.iter().any(|pattern| match pattern.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == *pattern,
        })
    };
    let harmless = match &*name {
        "core.pager" => matches!(value, Some("cat" | "")),
        "core.fsmonitor" | "commit.gpgsign" | "tag.gpgsign" | "log.showsignature" => is_off,
        _ if name.starts_with("pager.") => is_off || value == Some("cat"),
        _ if value.is_some_and(verifies) => false,
        _ if is_among(HARMLESS) => true,
        _ if is_among(RUNS) => false,
        _ => return Setting::Unknown,
    };
    if harmless { Setting::Harmless } else { Setting::Runs }
}

/// Whether a format shows what only the program that verifies signatures can tell: `%G?`.
pub(in crate::shell::programs) fn verifies(format: &str) -> bool {
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
        // `%%` is a sign of its own.
        rest = field.strip_prefix('%').unwrap_or(field);
    }
    false
}
