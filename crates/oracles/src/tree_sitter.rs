//! tree-sitter-bash: a syntax tree of a whole line, with its substitutions.

use ::tree_sitter::{Node, Parser};

use crate::CommandNames;

/// Finds commands, in one line after another.
pub struct CommandFinder(Parser);

impl Default for CommandFinder {
    fn default() -> Self {
        let mut parser = Parser::new();
        parser.set_language(&tree_sitter_bash::LANGUAGE.into()).expect("the grammar fits the library");
        Self(parser)
    }
}

impl CommandFinder {
    /// The names, or `None` if the line has an error, because the rest of the tree is a guess then.
    pub fn find_names(&mut self, line: &str) -> Option<CommandNames> {
        let tree = self.0.parse(line, None)?;
        if tree.root_node().has_error() {
            return None;
        }
        let mut names = CommandNames::new();
        let mut open = vec![tree.root_node()];
        while let Some(node) = open.pop() {
            if node.kind() == "command" {
                names.extend(node.child_by_field_name("name").and_then(|name| literal_name(name, line)));
            }
            open.extend((0..node.child_count()).filter_map(|number| node.child(number)));
        }
        Some(names)
    }
}

/// The text of a name without quotes.
fn literal_name(name: Node, line: &str) -> Option<String> {
    let word = name.named_child(0).filter(|word| word.kind() == "word")?;
    let text = line.get(word.byte_range())?;
    text.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c)).then(|| text.to_owned())
}
