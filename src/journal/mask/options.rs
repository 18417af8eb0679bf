//! Secrets that follow an option of a command line: `--password x` of any program, `-p x` of those where it means that.
//!
//! The text need not be a whole command line, so it is read word by word. The last known program decides what an option
//! means, until the command ends.

use super::{Span, find_value_end, is_reference};

/// The endings of options whose next word is a secret: `--password x`, `-storepass x`, `--auth-token x`.
const ENDINGS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "pass",
    "pwd",
    "secret",
    "token",
    "apikey",
    "api-key",
    "api_key",
    "access-key",
    "secret-key",
    "auth-key",
    "account-key",
    "encryption-key",
    "license-key",
];

/// Where a program takes a secret.
struct Program {
    names: &'static [&'static str],
    /// Only after this word: `docker login -p x`, but not `docker run -p 80:80`.
    after: Option<&'static str>,
    /// The next word is the secret: `-P x`.
    separate: &'static [&'static str],
    /// The rest of the word is the secret: `-px`.
    attached: &'static [&'static str],
    /// The secret is behind this separator, in the next word or in the rest: `-u user:x`.
    pairs: &'static [(&'static str, char)],
    /// The secret is the rest of a word that begins with this: `pass:x`.
    prefixes: &'static [&'static str],
    /// The secret is the last word, if there is this word, or one that begins so and ends in `.` or `:` here.
    last_with: &'static [&'static str],
}

const NOTHING: Program = Program {
    names: &[],
    after: None,
    separate: &[],
    attached: &[],
    pairs: &[],
    prefixes: &[],
    last_with: &[],
};

#[rustfmt::skip]
static PROGRAMS: &[Program] = &[
    Program {
        names: &["mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlshow", "mysqlcheck", "mysqlpump", "mariadb",
            "mariadb-dump", "mariadb-admin", "mycli"],
        attached: &["-p"],
        ..NOTHING
    },
    Program { names: &["sshpass", "mongo", "mongosh", "mongodump", "mongorestore", "mongoexport", "mongoimport", "useradd", "usermod",
        "xfreerdp", "rdesktop", "ncftp", "ncftpget", "ncftpput"], separate: &["-p"], attached: &["-p", "/p:"], ..NOTHING },
    Program { names: &["docker", "podman", "buildah", "skopeo", "nerdctl", "helm", "oras", "crane", "az", "oc", "cf", "npx", "twine",
        "registry"], after: Some("login"), separate: &["-p"], ..NOTHING },
    Program { names: &["twine", "poetry"], separate: &["-p"], ..NOTHING },
    Program { names: &["7z", "7za", "7zr", "7zz", "rar", "unrar"], attached: &["-p", "-hp"], ..NOTHING },
    Program { names: &["zip", "unzip", "zipcloak", "sqlcmd", "bcp", "osql", "isql", "tsql", "ipmitool"], separate: &["-P"],
        attached: &["-P"], ..NOTHING },
    Program { names: &["redis-cli", "valkey-cli", "keydb-cli"], separate: &["-a"], ..NOTHING },
    Program { names: &["ldapsearch", "ldapmodify", "ldapadd", "ldapdelete", "ldapwhoami", "ldappasswd", "ldapcompare"],
        separate: &["-w", "-s"], ..NOTHING },
    Program { names: &["curl", "wget", "aria2c"], pairs: &[("-u", ':'), ("--user", ':'), ("-U", ':'), ("--proxy-user", ':'),
        ("-b", '='), ("--cookie", '=')], ..NOTHING },
    Program { names: &["http", "https", "xh"], pairs: &[("-a", ':'), ("--auth", ':')], ..NOTHING },
    Program { names: &["smbclient", "smbmap", "rpcclient", "net", "winexe"], pairs: &[("-U", '%'), ("--user", '%')], ..NOTHING },
    Program { names: &["lftp"], pairs: &[("-u", ',')], ..NOTHING },
    Program { names: &["plink", "pscp", "psftp", "putty", "kitty"], separate: &["-pw"], ..NOTHING },
    Program { names: &["openssl"], separate: &["-k", "-K", "-hmac"], prefixes: &["pass:"], ..NOTHING },
    Program { names: &["htpasswd"], last_with: &["-b", "-nb", "-bn", "-cb", "-bc", "-Bb", "-bB", "-nbB", "-Bnb", "-cbB", "-Bbn"], ..NOTHING },
    Program { names: &["wpa_passphrase"], last_with: &["wpa_passphrase"], ..NOTHING },
    Program { names: &["gh"], after: Some("secret"), separate: &["-b", "--body"], attached: &["--body="], ..NOTHING },
    Program { names: &["aws"], separate: &["aws_secret_access_key", "aws_session_token"], ..NOTHING },
    Program { names: &["npm", "pnpm", "yarn"], separate: &["_authToken", "_auth", "_password"], ..NOTHING },
    Program { names: &["cargo"], after: Some("login"), separate: &["login"], ..NOTHING },
    Program { names: &["nmcli"], separate: &["password"], ..NOTHING },
    Program { names: &["machine"], after: Some("login"), separate: &["password"], ..NOTHING },
    Program { names: &["rclone"], separate: &["secret_access_key", "client_secret", "pass", "token"], ..NOTHING },
    Program { names: &["composer", "poetry"], last_with: &["http-basic."], ..NOTHING },
    Program { names: &["nuget"], after: Some("push"), separate: &["-k", "-ApiKey"], ..NOTHING },
    Program { names: &["security"], after: Some("add-generic-password"), separate: &["-w"], ..NOTHING },
    Program { names: &["security"], after: Some("add-internet-password"), separate: &["-w"], ..NOTHING },
    Program { names: &["net"], last_with: &["/user:"], ..NOTHING },
    Program { names: &["snmpwalk", "snmpget", "snmpset", "snmpbulkwalk"], separate: &["-A", "-X"], ..NOTHING },
    Program { names: &["cast", "forge"], separate: &["--private-key"], ..NOTHING },
    Program { names: &["doctl", "influx"], separate: &["-t"], ..NOTHING },
    Program { names: &["kubectl", "oc"], pairs: &[("--from-literal", '=')], ..NOTHING },
    Program { names: &["ConvertTo-SecureString"], separate: &["ConvertTo-SecureString", "-String"], ..NOTHING },
];

/// Programs whose words `NAME=value` hold secrets after `secrets set`.
const SECRET_STORES: &[&str] = &["fly", "flyctl", "doppler", "supabase", "eas", "vault", "modal", "encore"];

/// What reads a secret from its input: then `echo x |` before it, and `<<< x` behind it, hold one.
const READERS: &[&str] = &[
    "--password-stdin",
    "--pass-stdin",
    "--passphrase-fd",
    "chpasswd",
    "passwd --stdin",
    "sudo -S",
    "sudo -kS",
    "su -c",
    "cryptsetup",
    "--with-token",
    "gh secret set",
    "wrangler secret put",
    "docker secret create",
    "vercel env add",
    "smbpasswd -s",
    "sudo passwd",
];

/// Adds the secrets of the options in a text.
pub(super) fn find_option_values(text: &str, found: &mut Vec<Span>) {
    let mut line = CommandWords::default();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| !c.is_whitespace()) {
        let at = text.len() - rest.len() + start;
        let end = text[at..].find(char::is_whitespace).map_or(text.len(), |length| at + length);
        line.add(text, at, end, found);
        rest = &text[end..];
    }
    line.end_command(text, found);
    if let Some(asked) = text.find("assword") {
        find_sent(text, asked, found);
    }
    let may_give = ["echo ", "printf ", "<<<"].iter().any(|word| text.contains(word));
    if may_give && READERS.iter().any(|reader| text.contains(reader)) {
        find_piped(text, found);
    }
}

/// What the words of a command so far mean for the next one.
#[derive(Default)]
struct CommandWords<'t> {
    /// The rows of [`PROGRAMS`] for the program of this command.
    programs: Vec<&'static Program>,
    /// The words so far, after which some options count.
    seen: Vec<&'t str>,
    /// What the next word is.
    next: Option<NextWord>,
    is_store: bool,
    wants_last: bool,
    /// The last word that is no option.
    last: Option<Span>,
}

#[derive(Clone, Copy)]
enum NextWord {
    Secret,
    /// Behind this separator.
    Pair(char),
}

impl<'t> CommandWords<'t> {
    fn add(&mut self, text: &'t str, at: usize, end: usize, found: &mut Vec<Span>) {
        let raw = &text[at..end];
        let around = ['"', '\'', '`', '(', ')', '$', '{', '}', ','];
        let word = raw.trim_start_matches(around);
        let start = end - word.len();
        let word = word.trim_end_matches(around);
        if let Some(next) = self.next.take() {
            // An option follows instead of the value.
            if !raw.starts_with('-') || raw == "-" {
                mask_value(text, at, next, found);
                self.last = None;
                return self.end_at(raw, text, found);
            }
        }
        self.name_program(word);
        let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        // A value is the end of its word.
        let value_at = |value: &str| start + word.len() - value.len();
        if raw.starts_with('-')
            && value.is_none()
            && has_secret_ending(word)
            && !self.is_reference_option(word)
        {
            self.next = Some(NextWord::Secret);
        }
        for program in self.programs.clone() {
            if program.after.is_some_and(|after| !self.seen.contains(&after) && word != after) {
                continue;
            }
            if program.separate.contains(&word)
                || program.separate.iter().any(|name| name.starts_with('_') && word.ends_with(name))
            {
                self.next = Some(NextWord::Secret);
            }
            for (option, separator) in program.pairs {
                if word == *option {
                    self.next = Some(NextWord::Pair(*separator));
                } else if let Some(value) = value.filter(|_| name == *option) {
                    mask_value(text, value_at(value), NextWord::Pair(*separator), found);
                } else if let Some(rest) =
                    word.strip_prefix(option).filter(|_| option.len() == 2 && value.is_none())
                {
                    mask_value(text, value_at(rest), NextWord::Pair(*separator), found);
                }
            }
            for prefix in program.attached.iter().chain(program.prefixes) {
                if let Some(rest) = word.strip_prefix(prefix).filter(|rest| !rest.is_empty()) {
                    mask_value(text, value_at(rest), NextWord::Secret, found);
                }
            }
            let is_start = |start: &str| start.ends_with(['.', ':']) && word.starts_with(start);
            self.wants_last |= program.last_with.iter().any(|start| *start == word || is_start(start));
        }
        if self.is_store
            && self.seen.iter().any(|seen| ["set", "put"].contains(seen))
            && let Some(value) = value
        {
            mask_value(text, value_at(value), NextWord::Secret, found);
        }
        if !raw.starts_with('-') {
            self.last = Some((at, end));
        }
        self.seen.push(word);
        self.end_at(raw, text, found);
    }

    /// Ends the command if the word does.
    fn end_at(&mut self, word: &str, text: &str, found: &mut Vec<Span>) {
        if matches!(word, "|" | "||" | "&&" | "&" | ";") || word.ends_with(';') {
            self.end_command(text, found);
        }
    }

    fn end_command(&mut self, text: &str, found: &mut Vec<Span>) {
        if let Some((at, _)) = self.last.filter(|_| self.wants_last) {
            mask_value(text, at, NextWord::Secret, found);
        }
        *self = Self::default();
    }

    fn name_program(&mut self, word: &str) {
        let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
        let name = name.strip_suffix(".exe").unwrap_or(name);
        let rows: Vec<&Program> = PROGRAMS.iter().filter(|program| program.names.contains(&name)).collect();
        if !rows.is_empty() {
            self.programs = rows;
            self.seen.clear();
        }
        self.is_store |= SECRET_STORES.contains(&name);
    }

    /// Whether an option of this program takes the name of a secret, and not the secret: `docker build --secret id=x`.
    fn is_reference_option(&self, word: &str) -> bool {
        word == "--secret" && self.programs.iter().any(|program| program.names.contains(&"docker"))
    }
}

/// Whether an option ends in a word for a secret: `--password`, `-storepass`, `--adminPassword`.
fn has_secret_ending(option: &str) -> bool {
    let name = option.trim_start_matches('-');
    let is_option = option.starts_with("--") || name.len() > 3;
    is_option
        && ENDINGS.iter().any(|ending| {
            let start = name.len().checked_sub(ending.len());
            start.and_then(|start| name.get(start..)).is_some_and(|end| end.eq_ignore_ascii_case(ending))
        })
        && !name.eq_ignore_ascii_case("bypass")
}

/// Masks the value at a place, which may be quoted.
fn mask_value(text: &str, at: usize, what: NextWord, found: &mut Vec<Span>) {
    // `$'…'` is a quoted text too.
    let at = at + usize::from(text[at..].starts_with("$'") || text[at..].starts_with("$\""));
    let value = &text[at..];
    let quote = value.chars().next().filter(|c| "\"'".contains(*c));
    let start = at + usize::from(quote.is_some());
    let value = &text[start..];
    let end = find_value_end(value, quote);
    let skipped = match what {
        NextWord::Secret => Some(0),
        NextWord::Pair(separator) => value[..end].find(separator).map(|place| place + 1),
    };
    let Some(skipped) = skipped else { return };
    if skipped < end && !is_reference(&value[skipped..end]) {
        found.push((start + skipped, start + end));
    }
}

/// Adds what a script of `expect` sends after it was asked for a password.
fn find_sent(text: &str, asked: usize, found: &mut Vec<Span>) {
    const SEND: &str = "send ";
    for (at, _) in text[asked..].match_indices(SEND) {
        let at = asked + at + SEND.len();
        if text[at..].starts_with(['"', '\'']) {
            mask_value(text, at, NextWord::Secret, found);
        }
    }
}

/// Adds what `echo` and `printf` give to a program that reads a secret, and what follows `<<<`.
fn find_piped(text: &str, found: &mut Vec<Span>) {
    for command in ["echo ", "printf "] {
        let mut from = 0;
        while let Some(place) = text[from..].find(command) {
            let start = from + place + command.len();
            let end = text[start..].find(['|', '\n']).map_or(text.len(), |length| start + length);
            let value = text[start..end].trim_end();
            let is_piped = text[end..].starts_with('|');
            let options = value.len() - value.trim_start_matches(['-', ' ']).len();
            if is_piped && value.len() > options && !is_reference(value.trim_matches(['"', '\''])) {
                found.push((start, start + value.len()));
            }
            from = end;
        }
    }
    if let Some(place) = text.find("<<<") {
        let start = place + 3;
        let start = start + text[start..].len() - text[start..].trim_start().len();
        mask_value(text, start, NextWord::Secret, found);
    }
}
