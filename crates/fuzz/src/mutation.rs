//! Strange inputs out of ordinary ones, always the same for the same seed.

use fastrand::Rng;

use crate::odd_json;
use crate::targets::Target;

const LONGEST: usize = 300_000;
/// Far deeper than anybody writes.
const DEEPEST: usize = 12_000;
/// What breaks texts of any kind.
const ODD_BYTES: &[&[u8]] = &[
    b"\0",
    b"\r\n",
    b"\r",
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xa8",
    b"\x1b[2J",
    b"\n",
];

pub struct Mutator {
    seeds: Vec<Vec<u8>>,
    target: &'static Target,
    random: Rng,
}

impl Mutator {
    pub fn new(target: &'static Target, seed: u64) -> Self {
        Self { seeds: target.all_seeds(), target, random: Rng::with_seed(seed) }
    }

    pub fn next_input(&mut self) -> Vec<u8> {
        let mut bytes = self.seed().to_vec();
        for _ in 0..=self.random.u8(..6) {
            bytes = self.mutate(bytes);
        }
        bytes
    }

    /// One step away from an input; `seed` decides which one.
    pub fn step(&mut self, bytes: &[u8], seed: u64) -> Vec<u8> {
        self.random.seed(seed);
        self.mutate(bytes.to_vec())
    }

    fn seed(&mut self) -> &[u8] {
        let number = self.random.usize(..self.seeds.len());
        &self.seeds[number]
    }

    fn mutate(&mut self, bytes: Vec<u8>) -> Vec<u8> {
        let mut changed = if self.target.is_json && self.random.bool() {
            odd_json::mutated(&bytes, &mut self.random).unwrap_or(bytes)
        } else {
            self.cut_and_paste(bytes)
        };
        changed.truncate(LONGEST);
        changed
    }

    fn cut_and_paste(&mut self, bytes: Vec<u8>) -> Vec<u8> {
        let (from, to) = (self.random.usize(..=bytes.len()), self.random.usize(..=bytes.len()));
        let (from, to) = (from.min(to), from.max(to));
        match self.random.u8(..18) {
            0 => [&bytes[..from], &bytes[to..]].concat(),
            1 => [&bytes[..to], &bytes[from..]].concat(),
            2 => {
                let other = self.seed().to_vec();
                let cut = self.random.usize(..=other.len());
                [&bytes[..from], &other[cut..]].concat()
            }
            3 => {
                let separator: &[u8] = [&b"; "[..], b" | ", b"\n", b" && ", b","][self.random.usize(..5)];
                [&bytes, separator, self.seed()].concat()
            }
            4..=8 => [&bytes[..from], self.token(), &bytes[from..]].concat(),
            9 => {
                let brackets = self.target.brackets;
                let (open, close) = brackets[self.random.usize(..brackets.len())];
                let depth = if self.random.u8(..20) == 0 { self.random.usize(..DEEPEST) } else { 1 };
                let tail = if self.random.u8(..4) == 0 { 0 } else { depth };
                [open.repeat(depth).as_bytes(), &bytes[from..to], close.repeat(tail).as_bytes()].concat()
            }
            10 if self.random.u8(..10) == 0 => {
                let times = self.random.usize(..20_000).min(LONGEST / (to - from).max(1));
                [&bytes, bytes[from..to].repeat(times).as_slice()].concat()
            }
            11 if self.random.u8(..10) == 0 => {
                let times = self.random.usize(..20_000);
                [&bytes[..from], self.token().repeat(times).as_slice(), &bytes[from..]].concat()
            }
            12 => bytes.split_inclusive(|byte| *byte == b'\n').rev().collect::<Vec<_>>().concat(),
            13 => bytes.iter().map(|byte| if *byte == b' ' { b'\n' } else { *byte }).collect(),
            14 => bytes.iter().filter(|byte| !matches!(byte, b'"' | b'\'')).copied().collect(),
            15 => {
                let odd = ODD_BYTES[self.random.usize(..ODD_BYTES.len())];
                [&bytes[..from], odd, &bytes[from..]].concat()
            }
            16 if from < bytes.len() => {
                let mut flipped = bytes;
                flipped[from] ^= 1 << self.random.u8(..8);
                flipped
            }
            _ => [&bytes[from..], &bytes[..from]].concat(),
        }
    }

    fn token(&mut self) -> &'static [u8] {
        self.target.tokens[self.random.usize(..self.target.tokens.len())].as_bytes()
    }
}
