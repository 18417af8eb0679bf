//! What a prompt `provost override NAME REASON` can name: a guard, or a rule.

use crate::prelude::*;
use crate::registry::{find_guard, overridable_names};
use provost_core::config::suggest_word;
use provost_core::guard::Guard;
use provost_core::rules::{RULE_PREFIX, RuleSet};
use provost_core::text::shorten_name;

/// What the name in an override means.
pub enum OverrideTarget {
    /// The full name of a guard or rule whose denials a prompt can allow.
    Known(String),
    /// A guard that cannot be overridden.
    Fixed(&'static Guard),
    /// There is no such guard or rule: the reason, with a suggestion.
    Unknown(String),
}

impl OverrideTarget {
    pub fn find(name: &str, rules: &RuleSet) -> Self {
        let spelled = shorten_name(name);
        if let Some(rule) = name.strip_prefix(RULE_PREFIX) {
            return match rules.find(rule) {
                Some(rule) => Self::Known(rule.full_name()),
                None => Self::Unknown(format!("there is no rule `{spelled}`{}", suggest_rule(rule, rules))),
            };
        }
        match find_guard(name) {
            Some(guard) if guard.is_overridable => Self::Known(guard.name.into()),
            Some(guard) => Self::Fixed(guard),
            None => {
                let suggestion =
                    match suggest_word(&name.to_lowercase(), overridable_names().map(str::to_owned)) {
                        guard if guard.is_empty() || rules.find(name).is_some() => suggest_rule(name, rules),
                        guard => guard,
                    };
                Self::Unknown(format!("there is no guard `{spelled}`{suggestion}"))
            }
        }
    }
}

/// `; did you mean …?` if a misspelled name resembles a rule, otherwise nothing.
fn suggest_rule(name: &str, rules: &RuleSet) -> String {
    let known = || rules.rules.iter().map(|rule| rule.name.clone());
    let suggestion = suggest_word(name, known());
    // A set in front of a name makes it too long to resemble.
    let with_set = || {
        known()
            .find(|known| known.rsplit('/').next() == Some(name))
            .map(|known| format!("; did you mean `{known}`?"))
    };
    let suggestion = if suggestion.is_empty() { with_set().unwrap_or_default() } else { suggestion };
    suggestion.replacen('`', "`rule:", 1)
}

/// How to override a guard or rule, for messages; it names every guard that can be overridden.
pub fn describe_override() -> String {
    let names: Vec<String> = overridable_names().map(|name| format!("`{name}`")).collect();
    format!(
        "type the prompt `provost override GUARD REASON` in the client, where GUARD is `rule:NAME` for a rule, or one of {}",
        names.join(", ")
    )
}
