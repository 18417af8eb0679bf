//! Every function of the core that changes the disk or starts a program asks for permission, which the past refuses.
//!
//! The unit test of the workspace calls each of these functions. This one finds those that it does not know.

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{ImplItemFn, ItemFn};

use super::items::is_for_tests;
use super::{find_sources, root};

/// What changes the disk, takes a lock or starts a program, as it is written in the core.
const CHANGES: &[&str] = &[
    "files::append_bytes(",
    "files::append_open(",
    "files::create_if_missing(",
    "files::create_once(",
    "files::keep_copy(",
    "files::lock(",
    "files::make_directory(",
    "files::make_log_file(",
    "files::make_private_directory(",
    "files::move_file(",
    "files::remove_all_unfinished(",
    "files::remove_file(",
    "files::remove_old_unfinished(",
    "files::remove_older_files(",
    "files::remove_unfinished(",
    "files::rename_file(",
    "files::replace_private(",
    "files::replace_unless_changed(",
    "files::try_lock(",
    "Command::new(",
    "run_program(",
];

/// Functions that need no permission, and why.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("keep_good_rules", "it returns at once in the past"),
    ("remove_before", "only `new_state_file` calls it"),
    ("remove_index", "only an open `PrivateGit` calls it, and `PrivateGit::open` asks"),
    ("remove_old_objects", "only an open `PrivateGit` has it, and `PrivateGit::open` asks"),
    ("take_index", "only `PrivateGit::open` calls it, after it has asked"),
    ("use_up", "only `lift_permitted_denials` calls it"),
];

/// The names and texts of the functions of a file.
struct Functions<'t> {
    text: &'t str,
    found: Vec<(String, String)>,
}

impl Functions<'_> {
    fn add(&mut self, name: &syn::Ident, body: &syn::Block) {
        let (first, last) = (body.span().start().line, body.span().end().line);
        let lines: Vec<&str> = self.text.lines().skip(first - 1).take(last + 1 - first).collect();
        self.found.push((name.to_string(), lines.join("\n")));
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_for_tests(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        self.add(&function.sig.ident, &function.block);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        self.add(&function.sig.ident, &function.block);
    }
}

#[test]
fn every_change_in_the_core_asks_for_permission() {
    let mut functions = Vec::new();
    for file in find_sources(&root().join("crates/core/src")) {
        let name = file.to_string_lossy().into_owned();
        // The function that starts a program, and tests in files of their own.
        if name.ends_with("/process.rs") || name.contains("/tests") {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        let mut own = Functions { text: &text, found: Vec::new() };
        own.visit_file(&syn::parse_file(&text).unwrap());
        functions.extend(own.found);
    }
    let changing = functions.iter().filter(|(_, body)| CHANGES.iter().any(|change| body.contains(change)));
    let changing: Vec<&(String, String)> = changing.collect();
    assert!(changing.len() > 20, "{}", changing.len());
    let is_exception = |name: &str| EXCEPTIONS.iter().any(|(known, _)| *known == name);
    let missing =
        changing.iter().filter(|(name, body)| !body.contains("permit_change") && !is_exception(name));
    let missing: Vec<&str> = missing.map(|(name, _)| name.as_str()).collect();
    assert!(missing.is_empty(), "these change something without permission: {missing:?}");
    for (name, _) in EXCEPTIONS {
        assert!(changing.iter().any(|(known, _)| known == name), "no exception without need: {name}");
    }
}
