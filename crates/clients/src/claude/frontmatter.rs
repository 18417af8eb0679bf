//! The frontmatter of agents, skills and commands: the lines of YAML between two `---` at the start of a file.
//!
//! Its two readers have different duties. [`Frontmatter::find_value`] reads one word as Claude Code does.
//! [`Frontmatter::find_hooks`] must not miss hooks in any spelling, so it returns too much rather than too little.

/// The lines of a frontmatter, joined with `\n`.
#[derive(Default)]
pub(super) struct Frontmatter(pub(super) String);

impl Frontmatter {
    /// Reads the lines between the first `---` and the next.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.trim_start_matches(is_blank);
        let (first, rest) = text.split_once('\n').or_else(|| text.split_once('\r'))?;
        if first.trim_end_matches(is_blank) != "---" {
            return None;
        }
        let lines: Vec<&str> = rest.split(['\n', '\r']).collect();
        let end = lines.iter().position(|line| line.trim_end() == "---");
        // Claude Code may take any `---` for the end.
        let end = end.or_else(|| lines.iter().rposition(|line| line.contains("---")).map(|last| last + 1))?;
        Some(Self(lines[..end].join("\n")))
    }

    /// A top-level value, in every form that YAML has for one word.
    pub(super) fn find_value(&self, key: &str) -> Option<String> {
        let is_flow = self.0.trim_start().starts_with('{');
        let separators: &[char] = if is_flow { &['\n', ',', '{', '}'] } else { &['\n'] };
        let is_content = |part: &&str| !part.trim().is_empty() && !part.trim_start().starts_with('#');
        let mut parts = self.0.split(separators).filter(is_content).peekable();
        let indent = |part: &str| part.len() - part.trim_start().len();
        let outer = parts.peek().map_or(0, |first| indent(first));
        while let Some(part) = parts.next() {
            if !is_flow && indent(part) > outer {
                continue;
            }
            let own = part.trim();
            // `? key` has its value on the next line.
            let (name, value) = match own.strip_prefix('?') {
                Some(name) => (name, parts.next().unwrap_or_default().trim().trim_start_matches(':')),
                None => own.split_once(':').unwrap_or_default(),
            };
            if unquote(name.trim()) == key {
                let value = value.trim();
                let is_below = value.is_empty() || value.starts_with(['>', '|', '#']);
                let value = if is_below { parts.next().unwrap_or_default().trim() } else { value };
                return Some(self.resolve_alias(value));
            }
        }
        None
    }

    /// The value of an alias, or the value itself.
    fn resolve_alias(&self, value: &str) -> String {
        let anchor = value.strip_prefix('*').map(|name| format!("&{} ", name.trim()));
        let named = anchor.and_then(|anchor| self.0.split_once(&anchor)?.1.lines().next());
        unquote(named.map_or(value, str::trim))
    }

    /// The key `hooks` with its value, or the whole frontmatter if other lines may define it.
    pub(super) fn find_hooks(&self) -> Option<String> {
        let lines: Vec<&str> = self.0.split('\n').collect();
        let indent = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
        let is_content = |line: &&&str| !line.trim().is_empty() && !line.trim_start().starts_with(['#', '%']);
        let all = || self.0.clone();
        let first = lines.iter().find(is_content)?;
        // One mapping in braces, or one behind a tag or an anchor.
        if first.trim_start().starts_with(['{', '!', '&', '?', '-']) {
            return self.0.contains("hooks").then(all);
        }
        let outer = indent(first);
        let mut found = None;
        for (at, line) in
            lines.iter().enumerate().filter(|(_, line)| is_content(line) && indent(line) <= outer)
        {
            // The key may span several lines, or be defined elsewhere.
            let may_be_hooks = || self.0.contains("hooks") || self.0.contains('\\');
            if line.trim_start().starts_with(['?', '*']) && may_be_hooks() {
                return Some(all());
            }
            let Some(key) = parse_key(line.trim_start()) else { continue };
            if key == "<<" && self.0.contains("hooks") {
                return Some(all());
            }
            if key == "hooks" {
                let below = lines[at + 1..].iter();
                let below = below
                    .take_while(|line| line.trim().is_empty() || indent(line) > outer || !is_content(line));
                let value = std::iter::once(line).chain(below).copied().collect::<Vec<_>>().join("\n");
                // An alias is defined elsewhere, and brackets may close anywhere.
                let count = |signs: [char; 2]| value.matches(signs).count();
                if value.contains('*') && self.0.contains('&') || count(['{', '[']) != count(['}', ']']) {
                    return Some(all());
                }
                // If the key occurs twice, either may count.
                found = Some(found.map_or(value.clone(), |earlier: String| earlier + "\n" + &value));
            }
        }
        found
    }
}

/// Whether Claude Code treats a character as white space.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

/// The key of a line of YAML: plain, in quotes, behind `?`, a tag or an anchor.
fn parse_key(line: &str) -> Option<String> {
    let line = line.strip_prefix('?').unwrap_or(line).trim_start();
    if line.starts_with(['!', '&']) {
        return parse_key(line.split_once([' ', '\t'])?.1.trim_start());
    }
    match line.chars().next()? {
        // An escaped key can be any name, so it counts as `hooks`.
        '"' => {
            let (name, _) = line[1..].split_once('"')?;
            Some(if name.contains('\\') { "hooks".to_owned() } else { name.to_owned() })
        }
        '\'' => Some(line[1..].split_once('\'')?.0.to_owned()),
        _ => Some(line.split([':', ' ', '\t']).next()?.to_owned()),
    }
}

/// A scalar without quotes, comment, tag and anchor.
fn unquote(text: &str) -> String {
    let mut text = text;
    while text.starts_with(['!', '&']) {
        text = text.split_once(char::is_whitespace).map_or("", |(_, rest)| rest).trim_start();
    }
    if let Some(rest) = text.strip_prefix('\'') {
        return rest.split('\'').next().unwrap_or_default().to_owned();
    }
    if let Some(end) = text.strip_prefix('"').and_then(|rest| rest.find('"')) {
        // Apart from `\x`, JSON has all escapes of YAML that a name may need.
        let quoted = &text[..end + 2].replace("\\x", "\\u00");
        return serde_json::from_str(quoted).unwrap_or_else(|_| quoted.trim_matches('"').to_owned());
    }
    text.split(" #").next().unwrap_or_default().trim().to_owned()
}
