//! The values at the head of a Markdown file: YAML between two lines `---`, or lines such as `Status: done`.

/// The text without its front matter, and the lines of the front matter.
pub(super) fn split_front_matter(text: &str) -> (&str, &str) {
    let is_mark = |line: &str| line.trim_end() == "---";
    let mut lines = text.split_inclusive('\n');
    if !lines.next().is_some_and(is_mark) {
        return (text, "");
    }
    let start = text.find('\n').map_or(text.len(), |at| at + 1);
    let mut end = start;
    for line in lines {
        if is_mark(line) {
            return (&text[end + line.len()..], &text[start..end]);
        }
        end += line.len();
    }
    // Without an end, it is no front matter.
    (text, "")
}

/// A value of the front matter, or of a line `Key: value` in front of the first section.
pub fn find_head_value(text: &str, key: &str) -> Option<String> {
    let (body, front) = split_front_matter(text);
    let head = body.lines().take_while(|line| !line.starts_with("## "));
    front.lines().chain(head).find_map(|line| {
        let (name, value) = line.split_once(':')?;
        let is_key = name.trim().trim_matches('*').eq_ignore_ascii_case(key);
        // A comment may follow the value.
        let value = value.split(" #").next().unwrap_or_default();
        is_key.then(|| value.trim().trim_matches(['\'', '"', '*']).trim().to_owned())
    })
}

/// Whether a line at the head of a file is about the file, and not about what it asks for.
pub(super) fn is_metadata_line(line: &str) -> bool {
    const KEYS: &[&str] = &[
        "status",
        "created",
        "updated",
        "last updated",
        "date",
        "version",
        "phase",
        "created_at",
        "updated_at",
    ];
    const LONGEST_VALUE: usize = 40;
    let Some((name, value)) = line.split_once(':') else { return false };
    let name = name.trim().trim_start_matches(['-', '*', ' ']).trim_matches('*');
    value.trim().chars().count() <= LONGEST_VALUE && KEYS.iter().any(|key| name.eq_ignore_ascii_case(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_from_both_forms() {
        let spec = "---\ntitle: 'x'\nstatus: 'ready-for-dev' # draft | done\nroute: ''\n---\n\n# x\n";
        assert_eq!(find_head_value(spec, "status").as_deref(), Some("ready-for-dev"));
        assert_eq!(find_head_value(spec, "route").as_deref(), Some(""));
        assert_eq!(find_head_value("# Story\n\nStatus: done\r\n\n## A\n", "status").as_deref(), Some("done"));
        assert_eq!(find_head_value("# Story\n\n## A\nStatus: done\n", "status"), None);
        assert_eq!(find_head_value("---\nstatus: x\n", "status").as_deref(), Some("x"));
    }

    #[test]
    fn front_matter_without_an_end_is_text() {
        assert_eq!(split_front_matter("---\na: b\n"), ("---\na: b\n", ""));
        assert_eq!(split_front_matter("---\r\na: b\r\n---\r\nc"), ("c", "a: b\r\n"));
        assert_eq!(split_front_matter("a"), ("a", ""));
    }

    #[test]
    fn only_short_values_of_known_keys_are_metadata() {
        assert!(is_metadata_line("**Status**: Draft") && is_metadata_line("Status: done"));
        assert!(!is_metadata_line("Status of the order: shown") && !is_metadata_line("Input: x"));
        assert!(!is_metadata_line(&format!("Status: {}", "long ".repeat(20))));
    }
}
