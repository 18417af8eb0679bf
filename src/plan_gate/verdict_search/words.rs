//! The words by which an answer is searched for verdicts.

/// Words that may stand between "verdict" and its value, or before "verdict" at the start of a line.
pub(super) const FILLERS: &[&str] = &[
    "a",
    "actual",
    "actually",
    "after",
    "all",
    "amended",
    "an",
    "and",
    "as",
    "be",
    "becomes",
    "been",
    "cannot",
    "changed",
    "changes",
    "conclusion",
    "correct",
    "corrected",
    "correction",
    "coverage",
    "d",
    "did",
    "does",
    "doesn",
    "edit",
    "final",
    "finally",
    "for",
    "from",
    "has",
    "hence",
    "here",
    "i",
    "in",
    "instead",
    "is",
    "it",
    "its",
    "must",
    "my",
    "new",
    "no",
    "not",
    "note",
    "now",
    "of",
    "official",
    "on",
    "or",
    "our",
    "overall",
    "plan",
    "read",
    "reads",
    "real",
    "really",
    "remains",
    "result",
    "revised",
    "s",
    "say",
    "second",
    "should",
    "shouldn",
    "so",
    "stands",
    "status",
    "still",
    "t",
    "that",
    "the",
    "therefore",
    "third",
    "this",
    "thus",
    "to",
    "true",
    "update",
    "updated",
    "validator",
    "value",
    "was",
    "would",
];
/// Labels that mean the same as "verdict" where a value is assigned to them.
pub(super) const LABELS: &[&str] = &[
    "answer",
    "assessment",
    "conclusion",
    "corrected",
    "correction",
    "coverage",
    "decision",
    "final",
    "judgement",
    "judgment",
    "outcome",
    "overall",
    "result",
    "revised",
    "ruling",
    "status",
    "update",
    "updated",
];
/// What a sentence is about that judges the plan.
pub(super) const SUBJECTS: &[&str] = &["answer", "assessment", "i", "it", "plan", "that", "this", "which"];
/// Words that turn a value into its opposite. "doesn't" is two words here.
pub(super) const NEGATIONS: &[&str] = &["cannot", "never", "no", "not", "t"];
/// What a plan passes or fails, behind the value.
pub(super) const OBJECTS: &[&str] =
    &["assessment", "check", "coverage", "gate", "my", "review", "the", "this", "validation"];
/// Words in front of a sentence's subject that make it a condition: "if it fails".
pub(super) const CONDITIONS: &[&str] = &["if", "unless", "when", "whenever", "whether"];
/// Words that take a verdict back.
pub(super) const RETRACTIONS: &[&str] = &[
    "back",
    "discard",
    "disregard",
    "ignore",
    "overrule",
    "overturn",
    "retract",
    "reverse",
    "revoke",
    "withdraw",
];
/// What a verdict is called that was taken back.
pub(super) const TAKEN_BACK: &[&str] = &[
    "incorrect",
    "invalid",
    "mistaken",
    "overturned",
    "retracted",
    "reversed",
    "revoked",
    "void",
    "withdrawn",
    "wrong",
];
/// What follows a value in a rule: "FAIL if any finding has no gap".
pub(super) const OF_A_RULE: &[&str] =
    &["if", "means", "needs", "only", "otherwise", "requires", "unless", "when", "would"];
/// Labels that stand beside each single finding as well.
pub(super) const LABELS_OF_FINDINGS: &[&str] = &["coverage", "status"];
/// Signs that stand for a value.
pub(super) const PASS_SIGNS: &[char] = &['✅', '✓', '✔', '☑', '🟢', '👍'];
pub(super) const FAIL_SIGNS: &[char] = &['❌', '❎', '✗', '✘', '✖', '⛔', '🔴', '👎', '🚫'];
