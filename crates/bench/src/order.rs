//! Which functions a hook call runs, as a script for the linker that puts them side by side.
//!
//! Callgrind tells the addresses of what runs, and the linker's map tells which piece of which object file
//! lies there. Pieces that the same cases use lie together, and those of every case come first, beside
//! what the linker itself puts at the start. The names of functions end with hashes that change with each compiler: in the
//! script they are wildcards. The tables of a function bear its name, and lie together as well; most texts
//! have names that are new in every build, and stay where they are.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::cases::{Case, Stage};

/// The sections of the linked program that the script makes: for functions, and for their tables.
const SECTION: &str = ".text.hook";
const TABLES: &str = ".rodata.hook";
/// What the C library runs before `main` to find the clock that the kernel lends it. Under callgrind there
/// is none, so it is not seen to run.
const UNSEEN: &[&str] = &[
    "*libc.a:dl-object.o(.text)",
    "*libc.a:dl-setup_hash.o(.text)",
    "*libc.a:dl-vdso.o(.text)",
    "*libc.a:strcmp-avx2.o(.text.avx)",
];
/// Tables of a file that never runs, which one that does looks into.
const BORROWED: &str = "*libc.a:strtol_l.o(.rodata .rodata.*)";
/// With less than this of what runs in its section, the script is too old to be of use.
const LEAST_PLACED: u64 = 85;

/// A piece of an object file that the linker can place, and where it has placed it.
struct Piece<'m> {
    start: u64,
    size: u64,
    /// The section of the program that it went to.
    output: &'m str,
    file: &'m str,
    name: &'m str,
}

/// What was found out about a program.
pub struct Order {
    patterns: Vec<String>,
    tables: Vec<String>,
    /// Bytes of all functions that run, and of those among them that lie in the section.
    run: u64,
    placed: u64,
}

impl Order {
    /// Runs every case of the hook under callgrind. `map` is the linker's map of the program.
    pub fn find(stage: &Stage, map: &Path) -> io::Result<Self> {
        let map = fs::read_to_string(map)?;
        let pieces = pieces(&map);
        if pieces.is_empty() {
            return Err(io::Error::other("no code in the linker's map; it has to be that of LLD"));
        }
        let mut used = Vec::new();
        for case in stage.hook_cases() {
            used.push(pieces_used(&pieces, &profile(stage, case)?));
        }
        // For each piece the cases that use it, as bits. What the shorter cases use, the longer ones
        // mostly use as well.
        used.sort_by_key(|used| Reverse(used.len()));
        let mut users: BTreeMap<usize, u32> = BTreeMap::new();
        for (case, used) in used.iter().enumerate() {
            for at in used {
                *users.entry(*at).or_default() |= 1 << case;
            }
        }
        let size = |at: &usize| pieces[*at].size;
        let run = users.keys().map(size).sum();
        let placed = users.keys().filter(|at| pieces[**at].output == SECTION).map(size).sum();
        let mut patterns: BTreeMap<String, u32> = BTreeMap::new();
        for (at, cases) in &users {
            *patterns.entry(pieces[*at].pattern()).or_default() |= cases;
        }
        let mut patterns: Vec<_> = patterns.into_iter().collect();
        patterns.sort_by_key(|(_, cases)| Reverse(*cases));
        let seen = patterns.into_iter().map(|(pattern, _)| pattern);
        let patterns: Vec<String> = UNSEEN.iter().map(ToString::to_string).chain(seen).collect();
        let tables = tables(&map, &patterns);
        Ok(Self { patterns, tables, run, placed })
    }

    pub fn script(&self) -> String {
        let mut text =
            String::from("/* The functions that a hook call runs. Made by `scripts/order-functions`. */\n");
        let parts = [(SECTION, &self.patterns, "AFTER .fini"), (TABLES, &self.tables, "AFTER .rela.dyn")];
        for (section, patterns, place) in parts {
            text += &format!("SECTIONS {{\n  {section} : {{\n");
            for pattern in patterns {
                text += &format!("    {pattern}\n");
            }
            text += &format!("  }}\n}} INSERT {place};\n");
        }
        text
    }

    /// How much of what runs lies in the section, in per cent of the bytes.
    pub fn share(&self) -> u64 {
        self.placed * 100 / self.run.max(1)
    }

    pub fn holds(&self) -> bool {
        self.share() >= LEAST_PLACED
    }
}

impl Piece<'_> {
    /// What finds this piece in another build.
    fn pattern(&self) -> String {
        let file = self.file.rsplit('/').next().unwrap_or_default();
        // The C library has a file for each function or two, and no sections for them.
        match file.strip_suffix(')').and_then(|file| file.split_once('(')) {
            Some((archive, member)) if Path::new(archive).extension() == Some("a".as_ref()) => {
                format!("*{archive}:{member}({})", self.name)
            }
            None if file.starts_with("crt") => format!("*{file}({})", self.name),
            _ => format!("*({})", without_hashes(self.name)),
        }
    }
}

/// The pieces of code in the map of LLD, in the order of their addresses. Its lines are: address, load
/// address, size, alignment, and then a section of the program, or indented a piece of a file, or further
/// a symbol.
fn pieces(map: &str) -> Vec<Piece<'_>> {
    let mut output = "";
    let mut found = Vec::new();
    for line in map.lines() {
        let mut words = line.split_whitespace();
        let mut number = || u64::from_str_radix(words.next()?, 16).ok();
        let (Some(start), Some(_), Some(size), Some(_)) = (number(), number(), number(), number()) else {
            continue;
        };
        let Some(what) = words.next() else { continue };
        if what.starts_with('.') && words.next().is_none() {
            output = what;
        } else if let Some((file, name)) = what.strip_suffix(')').and_then(|it| it.split_once(":("))
            && size > 0
            && name.starts_with(".text")
        {
            found.push(Piece { start, size, output, file, name });
        }
    }
    found.sort_by_key(|piece| piece.start);
    found
}

/// What finds the tables of these functions: constants of a size that the processor loads, what belongs to a
/// file of the C library, and tables that bear a function's name. Only those that the map has.
fn tables(map: &str, functions: &[String]) -> Vec<String> {
    let named: BTreeSet<String> = map
        .lines()
        .filter_map(|line| line.split_once(":(.rodata.")?.1.strip_suffix(')'))
        .map(without_hashes)
        .collect();
    let mut found = vec!["*(.rodata.cst*)".to_owned(), BORROWED.to_owned()];
    for function in functions {
        if let Some((member, _)) = function.split_once("(.text").filter(|(file, _)| file.contains(".a:")) {
            found.push(format!("{member}(.rodata .rodata.*)"));
        } else if let Some(name) = function.strip_prefix("*(.text.").and_then(|name| name.strip_suffix(')')) {
            let tables = [name.to_owned(), format!(".Lswitch.table.{name}")];
            let there = tables.iter().filter(|table| named.contains(*table));
            found.extend(there.map(|table| format!("*(.rodata.{table})")));
        }
    }
    let mut seen = BTreeSet::new();
    found.retain(|pattern| seen.insert(pattern.clone()));
    found
}

/// Those of the pieces that a profile shows to have run, by their places.
fn pieces_used(pieces: &[Piece<'_>], profile: &str) -> BTreeSet<usize> {
    let place = |address: u64| {
        let at = pieces.partition_point(|piece| piece.start <= address).checked_sub(1)?;
        (address < pieces[at].start + pieces[at].size).then_some(at)
    };
    addresses(profile).filter_map(place).collect()
}

/// The name of a section of a function, for any compiler: `17h0123456789abcdefE` ends an old name, and
/// `Cs0a1B2c_` stands before the name of a crate in a new one.
fn without_hashes(name: &str) -> String {
    if let Some((start, hash)) = name.rsplit_once("17h")
        && hash.len() > 16
        && hash.bytes().take(16).all(|byte| byte.is_ascii_hexdigit())
    {
        return format!("{start}17h*");
    }
    let mut parts = name.split("Cs");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_hash = |hash: &str| hash.len() > 6 && hash.bytes().all(|byte| byte.is_ascii_alphanumeric());
        match part.split_once('_') {
            Some((hash, rest)) if is_hash(hash) => text += &format!("Cs*_{rest}"),
            _ => text += &format!("Cs{part}"),
        }
    }
    text
}

/// What callgrind writes about one run of a case.
fn profile(stage: &Stage, case: &Case) -> io::Result<String> {
    let directory = tempfile::tempdir()?;
    let file = directory.path().join("profile");
    let mut command = Command::new("valgrind");
    case.environment(&stage.scene, &mut command);
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.args(["--quiet", "--tool=callgrind", "--dump-instr=yes", "--compress-pos=no"]);
    // The watchdog gets its turn as on a machine with two processors.
    command.arg("--fair-sched=try");
    command.arg(format!("--callgrind-out-file={}", file.display()));
    command.arg(&case.program).args(&case.arguments).stdin(case.input(&stage.scene)?).stderr(Stdio::null());
    let output = command.output().map_err(|error| {
        io::Error::new(error.kind(), format!("valgrind, which tells what is run, cannot be started: {error}"))
    })?;
    case.check(output.status.success(), &String::from_utf8_lossy(&output.stdout))?;
    fs::read_to_string(file)
}

/// The addresses of the instructions that were run: each line about one begins with its own.
fn addresses(profile: &str) -> impl Iterator<Item = u64> {
    let lines = profile.lines().filter_map(|line| line.strip_prefix("0x")?.split(' ').next());
    lines.filter_map(|address| u64::from_str_radix(address, 16).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAP: &str = "\
             VMA              LMA     Size Align Out     In      Symbol
          2e1b80           2e1b80   301378    64 .text
          2e1bc0           2e1bc0       30    16         /o/p.o:(.text._ZN7provost4hook5start17hcc4670faba793d7eE)
          2e1bc0           2e1bc0       30     1                 _ZN7provost4hook5start17hcc4670faba793d7eE
          58cc50           58cc50     5c56    16         /usr/lib/libc.a(malloc.o):(.text)
          5f1af8           5f1af8       41     8         /usr/lib/libc.a(malloc.o):(.bss)
";

    #[test]
    fn pieces_of_code_are_read_from_a_map_and_named_without_hashes() {
        let pieces = pieces(MAP);
        let patterns: Vec<_> = pieces.iter().map(Piece::pattern).collect();
        assert_eq!(patterns, ["*(.text._ZN7provost4hook5start17h*)", "*libc.a:malloc.o(.text)"]);
        assert!(pieces.iter().all(|piece| piece.output == ".text"));
        assert_eq!((pieces[0].start, pieces[0].size), (0x2e_1bc0, 0x30));
    }

    #[test]
    fn tables_follow_their_functions() {
        let map = "\
          2005c0  2005c0  30  16  /o/p.o:(.rodata._ZN7provost4hook5start17h41f848a4a47977e9E)
          200600  200600  30  16  /o/p.o:(.rodata..Lswitch.table._ZN7provost4text17h41f848a4a47977e9E)
          200700  200700  30  16  /o/p.o:(.rodata._ZN7provost3cli17h41f848a4a47977e9E)
";
        let functions =
            ["*(.text._ZN7provost4hook5start17h*)", "*(.text._ZN7provost4text17h*)", "*(.text._ZN4core17h*)"];
        let members = ["*libc.a:malloc.o(.text)", "*libc.a:malloc.o(.text.unlikely)", "*crt1.o(.text)"];
        let all: Vec<String> = functions.iter().chain(&members).map(ToString::to_string).collect();
        assert_eq!(
            tables(map, &all),
            [
                "*(.rodata.cst*)",
                BORROWED,
                "*(.rodata._ZN7provost4hook5start17h*)",
                "*(.rodata..Lswitch.table._ZN7provost4text17h*)",
                "*libc.a:malloc.o(.rodata .rodata.*)"
            ]
        );
    }

    #[test]
    fn hashes_of_crates_are_wildcards() {
        let name = "_RNvNtNtCsgEmfK2I1SDS_4core3str8converts9from_utf8";
        assert_eq!(without_hashes(name), "_RNvNtNtCs*_4core3str8converts9from_utf8");
        assert_eq!(without_hashes("_RNvCsXY_Cs"), "_RNvCsXY_Cs");
    }

    #[test]
    fn addresses_are_those_of_instructions() {
        let profile = "fn=(1) main\n0x2e1b80 0 3\ncalls=1 0x58cc50 0\n0x2e1b84 0 9\n";
        assert_eq!(addresses(profile).collect::<Vec<_>>(), [0x2e_1b80, 0x2e_1b84]);
    }
}
