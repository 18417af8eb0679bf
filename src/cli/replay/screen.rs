//! The result of a replay for people: the commands that each guard and rule would have stopped, newest first.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

use crate::cli::screen::{
    BOLD, DIM, YELLOW, decision_colour, pad, paint, text_width, wrap_for_terminal, wrap_line,
};
use crate::clock::format_utc_seconds;
use crate::past_judgement::Outcome;
use crate::replay::judge::ConfigSource;
use crate::replay::selection::Scope;
use crate::replay::{DecisionChange, PastDecision, ReplayResult};
use crate::text::{clip_line, make_one_line};

/// So many distinct commands are shown for each guard or rule.
const MOST_COMMANDS: usize = 10;
/// The columns of a command in a pipe.
const WIDE: usize = 160;

pub(super) fn begin(
    out: &mut impl Write,
    scope: &Scope,
    last: Option<Duration>,
    configs: &[ConfigSource],
) -> io::Result<()> {
    let path = |path: &std::path::Path| make_one_line(&path.to_string_lossy());
    let what = match scope {
        Scope::Project(project) => format!("the sessions in {}", path(project)),
        Scope::All => "the sessions of all projects".into(),
        Scope::Session(id) => format!("the sessions whose ID starts with {}", make_one_line(id)),
        Scope::Place(place) => format!("the transcripts in {}", path(place)),
    };
    let since = last.map_or(String::new(), |last| format!(", the last {}", describe_duration(last)));
    let files = configs.iter().map(|source| {
        let found = source.layers.iter().filter(|(_, file)| file.exists());
        let found: Vec<String> = found.map(|(_, file)| path(file)).collect();
        if found.is_empty() { "the defaults".to_owned() } else { found.join(" and ") }
    });
    let files: Vec<String> = files.collect();
    let text = format!("Replaying {what}{since}, by {}", files.join(", compared with "));
    writeln!(out, "{}\n", paint(DIM, &wrap_for_terminal(&text, 0)))
}

fn describe_duration(time: Duration) -> String {
    let minutes = time.as_secs() / 60;
    match minutes {
        _ if minutes.is_multiple_of(1440) => format!("{} days", minutes / 1440),
        _ if minutes.is_multiple_of(60) => format!("{} hours", minutes / 60),
        _ => format!("{minutes} minutes"),
    }
}

/// Whether a decision is one of the guard or rule that the user names. The word `rule:` may be left out.
pub(super) fn is_shown(decision: &PastDecision, name: &str) -> bool {
    *decision.judge == *name || decision.judge.strip_prefix("rule:") == Some(name)
}

pub(super) fn print_result(
    out: &mut impl Write,
    result: &ReplayResult,
    show: Option<&str>,
) -> io::Result<()> {
    if result.files == 0 {
        let text = "There are no transcripts of such sessions. `--all` replays those of all projects, and \
                    `--transcripts DIR` those in a directory.";
        writeln!(out, "{}", wrap_for_terminal(text, 0))?;
        return print_skipped(out, result);
    }
    match show {
        Some(name) => print_each(out, result, name)?,
        None => print_by_judge(out, result)?,
    }
    print_totals(out, result)?;
    print_unjudged(out, result)?;
    print_skipped(out, result)?;
    if let Some(files) = result.interrupted_after {
        let text = format!(
            "Interrupted: {files} of {} files were read, and the rest is missing here.",
            result.files
        );
        writeln!(out, "{}", paint(YELLOW, &wrap_for_terminal(&text, 0)))?;
    }
    Ok(())
}

/// The decisions of one guard or rule.
struct Group<'a> {
    /// How it differs from the other configuration.
    change: Option<&'static str>,
    outcomes: BTreeMap<Outcome, usize>,
    /// The distinct commands, newest first, with the newest decision and their number.
    commands: Vec<(&'a PastDecision, usize)>,
}

fn print_by_judge(out: &mut impl Write, result: &ReplayResult) -> io::Result<()> {
    let mut groups: Vec<((&str, Option<&'static str>), Group<'_>)> = Vec::new();
    for decision in &result.decisions {
        let change = decision.change.map(describe_change);
        let key = (&*decision.judge, change);
        let at = groups.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
            groups.push((key, Group { change, outcomes: BTreeMap::new(), commands: Vec::new() }));
            groups.len() - 1
        });
        let group = &mut groups[at].1;
        *group.outcomes.entry(decision.outcome).or_default() += 1;
        match group.commands.iter_mut().find(|(known, _)| known.what == decision.what) {
            Some((_, count)) => *count += 1,
            None => group.commands.push((decision, 1)),
        }
    }
    groups.sort_by_key(|(_, group)| std::cmp::Reverse(group.outcomes.values().sum::<usize>()));
    for ((judge, _), group) in &groups {
        let outcomes: Vec<String> = group
            .outcomes
            .iter()
            .map(|(outcome, count)| {
                paint(decision_colour(outcome.name()), &format!("{count} {}", outcome.describe()))
            })
            .collect();
        let change = group.change.map_or(String::new(), |change| format!("  {change}"));
        writeln!(
            out,
            "{}  {}{}",
            paint(BOLD, &make_one_line(judge)),
            outcomes.join(", "),
            paint(DIM, &change)
        )?;
        for (decision, count) in group.commands.iter().take(MOST_COMMANDS) {
            print_command(out, decision, *count)?;
        }
        let more = group.commands.len().saturating_sub(MOST_COMMANDS);
        if more > 0 {
            let text = format!("… and {more} more: `provost replay --show {}`", make_one_line(judge));
            writeln!(out, "{}", paint(DIM, &wrap_for_terminal(&text, 2)))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn describe_change(change: DecisionChange) -> &'static str {
    match change {
        DecisionChange::New => "newly",
        DecisionChange::Gone => "no longer",
        DecisionChange::Changed(Outcome::Denied) => "before: denied",
        DecisionChange::Changed(Outcome::Asked) => "before: asked",
        DecisionChange::Changed(Outcome::Warned) => "before: warned",
    }
}

fn print_command(out: &mut impl Write, decision: &PastDecision, count: usize) -> io::Result<()> {
    let times = if count > 1 { format!("{count}×") } else { String::new() };
    let front = format!("  {} {}", pad(&format_time(decision.time), 16), pad(&times, 5));
    let room = command_width().saturating_sub(front.chars().count() + 2);
    let marks = describe_marks(decision);
    writeln!(out, "{}{}{}", paint(DIM, &front), clip_line(&decision.what, room), paint(DIM, &marks))
}

/// What a reader should know before believing it.
fn describe_marks(decision: &PastDecision) -> String {
    let approximate = (!decision.is_exact).then_some("approximate");
    let watched = decision.is_watched.then_some("only watched");
    let marks: Vec<&str> = approximate.into_iter().chain(watched).collect();
    if marks.is_empty() { String::new() } else { format!("  ({})", marks.join(", ")) }
}

fn command_width() -> usize {
    if io::IsTerminal::is_terminal(&io::stdout()) { text_width() } else { WIDE }
}

fn print_each(out: &mut impl Write, result: &ReplayResult, name: &str) -> io::Result<()> {
    let mut count = 0;
    for decision in result.decisions.iter().filter(|decision| is_shown(decision, name)) {
        count += 1;
        let agent = decision.agent.as_deref().map_or(String::new(), |agent| format!("  agent {agent}"));
        let change = decision.change.map_or(String::new(), |change| format!("  {}", describe_change(change)));
        let head = format!(
            "{}  {}{agent}{change}{}",
            format_time(decision.time),
            decision.session.as_deref().unwrap_or("unknown session"),
            describe_marks(decision),
        );
        let word = paint(decision_colour(decision.outcome.name()), decision.outcome.describe());
        writeln!(out, "{word}  {}", paint(DIM, &make_one_line(&mask(&head))))?;
        for line in decision.what.lines() {
            writeln!(out, "{}", wrap_line(line, 4))?;
        }
        if !decision.why.is_empty() {
            writeln!(out, "{}", paint(DIM, &wrap_line(&decision.why, 4)))?;
        }
        writeln!(out)?;
    }
    if count == 0 {
        let text = format!("No call was stopped or warned about by `{}`.\n", make_one_line(name));
        writeln!(out, "{}", wrap_for_terminal(&text, 0))?;
    }
    Ok(())
}

fn print_totals(out: &mut impl Write, result: &ReplayResult) -> io::Result<()> {
    let counts: Vec<String> = Outcome::ALL
        .iter()
        .map(|outcome| format!("{} {}", result.count(*outcome), outcome.describe()))
        .collect();
    let times = result.times.map_or(String::new(), |(first, last)| {
        format!(", {} to {}", &format_time(Some(first))[..10], &format_time(Some(last))[..10])
    });
    let text = format!(
        "{}, in {} and {} ({} reached the hooks){times}.",
        counts.join(", "),
        count_of(result.sessions, "session"),
        count_of(result.calls, "call"),
        result.asked_calls,
    );
    writeln!(out, "{}", paint(BOLD, &wrap_for_terminal(&text, 0)))?;
    let (exact, approximate) = result.count_exact();
    if exact + approximate > 0 {
        let text = format!(
            "{exact} exact, {approximate} approximate: these depend on files, branches or state that may have changed \
             since."
        );
        writeln!(out, "{}", wrap_for_terminal(&text, 0))?;
    }
    Ok(())
}

fn print_unjudged(out: &mut impl Write, result: &ReplayResult) -> io::Result<()> {
    for (name, unjudged) in &result.unjudged {
        let text = format!(
            "Not judged: {}, {}; {}.",
            make_one_line(name),
            count_of(unjudged.events, "time"),
            unjudged.why
        );
        writeln!(out, "{}", paint(DIM, &wrap_for_terminal(&text, 0)))?;
    }
    Ok(())
}

fn print_skipped(out: &mut impl Write, result: &ReplayResult) -> io::Result<()> {
    if result.skipped.is_empty() {
        return Ok(());
    }
    let parts: Vec<String> = result.skipped.iter().map(|(why, count)| format!("{count} × {why}")).collect();
    writeln!(out, "{}", paint(DIM, &wrap_for_terminal(&format!("Skipped: {}.", parts.join(", ")), 0)))
}

fn format_time(time: Option<u64>) -> String {
    match time {
        Some(time) => format_utc_seconds(Duration::from_millis(time))[..16].replace('T', " "),
        None => "unknown time".into(),
    }
}

fn mask(text: &str) -> std::borrow::Cow<'_, str> {
    crate::journal::mask::mask_credentials(text)
}

fn count_of(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
