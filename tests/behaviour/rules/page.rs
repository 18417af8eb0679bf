//! Every rule on the page docs/rules.md can be copied: it has no mistake, and its examples pass.

use super::project_with_rules;

#[test]
fn every_rule_of_the_page_works_as_it_says() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/rules.md")).unwrap();
    let blocks: Vec<&str> =
        page.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert_eq!(blocks.len(), 2);
    for block in blocks {
        let project = project_with_rules(block);
        let output = project.provost_command("rules", &["test"]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8(output.stdout).unwrap());
    }
    let gallery = page.split("## Gallery").nth(1).unwrap();
    assert!(gallery.matches("[[rule]]").count() >= 20, "the gallery has twenty rules");
}
