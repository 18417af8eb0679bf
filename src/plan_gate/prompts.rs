//! What critics and validators are given, word for word.
//!
//! The role of each is the body of its agent in the plugin, so that the agent and the reviewer that
//! Provost asks itself have the same one. What an agent is given beside its role is exactly the text
//! that it judges: a sentence more could be one that asks for a pass.

use crate::text::without_description;

const CRITIC: &str = include_str!("../../plugins/rodin/agents/critic.md");
const VALIDATOR: &str = include_str!("../../plugins/rodin/agents/validator.md");

/// For the critic: the plan without marks and gaps.
pub fn for_critic(plan: &str) -> String {
    format!("The plan:\n\n{}\n", plan.trim_end_matches('\n'))
}

/// For the validator: the gaps, and what the critic answered.
pub fn for_validator(gaps: &str, findings: &str) -> String {
    let gaps = if gaps.trim().is_empty() { "(none)" } else { gaps.trim_end_matches('\n') };
    format!("The gaps:\n\n{gaps}\n\nThe findings:\n\n{}\n", findings.trim_end_matches('\n'))
}

/// The same for a reviewer that has no role of its own.
pub fn critic_with_role(plan: &str) -> String {
    format!("{}\n\n{}", without_description(CRITIC), for_critic(plan))
}

pub fn validator_with_role(gaps: &str, findings: &str) -> String {
    format!("{}\n\n{}", without_description(VALIDATOR), for_validator(gaps, findings))
}

/// Whether two texts say the same: word for word, wherever lines break.
pub fn same_words(a: &str, b: &str) -> bool {
    a.split_whitespace().eq(b.split_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_is_the_body_of_its_agent() {
        for prompt in [critic_with_role("PLAN"), validator_with_role("GAPS", "FINDINGS")] {
            assert!(!prompt.starts_with("---") && !prompt.contains("model:"), "{prompt}");
        }
        assert!(critic_with_role("PLAN").ends_with("The plan:\n\nPLAN\n"));
    }

    #[test]
    fn an_empty_list_of_gaps_is_told_as_one() {
        assert!(for_validator(" \n", "F").contains("The gaps:\n\n(none)\n"));
    }

    #[test]
    fn line_breaks_are_not_words() {
        assert!(same_words("a  b\r\nc\n", "a b c"));
        assert!(!same_words("a b c", "a b c d") && !same_words("a b", "a c"));
    }
}
