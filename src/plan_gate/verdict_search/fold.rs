//! Makes text that looks alike alike: one alphabet, nothing invisible, no markup.

/// The text with look-alike letters as plain ones, without invisible characters, emphasis,
/// tags and escapes. Line breaks stay.
pub(super) fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some((decoded, length)) = markup(rest) {
            folded.extend(decoded.map(drawn_like).filter(|c| !is_invisible(*c)));
            rest = &rest[length..];
            continue;
        }
        rest = &rest[c.len_utf8()..];
        if matches!(c, '*' | '_' | '`' | '~' | '\\') || is_invisible(c) {
            continue;
        }
        match c {
            '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{b}' | '\u{c}' => folded.push('\n'),
            '：' | '﹕' | '∶' | 'ː' | '꞉' | '˸' | '׃' => folded.push(':'),
            '＝' | '≔' | '≡' | '≈' => folded.push('='),
            '−' | '‐' | '‑' | '‒' | '―' | '－' => folded.push('-'),
            c => folded.push(drawn_like(c)),
        }
    }
    folded
}

/// The letter that a letter or digit looks like.
pub(super) fn plain(c: char) -> char {
    match c {
        'l' | '1' => 'i',
        '0' => 'o',
        '3' => 'e',
        '4' => 'a',
        '5' => 's',
        c => c,
    }
}

/// Tags that change how a word looks, and not what it says.
const INLINE_TAGS: &[&str] = &[
    "a", "b", "bdi", "bdo", "big", "code", "del", "em", "font", "i", "ins", "kbd", "mark", "q", "s", "samp",
    "small", "span", "strike", "strong", "sub", "sup", "tt", "u", "var", "wbr",
];
/// Tags that begin a line.
const LINE_TAGS: &[&str] = &[
    "blockquote",
    "br",
    "center",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "li",
    "ol",
    "p",
    "pre",
    "summary",
    "table",
    "tbody",
    "thead",
    "tr",
    "ul",
];
const CELL_TAGS: &[&str] = &["td", "th"];

/// A tag, or a character written as an entity, at the start of a text, and how long it is.
fn markup(text: &str) -> Option<(Option<char>, usize)> {
    const LONGEST: usize = 40;
    let inside = |close: char| {
        let end = text.char_indices().take(LONGEST).find(|(_, c)| *c == close || *c == '\n')?;
        (end.1 == close).then_some((&text[1..end.0], end.0 + 1))
    };
    match text.chars().next()? {
        '<' => {
            let (name, length) = inside('>')?;
            let name = name.trim_matches('/').split(' ').next().unwrap_or_default().to_ascii_lowercase();
            let is_one_of = |tags: &[&str]| tags.contains(&name.as_str());
            let drawn = match () {
                () if is_one_of(INLINE_TAGS) => None,
                () if is_one_of(LINE_TAGS) => Some('\n'),
                () if is_one_of(CELL_TAGS) => Some('|'),
                () => return None,
            };
            Some((drawn, length))
        }
        '&' => {
            let (name, length) = inside(';')?;
            let decoded = match name.strip_prefix('#') {
                Some(number) => {
                    let hex = number.strip_prefix(['x', 'X']);
                    let code = match hex {
                        Some(hex) => u32::from_str_radix(hex, 16),
                        None => number.parse(),
                    };
                    Some(code.ok().and_then(char::from_u32)?)
                }
                None if ["shy", "zwj", "zwnj", "lrm", "rlm", "ZeroWidthSpace", "NoBreak"].contains(&name) => {
                    None
                }
                None if name == "colon" => Some(':'),
                None if name == "equals" => Some('='),
                None if name == "NewLine" => Some('\n'),
                None if name.bytes().all(|byte| byte.is_ascii_alphanumeric()) => Some(' '),
                None => return None,
            };
            Some((decoded, length))
        }
        _ => None,
    }
}

/// Characters that nobody sees: zero-width, direction, variation and combining marks.
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
fn drawn_like(c: char) -> char {
    if c.is_ascii() {
        return c;
    }
    let plain = look_alike(c);
    if c.is_uppercase() { plain.to_ascii_uppercase() } else { plain }
}

/// The plain letter that a character looks like.
fn look_alike(c: char) -> char {
    let code = u32::from(c);
    let letter = |from: u32| char::from_u32(u32::from('a') + (code - from) % 26).unwrap_or(c);
    match code {
        0xff21..=0xff3a => letter(0xff21),
        0xff41..=0xff5a => letter(0xff41),
        0x24b6..=0x24cf => letter(0x24b6),
        0x24d0..=0x24e9 => letter(0x24d0),
        0x249c..=0x24b5 => letter(0x249c),
        0x1d400..=0x1d6a3 => letter(0x1d400),
        0x1f110..=0x1f129 => letter(0x1f110),
        0x1f130..=0x1f149 => letter(0x1f130),
        0x1f150..=0x1f169 => letter(0x1f150),
        0x1f170..=0x1f189 => letter(0x1f170),
        0x1f1e6..=0x1f1ff => letter(0x1f1e6),
        _ => ALIKE.iter().find(|(_, alike)| alike.contains(c)).map_or(c, |(plain, _)| *plain),
    }
}

/// For each letter that occurs in the words that are searched, others that are drawn like it.
const ALIKE: &[(char, &str)] = &[
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
