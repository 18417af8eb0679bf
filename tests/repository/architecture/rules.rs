//! What is forbidden where, and examples of code that break each rule.

use super::code::{Code, Kind};

/// Names that code must not use.
#[derive(Clone, Copy)]
pub struct Rules {
    /// Paths, with all that is below them.
    paths: &'static [&'static str],
    /// Exceptions below these paths.
    allowed: &'static [&'static str],
    macros: &'static [&'static str],
    methods: &'static [&'static str],
    /// Methods of a path or a file. Methods of the same name with arguments are allowed.
    methods_without_arguments: &'static [&'static str],
    /// Whether only re-exports count.
    only_reexports: bool,
}

impl Rules {
    /// For crates that judge: they do not print, exit or touch the world.
    pub const WORLD: Self = Self {
        paths: &[
            "std::fs",
            "std::env",
            "std::process",
            "std::net",
            "std::os",
            "std::io::stdout",
            "std::io::stderr",
            "std::io::stdin",
            "std::io::Stdout",
            "std::io::Stderr",
            "std::io::Stdin",
            "std::io::pipe",
            "std::io::_print",
            "std::io::_eprint",
            "std::thread",
            "anstream",
            "clap",
            "getrandom",
            "memmap2",
            "rustix",
            "signal_hook",
            "tempfile",
            "terminal_size",
            "provost_files",
            // Functions of the core that read the disk or start programs, for the program only.
            "provost_core::config::Config::load",
            "provost_core::engine",
            "provost_core::places::find_project_config",
            "provost_core::places::find_project_root",
            "provost_core::places::project_config",
            "provost_core::places::project_root",
            "provost_core::places::resolve",
            "provost_core::places::resolve_below",
            "provost_core::places::resolve_path",
            "provost_core::places::resolve_path_below",
            "provost_core::process",
        ],
        allowed: &["std::os::unix::ffi::OsStrExt"],
        macros: PRINTING,
        methods: &[],
        methods_without_arguments: &[
            "exists",
            "try_exists",
            "is_file",
            "is_dir",
            "is_symlink",
            "metadata",
            "symlink_metadata",
            "canonicalize",
            "read_dir",
            "read_link",
        ],
        only_reexports: false,
    };

    /// For the shell crate: it does not even use the clock.
    pub const PURE: Self = Self {
        paths: &[
            "std::fs",
            "std::env",
            "std::process",
            "std::net",
            "std::os",
            "std::io",
            "std::thread",
            "std::time",
            "std::path::absolute",
        ],
        allowed: &[],
        ..Self::WORLD
    };

    /// For all crates but `files`: calls that change the disk.
    pub const CHANGES: Self = Self {
        paths: &[
            "std::fs::write",
            "std::fs::rename",
            "std::fs::copy",
            "std::fs::hard_link",
            "std::fs::soft_link",
            "std::fs::set_permissions",
            "std::fs::set_permissions_nofollow",
            "std::fs::set_times",
            "std::fs::remove_file",
            "std::fs::remove_dir",
            "std::fs::remove_dir_all",
            "std::fs::create_dir",
            "std::fs::create_dir_all",
            "std::fs::DirBuilder",
            "std::fs::OpenOptions",
            "std::fs::File::create",
            "std::fs::File::create_new",
            "std::fs::File::create_buffered",
            "std::fs::File::options",
            "std::os::unix::fs::symlink",
            "std::os::unix::fs::chown",
            "std::os::unix::fs::fchown",
            "std::os::unix::fs::lchown",
            "rustix::fs::rename",
            "rustix::fs::renameat",
            "rustix::fs::renameat_with",
            "rustix::fs::link",
            "rustix::fs::linkat",
            "rustix::fs::symlink",
            "rustix::fs::symlinkat",
            "rustix::fs::unlink",
            "rustix::fs::unlinkat",
            "rustix::fs::rmdir",
            "rustix::fs::mkdir",
            "rustix::fs::mkdirat",
            "rustix::fs::chmod",
            "rustix::fs::chmodat",
            "rustix::fs::fchmod",
            "rustix::fs::chownat",
            "rustix::fs::ftruncate",
            "rustix::fs::mknodat",
            "rustix::fs::open",
            "rustix::fs::openat",
            "rustix::fs::utimensat",
            "tempfile",
        ],
        allowed: &[],
        macros: &[],
        methods: &["set_permissions", "set_len", "set_modified", "set_times", "create_new"],
        methods_without_arguments: &[],
        only_reexports: false,
    };

    /// For all crates: no module re-exports these.
    pub const REEXPORTS: Self = Self {
        paths: &[
            "std::fs",
            "std::env",
            "std::process",
            "std::net",
            "std::os",
            "std::io",
            "rustix",
            "anstream",
        ],
        allowed: &[],
        macros: &[],
        methods: &[],
        methods_without_arguments: &[],
        only_reexports: true,
    };

    /// Each violation, with its line.
    pub fn broken_by(&self, code: &Code) -> Vec<String> {
        let is_below = |path: &str, known: &&&str| {
            path.strip_prefix(**known).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        };
        let names = code.names.iter().filter_map(|name| {
            let found = match &name.kind {
                Kind::Path(path) | Kind::Reexport(path) => {
                    let is_held = self.only_reexports == matches!(name.kind, Kind::Reexport(_));
                    let is_forbidden = self.paths.iter().any(|known| is_below(path, &known));
                    let is_allowed = self.allowed.iter().any(|known| is_below(path, &known));
                    (is_held && is_forbidden && !is_allowed).then(|| path.clone())
                }
                Kind::Macro(called) => self.macros.contains(&called.as_str()).then(|| format!("{called}!")),
                Kind::Method(called, arguments) => {
                    let is_forbidden = self.methods.contains(&called.as_str())
                        || *arguments == 0 && self.methods_without_arguments.contains(&called.as_str());
                    is_forbidden.then(|| format!(".{called}()"))
                }
                Kind::Elsewhere => (!self.only_reexports).then(|| "code that stands in another file".into()),
            };
            found.map(|found| format!("{}: {found}", name.line))
        });
        let mut all: Vec<String> = names.collect();
        all.dedup();
        all
    }
}

const PRINTING: &[&str] = &["print", "println", "eprint", "eprintln", "dbg"];

/// The violations in a text as the content of `src/shell/words.rs`, without the lines.
fn violations(rules: Rules, text: &str) -> Vec<String> {
    let module = ["shell".to_owned(), "words".to_owned()];
    let code = Code::read(text, &module).unwrap_or_else(|error| panic!("{error}: {text}"));
    let mut found: Vec<String> =
        rules.broken_by(&code).iter().map(|finding| finding.split_once(": ").unwrap().1.to_owned()).collect();
    found.sort();
    found.dedup();
    found
}

#[track_caller]
fn assert_broken(rules: Rules, cases: &[(&str, &str)]) {
    for (text, finding) in cases {
        let found = violations(rules, text);
        assert!(found.iter().any(|found| found == finding), "{text}\nwanted {finding}, found {found:?}");
    }
}

#[track_caller]
fn assert_kept(rules: Rules, cases: &[&str]) {
    for text in cases {
        assert_eq!(violations(rules, text), [""; 0], "{text}");
    }
}

#[test]
fn a_crate_that_prints_is_found() {
    assert_broken(
        Rules::WORLD,
        &[
            ("fn f() { println!(\"x\"); }", "println!"),
            ("fn f() { print!(\"x\"); }", "print!"),
            ("fn f() { eprintln!(); }", "eprintln!"),
            ("fn f() { eprint!(\"x\") }", "eprint!"),
            ("fn f() -> u8 { dbg!(1) }", "dbg!"),
            ("fn f() { std::println!(\"x\"); }", "println!"),
            ("fn f() { ::std::eprintln!(\"x\"); }", "eprintln!"),
            ("use std::println as say;\nfn f() { say!(\"x\"); }", "println!"),
            ("fn f() { if true { for _ in 0..1 { (|| println!())() } } }", "println!"),
            ("struct S;\nimpl S { fn f(&self) { println!() } }", "println!"),
            ("impl Drop for S { fn drop(&mut self) { dbg!(self); } }", "dbg!"),
            ("mod inner { mod more { fn f() { println!() } } }", "println!"),
            ("fn f() { vec![{ println!(); 1 }]; }", "println!"),
            ("fn f() { assert!(dbg!(true)); }", "dbg!"),
            ("macro_rules! say { () => { println!(\"x\") } }", "println!"),
            ("thread_local! { static X: u8 = { println!(); 1 } }", "println!"),
            ("const F: fn() = || println!();", "println!"),
            ("static F: u8 = { print!(\"\"); 1 };", "print!"),
            ("trait T { fn f() { println!() } }", "println!"),
            ("async fn f() { println!() }", "println!"),
            ("fn f() { let _ = writeln!(std::io::stdout(), \"x\"); }", "std::io::stdout"),
            ("use std::io;\nfn f() { io::stderr().lock(); }", "std::io::stderr"),
            ("use std::io::{self, Write};\nfn f() { write!(io::stdout(), \"\").ok(); }", "std::io::stdout"),
            ("use std::io::stdout as out;\nfn f() { out(); }", "std::io::stdout"),
            ("fn f() { use std::io::stdin; stdin(); }", "std::io::stdin"),
            ("fn f(out: &mut std::io::Stdout) {}", "std::io::Stdout"),
            ("fn f() { anstream::stdout(); }", "anstream::stdout"),
        ],
    );
}

#[test]
fn a_crate_that_exits_or_starts_programs_is_found() {
    assert_broken(
        Rules::WORLD,
        &[
            ("fn f() { std::process::exit(1) }", "std::process::exit"),
            ("use std::process;\nfn f() { process::abort() }", "std::process::abort"),
            ("use std::process::exit;\nfn f() { exit(1) }", "std::process::exit"),
            ("use std::process as p;\nfn f() { p::exit(1) }", "std::process::exit"),
            ("use std as s;\nfn f() { s::process::exit(1) }", "std::process::exit"),
            ("extern crate std as s;\nfn f() { s::process::exit(1) }", "std::process::exit"),
            ("use std::{process::{self as p}};\nfn f() { p::abort() }", "std::process::abort"),
            ("use std::process::*;\nfn f() { exit(1) }", "std::process"),
            ("use super::*;\nfn f() { process::exit(1) }", "std::process::exit"),
            ("fn f() { let leave = std::process::exit; }", "std::process::exit"),
            ("fn f() -> u8 { None.unwrap_or_else(|| std::process::exit(2)) }", "std::process::exit"),
            ("use std::process::Command;\nfn f() { Command::new(\"x\"); }", "std::process::Command::new"),
            (
                "use std::process::Command as C;\ntype D = C;\nfn f() { D::new(\"x\"); }",
                "std::process::Command::new",
            ),
            ("fn f() -> std::process::ExitCode { todo!() }", "std::process::ExitCode"),
            ("use rustix::process::kill_process;", "rustix::process::kill_process"),
            ("fn f() { std::thread::spawn(|| ()); }", "std::thread::spawn"),
            ("fn f() { format!(\"{}\", std::process::id()); }", "std::process::id"),
        ],
    );
}

#[test]
fn a_crate_that_touches_the_disk_or_the_environment_is_found() {
    assert_broken(
        Rules::WORLD,
        &[
            ("fn f() { std::fs::write(\"a\", \"b\").ok(); }", "std::fs::write"),
            ("use std::fs;\nfn f() { fs::remove_file(\"a\").ok(); }", "std::fs::remove_file"),
            ("use std::fs as disk;\nfn f() { disk::read(\"a\").ok(); }", "std::fs::read"),
            ("use std::fs::*;", "std::fs"),
            (
                "use std::{env, fs::{self, File as F}};\nfn f() { F::create(\"a\").ok(); }",
                "std::fs::File::create",
            ),
            ("fn f() { <std::fs::File>::open(\"a\").ok(); }", "std::fs::File::open"),
            ("type F = std::fs::File;\nfn f() { F::open(\"a\").ok(); }", "std::fs::File::open"),
            ("use std::fs::OpenOptions;\nfn f() { OpenOptions::new(); }", "std::fs::OpenOptions::new"),
            ("struct S { file: std::fs::File }", "std::fs::File"),
            ("fn f() { std::env::var(\"X\").ok(); }", "std::env::var"),
            ("use std::env;\nfn f() { matches!(env::args().next(), None); }", "std::env::args"),
            ("use std::os::unix::fs::symlink;", "std::os::unix::fs::symlink"),
            ("use std::net::TcpStream;", "std::net::TcpStream"),
            ("fn f(p: &std::path::Path) -> bool { p.exists() }", ".exists()"),
            ("fn f(p: &std::path::Path) { assert!(p.is_dir()); }", ".is_dir()"),
            ("fn f(p: &std::path::Path) { p.canonicalize().ok(); }", ".canonicalize()"),
            ("use provost_files as files;\nfn f() { files::read(p, 1); }", "provost_files::read"),
            ("fn f() { provost_files::replace(p, b); }", "provost_files::replace"),
            (
                "use provost_core::config::Config;\nfn f() { Config::load(l, g); }",
                "provost_core::config::Config::load",
            ),
            ("use provost_core::places::resolve;", "provost_core::places::resolve"),
            ("use provost_core::process;\nfn f() { process::run(); }", "provost_core::process::run"),
            ("#[path = \"../cli/x.rs\"]\nmod x;", "code that stands in another file"),
            ("include!(\"x.rs\");", "code that stands in another file"),
        ],
    );
}

/// Only code that is compiled for tests alone is left out.
#[test]
fn code_behind_or_beside_tests_is_checked() {
    assert_broken(
        Rules::WORLD,
        &[
            ("#[cfg(test)]\nmod tests { }\nfn f() { println!() }", "println!"),
            ("#[cfg(test)]\nuse std::fs;\nfn f() { std::fs::write(a, b); }", "std::fs::write"),
            ("#[cfg(test)]\nfn g() { }\nuse std::env;\nfn f() { env::var(a); }", "std::env::var"),
            ("#[cfg(not(test))]\nfn f() { println!() }", "println!"),
            ("#[cfg(any(test, unix))]\nfn f() { println!() }", "println!"),
            ("#[cfg(debug_assertions)]\nfn f() { println!() }", "println!"),
            ("#[cfg_attr(test, allow(dead_code))]\nfn f() { println!() }", "println!"),
            ("// #[cfg(test)]\nfn f() { println!() }", "println!"),
            ("const X: &str = \"#[cfg(test)]\";\nfn f() { println!() }", "println!"),
        ],
    );
    assert_kept(
        Rules::WORLD,
        &[
            "#[cfg(test)]\nmod tests { use std::fs; fn f() { println!(); fs::write(a, b); } }",
            "#[cfg(all(test, unix))]\nfn f() { std::process::exit(1) }",
            "#[test]\nfn f() { println!() }",
            "impl S { #[cfg(test)] fn f() { println!() } }",
            "fn f() { #[cfg(test)] println!(); #[cfg(test)] let x = std::env::args(); }",
            "#[cfg(test)]\nuse std::fs;",
        ],
    );
}

#[test]
fn names_in_texts_and_own_items_of_the_same_name_are_allowed() {
    assert_kept(
        Rules::WORLD,
        &[
            "/// println!(\"x\"), std::fs::write\nconst X: &str = \"std::process::exit(1); println!()\";",
            "use crate::workspace::Workspace;\nfn f(w: &Workspace) -> bool { w.exists(path) && w.is_file(path) }",
            "use provost_core::workspace::Lock;\nstruct S { lock: Lock }",
            "mod fs { pub fn write() {} }\nfn f() { fs::write(); }",
            "struct Command;\nuse super::*;\nfn f() { Command::new(); }",
            "fn exit() {}\nfn f() { exit(); self::exit(); }",
            "use std::io::Write;\nfn f(out: &mut String) { write!(out, \"{}\", 1).ok(); }",
            "use std::fmt::Write as _;\nuse std::time::{Duration, Instant};",
            "fn f() { format!(\"{}\", env!(\"CARGO_PKG_VERSION\")); }",
        ],
    );
}

#[test]
fn a_change_of_the_disk_is_found() {
    assert_broken(
        Rules::CHANGES,
        &[
            ("fn f() { std::fs::write(a, b); }", "std::fs::write"),
            ("use std::fs::{self, File};\nfn f() { File::create(a); }", "std::fs::File::create"),
            ("use std::fs::File;\nfn f() { File::options().append(true); }", "std::fs::File::options"),
            ("use std::fs as disk;\nfn f() { disk::create_dir_all(a); }", "std::fs::create_dir_all"),
            ("use std::fs::rename as move_to;\nfn f() { move_to(a, b); }", "std::fs::rename"),
            ("use super::*;\nfn f() { fs::write(a, b); }", "std::fs::write"),
            ("fn f(x: &F) { x.set_len(0); }", ".set_len()"),
            ("fn f(x: &F) { x.set_permissions(y); }", ".set_permissions()"),
            ("use std::os::unix::fs::symlink;\nfn f() { symlink(a, b); }", "std::os::unix::fs::symlink"),
            ("use rustix::fs::renameat_with;", "rustix::fs::renameat_with"),
            ("#[cfg(test)]\nmod tests { }\nfn f() { std::fs::copy(a, b); }", "std::fs::copy"),
            ("fn f() { all.for_each(std::fs::remove_file); }", "std::fs::remove_file"),
            ("fn f() { try_it!(std::fs::hard_link(a, b)); }", "std::fs::hard_link"),
        ],
    );
    assert_kept(
        Rules::CHANGES,
        &[
            "fn f() { std::fs::read(a); std::fs::File::open(a); std::fs::metadata(a); println!(); }",
            "#[cfg(test)]\nmod tests { fn f() { std::fs::write(a, b); } }",
            "use crate::files;\nfn f() { files::replace(a, b); }",
        ],
    );
}

#[test]
fn a_reexport_is_found() {
    assert_broken(
        Rules::REEXPORTS,
        &[
            ("pub use std::fs;", "std::fs"),
            ("pub(crate) use std::process::exit as leave;", "std::process::exit"),
            ("pub(super) use std::{env, fmt};", "std::env"),
            ("mod inner { pub use std::io::*; }", "std::io"),
        ],
    );
    assert_kept(Rules::REEXPORTS, &["use std::fs;", "pub use crate::files::Lock;", "pub use std::fmt;"]);
}
