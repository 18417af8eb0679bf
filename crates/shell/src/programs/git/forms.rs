//! Git commands that only read in some of their forms: `branch --list`, but not `branch f`.

use super::super::options::{Argument, ArgumentParser, OptionAction, OptionTable, STRICT};
use super::super::{CommandName, ParsedArguments, RUNS};
use super::commands::{self, CHANGES, FILES, WRITES};
use super::options;
use crate::LineWalker;
use crate::word::Word;

const CHANGE: OptionAction = OptionAction::Does(CHANGES);
const SETTINGS: &str = "changes settings";

const BRANCH: OptionTable = OptionTable {
    letters: "ailqrv",
    longs: options::BRANCH,
    mutating: &[(
        CHANGE,
        "-d -D --delete -m -M --move -c -C --copy -f --force -u= --set-upstream-to= --set-upstream \
        --unset-upstream -t --track --edit-description --create-reflog --recurse-submodules",
    )],
    ..STRICT
};

const TAG: OptionTable = OptionTable {
    letters: "iln::",
    longs: options::TAG,
    mutating: &[
        (
            CHANGE,
            "-a --annotate -s --sign -u= --local-user= -d --delete -f --force -m= --message= -F= --file= -e --edit \
            --cleanup= --create-reflog --trailer=",
        ),
        (OptionAction::Does(RUNS), "-v --verify"),
    ],
    ..STRICT
};

const CONFIG: OptionTable = OptionTable {
    letters: "lzf:t:",
    longs: options::CONFIG,
    mutating: &[(
        OptionAction::Does(SETTINGS),
        "--add --append --unset --unset-all --replace-all --rename-section --remove-section --comment= -e --edit",
    )],
    ..STRICT
};

const SYMBOLIC_REF: OptionTable = OptionTable {
    letters: "q",
    longs: "--quiet --recurse --short",
    mutating: &[(CHANGE, "-d --delete -m=")],
    ..STRICT
};

const REPLACE: OptionTable = OptionTable {
    letters: "l",
    longs: "--format= --list",
    mutating: &[(CHANGE, "-d --delete -e --edit -f --force -g --graft --convert-graft-file --raw")],
    ..STRICT
};

const APPLY: OptionTable = OptionTable {
    letters: "vqRp:C:",
    longs: "\
        --cached --check --directory= --exclude= --include= --index --numstat --quiet \
        --recount --reverse --stat --summary --verbose",
    mutating: &[(OptionAction::Does(FILES), "--apply"), (OptionAction::Writes, "--build-fake-ancestor=")],
    ..STRICT
};

const CLEAN: OptionTable = OptionTable {
    letters: "dfnqxXe:",
    longs: "--dry-run --exclude= --force --quiet",
    mutating: &[(OptionAction::Does(FILES), "-i --interactive")],
    ..STRICT
};

const ARCHIVE: OptionTable = OptionTable {
    letters: "0123456789lv",
    longs: "--format= --list --prefix= --verbose --worktree-attributes",
    mutating: &[
        (OptionAction::Writes, "-o= --output="),
        (CHANGE, "--remote="),
        (OptionAction::Runs, "--exec="),
    ],
    ..STRICT
};

const FORMAT_PATCH: OptionTable = OptionTable {
    mutating: &[(OptionAction::Does(WRITES), "-o= --output-directory="), (OptionAction::Writes, "--output=")],
    ..commands::LOG
};

/// Options that turn a command into one that lists.
const FILTERS: &[&str] =
    &["--contains", "--no-contains", "--with", "--without", "--merged", "--no-merged", "--points-at"];

impl LineWalker<'_> {
    pub(super) fn report_git_form(&mut self, caller: CommandName, words: &[Word]) {
        let (options, does, reads): (&OptionTable, _, fn(&ParsedArguments) -> bool) = match caller.command {
            "branch" => {
                (&BRANCH, CHANGES, |branch| lists_names(branch) || branch.has('\0', "--show-current"))
            }
            "tag" => (&TAG, CHANGES, |tag| lists_names(tag) || prints_tag_lines(tag)),
            "replace" => (&REPLACE, CHANGES, lists_names),
            "apply" => {
                (&APPLY, FILES, |apply| apply.has_any(&["--check", "--numstat", "--stat", "--summary"]))
            }
            "clean" => (&CLEAN, FILES, |clean| clean.has('n', "--dry-run")),
            "archive" => (&ARCHIVE, WRITES, |_| true),
            "config" => return self.report_config(caller, words),
            "format-patch" => return self.report_format_patch(caller, words),
            "ls-remote" => return self.report_ls_remote(caller, words),
            "symbolic-ref" => {
                let arguments = self.report_options(caller, &SYMBOLIC_REF, words);
                if arguments.operands.len() > 1 || arguments.operands.iter().any(|word| word.may_split()) {
                    self.report_mutation(caller, "", CHANGES);
                }
                return;
            }
            _ => return self.report_subcommand(caller, words),
        };
        let arguments = self.report_options(caller, options, words);
        if !arguments.is_mutating && !reads(&arguments) {
            self.report_mutation(caller, "", does);
        }
    }

    /// `format-patch` writes files unless it has `--stdout`.
    fn report_format_patch(&mut self, caller: CommandName, words: &[Word]) {
        let end = words.iter().position(|word| word.text() == Some("--")).unwrap_or(words.len());
        // After an option, `--stdout` may be the value of that option.
        let may_take_value = |word: &Word| {
            let is_number = word.prefix().bytes().skip(1).all(|c| c.is_ascii_digit());
            word.text().is_none() || (word.is_option() && !word.prefix().contains('=') && !is_number)
        };
        let at = words[..end].iter().position(|word| word.text() == Some("--stdout"));
        let Some(at) = at.filter(|at| *at == 0 || !may_take_value(&words[at - 1])) else {
            return self.report_mutation(caller, "", WRITES);
        };
        let rest: Vec<Word> = words[..at].iter().chain(&words[at + 1..]).cloned().collect();
        self.report_options(caller, &FORMAT_PATCH, &rest);
    }

    fn report_config(&mut self, caller: CommandName, words: &[Word]) {
        const GETS: [&str; 6] =
            ["--get", "--get-all", "--get-regexp", "--get-urlmatch", "--get-color", "--get-colorbool"];
        // After a name, words that look like options are values. Only `get` and `list` have options.
        let is_command = |word: &Word| matches!(word.text(), Some("get" | "list"));
        let first = ArgumentParser::new(&CONFIG, words).find_map(|item| match item {
            Argument::Operand(word) => words.iter().position(|other| std::ptr::eq(word, other)),
            _ => None,
        });
        let end = first.filter(|at| !is_command(&words[*at])).map_or(words.len(), |at| at + 1);
        let mut arguments = self.report_options(caller, &CONFIG, &words[..end]);
        arguments.operands.extend(&words[end..]);
        let operands = &arguments.operands;
        let reads = arguments.has('l', "--list")
            || arguments.has_any(&GETS)
            || operands.first().is_some_and(|word| is_command(word))
            || matches!(&operands[..], [] | [_])
                && !operands.iter().any(|word| word.may_split() || word.text() == Some("edit"));
        if !reads && !arguments.is_mutating {
            self.report_mutation(caller, "", SETTINGS);
        }
    }

    /// Reports the program that fetches an address, if the address names one.
    fn report_ls_remote(&mut self, caller: CommandName, words: &[Word]) {
        let arguments = self.report_options(caller, &commands::LS_REMOTE, words);
        match arguments.operands.first().map(|word| (word, word.text())) {
            Some((word, None)) => self.report_unparsed_word(word),
            Some((_, Some(text))) if text.contains("::") || text.starts_with('-') => {
                self.report_mutation(caller, text, RUNS);
            }
            _ => {}
        }
    }

    /// Reports a command with subcommands.
    fn report_subcommand(&mut self, caller: CommandName, words: &[Word]) {
        // Options in front of the subcommand: `remote -v`, `notes --ref=x list`.
        let is_harmless = |text: &str| {
            matches!((caller.command, text), ("remote", "-v" | "--verbose") | ("submodule", "--quiet" | "-q"))
                || (caller.command == "notes" && text.starts_with("--ref="))
        };
        let at = words.iter().position(|word| !word.text().is_some_and(is_harmless)).unwrap_or(words.len());
        let (name, rest) = match &words[at..] {
            [] => ("", &[][..]),
            [first, rest @ ..] => match first.text() {
                Some(name) => (name, rest),
                None => return self.report_possible_option(caller, first),
            },
        };
        match (caller.command, name) {
            ("stash", "list") | ("stash" | "reflog" | "notes", "show") | ("submodule", "summary") => {
                self.report_options(caller, &commands::LOG, rest);
            }
            // The default of `reflog` is `show`, with the options of `log`.
            ("reflog", name)
                if !matches!(name, "expire" | "delete" | "drop" | "write" | "list" | "exists") =>
            {
                self.report_options(caller, &commands::LOG, words);
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
            ("submodule", "foreach") => self.report_mutation(caller, name, RUNS),
            _ => self.report_mutation(caller, name, CHANGES),
        }
    }
}

/// Whether `tag -n` lists. `-n-1` does not, nor does a number that becomes -1 in git's 32 bits.
fn prints_tag_lines(arguments: &ParsedArguments) -> bool {
    const LONGEST: usize = 9;
    let is_count = |text: &str| text.len() <= LONGEST && text.bytes().all(|digit| digit.is_ascii_digit());
    let last = arguments.values('n', "").next_back();
    last.is_some_and(|value| value.is_none_or(|word| word.text().is_some_and(is_count)))
}

/// Whether the command lists. A name that is given to a command that does not list creates something of that name.
fn lists_names(arguments: &ParsedArguments) -> bool {
    arguments.operands.is_empty() || arguments.has('l', "--list") || arguments.has_any(FILTERS)
}
