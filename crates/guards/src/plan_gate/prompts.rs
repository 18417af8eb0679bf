//! The prompts of critics and validators, word for word.
//!
//! The body of each agent in the plugin is also the role of the reviewer that Provost asks itself. Beside
//! the role, a prompt holds only the text to judge, because one more sentence could ask for a pass.

use crate::prelude::*;
use provost_core::text::strip_frontmatter;

const CRITIC: &str = include_str!("../../../../plugins/rodin/agents/critic.md");
const VALIDATOR: &str = include_str!("../../../../plugins/rodin/agents/validator.md");

/// The critic's prompt: the plan without marks and gaps.
pub fn write_critic_prompt(plan: &str) -> String {
    format!("The plan:\n\n{}\n", plan.trim_end_matches('\n'))
}

/// The validator's prompt: the gaps, and the critic's answer.
pub fn write_validator_prompt(gaps: &str, findings: &str) -> String {
    let gaps = if gaps.trim().is_empty() { "(none)" } else { gaps.trim_end_matches('\n') };
    format!("The gaps:\n\n{gaps}\n\nThe findings:\n\n{}\n", findings.trim_end_matches('\n'))
}

/// The critic's prompt for a reviewer that is not an agent of the plugin.
pub fn write_full_critic_prompt(plan: &str) -> String {
    format!("{}\n\n{}", strip_frontmatter(CRITIC), write_critic_prompt(plan))
}

/// The validator's prompt for a reviewer that is not an agent of the plugin.
pub fn write_full_validator_prompt(gaps: &str, findings: &str) -> String {
    format!("{}\n\n{}", strip_frontmatter(VALIDATOR), write_validator_prompt(gaps, findings))
}

/// Whether two texts have the same words, wherever their lines break.
pub fn have_same_words(a: &str, b: &str) -> bool {
    a.split_whitespace().eq(b.split_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_is_the_body_of_its_agent() {
        for prompt in [write_full_critic_prompt("PLAN"), write_full_validator_prompt("GAPS", "FINDINGS")] {
            assert!(!prompt.starts_with("---") && !prompt.contains("model:"), "{prompt}");
        }
        assert!(write_full_critic_prompt("PLAN").ends_with("The plan:\n\nPLAN\n"));
    }

    #[test]
    fn an_empty_list_of_gaps_becomes_none() {
        assert!(write_validator_prompt(" \n", "F").contains("The gaps:\n\n(none)\n"));
    }

    #[test]
    fn line_breaks_are_not_words() {
        assert!(have_same_words("a  b\r\nc\n", "a b c"));
        assert!(!have_same_words("a b c", "a b c d") && !have_same_words("a b", "a c"));
    }
}
