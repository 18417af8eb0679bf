//! What a command line would do to files, as far as this version can see it.
//!
//! The seam is [`effects`]: text in, the same [`Effect`]s out that the file tools produce. What
//! stands behind it now sees redirections and plain file commands in lists, pipelines, groups and
//! `sh -c` operands, in one pass without recursion. What it cannot read (substitutions, variables,
//! patterns, unknown programs) it does not guess at: a word that could have been a target and is
//! not known becomes [`Effect::Obscure`].

mod words;

use std::path::{Path, PathBuf};

use crate::effect::{Content, Effect};
use words::{Piece, Word};

/// How a plain file command uses its operands.
enum Operands {
    Deleted,
    Written,
    Read,
    /// The last is written, the others are read.
    Copied,
    /// The last is written, the others are gone.
    Moved,
}

fn operands_of(program: &str) -> Option<Operands> {
    Some(match program {
        "rm" | "rmdir" | "unlink" | "shred" => Operands::Deleted,
        "tee" | "touch" | "truncate" | "chmod" | "chown" | "chattr" => Operands::Written,
        "cp" | "ln" | "install" | "rsync" => Operands::Copied,
        "mv" => Operands::Moved,
        "cat" | "head" | "tail" | "less" | "more" | "tac" | "nl" | "od" | "xxd" | "hexdump" | "strings"
        | "base64" | "base32" | "wc" | "sort" | "uniq" | "cut" | "diff" | "cmp" | "grep" | "rg" | "awk"
        | "sed" | "source" | "." => Operands::Read,
        _ => return None,
    })
}

/// Programs that run the command behind them.
const WRAPPERS: &[&str] = &[
    "sudo", "doas", "command", "builtin", "exec", "nohup", "time", "timeout", "env", "nice", "ionice",
    "stdbuf", "setsid", "xargs", "busybox",
];
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh"];
const KEYWORDS: &[&str] = &["if", "then", "elif", "else", "while", "until", "do", "!", "{"];
/// How deep `sh -c "sh -c …"` is followed.
const DEEPEST: u32 = 8;

/// The effects of a command line that starts in `cwd`.
pub fn effects(command: &str, cwd: &Path, home: Option<&Path>) -> Vec<Effect> {
    let home = home.and_then(Path::to_str);
    let mut effects = Vec::new();
    let mut open = vec![(command.to_owned(), vec![cwd.to_owned()], 0)];
    while let Some((text, cwds, depth)) = open.pop() {
        let mut line = Line { seen: cwds.clone(), cwds, home, effects: &mut effects };
        let mut command = Vec::new();
        for piece in words::pieces(&text, home) {
            match piece {
                Piece::Word(word) => {
                    if word.runs() {
                        line.effects.push(obscure(&word));
                    }
                    command.push(word);
                }
                Piece::Redirection { target, writes: true } => line.write(&target),
                Piece::Redirection { target, writes: false } => line.read(&target, false),
                Piece::End { and } => {
                    match line.simple(&command) {
                        Some(text) if depth < DEEPEST => open.push((text, line.cwds.clone(), depth + 1)),
                        Some(_) => line.effects.push(Effect::Obscure { what: "deeply nested shells".into() }),
                        None => {}
                    }
                    // Behind `&&` a `cd` has succeeded. Behind anything else it may have failed, or
                    // been in a subshell, so every directory of the line is possible.
                    if !and {
                        line.cwds.clone_from(&line.seen);
                    }
                    command.clear();
                }
            }
        }
    }
    effects
}

/// One command line while it is read.
struct Line<'a> {
    /// The directories in which the next command may run.
    cwds: Vec<PathBuf>,
    /// All directories that the line has named so far.
    seen: Vec<PathBuf>,
    home: Option<&'a str>,
    effects: &'a mut Vec<Effect>,
}

impl Line<'_> {
    /// One simple command. Gives back the text of a `sh -c` operand, a command line itself.
    fn simple(&mut self, words: &[Word]) -> Option<String> {
        let (program, words) = self.program(words)?;
        match program {
            _ if SHELLS.contains(&program) => {
                // `-c` may stand among other letters: `bash -lc`.
                let runs = |word: &Word| {
                    word.is_option() && !word.is_long() && word.known().is_some_and(|o| o.contains('c'))
                };
                let at = words.iter().position(runs)?;
                let text = words[at + 1..].iter().find(|word| !word.is_option())?;
                if text.known().is_none() {
                    self.effects.push(obscure(text));
                }
                return text.known().map(str::to_owned);
            }
            "eval" => {
                return words
                    .iter()
                    .map(Word::known)
                    .collect::<Option<Vec<_>>>()
                    .map(|words| words.join(" "));
            }
            "cd" | "pushd" => self.change_directory(words),
            "export" | "declare" | "typeset" | "readonly" => {
                let names = words.iter().filter_map(|word| word.assigned().or_else(|| word.known()));
                self.effects.extend(names.map(|name| Effect::SetVariable { name: name.to_owned() }));
            }
            "dd" => {
                for word in words {
                    match word.known().and_then(|text| text.split_once('=')) {
                        Some(("of", _)) => self.write(&word.after('=')),
                        Some(("if", _)) => self.read(&word.after('='), false),
                        _ => {}
                    }
                }
            }
            _ => self.file_command(program, words),
        }
        None
    }

    /// The program of a simple command, behind keywords, assignments and wrappers.
    fn program<'w>(&mut self, mut words: &'w [Word]) -> Option<(&'w str, &'w [Word])> {
        let mut wrapped = false;
        loop {
            let (first, rest) = words.split_first()?;
            words = rest;
            if let Some(name) = first.assigned() {
                self.effects.push(Effect::SetVariable { name: name.to_owned() });
                continue;
            }
            let Some(text) = first.known() else {
                self.effects.push(obscure(first));
                return None;
            };
            let name = text.rsplit('/').next().unwrap_or(text);
            if WRAPPERS.contains(&name) {
                wrapped = true;
            } else if !KEYWORDS.contains(&text) && (!wrapped || is_known(name)) {
                // Behind a wrapper stand options and their values, until a known program.
                return Some((name, words));
            }
        }
    }

    fn change_directory(&mut self, words: &[Word]) {
        const MOST: usize = 16;
        let target = words.iter().find(|word| !word.is_option());
        match target.map(Word::known) {
            Some(Some(directory)) if directory != "-" => {
                self.cwds = self.cwds.iter().map(|cwd| cwd.join(directory)).collect();
            }
            None => self.cwds = self.home.map(PathBuf::from).into_iter().collect(),
            Some(_) => self.effects.push(Effect::Obscure { what: "cd to an unknown directory".into() }),
        }
        for cwd in &self.cwds {
            if !self.seen.contains(cwd) && self.seen.len() < MOST {
                self.seen.push(cwd.clone());
            }
        }
    }

    fn file_command(&mut self, program: &str, words: &[Word]) {
        let has = |wanted: &[&str], letters: &[char]| {
            words.iter().filter_map(Word::known).any(|word| {
                wanted.iter().any(|option| word.starts_with(option))
                    || (word.starts_with('-') && !word.starts_with("--") && word.contains(letters))
            })
        };
        let in_place = matches!(program, "sed" | "perl") && has(&["--in-place"], &['i']);
        let Some(use_of) = (if in_place { Some(Operands::Written) } else { operands_of(program) }) else {
            return;
        };
        let recursive = program == "rg"
            || has(&["--recursive", "--archive", "--dereference-recursive"], &['r', 'R', 'a']);
        let Split { operands, target } = Split::of(words);
        let copies = matches!(use_of, Operands::Copied | Operands::Moved);
        let (sources, target) = match (target, operands.split_last()) {
            (None, Some((last, sources))) if copies => (sources, Some(last.clone())),
            (target, _) => (operands.as_slice(), target.filter(|_| copies)),
        };
        for word in sources {
            match use_of {
                Operands::Deleted | Operands::Moved => self.each(word, |path| Effect::Delete { path }),
                Operands::Written => self.write(word),
                Operands::Read | Operands::Copied => self.read(word, recursive),
            }
        }
        if let Some(target) = target {
            let names = sources.iter().filter_map(|source| Path::new(source.known()?).file_name());
            let names: Vec<PathBuf> = names.map(PathBuf::from).collect();
            let tree = recursive || matches!(use_of, Operands::Moved);
            self.each(&target, |to| Effect::Place { names: names.clone(), to, tree });
        }
    }

    fn write(&mut self, word: &Word) {
        self.each(word, |path| Effect::Write { path, content: Content::Unknown });
    }

    fn read(&mut self, word: &Word, recursive: bool) {
        self.each(word, |path| Effect::Read { path, recursive });
    }

    /// One effect for each place that a word may mean.
    fn each(&mut self, word: &Word, effect: impl Fn(PathBuf) -> Effect) {
        match word.known().filter(|text| !text.is_empty()) {
            None => self.effects.push(obscure(word)),
            Some(text) if Path::new(text).is_absolute() => self.effects.push(effect(text.into())),
            Some(text) => self.effects.extend(self.cwds.iter().map(|cwd| effect(cwd.join(text)))),
        }
    }
}

/// The words behind a file command: operands, and a target directory given as an option.
struct Split {
    operands: Vec<Word>,
    target: Option<Word>,
}

impl Split {
    fn of(words: &[Word]) -> Self {
        let mut split = Self { operands: Vec::new(), target: None };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.known() {
                Some("--") => {
                    split.operands.extend(words.by_ref().cloned());
                }
                Some("-t" | "--target-directory") => split.target = words.next().cloned(),
                Some(text) if text.starts_with("--target-directory=") => split.target = Some(word.after('=')),
                _ if word.is_option() => {}
                _ => split.operands.push(word.clone()),
            }
        }
        split
    }
}

fn is_known(program: &str) -> bool {
    operands_of(program).is_some()
        || SHELLS.contains(&program)
        || matches!(
            program,
            "cd" | "pushd" | "dd" | "eval" | "perl" | "export" | "declare" | "typeset" | "readonly"
        )
}

fn obscure(word: &Word) -> Effect {
    Effect::Obscure { what: format!("`{}`", word.source()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(command: &str) -> Vec<String> {
        effects(command, Path::new("/p"), Some(Path::new("/h")))
            .into_iter()
            .map(|effect| match effect {
                Effect::Write { path, .. } => format!("write {}", path.display()),
                Effect::Delete { path } => format!("delete {}", path.display()),
                Effect::Read { path, .. } => format!("read {}", path.display()),
                Effect::Obscure { what } => format!("obscure {what}"),
                Effect::SetVariable { name } => format!("set {name}"),
                Effect::Place { names, to, tree } => {
                    let names: Vec<_> = names.iter().map(|name| name.to_string_lossy()).collect();
                    format!(
                        "place {} at {}{}",
                        names.join(" "),
                        to.display(),
                        if tree { " as trees" } else { "" }
                    )
                }
                other => format!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn redirections_of_every_kind_are_writes() {
        for line in [
            "echo x > f",
            "echo x >f",
            "echo x 2>>f",
            "x &> f",
            "x >| f",
            ": <> f",
            "x >& f",
            "> f",
            "(x) > f",
            "{ x; } >f",
        ] {
            assert_eq!(seen(line), ["write /p/f"], "{line}");
        }
        assert_eq!(seen("x 2>&1 >&2 2>&- < in"), ["read /p/in"]);
    }

    #[test]
    fn plain_file_commands_are_seen_wherever_they_stand() {
        assert_eq!(seen("a && rm -rf d; b | tee -a log &"), ["delete /p/d", "write /p/log"]);
        assert_eq!(seen("if true; then rm f; fi"), ["delete /p/f"]);
        assert_eq!(seen("sudo env A=1 /bin/rm f"), ["set A", "delete /p/f"]);
        assert_eq!(seen("cd sub && touch f"), ["write /p/sub/f"]);
        assert_eq!(seen("mv a b"), ["delete /p/a", "place a at /p/b as trees"]);
        assert_eq!(seen("cp x/a b ~"), ["read /p/x/a", "read /p/b", "place a b at /h"]);
        assert_eq!(seen("cp -t /tmp a"), ["read /p/a", "place a at /tmp"]);
        assert_eq!(seen("cp -r a b")[1..], ["place a at /p/b as trees"]);
        assert_eq!(seen("bash -lc 'rm f'"), ["delete /p/f"]);
        assert_eq!(seen("perl -pi -e s/a/b/ f").last().unwrap(), "write /p/f");
        assert_eq!(seen("sed -i s/a/b/ f")[1..], ["write /p/f"]);
        assert_eq!(seen("dd if=a of=b"), ["read /p/a", "write /p/b"]);
        assert_eq!(seen("bash -c 'rm f'"), ["delete /p/f"]);
        assert_eq!(seen("rm -- -f"), ["delete /p/-f"]);
    }

    #[test]
    fn quoting_gives_the_same_result_as_the_plain_spelling() {
        for line in ["r\"m\" f", "\\rm 'f'", "'rm' \"f\"", "$'rm' f", "rm f # rm g", "rm \\\nf"] {
            assert_eq!(seen(line), ["delete /p/f"], "{line}");
        }
    }

    #[test]
    fn a_directory_counts_as_entered_only_where_that_is_certain() {
        assert_eq!(seen("cd /d && rm f"), ["delete /d/f"]);
        assert_eq!(seen("cd /d; rm f"), ["delete /p/f", "delete /d/f"]);
        assert_eq!(seen("(cd /d && x); rm f"), ["delete /p/f", "delete /d/f"]);
        assert_eq!(seen("cd /d && x; rm /f"), ["delete /f"]);
    }

    #[test]
    fn wrappers_may_have_options() {
        for line in [
            "sudo -u root rm f",
            "nice -n 5 rm f",
            "env -u X -i rm f",
            "timeout 5 rm f",
            "xargs rm f",
            "eval rm 'f'",
        ] {
            assert_eq!(seen(line), ["delete /p/f"], "{line}");
        }
    }

    #[test]
    fn variables_that_a_line_sets_are_seen() {
        assert_eq!(seen("A=1 B=\"$x\" cmd"), ["set A", "set B"]);
        assert_eq!(seen("export A=1; A=2"), ["set A", "set A"]);
        assert_eq!(seen("echo A=1 ./a=b"), [""; 0]);
    }

    #[test]
    fn text_is_not_a_command() {
        assert_eq!(seen("echo 'rm f > g'"), [""; 0]);
        assert_eq!(seen("cat <<'EOF'\nrm f > g\nEOF\nrm h"), ["delete /p/h"]);
    }

    #[test]
    fn what_cannot_be_known_is_said() {
        assert_eq!(seen("rm $X"), ["obscure `$X`"]);
        assert_eq!(seen("echo > \"$X/f\""), ["obscure `\"$X/f\"`"]);
        assert_eq!(seen("rm *.md"), ["obscure `*.md`"]);
        assert_eq!(seen("rm f.{a,b} {} g"), ["obscure `f.{a,b}`", "delete /p/{}", "delete /p/g"]);
        assert_eq!(seen("$CMD f"), ["obscure `$CMD`"]);
        assert!(seen("echo \"$(rm f)\"").iter().any(|e| e.starts_with("obscure")));
    }

    #[test]
    fn hostile_lines_end_in_bounded_time() {
        for line in [
            "'".repeat(1 << 20),
            "(".repeat(100_000),
            "rm \\".into(),
            "> ".repeat(10_000),
            "<<".repeat(5000),
            "sh -c ".repeat(3000),
            "\"$(".repeat(50_000),
        ] {
            let _ = effects(&line, Path::new("/p"), None);
        }
    }
}
