//! tree-sitter-bash: a tree of everything, substitutions included.

use tree_sitter::{Node, Parser};

use crate::Names;

/// A reader that can be used again.
pub struct Reader(Parser);

impl Default for Reader {
    fn default() -> Self {
        let mut parser = Parser::new();
        parser.set_language(&tree_sitter_bash::LANGUAGE.into()).expect("the grammar fits the library");
        Self(parser)
    }
}

impl Reader {
    /// The names, or `None` where the line has an error: what is guessed behind one says nothing.
    pub fn names(&mut self, line: &str) -> Option<Names> {
        let tree = self.0.parse(line, None)?;
        if tree.root_node().has_error() {
            return None;
        }
        let mut names = Names::new();
        let mut open = vec![tree.root_node()];
        while let Some(node) = open.pop() {
            if node.kind() == "command" {
                names.extend(node.child_by_field_name("name").and_then(|name| literal(name, line)));
            }
            open.extend((0..node.child_count()).filter_map(|number| node.child(number)));
        }
        Some(names)
    }
}

/// The text of a name that is spelled without any quoting.
fn literal(name: Node, line: &str) -> Option<String> {
    let word = name.named_child(0).filter(|word| word.kind() == "word")?;
    let text = line.get(word.byte_range())?;
    text.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c)).then(|| text.to_owned())
}
