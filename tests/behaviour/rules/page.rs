//! Every rule of the pages can be copied, and every import of the pages gives what it says.

use std::fs;

use super::project_with_rules;
use crate::support::TestProject;

fn read_page(name: &str) -> String {
    fs::read_to_string(format!("{}/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// The code blocks of a page: what stands before each, its language and its text.
fn list_blocks(page: &str) -> Vec<(&str, &str, &str)> {
    let parts: Vec<&str> = page.split("```").collect();
    let blocks = parts.chunks_exact(2).map(|pair| {
        let (language, text) = pair[1].split_once('\n').unwrap();
        (pair[0], language, text)
    });
    blocks.collect()
}

#[test]
fn every_rule_of_the_pages_works_as_it_says() {
    for (name, count) in [("docs/rules.md", 2), ("README.md", 1), ("docs/import/hookify.md", 3)] {
        let page = read_page(name);
        let blocks = list_blocks(&page).into_iter().filter(|(_, language, _)| *language == "toml");
        let blocks: Vec<&str> = blocks.map(|(_, _, text)| text).collect();
        assert_eq!(blocks.len(), count, "{name}");
        for block in blocks {
            let project = project_with_rules(block);
            let output = project.provost_command("rules", &["test"]).output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8(output.stdout).unwrap());
        }
    }
}

#[test]
fn the_gallery_has_twenty_rules_and_each_has_examples_of_both_kinds() {
    let page = read_page("docs/rules.md");
    let gallery = page.split("## Gallery").nth(1).unwrap();
    let rules: Vec<&str> = gallery.split("[[rule]]").skip(1).collect();
    assert!(rules.len() >= 20, "{}", rules.len());
    for rule in rules {
        let has = |key: &str| rule.lines().any(|line| line.split(' ').next() == Some(key));
        assert!(has("match") && has("not_match"), "{rule}");
    }
}

#[test]
fn every_import_of_the_pages_prints_and_reports_what_they_say() {
    let mut imports = 0;
    for name in ["claude-code", "codex", "hookify", "conclaude", "safety-net"] {
        let page = read_page(&format!("docs/import/{name}.md"));
        let mut source = "";
        let mut actual = (String::new(), String::new());
        for (before, language, text) in list_blocks(&page) {
            if let Some((_, rest)) = before.split_once("`provost rules import ") {
                let file = rest.split('`').next().unwrap();
                let project = TestProject::new();
                project.write_file(file, source);
                let output = project.provost_command("rules", &["import", file]).output().unwrap();
                actual = (
                    String::from_utf8(output.stdout).unwrap().trim_end().to_owned() + "\n",
                    String::from_utf8(output.stderr).unwrap(),
                );
                imports += 1;
            }
            match language {
                "toml" if !before.contains("Provost looks at") => assert_eq!(text, actual.0, "{name}"),
                "text" => assert_eq!(text, actual.1, "{name}"),
                _ => source = text,
            }
        }
    }
    assert_eq!(imports, 7);
}
