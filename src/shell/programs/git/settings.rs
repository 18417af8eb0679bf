//! Settings that are given to git for one command: `-c name=value`.

/// What a setting does to a command that reads.
#[derive(Debug, PartialEq)]
pub(super) enum Setting {
    Harmless,
    /// It names a program, or a place where programs are named.
    Runs,
    Unknown,
}

/// Names are told apart without regard to case, as git does.
pub(super) fn setting(name: &str, value: Option<&str>) -> Setting {
    let name = name.to_ascii_lowercase();
    let section = name.split('.').next().unwrap_or_default();
    let last = name.rsplit('.').next().unwrap_or_default();
    match (section, last) {
        ("core", "pager") => harmless_if(matches!(value, Some("cat" | ""))),
        ("pager", _) => harmless_if(matches!(value, Some("false" | "cat" | "0" | "no" | "off" | ""))),
        ("core", "fsmonitor") => harmless_if(matches!(value, Some("false" | "0" | "no" | "off" | ""))),
        ("commit" | "tag", "gpgsign") | ("log", "showsignature") => {
            harmless_if(matches!(value, Some("false" | "0" | "no" | "off" | "")))
        }
        (
            "color" | "column" | "advice" | "i18n" | "status" | "pretty" | "blame" | "log" | "versionsort",
            _,
        )
        | ("user", "name" | "email")
        | (
            "core",
            "quotepath" | "abbrev" | "autocrlf" | "eol" | "safecrlf" | "precomposeunicode" | "ignorecase"
            | "filemode" | "whitespace" | "commentchar" | "untrackedcache" | "preloadindex" | "longpaths",
        )
        | (
            "diff",
            "renames" | "renamelimit" | "algorithm" | "context" | "interhunkcontext" | "noprefix"
            | "mnemonicprefix" | "wordregex" | "colormoved" | "colormovedws" | "indentheuristic"
            | "ignoresubmodules" | "submodule" | "statgraphwidth" | "relative" | "suppressblankempty",
        )
        | ("grep", "linenumber" | "patterntype" | "extendedregexp" | "column" | "fullname" | "threads")
        | ("branch" | "tag", "sort")
        | ("format", "pretty")
        | ("init", "defaultbranch")
        | ("merge" | "diff", "conflictstyle")
        | ("submodule", "recurse")
        | ("gc", "auto")
        | ("maintenance", "auto") => Setting::Harmless,
        (
            "alias" | "difftool" | "mergetool" | "filter" | "gpg" | "browser" | "man" | "include"
            | "includeif",
            _,
        )
        | ("core", "sshcommand" | "editor" | "hookspath" | "askpass" | "gitproxy" | "alternaterefscommand")
        | ("diff", "external" | "command" | "textconv" | "tool")
        | ("merge", "driver" | "tool")
        | ("sequence", "editor")
        | ("credential", _)
        | ("interactive", "difffilter")
        | ("remote", "uploadpack" | "receivepack" | "vcs")
        | ("trailer", "command" | "cmd")
        | ("help" | "web" | "instaweb", "browser")
        | ("uploadpack", "packobjectshook")
        | ("protocol", _)
        | ("submodule", "update")
        | ("tar", "command")
        | ("sendemail", _) => Setting::Runs,
        _ => Setting::Unknown,
    }
}

fn harmless_if(is_harmless: bool) -> Setting {
    if is_harmless { Setting::Harmless } else { Setting::Runs }
}
