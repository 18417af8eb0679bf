//! Decompresses zlib streams, which is how git stores its objects.
//!
//! It reads small objects such as commits, so it is written for size and not for speed. It ignores the checksum: a
//! damaged object gives `None` or text that is not a commit.

/// The bits of a stream, the lowest bit of each byte first.
struct BitReader<'a> {
    input: &'a [u8],
    at: usize,
    buffer: u32,
    count: u32,
}

impl BitReader<'_> {
    fn take(&mut self, bits: u32) -> Option<u32> {
        while self.count < bits {
            self.buffer |= u32::from(*self.input.get(self.at)?) << self.count;
            self.at += 1;
            self.count += 8;
        }
        let value = self.buffer & ((1 << bits) - 1);
        self.buffer >>= bits;
        self.count -= bits;
        Some(value)
    }

    fn take_size(&mut self, bits: u32) -> Option<usize> {
        self.take(bits).map(|value| value as usize)
    }
}

/// A Huffman code: how many codes each length has, and the symbols in the order of their codes.
struct HuffmanCode {
    counts: [usize; 16],
    symbols: Vec<usize>,
}

impl HuffmanCode {
    fn new(lengths: &[usize]) -> Self {
        let mut counts = [0; 16];
        for &length in lengths {
            counts[length] += 1;
        }
        let mut symbols: Vec<usize> = (0..lengths.len()).filter(|&symbol| lengths[symbol] > 0).collect();
        symbols.sort_by_key(|&symbol| lengths[symbol]);
        counts[0] = 0;
        Self { counts, symbols }
    }

    fn decode(&self, bits: &mut BitReader<'_>) -> Option<usize> {
        let (mut code, mut first, mut index) = (0, 0, 0);
        for count in &self.counts[1..] {
            code |= bits.take_size(1)?;
            if code < first + count {
                return self.symbols.get(index + code - first).copied();
            }
            index += count;
            first = (first + count) << 1;
            code <<= 1;
        }
        None
    }
}

const LENGTH_BASES: [usize; 29] = [
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195,
    227, 258,
];
const LENGTH_BITS: [u32; 29] =
    [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const DISTANCE_BASES: [usize; 30] = [
    1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073,
    4097, 6145, 8193, 12289, 16385, 24577,
];
/// The order in which a block gives the lengths of the codes for lengths.
const LENGTH_ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// The content of a zlib stream of at most `limit` bytes. What follows the stream is ignored.
pub(super) fn inflate(input: &[u8], limit: usize) -> Option<Vec<u8>> {
    let [method, flags, ..] = *input else { return None };
    if method & 15 != 8 || flags & 32 != 0 {
        return None;
    }
    let mut bits = BitReader { input, at: 2, buffer: 0, count: 0 };
    let mut output = Vec::new();
    loop {
        let is_last = bits.take(1)? == 1;
        match bits.take(2)? {
            0 => copy_stored(&mut bits, &mut output)?,
            1 => {
                let lengths: Vec<usize> = (0..288)
                    .map(|symbol| match symbol {
                        0..144 | 280.. => 8,
                        144..256 => 9,
                        _ => 7,
                    })
                    .collect();
                let codes = (HuffmanCode::new(&lengths), HuffmanCode::new(&[5; 30]));
                decode_block(&mut bits, &codes, &mut output, limit)?;
            }
            2 => {
                let codes = read_codes(&mut bits)?;
                decode_block(&mut bits, &codes, &mut output, limit)?;
            }
            _ => return None,
        }
        if output.len() > limit {
            return None;
        }
        if is_last {
            return Some(output);
        }
    }
}

fn copy_stored(bits: &mut BitReader<'_>, output: &mut Vec<u8>) -> Option<()> {
    // A stored block starts at a whole byte.
    bits.buffer = 0;
    bits.count = 0;
    let length = usize::from(u16::from_le_bytes(bits.input.get(bits.at..bits.at + 2)?.try_into().ok()?));
    let start = bits.at + 4;
    output.extend_from_slice(bits.input.get(start..start + length)?);
    bits.at = start + length;
    Some(())
}

fn read_codes(bits: &mut BitReader<'_>) -> Option<(HuffmanCode, HuffmanCode)> {
    let literals = bits.take_size(5)? + 257;
    let distances = bits.take_size(5)? + 1;
    let given = bits.take_size(4)? + 4;
    let mut lengths = [0; 19];
    for &at in LENGTH_ORDER.iter().take(given) {
        lengths[at] = bits.take_size(3)?;
    }
    let code = HuffmanCode::new(&lengths);
    let mut lengths: Vec<usize> = Vec::with_capacity(literals + distances);
    while lengths.len() < literals + distances {
        let (length, times) = match code.decode(bits)? {
            16 => (*lengths.last()?, 3 + bits.take_size(2)?),
            17 => (0, 3 + bits.take_size(3)?),
            18 => (0, 11 + bits.take_size(7)?),
            length => (length, 1),
        };
        lengths.extend(std::iter::repeat_n(length, times));
    }
    let (literal, distance) = lengths.split_at_checked(literals)?;
    Some((HuffmanCode::new(literal), HuffmanCode::new(distance.get(..distances)?)))
}

fn decode_block(
    bits: &mut BitReader<'_>,
    (literals, distances): &(HuffmanCode, HuffmanCode),
    output: &mut Vec<u8>,
    limit: usize,
) -> Option<()> {
    loop {
        match literals.decode(bits)? {
            256 => return Some(()),
            _ if output.len() > limit => return None,
            symbol if symbol < 256 => output.push(u8::try_from(symbol).ok()?),
            symbol => {
                let symbol = symbol - 257;
                let length = LENGTH_BASES.get(symbol)? + bits.take_size(LENGTH_BITS[symbol])?;
                let symbol = distances.decode(bits)?;
                let more = u32::try_from(symbol / 2).ok()?.saturating_sub(1);
                let distance = DISTANCE_BASES.get(symbol)? + bits.take_size(more)?;
                let start = output.len().checked_sub(distance)?;
                for at in start..start + length {
                    output.push(output[at]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_block_is_read() {
        // `zlib.compress(b"hello hello hello\n", 9)`: fixed codes and a copy.
        let fixed = b"\x78\xda\xcb\x48\xcd\xc9\xc9\x57\xc8\x40\x90\x5c\x00\x40\xb5\x06\x87";
        assert_eq!(inflate(fixed, 100).as_deref(), Some(&b"hello hello hello\n"[..]));
        // `zlib.compress(b"abc", 0)`: stored.
        let stored = b"\x78\x01\x01\x03\x00\xfc\xff\x61\x62\x63\x02\x4d\x01\x27";
        assert_eq!(inflate(stored, 100).as_deref(), Some(&b"abc"[..]));
    }

    #[test]
    fn damaged_and_large_streams_are_refused() {
        let fixed = b"\x78\xda\xcb\x48\xcd\xc9\xc9\x57\xc8\x40\x90\x5c\x00\x40\xb5\x06\x87";
        assert_eq!(inflate(fixed, 5), None);
        for end in 0..12 {
            assert_eq!(inflate(&fixed[..end], 100), None, "{end}");
        }
        assert_eq!(inflate(b"\x78\x9c\xff\xff\xff\xff\xff\xff", 100), None);
    }
}
