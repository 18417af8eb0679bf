//! Patterns of file names.

/// Whether a name fits a pattern of the shell. Brackets fit any one character: more is held back, not less.
pub fn is_like(pattern: &str, name: &str) -> bool {
    if !pattern.contains(['*', '?', '[']) {
        return pattern == name;
    }
    if name.starts_with('.') && !pattern.starts_with('.') {
        return false;
    }
    let last = pattern.rfind(']').unwrap_or(0);
    let mut signs = Vec::new();
    let mut rest = pattern.char_indices();
    while let Some((at, c)) = rest.next() {
        match c {
            '*' => signs.push(None),
            '[' if at < last => {
                rest.by_ref().skip(1).find(|(_, c)| *c == ']');
                signs.push(Some('?'));
            }
            c => signs.push(Some(c)),
        }
    }
    // Which of the signs may come next, for all names at once: no pattern is slow.
    let mut next = vec![false; signs.len() + 1];
    next[0] = true;
    let skip_stars = |next: &mut Vec<bool>| {
        for at in 0..signs.len() {
            next[at + 1] |= next[at] && signs[at].is_none();
        }
    };
    skip_stars(&mut next);
    for c in name.chars() {
        let mut after = vec![false; signs.len() + 1];
        for (at, sign) in signs.iter().enumerate().filter(|(at, _)| next[*at]) {
            match sign {
                None => after[at] = true,
                Some(wanted) => after[at + 1] |= *wanted == '?' || *wanted == c,
            }
        }
        next = after;
        skip_stars(&mut next);
    }
    next[signs.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_as_in_a_shell() {
        for pattern in ["*", "prov*", "*.toml", "p?ovost.toml", "pr[ao]vost.toml", "*o*o*", "provost.toml"] {
            assert!(is_like(pattern, "provost.toml"), "{pattern}");
        }
        for pattern in ["*.json", "prov", "?", "provost.toml?", "*x*"] {
            assert!(!is_like(pattern, "provost.toml"), "{pattern}");
        }
        assert!(!is_like("*", ".hidden") && is_like(".*", ".hidden"));
        assert!(!is_like(&"[".repeat(1_000_000), "provost.toml"), "it takes no more time than it is long");
    }
}
