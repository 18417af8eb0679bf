//! Programs that start the program that their words name: `npx`, `uv run`, `docker exec`.
//!
//! What a local runner starts counts as if it stood alone. What a remote one starts does not run on this machine, or runs
//! in a container with files of its own: it is a started program, and nothing else of it counts. The table of
//! [`pattern`](crate::pattern) says which options take values.

use super::is_listed;
use crate::pattern::OptionScope;
use crate::word::Word;

/// How a runner is told what to start.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StartForm {
    /// By the words after its operands.
    Words,
    /// By the words after `--`.
    AfterDashes,
    /// By the name of a package, which may have a version: `npx tool@2`.
    Package,
    /// By words that a shell reads as one line.
    Line,
    /// By an option only.
    Option,
}

struct Runner {
    programs: &'static str,
    /// The command with its subcommands; `|` separates alternatives.
    commands: &'static str,
    /// How many operands stand in front of the program.
    operands: usize,
    form: StartForm,
    is_remote: bool,
    /// Options whose value is a line of the shell.
    line_options: &'static str,
    /// Options after which only the words of the command follow.
    word_options: &'static str,
}

const fn local(programs: &'static str, commands: &'static str, form: StartForm) -> Runner {
    Runner { programs, commands, operands: 0, form, is_remote: false, line_options: "", word_options: "" }
}

const fn remote(programs: &'static str, commands: &'static str, form: StartForm) -> Runner {
    Runner { is_remote: true, ..local(programs, commands, form) }
}

impl Runner {
    const fn operands(self, operands: usize) -> Self {
        Self { operands, ..self }
    }

    const fn line_options(self, line_options: &'static str) -> Self {
        Self { line_options, ..self }
    }

    const fn word_options(self, word_options: &'static str) -> Self {
        Self { word_options, ..self }
    }
}

static RUNNERS: &[Runner] = &[
    local("npx pnpx bunx", "", StartForm::Package).line_options("-c --call"),
    local("npm", "exec|x", StartForm::Package).line_options("-c --call"),
    local("pnpm yarn", "exec|dlx", StartForm::Package),
    local("bun", "x", StartForm::Package),
    local("uvx corepack", "", StartForm::Package),
    local("uv", "tool run", StartForm::Package),
    local("pipx", "run", StartForm::Package),
    local(
        "uv poetry pipenv pdm hatch rye pixi conda mamba micromamba devbox toolbox",
        "run",
        StartForm::Words,
    ),
    local("bundle rbenv pyenv nodenv goenv jenv asdf", "exec", StartForm::Words),
    local("mise rtx", "exec|x", StartForm::AfterDashes).line_options("-c --command"),
    local("direnv aws-vault", "exec", StartForm::Words).operands(1),
    local("rustup", "run", StartForm::Words).operands(1),
    local("doppler infisical", "run", StartForm::AfterDashes).line_options("--command"),
    local("op dotenvx", "run", StartForm::AfterDashes),
    local("chamber lerna nx", "exec", StartForm::AfterDashes),
    local("distrobox", "enter", StartForm::AfterDashes),
    local("flox", "activate", StartForm::AfterDashes),
    local("sops", "exec-env", StartForm::Line).operands(1),
    local("dotenv", "run", StartForm::Words),
    local("dotenv cross-env env-cmd watchexec entr caffeinate xvfb-run rlwrap", "", StartForm::Words),
    local(
        "proxychains proxychains4 torsocks firejail dumb-init tini systemd-run screen",
        "",
        StartForm::Words,
    ),
    local("gosu su-exec faketime", "", StartForm::Words).operands(1),
    local("cross-env-shell", "", StartForm::Line),
    local("tmux", "new-session|new|new-window|neww|split-window|splitw", StartForm::Line),
    local("nix-shell", "", StartForm::Option).line_options("--run --command"),
    local("nix", "develop|shell", StartForm::Option).word_options("-c --command"),
    local("fd fdfind", "", StartForm::Option).word_options("-x -X --exec --exec-batch"),
    local("nodemon", "", StartForm::Option).line_options("-x --exec"),
    local("cargo", "watch", StartForm::Option).line_options("-s --shell"),
    remote("docker podman nerdctl docker-compose podman-compose", "exec|run", StartForm::Words).operands(1),
    remote("docker podman nerdctl", "compose|container exec|run", StartForm::Words).operands(1),
    remote("kubectl oc", "exec|run|debug", StartForm::AfterDashes),
    remote("ssh", "", StartForm::Line).operands(1),
    remote("heroku", "run", StartForm::Words),
    remote("devcontainer", "exec", StartForm::Words),
    remote("vagrant", "ssh", StartForm::Option).line_options("-c --command"),
    remote("fly flyctl", "ssh console", StartForm::Option).line_options("-C --command"),
    remote("gcloud", "compute ssh", StartForm::Option).line_options("--command"),
];

/// What a runner starts.
pub(super) struct StartedCommand<'w> {
    pub(super) is_remote: bool,
    pub(super) form: CommandForm<'w>,
}

pub(super) enum CommandForm<'w> {
    /// The words from this index on.
    Words { from: usize, is_package: bool },
    /// A word that is a line of the shell.
    Line(Word<'w>),
    /// The words from this index on, as one line of the shell.
    JoinedLine(usize),
}

/// Finds what a program starts, if it is a runner.
pub(super) fn find_started_command<'w>(program: &str, words: &'w [Word<'w>]) -> Option<StartedCommand<'w>> {
    let mut rows = RUNNERS.iter().filter(|row| is_listed(row.programs, program));
    rows.find_map(|row| {
        let form = row.find_command(program, words)?;
        Some(StartedCommand { is_remote: row.is_remote, form })
    })
}

impl Runner {
    fn find_command<'w>(&self, program: &str, words: &'w [Word<'w>]) -> Option<CommandForm<'w>> {
        let mut scope = OptionScope::new(program);
        let mut commands = self.commands.split_ascii_whitespace().peekable();
        let mut operands = self.operands;
        let (mut at, mut has_ended) = (0, false);
        while let Some(word) = words.get(at) {
            let text = word.prefix();
            let is_command = commands.peek().is_none();
            if text == "--" && !has_ended && word.text().is_some() {
                if is_command && self.form == StartForm::AfterDashes {
                    return Some(CommandForm::Words { from: at + 1, is_package: false });
                }
                has_ended = true;
            } else if text.starts_with('-') && text.len() > 1 && !has_ended {
                if is_command && let Some(form) = self.find_in_option(words, at) {
                    return Some(form);
                }
                at += usize::from(scope.takes_next_word(text));
            } else if let Some(command) = commands.next() {
                let name = word.text().filter(|name| command.split('|').any(|one| one == *name))?;
                scope.enter_command(name);
            } else if operands > 0 {
                operands -= 1;
            } else if !matches!(self.form, StartForm::AfterDashes | StartForm::Option) {
                return Some(self.start_at(words, at));
            }
            at += 1;
        }
        // A shell on the other machine reads its commands from its input.
        let reads_input = self.form == StartForm::Line && self.is_remote && operands == 0;
        reads_input.then_some(CommandForm::JoinedLine(words.len()))
    }

    fn start_at<'w>(&self, words: &'w [Word<'w>], at: usize) -> CommandForm<'w> {
        // Without signs of the shell, a line is its words.
        let is_line =
            |word: &Word| word.prefix().contains(|c: char| c.is_whitespace() || ";&|<>()$`".contains(c));
        if self.form == StartForm::Line && words[at..].iter().any(is_line) {
            return CommandForm::JoinedLine(at);
        }
        CommandForm::Words { from: at, is_package: self.form == StartForm::Package }
    }

    /// The command that the option at this index gives.
    fn find_in_option<'w>(&self, words: &'w [Word<'w>], at: usize) -> Option<CommandForm<'w>> {
        let word = &words[at];
        let (name, attached) = match word.prefix().split_once('=') {
            Some((name, _)) => (name, Some(word.skip_bytes(name.len() + 1))),
            None => (word.text()?, None),
        };
        if is_listed(self.word_options, name) {
            return Some(CommandForm::Words { from: at + 1, is_package: false });
        }
        is_listed(self.line_options, name)
            .then(|| attached.or_else(|| words.get(at + 1).cloned()))
            .flatten()
            .map(CommandForm::Line)
    }
}

/// The name of a package without its version: `tool@2`, but not `@scope/tool`.
pub(super) fn strip_version(package: &str) -> &str {
    match package.rfind('@') {
        Some(at) if at > 0 => &package[..at],
        _ => package,
    }
}
