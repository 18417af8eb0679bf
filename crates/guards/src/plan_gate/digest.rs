//! The hash of the design documents: what `shasum -a 256` prints for `echo "$(…)"`.
//!
//! The substitution trims line feeds at the end, and `echo` adds one. So line feeds at the end do not
//! change the hash, and plan files of other tools have the same hashes.

use crate::prelude::*;
use std::fmt;

use sha2::{Digest as _, Sha256};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The hash of a text in pieces.
    pub fn hash_text(pieces: &[&[u8]]) -> Self {
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
        Self::hash_pieces(&pieces)
    }

    /// The hash of a file's bytes, as `shasum -a 256 FILE` prints it.
    pub fn hash_file(bytes: &[u8]) -> Self {
        Self::hash_pieces(&[bytes])
    }

    /// Hashes a short text without `sha2`, whose detection of CPU features costs more than the hashing.
    fn hash_pieces(pieces: &[&[u8]]) -> Self {
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

    /// The first half, for a file name.
    pub fn short_hex(&self) -> String {
        hex(&self.0[..16])
    }

    pub fn equals_hex(&self, hex: &str) -> bool {
        self.to_string() == hex
    }
}

pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |half: u8| char::from(DIGITS[usize::from(half)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> String {
        Digest::hash_text(&[text.as_bytes()]).to_string()
    }

    /// The values are the real `shasum`'s; `tests/behaviour/plan_gate/hashes.rs` compares them again.
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
            assert_eq!(Digest::hash_file(text).0, short);
        }
    }

    #[test]
    fn pieces_are_one_text() {
        let pieces: [&[u8]; 4] = [b"a\n", b"", b"b\n\n", b"\n"];
        assert_eq!(Digest::hash_text(&pieces), Digest::hash_text(&[b"a\nb"]));
    }
}
