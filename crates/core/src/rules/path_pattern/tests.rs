//! Path patterns against paths of a project in a home.

use super::*;

fn texts(patterns: &[&str]) -> Vec<RuleText> {
    patterns.iter().map(|text| RuleText { text: (*text).into(), offset: 0 }).collect()
}

fn roots() -> PatternRoots<'static> {
    PatternRoots {
        project: "/home/u/project".into(),
        home: Some("/home/u".into()),
        temporary: LazyCell::new(Box::new(|| vec!["/tmp".into()])),
        work_trees: LazyCell::new(Box::new(|| vec!["/home/u/tree".into()])),
    }
}

fn is_match(patterns: &[&str], path: &str) -> bool {
    let texts = texts(patterns);
    let path: PathBuf = Path::new("/home/u/project").join(path).components().collect();
    PathPatterns::parse(&texts).unwrap().matches(&path, &roots())
}

#[test]
fn patterns_match_as_in_gitignore() {
    for (pattern, path) in [
        ("*.rs", "src/a.rs"),
        ("src", "src/a.rs"),
        ("src/", "src/a.rs"),
        ("src/**", "src/a/b.rs"),
        ("**/.env", ".env"),
        ("**/.env", "a/b/.env"),
        (".env", "a/.env"),
        ("./x", "x"),
        ("./x", "x/y"),
        ("db/migrations/**", "db/migrations/1.sql"),
        ("a/**/z", "a/z"),
        ("a/**/z", "a/b/c/z"),
        ("[a-c]?.txt", "b1.txt"),
        ("[!a].txt", "b.txt"),
        ("a|b", "b"),
        ("/etc/**", "/etc/passwd"),
        ("~/.ssh/**", "/home/u/.ssh/id_rsa"),
        ("<outside>", "/etc/passwd"),
        ("<outside>", "/home/u/other/x"),
        ("<outside>", "/tmp"),
        ("<outside>", "/home/u/tree"),
        ("<root>", "."),
    ] {
        assert!(is_match(&[pattern], path), "{pattern} {path}");
    }
    for (pattern, path) in [
        ("src/", "src"),
        ("src/**", "src"),
        ("src/**", "lib/src/x"),
        ("./x", "a/x"),
        ("db/migrations/**", "db/other.sql"),
        ("*.rs", "a.rsx"),
        ("[!a].txt", "a.txt"),
        ("**/.env", "/home/u/.env"),
        ("<outside>", "src/a"),
        ("<outside>", "/tmp/x"),
        ("<outside>", "/home/u/tree/x"),
        ("<outside>", "/dev/null"),
        ("<root>", "src"),
        ("<root>", "/home/u"),
    ] {
        assert!(!is_match(&[pattern], path), "{pattern} {path}");
    }
}

#[test]
fn an_exclamation_mark_takes_out_again() {
    let secrets = ["**/.env", "**/.env.*", "!**/.env.example", "~/.ssh/**", "!~/.ssh/*.pub"];
    assert!(is_match(&secrets, ".env.local") && is_match(&secrets, "/home/u/.ssh/id_rsa"));
    assert!(!is_match(&secrets, ".env.example") && !is_match(&secrets, "/home/u/.ssh/id_rsa.pub"));
}

#[test]
fn a_directory_above_a_named_path_is_recognised() {
    let below = |pattern: &str, directory: &str| {
        let texts = texts(&[pattern]);
        let directory = Path::new("/home/u/project").join(directory);
        PathPatterns::parse(&texts).unwrap().names_path_below(&directory, &roots())
    };
    assert!(below("db/migrations/**", "db") && below("db/migrations/**", "db/migrations"));
    assert!(below("~/.ssh/**", "/home/u") && below("db/x", "/"));
    assert!(!below("db/migrations/**", "src") && !below("**/.env", "src"));
    assert!(!below("db/migrations/**", "db/migrations/sub"));
    let may = |pattern: &str, directory: &str| {
        let texts = texts(&[pattern]);
        let directory = Path::new("/home/u/project").join(directory);
        PathPatterns::parse(&texts).unwrap().may_match_below(&directory, &roots())
    };
    assert!(may("**/*.rs", "src") && may("src/**", "src") && may("src/*.rs", "."));
    assert!(!may("src/*.rs", "docs") && !may("./x", "src"));
}

#[test]
fn mistakes_are_named() {
    for pattern in ["<inside>", "a/../b", "[ab"] {
        assert!(PathPatterns::parse(&texts(&[pattern])).is_err(), "{pattern}");
    }
}
