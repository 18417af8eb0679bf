//! The escapes of `$'…'`.

/// The value of the text between `$'` and `'`; `None` if it is not plain text.
pub(super) fn decode_escapes(text: &str) -> Option<String> {
    let mut value = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\\' {
            value.push(c);
            continue;
        }
        let c = rest.next()?;
        let mut number = |first: u32, radix: u32, most: usize| {
            let mut number = first;
            for _ in 0..most {
                let Some(digit) = rest.peek().and_then(|c| c.to_digit(radix)) else { break };
                number = number.wrapping_mul(radix).wrapping_add(digit);
                rest.next();
            }
            number
        };
        let number = match c {
            'a' => 7,
            'b' => 8,
            't' => 9,
            'n' => 10,
            'v' => 11,
            'f' => 12,
            'r' => 13,
            'e' | 'E' => 27,
            '\\' | '\'' | '"' | '?' => u32::from(c),
            '0'..='7' => number(c.to_digit(8)?, 8, 2),
            'x' => number(0, 16, 2),
            'u' => number(0, 16, 4),
            'U' => number(0, 16, 8),
            'c' => u32::from(rest.next()?) & 0x1f,
            other => {
                value.push('\\');
                u32::from(other)
            }
        };
        match number {
            // A text of the shell ends at the first zero.
            0 => return Some(value),
            // The byte may be a part of a character.
            128.. if matches!(c, '0'..='7' | 'x') => return None,
            _ => value.push(char::from_u32(number)?),
        }
    }
    Some(value)
}
