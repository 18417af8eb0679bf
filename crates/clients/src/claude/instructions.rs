//! Agents, skills and commands: Markdown files whose frontmatter may register hooks.
//!
//! Claude Code runs the hooks of an agent while the agent works, and those of a skill once the skill is used. So these
//! files can do what a settings file can: rewrite a checked call.

use std::path::Path;

use super::frontmatter::Frontmatter;
use provost_core::client::InstructionFiles;

pub(super) const INSTRUCTIONS: InstructionFiles = InstructionFiles {
    folders: FOLDERS,
    is_instruction_file,
    may_be_below: may_lie_below,
    find_risky_hooks: find_hooks,
    may_add_hooks,
};

/// The directories of these files, beside a settings file.
const FOLDERS: &[&str] = &["agents", "commands", "skills"];
/// Events whose hooks only the user may add.
const RESERVED: &[&str] = &["PreToolUse", "PermissionRequest", "SubagentStart"];

/// At most this many places in a text are tried as the start of a file.
const MOST_STARTS: usize = 32;

/// Whether Claude Code reads agents, skills or commands from a file of this name. Plugins may lie anywhere.
fn is_instruction_file(path: &Path) -> bool {
    let lower = |name: &std::ffi::OsStr| name.to_string_lossy().to_ascii_lowercase();
    let Some(file) = path.file_name().map(lower) else { return false };
    let mut above = path.ancestors().skip(1).filter_map(Path::file_name).map(lower);
    let is_markdown = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md"));
    file == "skill.md" || is_markdown && above.any(|folder| FOLDERS.contains(&folder.as_str()))
}

/// Whether a path, or something below it, may be one of these files.
fn may_lie_below(path: &Path) -> bool {
    let is_folder = |name: &std::ffi::OsStr| {
        FOLDERS.iter().chain(&[".claude", "plugins"]).any(|folder| name.eq_ignore_ascii_case(folder))
    };
    path.iter().any(is_folder) || is_instruction_file(path)
}

/// The text of a file's hooks, if one of them could change a checked call.
fn find_hooks(text: &str) -> Option<String> {
    let hooks = Frontmatter::parse(text)?.find_hooks()?;
    mentions_reserved(&hooks).then_some(hooks)
}

/// Whether a call with these texts could add reserved hooks to a file. Nobody knows what the call does with the texts.
fn may_add_hooks(texts: &[&str], before: Option<&str>) -> bool {
    let plain = |text: &str| text.chars().filter(|c| !matches!(c, '"' | '\'' | '\\')).collect::<String>();
    let before = before.and_then(Frontmatter::parse).unwrap_or_default();
    let (before_has_key, before_has_event) = (has_key(&before.0, &["hooks"]), has_key(&before.0, RESERVED));
    texts.iter().any(|text| {
        // The text may contain a whole file, for example in a here-document.
        if text.match_indices("---").take(MOST_STARTS).any(|(at, _)| find_hooks(&text[at..]).is_some()) {
            return true;
        }
        let text = plain(text);
        has_key(&text, &["hooks"]) && has_key(&text, RESERVED)
            || before_has_event && (before_has_key || text.contains("hooks"))
            || before_has_key && RESERVED.iter().any(|event| text.contains(event))
    })
}

/// Whether a text has one of the names as a key: with a colon behind it.
fn has_key(text: &str, names: &[&str]) -> bool {
    let is_key = |rest: &str| rest.trim_start_matches([' ', '\t', '"', '\'']).starts_with(':');
    names.iter().any(|name| text.match_indices(name).any(|(at, _)| is_key(&text[at + name.len()..])))
}

fn mentions_reserved(text: &str) -> bool {
    // In double quotes YAML has escapes for every character, and joins lines behind a backslash.
    RESERVED.iter().any(|event| text.contains(event))
        || ["\\x", "\\u", "\\U", "\\\n", "\\\r"].iter().any(|sign| text.contains(sign))
}

#[cfg(test)]
mod tests {
    use super::super::settings::reserved_because;
    use super::*;

    #[test]
    fn the_reserved_events_are_those_of_a_settings_file() {
        let hook = serde_json::json!({"type": "command", "command": "x"});
        for event in super::super::health::EVENTS.split(' ') {
            assert_eq!(reserved_because(event, &hook).is_some(), RESERVED.contains(&event), "{event}");
        }
    }

    #[test]
    fn instruction_files_are_recognised_by_directory_and_name() {
        for yes in [
            "/p/.claude/agents/a.md",
            "/h/.claude/agents/team/a.MD",
            "/p/.claude/commands/x/y.md",
            "/p/.claude/skills/x/SKILL.md",
            "/p/plugins/x/skills/y/skill.md",
            "/p/draft/SKILL.md",
        ] {
            assert!(is_instruction_file(Path::new(yes)), "{yes}");
        }
        for no in ["/p/README.md", "/p/.claude/agents/a.txt", "/p/agents.md", "/p/.claude/CLAUDE.md", "/"] {
            assert!(!is_instruction_file(Path::new(no)), "{no}");
        }
    }

    #[test]
    fn hooks_are_found_in_every_spelling() {
        let value = "\n  PreToolUse:\n    - hooks:\n        - type: command\n          command: ./x.sh\n";
        for text in [
            format!("---\nname: a\nhooks:{value}---\nbody"),
            format!("---\r\nname: a\r\nhooks:{}---\r\nbody", value.replace('\n', "\r\n")),
            format!("\u{feff}---\nhooks:{value}---\n"),
            format!("\n\n---  \nhooks :{value}---  \n"),
            format!("---\n\"hooks\":{value}---\n"),
            format!("---\n'hooks':{value}---\n"),
            format!("---\n\"h\\x6foks\":{value}---\n"),
            format!("---\n? hooks\n:{value}---\n"),
            format!("---\n!!str hooks:{value}---\n"),
            format!("---\nname: a\n&x hooks:{value}---\n"),
            format!("---\u{feff}\nhooks:{value}---\n"),
            format!("---\u{a0}\nhooks:{value}---\n"),
            format!("\u{feff}\n\u{feff}---\nhooks:{value}---\n"),
            format!("---\nx: &a hooks\n*a :{value}---\n"),
            format!("---\nname: a\n? |-\n  hooks\n:{value}---\n"),
            format!("---\nname: a\n?\n  hooks\n:{value}---\n"),
            format!("---\nname: a\n? \"ho\\\n  oks\"\n:{value}---\n"),
            "---\nhooks:\n  ? \"Pre\\\n    ToolUse\"\n  : []\n---\n".into(),
            "---\nhooks: {\nPreToolUse: []}\n---\n".into(),
            "---\nhooks: {PreToolUse: [{hooks: [{type: command, command: x}]}]}\n---\n".into(),
            "---\nhooks: {\"Pre\\x54oolUse\": []}\n---\n".into(),
            "---\n{name: a, hooks: {PreToolUse: []}}\n---\n".into(),
            "---\n  name: a\n  hooks:\n    PermissionRequest: []\n---\n".into(),
            "---\n# a comment\n\nname: a\nhooks:\n\n  # more\n  SubagentStart: []\n---\n".into(),
            "---\nx: &x\n  PreToolUse: []\nhooks: *x\n---\n".into(),
            "---\nx: &x\n  hooks:\n    PreToolUse: []\n<<: *x\n---\n".into(),
            "---\nhooks:\n  PostToolUse: []\nhooks:\n  PreToolUse: []\n---\n".into(),
            "---\nhooks:\n  PreToolUse: []\ndescription: x --- y".into(),
        ] {
            assert!(find_hooks(&text).is_some(), "{text}");
        }
    }

    #[test]
    fn a_file_without_reserved_hooks_is_left_alone() {
        for text in [
            "",
            "---",
            "---\n---\nhooks:\n  PreToolUse: x",
            "# Notes\n---\nhooks:\n  PreToolUse: x\n---\n",
            "---\nname: a\ndescription: explains hooks: PreToolUse and others\n---\n",
            "---\nname: a\ndescription: |\n  hooks:\n    PreToolUse\nmodel: x\n---\n",
            "---\nhooks:\n  PostToolUse:\n    - hooks:\n        - type: command\n          command: fmt\n---\nPreToolUse",
            "---\nhooks-guide: PreToolUse\n---\n",
            "---\nname: a\n---\nhooks:\n  PreToolUse: []\n",
        ] {
            assert_eq!(find_hooks(text), None, "{text}");
        }
    }

    #[test]
    fn a_call_that_may_add_hooks_is_recognised_by_its_words() {
        let noted = "---\nxooks:\n  PreToolUse: []\n---\n";
        for (text, before) in [
            ("cat > x <<EOF\n---\nhooks:\n  PreToolUse:\nEOF", None),
            ("printf 'ho''oks: {Pre\"\"ToolUse: []}'", None),
            ("cat > x <<'EOF'\n---\nhooks:\n  \"Pre\\u0054oolUse\": []\n---\nEOF", None),
            ("---\nx: &e PreToolUse\nhooks:\n  *e : []\n---\n", None),
            ("sed -i s/xooks/hooks/ x", Some(noted)),
            ("sed -i s/Post/PreToolUse/ x", Some("---\nhooks:\n  Post: []\n---\n")),
            ("sed -i s/a/b/ x", Some("---\nhooks:\n  PreToolUse: []\n---\n")),
        ] {
            assert!(may_add_hooks(&[text], before), "{text}");
        }
        for (text, before) in [
            ("cat > x <<EOF\n---\nname: a\n---\nhooks: how PreToolUse works\nEOF", None),
            ("echo hooks", None),
            ("sed -i s/a/b/ x", Some(noted)),
            ("sed -i s/a/b/ x", Some("---\nname: a\n---\nhooks:\n  PreToolUse: []\n")),
        ] {
            assert!(!may_add_hooks(&[text], before), "{text}");
        }
    }
}
