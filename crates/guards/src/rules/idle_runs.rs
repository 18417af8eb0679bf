//! Which runs prove nothing, because their words say that the program does not do its work.
//!
//! `cargo test --no-run` and `pytest --collect-only` end with exit code 0 and run no test. The tables list what common
//! test runners, build tools and linters accept. A filter that happens to match no test cannot be seen in the words.

use crate::prelude::*;

use provost_shell::pattern::{ArgumentWord, ProgramWord, RunView};

/// They only print something, for every program and also behind `--`.
const PRINTING: &[&str] = &["--help", "--version"];
/// Options of test runners and build tools that run nothing. No program uses these names for something else.
#[rustfmt::skip]
const IDLE: &[&str] = &[
    "--dry-run", "--dryrun", "--no-run", "--list", "--list-tests", "--listTests", "--collect-only", "--co", "--fixtures",
    "--markers", "--setup-plan", "--setup-only", "--show-only", "--just-print", "--recon", "--listenvs", "--notest", "--showConfig",
    "--print-config", "--clearCache", "--list-files", "--list-groups", "--list-suites", "--listFilesOnly",
];
/// Words that mean this for some programs only, in front of `--`. `make -i` runs its commands and ignores their failures.
const IDLE_BY_PROGRAM: &[(&str, &str)] = &[
    ("cargo pytest py.test python python3 ruff mypy mocha just", "-V"),
    ("npm pnpm yarn bun node jest vitest eslint tsc rspec make gmake", "-v"),
    ("go", "-list -c -n -h"),
    ("make gmake", "-n -q --question -t --touch -i --ignore-errors"),
    ("mvn mvnw", "-DskipTests -Dmaven.test.skip -Dmaven.test.skip.exec -v"),
    ("gradle gradlew", "-m -v"),
    ("ctest", "-N"),
    ("tox", "-l -n"),
    ("nox just", "-l"),
    ("just", "-n"),
    ("vitest nextest", "list"),
    ("dotnet", "-t"),
];

/// Whether a run does its work, as far as its words say. An option that the pattern itself asks for is its work.
pub(crate) fn is_real_run(run: &RunView<'_>, pattern: &str) -> bool {
    let mut words = Vec::new();
    for word in run.arguments() {
        match word {
            ArgumentWord::Known(text) => words.push(*text),
            // It may become one of these options.
            ArgumentWord::Unknown(word) if word.may_dash || word.prefix.starts_with('-') => return false,
            ArgumentWord::Unknown(_) => {}
        }
    }
    if words.iter().any(|word| PRINTING.contains(word)) {
        return false;
    }
    let is_asked_for = |word: &str| pattern.split([' ', '\t', '|']).any(|asked| asked == name_of(word));
    let is_idle = |word: &&str| IDLE.contains(&name_of(word)) && !is_asked_for(word);
    if words.iter().any(is_idle) {
        return false;
    }
    let own = words.split(|word| *word == "--").next().unwrap_or_default();
    let ProgramWord::Known(program) = run.program() else { return false };
    let program = program.rsplit('/').next().unwrap_or(program);
    // A runner may be started by another program: `uv run pytest`.
    let is_started = |names: &str| names.split(' ').any(|name| name == program || own.contains(&name));
    let rows = IDLE_BY_PROGRAM.iter().filter(|(names, _)| is_started(names));
    let idle: Vec<&str> = rows.flat_map(|(_, idle)| idle.split(' ')).collect();
    let is_idle_here =
        |word: &&str| idle.contains(&name_of(word)) && !word.ends_with("=false") && !is_asked_for(word);
    let is_help = asks_for_help(own) && !is_asked_for("-h");
    !(is_help || own.iter().any(is_idle_here) || runs_no_test(own))
}

/// Whether `-h` asks for help. With a word behind it, it may be the name of a host.
fn asks_for_help(words: &[&str]) -> bool {
    let is_alone = |at: usize| words.get(at + 1).is_none_or(|next| next.starts_with('-'));
    words.iter().enumerate().any(|(at, word)| *word == "-h" && is_alone(at))
}

/// `go test -run '^$'`, which only runs benchmarks.
fn runs_no_test(words: &[&str]) -> bool {
    let is_run = |word: &str| matches!(word.trim_start_matches('-'), "run" | "test.run");
    let is_given =
        |word: &str| word.split_once('=').is_some_and(|(name, value)| is_run(name) && value == "^$");
    words.iter().any(|word| is_given(word))
        || words.windows(2).any(|pair| pair[0].starts_with('-') && is_run(pair[0]) && pair[1] == "^$")
}

/// The name in `--name=value`. A second dash makes no difference to programs with long options of one dash.
fn name_of(word: &str) -> &str {
    word.split_once('=').filter(|_| word.starts_with('-')).map_or(word, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn is_real(line: &str, pattern: &str) -> bool {
        let effects = provost_shell::effects(line, Path::new("/p"), None);
        let run = effects.iter().find_map(RunView::from_effect).unwrap();
        is_real_run(&run, pattern)
    }

    #[test]
    fn an_option_that_runs_nothing_proves_nothing() {
        for line in [
            "cargo test --help",
            "cargo test -h",
            "cargo test -V",
            "cargo -V test",
            "cargo test --no-run",
            "cargo test -- --list",
            "cargo nextest list",
            "cargo test --version",
            "cargo test -q -h --workspace",
            "pytest --collect-only",
            "pytest --co -q",
            "pytest --version",
            "pytest -V",
            "pytest -h",
            "pytest --markers",
            "python -m pytest --co",
            "uv run pytest -V",
            "npm test --help",
            "npm test -h",
            "npm -v test",
            "npm test -- --listTests",
            "go test -list .",
            "go test -list=Foo ./...",
            "go test --list .",
            "go test -run '^$' ./...",
            "go test -run=^$ -bench .",
            "go test -c ./x",
            "go test -n",
            "make -n test",
            "make --dry-run test",
            "make --just-print test",
            "make -i test",
            "mvn test -DskipTests",
            "mvn -Dmaven.test.skip=true verify",
            "gradle test --dry-run",
            "./gradlew -m test",
            "ctest -N",
            "npx jest --listTests",
            "npx vitest list",
            "tox -l",
            "cargo test $OPTIONS",
            "just -n test",
            "npx playwright test --list",
            "dotnet test --list-tests",
        ] {
            assert!(!is_real(line, "x"), "{line}");
        }
    }

    #[test]
    fn ordinary_runs_are_real() {
        for line in [
            "cargo test",
            "cargo test --workspace -- --nocapture",
            "cargo test -v list",
            "cargo test -p app -j 4",
            "cargo test --all-features -- --test-threads=1 --include-ignored",
            "pytest -v -x tests",
            "pytest -k 'not slow' -n 4",
            "npm test -- --coverage -v",
            "npm run test -- -n",
            "go test -v -race -run TestFoo ./...",
            "go test -count=1 ./...",
            "make -j4 -k test",
            "make V=1 test",
            "mvn -q test -DskipTests=false",
            "gradle test --info",
            "psql -h localhost -f x.sql",
            "ctest -V",
            "./scripts/test quick",
            "eslint src --max-warnings 0",
            "tsc --noEmit",
            "just test",
        ] {
            assert!(is_real(line, "x"), "{line}");
        }
        assert!(is_real("npm publish --dry-run", "npm publish --dry-run"));
        assert!(is_real("mysql -h", "mysql -h"));
        assert!(!is_real("foo --version", "foo --version"));
    }
}
