//! One decision: a line that opens to what was tried, why it was stopped, what fixes it, and how to see everything.

use super::html::{escape, escape_line, escape_name, write_each};
use super::table::capped;
use crate::report::model::{DecisionRecord, OpinionRecord};
use crate::report::summary::format_micros;
use crate::text::truncate_utf16;

/// How many pieces of evidence and opinions are shown; `provost explain` shows all.
const MOST_EVIDENCE: usize = 6;
const MOST_OPINIONS: usize = 6;
const LONGEST_TEXT: usize = 1_000;
const LONGEST_EVIDENCE: usize = 300;
/// How much of a command is on the line that opens.
const LONGEST_LINE: usize = 120;

/// A decision as a word. The style sheet puts a symbol before it, because colour alone says nothing.
pub(super) fn badge(decision: &str) -> String {
    let (class, word) = match decision {
        "deny" => ("deny", "denied"),
        "deny (fault)" => ("deny", "denied: fault"),
        "ask" => ("ask", "asked"),
        "overridden" => ("over", "overridden"),
        "warn" => ("warn", "warned"),
        "fault" => ("fault", "fault"),
        other => ("would", other),
    };
    format!("<span class=\"badge {class}\">{}</span>", escape_name(word))
}

/// The element that opens.
pub(super) fn write(decision: &DecisionRecord) -> String {
    let first = decision.opinions.first();
    let subject = decision.subject.as_deref().filter(|subject| !subject.trim().is_empty());
    let said = first.into_iter().flat_map(|first| std::iter::once(&first.what).chain(&first.evidence));
    let line = match (subject, said.into_iter().find(|text| !text.trim().is_empty())) {
        (Some(subject), _) => format!("<code>{}</code>", escape_line(&truncate_utf16(subject, LONGEST_LINE))),
        (None, Some(text)) => escape_line(&truncate_utf16(text, LONGEST_LINE)),
        _ => escape_name(decision.tool.as_deref().unwrap_or(&decision.event)),
    };
    let (shown, more) = capped(&decision.opinions, MOST_OPINIONS);
    let opinions: String =
        shown.iter().map(|opinion| write_opinion(opinion, decision.opinions.len() > 1)).collect();
    let more = if more == 0 { String::new() } else { format!("<p>{more} more opinions.</p>") };
    let command = subject.map_or(String::new(), |subject| {
        // Paper needs no second copy of a short command.
        let is_same = subject.len() <= LONGEST_LINE && !subject.contains('\n');
        let class = if is_same { " class=\"same\"" } else { "" };
        format!("<pre{class}><code data-copy>{}</code></pre>", escape(&truncate_utf16(subject, LONGEST_TEXT)))
    });
    format!(
        "<details><summary>{line}</summary><div class=\"more\">{command}{opinions}{more}<dl class=\"facts\">{}</dl>\
         <p class=\"explain\"><code data-copy>{}</code></p></div></details>",
        facts(decision),
        escape_line(&decision.explain),
    )
}

/// What a guard said. The end tags of list items are left out, as HTML allows, because there are thousands.
fn write_opinion(opinion: &OpinionRecord, is_one_of_several: bool) -> String {
    let mut shown = String::new();
    if is_one_of_several {
        shown += &format!("<h3>{} {}</h3>", escape_name(&opinion.guard), badge(&opinion.opinion));
    }
    shown += "<dl>";
    if !is_one_of_several {
        shown += &format!("<dt>Guard<dd>{}", escape_name(&opinion.guard));
    }
    let texts = [
        ("What", opinion.what.as_str()),
        ("Why", &opinion.why),
        ("To fix", &opinion.fix),
        ("User’s reason", opinion.reason.as_deref().unwrap_or_default()),
    ];
    for (label, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
        shown += &format!("<dt>{label}<dd>{}", escape(&truncate_utf16(text, LONGEST_TEXT)));
    }
    // The reason is part of the evidence too.
    let is_reason =
        |text: &&String| opinion.reason.as_ref().is_some_and(|reason| text.ends_with(reason.as_str()));
    let evidence: Vec<&String> = opinion.evidence.iter().filter(|text| !is_reason(text)).collect();
    let (evidence, more) = capped(&evidence, MOST_EVIDENCE);
    if !evidence.is_empty() {
        let piece = |text: &&String| format!("<li>{}", escape(&truncate_utf16(text, LONGEST_EVIDENCE)));
        let more = if more == 0 { String::new() } else { format!("<li>{more} more") };
        shown +=
            &format!("<dt>Evidence<dd><ul>{}{more}</ul>", evidence.iter().map(piece).collect::<String>());
    }
    shown + "</dl>"
}

/// Where and when it was.
fn facts(decision: &DecisionRecord) -> String {
    let event = match &decision.tool {
        Some(tool) => format!("{}, {tool}", decision.event),
        None => decision.event.clone(),
    };
    let facts = [
        ("Id", decision.id.as_str()),
        ("Time", &decision.time),
        ("Project", &decision.project),
        ("Session", decision.session.as_deref().unwrap_or_default()),
        ("Agent", decision.agent.as_deref().unwrap_or_default()),
        ("Event", &event),
        ("Remark", decision.remark.as_deref().unwrap_or_default()),
        ("Call", decision.call.as_deref().unwrap_or_default()),
        ("Took", &format_micros(decision.micros)),
    ];
    let facts = facts.into_iter().filter(|(_, value)| !value.is_empty());
    write_each(facts, |(name, value)| {
        format!("<dt>{name}<dd>{}", escape_line(&truncate_utf16(value, LONGEST_EVIDENCE)))
    })
}
