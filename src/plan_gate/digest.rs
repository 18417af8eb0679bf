//! The documents' hash: what `shasum -a 256` makes of `echo "$(…)"`.
//!
//! The substitution trims line feeds at the end, and `echo` adds one. So a final line feed more or
//! less is not a change, and plan files of other tools agree with ours.

use std::fmt;

use sha2::{Digest as _, Sha256};

const DIGITS: &[u8; 16] = b"0123456789abcdef";

#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Of a text in pieces.
    pub fn of(pieces: &[&[u8]]) -> Self {
        let mut pieces = pieces.to_vec();
        while let Some(last) = pieces.last_mut() {
            let trimmed = last.iter().rposition(|byte| *byte != b'\n').map_or(0, |at| at + 1);
            *last = &last[..trimmed];
            if trimmed > 0 {
                break;
            }
            pieces.pop();
        }
        pieces.push(b"\n");
        Self::exactly(&pieces)
    }

    /// Of the bytes of a file as they are (`shasum -a 256 FILE`).
    pub fn of_file(bytes: &[u8]) -> Self {
        Self::exactly(&[bytes])
    }

    /// A long text is worth the question what the processor can do; a short one is done before the
    /// answer is there.
    fn exactly(pieces: &[&[u8]]) -> Self {
        const SHORT: usize = 32 << 10;
        if pieces.iter().map(|piece| piece.len()).sum::<usize>() <= SHORT {
            let mut hash = hmac_sha256::Hash::new();
            for piece in pieces {
                hash.update(piece);
            }
            return Self(hash.finalize());
        }
        let mut hash = Sha256::new();
        for piece in pieces {
            hash.update(piece);
        }
        Self(hash.finalize().into())
    }

    /// Half of it, for the name of a file.
    pub fn short(&self) -> String {
        hex(&self.0[..16])
    }

    pub fn is(&self, hex: &str) -> bool {
        let (mut digits, bytes) = (hex.bytes(), self.0.iter());
        hex.len() == 64
            && bytes
                .flat_map(|byte| [byte >> 4, byte & 15])
                .all(|half| digits.next() == Some(DIGITS[usize::from(half)]))
    }
}

/// Bytes as digits.
pub fn hex(bytes: &[u8]) -> String {
    let half = |half: u8| char::from(DIGITS[usize::from(half)]);
    bytes.iter().flat_map(|byte| [half(byte >> 4), half(byte & 15)]).collect()
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> String {
        Digest::of(&[text.as_bytes()]).to_string()
    }

    /// The values are the real `shasum`'s; `tests/plan_gate/hashes.rs` asks it again.
    #[test]
    fn line_feeds_at_the_end_do_not_count() {
        let empty = "01ba4719c80b6fe911b091a7c05124b64eeece964e09c058ef8f9805daca546b";
        assert_eq!(hex(""), empty);
        assert_eq!(hex("\n\n\n"), empty);
        let text = "## Goals\n- Ship the feature\n\n## Implementation\n- Step 1";
        assert!(hex(text).starts_with("4b176fc2"), "{}", hex(text));
        assert_eq!(hex(text), hex(&format!("{text}\n\n")));
        assert_ne!(hex(text), hex(&format!("{text} \n")));
        assert_ne!(hex(text), hex(&format!("\n{text}")));
    }

    #[test]
    fn long_texts_are_hashed_as_short_ones() {
        for length in [0, 1, 55, 56, 63, 64, 65, 32_767, 32_768, 32_769, 100_000] {
            let text = "0123456789\n".repeat(length / 11 + 1);
            let text = &text.as_bytes()[..length];
            let (short, long) = (hmac_sha256::Hash::hash(text), Sha256::digest(text));
            assert_eq!(short, <[u8; 32]>::from(long));
            assert_eq!(Digest::of_file(text).0, short);
        }
    }

    #[test]
    fn pieces_are_one_text() {
        let pieces: [&[u8]; 4] = [b"a\n", b"", b"b\n\n", b"\n"];
        assert_eq!(Digest::of(&pieces), Digest::of(&[b"a\nb"]));
    }
}
