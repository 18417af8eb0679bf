//! The git commands: those that read, those that change something, and those whose arguments decide.

use super::super::RUNS;
use super::super::options::{OptionAction, OptionTable, STRICT, ValueRule};
use super::options;

pub(super) enum GitCommandKind {
    Reads(&'static OptionTable),
    /// Reads or changes, depending on its arguments: see [`super::forms`].
    DependsOnArguments,
    Does(&'static str),
}

pub(super) const CHANGES: &str = "changes the repository";
pub(super) const FILES: &str = "changes files of the project";
pub(super) const WRITES: &str = "writes files";
const TALKS: &str = "talks to another repository and changes this one or the other";

/// Commands that walk history or compare.
const READER: OptionTable = OptionTable {
    longs: options::READ,
    mutating: &[
        (OptionAction::Writes, "--output="),
        (OptionAction::Does(RUNS), "--ext-diff --show-signature --textconv"),
    ],
    values: ValueRule::Likely,
    ..STRICT
};

/// `log`, `diff`, and the commands that share their options.
pub(super) const LOG: OptionTable =
    OptionTable { letters: "0123456789abcghimpqrstuvwzDEFPRWB::C::M::U::X::G:I:L:O:S:l:n:", ..READER };
const BLAME: OptionTable = OptionTable { letters: "bcefhlnpstwC::M::L:S:0123456789", ..READER };
const GREP: OptionTable = OptionTable {
    letters: "0123456789acEFGhHIilLnopPqrvwWzA:B:C:e:f:m:",
    mutating: &[
        (OptionAction::Does(RUNS), "-O --open-files-in-pager --textconv"),
        (OptionAction::Writes, "--output="),
    ],
    ..READER
};
/// Commands whose letters take no value, or take the next word.
const LISTS: OptionTable = OptionTable { letters: "abcdfghHiklmnoqrstuvzx:X:", ..READER };
const STATUS: OptionTable = OptionTable { letters: "sbvzu::M::", ..READER };
const SHORTLOG: OptionTable = OptionTable { letters: "0123456789cnsew::i", ..READER };
const CAT_FILE: OptionTable = OptionTable {
    letters: "etpsZz",
    mutating: &[(OptionAction::Does(RUNS), "--textconv --filters"), (OptionAction::Writes, "--output=")],
    ..READER
};
const REFS: OptionTable = OptionTable { letters: "spqd", longs: options::FOR_EACH_REF, ..STRICT };
/// Commands that are harmless with any arguments.
const ANY: OptionTable = OptionTable { allows_unlisted: true, ..STRICT };
pub(super) const LS_REMOTE: OptionTable = OptionTable {
    letters: "bhtqo:",
    longs: options::LS_REMOTE,
    mutating: &[(OptionAction::Runs, "--upload-pack= --exec=")],
    ..STRICT
};
const HELP: OptionTable = OptionTable {
    letters: "acgimv",
    longs: options::HELP,
    mutating: &[(OptionAction::Does("opens a browser"), "-w --web")],
    ..STRICT
};
const FSCK: OptionTable = OptionTable {
    letters: "v",
    mutating: &[(OptionAction::Does(WRITES), "--lost-found"), (OptionAction::Writes, "--output=")],
    ..READER
};
const HASH: OptionTable = OptionTable {
    letters: "t:",
    longs: "--literally --no-filters --path= --stdin --stdin-paths",
    mutating: &[(OptionAction::Does(CHANGES), "-w")],
    ..STRICT
};

pub(super) fn find_kind(command: &str) -> Option<GitCommandKind> {
    Some(match command {
        "log" | "show" | "diff" | "whatchanged" | "rev-list" | "range-diff" | "diff-tree" | "diff-index"
        | "diff-files" | "diff-pairs" => GitCommandKind::Reads(&LOG),
        "blame" | "annotate" => GitCommandKind::Reads(&BLAME),
        "grep" => GitCommandKind::Reads(&GREP),
        "status" => GitCommandKind::Reads(&STATUS),
        "shortlog" => GitCommandKind::Reads(&SHORTLOG),
        "cat-file" => GitCommandKind::Reads(&CAT_FILE),
        "for-each-ref" => GitCommandKind::Reads(&REFS),
        "ls-files" | "ls-tree" | "describe" | "show-ref" | "name-rev" | "check-ignore" | "check-attr"
        | "check-mailmap" | "check-ref-format" | "count-objects" | "merge-base" | "cherry"
        | "show-branch" | "verify-pack" | "show-index" | "get-tar-commit-id" | "patch-id" | "stripspace"
        | "column" => GitCommandKind::Reads(&LISTS),
        "rev-parse" | "var" | "version" => GitCommandKind::Reads(&ANY),
        "fsck" => GitCommandKind::Reads(&FSCK),
        "hash-object" => GitCommandKind::Reads(&HASH),
        "help" => GitCommandKind::Reads(&HELP),
        "apply" | "archive" | "bisect" | "branch" | "bundle" | "clean" | "commit-graph" | "config"
        | "format-patch" | "ls-remote" | "multi-pack-index" | "notes" | "reflog" | "remote" | "replace"
        | "rerere" | "sparse-checkout" | "stash" | "submodule" | "symbolic-ref" | "tag" | "worktree" => {
            GitCommandKind::DependsOnArguments
        }
        "add" | "am" | "cherry-pick" | "commit" | "commit-tree" | "fast-import" | "filter-branch" | "gc"
        | "index-pack" | "init" | "init-db" | "interpret-trailers" | "maintenance" | "merge-index"
        | "merge-one-file" | "merge-tree" | "mktag" | "mktree" | "pack-objects" | "pack-refs" | "prune"
        | "prune-packed" | "quiltimport" | "read-tree" | "refs" | "repack" | "replay" | "revert"
        | "stage" | "unpack-objects" | "update-index" | "update-ref" | "update-server-info"
        | "write-tree" | "backfill" | "credential" | "credential-cache" | "credential-store" => {
            GitCommandKind::Does(CHANGES)
        }
        "checkout" | "checkout-index" | "merge" | "merge-file" | "mv" | "rebase" | "reset" | "restore"
        | "rm" | "switch" => GitCommandKind::Does(FILES),
        "clone" | "fetch" | "fetch-pack" | "http-fetch" | "http-push" | "pull" | "push" | "receive-pack"
        | "send-pack" | "upload-pack" | "upload-archive" | "svn" | "p4" | "cvsimport" | "cvsexportcommit"
        | "imap-send" | "send-email" | "request-pull" | "archimport" => GitCommandKind::Does(TALKS),
        "bugreport" | "diagnose" | "fast-export" | "mailinfo" | "mailsplit" | "unpack-file"
        | "fmt-merge-msg" => GitCommandKind::Does(WRITES),
        "citool" | "cvsserver" | "daemon" | "difftool" | "for-each-repo" | "fsmonitor--daemon" | "gui"
        | "gitk" | "instaweb" | "mergetool" | "shell" | "verify-commit" | "verify-tag" | "web--browse"
        | "hook" => GitCommandKind::Does(RUNS),
        _ => return None,
    })
}
