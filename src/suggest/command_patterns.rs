//! The patterns of `runs` that a command could have, from the widest to the narrowest.
//!
//! `git -C sub push -uf origin main` could be `git push`, `git push -u`, `git push -f`, `git push -uf`, `git push origin` and
//! so on. Only patterns that match the command are listed, so a word that is the value of an option drops out.

use provost_shell::pattern::{CommandPattern, PatternMatch, RunView};

use super::regrets::is_subcommand;
use crate::effect::Effect;

/// So many operands and options of a command are tried.
const MOST_WORDS: usize = 8;
const LONGEST_WORD: usize = 60;

/// Programs that only set the scene for another, print, or filter what another prints.
const HARMLESS: &[&str] = &[
    "cd", "echo", "printf", "pwd", "true", "false", "export", "set", "source", "test", "[", "ls", "sleep",
    "head", "tail", "grep", "wc", "sort", "uniq", "cut", "tr", "cat", "less", "jq", "column",
];

/// Programs whose first operand is a file, an address or a process, and no command of theirs.
const WITHOUT_COMMANDS: &[&str] = &[
    "rm", "rmdir", "cp", "mv", "ln", "mkdir", "touch", "chmod", "chown", "tee", "dd", "sed", "awk", "find",
    "tar", "rsync", "scp", "ssh", "curl", "wget", "kill", "pkill", "killall", "bash", "sh", "zsh", "node",
    "python", "python3", "ruby", "perl", "psql", "mysql", "sqlite3", "open", "code",
];

/// Commands that only name a group of others: `docker compose` could be `up` or `down`.
const GROUPS: &[(&str, &[&str])] = &[
    ("docker", &["compose", "container", "image", "volume", "network", "system", "buildx"]),
    ("podman", &["compose", "container", "image", "volume", "network", "system"]),
    ("npm", &["run", "run-script", "exec"]),
    ("pnpm", &["run", "exec", "dlx"]),
    ("yarn", &["run", "exec", "dlx", "workspace"]),
    ("bun", &["run", "x"]),
    ("git", &["stash", "remote", "worktree", "submodule", "bisect"]),
    ("gh", &["pr", "issue", "repo", "release", "run", "workflow", "secret", "auth", "gist"]),
    ("kubectl", &["config", "rollout", "create"]),
    ("terraform", &["state", "workspace"]),
    ("poetry", &["run"]),
    ("uv", &["run", "pip", "tool"]),
];

/// The patterns of one command.
pub fn list_patterns(effect: &Effect) -> Vec<String> {
    let Effect::Run { program, arguments, .. } = effect else { return Vec::new() };
    let Some(run) = RunView::from_effect(effect) else { return Vec::new() };
    let program = program.rsplit('/').next().unwrap_or(program);
    if !is_plain(program) || HARMLESS.contains(&program) {
        return Vec::new();
    }
    let given = || arguments.iter().take_while(|word| *word != "--");
    let operands: Vec<&str> = given()
        .map(String::as_str)
        .filter(|word| !word.starts_with('-') && is_plain(word))
        .take(MOST_WORDS)
        .collect();
    let matches = |words: &[&str]| {
        let text = words.join(" ");
        let pattern = CommandPattern::parse(&text).ok()?;
        (pattern.matches(&run) == PatternMatch::Yes).then_some(text)
    };
    // The first operand that the program takes as one. Those in front of it are values of options.
    let leading = operands.iter().position(|word| matches(&[program, word]).is_some());
    let leading = leading.map_or(&[][..], |at| &operands[at..]);
    let is_command = |word: &&str| is_subcommand(word) && !WITHOUT_COMMANDS.contains(&program);
    let is_group =
        |word: &str| GROUPS.iter().any(|(owner, groups)| *owner == program && groups.contains(&word));
    let count = match leading {
        [first, second, ..] if is_group(first) && is_command(second) => 2,
        [first, ..] if is_command(first) => 1,
        _ => 0,
    };
    let subcommand = &leading[..count];
    // Options in front of the subcommand, such as `-C sub`, say where it acts and not what it does.
    let behind =
        subcommand.last().and_then(|name| arguments.iter().position(|word| word == name)).unwrap_or(0);
    let options = given().skip(behind).filter(|word| word.len() > 1 && word.starts_with('-'));
    let options = options.map(|word| word.split('=').next().unwrap_or(word)).filter(|word| is_plain(word));
    let options: Vec<&str> = options.take(MOST_WORDS).collect();
    let mut tried: Vec<Vec<&str>> = Vec::new();
    let base = [&[program][..], subcommand].concat();
    if !subcommand.is_empty() || operands.is_empty() && options.is_empty() {
        tried.push(base.clone());
    }
    tried.extend(options.iter().map(|option| [&base[..], &[option]].concat()));
    if options.len() > 1 {
        tried.push([&base[..], &options].concat());
    }
    for count in 1..=leading.len() {
        let words = [&[program][..], &leading[..count]].concat();
        tried.push(words.clone());
        tried.push([&words[..], &options].concat());
    }
    let mut patterns: Vec<String> = Vec::new();
    for pattern in tried.iter().filter_map(|words| matches(words)) {
        if !patterns.contains(&pattern) {
            patterns.push(pattern);
        }
    }
    patterns
}

/// Whether a pattern matches a command in a line.
pub fn matches_line(pattern: &str, effects: &[Effect]) -> bool {
    let Ok(pattern) = CommandPattern::parse(pattern) else { return false };
    let mut runs = effects.iter().filter_map(RunView::from_effect);
    runs.any(|run| pattern.matches(&run) == PatternMatch::Yes)
}

/// Whether a word can stand in a pattern as it is.
fn is_plain(word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_.:/@+,%=~^".contains(c);
    !word.is_empty() && word.len() <= LONGEST_WORD && word.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn patterns(line: &str) -> Vec<String> {
        let effects = provost_shell::effects(line, Path::new("/p"), None);
        effects.iter().flat_map(list_patterns).collect()
    }

    #[test]
    fn the_widest_pattern_comes_first() {
        assert_eq!(
            patterns("git -C sub push --force origin"),
            ["git push", "git push --force", "git push origin", "git push origin --force"]
        );
        assert_eq!(patterns("cd x && rm -rf build/out"), ["rm -rf", "rm build/out", "rm build/out -rf"]);
        assert_eq!(patterns("rm -rf build"), ["rm -rf", "rm build", "rm build -rf"]);
        assert_eq!(
            patterns("docker compose down -v")[..2],
            ["docker compose down", "docker compose down -v"]
        );
        assert_eq!(patterns("npm run deploy")[0], "npm run deploy");
        assert_eq!(patterns("git stash")[0], "git stash");
        assert_eq!(patterns("ls -la"), Vec::<String>::new());
    }

    #[test]
    fn words_with_signs_of_the_shell_are_left_out() {
        assert_eq!(patterns("git commit -m 'a b'"), ["git commit", "git commit -m"]);
    }
}
