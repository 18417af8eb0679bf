//! Strange command lines out of ordinary ones.

use fastrand::Rng;

/// What a parser has to look at twice.
const TOKENS: &[&str] = &[
    "$(",
    ")",
    "`",
    "\"",
    "'",
    "$'",
    "${",
    "}",
    "((",
    "))",
    "$((",
    "<(",
    ">(",
    "<<EOF\n",
    "\nEOF\n",
    "<<-'E'\n",
    "\nE\n",
    "<<<",
    "|",
    "||",
    "&&",
    ";",
    "&",
    "\n",
    "\\\n",
    "\\",
    "#",
    " # ",
    "{",
    "{a,b}",
    "{1..9}",
    "[[ ",
    " ]]",
    "if ",
    "; then ",
    "; fi",
    "case x in ",
    ";; esac",
    "for x in ",
    "; do ",
    "; done",
    "while ",
    "f() {",
    "! ",
    "time ",
    "eval ",
    "bash -c '",
    "command ",
    "cd x && ",
    "a=(",
    "a[",
    "]=",
    "> f",
    ">& ",
    "2>&1",
    "&> ",
    "{fd}>",
    "$x",
    "${x:-",
    "${!x}",
    "~",
    "*",
    "\0",
    "\r",
    "\t",
    "\u{a0}",
    "\u{2028}",
    "é",
    "\u{1F980}",
    "--",
    "-exec ",
    " \\; ",
    "xargs ",
    "sudo ",
    "env -S '",
    "git -C x ",
    "find . ",
];
const LONGEST: usize = 300_000;

pub struct Mutator {
    seeds: Vec<String>,
    random: Rng,
}

impl Mutator {
    pub fn new(seeds: Vec<String>, seed: u64) -> Self {
        Self { seeds, random: Rng::with_seed(seed) }
    }

    pub fn next(&mut self) -> String {
        let mut text = self.seed().to_owned();
        for _ in 0..=self.random.u8(..6) {
            text = self.mutate(text);
            if text.len() > LONGEST {
                let cut = text.floor_char_boundary(LONGEST);
                text.truncate(cut);
            }
        }
        text
    }

    fn seed(&mut self) -> &str {
        let number = self.random.usize(..self.seeds.len());
        &self.seeds[number]
    }

    fn place(&mut self, text: &str) -> usize {
        text.floor_char_boundary(self.random.usize(..=text.len()))
    }

    fn mutate(&mut self, text: String) -> String {
        let (from, to) = (self.place(&text), self.place(&text));
        let (from, to) = (from.min(to), from.max(to));
        match self.random.u8(..16) {
            0 => text[..from].to_owned() + &text[to..],
            1 => text[..to].to_owned() + &text[from..],
            2 => {
                let other = self.seed().to_owned();
                let cut = self.place(&other);
                text[..from].to_owned() + &other[cut..]
            }
            3 => {
                let separator = ["; ", " | ", "\n", " && ", " & "][self.random.usize(..5)];
                format!("{text}{separator}{}", self.seed())
            }
            4..=8 => {
                let token = TOKENS[self.random.usize(..TOKENS.len())];
                text[..from].to_owned() + token + &text[from..]
            }
            9 => {
                let (open, close) = [
                    ("$(", ")"),
                    ("(", ")"),
                    ("\"$(", ")\""),
                    ("`", "`"),
                    ("{ ", "; }"),
                    ("bash -c '", "'"),
                    ("${x:-", "}"),
                    ("if ", "; then :; fi"),
                    ("<(", ")"),
                    ("cat <<E\n", "\nE\n"),
                    ("$((", "))"),
                ][self.random.usize(..11)];
                // Now and then far deeper than anybody writes.
                let depth = if self.random.u8(..20) == 0 { self.random.usize(..12_000) } else { 1 };
                let tail = if self.random.u8(..4) == 0 { String::new() } else { close.repeat(depth) };
                open.repeat(depth) + &text + &tail
            }
            10 if self.random.u8(..10) == 0 => {
                let times = self.random.usize(..20_000);
                let part = text[from..to].to_owned();
                text + &part.repeat(times.min(LONGEST / part.len().max(1)))
            }
            11 if self.random.u8(..10) == 0 => {
                let token = TOKENS[self.random.usize(..TOKENS.len())];
                text + &token.repeat(self.random.usize(..20_000))
            }
            12 => text.chars().rev().collect(),
            13 => text.replace(' ', "\n"),
            14 => text.replace(['"', '\''], ""),
            _ => text[from..].to_owned() + &text[..from],
        }
    }
}
