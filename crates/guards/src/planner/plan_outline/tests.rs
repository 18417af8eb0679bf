use super::*;

fn leaks(text: &str) -> Vec<(usize, String)> {
    PlanOutline::parse(text).leaks.into_iter().map(|leak| (leak.line, leak.phrase)).collect()
}

#[track_caller]
fn has(text: &str, name: &str, expected: bool) {
    assert_eq!(PlanOutline::parse(text).has_heading(name), expected, "{name} in {text:?}");
}

#[test]
fn headings_of_level_1_to_3_outside_code_count() {
    has("# Feature Analysis", "feature analysis", true);
    has("### The FEATURE `analysis` of it ###", "Feature Analysis", true);
    has("Feature Analysis\n---\n", "feature analysis", true);
    has("Feature\r\n===\r\n", "feature", true);
    has("#### Feature Analysis", "feature analysis", false);
    has("##Feature Analysis", "feature analysis", false);
    has("    ## Feature Analysis", "feature analysis", false);
    has("```\n## Feature Analysis\n```", "feature analysis", false);
    has("~~~md\n## Feature Analysis\n~~~", "feature analysis", false);
    has("Feature Analysis", "feature analysis", false);
    has("<!--\n## Feature Analysis\n-->", "feature analysis", false);
    has("---\nslice 1: x\n---\n", "slice N", false);
}

#[test]
fn slice_n_needs_a_number() {
    for heading in ["Slice 1", "slice 12: x", "Vertical slice 3", "Slice #4", "Slice-5", "A (slice 6)"] {
        has(&format!("## {heading}"), "slice N", true);
    }
    for heading in ["Slice Overview", "Slices", "Slice", "Slice1", "Backslice 1", "Slice one"] {
        has(&format!("## {heading}"), "slice N", false);
    }
}

#[test]
fn a_phrase_in_running_text_is_a_leak_with_its_line() {
    assert_eq!(leaks("# A\n\nrefactor: clean up\n"), [(3, "refactor:".into())]);
    assert_eq!(leaks("a\nb the REFACTOR Phase\r\nc"), [(2, "REFACTOR Phase".into())]);
    assert_eq!(leaks("- x\n- do the *refactoring*\n  phase"), [(2, "refactoring phase".into())]);
    assert_eq!(leaks("| a |\n|---|\n| refactor: b |\n"), [(3, "refactor:".into())]);
    assert_eq!(leaks("> **refactor:** b\n"), [(1, "refactor:".into())]);
    assert_eq!(leaks("<details>\nrefactor: b\n</details>\n"), [(2, "refactor:".into())]);
    assert_eq!(leaks("[refactor: b](x)\n"), [(1, "refactor:".into())]);
    assert_eq!(leaks("- **REFACTOR:**\n  - rename\n"), [(1, "REFACTOR:".into())]);
    assert_eq!(leaks("REFACTOR Phase"), [(1, "REFACTOR Phase".into())]);
    assert_eq!(leaks("- REFACTOR: done, then more\n"), [(1, "REFACTOR:".into())]);
    assert_eq!(leaks("- REFACTOR: extract the helper\n"), [(1, "REFACTOR:".into())]);
    assert_eq!(leaks("caf\u{e9} \u{1f600} refactor: b\n"), [(1, "refactor:".into())]);
    assert_eq!(
        leaks(&"refactor: x\n\n".repeat(50)).iter().map(|(line, _)| *line).collect::<Vec<_>>(),
        [1, 3, 5]
    );
}

#[test]
fn code_headings_status_lines_and_negations_are_no_leak() {
    for text in [
        "Standalone refactoring is fine, and so is a refactor.",
        "### Iteration 3 (REFACTOR Phase)",
        "REFACTOR phase\n===\n",
        "The text `refactor:` and ``refactoring phase`` in code.",
        "```\nrefactor: x\n```",
        "    refactor: x",
        "~~~\nREFACTOR phase\n~~~",
        "<!-- refactor: x -->",
        "<!--\nrefactor: x\n\nrefactor: y\n-->",
        "<div>\n<!-- refactor: x -->\n</div>",
        "text <!-- refactor: x --> text",
        "---\ntitle: \"refactor: x\"\n---\n",
        "- **REFACTOR:** done",
        "- REFACTOR: pending",
        "- [ ] **REFACTOR:** in-progress",
        "- **RED:** done\n- **GREEN:** done\n- **REFACTOR:** `skip`",
        "- **REFACTOR:** done (nothing to do)",
        "- **REFACTOR Phase:** \u{2705} done",
        "**RED:** done\n**REFACTOR:** done",
        "There is no refactoring phase in this plan.",
        "It does not have a refactoring phase.",
        "Commits without `x` refactor: prefixes",
    ] {
        assert_eq!(leaks(text), [], "{text}");
    }
}

#[test]
fn a_negation_reaches_only_the_phrase_it_stands_before() {
    assert_eq!(leaks("It does not matter. Then comes the refactoring phase.").len(), 1);
    assert_eq!(leaks("Not only the tests but also a whole refactoring phase.").len(), 1);
}
