//! What programs are told to do beyond reading, told as sentences.

mod bounds;
mod commits;
mod flutter;
mod git;
mod git_files;
mod walker;

use std::path::Path;

use crate::effect::Effect;
use crate::shell::effects;

/// Everything but reads and plain runs, as a person would say it.
fn told(line: &str) -> Vec<String> {
    let tell = |effect| match effect {
        Effect::Read { .. } | Effect::Run { .. } => None,
        Effect::Act { program, by, does } => Some(format!("{program} {by}: {does}")),
        Effect::Write { path, .. } => Some(format!("write {}", path.display())),
        Effect::Delete { path } => Some(format!("delete {}", path.display())),
        Effect::Obscure { what } | Effect::Somewhere { target: what, .. } => Some(format!("obscure {what}")),
        Effect::SetVariable { name, .. } => Some(format!("set {name}")),
        other => Some(format!("{other:?}")),
    };
    effects(line, Path::new("/p"), Some(Path::new("/h"))).into_iter().filter_map(tell).collect()
}

/// Nothing is said about these lines: they read.
fn read(lines: &[&str]) {
    for line in lines {
        assert_eq!(told(line), [""; 0], "{line}");
    }
}

/// Each line does at least what stands beside it.
fn act(lines: &[(&str, &str)]) {
    for (line, wanted) in lines {
        let found = told(line);
        assert!(found.iter().any(|effect| effect == wanted), "{line}: {found:?}");
    }
}

/// Something in each of these lines cannot be vouched for.
fn obscure(lines: &[&str]) {
    for line in lines {
        let found = told(line);
        assert!(found.iter().any(|effect| effect.starts_with("obscure")), "{line}: {found:?}");
    }
}

#[test]
fn programs_that_only_read_take_any_words() {
    read(&[
        "cat -A f --made-up",
        "head -n5 f",
        "tail -f log",
        "wc -l *.rs",
        "ls -la --color",
        "stat -c %s f",
        "du -sh .",
        "df -h",
        "echo -n --output=f rm",
        "pwd -P",
        "which -a git",
        "type ls",
        "command -v fvm",
        "grep -rn --include=*.rs 'a > b' src",
        "egrep x f",
        "fgrep -f list f",
        "cut -d: -f1",
        "tr a b",
        "comm a b",
        "cmp a b",
        "sha256sum f",
        "md5sum -c f",
        "basename a/b",
        "dirname a/b",
        "realpath .",
        "readlink -f .",
        "seq 1 5",
        "nl f",
        "column -t",
        "jq -r .a f",
        "printenv HOME",
        "yes",
        "sleep 1",
        "true",
        "false",
        ":",
        "diff -u a b",
        "printf '%s\\n' a",
        "env",
    ]);
}

#[test]
fn rg_reads_unless_it_runs_something_for_each_file() {
    read(&[
        "rg foo",
        "rg -n 'fn main' src",
        "rg -e '->' -g '*.rs' -C3",
        "rg --files -uu",
        "rg -tpy -A 2 x .",
        "rg --pre-glob '*.gz' x",
        "rg -- --pre",
        "rg --no-ignore --hidden --glob '!x' y",
        "rg -e --pre x",
        "rg --type-add 'a:*.b' x",
        "rg --no-pre x",
        "rg -inw x",
    ]);
    act(&[
        ("rg --pre ./evil x", "rg --pre: runs another program"),
        ("rg --pre=./evil x", "rg --pre: runs another program"),
        ("rg --hostname-bin=evil x", "rg --hostname-bin: runs another program"),
        ("rg --host evil x", "rg --hostname-bin: runs another program"),
        ("rg -z x", "rg -z: runs another program"),
        ("rg -nz x", "rg -z: runs another program"),
        ("rg --search-zip x", "rg --search-zip: runs another program"),
        ("rg x --pre evil", "rg --pre: runs another program"),
    ]);
    obscure(&["rg --made-up x", "rg -Y x", "rg --pr$X y", "rg \"-$X\" y"]);
}

#[test]
fn the_program_that_an_option_names_is_run() {
    let runs = |line: &str, wanted: &str| {
        let found = effects(line, Path::new("/p"), None);
        let is_run = |effect: &Effect| matches!(effect, Effect::Run { program, .. } if program == wanted);
        assert!(found.iter().any(is_run), "{line}: {found:?}");
    };
    runs("rg --pre ./evil x", "./evil");
    runs("sort --compress-program=evil f", "evil");
    runs("find . -exec grep -l x {} +", "grep");
    runs("find . -execdir wc {} \\;", "wc");
    runs("find . -ok rm {} \\; -name x", "rm");
    runs("fvm exec melos run", "melos");
    runs("env cat f", "env");
    runs("env cat f", "cat");
    runs("git ls-remote --upload-pack=evil x", "evil");
}

#[test]
fn find_searches_deletes_writes_and_runs() {
    read(&[
        "find . -name '*.rs' -type f",
        "find src -maxdepth 2 -not -path './target/*' -print0",
        "find . \\( -name a -o -name b \\) -prune -o -print",
        "find . -newermt 2024-01-01 -size +1M -ls",
        "find -L . -mtime -1 -printf '%p\\n' -quit",
        "find",
        "find . -name -delete",
        "find . -name '*.rs' -exec grep -l main {} +",
        "find . -exec cat {} \\; -exec wc -l {} \\;",
    ]);
    act(&[
        ("find . -delete", "find -delete: deletes files"),
        ("find build -delete", "delete /p/build"),
        ("find . -name '*.o' -delete", "find -delete: deletes files"),
        ("find . -fprint out", "find -fprint: writes a file"),
        ("find . -fprint out", "write /p/out"),
        ("find . -fprintf out %p", "write /p/out"),
        ("find . -fls out", "write /p/out"),
        ("find . -fprint0 out", "find -fprint0: writes a file"),
        ("find . -exec rm {} \\;", "obscure `{}`"),
        ("find . -exec rm f \\;", "delete /p/f"),
        ("find . -exec find . -exec rm f \\;", "delete /p/f"),
        ("find . -execdir sh -c 'rm f' \\;", "delete /p/f"),
        ("find . -ok tee f \\;", "write /p/f"),
        ("find . -exec sort -o f {} +", "sort -o: writes a file"),
        ("find . -exec sed -i s/a/b/ {} +", "sed -i: writes the files that it is given"),
        ("find . -exec cat {} + -delete", "find -delete: deletes files"),
        ("find . -exec git checkout f \\;", "git checkout: changes files of the project"),
    ]);
    assert!(!told("find . -name '*.o' -delete").contains(&"delete /p/.".to_owned()));
    obscure(&[
        "find . -made-up",
        "find $X -name a",
        "find . $X",
        "find . -exec {} \\;",
        "find . -exec sh -c 'cat {}' \\;",
        "find . -exec grep $X {} +",
    ]);
}

#[test]
fn sort_tree_file_and_date_read_unless_an_option_says_otherwise() {
    read(&[
        "sort -u f",
        "sort -k2,2 -t, f",
        "sort --reverse --key=1 f",
        "sort -rn",
        "sort --rev f",
        "sort --files0-from=list",
        "tree -L 2",
        "tree -a -I 'node_modules|.git' --dirsfirst src",
        "tree -d --noreport",
        "file f",
        "file -b --mime-type f",
        "file -m magic f",
        "date",
        "date +%F",
        "date -u -d yesterday +%s",
        "uniq -c",
        "uniq -f 1 f",
        "hostname",
        "hostname -s",
    ]);
    act(&[
        ("sort -o f g", "sort -o: writes a file"),
        ("sort -uof g", "write /p/f"),
        ("sort --output=f g", "sort --output: writes a file"),
        ("sort --out f g", "write /p/f"),
        ("sort g --o=f", "sort --output: writes a file"),
        ("sort --compress-program=x g", "sort --compress-program: runs another program"),
        ("sort -T /x g", "sort -T: writes temporary files into a directory"),
        ("tree -o f", "write /p/f"),
        ("tree -ao f", "tree -o: writes a file"),
        ("tree -Lo 2 f", "tree -o: writes a file"),
        ("tree -L 2 -R", "tree -R: writes 00Tree.html into directories"),
        ("file -C -m magic", "file -C: writes a file"),
        ("file --comp -m magic", "file --compile: writes a file"),
        ("file -z f", "file -z: runs another program"),
        ("date -s 12:00", "date -s: sets the clock"),
        ("date --set=12:00", "date --set: sets the clock"),
        ("date 01010000", "date an operand: sets the clock"),
        ("hostname x", "hostname an operand: sets the name of the machine"),
        ("uniq a b", "write /p/b"),
        ("uniq -f 1 a b", "write /p/b"),
        ("diff -l a b", "diff -l: runs another program"),
        ("xxd -r a b", "write /p/b"),
        ("xxd a b", "write /p/b"),
        ("less f", "less less: runs other programs at the press of a key"),
        ("more f", "more more: runs other programs at the press of a key"),
        ("printf -v PATH x", "set PATH"),
        ("base64 -i f -o g", "write /p/g"),
        ("printf -vPATH x", "set PATH"),
    ]);
    read(&["xxd f", "xxd -l 16 f", "xxd -r f", "xxd -s 4 -l 2 f"]);
    obscure(&[
        "sort --made-up",
        "tree --made-up",
        "tree -P -- -o f",
        "file --made-up f",
        "printf -v 'a[$(x)]' y",
    ]);
}

#[test]
fn tests_read_unless_they_evaluate() {
    read(&[
        "test -f f",
        "[ -n \"$X\" ]",
        "[ \"$X\" = y ]",
        "[ -v NAME ]",
        "test -v 1",
        "[ -d a ] && ls",
        "[ \"$a\" = \"$b\" -a -f c ]",
        "[ a -eq 1 ]",
        "[[ -n $x ]]",
        "[[ 3 -gt 2 ]]",
    ]);
    obscure(&[
        "test -v 'a[$(x)]'",
        "[ -v \"$X\" ]",
        "[ -R 'a[0]' ]",
        "[[ -v a[0] ]]",
        "[[ 'a[$(x)]' -eq 1 ]]",
        "[[ 1 -lt x ]]",
    ]);
}

#[test]
fn sed_and_awk_read_when_their_program_only_prints() {
    read(&[
        "sed -n '1,20p' f",
        "sed s/a/b/g f",
        "sed -e '/x/d' -e 's|a|b|' f",
        "sed -En '/a/,/b/p' f",
        "sed --expression='$d' f",
        "awk '{print $1}' f",
        "awk -F: '$3 > 5 {print $1}' f",
        "awk -v n=1 'NR==n' f",
        "awk '/re/' f",
        "gawk --version",
    ]);
    act(&[
        ("sed -i s/a/b/ f", "sed -i: writes the files that it is given"),
        ("sed -ni.bak p f", "sed -i: writes the files that it is given"),
        ("sed --in-place=.b p f", "sed --in-place: writes the files that it is given"),
        ("sed 'w out' f", "write /p/out"),
        ("sed -n '/x/w out' f", "sed w: writes a file"),
        ("sed s/a/b/e f", "sed e: runs another program"),
        ("sed -f script f", "sed -f: runs a script"),
    ]);
    obscure(&[
        "sed \"$X\" f",
        "sed -l 'w f' p",
        "sed 's/[/]/x/' f",
        "awk '{print > \"f\"}'",
        "awk '{print | \"sh\"}'",
        "awk 'BEGIN{system(\"x\")}'",
        "awk 'BEGIN{\"x\" | getline}'",
        "awk -f prog f",
        "awk \"$X\" f",
        "gawk '@load \"x\"'",
        "gawk -i inplace 1 f",
    ]);
}

#[test]
fn interpreters_run_code() {
    act(&[
        ("python3 -c 'x'", "python3 -c: runs program code"),
        ("python3.11 a.py", "python3.11 a.py: runs program code"),
        ("python -u a.py", "python a.py: runs program code"),
        ("node -e 1", "node -e: runs program code"),
        ("ruby a.rb", "ruby a.rb: runs program code"),
        ("perl -ne print f", "perl print: runs program code"),
        ("php a.php", "php a.php: runs program code"),
        ("lua5.4 a.lua", "lua5.4 a.lua: runs program code"),
        ("deno run a.ts", "deno run: runs program code"),
        ("bun x", "bun x: runs program code"),
        ("Rscript a.R", "Rscript a.R: runs program code"),
        ("osascript -e x", "osascript -e: runs program code"),
        ("python3", "python3 python3: runs program code"),
        ("python3 --version x.py", "python3 x.py: runs program code"),
    ]);
    read(&["python3 --version", "python -V", "node -v", "ruby --version", "perl -v", "php --help"]);
}

#[test]
fn file_commands_write_and_delete() {
    act(&[
        ("mkdir -p d", "write /p/d"),
        ("touch f", "write /p/f"),
        ("truncate -s 0 f", "write /p/f"),
        ("chmod +x f", "write /p/f"),
        ("rmdir d", "delete /p/d"),
        ("x | tee -a f", "write /p/f"),
        ("dd of=f", "write /p/f"),
        ("command time -o f ls", "write /p/f"),
    ]);
    assert!(told("ln -s a b").iter().any(|effect| effect.starts_with("Place")));
    assert!(told("install -m 755 a b").iter().any(|effect| effect.starts_with("Place")));
}

#[test]
fn words_that_xargs_reads_may_be_options() {
    read(&["ls | xargs cat", "ls | xargs -n1 wc -l", "ls | xargs grep x"]);
    obscure(&["ls | xargs sort", "ls | xargs rg x", "ls | xargs git log", "ls | xargs -I{} find {}"]);
}
