//! Searches bytes in a text, cheaply in short texts and fast in long ones.
//!
//! `memchr` first detects the processor's features. On a virtual machine, that alone costs more than a plain search of a
//! short text.

use memchr::memmem;

/// The longest text that is searched without `memchr`.
const SHORT: usize = 16 << 10;

/// The first position of a byte.
pub fn find_byte(text: &[u8], byte: u8) -> Option<usize> {
    if text.len() <= SHORT {
        text.iter().position(|found| *found == byte)
    } else {
        memchr::memchr(byte, text)
    }
}

/// The last position of a byte.
pub fn find_last_byte(text: &[u8], byte: u8) -> Option<usize> {
    if text.len() <= SHORT {
        text.iter().rposition(|found| *found == byte)
    } else {
        memchr::memrchr(byte, text)
    }
}

/// All positions of either of two bytes, in order.
pub fn find_either(text: &[u8], bytes: (u8, u8)) -> Box<dyn Iterator<Item = usize> + '_> {
    if text.len() > SHORT {
        return Box::new(memchr::memchr2_iter(bytes.0, bytes.1, text));
    }
    let places = text.iter().enumerate().filter(move |(_, found)| **found == bytes.0 || **found == bytes.1);
    Box::new(places.map(|(at, _)| at))
}

/// The first position of a part.
pub fn find_part(text: &[u8], part: &[u8]) -> Option<usize> {
    find_parts(text, part).next()
}

/// All positions of a part, in order, without overlaps.
pub fn find_parts<'t>(text: &'t [u8], part: &'t [u8]) -> Box<dyn Iterator<Item = usize> + 't> {
    if text.len() > SHORT {
        return Box::new(memmem::find_iter(text, part));
    }
    let mut from = 0;
    Box::new(std::iter::from_fn(move || {
        let at = from + find_plain(text.get(from..)?, part)?;
        from = at + part.len().max(1);
        Some(at)
    }))
}

fn find_plain(text: &[u8], part: &[u8]) -> Option<usize> {
    let Some(first) = part.first() else { return Some(0) };
    let ends = text.len().checked_sub(part.len())? + 1;
    let mut from = 0;
    loop {
        let at = from + text[from..ends].iter().position(|found| found == first)?;
        if text[at..].starts_with(part) {
            return Some(at);
        }
        from = at + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_long_texts_are_searched_alike() {
        let mut seed = 3_u32;
        for length in 0..400 {
            let mut next = || {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                b"ab`~"[usize::try_from(seed >> 30).unwrap()]
            };
            let text: Vec<u8> = (0..length).map(|_| next()).collect();
            for wanted in [&b"a"[..], b"ab", b"aba", b"```", b"~~", b"abab`"] {
                let found: Vec<usize> = find_parts(&text, wanted).collect();
                assert_eq!(
                    found,
                    memmem::find_iter(&text, wanted).collect::<Vec<_>>(),
                    "{wanted:?} {text:?}"
                );
                assert_eq!(find_part(&text, wanted), found.first().copied());
            }
            assert_eq!(find_byte(&text, b'`'), memchr::memchr(b'`', &text));
            assert_eq!(find_last_byte(&text, b'`'), memchr::memrchr(b'`', &text));
            let both: Vec<usize> = find_either(&text, (b'`', b'~')).collect();
            assert_eq!(both, memchr::memchr2_iter(b'`', b'~', &text).collect::<Vec<_>>());
        }
        let long = vec![b'a'; SHORT + 1];
        assert_eq!(find_parts(&long, b"aa").count(), SHORT.div_ceil(2));
        assert_eq!(find_either(&long, (b'a', b'b')).count(), SHORT + 1);
    }
}
