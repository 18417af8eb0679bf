//! Texts that are not patterns.

use crate::pattern::CommandPattern;

#[test]
fn a_mistake_has_a_message_and_a_position() {
    let cases = [
        ("", 0, "empty"),
        ("   ", 0, "empty"),
        ("--force", 0, "start with the name of a program"),
        ("A=1 git push", 0, "sets a variable"),
        ("git push --force||-f", 17, "an alternative is empty"),
        ("git |push", 4, "an alternative is empty"),
        ("git push|", 9, "an alternative is empty"),
        ("git 'push'", 4, "`'` has no meaning"),
        ("git add -A\\|--all", 10, "`\\` has no meaning"),
        ("git add . && git commit", 10, "`&` has no meaning"),
        ("$GIT push", 0, "`$` has no meaning"),
        ("git* push", 3, "in an operand, a long option or a value"),
        ("rm -r*", 5, "in an operand, a long option or a value"),
        ("rm -r*=a", 5, "in an operand, a long option or a value"),
        ("git <end> push", 4, "`<` has no meaning"),
        ("git -C sub push", 7, "`-C=sub`"),
        ("git commit -am wip", 15, "`-am=wip`"),
        ("docker run --network host", 21, "`--network=host`"),
        ("terraform plan -out x", 20, "`-out=x`"),
    ];
    for (text, offset, message) in cases {
        let error = CommandPattern::parse(text).expect_err(text);
        assert_eq!(error.offset, offset, "{text}: {error}");
        assert!(error.message.contains(message), "{text}: {error}");
    }
    let long = "a ".repeat(40);
    assert_eq!(CommandPattern::parse(&long).unwrap_err().offset, 66);
}

#[test]
fn every_form_of_the_contract_is_a_pattern() {
    for text in [
        "git push --force|-f",
        "npm install|i|ci|add",
        "yarn",
        "cargo test",
        "git add -A|--all|.",
        "git push|fetch --all",
        "find -delete",
        "  git\tpush  ",
        "python -m pytest",
        "* --help|--version",
        "git checkout HEAD~1|HEAD^|@{u}",
        "kubectl -n=prod delete",
        "git commit -m",
        "npm run test*|lint",
        "git push --force*",
        "git push <end>",
        "git <end>",
    ] {
        CommandPattern::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    }
}
