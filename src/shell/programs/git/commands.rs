//! The commands of git: those that read, those that read in some forms, those that change things.

use super::super::options::{Deed, Options, STRICT, Values};
use super::options;

pub(super) enum Kind {
    Reads(&'static Options),
    /// It depends on its words: see [`super::forms`].
    Form,
    Does(&'static str),
}

pub(super) const CHANGES: &str = "changes the repository";
pub(super) const FILES: &str = "changes files of the project";
const RUNS: &str = "runs another program";
pub(super) const WRITES: &str = "writes files";
const TALKS: &str = "talks to another repository and changes this one or the other";

/// What every command that walks history or compares can be told to do.
const LOUD: &[(&str, Deed)] = &[
    ("--output=", Deed::Writes),
    ("--ext-diff", Deed::Does(RUNS)),
    ("--show-signature", Deed::Does(RUNS)),
    ("--textconv", Deed::Does(RUNS)),
];

const READER: Options = Options { longs: options::READ, loud: LOUD, values: Values::Likely, ..STRICT };

/// `log`, `diff`, and what shares their options.
pub(super) const LOG: Options =
    Options { letters: "0123456789abcghimpqrstuvwzDEFPRWB::C::M::U::X::G:I:L:O:S:l:n:", ..READER };
const BLAME: Options = Options { letters: "bcefhlnpstwC::M::L:S:0123456789", ..READER };
const GREP: Options = Options {
    letters: "0123456789acEFGhHIilLnopPqrvwWzA:B:C:e:f:m:",
    loud: &[
        ("-O", Deed::Does(RUNS)),
        ("--open-files-in-pager", Deed::Does(RUNS)),
        ("--textconv", Deed::Does(RUNS)),
        ("--output=", Deed::Writes),
    ],
    ..READER
};
/// Their letters take no values, or as words of their own.
const LISTS: Options = Options { letters: "abcdfghHiklmnoqrstuvzx:X:", ..READER };
const STATUS: Options = Options { letters: "sbvzu::M::", ..READER };
const SHORTLOG: Options = Options { letters: "0123456789cnsew::i", ..READER };
const CAT_FILE: Options = Options {
    letters: "etpsZz",
    loud: &[("--textconv", Deed::Does(RUNS)), ("--filters", Deed::Does(RUNS)), ("--output=", Deed::Writes)],
    ..READER
};
const REFS: Options = Options { letters: "spqd", longs: options::FOR_EACH_REF, ..STRICT };
/// Every word is something to be said more about, and nothing is done.
const ANY: Options = Options { quiet: true, ..STRICT };
const LS_REMOTE: Options = Options {
    letters: "bhtqo:",
    longs: options::LS_REMOTE,
    loud: &[("--upload-pack=", Deed::Runs), ("--exec=", Deed::Runs)],
    ..STRICT
};
const HELP: Options = Options {
    letters: "acgimv",
    longs: options::HELP,
    loud: &[("-w", Deed::Does("opens a browser")), ("--web", Deed::Does("opens a browser"))],
    ..STRICT
};
const FSCK: Options = Options {
    letters: "v",
    loud: &[("--lost-found", Deed::Does("writes files")), ("--output=", Deed::Writes)],
    ..READER
};
const HASH: Options = Options {
    letters: "t:",
    longs: "--literally --no-filters --path= --stdin --stdin-paths",
    loud: &[("-w", Deed::Does(CHANGES))],
    ..STRICT
};

pub(super) fn options_of_ls_remote() -> &'static Options {
    &LS_REMOTE
}

pub(super) fn kind(command: &str) -> Option<Kind> {
    Some(match command {
        "log" | "show" | "diff" | "whatchanged" | "rev-list" | "range-diff" | "diff-tree" | "diff-index"
        | "diff-files" | "diff-pairs" => Kind::Reads(&LOG),
        "blame" | "annotate" => Kind::Reads(&BLAME),
        "grep" => Kind::Reads(&GREP),
        "status" => Kind::Reads(&STATUS),
        "shortlog" => Kind::Reads(&SHORTLOG),
        "cat-file" => Kind::Reads(&CAT_FILE),
        "for-each-ref" => Kind::Reads(&REFS),
        "ls-files" | "ls-tree" | "describe" | "show-ref" | "name-rev" | "check-ignore" | "check-attr"
        | "check-mailmap" | "check-ref-format" | "count-objects" | "merge-base" | "cherry"
        | "show-branch" | "verify-pack" | "show-index" | "get-tar-commit-id" | "patch-id" | "stripspace"
        | "column" => Kind::Reads(&LISTS),
        "rev-parse" | "var" | "version" => Kind::Reads(&ANY),
        "fsck" => Kind::Reads(&FSCK),
        "hash-object" => Kind::Reads(&HASH),
        "help" => Kind::Reads(&HELP),
        "apply" | "archive" | "bisect" | "branch" | "bundle" | "clean" | "commit-graph" | "config"
        | "format-patch" | "ls-remote" | "multi-pack-index" | "notes" | "reflog" | "remote" | "replace"
        | "rerere" | "sparse-checkout" | "stash" | "submodule" | "symbolic-ref" | "tag" | "worktree" => {
            Kind::Form
        }
        "add" | "am" | "cherry-pick" | "commit" | "commit-tree" | "fast-import" | "filter-branch" | "gc"
        | "index-pack" | "init" | "init-db" | "interpret-trailers" | "maintenance" | "merge-index"
        | "merge-one-file" | "merge-tree" | "mktag" | "mktree" | "pack-objects" | "pack-refs" | "prune"
        | "prune-packed" | "quiltimport" | "read-tree" | "refs" | "repack" | "replay" | "revert"
        | "stage" | "unpack-objects" | "update-index" | "update-ref" | "update-server-info"
        | "write-tree" | "backfill" | "credential" | "credential-cache" | "credential-store" => {
            Kind::Does(CHANGES)
        }
        "checkout" | "checkout-index" | "merge" | "merge-file" | "mv" | "rebase" | "reset" | "restore"
        | "rm" | "switch" => Kind::Does(FILES),
        "clone" | "fetch" | "fetch-pack" | "http-fetch" | "http-push" | "pull" | "push" | "receive-pack"
        | "send-pack" | "upload-pack" | "upload-archive" | "svn" | "p4" | "cvsimport" | "cvsexportcommit"
        | "imap-send" | "send-email" | "request-pull" | "archimport" => Kind::Does(TALKS),
        "bugreport" | "diagnose" | "fast-export" | "mailinfo" | "mailsplit" | "unpack-file"
        | "fmt-merge-msg" => Kind::Does(WRITES),
        "citool" | "cvsserver" | "daemon" | "difftool" | "for-each-repo" | "fsmonitor--daemon" | "gui"
        | "gitk" | "instaweb" | "mergetool" | "shell" | "verify-commit" | "verify-tag" | "web--browse"
        | "hook" => Kind::Does(RUNS),
        _ => return None,
    })
}
