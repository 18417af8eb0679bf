//! Generates command lines from a grammar, always the same ones for the same seed.
//!
//! The commands are markers (`m1` to `m9`), so that a shell with only these in its path can run any line. The text
//! around them is what hides commands from parsers. Lines are shallow, because one of the oracles takes exponential
//! time otherwise.

use fastrand::Rng;

/// The random numbers, and how many functions are defined so far.
pub struct Generator(Rng, u32);

const DEEPEST: u32 = 3;

impl Generator {
    pub fn new(seed: u64) -> Self {
        Self(Rng::with_seed(seed), 0)
    }

    pub fn generate_line(&mut self) -> String {
        let mut documents = Vec::new();
        let mut line = self.list(DEEPEST, &mut documents);
        for document in documents {
            line.push('\n');
            line.push_str(&document);
        }
        if self.0.u8(..8) == 0 {
            line = format!("{line}\n{}", self.simple(1));
        }
        line
    }

    fn choose<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.0.usize(..choices.len())]
    }

    fn marker(&mut self) -> String {
        let digit = self.0.u8(1..10);
        match self.0.u8(..14) {
            0 => format!("m\"{digit}\""),
            1 => format!("\\m{digit}"),
            2 => format!("'m{digit}'"),
            3 => format!("m{digit}\"\""),
            4 => format!("$'m{digit}'"),
            5 => format!("m\\\n{digit}"),
            _ => format!("m{digit}"),
        }
    }

    fn list(&mut self, depth: u32, documents: &mut Vec<String>) -> String {
        let mut list = self.pipeline(depth, documents);
        while self.0.u8(..3) == 0 {
            let separator = self.choose(&["; ", " && ", " || ", " & ", ";", "&&", " &&  "]);
            list = format!("{list}{separator}{}", self.pipeline(depth, documents));
        }
        list
    }

    fn pipeline(&mut self, depth: u32, documents: &mut Vec<String>) -> String {
        let start = self.choose(&["", "", "", "", "", "! ", "time ", "time -p "]).to_owned();
        let mut line = start + &self.command(depth, documents);
        while self.0.u8(..5) == 0 {
            let pipe = self.choose(&[" | ", "|", " |& ", " |\n"]);
            line = format!("{line}{pipe}{}", self.command(depth, documents));
        }
        line
    }

    fn command(&mut self, depth: u32, documents: &mut Vec<String>) -> String {
        if depth == 0 {
            return self.simple(0);
        }
        // A here-document inside a compound command would have to end inside it, so nested lists have none.
        let inner = |this: &mut Self| this.list_without_documents(depth - 1);
        match self.0.u8(..26) {
            0 => format!("( {} )", inner(self)),
            1 => format!("({})", inner(self)),
            2 => format!("{{ {}; }}", inner(self)),
            3 => format!("( ({}) )", inner(self)),
            4 => format!("(({}) )", inner(self)),
            5 => format!("if {}; then {}; else {}; fi", inner(self), inner(self), inner(self)),
            6 => format!("while {}; do {}; break; done", inner(self), inner(self)),
            7 => format!("for x in a {}; do {}; done", self.word(depth), inner(self)),
            8 => format!(
                "case {} in {}) {};; *) {};; esac",
                self.word(depth),
                self.pattern(depth),
                inner(self),
                inner(self)
            ),
            9 => format!("[[ -n {} ]]", self.word(depth)),
            10 => format!("[[ a == {} ]] && {}", self.word(depth), inner(self)),
            11 => {
                // Each function has a name of its own: one that is defined in a pipeline does not exist after it, and
                // an outer one of the same name would call itself without end.
                self.1 += 1;
                let name = self.1;
                format!("f{name}() {{ {}; }}; f{name}", inner(self))
            }
            12 => format!("command {}", self.simple(depth)),
            13 => format!("eval '{}'", inner(self).replace('\'', "'\\''")),
            14 => format!("x={} {}", self.word(depth), self.simple(depth)),
            15 => format!("a=({} b); {}", self.word(depth), inner(self)),
            16 => format!("v={}; $v", self.marker()),
            17 => format!("{}{}{} x", "{", self.marker(), ",y}"),
            18 => {
                let tabs = self.choose(&["<<", "<<-"]).to_owned();
                let (end, quoted) = *[("E", false), ("'E'", true), ("\\E", true), ("\"E\"", true)]
                    .get(self.0.usize(..4))
                    .unwrap_or(&("E", false));
                let body = if quoted { "$(m1) ' ` \" (".to_owned() } else { self.body(depth) };
                documents.push(format!("{body}\nE"));
                format!("{} {tabs}{end}", self.simple(0))
            }
            19 => format!("{} # {}", self.simple(0), self.marker()) + "\n" + &self.simple(0),
            _ => self.simple(depth),
        }
    }

    fn list_without_documents(&mut self, depth: u32) -> String {
        let mut documents = Vec::new();
        let list = self.list(depth, &mut documents);
        // Without the body, the line would mean something else.
        if documents.is_empty() { list } else { self.simple(0) }
    }

    fn simple(&mut self, depth: u32) -> String {
        let mut line = self.marker();
        for _ in 0..self.0.u8(..3) {
            line = format!("{line} {}", self.word(depth));
        }
        match self.0.u8(..12) {
            0 => format!("{line} > out"),
            1 => format!("{line} 2>&1"),
            2 => format!("{line} <<< {}", self.word(depth)),
            3 => format!("> /dev/null {line}"),
            4 => format!("{line} 2> /dev/null"),
            _ => line,
        }
    }

    fn body(&mut self, depth: u32) -> String {
        let inner = self.substitution(depth);
        let frame = self.choose(&["x @ y", "'@'", "# @", "\\\\@", "${x:-@}", "(\n@", "\"@"]);
        frame.replace('@', &inner)
    }

    fn pattern(&mut self, depth: u32) -> String {
        if self.0.bool() {
            self.choose(&["a", "*.b", "a|b", "(c", "\"a b\""]).to_owned()
        } else {
            self.word(depth)
        }
    }

    fn substitution(&mut self, depth: u32) -> String {
        if depth == 0 {
            return "z".into();
        }
        let inner = self.list_without_documents(depth - 1);
        match self.0.u8(..8) {
            0 if !inner.contains(['`', '\\']) => format!("`{inner}`"),
            1 => format!("$( ({inner}) )"),
            2 => format!("$(({inner}); m9)"),
            3 => format!("$({inner}\n)"),
            4 => format!("$(# it's\n{inner})"),
            _ => format!("$({inner})"),
        }
    }

    fn word(&mut self, depth: u32) -> String {
        if depth == 0 || self.0.bool() {
            return self
                .choose(&[
                    "a", "'b c'", "\"d e\"", "\\;", "$x", "\"#\"", "a#b", "{1,2}", "*", "'$(m1)'", "\"'\"",
                    "a=b", "-x", "${#x}", "==", "=~", "\"\\\"\"", "$'\\''",
                ])
                .to_owned();
        }
        let inner = self.substitution(depth);
        let frames = [
            "@",
            "\"@\"",
            "a@b",
            "'q'@",
            "\"'@'\"",
            "${x:-@}",
            "\"${x:-@}\"",
            "\"${x:-'@'}\"",
            "${x#@}",
            "${x/a/@}",
            "$((1 + @))",
            "$(( @ ))",
            "{a,@}",
            "x=@",
            "<(m8 @)",
            "\\\\@",
            "${a[@]}",
            "\"$(m7 @)\"",
            "${x:-${y:-@}}",
            "~@",
        ];
        self.choose(&frames).replace('@', &inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_lines() {
        let lines = |seed| {
            let mut generator = Generator::new(seed);
            (0..50).map(|_| generator.generate_line()).collect::<Vec<_>>()
        };
        assert_eq!(lines(1), lines(1));
        assert_ne!(lines(1), lines(2));
    }
}
