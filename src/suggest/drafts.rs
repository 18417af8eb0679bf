//! Makes rules of the calls that the user did not want.
//!
//! Of the patterns that a call could have, the widest one is taken that matches no accepted call. A call without such a
//! pattern gives no rule, because the rule would also stop what the user lets pass.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use super::command_patterns::{list_patterns, matches_line};
use super::regrets::{CallSubject, Regret};
use crate::effect::Effect;

/// So many accepted lines are shown as examples that do not match.
const MOST_OTHERS: usize = 3;

/// A rule, and the calls that it would have caught.
#[derive(Debug)]
pub struct RuleDraft {
    /// `runs`, `changes`, `reads` or `uses`.
    pub key: &'static str,
    pub pattern: String,
    pub regrets: Vec<Regret>,
    /// Accepted command lines of the same program.
    pub others: Vec<String>,
}

/// The command lines that the user let pass, by program.
struct AcceptedLines<'a> {
    lines: Vec<&'a str>,
    effects: HashMap<&'a str, Vec<Effect>>,
}

impl<'a> AcceptedLines<'a> {
    /// The lines in which a word stands, with what they would do.
    fn find(&mut self, word: &str) -> impl Iterator<Item = (&'a str, &[Effect])> {
        let lines = self.lines.iter().filter(|line| line.contains(word)).copied();
        let found: Vec<&'a str> = lines.collect();
        for line in &found {
            self.effects.entry(line).or_insert_with(|| provost_shell::effects(line, Path::new("/"), None));
        }
        let effects = &self.effects;
        found.into_iter().filter_map(move |line| Some((line, effects.get(line)?.as_slice())))
    }
}

/// The rules, those with the most calls first, and the number of calls that gave none.
#[allow(clippy::implicit_hasher)]
pub fn draft_rules(regrets: Vec<Regret>, accepted: &HashSet<CallSubject>) -> (Vec<RuleDraft>, usize) {
    let lines = accepted.iter().filter_map(|subject| match subject {
        CallSubject::Command(line) => Some(line.as_str()),
        _ => None,
    });
    let mut lines: Vec<&str> = lines.collect();
    // The short ones are shown as examples.
    lines.sort_unstable_by_key(|line| (line.len(), *line));
    let mut lines = AcceptedLines { lines, effects: HashMap::new() };
    let mut drafts: Vec<RuleDraft> = Vec::new();
    let mut left_out = 0;
    let wide_directories = find_wide_directories(&regrets, accepted);
    for regret in regrets {
        let Some((key, pattern)) =
            choose_pattern(&regret.subject, accepted, &mut lines, &drafts, &wide_directories)
        else {
            left_out += 1;
            continue;
        };
        match drafts.iter_mut().find(|draft| draft.key == key && draft.pattern == pattern) {
            Some(draft) => draft.regrets.push(regret),
            None => drafts.push(RuleDraft { key, pattern, regrets: vec![regret], others: Vec::new() }),
        }
    }
    for draft in drafts.iter_mut().filter(|draft| draft.key == "runs") {
        let program = draft.pattern.split(' ').next().unwrap_or_default().to_owned();
        let others = lines.find(&program).filter(|(_, effects)| starts_program(effects, &program));
        draft.others = others
            .map(|(line, _)| line.to_owned())
            .filter(|line| line.lines().count() == 1)
            .take(MOST_OTHERS)
            .collect();
    }
    drafts.sort_by(|a, b| b.regrets.len().cmp(&a.regrets.len()).then_with(|| a.pattern.cmp(&b.pattern)));
    (drafts, left_out)
}

fn choose_pattern(
    subject: &CallSubject,
    accepted: &HashSet<CallSubject>,
    lines: &mut AcceptedLines<'_>,
    drafts: &[RuleDraft],
    wide_directories: &[String],
) -> Option<(&'static str, String)> {
    let is_free = || !accepted.contains(subject);
    match subject {
        CallSubject::Command(line) => {
            let effects = provost_shell::effects(line, Path::new("/"), None);
            let known = drafts.iter().filter(|draft| draft.key == "runs");
            let mut known = known.filter(|draft| matches_line(&draft.pattern, &effects));
            if let Some(draft) = known.next() {
                return Some(("runs", draft.pattern.clone()));
            }
            // The last command of a line is most often what the line is for.
            let patterns = effects.iter().rev().flat_map(list_patterns);
            let mut free = patterns.filter(|pattern| {
                let program = pattern.split(' ').next().unwrap_or_default();
                !lines.find(program).any(|(_, effects)| matches_line(pattern, effects))
            });
            Some(("runs", free.next()?))
        }
        CallSubject::Write(path) => {
            let wide =
                wide_directories.iter().find(|directory| parent_pattern(path).as_ref() == Some(directory));
            wide.cloned().or_else(|| is_free().then(|| path.clone())).map(|pattern| ("changes", pattern))
        }
        CallSubject::Read(path) => is_free().then(|| ("reads", path.clone())),
        CallSubject::Use(tool) => is_free().then(|| ("uses", tool.clone())),
    }
    .filter(|(key, pattern)| *key == "runs" || is_literal(pattern))
}

/// Directories in which the user did not want several files to be changed, and let no change pass.
fn find_wide_directories(regrets: &[Regret], accepted: &HashSet<CallSubject>) -> Vec<String> {
    let mut files: BTreeMap<String, HashSet<&str>> = BTreeMap::new();
    for regret in regrets {
        if let CallSubject::Write(path) = &regret.subject
            && let Some(directory) = parent_pattern(path)
        {
            files.entry(directory).or_default().insert(path);
        }
    }
    let is_touched = |directory: &String| {
        let start = directory.trim_end_matches("**");
        accepted.iter().any(|subject| matches!(subject, CallSubject::Write(path) if path.starts_with(start)))
    };
    let wide = files.into_iter().filter(|(directory, files)| files.len() > 1 && !is_touched(directory));
    wide.map(|(directory, _)| directory).collect()
}

/// Everything in the directory of a file; `None` at the top of the project or the home.
fn parent_pattern(path: &str) -> Option<String> {
    let (directory, _) = path.rsplit_once('/')?;
    (!matches!(directory, "" | "." | "~")).then(|| format!("{directory}/**"))
}

/// Whether a pattern of a path or name means just what it says, but for `**` at its end.
fn is_literal(pattern: &str) -> bool {
    !pattern.trim_end_matches("/**").contains(['*', '?', '[', '!', '|', '{', '<', '\\', '\n'])
}

fn starts_program(effects: &[Effect], program: &str) -> bool {
    effects.iter().any(|effect| {
        matches!(effect, Effect::Run { program: started, .. } if started.rsplit('/').next() == Some(program))
    })
}

#[cfg(test)]
mod tests {
    use super::super::regrets::RegretSign;
    use super::*;

    fn regret(subject: CallSubject) -> Regret {
        Regret { subject, sign: RegretSign::Rejected, session: "s".into(), time: 0 }
    }

    fn command(line: &str) -> CallSubject {
        CallSubject::Command(line.into())
    }

    fn write(path: &str) -> CallSubject {
        CallSubject::Write(path.into())
    }

    /// The keys and patterns of the rules, and how many calls gave none.
    fn draft(regrets: &[CallSubject], accepted: &[CallSubject]) -> (Vec<(&'static str, String)>, usize) {
        let accepted = accepted.iter().cloned().collect();
        let (drafts, left_out) = draft_rules(regrets.iter().cloned().map(regret).collect(), &accepted);
        (drafts.into_iter().map(|draft| (draft.key, draft.pattern)).collect(), left_out)
    }

    #[test]
    fn the_widest_pattern_that_matches_no_accepted_call_is_taken() {
        let push = command("git push --force origin main");
        assert_eq!(draft(std::slice::from_ref(&push), &[]).0, [("runs", "git push".into())]);
        let accepted = [command("git push origin topic"), command("git commit -m 'git push --force'")];
        assert_eq!(draft(&[push], &accepted).0, [("runs", "git push --force".into())]);
    }

    #[test]
    fn a_call_that_the_user_let_pass_elsewhere_gives_no_rule() {
        let same = command("npm test");
        assert_eq!(draft(std::slice::from_ref(&same), std::slice::from_ref(&same)), (vec![], 1));
        assert_eq!(draft(&[write("./a")], &[write("./a")]), (vec![], 1));
    }

    #[test]
    fn calls_of_one_pattern_make_one_rule() {
        let found = draft(&[command("npm install x"), command("cd a && npm install y -D")], &[]);
        assert_eq!(found.0, [("runs", "npm install".into())]);
    }

    #[test]
    fn files_of_one_directory_make_one_rule_if_nothing_in_it_was_accepted() {
        let regrets = [write("./db/m/1.sql"), write("./db/m/2.sql"), write("./x.rs")];
        assert_eq!(draft(&regrets, &[]).0, [("changes", "./db/m/**".into()), ("changes", "./x.rs".into())]);
        let found = draft(&regrets[..2], &[write("./db/m/3.sql")]).0;
        assert_eq!(found, [("changes", "./db/m/1.sql".into()), ("changes", "./db/m/2.sql".into())]);
    }

    #[test]
    fn a_path_that_would_be_read_as_a_pattern_gives_no_rule() {
        assert_eq!(draft(&[write("./a[1].txt"), write("./!x")], &[]), (vec![], 2));
    }
}
