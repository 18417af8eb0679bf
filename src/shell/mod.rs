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
const WRAPPERS: &[&str] = &["sudo", "command", "builtin", "exec", "nohup", "time", "env", "nice"];
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh"];
const KEYWORDS: &[&str] = &["if", "then", "elif", "else", "while", "until", "do", "!", "{"];
/// How deep `sh -c "sh -c …"` is followed.
const DEEPEST: u32 = 8;

/// The effects of a command line that starts in `cwd`.
pub fn effects(command: &str, cwd: &Path) -> Vec<Effect> {
    let mut effects = Vec::new();
    let mut open = vec![(command.to_owned(), cwd.to_owned(), 0)];
    while let Some((text, mut cwd, depth)) = open.pop() {
        let mut command = Vec::new();
        for piece in words::pieces(&text) {
            match piece {
                Piece::Word(word) => {
                    if word.runs() {
                        effects.push(obscure(&word));
                    }
                    command.push(word);
                }
                Piece::Redirection { target, writes } => match path(&target, &cwd) {
                    Some(path) if writes => effects.push(Effect::Write { path, content: Content::Unknown }),
                    Some(path) => effects.push(Effect::Read { path, recursive: false }),
                    None => effects.push(obscure(&target)),
                },
                Piece::End => {
                    let inner = simple(&command, &mut cwd, &mut effects);
                    match inner {
                        Some(text) if depth < DEEPEST => open.push((text, cwd.clone(), depth + 1)),
                        Some(_) => effects.push(Effect::Obscure { what: "deeply nested shells".into() }),
                        None => {}
                    }
                    command.clear();
                }
            }
        }
    }
    effects
}

/// One simple command. Gives back the text of a `sh -c` operand, which is a command line itself.
fn simple(words: &[Word], cwd: &mut PathBuf, effects: &mut Vec<Effect>) -> Option<String> {
    let mut words = words;
    let program = loop {
        let (first, rest) = words.split_first()?;
        if let Some(name) = first.assigned() {
            effects.push(Effect::SetVariable { name: name.to_owned() });
            words = rest;
            continue;
        }
        let Some(text) = first.known() else {
            effects.push(obscure(first));
            return None;
        };
        let name = text.rsplit('/').next().unwrap_or(text);
        words = rest;
        let skipped = KEYWORDS.contains(&text) || (WRAPPERS.contains(&name) && !words.is_empty());
        if !skipped {
            break name;
        }
    };
    if SHELLS.contains(&program) {
        let at = words.iter().position(|word| word.known() == Some("-c"))?;
        let text = words[at + 1..].iter().find(|word| !word.is_option())?;
        if text.known().is_none() {
            effects.push(obscure(text));
        }
        return text.known().map(str::to_owned);
    }
    if program == "cd" {
        match words.iter().find(|word| !word.is_option()).and_then(|word| path(word, cwd)) {
            Some(path) => *cwd = path,
            None => effects.push(Effect::Obscure { what: "cd to an unknown directory".into() }),
        }
        return None;
    }
    if matches!(program, "export" | "declare" | "typeset" | "readonly") {
        let names = words.iter().filter_map(|word| word.assigned().or_else(|| word.known()));
        effects.extend(names.map(|name| Effect::SetVariable { name: name.to_owned() }));
        return None;
    }
    if program == "dd" {
        for word in words {
            match word.known().and_then(|text| text.split_once('=')) {
                Some(("of", file)) => {
                    effects.push(Effect::Write { path: cwd.join(file), content: Content::Unknown });
                }
                Some(("if", file)) => effects.push(Effect::Read { path: cwd.join(file), recursive: false }),
                _ => {}
            }
        }
        return None;
    }
    let in_place = matches!(program, "sed" | "perl")
        && words.iter().any(|word| {
            word.known().is_some_and(|text| text.starts_with("-i") || text.starts_with("--in-place"))
        });
    let use_of = if in_place { Some(Operands::Written) } else { operands_of(program) };
    if let Some(use_of) = use_of {
        file_command(&use_of, words, cwd, effects);
    }
    None
}

fn file_command(use_of: &Operands, words: &[Word], cwd: &Path, effects: &mut Vec<Effect>) {
    let plain = words.iter().position(|word| word.known() == Some("--"));
    let operands: Vec<&Word> = words
        .iter()
        .enumerate()
        .filter(|(at, word)| {
            Some(*at) != plain && (plain.is_some_and(|plain| *at > plain) || !word.is_option())
        })
        .map(|(_, word)| word)
        .collect();
    let last = operands.len().saturating_sub(1);
    for (at, word) in operands.iter().enumerate() {
        let Some(target) = path(word, cwd) else {
            effects.push(obscure(word));
            continue;
        };
        let write = |path| Effect::Write { path, content: Content::Unknown };
        match use_of {
            Operands::Deleted => effects.push(Effect::Delete { path: target }),
            Operands::Written => effects.push(write(target)),
            Operands::Read => effects.push(Effect::Read { path: target, recursive: false }),
            Operands::Copied | Operands::Moved if at == last => {
                // The last operand may be a directory that receives the others by their names.
                for source in &operands[..last] {
                    if let Some(name) = path(source, cwd).as_deref().and_then(Path::file_name) {
                        effects.push(write(target.join(name)));
                    }
                }
                effects.push(write(target));
            }
            Operands::Copied => effects.push(Effect::Read { path: target, recursive: false }),
            Operands::Moved => effects.push(Effect::Delete { path: target }),
        }
    }
}

fn path(word: &Word, cwd: &Path) -> Option<PathBuf> {
    word.known().filter(|text| !text.is_empty()).map(|text| cwd.join(text))
}

fn obscure(word: &Word) -> Effect {
    Effect::Obscure { what: format!("`{}`", word.source()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(command: &str) -> Vec<String> {
        effects(command, Path::new("/p"))
            .into_iter()
            .map(|effect| match effect {
                Effect::Write { path, .. } => format!("write {}", path.display()),
                Effect::Delete { path } => format!("delete {}", path.display()),
                Effect::Read { path, .. } => format!("read {}", path.display()),
                Effect::Obscure { what } => format!("obscure {what}"),
                Effect::SetVariable { name } => format!("set {name}"),
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
        assert_eq!(seen("mv a b"), ["delete /p/a", "write /p/b/a", "write /p/b"]);
        assert_eq!(seen("cp a d/"), ["read /p/a", "write /p/d/a", "write /p/d/"]);
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
            let _ = effects(&line, Path::new("/p"));
        }
    }
}
