//! What changes between two texts, line by line, in the form of `diff -u`.

/// A line of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line<'t> {
    Kept(&'t str),
    Gone(&'t str),
    New(&'t str),
}

/// Texts beyond this many pairs of changed lines are shown as one change.
const MOST_PAIRS: usize = 4 << 20;
/// Lines around a change.
const CONTEXT: usize = 3;

/// The hunks of a unified diff, one string a line.
pub(crate) fn unified(before: &str, after: &str) -> Vec<String> {
    let lines = compared(&before.lines().collect::<Vec<_>>(), &after.lines().collect::<Vec<_>>());
    let changed: Vec<usize> = (0..lines.len()).filter(|at| !matches!(lines[*at], Line::Kept(_))).collect();
    let mut shown = Vec::new();
    let mut rest = changed.as_slice();
    while let Some(first) = rest.first() {
        // Changes whose surroundings touch are one hunk.
        let apart = |pair: &[usize]| pair[1] - pair[0] > 2 * CONTEXT + 1;
        let count = rest.windows(2).position(apart).map_or(rest.len(), |at| at + 1);
        let from = first.saturating_sub(CONTEXT);
        let until = (rest[count - 1] + CONTEXT + 1).min(lines.len());
        shown.push(heading(&lines, from, until));
        shown.extend(lines[from..until].iter().map(|line| match line {
            Line::Kept(text) => format!(" {text}"),
            Line::Gone(text) => format!("-{text}"),
            Line::New(text) => format!("+{text}"),
        }));
        rest = &rest[count..];
    }
    shown
}

fn heading(lines: &[Line<'_>], from: usize, until: usize) -> String {
    let old = |lines: &[Line<'_>]| lines.iter().filter(|line| !matches!(line, Line::New(_))).count();
    let new = |lines: &[Line<'_>]| lines.iter().filter(|line| !matches!(line, Line::Gone(_))).count();
    let (hunk, above) = (&lines[from..until], &lines[..from]);
    // A side without lines is named by the line above it.
    let place = |above: usize, count: usize| format!("{},{count}", above + usize::from(count > 0));
    format!("@@ -{} +{} @@", place(old(above), old(hunk)), place(new(above), new(hunk)))
}

/// All lines of both texts; the longest common sequence stays.
fn compared<'t>(before: &[&'t str], after: &[&'t str]) -> Vec<Line<'t>> {
    let same = |(a, b): &(&&str, &&str)| a == b;
    let head = before.iter().zip(after).take_while(same).count();
    let (old, new) = (&before[head..], &after[head..]);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(same).count();
    let (old, new) = (&old[..old.len() - tail], &new[..new.len() - tail]);
    let mut lines: Vec<Line<'t>> = before[..head].iter().map(|line| Line::Kept(line)).collect();
    if old.len().saturating_mul(new.len()) > MOST_PAIRS {
        lines.extend(old.iter().map(|line| Line::Gone(line)));
        lines.extend(new.iter().map(|line| Line::New(line)));
    } else {
        lines.extend(aligned(old, new));
    }
    lines.extend(before[before.len() - tail..].iter().map(|line| Line::Kept(line)));
    lines
}

fn aligned<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<Line<'t>> {
    // How much the rests of both texts have in common, from each pair of places on.
    let mut common = vec![vec![0_u32; new.len() + 1]; old.len() + 1];
    for at in (0..old.len()).rev() {
        for to in (0..new.len()).rev() {
            common[at][to] = if old[at] == new[to] {
                common[at + 1][to + 1] + 1
            } else {
                common[at + 1][to].max(common[at][to + 1])
            };
        }
    }
    let (mut at, mut to) = (0, 0);
    let mut lines = Vec::new();
    while at < old.len() || to < new.len() {
        if at < old.len() && to < new.len() && old[at] == new[to] {
            lines.push(Line::Kept(old[at]));
            (at, to) = (at + 1, to + 1);
        } else if at < old.len() && (to == new.len() || common[at + 1][to] >= common[at][to + 1]) {
            lines.push(Line::Gone(old[at]));
            at += 1;
        } else {
            lines.push(Line::New(new[to]));
            to += 1;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_with_what_is_around_it() {
        let before = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\n";
        let after = before.replace("d\n", "D\n").replace("m\n", "");
        let lines = unified(before, &after);
        let expected = "@@ -1,7 +1,7 @@\n a\n b\n c\n-d\n+D\n e\n f\n g\n@@ -10,4 +10,3 @@\n j\n k\n l\n-m";
        assert_eq!(lines.join("\n"), expected);
        assert!(unified(before, before).is_empty());
        assert_eq!(unified("", "x\n"), ["@@ -0,0 +1,1 @@", "+x"]);
    }

    #[test]
    fn changes_that_are_near_are_one_hunk() {
        let lines = unified("a\nb\nc\nd\n", "A\nb\nc\nD\n");
        assert_eq!(lines, ["@@ -1,4 +1,4 @@", "-a", "+A", " b", " c", "-d", "+D"]);
    }
}
