//! Patterns of file names.

/// Whether a name matches a shell pattern. Brackets match any one character, so that a guard denies more, not less.
pub fn matches_glob(pattern: &str, name: &str) -> bool {
    if !pattern.contains(['*', '?', '[']) {
        return pattern == name;
    }
    if name.starts_with('.') && !pattern.starts_with('.') {
        return false;
    }
    let last_bracket = pattern.rfind(']').unwrap_or(0);
    let mut signs = Vec::new();
    let mut rest = pattern.char_indices();
    while let Some((at, c)) = rest.next() {
        if c == '[' && at < last_bracket {
            rest.by_ref().skip(1).find(|(_, c)| *c == ']');
            signs.push('?');
        } else {
            signs.push(c);
        }
    }
    matches_with_stars(&signs, name.chars(), |sign| *sign == '*', |sign, c| *sign == '?' || *sign == c)
}

/// Whether a sequence matches a pattern in which a star stands for any number of items. The time is bounded by the
/// product of both lengths.
pub(crate) fn matches_with_stars<P, T: Copy>(
    pattern: &[P],
    items: impl Iterator<Item = T>,
    is_star: impl Fn(&P) -> bool,
    matches_one: impl Fn(&P, T) -> bool,
) -> bool {
    // `reachable[n]`: the first `n` parts of the pattern match the items so far.
    let mut reachable = vec![false; pattern.len() + 1];
    reachable[0] = true;
    let skip_stars = |reachable: &mut Vec<bool>| {
        for at in 0..pattern.len() {
            reachable[at + 1] |= reachable[at] && is_star(&pattern[at]);
        }
    };
    skip_stars(&mut reachable);
    for item in items {
        let mut next = vec![false; pattern.len() + 1];
        for (at, part) in pattern.iter().enumerate().filter(|(at, _)| reachable[*at]) {
            if is_star(part) {
                next[at] = true;
            } else {
                next[at + 1] |= matches_one(part, item);
            }
        }
        reachable = next;
        skip_stars(&mut reachable);
    }
    reachable[pattern.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_a_shell() {
        for pattern in ["*", "prov*", "*.toml", "p?ovost.toml", "pr[ao]vost.toml", "*o*o*", "provost.toml"] {
            assert!(matches_glob(pattern, "provost.toml"), "{pattern}");
        }
        for pattern in ["*.json", "prov", "?", "provost.toml?", "*x*"] {
            assert!(!matches_glob(pattern, "provost.toml"), "{pattern}");
        }
        assert!(!matches_glob("*", ".hidden") && matches_glob(".*", ".hidden"));
        assert!(!matches_glob(&"[".repeat(1_000_000), "provost.toml"), "the time grows with the length only");
    }
}
