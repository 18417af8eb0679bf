//! Program code in the words or the input of an interpreter: the files that it deletes, writes and reads, and the commands
//! that it runs.
//!
//! The code is not parsed. A call of a well-known function counts, whatever the language: `os.system("…")`,
//! `fs.rmSync('…')`, `unlink "…"`. A part of an argument that is not plain text becomes an unknown variable.

use super::code_reader::{CodeReader, CodeToken, UNKNOWN};
use crate::LineWalker;
use crate::effect::{Effect, FileChange, ReadScope, WriteContent};
use crate::word::Word;

/// Longer code is not searched.
const LONGEST_CODE: usize = 256 << 10;

/// What a function does with its arguments.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CallKind {
    Deletes,
    /// It writes its last argument into the file.
    Writes,
    Reads,
    /// It writes if its second argument is such a mode, and reads otherwise.
    Opens,
    /// It writes its argument into a file that is open.
    Prints,
    /// It runs a command line, or a program with its arguments.
    Runs,
    /// Its value is the path that it is given.
    Path,
}

/// Functions by their names, with as much of what stands in front of them as it takes to tell them from others.
#[rustfmt::skip]
const FUNCTIONS: &[(CallKind, &[&str])] = &[
    (CallKind::Deletes, &[
        "rmtree", "remove_tree", "os.remove", "os.rmdir", "os.removedirs", "unlinkSync", "rmSync", "rmdirSync", "removeSync", "fs.rm",
        "fs.rmdir", "fs.remove", "promises.rm", "promises.rmdir", "Deno.remove", "rimraf", "unlink", "rm_rf", "rm_r", "rm_f", "remove_dir",
        "FileUtils.rm", "FileUtils.remove", "remove_entry_secure", "File.delete", "Dir.rmdir", "Dir.delete", "rmdir",
    ]),
    (CallKind::Writes, &[
        "writeFileSync", "fs.writeFile", "appendFileSync", "fs.appendFile", "file_put_contents", "File.write", "write_text", "write_bytes",
    ]),
    (CallKind::Reads, &[
        "readFileSync", "fs.readFile", "promises.readFile", "Deno.readTextFile", "Deno.readFile", "file_get_contents", "File.read",
        "File.readlines", "File.foreach", "IO.read", "IO.readlines", "read_text", "read_bytes", "readfile",
    ]),
    (CallKind::Prints, &[".write", ".writelines", "fwrite", "fputs"]),
    (CallKind::Opens, &["open", "fopen"]),
    (CallKind::Runs, &[
        "system", "popen", "Popen", "execSync", "execFileSync", "spawnSync", "exec", "spawn", "execFile", "shell_exec", "passthru",
        "proc_open", "getoutput", "getstatusoutput", "execv", "execvp", "execve", "execl", "execlp", "capture2", "capture2e", "capture3", "popen3", "check_output", "check_call", "call", "run", "os.execute", "script",
    ]),
    (CallKind::Path, &["Path", "PosixPath", "expanduser", "abspath", "realpath", "Pathname.new"]),
];

/// What the function of this name does. A method has a dot in front of its name.
pub(super) fn find_function(name: &str) -> Option<CallKind> {
    let is_it = |function: &&str| {
        let front = name.strip_suffix(*function);
        let is_method = function.starts_with('.');
        front.is_some_and(|front| front.is_empty() || is_method || front.ends_with(['.', ':', '>']))
    };
    FUNCTIONS.iter().find(|(_, functions)| functions.iter().any(is_it)).map(|(kind, _)| *kind)
}

impl LineWalker<'_> {
    /// Reports what code does. `has_backticks`: the language runs what stands between backticks.
    pub(crate) fn report_code(&mut self, code: &str, has_backticks: bool) {
        if code.len() > LONGEST_CODE || !self.work.pay(code.len()) {
            return;
        }
        let mut reader = CodeReader::new(code);
        // The path in front of a method: `Path('x').unlink()`.
        let mut path: Option<String> = None;
        // Where the effects of the last file start that the code writes.
        let mut written = self.effects.len();
        while let Some(token) = reader.next_token() {
            let name = match token {
                CodeToken::Name(name) => name,
                CodeToken::Text { text, sign: '`' } if has_backticks => {
                    self.run_text(text);
                    continue;
                }
                _ => continue,
            };
            let owner = path.take().filter(|_| name.starts_with('.'));
            let Some(kind) = find_function(name) else { continue };
            let arguments = reader.read_arguments();
            let target = owner.as_ref().or(arguments.first());
            match (kind, target) {
                (CallKind::Path, Some(target)) => path = Some(target.clone()),
                (CallKind::Deletes, Some(target)) => self.report_code_path(target, FileChange::Delete),
                (CallKind::Writes, Some(target)) => {
                    written = self.effects.len();
                    self.report_code_path(target, FileChange::Write);
                    // With the path in front, the text is the only argument.
                    self.note_code_text(written, arguments.get(usize::from(owner.is_none())));
                }
                (CallKind::Prints, _) if name.contains("std") => {}
                (CallKind::Prints, _) => self.note_code_text(written, arguments.last()),
                (CallKind::Opens, Some(target))
                    if arguments.get(1).is_some_and(|mode| is_writing_mode(mode)) =>
                {
                    written = self.effects.len();
                    self.report_code_path(target, FileChange::Write);
                }
                (CallKind::Reads | CallKind::Opens, Some(target)) if !target.contains(UNKNOWN) => {
                    self.report_read(&Word::literal(&self.expand_code_home(target)), ReadScope::File);
                }
                (CallKind::Runs, Some(_)) => self.run_code_command(&arguments),
                _ => {}
            }
        }
    }

    /// Notes what code writes into the files whose effects start at this index.
    fn note_code_text(&mut self, from: usize, text: Option<&String>) {
        let Some(text) = text.filter(|text| !text.contains(UNKNOWN)) else { return };
        for effect in &mut self.effects[from..] {
            let Effect::Write { content, .. } = effect else { continue };
            let before: &str = match content {
                WriteContent::Adds { text } => text,
                WriteContent::Unknown => "",
                _ => continue,
            };
            if self.work.pay(before.len() + text.len()) {
                *content = WriteContent::Adds { text: format!("{before}{text}\n").into() };
            }
        }
    }

    fn expand_code_home(&self, path: &str) -> String {
        match (path.strip_prefix('~'), self.home) {
            (Some(below), Some(home)) if below.is_empty() || below.starts_with('/') => {
                format!("{home}{below}")
            }
            _ => path.to_owned(),
        }
    }

    fn report_code_path(&mut self, path: &str, change: FileChange) {
        let path = self.expand_code_home(path);
        if path.contains(UNKNOWN) || path.contains('*') {
            return self.report_unknown_target(format!("`{path}`"), change);
        }
        match change {
            FileChange::Delete => self.report_delete(&Word::literal(&path)),
            _ => self.report_write(&Word::literal(&path)),
        }
    }

    /// One text with blanks is a command line; several texts are a program and its arguments.
    fn run_code_command(&mut self, arguments: &[String]) {
        let is_known = |argument: &String| !argument.contains(UNKNOWN);
        match arguments {
            [line, ..] if line.contains(' ') => self.run_text(line.clone()),
            [program, _, ..] if is_known(program) => {
                let known = arguments.iter().filter(|argument| is_known(argument));
                let words: Vec<Word> = known.map(|argument| Word::literal(argument)).collect();
                self.run_nested_command(&words);
            }
            _ => {}
        }
    }
}

fn is_writing_mode(mode: &str) -> bool {
    mode.len() <= 3 && mode.starts_with(['w', '>']) && mode != ">>"
}
