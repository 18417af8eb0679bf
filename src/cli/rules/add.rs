//! `provost rules add`: adds a rule, or a built-in set, to a `provost.toml`.

use toml_edit::{Array, InlineTable, Item, Table, value};

use super::RuleFileEdit;
use super::example_run::ExampleReport;
use crate::cli::screen::{text_width, wrap};
use crate::cli::{CommandResult, CurrentProject, Exit, open_current_workspace};
use crate::config::{ConfigLayer, suggest_word};
use crate::places::resolve_path;
use crate::rules::{BASELINE_NAME, read_baseline};
use crate::text::{make_one_line, shorten_name};

/// Add a rule, or the built-in set `baseline`, to provost.toml
///
/// Everything else in the file stays as it is. A rule with a mistake, a rule whose examples fail, and a name that the
/// file has already are not added.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost rules add baseline
  provost rules add --name no-force-push --runs 'git push --force|-f' --deny 'it rewrites history'
  provost rules add --user --name keys --reads '~/.ssh/**' --ask 'it holds secrets'
  provost rules add --name format --writes '**/*.rs' --run 'rustfmt {path}'
  provost rules add --name tested --stops --changed 'src/**' --need-passed 'cargo test'
  provost rules add --name reviewed --stops --changed 'src/**' --need-review 2

Exit codes: 0 added, or it was there already; 1 not added; 74 the file cannot be written.")]
pub(super) struct Add {
    /// A built-in set: `baseline`
    #[arg(value_name = "SET", conflicts_with = "name", required_unless_present = "name")]
    set: Option<String>,
    /// The name of the new rule
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    looks_at: LooksAt,
    #[command(flatten)]
    does: Does,
    /// Add it to your own file, for all projects [default: the project's file]
    #[arg(long)]
    user: bool,
    /// Add it to the project's file
    #[arg(long, conflicts_with = "user")]
    project: bool,
}

/// What the rule looks at. Each may be given several times.
#[derive(clap::Args)]
#[command(next_help_heading = "What the rule looks at")]
struct LooksAt {
    /// A program that is started, such as `git push --force|-f`
    #[arg(long, value_name = "COMMAND")]
    runs: Vec<String>,
    /// A file that is read, as a pattern of .gitignore
    #[arg(long, value_name = "PATH")]
    reads: Vec<String>,
    /// A file that is created or changed
    #[arg(long, value_name = "PATH")]
    writes: Vec<String>,
    /// A file that is deleted
    #[arg(long, value_name = "PATH")]
    deletes: Vec<String>,
    /// A file that is written or deleted
    #[arg(long, value_name = "PATH")]
    changes: Vec<String>,
    /// A regular expression in the lines that a write adds
    #[arg(long, value_name = "REGEX")]
    adds: Vec<String>,
    /// The branch that a commit lands on
    #[arg(long, value_name = "BRANCH")]
    commits: Vec<String>,
    /// The branch that a push changes
    #[arg(long, value_name = "BRANCH")]
    pushes: Vec<String>,
    /// With `--commits`: a regular expression that the message must have
    #[arg(long, value_name = "REGEX")]
    message: Vec<String>,
    /// The name of a tool, such as `mcp__github__*`
    #[arg(long, value_name = "TOOL")]
    uses: Vec<String>,
    /// The type of an agent that is started
    #[arg(long, value_name = "AGENT")]
    delegates: Vec<String>,
    /// The end of a turn; goes with `--need-passed`, `--need-check`, `--need-review` or `--warn`
    #[arg(long)]
    stops: bool,
    /// Files that the session has changed since the evidence
    #[arg(long, value_name = "PATH")]
    changed: Vec<String>,
    /// Only in agents of this type; `main` is the main conversation
    #[arg(long, value_name = "AGENT")]
    in_agent: Vec<String>,
    /// Only while this branch is checked out
    #[arg(long, value_name = "BRANCH")]
    on_branch: Vec<String>,
    /// Not if the file is new, or if nothing would be lost
    #[arg(long, value_name = "new|saved")]
    unless: Vec<String>,
    /// What the rule does not apply to
    #[arg(long, value_name = "PATTERN")]
    except: Vec<String>,
    /// What a word that cannot be known means
    #[arg(long, value_name = "pass|ask|deny")]
    unknown: Vec<String>,
}

/// What the rule does: exactly one of the first seven.
#[derive(clap::Args)]
#[command(next_help_heading = "What it does")]
struct Does {
    /// Deny the call, for this reason
    #[arg(long, value_name = "REASON")]
    deny: Option<String>,
    /// Ask the user, for this reason
    #[arg(long, value_name = "REASON")]
    ask: Option<String>,
    /// Tell the model and the user, and let the call continue
    #[arg(long, value_name = "REASON")]
    warn: Option<String>,
    /// Wait until this command has passed since the last change
    #[arg(long, value_name = "COMMAND", conflicts_with = "need_check")]
    need_passed: Option<String>,
    /// Run this command, and wait until it passes
    #[arg(long, value_name = "COMMAND", conflicts_with = "need_review")]
    need_check: Option<String>,
    /// Let fresh reviewers read the changes, until so many reviews in a row are clean
    #[arg(long, value_name = "NUMBER", conflicts_with = "need_passed")]
    need_review: Option<i64>,
    /// Run this command after a write; `{path}` is the file
    #[arg(long, value_name = "COMMAND")]
    run: Option<String>,
    /// How long the command of `--need-check` or `--run`, or one review, may take
    #[arg(long, value_name = "NUMBER")]
    seconds: Option<i64>,
    /// How often in a row a turn is stopped
    #[arg(long, value_name = "NUMBER")]
    rounds: Option<i64>,
    /// What the agent should do instead
    #[arg(long, value_name = "TEXT")]
    fix: Option<String>,
    /// `watch`: judge and record it, but do not enforce it
    #[arg(long, value_name = "enforce|watch")]
    mode: Option<String>,
    /// A command line that the rule must match; may be given several times
    #[arg(long = "match", value_name = "LINE")]
    matching: Vec<String>,
    /// A command line that the rule must not match; may be given several times
    #[arg(long, value_name = "LINE")]
    not_match: Vec<String>,
}

impl Add {
    pub(super) fn run(self) -> CommandResult {
        let here = CurrentProject::locate()?;
        let (_, workspace) = open_current_workspace()?;
        let layer = if self.user { ConfigLayer::User } else { ConfigLayer::Project };
        let mut file = match RuleFileEdit::open(&here, layer) {
            Ok(file) => file,
            Err(why) => return Ok(refuse(&why, "correct the file in an editor, and run this again")),
        };
        // An earlier run may have been interrupted after the file was complete.
        workspace.remove_leftovers(&resolve_path(file.path()));
        let known = file.read_config().list_all_problems();
        let added = match (&self.set, &self.name) {
            (Some(set), _) if set == BASELINE_NAME => {
                let watch = self.does.mode.as_deref() == Some("watch");
                match file.use_set(set, watch) {
                    Ok(true) => {
                        let count = read_baseline(layer, None).len();
                        format!("the built-in set `{set}` ({count} rules)")
                    }
                    Ok(false) => {
                        let text = format!("{} uses `{set}` already", file.path().display());
                        println!("{}", wrap(&make_one_line(&text), 0, text_width()));
                        return Ok(Exit::Done);
                    }
                    Err(why) => return Ok(refuse(&why, "correct the file in an editor, and run this again")),
                }
            }
            (Some(set), _) => {
                let suggestion = suggest_word(set, std::iter::once(BASELINE_NAME.to_owned()));
                let why = format!("there is no built-in set `{}`{suggestion}", shorten_name(set));
                return Ok(refuse(&why, "give `baseline`, or a new rule with `--name`"));
            }
            (None, name) => {
                let name = name.as_deref().unwrap_or_default();
                if file.has_rule(name) {
                    let why =
                        format!("{} has a rule `{}` already", file.path().display(), shorten_name(name));
                    return Ok(refuse(&why, "choose another name, or change the rule in an editor"));
                }
                file.add_rule(&self.make_rule(name));
                format!("the rule `{}`", shorten_name(name))
            }
        };
        let config = file.read_config();
        let problems = config.list_all_problems();
        if let Some(problem) = problems.iter().find(|new| known.iter().all(|old| old.text != new.text)) {
            return Ok(refuse(&problem.text, "correct it; `provost rules add --help` lists the options"));
        }
        if let Some(failure) = ExampleReport::judge_layers(&config, &workspace).failures.into_iter().next()
            && Some(&failure.rule) == self.name.as_ref()
        {
            let why = format!("{}: expected {}, got {}", failure.example, failure.expected, failure.got);
            return Ok(refuse(&why, "correct the rule or its example"));
        }
        let text = format!("added {added} to {}", file.path().display());
        file.write(&workspace)?;
        println!("{}", wrap(&make_one_line(&text), 0, text_width()));
        if self.does.need_review.is_some() {
            let next = "Next: `provost init`, which gives the hooks the time that reviews take.";
            println!("{}", wrap(next, 0, text_width()));
        }
        if self.does.run.is_some() && !self.user {
            let next = "Its command does not run before you trust it. Next: `provost rules trust`, and then \
                        `provost init`, which gives the hooks the time that it may take.";
            println!("{}", wrap(next, 0, text_width()));
        }
        Ok(Exit::Done)
    }

    fn make_rule(&self, name: &str) -> Table {
        let (at, does) = (&self.looks_at, &self.does);
        let lists = [
            ("runs", &at.runs),
            ("reads", &at.reads),
            ("writes", &at.writes),
            ("deletes", &at.deletes),
            ("changes", &at.changes),
            ("adds", &at.adds),
            ("commits", &at.commits),
            ("pushes", &at.pushes),
            ("message", &at.message),
            ("uses", &at.uses),
            ("delegates", &at.delegates),
            ("changed", &at.changed),
            ("in_agent", &at.in_agent),
            ("on_branch", &at.on_branch),
            ("unless", &at.unless),
            ("except", &at.except),
            ("unknown", &at.unknown),
        ];
        let texts = [
            ("deny", &does.deny),
            ("ask", &does.ask),
            ("warn", &does.warn),
            ("run", &does.run),
            ("fix", &does.fix),
            ("mode", &does.mode),
        ];
        let mut table = Table::new();
        table.insert("name", value(name));
        for (key, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
            table.insert(key, list_or_text(list));
        }
        if at.stops {
            table.insert("stops", value(true));
        }
        table.extend(does.make_need().map(|need| ("need", value(need))));
        let seconds = does.seconds.filter(|_| !does.has_limit_in_need());
        for (key, number) in [("seconds", seconds), ("rounds", does.rounds)] {
            table.extend(number.map(|number| (key, value(number))));
        }
        for (key, text) in texts {
            if let Some(text) = text {
                table.insert(key, value(text.as_str()));
            }
        }
        for (key, list) in [("match", &does.matching), ("not_match", &does.not_match)] {
            if !list.is_empty() {
                table.insert(key, value(list.iter().map(String::as_str).collect::<Array>()));
            }
        }
        table
    }
}

impl Does {
    /// Whether the time limit belongs to `need`.
    fn has_limit_in_need(&self) -> bool {
        self.need_check.is_some() || self.need_review.is_some()
    }

    fn make_need(&self) -> Option<InlineTable> {
        let mut need = InlineTable::new();
        match (&self.need_passed, &self.need_check, self.need_review) {
            (Some(command), _, _) => need.insert("passed", command.into()),
            (None, Some(command), _) => need.insert("check", command.into()),
            (None, None, Some(clean)) => need.insert("review", clean.into()),
            (None, None, None) => return None,
        };
        if let Some(seconds) = self.seconds.filter(|_| self.has_limit_in_need()) {
            need.insert("seconds", seconds.into());
        }
        Some(need)
    }
}

/// One text by itself, several as a list.
pub(super) fn list_or_text(list: &[String]) -> Item {
    match list {
        [text] => value(text.as_str()),
        list => value(list.iter().map(String::as_str).collect::<Array>()),
    }
}

fn refuse(why: &str, fix: &str) -> Exit {
    let end = if why.ends_with('?') { "" } else { "." };
    let text = format!("[provost] nothing was added: {}{end} To fix: {fix}.", why.trim_end_matches('.'));
    eprintln!("{}", wrap(&make_one_line(&text), 0, text_width()));
    Exit::Problem
}
