//! Commands of git that read in some forms only: `branch --list`, but not `branch f`.

use super::super::options::{Deed, Item, Options, STRICT, Walk};
use super::super::{Caller, Found};
use super::commands::{self, CHANGES, FILES, WRITES};
use super::options;
use crate::shell::Line;
use crate::shell::word::Word;

const LOUD: Deed = Deed::Does(CHANGES);
const SETTINGS: Deed = Deed::Does("changes settings");

const BRANCH: Options = Options {
    letters: "ailqrv",
    longs: options::BRANCH,
    loud: &[
        ("-d", LOUD),
        ("-D", LOUD),
        ("--delete", LOUD),
        ("-m", LOUD),
        ("-M", LOUD),
        ("--move", LOUD),
        ("-c", LOUD),
        ("-C", LOUD),
        ("--copy", LOUD),
        ("-f", LOUD),
        ("--force", LOUD),
        ("-u=", LOUD),
        ("--set-upstream-to=", LOUD),
        ("--set-upstream", LOUD),
        ("--unset-upstream", LOUD),
        ("-t", LOUD),
        ("--track", LOUD),
        ("--edit-description", LOUD),
        ("--create-reflog", LOUD),
        ("--recurse-submodules", LOUD),
    ],
    ..STRICT
};

const TAG: Options = Options {
    letters: "iln::",
    longs: options::TAG,
    loud: &[
        ("-a", LOUD),
        ("--annotate", LOUD),
        ("-s", LOUD),
        ("--sign", LOUD),
        ("-u=", LOUD),
        ("--local-user=", LOUD),
        ("-d", LOUD),
        ("--delete", LOUD),
        ("-f", LOUD),
        ("--force", LOUD),
        ("-m=", LOUD),
        ("--message=", LOUD),
        ("-F=", LOUD),
        ("--file=", LOUD),
        ("-e", LOUD),
        ("--edit", LOUD),
        ("--cleanup=", LOUD),
        ("--create-reflog", LOUD),
        ("--trailer=", LOUD),
        ("-v", Deed::Does("runs another program")),
        ("--verify", Deed::Does("runs another program")),
    ],
    ..STRICT
};

const CONFIG: Options = Options {
    letters: "lzf:t:",
    longs: options::CONFIG,
    loud: &[
        ("--add", SETTINGS),
        ("--append", SETTINGS),
        ("--unset", SETTINGS),
        ("--unset-all", SETTINGS),
        ("--replace-all", SETTINGS),
        ("--rename-section", SETTINGS),
        ("--remove-section", SETTINGS),
        ("--comment=", SETTINGS),
        ("-e", SETTINGS),
        ("--edit", SETTINGS),
    ],
    ..STRICT
};

const SYMBOLIC_REF: Options = Options {
    letters: "q",
    longs: "--quiet --recurse --short",
    loud: &[("-d", LOUD), ("--delete", LOUD), ("-m=", LOUD)],
    ..STRICT
};

const APPLY: Options = Options {
    letters: "vqRp:C:",
    longs: "\
        --cached --check --directory= --exclude= --include= --index --numstat --quiet \
        --recount --reverse --stat --summary --verbose",
    loud: &[("--apply", Deed::Does(FILES)), ("--build-fake-ancestor=", Deed::Writes)],
    ..STRICT
};

const CLEAN: Options = Options {
    letters: "dfnqxXe:",
    longs: "--dry-run --exclude= --force --quiet",
    loud: &[("-i", Deed::Does(FILES)), ("--interactive", Deed::Does(FILES))],
    ..STRICT
};

const ARCHIVE: Options = Options {
    letters: "0123456789lv",
    longs: "--format= --list --prefix= --verbose --worktree-attributes",
    loud: &[("-o=", Deed::Writes), ("--output=", Deed::Writes), ("--remote=", LOUD), ("--exec=", Deed::Runs)],
    ..STRICT
};

const FORMAT_PATCH: Options = Options {
    loud: &[
        ("-o=", Deed::Does(WRITES)),
        ("--output-directory=", Deed::Does(WRITES)),
        ("--output=", Deed::Writes),
    ],
    ..commands::LOG
};

/// Options of git that turn a command into a list of what there is.
const FILTERS: &[&str] =
    &["--contains", "--no-contains", "--with", "--without", "--merged", "--no-merged", "--points-at"];

impl Line<'_> {
    pub(super) fn git_form(&mut self, caller: Caller, words: &[Word]) {
        match caller.command {
            "branch" => {
                let found = self.judge(caller, &BRANCH, words);
                let lists = lists(&found) || found.has('\0', "--show-current");
                self.makes(caller, &found, lists);
            }
            "tag" => {
                let found = self.judge(caller, &TAG, words);
                let lists = lists(&found) || prints_lines(&found);
                self.makes(caller, &found, lists);
            }
            "config" => self.git_config(caller, words),
            "symbolic-ref" => {
                let found = self.judge(caller, &SYMBOLIC_REF, words);
                if found.operands.len() > 1 || found.operands.iter().any(|word| word.splits()) {
                    self.act(caller, "", CHANGES);
                }
            }
            "replace" => {
                let longs = "--format= --list";
                let loud = &[
                    ("-d", LOUD),
                    ("--delete", LOUD),
                    ("-e", LOUD),
                    ("--edit", LOUD),
                    ("-f", LOUD),
                    ("--force", LOUD),
                    ("-g", LOUD),
                    ("--graft", LOUD),
                    ("--convert-graft-file", LOUD),
                    ("--raw", LOUD),
                ];
                let found = self.judge(caller, &Options { letters: "l", longs, loud, ..STRICT }, words);
                self.makes(caller, &found, lists(&found));
            }
            "apply" => {
                let found = self.judge(caller, &APPLY, words);
                let asks = ["--check", "--numstat", "--stat", "--summary"];
                if !found.is_loud && !asks.iter().any(|name| found.has('\0', name)) {
                    self.act(caller, "", FILES);
                }
            }
            "clean" => {
                let found = self.judge(caller, &CLEAN, words);
                if !found.is_loud && !found.has('n', "--dry-run") {
                    self.act(caller, "", FILES);
                }
            }
            "archive" => {
                self.judge(caller, &ARCHIVE, words);
            }
            "format-patch" => {
                let ends = words.iter().position(|word| word.known() == Some("--")).unwrap_or(words.len());
                let prints = |word: &Word| word.known() == Some("--stdout");
                // Behind an option it may be the value of that one.
                let takes = |word: &Word| {
                    let is_number =
                        word.start()[1.min(word.start().len())..].bytes().all(|c| c.is_ascii_digit());
                    word.known().is_none() || (word.is_option() && !word.start().contains('=') && !is_number)
                };
                let at = words[..ends].iter().position(prints);
                let Some(at) = at.filter(|at| *at == 0 || !takes(&words[at - 1])) else {
                    return self.act(caller, "", WRITES);
                };
                let rest: Vec<Word> = words[..at].iter().chain(&words[at + 1..]).cloned().collect();
                self.judge(caller, &FORMAT_PATCH, &rest);
            }
            "ls-remote" => self.ls_remote(caller, words),
            _ => self.sub_command(caller, words),
        }
    }

    /// A name that is given to a command that does not list makes something of that name.
    fn makes(&mut self, caller: Caller, found: &Found, lists: bool) {
        if !lists && !found.is_loud && !found.operands.is_empty() {
            self.act(caller, "", CHANGES);
        }
    }

    fn git_config(&mut self, caller: Caller, words: &[Word]) {
        // Behind a name there are no options any more: they are values. Only `get` and `list` have some.
        let is_command = |word: &Word| matches!(word.known(), Some("get" | "list"));
        let first = Walk::new(&CONFIG, words).find_map(|item| match item {
            Item::Operand(word) => words.iter().position(|other| std::ptr::eq(word, other)),
            _ => None,
        });
        let end = first.filter(|at| !is_command(&words[*at])).map_or(words.len(), |at| at + 1);
        let mut found = self.judge(caller, &CONFIG, &words[..end]);
        found.operands.extend(&words[end..]);
        let gets = [
            (' ', "--get"),
            (' ', "--get-all"),
            (' ', "--get-regexp"),
            (' ', "--get-urlmatch"),
            ('l', "--list"),
            (' ', "--get-color"),
            (' ', "--get-colorbool"),
        ];
        let operands = &found.operands;
        let reads = gets.iter().any(|(letter, long)| found.has(*letter, long))
            || operands.first().is_some_and(|word| is_command(word))
            || matches!(&operands[..], [] | [_])
                && !operands.iter().any(|word| word.splits() || word.known() == Some("edit"));
        if !reads && !found.is_loud {
            self.act(caller, "", "changes settings");
        }
    }

    /// An address can name a program that fetches it.
    fn ls_remote(&mut self, caller: Caller, words: &[Word]) {
        let found = self.judge(caller, commands::options_of_ls_remote(), words);
        match found.operands.first().map(|word| (word, word.known())) {
            Some((word, None)) => self.obscure_word(word),
            Some((_, Some(text))) if text.contains("::") || text.starts_with('-') => {
                self.act(caller, text, "runs another program");
            }
            _ => {}
        }
    }

    /// Commands with commands of their own.
    fn sub_command(&mut self, caller: Caller, words: &[Word]) {
        // Options in front of it: `remote -v`, `notes --ref=x list`.
        let is_harmless = |text: &str| {
            matches!((caller.command, text), ("remote", "-v" | "--verbose") | ("submodule", "--quiet" | "-q"))
                || (caller.command == "notes" && text.starts_with("--ref="))
        };
        let at = words.iter().position(|word| !word.known().is_some_and(is_harmless)).unwrap_or(words.len());
        let (name, rest) = match words.split_at(at).1 {
            [] => ("", &[][..]),
            [first, rest @ ..] => match first.known() {
                Some(name) => (name, rest),
                None => return self.doubt(caller, first),
            },
        };
        let log = |line: &mut Self| {
            line.judge(caller, &commands::LOG, rest);
        };
        match (caller.command, name) {
            ("stash", "list") | ("stash" | "reflog" | "notes", "show") | ("submodule", "summary") => {
                log(self);
            }
            // The default of `reflog` is `show`, with the options of `log`.
            ("reflog", name)
                if !matches!(name, "expire" | "delete" | "drop" | "write" | "list" | "exists") =>
            {
                self.judge(caller, &commands::LOG, words);
            }
            ("reflog", "list" | "exists")
            | ("remote", "" | "show" | "get-url")
            | ("worktree" | "sparse-checkout", "list")
            | ("submodule" | "notes", "" | "status" | "list")
            | ("notes", "get-ref")
            | ("bisect", "log" | "terms")
            | ("sparse-checkout", "check-rules")
            | ("bundle", "verify" | "list-heads")
            | ("commit-graph" | "multi-pack-index", "verify")
            | ("rerere", "status" | "diff" | "remaining") => {}
            ("submodule", "foreach") => self.act(caller, name, "runs another program"),
            _ => self.act(caller, name, CHANGES),
        }
    }
}

/// Whether `tag -n` makes a list. `-n-1` does not, nor does a number that becomes -1 in git's 32 bits.
fn prints_lines(found: &Found) -> bool {
    const LONGEST: usize = 9;
    let last = found.options.iter().rev().find(|(name, _)| super::super::is(*name, 'n', ""));
    last.is_some_and(|(_, value)| {
        value.as_ref().is_none_or(|word| {
            word.known().is_some_and(|number| {
                number.len() <= LONGEST && number.bytes().all(|digit| digit.is_ascii_digit())
            })
        })
    })
}

fn lists(found: &Found) -> bool {
    found.has('l', "--list") || FILTERS.iter().any(|name| found.has('\0', name))
}
