//! Commands that a program accepts in several spellings: `yarn deploy` runs the same script as `yarn run deploy`, and
//! `make build deploy` builds `deploy` as `make deploy` does.
//!
//! A run is compared as it is written first, and then in its other spellings, so that a rule holds for each of them. A
//! command of a package manager is no script, so `yarn run add` and `yarn add` are different.

use crate::pattern::arguments::Token;

/// A package manager that runs scripts of a package.
struct ScriptRunner {
    name: &'static str,
    /// Its commands. Any other word is the name of a script; if there are none, only those in `shortcuts` are.
    commands: &'static str,
    /// Words that run a script without `run`, each with the name of that script.
    shortcuts: &'static [(&'static str, &'static str)],
}

/// What starts a script of a package.
const RUN: &str = "run";
const RUN_ALIASES: &[&str] = &["run-script", "rum", "urn"];
const SHORTCUTS: &[(&str, &str)] = &[
    ("test", "test"),
    ("t", "test"),
    ("tst", "test"),
    ("start", "start"),
    ("stop", "stop"),
    ("restart", "restart"),
];

static SCRIPT_RUNNERS: &[ScriptRunner] = &[
    ScriptRunner { name: "npm", commands: "", shortcuts: SHORTCUTS },
    ScriptRunner {
        name: "yarn",
        commands: "access add audit autoclean bin cache check config constraints create dedupe dlx exec explain global \
                   help import info init install licenses link list login logout node npm outdated owner pack patch \
                   patch-commit plugin plugins policies prune publish rebuild remove run search set stage tag team unlink \
                   unplug up upgrade upgrade-interactive version versions why workspace workspaces",
        shortcuts: &[],
    },
    ScriptRunner {
        name: "pnpm",
        commands: "add approve-builds audit bin c cache cat-file cat-index completion config create dedupe deploy dlx \
                   doctor env exec fetch find-hash help i ignored-builds import info init install install-test it licenses \
                   link list ln login logout ls m multi multi-package outdated pack patch patch-commit patch-remove prune \
                   publish rb rebuild recursive remove rm root run search self-update server setup show store un uninstall \
                   unlink up update upgrade version view whoami why",
        shortcuts: SHORTCUTS,
    },
    ScriptRunner {
        name: "bun",
        commands: "a add audit build c completions create discord exec help i info init install link outdated patch pm \
                   publish remove repl rm run test unlink update upgrade why x",
        shortcuts: &[],
    },
];

/// Programs whose operands are targets, each of which is built.
const TARGET_BUILDERS: &[&str] =
    &["make", "gmake", "ninja", "rake", "gradle", "gradlew", "mvn", "mvnw", "ant", "task", "just"];

/// The other spellings of a run's words, without the one that is given. `is_whole`: each word counts.
pub(super) fn list_spellings<'a>(program: &str, tokens: &[Token<'a>], is_whole: bool) -> Vec<Vec<Token<'a>>> {
    if TARGET_BUILDERS.contains(&program) {
        return if is_whole { Vec::new() } else { list_single_targets(tokens) };
    }
    match SCRIPT_RUNNERS.iter().find(|runner| runner.name == program) {
        Some(runner) => list_script_spellings(runner, tokens),
        None => Vec::new(),
    }
}

fn find_operands(tokens: &[Token]) -> Vec<usize> {
    let is_operand = |at: &usize| matches!(tokens[*at], Token::Operand(_));
    (0..tokens.len()).filter(is_operand).collect()
}

/// The words for each target that is not the first one.
fn list_single_targets<'a>(tokens: &[Token<'a>]) -> Vec<Vec<Token<'a>>> {
    /// More targets are written by no one.
    const MOST: usize = 64;
    let operands = find_operands(tokens);
    let targets = operands.iter().skip(1).take(MOST);
    let keep = |kept: usize| {
        let tokens = tokens.iter().enumerate().filter(|(at, _)| *at == kept || !operands.contains(at));
        tokens.map(|(_, token)| *token).collect()
    };
    targets.map(|target| keep(*target)).collect()
}

fn list_script_spellings<'a>(runner: &ScriptRunner, tokens: &[Token<'a>]) -> Vec<Vec<Token<'a>>> {
    let mut found = Vec::new();
    let inner = strip_workspaces(runner, tokens);
    if inner.len() < tokens.len() {
        found.push(inner.clone());
    }
    let operands = find_operands(&inner);
    let text = |at: usize| match operands.get(at).map(|at| inner[*at]) {
        Some(Token::Operand(text)) => Some(text),
        _ => None,
    };
    let Some(first) = text(0) else { return found };
    let is_command = |word: &str| runner.commands.split_ascii_whitespace().any(|command| command == word);
    let find_shortcut =
        |word: &str| runner.shortcuts.iter().find(|(short, _)| *short == word).map(|(_, name)| *name);
    if first == RUN || RUN_ALIASES.contains(&first) {
        let run = operands[0];
        let mut plain = inner.clone();
        plain[run] = Token::Operand(RUN);
        let is_script = |word: &str| match runner.commands {
            "" => find_shortcut(word).is_some(),
            _ => !is_command(word),
        };
        if text(1).is_some_and(is_script) {
            let mut short = inner;
            short.remove(run);
            found.push(short);
        }
        found.push(plain);
    } else if let Some(script) =
        find_shortcut(first).or((!runner.commands.is_empty() && !is_command(first)).then_some(first))
    {
        let mut named = inner;
        named[operands[0]] = Token::Operand(script);
        let mut long = named.clone();
        long.insert(operands[0], Token::Operand(RUN));
        found.extend([named, long]);
    }
    found
}

/// The words without those that choose packages of a repository: `yarn workspace app deploy` runs `deploy` there.
fn strip_workspaces<'a>(runner: &ScriptRunner, tokens: &[Token<'a>]) -> Vec<Token<'a>> {
    let operands = find_operands(tokens);
    let words: Vec<&str> = operands
        .iter()
        .filter_map(|at| match tokens[*at] {
            Token::Operand(text) => Some(text),
            _ => None,
        })
        .collect();
    let count = match (runner.name, words.as_slice()) {
        ("yarn", ["workspace", _, ..] | ["workspaces", "foreach", ..]) => 2,
        ("yarn", ["workspaces", ..]) | ("pnpm", ["recursive" | "multi" | "m", ..]) => 1,
        _ => 0,
    };
    let stripped = &operands[..count];
    tokens.iter().enumerate().filter(|(at, _)| !stripped.contains(at)).map(|(_, token)| *token).collect()
}
