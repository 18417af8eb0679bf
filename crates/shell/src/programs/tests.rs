//! What options and operands make programs do beyond reading, as short texts.

mod arguments;
mod bounds;
mod commits;
mod flutter;
mod git;
mod git_files;
mod patches;
mod pushes;
mod runs;

use std::path::Path;

use crate::effect::Effect;
use crate::effects;

/// All effects but reads and plain runs.
fn list_changes(line: &str) -> Vec<String> {
    let describe = |effect| match effect {
        Effect::Read { .. } | Effect::UnknownRead { .. } | Effect::Run { .. } => None,
        Effect::MutatingOption { program, by, does } => Some(format!("{program} {by}: {does}")),
        Effect::Write { path, .. } => Some(format!("write {}", path.display())),
        Effect::Delete { path } => Some(format!("delete {}", path.display())),
        Effect::Unparsed { what, .. } | Effect::UnknownTarget { target: what, .. } => {
            Some(format!("obscure {what}"))
        }
        Effect::SetVariable { name, .. } => Some(format!("set {name}")),
        other => Some(format!("{other:?}")),
    };
    effects(line, Path::new("/p"), Some(Path::new("/h"))).into_iter().filter_map(describe).collect()
}

/// These lines only read.
fn assert_only_reads(lines: &[&str]) {
    for line in lines {
        assert_eq!(list_changes(line), [""; 0], "{line}");
    }
}

/// Each line has at least the effect beside it.
fn assert_mutates(lines: &[(&str, &str)]) {
    for (line, wanted) in lines {
        let changes = list_changes(line);
        assert!(changes.iter().any(|effect| effect == wanted), "{line}: {changes:?}");
    }
}

/// Something in each of these lines is unparsed.
fn assert_unparsed(lines: &[&str]) {
    for line in lines {
        let changes = list_changes(line);
        assert!(changes.iter().any(|effect| effect.starts_with("obscure")), "{line}: {changes:?}");
    }
}

#[test]
fn reading_programs_accept_any_words() {
    assert_only_reads(&[
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
fn rg_only_reads_unless_it_runs_a_program_for_each_file() {
    assert_only_reads(&[
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
    assert_mutates(&[
        ("rg --pre ./evil x", "rg --pre: runs another program"),
        ("rg --pre=./evil x", "rg --pre: runs another program"),
        ("rg --hostname-bin=evil x", "rg --hostname-bin: runs another program"),
        ("rg --host evil x", "rg --hostname-bin: runs another program"),
        ("rg -z x", "rg -z: runs another program"),
        ("rg -nz x", "rg -z: runs another program"),
        ("rg --search-zip x", "rg --search-zip: runs another program"),
        ("rg x --pre evil", "rg --pre: runs another program"),
    ]);
    assert_unparsed(&["rg --made-up x", "rg -Y x", "rg --pr$X y", "rg \"-$X\" y"]);
}

#[test]
fn a_program_that_an_option_names_runs() {
    let runs = |line: &str, wanted: &str| {
        let changes = effects(line, Path::new("/p"), None);
        let is_run = |effect: &Effect| matches!(effect, Effect::Run { program, .. } if program == wanted);
        assert!(changes.iter().any(is_run), "{line}: {changes:?}");
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
    assert_only_reads(&[
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
    assert_mutates(&[
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
    assert!(!list_changes("find . -name '*.o' -delete").contains(&"delete /p/.".to_owned()));
    assert_unparsed(&[
        "find . -made-up",
        "find $X -name a",
        "find . $X",
        "find . -exec {} \\;",
        "find . -exec sh -c 'cat {}' \\;",
        "find . -exec grep $X {} +",
    ]);
}

#[test]
fn sort_tree_file_and_date_only_read_without_mutating_options() {
    assert_only_reads(&[
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
    assert_mutates(&[
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
    assert_only_reads(&["xxd f", "xxd -l 16 f", "xxd -r f", "xxd -s 4 -l 2 f"]);
    assert_unparsed(&[
        "sort --made-up",
        "tree --made-up",
        "tree -P -- -o f",
        "file --made-up f",
        "printf -v 'a[$(x)]' y",
    ]);
}

#[test]
fn tests_only_read_unless_they_evaluate() {
    assert_only_reads(&[
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
    assert_unparsed(&[
        "test -v 'a[$(x)]'",
        "[ -v \"$X\" ]",
        "[ -R 'a[0]' ]",
        "[[ -v a[0] ]]",
        "[[ 'a[$(x)]' -eq 1 ]]",
        "[[ 1 -lt x ]]",
    ]);
}

#[test]
fn sed_and_awk_only_read_if_their_program_only_prints() {
    assert_only_reads(&[
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
    assert_mutates(&[
        ("sed -i s/a/b/ f", "sed -i: writes the files that it is given"),
        ("sed -ni.bak p f", "sed -i: writes the files that it is given"),
        ("sed --in-place=.b p f", "sed --in-place: writes the files that it is given"),
        ("sed 'w out' f", "write /p/out"),
        ("sed -n '/x/w out' f", "sed w: writes a file"),
        ("sed s/a/b/e f", "sed e: runs another program"),
        ("sed -f script f", "sed -f: runs a script"),
    ]);
    assert_unparsed(&[
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
    assert_mutates(&[
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
    assert_only_reads(&[
        "python3 --version",
        "python -V",
        "node -v",
        "ruby --version",
        "perl -v",
        "php --help",
    ]);
}

#[test]
fn file_commands_write_and_delete() {
    assert_mutates(&[
        ("mkdir -p d", "write /p/d"),
        ("touch f", "write /p/f"),
        ("truncate -s 0 f", "write /p/f"),
        ("chmod +x f", "write /p/f"),
        ("rmdir d", "delete /p/d"),
        ("x | tee -a f", "write /p/f"),
        ("dd of=f", "write /p/f"),
        ("command time -o f ls", "write /p/f"),
    ]);
    assert!(list_changes("ln -s a b").iter().any(|effect| effect.starts_with("Place")));
    assert!(list_changes("install -m 755 a b").iter().any(|effect| effect.starts_with("Place")));
}

#[test]
fn words_that_xargs_reads_may_be_options() {
    assert_only_reads(&["ls | xargs cat", "ls | xargs -n1 wc -l", "ls | xargs grep x"]);
    assert_unparsed(&["ls | xargs sort", "ls | xargs rg x", "ls | xargs git log", "ls | xargs -I{} find {}"]);
}
