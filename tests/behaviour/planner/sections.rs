//! Slice 4: the sections of a plan, and what it leaves to the implementation.

use super::*;

/// A project whose only plan is this text.
fn with_plan(text: &str) -> TestProject {
    let project = TestProject::new();
    plan(&project, "planning/p.md", text, 1);
    project
}

#[track_caller]
fn passes(text: &str) {
    assert_eq!(stopped(&with_plan(text)), Ok(()), "{text}");
}

#[test]
fn exits_2_when_required_feature_analysis_section_is_missing() {
    assert_shown!("planner-no-analysis", stopped(&with_plan("## Slice 1\n")).unwrap_err());
}

#[test]
fn exits_2_when_required_test_specification_slice_sections_are_missing() {
    held(&with_plan("# Feature Analysis\n"), "missing required sections: Test-Specification/Slices:");
}

#[test]
fn exits_0_when_all_required_sections_are_present() {
    passes("## Feature Analysis\n\n## Slice 1: Something\n");
    passes("## Feature Analysis\n\n## Test Specifications\n");
}

#[test]
fn exits_2_when_refactoring_leak_is_detected_refactor_commit_type() {
    let project = with_plan(&format!("{PLAN}\nrefactor: clean up authentication\n"));
    held(&project, "REFACTORING LEAK in planning/p.md: line 11 has \"refactor:\"");
}

#[test]
fn exits_2_when_refactoring_leak_is_detected_refactor_phase() {
    held(&with_plan(&format!("{PLAN}\nREFACTOR Phase\n")), "REFACTORING LEAK in planning/p.md: line 11");
}

#[test]
fn the_word_refactoring_alone_is_no_leak() {
    passes(&format!("{PLAN}\nSome refactoring may follow.\n"));
}

#[test]
fn the_case_of_headings_does_not_matter() {
    passes("## FEATURE ANALYSIS\n\n### slice 1\n");
}

#[test]
fn both_missing_sections_are_reported_together() {
    held(
        &with_plan("# Notes\n"),
        "Plan file planning/p.md is missing required sections: Feature-Analysis Test-Specification/Slices",
    );
}

#[test]
fn missing_sections_and_leaks_are_reported_together_because_a_turn_is_held_once() {
    held(
        &with_plan("## Slice 1\n\nrefactor: x\n"),
        "missing required sections: Feature-Analysis; REFACTORING LEAK in planning/p.md",
    );
}

#[test]
fn the_first_three_leaks_are_named_with_their_lines() {
    let project = with_plan(&format!("{PLAN}{}", "\nrefactor: x\n".repeat(9)));
    assert_shown!("planner-many-leaks", stopped(&project).unwrap_err());
}

/// Facts A4.10: the document that asks for these checks passes them.
#[test]
fn document_002_itself_passes_as_a_plan() {
    passes(include_str!("document-002.md"));
}

/// Facts A4.10.
#[test]
fn synonyms_of_the_first_section_pass_and_others_can_be_set() {
    for heading in ["Overview", "Requirements Analysis", "Feature Description", "1. Feature analysis: login"]
    {
        passes(&format!("## {heading}\n\n## Slice 1\n"));
    }
    let project = with_plan("# Ziel\n\n## Schritt 2\n");
    held(&project, "missing required sections");
    project.write_file(
        "provost.toml",
        "[planner]\nanalysis_headings = [\"ziel\"]\nslice_headings = [\"schritt N\"]\n",
    );
    assert_eq!(stopped(&project), Ok(()));
    project.write_file("provost.toml", "[planner]\nanalysis_headings = []\nslice_headings = []\n");
    assert_eq!(stopped(&project), Ok(()));
}

/// Facts A4.11.
#[test]
fn a_mention_of_the_phase_is_no_leak() {
    passes(&format!(
        "{PLAN}
### Iteration 3 (REFACTOR Phase)

- **RED:** done
- **GREEN:** done
- **REFACTOR:** pending

The words `refactor:` and `refactoring phase`. There is no refactoring phase here.

```
refactor: x
```

<!-- refactor: y -->
"
    ));
}

/// Facts A4.18.
#[test]
fn a_heading_is_one_by_the_rules_of_markdown() {
    let analysis = "## Feature Analysis\n\n";
    for not in [
        "#### Slice 1",
        "```\n## Slice 1\n```",
        "##slice 1",
        "## Slice Overview",
        "Slice 1",
        "<!--\n## Slice 1\n-->",
    ] {
        held(&with_plan(&format!("{analysis}{not}\n")), "Test-Specification/Slices");
    }
    for one in ["Slice 1\n---", "### Slice 1 ###", "   ## Slice 1", "## **Slice** `1`"] {
        passes(&format!("{analysis}{one}\n"));
    }
}

#[test]
fn windows_line_endings_and_invalid_utf_8_are_accepted() {
    passes("\u{feff}# Feature Analysis\r\n\r\n## Slice 1\r\n");
    let project = with_plan("");
    fs::write(
        project.path.join("planning/p.md"),
        b"# Feature Analysis \xff\n\n## Slice 1 \xc3\n\n\xff refactor: x\n",
    )
    .unwrap();
    held(&project, "line 5 has \"refactor:\"");
}
