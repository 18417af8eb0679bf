//! The opinion of a rule that matches a call.

use crate::prelude::*;

use super::call::RuleMatch;
use super::need;
use super::scene::Scene;
use provost_core::opinion::{Denial, Fault, Opinion, RuleOpinion, Verdict};
use provost_core::rules::{Rule, RuleAction, UnknownMeans};

pub(super) fn answer_call(
    rule: &Rule,
    found: &RuleMatch,
    scene: &Scene<'_>,
) -> Result<Option<RuleOpinion>, Fault> {
    let name = rule.full_name();
    let subject = scene.event.subject();
    let mut evidence = vec![format!("the rule is in {}", rule.place())];
    evidence.extend(found.evidence.iter().cloned());
    let mut fix = rule.fix.clone();
    let missing;
    let reason = match &rule.action {
        RuleAction::Deny(reason) | RuleAction::Ask(reason) | RuleAction::Warn(reason) => reason.as_str(),
        RuleAction::Need(need) => {
            let Some(found) = need::find_missing_for_call(rule, need, scene)? else { return Ok(None) };
            missing = found;
            fix = Some(missing.fix);
            &missing.why
        }
        RuleAction::Run { .. } => return Ok(None),
    };
    let denial = |what: String, reason: &str| {
        let why = if found.is_unknown {
            format!("it may match, because a part of it cannot be known ({reason})")
        } else {
            reason.to_owned()
        };
        let fix = fix.clone().unwrap_or_else(|| "do it another way, or ask the user".into());
        Denial { what, why, fix, document_wording: None }
    };
    let deny = |reason: &str| Verdict::Deny(denial(format!("{subject} denied by {name}"), reason));
    let ask = |reason: &str| {
        if scene.event.is_never_asked {
            let why = format!("it needs the user's consent, and nobody is asked in this mode: {reason}");
            return Verdict::Deny(denial(format!("{subject} denied by {name}"), &why));
        }
        Verdict::Ask(denial(format!("{subject} needs your consent ({name})"), reason))
    };
    let mut opinion = Opinion { evidence, ..Opinion::default() };
    match (&rule.action, found.is_unknown, rule.subject.unknown) {
        (_, true, UnknownMeans::Deny) | (RuleAction::Deny(_) | RuleAction::Need(_), false, _) => {
            opinion.verdict = deny(reason);
        }
        (_, true, UnknownMeans::Ask) | (RuleAction::Ask(_), false, _) => opinion.verdict = ask(reason),
        (_, true, UnknownMeans::Pass) => return Ok(None),
        _ => {
            let mut note = denial(format!("{subject} ({name})"), reason);
            note.fix = rule.fix.clone().unwrap_or_default();
            let text = note.to_string();
            opinion.to_model = Some(text.clone());
            opinion.to_user = Some(text);
        }
    }
    Ok(Some(RuleOpinion { name: name.into(), is_watched: rule.is_watched, opinion }))
}
