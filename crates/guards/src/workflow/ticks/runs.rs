//! Which runs are work: tests, builds, and the command that `workflow.finish` asks for.

use crate::prelude::*;

use crate::phases::test_command::runs_tests;
use crate::rules::idle_runs::is_real_run;
use provost_shell::pattern::{ArgumentWord, CommandPattern, PatternMatch, ProgramWord, RunView};

/// The names of such runs in the record of work.
pub(crate) const TEST: &str = "a test";
const BUILD: &str = "a build";

/// Commands that build or type-check.
const BUILDS: &[&str] = &[
    "cargo build|b|check|c|clippy|doc",
    "go build|vet|install",
    "make|gmake|ninja|rake|just|task",
    "cmake --build",
    "npm|pnpm|yarn|bun run build*|compile*|check*|typecheck*|type-check*|lint*",
    "pnpm|yarn|bun build*|compile*|check*|typecheck*|type-check*|lint*",
    "tsc|vue-tsc|mypy|pyright|webpack|rollup|esbuild|xcodebuild|msbuild",
    "vite|next|ng|nuxt|astro|remix|parcel build",
    "nx|turbo build|run",
    "gradle|gradlew build|assemble|compile*|check",
    "mvn|mvnw compile|package|install|verify",
    "dotnet|swift|zig|flutter|dart|stack|cabal|bazel|deno build|compile|check|analyze",
    "mix compile",
    "uv|poetry|hatch|pdm|rye build",
    "docker|podman build",
    "terraform|tofu validate|plan",
];

/// The names of a run that is work.
pub(crate) fn name_run(run: &RunView<'_>, finish: Option<&str>) -> Vec<String> {
    let ProgramWord::Known(program) = run.program() else { return Vec::new() };
    let known = run.arguments().iter().filter_map(|word| match word {
        ArgumentWord::Known(text) => Some((*text).to_owned()),
        ArgumentWord::Unknown(_) => None,
    });
    let known: Vec<String> = known.collect();
    let matches = |text: &str| {
        let pattern = CommandPattern::parse(text);
        pattern.is_ok_and(|pattern| pattern.matches(run) == PatternMatch::Yes) && is_real_run(run, text)
    };
    let mut names: Vec<String> =
        finish.filter(|pattern| matches(pattern)).map(str::to_owned).into_iter().collect();
    if runs_tests(program, &known) && is_real_run(run, "") {
        names.push(TEST.to_owned());
    } else if BUILDS.iter().any(|pattern| matches(pattern)) {
        names.push(BUILD.to_owned());
    }
    names
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn name(line: &str) -> Vec<String> {
        let effects = provost_shell::effects(line, Path::new("/p"), None);
        let runs = effects.iter().filter_map(RunView::from_effect);
        let mut names: Vec<String> = runs.flat_map(|run| name_run(&run, Some("./check.sh"))).collect();
        names.dedup();
        names
    }

    #[test]
    fn tests_builds_and_the_wanted_command_are_work() {
        for line in ["npm test", "cargo test -p app", "uv run pytest -q", "go test ./...", "npx vitest run"] {
            assert_eq!(name(line), [TEST], "{line}");
        }
        for line in [
            "npm run build",
            "cargo check",
            "make",
            "tsc --noEmit",
            "npx tsc -p .",
            "./gradlew assemble",
            "go build ./...",
        ] {
            assert_eq!(name(line), [BUILD], "{line}");
        }
        assert_eq!(name("./check.sh"), ["./check.sh"]);
    }

    #[test]
    fn what_runs_nothing_is_no_work() {
        for line in [
            "npm install",
            "cargo test --no-run",
            "pytest --collect-only",
            "make -n",
            "npm test --help",
            "git status",
            "ls",
            "echo npm test",
            "cat package.json",
            "npm run dev",
            "node -v",
            "task-master next",
        ] {
            assert_eq!(name(line), Vec::<String>::new(), "{line}");
        }
    }
}
