//! Replaces characters and markup by the plain text that a reader sees, so that no disguise hides a verdict.

use super::vocabulary::words;
use crate::prelude::*;
use std::ops::RangeInclusive;

/// Replaces look-alike letters by plain ones, and removes invisible characters, emphasis, tags and escapes. Line
/// breaks stay.
pub(super) fn normalise(text: &str) -> String {
    let mut normal = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some((decoded, length)) = read_markup(rest) {
            normal.extend(Some(to_plain_letter(decoded)).filter(|c| !is_invisible(*c)));
            rest = &rest[length..];
            continue;
        }
        rest = &rest[c.len_utf8()..];
        if matches!(c, '*' | '_' | '`' | '~' | '\\') || is_invisible(c) {
            continue;
        }
        normal.push(match c {
            '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{b}' | '\u{c}' => '\n',
            '：' | '﹕' | '∶' | 'ː' | '꞉' | '˸' | '׃' => ':',
            '＝' | '≔' | '≡' | '≈' => '=',
            '−' | '‐' | '‑' | '‒' | '―' | '－' => '-',
            c => to_plain_letter(c),
        });
    }
    normal
}

/// One character for each group of plain characters that look alike, such as `l`, `1` and `i`.
pub(super) fn merge_similar(c: char) -> char {
    match c {
        'l' | '1' => 'i',
        '0' => 'o',
        '3' => 'e',
        '4' => 'a',
        '5' => 's',
        c => c,
    }
}

/// An invisible character, for markup in whose place a reader sees nothing.
const NOTHING: char = '\u{200b}';

/// Tags, and what a reader sees in their place: nothing, a line break or the border of a cell.
const TAGS: &[(&[&str], char)] = &[
    (
        words![
            a b bdi bdo big code del em font i ins kbd mark q s samp small span strike strong sub sup tt u var wbr
        ],
        NOTHING,
    ),
    (
        words![
            blockquote br center dd details div dl dt h1 h2 h3 h4 h5 h6 hr li ol p pre summary table tbody thead tr ul
        ],
        '\n',
    ),
    (words![td th], '|'),
];

/// The tag or entity at the start of a text: what a reader sees in its place, and its length.
fn read_markup(text: &str) -> Option<(char, usize)> {
    const LONGEST: usize = 40;
    let inside = |close: char| {
        let end = text.char_indices().take(LONGEST).find(|(_, c)| *c == close || *c == '\n')?;
        (end.1 == close).then_some((&text[1..end.0], end.0 + 1))
    };
    match text.chars().next()? {
        '<' => {
            let (name, length) = inside('>')?;
            let name = name.trim_matches('/').split(' ').next().unwrap_or_default().to_ascii_lowercase();
            let (_, seen) = TAGS.iter().find(|(tags, _)| tags.contains(&name.as_str()))?;
            Some((*seen, length))
        }
        '&' => {
            let (name, length) = inside(';')?;
            Some((read_entity(name)?, length))
        }
        _ => None,
    }
}

/// The character that an entity stands for.
fn read_entity(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16),
            None => number.parse(),
        };
        return char::from_u32(code.ok()?);
    }
    match name {
        "shy" | "zwj" | "zwnj" | "lrm" | "rlm" | "ZeroWidthSpace" | "NoBreak" => Some(NOTHING),
        "colon" => Some(':'),
        "equals" => Some('='),
        "NewLine" => Some('\n'),
        _ => name.bytes().all(|byte| byte.is_ascii_alphanumeric()).then_some(' '),
    }
}

/// Whether a character is not shown: zero-width, direction, variation and combining marks.
fn is_invisible(c: char) -> bool {
    matches!(
        u32::from(c),
        0xad | 0x34f | 0x61c | 0x115f | 0x1160 | 0x17b4 | 0x17b5 | 0x3164 | 0xffa0 | 0xfeff | 0x180b..=0x180f
            | 0x200b..=0x200f
            | 0x202a..=0x202e
            | 0x2060..=0x206f
            | 0x300..=0x36f
            | 0x1ab0..=0x1aff
            | 0x1dc0..=0x1dff
            | 0x20d0..=0x20ff
            | 0xfe00..=0xfe0f
            | 0xfe20..=0xfe2f
            | 0xe0000..=0xe0fff
            | 0x0..=0x8
            | 0xe..=0x1f
            | 0x7f
    )
}

/// The plain letter that a character looks like, in its own case.
fn to_plain_letter(c: char) -> char {
    if c.is_ascii() {
        return c;
    }
    let code = u32::from(c);
    let alphabet = ALPHABETS.iter().find(|alphabet| alphabet.contains(&code));
    let plain = match alphabet {
        Some(alphabet) => char::from_u32(u32::from('a') + (code - alphabet.start()) % 26).unwrap_or(c),
        None => LOOK_ALIKES.iter().find(|(_, alike)| alike.contains(c)).map_or(c, |(plain, _)| *plain),
    };
    if c.is_uppercase() { plain.to_ascii_uppercase() } else { plain }
}

/// Code points that hold whole alphabets in order: full-width, circled, mathematical, squared.
const ALPHABETS: &[RangeInclusive<u32>] = &[
    0xff21..=0xff3a,
    0xff41..=0xff5a,
    0x24b6..=0x24cf,
    0x24d0..=0x24e9,
    0x249c..=0x24b5,
    0x1d400..=0x1d6a3,
    0x1f110..=0x1f129,
    0x1f130..=0x1f149,
    0x1f150..=0x1f169,
    0x1f170..=0x1f189,
    0x1f1e6..=0x1f1ff,
];

/// For each letter of the words that are searched, the characters that look like it.
const LOOK_ALIKES: &[(char, &str)] = &[
    ('a', "àáâãäåāăąǎȁȃạảаᴀαΑАÀÁÂÃÄÅĀĂĄⲀᎪꓮªᵃ∀ɑᴬ"),
    ('c', "çćĉċčсϲᴄСÇĆĈĊČⅭⅽⲤᏟꓚℂⅽᶜ©"),
    ('d', "ďđԁᴅⅾⅮĎĐᎠꓓᵈ∂ɗᴰ"),
    ('e', "èéêëēĕėęěеєᴇεΕЕÈÉÊËĒĔĖĘĚℰᎬꓰᵉ℮ɇ∈ᴱ"),
    ('f', "ƒḟꜰϝϜḞғҒℱꓝᶠꞘ"),
    ('i', "ìíîïĩīĭįıіɪιΙІÌÍÎÏĨĪĬĮİⅠⅰℐℑǀꓲᶦ¡ⁱᵢᴵᎥᏆ"),
    ('l', "ĺļľŀłʟⅼⅬĹĻĽĿŁℒᏞꓡˡӏӀᴸ"),
    ('n', "ñńņňɴηΝпÑŃŅŇℕꓠⁿ"),
    ('o', "òóôõöøōŏőоοᴏΟОÒÓÔÕÖØŌŎŐꓳº"),
    ('p', "рᴘρΡРÞþℙᏢꓑᵖƿᴾ"),
    ('r', "ŕŗřʀгᴦŔŖŘℛℜℝᎡꓣʳᖇᴿ"),
    ('s', "śŝşšșѕꜱЅŚŜŞŠȘᏚꓢˢ§ʂ"),
    ('t', "ţťŧțтᴛτΤТŢŤŦȚᎢꓔᵗ†ᵀ"),
    ('v', "ѵᴠνѴⅤⅴṽṿᏙꓦᵛ∨ʋⱽ"),
];
