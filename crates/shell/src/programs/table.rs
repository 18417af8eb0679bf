//! The table of known programs: which of their options do more than read.
//!
//! [`PLAIN`] names the programs that are harmless with any arguments. For the others, all options are listed, so
//! that an unknown option is reported. Programs with a grammar of their own (`find`, `git`, `sed`, …) have a module
//! of their own.

use super::RUNS;
use super::options::{OptionAction, OptionTable, STRICT, ValueRule};

const WRITES: OptionAction = OptionAction::Does("writes a file");
const RUN: OptionAction = OptionAction::Does(RUNS);

/// Programs that only read, print or wait, with any options. Sorted.
#[rustfmt::skip]
const PLAIN: &[&str] = &[
    ":", "b2sum", "basename", "cat", "cksum", "cmp", "column", "comm", "cut", "df",
    "dirname", "du", "echo", "egrep", "expand", "false", "fgrep", "fmt", "fold", "getconf", "grep",
    "groups", "head", "hexdump", "id", "join", "jq", "locale", "ls", "md5sum", "nl", "nproc", "numfmt",
    "od", "paste", "printenv", "pwd", "readlink", "realpath", "rev", "seq", "sha1sum", "sha224sum",
    "sha256sum", "sha384sum", "sha512sum", "shasum", "sleep", "stat", "strings", "sum", "tac", "tail", "tr",
    "true", "tsort", "tty", "type", "uname", "unexpand", "uptime", "wc", "which", "who", "whoami", "yes",
];

/// Whether a program only reads, with any arguments.
pub(super) fn is_plain(program: &str) -> bool {
    PLAIN.binary_search(&program).is_ok()
}

/// The options of a program that has mutating ones.
pub(super) fn find_options(program: &str) -> Option<&'static OptionTable> {
    let at = PROGRAMS.binary_search_by(|(name, _)| (*name).cmp(program)).ok()?;
    Some(&PROGRAMS[at].1)
}

const CLOCK: OptionAction = OptionAction::Does("sets the clock");
const NAME: OptionAction = OptionAction::Does("sets the name of the machine");
const TEMPORARY: OptionAction = OptionAction::Does("writes temporary files into a directory");
const IN_PLACE: OptionAction = OptionAction::Does("writes the files that it is given");
const SCRIPT: OptionAction = OptionAction::Does("runs a script");

/// Some versions of these programs have an option for the file to write.
const ENCODER: OptionTable =
    OptionTable { mutating: &[(OptionAction::Writes, "-o= --output=")], allows_unlisted: true, ..STRICT };

/// Programs with options that do more than read. Sorted.
static PROGRAMS: &[(&str, OptionTable)] = &[
    ("base32", ENCODER),
    ("base64", ENCODER),
    (
        "date",
        OptionTable {
            letters: "d:f:I::jnr:Ruv:z:",
            longs: "\
                --date= --debug --file= --help --iso-8601 --reference= --resolution --rfc-2822 \
                --rfc-3339= --rfc-email --universal --utc --version",
            mutating: &[(CLOCK, "-s= --set=")],
            ..STRICT
        },
    ),
    ("diff", OptionTable { mutating: &[(RUN, "-l --paginate")], allows_unlisted: true, ..STRICT }),
    (
        "file",
        OptionTable {
            letters: "0bcdDEe:f:F:hiIklLm:nNP:rsSv",
            longs: FILE,
            mutating: &[
                (WRITES, "-C --compile"),
                (RUN, "-z -Z --uncompress --uncompress-noreport"),
                (OptionAction::Does("changes the times of files"), "-p --preserve-date"),
            ],
            ..STRICT
        },
    ),
    (
        "hostname",
        OptionTable {
            letters: "aAdfiIsyV",
            longs: "--all-fqdns --all-ip-addresses --domain --fqdn --help --ip-address --short",
            mutating: &[(NAME, "-F= -b --file= --boot")],
            ..STRICT
        },
    ),
    (
        "rg",
        OptionTable {
            letters: "A:B:C:E:FHILM:NPST:UVabcd:e:f:g:hij:lm:nopqr:st:uvwx0.",
            longs: RG,
            mutating: &[(OptionAction::Runs, "--pre= --hostname-bin="), (RUN, "-z --search-zip")],
            ..STRICT
        },
    ),
    (
        "sed",
        OptionTable {
            letters: "nrEsuzae:",
            longs: "\
                --debug --expression= --follow-symlinks --help --line-length= --null-data \
                --posix --quiet --regexp-extended --sandbox --separate --silent --unbuffered \
                --version --zero-terminated",
            mutating: &[(IN_PLACE, "-i -I --in-place"), (SCRIPT, "-f= --file=")],
            ..STRICT
        },
    ),
    (
        "sort",
        OptionTable {
            letters: "bdfghiMnrRsuVzcCmk:S:t:",
            longs: SORT,
            mutating: &[
                (OptionAction::Writes, "-o= --output="),
                (OptionAction::Runs, "--compress-program="),
                (TEMPORARY, "-T= --temporary-directory="),
            ],
            ..STRICT
        },
    ),
    // The letters of a cluster take their values from the next words, one after the other. So `-Lo 2 f` writes,
    // and no letter may hide another one here.
    (
        "tree",
        OptionTable {
            letters: "acdfghilnpqrstuvxACDFJQNSUXLPIHT0123456789",
            longs: TREE,
            mutating: &[
                (OptionAction::Writes, "-o="),
                (OptionAction::Does("writes 00Tree.html into directories"), "-R"),
            ],
            values: ValueRule::Anywhere,
            ..STRICT
        },
    ),
    (
        "uniq",
        OptionTable {
            letters: "cdDf:is:uw:z0123456789",
            longs: "\
                --all-repeated --check-chars= --count --group --help --ignore-case --repeated \
                --skip-chars= --skip-fields= --unique --version --zero-terminated",
            ..STRICT
        },
    ),
];

const RG: &str = "\
    --after-context= --auto-hybrid-regex --before-context= --binary --block-buffered \
    --byte-offset --case-sensitive --color= --colors= --column --context= --context-separator= \
    --count --count-matches --crlf --debug --dfa-size-limit= --encoding= --engine= \
    --field-context-separator= --field-match-separator= --file= --files --files-with-matches \
    --files-without-match --fixed-strings --follow --generate= --glob= --glob-case-insensitive \
    --heading --help --hidden --hyperlink-format= --iglob= --ignore --ignore-case --ignore-dot \
    --ignore-exclude --ignore-file= --ignore-file-case-insensitive --ignore-files \
    --ignore-global --ignore-messages --ignore-parent --ignore-vcs --include-zero \
    --invert-match --json --line-buffered --line-number --line-regexp --max-columns= \
    --max-columns-preview --max-count= --max-depth= --max-filesize= --messages --mmap \
    --multiline --multiline-dotall --no-config --no-context-separator --no-filename \
    --no-heading --no-ignore --no-ignore-dot --no-ignore-exclude --no-ignore-files \
    --no-ignore-global --no-ignore-messages --no-ignore-parent --no-ignore-vcs \
    --no-line-number --no-messages --no-mmap --no-pcre2-unicode --no-require-git --no-unicode \
    --null --null-data --one-file-system --only-matching --passthrough --passthru \
    --path-separator= --pcre2 --pcre2-version --pre-glob= --pretty --quiet --regex-size-limit= \
    --regexp= --replace= --require-git --smart-case --sort= --sort-files --sortr= --stats \
    --stop-on-nonmatch --text --threads= --trace --trim --type= --type-add= --type-clear= \
    --type-list --type-not= --unicode --unrestricted --version --vimgrep --with-filename \
    --word-regexp";

const TREE: &str = "\
    --acl --authority --charset --compress --device --dirsfirst --du --fflinks --filelimit \
    --filesfirst --fromfile --fromtabfile --gitfile --gitignore --help --hintro --houtro \
    --hyperlink --ignore-case --info --infofile --inodes --matchdirs --metafirst --nolinks \
    --noreport --opt-toggle --prune --scheme --selinux --si --sort --timefmt --version";

const FILE: &str = "\
    --apple --brief --checking-printout --debug --dereference --exclude= --exclude-quiet= \
    --extension --files-from= --help --keep-going --list --magic-file= --mime --mime-encoding \
    --mime-type --no-buffer --no-dereference --no-pad --no-sandbox --parameter= --print0 --raw \
    --separator= --special-files --version";

const SORT: &str = "\
    --batch-size= --buffer-size= --check --debug --dictionary-order --field-separator= \
    --files0-from= --general-numeric-sort --help --human-numeric-sort --ignore-case \
    --ignore-leading-blanks --ignore-nonprinting --key= --merge --month-sort --numeric-sort \
    --parallel= --random-sort --random-source= --reverse --sort= --stable --unique --version \
    --version-sort --zero-terminated";

#[cfg(test)]
mod tests {
    use super::{PLAIN, PROGRAMS};

    #[test]
    fn what_is_found_by_halving_is_sorted() {
        assert!(PLAIN.is_sorted());
        assert!(PROGRAMS.is_sorted_by_key(|(name, _)| name));
        for (name, options) in PROGRAMS {
            assert!(options.is_sorted(), "{name}");
            assert!(!PLAIN.contains(name), "{name}");
        }
    }
}
