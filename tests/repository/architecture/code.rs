//! The names that Rust code uses: every path with its imports and aliases resolved, every macro, every method call.
//!
//! The code is parsed, so that no spelling hides a name: `use std::fs as disk`, `type Disk = fs::File`, a glob, a
//! function-local import, the inside of a macro. Items that are compiled for tests only are left out.

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, Spacing, Span, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, Item, Token, UseTree, Visibility};

use super::items::{attributes, defined, is_for_tests};

/// One use of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    pub line: usize,
    pub kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// With what `use` and `type` say about its first part, as in `std::fs::write`.
    Path(String),
    /// Like a path, but others can import it from here under another name.
    Reexport(String),
    /// Without the exclamation mark.
    Macro(String),
    /// A method that is called, and with how many arguments.
    Method(String, usize),
    /// `#[path = "…"]` or `include!`: code in another file.
    Elsewhere,
}

/// A module in a file of its own.
#[derive(Debug, PartialEq, Eq)]
pub struct Submodule {
    /// The modules around it in this file, and its own name.
    pub path: Vec<String>,
    pub only_for_tests: bool,
}

#[derive(Default)]
pub struct Code {
    pub names: Vec<Name>,
    pub submodules: Vec<Submodule>,
}

impl Code {
    /// `module` is the path of the file's module in the crate.
    pub fn read(text: &str, module: &[String]) -> syn::Result<Self> {
        let file = syn::parse_file(text)?;
        let mut aliases = Aliases { modules: module.to_vec(), ..Aliases::default() };
        aliases.visit_file(&file);
        let Aliases { mut meanings, has_glob, .. } = aliases;
        if has_glob {
            for (name, path) in UNDER_A_GLOB {
                meanings.entry((*name).to_owned()).or_insert_with(|| vec![(*path).to_owned()]);
            }
        }
        let mut reader =
            Reader { meanings, depth: module.len(), modules: module.to_vec(), code: Self::default() };
        reader.visit_file(&file);
        Ok(reader.code)
    }
}

impl Code {
    /// The modules at the root of its own crate that it names.
    pub fn uses_of_crate(&self) -> impl Iterator<Item = String> {
        self.names.iter().filter_map(|name| match &name.kind {
            Kind::Path(path) | Kind::Reexport(path) => {
                Some(path.strip_prefix("crate::")?.split("::").next()?.to_owned())
            }
            _ => None,
        })
    }
}

/// Names that a glob may import, unless the file defines them.
const UNDER_A_GLOB: &[(&str, &str)] = &[
    ("fs", "std::fs"),
    ("env", "std::env"),
    ("io", "std::io"),
    ("process", "std::process"),
    ("File", "std::fs::File"),
    ("OpenOptions", "std::fs::OpenOptions"),
    ("Command", "std::process::Command"),
];

/// The aliases of `use`, `type` and `extern crate`, anywhere in the file. Of two meanings of a name, both count.
#[derive(Default)]
struct Aliases {
    meanings: BTreeMap<String, Vec<String>>,
    modules: Vec<String>,
    has_glob: bool,
}

impl Aliases {
    fn add(&mut self, name: &str, path: &str) {
        let path = absolute(path, &self.modules);
        if name != path && name != "_" {
            self.meanings.entry(name.to_owned()).or_default().push(path);
        }
    }
}

/// A path from the root of the crate, if it begins with `self` or `super`.
fn absolute(path: &str, modules: &[String]) -> String {
    let mut parts: Vec<&str> = path.trim_start_matches("::").split("::").collect();
    let mut around = modules.len();
    if !matches!(parts[0], "self" | "super") {
        return parts.join("::");
    }
    while let Some(first @ ("self" | "super")) = parts.first().copied() {
        around = around.saturating_sub(usize::from(first == "super"));
        parts.remove(0);
    }
    let around = modules[..around].iter().map(String::as_str);
    ["crate"].into_iter().chain(around).chain(parts).collect::<Vec<_>>().join("::")
}

impl<'ast> Visit<'ast> for Aliases {
    fn visit_item(&mut self, item: &'ast Item) {
        if is_for_tests(attributes(item)) {
            return;
        }
        if let Some(name) = defined(item) {
            self.meanings.entry(name).or_default();
        }
        if let Item::Mod(module) = item {
            self.modules.push(module.ident.to_string());
            visit::visit_item(self, item);
            self.modules.pop();
        } else {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        for (path, name) in imports(&item.tree) {
            match name {
                Some(name) => self.add(&name, &path),
                None => self.has_glob = true,
            }
        }
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        if let syn::Type::Path(path) = &*item.ty {
            self.add(&item.ident.to_string(), &spelled(&path.path));
        }
    }

    fn visit_item_extern_crate(&mut self, item: &'ast syn::ItemExternCrate) {
        if let Some((_, name)) = &item.rename {
            self.add(&name.to_string(), &item.ident.to_string());
        }
    }
}

struct Reader {
    meanings: BTreeMap<String, Vec<String>>,
    /// How many modules there are around the file.
    depth: usize,
    modules: Vec<String>,
    code: Code,
}

impl Reader {
    fn note(&mut self, span: Span, kind: Kind) {
        let line = span.start().line;
        self.code.names.push(Name { line, kind });
    }

    fn note_path(&mut self, span: Span, path: &str) {
        for path in self.resolved(path, 0) {
            self.note(span, Kind::Path(path));
        }
    }

    /// A path with its first part replaced by what that stands for, as often as needed.
    fn resolved(&self, path: &str, depth: usize) -> Vec<String> {
        const DEEPEST: usize = 8;
        let path = absolute(&path.replace("r#", ""), &self.modules);
        let (first, rest) = path.split_once("::").map_or((path.as_str(), None), |(a, b)| (a, Some(b)));
        let known = self.meanings.get(first).filter(|meanings| depth < DEEPEST && !meanings.is_empty());
        let Some(meanings) = known else { return vec![path] };
        let whole = |meaning: &String| rest.map_or(meaning.clone(), |rest| format!("{meaning}::{rest}"));
        meanings.iter().map(whole).flat_map(|path| self.resolved(&path, depth + 1)).collect()
    }

    fn note_macro(&mut self, path: &syn::Path, tokens: &TokenStream) {
        let span = path.span();
        for path in self.resolved(&spelled(path), 0) {
            let name = path.rsplit("::").next().unwrap_or_default().to_owned();
            if name == "include" {
                self.note(span, Kind::Elsewhere);
            }
            self.note(span, Kind::Macro(name));
        }
        self.scan(tokens.clone());
    }

    /// Names in tokens that need not be an expression.
    fn scan(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Group(group) => self.scan(group.stream()),
                TokenTree::Ident(first) => {
                    let (mut path, mut end) = (first.to_string(), at + 1);
                    while is_colons(&tokens[end..])
                        && let Some(TokenTree::Ident(next)) = tokens.get(end + 2)
                    {
                        path += &format!("::{next}");
                        end += 3;
                    }
                    let is_mark = |sign: char, token: Option<&TokenTree>| matches!(token, Some(TokenTree::Punct(mark)) if mark.as_char() == sign);
                    let arguments = match tokens.get(end) {
                        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => {
                            Some(count(group.stream()))
                        }
                        _ => None,
                    };
                    let span = first.span();
                    if is_mark('!', tokens.get(end))
                        && matches!(tokens.get(end + 1), Some(TokenTree::Group(_)))
                    {
                        if let Ok(path) = syn::parse_str::<syn::Path>(&path) {
                            self.note_macro(&path, &TokenStream::new());
                        }
                    } else if let (true, Some(arguments)) =
                        (at > 0 && is_mark('.', tokens.get(at - 1)), arguments)
                    {
                        self.note(span, Kind::Method(path, arguments));
                    } else {
                        self.note_path(span, &path);
                    }
                    at = end;
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast Item) {
        if let Item::Mod(module) = item {
            self.modules.push(module.ident.to_string());
            if module.content.is_none() {
                let only_for_tests = is_for_tests(&module.attrs);
                self.code
                    .submodules
                    .push(Submodule { path: self.modules[self.depth..].to_vec(), only_for_tests });
            }
        }
        if !is_for_tests(attributes(item)) {
            if let Item::Macro(item) = item {
                self.note_macro(&item.mac.path, &item.mac.tokens);
            }
            visit::visit_item(self, item);
        }
        if matches!(item, Item::Mod(_)) {
            self.modules.pop();
        }
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if attribute.path().is_ident("path") {
            self.note(attribute.span(), Kind::Elsewhere);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_for_tests(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_stmt(&mut self, statement: &'ast syn::Stmt) {
        let attributes = match statement {
            syn::Stmt::Local(local) => &local.attrs[..],
            syn::Stmt::Macro(call) => &call.attrs[..],
            syn::Stmt::Item(_) | syn::Stmt::Expr(..) => &[],
        };
        if !is_for_tests(attributes) {
            visit::visit_stmt(self, statement);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        for (path, _) in imports(&item.tree) {
            if !matches!(item.vis, Visibility::Inherited) {
                self.note(item.span(), Kind::Reexport(path.clone()));
            }
            self.note_path(item.span(), &path);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.note_path(path.span(), &spelled(path));
        visit::visit_path(self, path);
    }

    /// `<fs::File>::create` is `fs::File::create`.
    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        if let Some(own) = &path.qself
            && let syn::Type::Path(own) = &*own.ty
        {
            self.note_path(path.span(), &format!("{}::{}", spelled(&own.path), spelled(&path.path)));
        }
        visit::visit_expr_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.note_macro(&call.path, &call.tokens);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        self.note(call.method.span(), Kind::Method(call.method.to_string(), call.args.len()));
        visit::visit_expr_method_call(self, call);
    }
}

fn is_colons(tokens: &[TokenTree]) -> bool {
    matches!(tokens, [TokenTree::Punct(first), TokenTree::Punct(second), ..]
        if first.as_char() == ':' && first.spacing() == Spacing::Joint && second.as_char() == ':')
}

/// How many arguments stand between parentheses.
fn count(tokens: TokenStream) -> usize {
    use syn::parse::Parser;
    let parser = syn::punctuated::Punctuated::<Expr, Token![,]>::parse_terminated;
    parser.parse2(tokens).map_or(usize::MAX, |arguments| arguments.len())
}

fn spelled(path: &syn::Path) -> String {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect::<Vec<_>>().join("::")
}

/// Each path of a `use`, and what it is called; a glob has no name, and its path is what it opens.
fn imports(tree: &UseTree) -> Vec<(String, Option<String>)> {
    let joined = |before: &str, path: &str| {
        if path.is_empty() { before.to_owned() } else { format!("{before}::{path}") }
    };
    match tree {
        UseTree::Path(path) => {
            let before = path.ident.to_string();
            let own_name =
                |name: Option<String>| name.map(|name| if name == "self" { before.clone() } else { name });
            imports(&path.tree)
                .into_iter()
                .map(|(path, name)| (joined(&before, &path), own_name(name)))
                .collect()
        }
        UseTree::Name(name) if name.ident == "self" => vec![(String::new(), Some("self".into()))],
        UseTree::Name(name) => vec![(name.ident.to_string(), Some(name.ident.to_string()))],
        UseTree::Rename(name) if name.ident == "self" => vec![(String::new(), Some(name.rename.to_string()))],
        UseTree::Rename(name) => vec![(name.ident.to_string(), Some(name.rename.to_string()))],
        UseTree::Glob(_) => vec![(String::new(), None)],
        UseTree::Group(group) => group.items.iter().flat_map(imports).collect(),
    }
}
