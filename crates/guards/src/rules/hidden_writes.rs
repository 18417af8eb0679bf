//! Changes that no effect names: formatters, archives, and git commands that replace files of the work tree.
//!
//! Evidence is judged by what the calls of a session do, and not by the times of files: a file's time does not say
//! whether this session, the user's editor or the tests themselves changed it. What a script or a build writes is not
//! known and does not count.

use crate::prelude::*;
use std::path::{Component, Path, PathBuf};

use provost_core::effect::Effect;
use provost_shell::pattern::{CommandPattern, PatternMatch, RunView};

/// What a program changes.
pub(super) enum HiddenWrite {
    /// All files of the work tree that this directory belongs to.
    WorkTree(PathBuf),
    /// This file, or everything in this directory.
    Path(PathBuf),
}

/// Git commands that write files of the work tree, besides those with an effect of their own.
const GIT_COMMANDS: &[&str] = &[
    "git stash pop|apply|branch",
    "git pull|rebase",
    "git switch *",
    "git checkout * -b|-B",
    "git reset --merge|--keep",
    "git submodule update|foreach",
    "git bisect start|good|bad|new|old|skip|reset|run",
    "git lfs pull|checkout",
    "git filter-branch|filter-repo|subtree|checkout-index",
    "git read-tree -u",
    "gh pr checkout",
    "gh co",
];

/// Programs that start another program by its name.
const LAUNCHERS: &str =
    "npx bunx pnpx npm pnpm yarn bun uv uvx poetry pipx pipenv hatch rye bundle python python3 php dotnet";

/// Formatters and fixers: their names, the command that writes, and options of which one must be given. A `-` stands for any.
const FORMATTERS: &[(&str, &str, &str)] = &[
    ("cargo", "fmt fix", "-"),
    ("cargo", "clippy", "--fix"),
    ("cargo", "insta", "-"),
    (
        "rustfmt black isort stylua swiftformat scalafmt ktfmt alejandra nixfmt treefmt docformatter pyupgrade pint",
        "-",
        "-",
    ),
    ("prettier", "-", "--write -w"),
    ("eslint stylelint oxlint xo standard tslint markdownlint markdownlint-cli2 sqlfluff", "-", "--fix"),
    ("ruff", "format", "-"),
    ("ruff", "-", "--fix --fix-only"),
    ("gofmt goimports gofumpt shfmt golines buf", "-", "-w"),
    ("go", "fmt generate fix", "-"),
    ("clang-format yapf autopep8", "-", "-i --in-place --inplace"),
    ("biome rome", "-", "--write --apply --apply-unsafe --fix"),
    ("terraform tofu deno zig dprint taplo", "fmt format", "-"),
    ("mix dart swift", "format fix", "-"),
    (
        "rubocop standardrb",
        "-",
        "-a -A -x --autocorrect --auto-correct --autocorrect-all --auto-correct-all --fix",
    ),
    ("ktlint", "-", "-F --format"),
    ("php-cs-fixer", "fix", "-"),
];
/// With one of these, a formatter only reports.
#[rustfmt::skip]
const REPORTS: &[&str] = &[
    "--check", "--check-only", "--check-formatted", "-check", "--diff", "--dry-run", "--list-different", "--lint", "--test",
    "--set-exit-if-changed", "--help", "--version",
];

/// What the program of a command changes, although no other effect says so.
pub(super) fn find_hidden_writes(command: &[&Effect], cwd: &Path) -> Vec<HiddenWrite> {
    let mut found = Vec::new();
    for effect in command {
        let Effect::Run { program, arguments, directory, .. } = effect else { continue };
        let directory = directory.as_deref().unwrap_or(cwd);
        let Some(run) = RunView::from_effect(effect) else { continue };
        let program = program.rsplit('/').next().unwrap_or(program);
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        if ["git", "gh"].contains(&program) && changes_work_tree(&run) {
            let place =
                value_of(&words, "-C").map_or_else(|| directory.to_owned(), |path| directory.join(path));
            found.push(HiddenWrite::WorkTree(place));
        }
        if is_formatter(program, &words) {
            let named = command.iter().filter_map(|effect| match effect {
                Effect::Read { path, .. } if !is_command(path) => {
                    Some(HiddenWrite::Path(cut_at_wildcard(path)))
                }
                _ => None,
            });
            let before = found.len();
            found.extend(named);
            if found.len() == before {
                found.push(HiddenWrite::Path(directory.to_owned()));
            }
        }
        found
            .extend(find_extraction(program, &words).map(|target| HiddenWrite::Path(directory.join(target))));
    }
    found
}

fn changes_work_tree(run: &RunView<'_>) -> bool {
    let matches = |text: &&str| {
        CommandPattern::parse(text).is_ok_and(|pattern| pattern.matches(run) == PatternMatch::Yes)
    };
    GIT_COMMANDS.iter().any(matches)
}

fn is_formatter(program: &str, words: &[&str]) -> bool {
    let is_launched = LAUNCHERS.split(' ').any(|name| name == program);
    let mut starts = std::iter::once((program, words)).chain(
        words
            .iter()
            .enumerate()
            .filter(|_| is_launched)
            .map(|(at, word)| (strip_version(word), &words[at + 1..])),
    );
    starts.any(|(name, rest)| {
        let is_given = |list: &str, word: &str| list == "-" || list.split(' ').any(|listed| listed == word);
        let command = rest.iter().find(|word| !word.starts_with(['-', '+'])).copied().unwrap_or_default();
        let has_option = |list: &str| list == "-" || rest.iter().any(|word| is_given(list, name_of(word)));
        let writes = |row: &&(&str, &str, &str)| {
            row.0.split(' ').any(|listed| listed == name) && is_given(row.1, command) && has_option(row.2)
        };
        FORMATTERS.iter().any(|row| writes(&row)) && !rest.iter().any(|word| REPORTS.contains(&name_of(word)))
    })
}

/// Whether a word of a formatter is its command, which looks like a path.
fn is_command(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    ["check", "format", "fmt", "fix", "lint"].contains(&name.as_ref())
}

/// Where an archive is unpacked.
fn find_extraction<'w>(program: &str, words: &[&'w str]) -> Option<&'w str> {
    match program {
        "tar" | "bsdtar" | "gtar" => {
            let is_letters = |(at, word): (usize, &&str)| {
                let is_first = at == 0 && !word.starts_with('-');
                (is_first || word.starts_with('-') && !word.starts_with("--")) && word.contains('x')
            };
            let extracts = words.iter().enumerate().any(is_letters)
                || words.iter().any(|word| ["--extract", "--get"].contains(word));
            let prints = words.iter().any(|word| ["-O", "--to-stdout"].contains(word));
            (extracts && !prints)
                .then(|| value_of(words, "-C").or_else(|| value_of(words, "--directory")).unwrap_or("."))
        }
        "unzip" => {
            let is_listing =
                |word: &&str| word.starts_with('-') && word.contains(['l', 't', 'v', 'p', 'z', 'Z', 'c']);
            (!words.is_empty() && !words.iter().any(is_listing)).then(|| value_of(words, "-d").unwrap_or("."))
        }
        "7z" | "7za" | "7zz" | "unrar" if words.first().is_some_and(|word| ["x", "e"].contains(word)) => {
            Some(words.iter().find_map(|word| word.strip_prefix("-o")).unwrap_or("."))
        }
        _ => None,
    }
}

/// The value of an option: `-C dir`, `-Cdir`, `--directory=dir`.
fn value_of<'w>(words: &[&'w str], option: &str) -> Option<&'w str> {
    let next = words.iter().position(|word| *word == option).and_then(|at| words.get(at + 1)).copied();
    let attached =
        || words.iter().find_map(|word| word.strip_prefix(option)).map(|rest| rest.trim_start_matches('='));
    next.or_else(|| attached().filter(|value| !value.is_empty()))
}

fn name_of(word: &str) -> &str {
    word.split_once('=').map_or(word, |(name, _)| name)
}

/// `prettier` in `prettier@3`.
fn strip_version(word: &str) -> &str {
    word.split_once('@').filter(|(name, _)| !name.is_empty()).map_or(word, |(name, _)| name)
}

/// The directory above the first part with a wildcard, which a formatter expands itself. Go writes `...` for one.
fn cut_at_wildcard(path: &Path) -> PathBuf {
    let is_known = |part: &Component<'_>| {
        let part = part.as_os_str().to_string_lossy();
        !part.contains(['*', '?', '[', '{']) && part != "..."
    };
    path.components().take_while(is_known).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paths that a line changes; `*` is the work tree.
    fn list(line: &str) -> Vec<String> {
        let effects = provost_shell::effects(line, Path::new("/p"), None);
        let effects: Vec<&Effect> = effects.iter().collect();
        let show = |write| match write {
            HiddenWrite::WorkTree(path) if path == Path::new("/p") => "*".to_owned(),
            HiddenWrite::WorkTree(path) => format!("* {}", path.display()),
            HiddenWrite::Path(path) => path.display().to_string(),
        };
        find_hidden_writes(&effects, Path::new("/p")).into_iter().map(show).collect()
    }

    #[test]
    fn writes_that_the_words_do_not_name_are_found() {
        for (line, expected) in [
            ("git stash pop", "*"),
            ("git stash apply stash@{1}", "*"),
            ("git switch other", "*"),
            ("git switch -", "*"),
            ("git pull --rebase", "*"),
            ("git -C /q rebase main", "* /q"),
            ("git checkout -b new origin/main", "*"),
            ("gh pr checkout 5", "*"),
            ("cargo fmt", "/p"),
            ("cargo fmt --all", "/p"),
            ("cargo +nightly fmt", "/p"),
            ("cargo clippy --fix --allow-dirty", "/p"),
            ("prettier --write src", "/p/src"),
            ("npx prettier --write 'src/**/*.ts'", "/p/src"),
            ("npx prettier@3 -w README.md", "/p/README.md"),
            ("black src/a.py", "/p/src/a.py"),
            ("uv run black src", "/p/src"),
            ("python -m black src", "/p/src"),
            ("gofmt -w src", "/p/src"),
            ("go fmt ./...", "/p"),
            ("eslint --fix src", "/p/src"),
            ("ruff check --fix", "/p"),
            ("ruff format", "/p"),
            ("terraform fmt", "/p"),
            ("tar xf a.tgz", "/p/."),
            ("tar -xzf a.tgz -C src", "/p/src"),
            ("tar --extract --file a.tar --directory=/tmp/x", "/tmp/x"),
            ("unzip a.zip", "/p/."),
            ("unzip -o a.zip -d src", "/p/src"),
        ] {
            assert!(list(line).contains(&expected.to_owned()), "{line}: {:?}", list(line));
        }
    }

    #[test]
    fn what_only_reads_or_reports_is_not() {
        for line in [
            "git status",
            "git stash list",
            "git stash drop",
            "git switch -c new",
            "git checkout -b new",
            "git fetch",
            "git add -A",
            "git log -C",
            "git submodule status",
            "cargo fmt --check",
            "cargo fmt -- --check",
            "cargo clippy",
            "cargo test fmt",
            "rustfmt --check a.rs",
            "prettier --check src",
            "npx eslint src",
            "black --check .",
            "gofmt -l src",
            "ruff check src",
            "terraform fmt -check",
            "tar tf a.tgz",
            "tar czf a.tgz src",
            "tar -xOf a.tgz f -O",
            "unzip -l a.zip",
            "npm test prettier",
            "echo black",
            "grep black src",
        ] {
            assert_eq!(list(line), Vec::<String>::new(), "{line}");
        }
    }
}
