//! The decisions: filters, and a table in which each decision opens to its explanation.
//!
//! A page has to stay small, so it holds the decisions that matter most, newest first, up to a number and a size. It says
//! how many it leaves off.

use std::collections::BTreeSet;

use super::chart::Target;
use super::explanation;
use super::html::{escape_line, escape_name, format_short_day};
use crate::report::model::DecisionRecord;
use crate::report::summary::{count_noun, format_count};
use crate::text::clip_line;

const MOST_ROWS: usize = 500;

/// The kinds of decisions, in the order of the filter. The first that are too many for the page are those at the end.
const KINDS: [&str; 9] =
    ["deny", "deny (fault)", "ask", "overridden", "fault", "would deny", "would ask", "warn", "would warn"];

/// The decisions that are on the page.
pub(super) struct Listed<'a> {
    index: Index<'a>,
    /// Each with its row, newest first.
    rows: Vec<(&'a DecisionRecord, String)>,
    /// How many decisions the report has.
    total: usize,
}

/// The numbers by which the rows, the filters and the charts refer to guards, sessions and projects.
struct Index<'a> {
    guards: Vec<&'a str>,
    sessions: Vec<&'a str>,
    projects: Vec<&'a str>,
}

impl<'a> Index<'a> {
    fn of(decisions: &'a [DecisionRecord]) -> Self {
        let sort = |names: BTreeSet<&'a str>| names.into_iter().collect();
        let opinions = decisions.iter().flat_map(|decision| &decision.opinions);
        Self {
            guards: sort(opinions.map(|opinion| opinion.guard.as_str()).collect()),
            sessions: sort(decisions.iter().filter_map(|decision| decision.session.as_deref()).collect()),
            projects: sort(decisions.iter().map(|decision| decision.project.as_str()).collect()),
        }
    }

    fn guard(&self, name: &str) -> Option<usize> {
        self.guards.binary_search(&name).ok()
    }
}

impl<'a> Listed<'a> {
    /// Chooses the decisions whose rows have at most so many bytes: denials and what is like them first, then what is only
    /// watched, then warnings.
    pub(super) fn choose(decisions: &'a [DecisionRecord], most_bytes: usize) -> Self {
        let index = Index::of(decisions);
        let rank = |decision: &DecisionRecord| match decision.decision.as_str() {
            "warn" | "would warn" => 2,
            "would deny" | "would ask" => 1,
            _ => 0,
        };
        let mut order: Vec<(usize, &DecisionRecord)> = decisions.iter().enumerate().collect();
        order.sort_by_key(|(_, decision)| rank(decision));
        let mut bytes = 0;
        let rows =
            order.into_iter().take(MOST_ROWS).map(|(at, decision)| (at, decision, row(decision, &index)));
        let mut rows: Vec<_> = rows
            .take_while(|(_, _, row)| {
                bytes += row.len();
                bytes <= most_bytes
            })
            .collect();
        rows.sort_by_key(|(at, _, _)| *at);
        let rows = rows.into_iter().map(|(_, decision, row)| (decision, row)).collect();
        Self { index, rows, total: decisions.len() }
    }

    /// What a mark for a guard does: it shows the decisions of this guard, if some are on the page.
    pub(super) fn of_guard(&self, name: &str) -> Target {
        let speaks =
            |decision: &DecisionRecord| decision.opinions.iter().any(|opinion| opinion.guard == name);
        self.target(speaks, || format!("data-g=\"{}\"", self.index.guard(name).unwrap_or_default()))
    }

    /// What a mark for an outcome does.
    pub(super) fn of_outcome(&self, name: &str) -> Target {
        let is_outcome = |decision: &DecisionRecord| decision.outcome.as_deref() == Some(name);
        self.target(is_outcome, || format!("data-o=\"{}\"", escape_line(name)))
    }

    /// What a mark for some days does.
    pub(super) fn of_days(&self, first: &str, last: &str) -> Target {
        let is_within = |decision: &DecisionRecord| {
            decision.time.get(..10).is_some_and(|date| (first..=last).contains(&date))
        };
        self.target(is_within, || {
            format!("data-from=\"{}\" data-to=\"{}\"", escape_line(first), escape_line(last))
        })
    }

    fn target(&self, is_meant: impl Fn(&DecisionRecord) -> bool, filter: impl Fn() -> String) -> Target {
        if self.rows.iter().any(|(decision, _)| is_meant(decision)) {
            Target::Decisions(filter())
        } else {
            Target::Nothing
        }
    }
}

/// The section.
pub(super) fn section(listed: &Listed<'_>) -> String {
    let heading = "<section id=\"decisions\" aria-labelledby=\"decisions-h\"><h2 id=\"decisions-h\" tabindex=\"-1\">Decisions</h2>";
    if listed.total == 0 {
        return format!(
            "{heading}<p class=\"lead\">No guard or rule said anything in this period.</p></section>"
        );
    }
    let left = listed.total - listed.rows.len();
    let note = if left == 0 {
        String::new()
    } else {
        format!(
            "<p class=\"note\">This page shows {} of {}: the newest, denials first. <code>provost report --json</code> has all, and \
             <code>provost journal --denied</code> lists denials.</p>",
            format_count(listed.rows.len() as u64),
            count_noun(listed.total as u64, "decision"),
        )
    };
    format!(
        "{heading}<p class=\"lead\">Each one opens to what was tried, why it was stopped and what fixes it. Times are UTC.</p>{note}{}\
         <p id=\"found\" role=\"status\"></p>\
         <table class=\"sortable list\"><caption>Decisions, newest first</caption><thead><tr>\
         <th scope=\"col\" aria-sort=\"descending\">Time</th><th scope=\"col\" aria-sort=\"none\">Decision</th>\
         <th scope=\"col\" aria-sort=\"none\">Guard or rule</th><th scope=\"col\" aria-sort=\"none\">What was tried</th>\
         <th scope=\"col\" aria-sort=\"none\">Then</th><th scope=\"col\" aria-sort=\"none\">Session</th></tr></thead><tbody>{}</tbody></table></section>",
        filters(listed),
        listed.rows.iter().map(|(_, row)| row.as_str()).collect::<String>(),
    )
}

/// The short form of a session's id.
fn short_session(session: &str) -> String {
    match session.split_once('-') {
        Some((first, _)) if session.len() == 36 => first.to_owned(),
        _ => clip_line(session, 24),
    }
}

/// A row. The end tags of cells are left out, as HTML allows.
fn row(decision: &DecisionRecord, index: &Index<'_>) -> String {
    let mut guards: Vec<usize> =
        decision.opinions.iter().filter_map(|opinion| index.guard(&opinion.guard)).collect();
    guards.dedup();
    let numbers = guards.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let session = decision.session.as_deref();
    let number = session.and_then(|session| index.sessions.binary_search(&session).ok());
    let project = index.projects.binary_search(&decision.project.as_str()).unwrap_or_default();
    let outcome = decision.outcome.as_deref().unwrap_or_default();
    let date = decision.time.get(..10).unwrap_or(&decision.time);
    let clock = decision.time.get(11..16).unwrap_or_default();
    let project = if index.projects.len() > 1 { format!(" data-p=\"{project}\"") } else { String::new() };
    format!(
        "<tr id=\"d-{}\" data-g=\"{numbers}\" data-s=\"{}\"{project} data-k=\"{}\" data-o=\"{}\">\
         <th scope=\"row\"><time datetime=\"{}\">{} <i>{}</i></time><td>{}<td>{}<td>{}<td>{}<td>{}",
        escape_name(&decision.id),
        number.map_or(String::new(), |number| number.to_string()),
        escape_name(&decision.decision),
        escape_name(outcome),
        escape_name(&decision.time),
        escape_name(&format_short_day(date)),
        escape_name(clock),
        explanation::badge(&decision.decision),
        decision.opinions.first().map_or(String::new(), |opinion| escape_name(&opinion.guard)),
        explanation::write(decision),
        escape_name(if outcome == "unknown" { "" } else { outcome }),
        session.map_or(String::new(), |session| escape_name(&short_session(session))),
    )
}

/// The filters. The script shows them, because they need it.
fn filters(listed: &Listed<'_>) -> String {
    let index = &listed.index;
    let shown: Vec<&DecisionRecord> = listed.rows.iter().map(|(decision, _)| *decision).collect();
    let used = |numbers: BTreeSet<usize>, names: &[&str]| -> String {
        numbers.iter().map(|number| option(&number.to_string(), names[*number])).collect()
    };
    let guards = shown.iter().flat_map(|decision| &decision.opinions);
    let guards = used(guards.filter_map(|opinion| index.guard(&opinion.guard)).collect(), &index.guards);
    let projects: BTreeSet<usize> = shown
        .iter()
        .filter_map(|decision| index.projects.binary_search(&decision.project.as_str()).ok())
        .collect();
    let kinds = KINDS.iter().filter(|kind| shown.iter().any(|decision| decision.decision == **kind));
    let outcomes = ["fixed", "overridden", "tried again", "given up", "unknown"];
    let outcomes =
        outcomes.iter().filter(|name| shown.iter().any(|decision| decision.outcome.as_deref() == Some(name)));
    let plain = |name: &&str| option(name, name);
    let mut selects =
        select("g", "Guard or rule", &guards) + &select("s", "Session", &sessions(&shown, index));
    if projects.len() > 1 {
        selects += &select("p", "Project", &used(projects, &index.projects));
    }
    selects += &select("k", "Decision", &kinds.map(plain).collect::<String>());
    selects += &select("o", "What followed", &outcomes.map(plain).collect::<String>());
    format!(
        "<form id=\"filters\" hidden><label class=\"search\"><span>Text</span><input type=\"search\" name=\"text\" \
         placeholder=\"command, path, reason\" autocomplete=\"off\" spellcheck=\"false\"></label>{selects}\
         <span class=\"buttons\"><button type=\"button\" id=\"day\" hidden></button><button type=\"button\" id=\"clear\">Clear filters</button>\
         <button type=\"button\" id=\"open\" aria-pressed=\"false\">Open all</button></span></form>"
    )
}

/// The sessions, the last active first, with what distinguishes them for a reader: their day and their size.
fn sessions(shown: &[&DecisionRecord], index: &Index<'_>) -> String {
    let mut order: Vec<(&str, u64)> = Vec::new();
    for decision in shown {
        let Some(session) = decision.session.as_deref() else { continue };
        match order.iter_mut().find(|(known, _)| *known == session) {
            Some((_, count)) => *count += 1,
            None => order.push((session, 1)),
        }
    }
    let newest = |session: &str| {
        let found = shown.iter().find(|decision| decision.session.as_deref() == Some(session));
        found.and_then(|decision| decision.time.get(..10)).map_or(String::new(), format_short_day)
    };
    let entry = |(session, count): &(&str, u64)| {
        let number = index.sessions.binary_search(session).unwrap_or_default();
        option(&number.to_string(), &format!("{}, {} ({count})", short_session(session), newest(session)))
    };
    order.iter().map(entry).collect()
}

fn select(name: &str, label: &str, options: &str) -> String {
    format!(
        "<label><span>{label}</span><select name=\"{name}\"><option value=\"\">all</option>{options}</select></label>"
    )
}

fn option(value: &str, label: &str) -> String {
    format!("<option value=\"{}\">{}</option>", escape_line(value), escape_name(label))
}
