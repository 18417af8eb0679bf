//! Which words of a program name files, and which are patterns, modes, names or numbers.
//!
//! A word that is wrongly taken for a file makes a rule match what nobody reads; a file that is wrongly taken for a word
//! hides it from every guard. So only words that cannot be files are left out: the values of options that take none,
//! leading operands such as the pattern of `grep`, and the plain names that programs such as `npm` are given. A plain
//! name has no slash and no dot.

use super::is_listed;
use super::sed::takes_perl_code;
use crate::word::Word;

/// What is known about the words of a program.
#[derive(Clone, Copy, Default)]
struct WordRule {
    /// Letters of options whose value is not a file.
    letters: &'static str,
    /// Long names of options whose value is not a file.
    longs: &'static str,
    /// Letters of options whose value is a file although operands like it are not.
    files: &'static str,
    /// How many of the first operands are not files.
    leading: usize,
    /// Letters and long names of options that give what the first operand would.
    unless: (&'static str, &'static str),
    /// Which of the other operands are not files.
    names: Names,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Names {
    #[default]
    Files,
    /// Plain names are not files.
    Plain,
    /// No operand is a file.
    All,
}

const SUBCOMMAND: WordRule =
    WordRule { letters: "", longs: "", files: "f", leading: 1, unless: ("", ""), names: Names::Plain };
const NOTHING: WordRule = WordRule { files: "", leading: 0, names: Names::All, ..SUBCOMMAND };
const VALUES: WordRule = WordRule { names: Names::Files, ..NOTHING };

fn find_rule(program: &str, first: Option<&str>) -> Option<WordRule> {
    let first = first.unwrap_or_default();
    Some(match program {
        "grep" | "egrep" | "fgrep" => WordRule {
            letters: "ABDdem",
            longs: "--regexp --max-count --after-context --before-context --binary-files --directories \
                    --devices --label --include --exclude --exclude-dir",
            leading: 1,
            unless: ("ef", "--regexp --file"),
            ..VALUES
        },
        "rg" => WordRule {
            letters: "ABCEMTdegjmrt",
            longs: "--regexp --max-count --after-context --before-context --context --glob --iglob --type --type-not \
                    --threads --replace --encoding --max-depth --max-columns --sort --sortr --color",
            leading: 1,
            unless: ("ef", "--regexp --file --files --type-list --version"),
            ..VALUES
        },
        "sed" => WordRule {
            letters: "e",
            longs: "--expression",
            leading: 1,
            unless: ("ef", "--expression --file"),
            ..VALUES
        },
        "awk" | "gawk" | "mawk" | "nawk" => WordRule {
            letters: "Fv",
            longs: "--field-separator --assign",
            leading: 1,
            unless: ("feEi", "--file --source --exec --include"),
            ..VALUES
        },
        "jq" => WordRule { leading: 1, unless: ("f", "--from-file"), ..VALUES },
        "head" | "tail" => {
            WordRule { letters: "ncs", longs: "--lines --bytes --sleep-interval --pid", ..VALUES }
        }
        "cut" => WordRule { letters: "bcdf", longs: "--bytes --characters --delimiter --fields", ..VALUES },
        "sort" => WordRule { letters: "ktS", longs: "--key --field-separator --buffer-size", ..VALUES },
        "uniq" => WordRule { letters: "fsw", longs: "--skip-fields --skip-chars --check-chars", ..VALUES },
        "chmod" | "chown" | "chgrp" => WordRule { leading: 1, unless: ("", "--reference"), ..VALUES },
        "ed" | "ex" => WordRule { letters: "cp", longs: "--prompt", ..VALUES },
        "touch" => WordRule { letters: "dt", longs: "--date --time", ..VALUES },
        "truncate" => WordRule { letters: "s", longs: "--size", ..VALUES },
        "mkdir" | "mkfifo" => WordRule { letters: "m", longs: "--mode", ..VALUES },
        "install" => WordRule { letters: "mgo", longs: "--mode --group --owner", ..VALUES },
        "setfacl" => WordRule { letters: "mx", longs: "--modify --remove", ..VALUES },
        "basename" | "dirname" | "expr" | "getconf" | "groups" | "id" | "kill" | "killall" | "locale"
        | "nproc" | "pgrep" | "pkill" | "printenv" | "ps" | "seq" | "sleep" | "tr" | "tty" | "type"
        | "uname" | "which" | "whoami" | "yes" => NOTHING,
        "scp" | "sftp" => WordRule { letters: "cDJloPSX", files: "iFb", ..VALUES },
        "rsync" => WordRule {
            letters: "efBTM",
            longs: "--rsh --filter --exclude --include --rsync-path --chmod --chown --info --bwlimit --port --timeout",
            ..VALUES
        },
        "ssh" => WordRule { letters: "bcDeIJlLmOopQRSWwB", files: "EFi", names: Names::All, ..SUBCOMMAND },
        "make" | "gmake" | "just" | "ninja" | "rake" | "task" => {
            WordRule { letters: "jl", longs: "--jobs", files: "fCI", leading: 0, ..SUBCOMMAND }
        }
        "npm" | "pnpm" | "yarn" if is_listed("run r", first) => {
            WordRule { leading: 2, names: Names::Files, ..SUBCOMMAND }
        }
        // What these are given belongs to another program, or is copied.
        "cargo" | "npm" | "pnpm" | "yarn" | "bun" | "docker" | "podman" | "kubectl" | "uv" | "poetry"
            if is_listed("run r exec x dlx start tool cp", first)
                && !(is_container(program) && first == "run") =>
        {
            WordRule { names: Names::Files, ..SUBCOMMAND }
        }
        "gh" | "go" => WordRule { names: Names::Files, ..SUBCOMMAND },
        "cargo" => WordRule {
            letters: "pjF",
            longs: "--package --bin --test --example --bench --features --profile --target --jobs --color --exclude",
            ..SUBCOMMAND
        },
        "pip" | "pip3" => WordRule { files: "rce", ..SUBCOMMAND },
        "npm" | "pnpm" | "yarn" | "bun" | "docker" | "podman" | "kubectl" | "brew" | "apt" | "apt-get"
        | "dnf" | "gem" | "uv" | "poetry" | "rustup" | "systemctl" | "service" => SUBCOMMAND,
        _ => return None,
    })
}

/// Options of git itself that take the next word.
const GIT_VALUES: &str = "-C -c --git-dir --work-tree --config-env --namespace --super-prefix --attr-source";
/// Git commands that are given branches, remotes and other names, but no files besides that of `-F`.
const GIT_NAMES: &str = "\
    branch cherry-pick describe fetch merge merge-base pull push rebase remote revert rev-parse switch symbolic-ref tag";
/// Options of git's commands whose value is not a file.
const GIT_TEXTS: &str = "\
    --message --author --date --grep --since --until --after --before --trailer --max-count --pretty --format";
const GIT_COMMIT: WordRule =
    WordRule { letters: "m", longs: "--message --author --date --trailer", ..VALUES };

/// Whether `--option=VALUE` of a program names no file.
pub(super) fn has_text_value(program: &str, option: &str) -> bool {
    let longs =
        if program == "git" { GIT_TEXTS } else { find_rule(program, None).map_or("", |rule| rule.longs) };
    is_listed(longs, option)
}

/// Calls `skip` with the index of each word that is not a file.
pub(super) fn find_other_words(program: &str, words: &[Word], mut skip: impl FnMut(usize)) {
    match program {
        "git" => skip_git_words(words, &mut skip),
        "find" => skip_expression(words, &mut skip),
        "perl" => {
            let is_code = |at: &usize| takes_perl_code(&words[at - 1]);
            (1..words.len()).filter(is_code).for_each(skip);
        }
        "curl" | "http" | "https" | "xh" | "fetch" | "lynx" => {
            let is_address = |word: &Word| {
                word.text().is_some_and(|text| text.contains("://") && !text.starts_with("file:"))
            };
            words.iter().enumerate().filter(|(_, word)| is_address(word)).for_each(|(at, _)| skip(at));
        }
        _ => {
            let first = words.iter().find(|word| !word.is_option()).and_then(Word::text);
            if let Some(rule) = find_rule(program, first) {
                skip_words(program, rule, words, 0, &mut skip);
            }
        }
    }
}

/// `offset`: the index of the first of these words.
fn skip_words(program: &str, rule: WordRule, words: &[Word], offset: usize, skip: &mut impl FnMut(usize)) {
    let mut leading = rule.leading;
    let mut is_end = false;
    let is_given = |word: &Word| {
        let name = word.prefix().split_once('=').map_or(word.prefix(), |(name, _)| name);
        has_letter(word, rule.unless.0).is_some()
            // Long names may be abbreviated.
            || name.len() > 2 && rule.unless.1.split(' ').any(|option| option.starts_with(name))
    };
    // The mode of `chmod -x f` looks like an option.
    let is_mode = |word: &Word| program == "chmod" && has_letter(word, "rwxXstugo").is_some();
    let before_dashes = words.iter().take_while(|word| word.text() != Some("--"));
    if before_dashes.clone().any(|word| is_given(word) || is_mode(word)) {
        leading = 0;
    }
    let mut words = words.iter().enumerate();
    while let Some((at, word)) = words.next() {
        if word.text() == Some("--") && !is_end {
            is_end = true;
        } else if word.is_option() && !is_end {
            let takes_value =
                has_letter(word, rule.letters) == Some(true) || is_listed(rule.longs, word.prefix());
            if !takes_value && has_letter(word, rule.files) == Some(true) {
                words.next();
            }
            // The value may be several words, or none.
            if takes_value && let Some((at, value)) = words.next() {
                if !value.may_split() || is_expansion(value) {
                    skip(offset + at);
                }
                if value.may_split() {
                    return;
                }
            }
        } else if is_expansion(word) && (rule.names != Names::Files || leading > 0 && word.may_split()) {
            // It is most likely what a known word would be in its place, but it may be several operands.
            skip(offset + at);
            leading = 0;
        } else if word.may_split() {
            leading = 0;
        } else if leading > 0 {
            leading -= 1;
            // A subcommand is a plain name.
            if rule.names == Names::Files && rule.files.is_empty()
                || rule.names == Names::All
                || is_plain_name(word)
            {
                skip(offset + at);
            }
        } else if rule.names == Names::All || rule.names == Names::Plain && !is_end && is_plain_name(word) {
            skip(offset + at);
        }
    }
}

/// Whether a cluster of letters has one of these, and if so, whether it is the last letter.
fn has_letter(word: &Word, letters: &str) -> Option<bool> {
    let text = word.prefix();
    let cluster = text.strip_prefix('-').filter(|rest| !rest.starts_with('-'))?;
    let at = cluster.find(|c| letters.contains(c))?;
    // In `tail -5c f` the letter is the unit of the number.
    let is_unit = cluster[..at].contains(|c: char| c.is_ascii_digit());
    Some(at + 1 == cluster.len() && !is_unit && word.text().is_some())
}

fn is_container(program: &str) -> bool {
    matches!(program, "docker" | "podman")
}

/// Whether all of the word depends on a variable or on what a command prints.
fn is_expansion(word: &Word) -> bool {
    word.text().is_none() && word.source.contains(['$', '`']) && !word.source.contains('/')
}

fn is_plain_name(word: &Word) -> bool {
    word.text().is_some_and(|text| !text.contains(['/', '.']) && !text.starts_with('~'))
}

fn skip_git_words(words: &[Word], skip: &mut impl FnMut(usize)) {
    let mut at = 0;
    while let Some(word) = words.get(at).filter(|word| word.is_option()) {
        let takes_value = word.text().is_some_and(|text| is_listed(GIT_VALUES, text));
        if takes_value {
            skip(at + 1);
        }
        at += 1 + usize::from(takes_value);
    }
    let Some(command) = words.get(at).and_then(Word::text) else { return };
    skip(at);
    let rest = &words[at + 1..];
    if !is_listed(GIT_NAMES, command) {
        if matches!(command, "commit" | "stash" | "notes") {
            return skip_words("git", GIT_COMMIT, rest, at + 1, skip);
        }
        // A variable is most likely a revision.
        let expansions = rest.iter().enumerate().filter(|(_, word)| is_expansion(word));
        return expansions.for_each(|(index, _)| skip(at + 1 + index));
    }
    for (index, word) in rest.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| &rest[before]);
        let is_file = before
            .is_some_and(|before| has_letter(before, "F") == Some(true) || before.text() == Some("--file"));
        if !is_file && !word.is_option() {
            skip(at + 1 + index);
        }
    }
}

/// `find PATH… EXPRESSION`: only a few tests name a file.
fn skip_expression(words: &[Word], skip: &mut impl FnMut(usize)) {
    let is_operator = |word: &Word| word.is_option() || matches!(word.text(), Some("(" | "!" | ")" | ","));
    let is_global = |word: &Word| matches!(word.text(), Some("-H" | "-L" | "-P"));
    let starts = |word: &Word| is_operator(word) && !is_global(word);
    let Some(start) = words.iter().position(starts) else { return };
    for at in start..words.len() {
        let before = words[at - usize::from(at > 0)].prefix();
        let is_file = ["-f", "-newer", "-anewer", "-cnewer", "-samefile", "-files0-from"]
            .iter()
            .any(|test| before.starts_with(test));
        if !is_file && !words[at].is_option() {
            skip(at);
        }
    }
}
