//! Which words of a line are files that it reads or changes.

use super::*;
use crate::effect::{FileChange, ReadScope};

/// The files of a line: a name is read, `NAME/` is searched, `NAME/**` is copied with all below it, `>NAME` is written
/// and `-NAME` is deleted.
fn list_files(line: &str) -> String {
    let show = |path: &Path| path.strip_prefix("/p").unwrap_or(path).display().to_string();
    let describe = |effect| match effect {
        Effect::Read { path, scope: ReadScope::File } => Some(show(&path)),
        Effect::Read { path, scope: ReadScope::Search } => Some(show(&path) + "/"),
        Effect::Read { path, scope: ReadScope::Tree } => Some(show(&path) + "/**"),
        Effect::Write { path, .. } => Some(format!(">{}", show(&path))),
        Effect::Delete { path } => Some(format!("-{}", show(&path))),
        Effect::UnknownRead { target, .. } => Some(format!("?{}", target.trim_matches('`'))),
        Effect::ChangeBelow { directory, change: FileChange::Delete } => {
            Some(format!("-{}/**", show(&directory)))
        }
        Effect::ChangeBelow { directory, .. } => Some(format!(">{}/**", show(&directory))),
        _ => None,
    };
    let found = effects(line, Path::new("/p"), None).into_iter().filter_map(describe);
    found.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_read_of_an_unknown_file_is_reported() {
    for (line, files) in [
        ("cat \"$F\"", "?\"$F\""),
        ("cat $(which x)", "?$(which x)"),
        ("cat .e* a", "?.e* a"),
        ("cp -r ~/.ss* x", "?~/.ss*"),
        ("grep -r key $D", "?$D"),
        ("sort < $F", "?$F"),
        ("dd if=$F of=x", "?$F >x"),
        ("cd $D && cat a", "?a a"),
        ("kill $PID; npm install $P; git show $R; git push origin $B", ""),
    ] {
        assert_eq!(list_files(line), files, "{line}");
    }
}

#[test]
fn files_that_no_word_names_change_below_a_directory() {
    for (line, files) in [
        ("tar xzf a.tgz", ">/** a.tgz"),
        ("tar xf a.tar -C d", ">d/** a.tar"),
        ("tar xf a.tar m", ">m >m/** a.tar"),
        ("tar tf a.tar", "a.tar"),
        ("tar xOf a.tar", "a.tar"),
        ("unzip a.zip -d d", ">d/**"),
        ("unzip -l a.zip", ""),
        ("7z x a.7z -od", ">d/** x a.7z"),
        ("rsync -a --delete s/ d/", "s/** -d/**"),
    ] {
        assert_eq!(list_files(line), files, "{line}");
    }
}

#[test]
fn words_that_are_no_files_are_not_read() {
    for line in [
        "git push",
        "git push origin feature/x",
        "git commit -m msg",
        "git commit -am 'a b' --author='A <a@b>'",
        "git -C d log --grep=x",
        "git -c a.b=c status",
        "git switch -c x/y",
        "git merge -m msg x",
        "kill -9 123",
        "echo a b",
        "npm install pkg @scope-less",
        "npm run build",
        "docker run -it image sh",
        "make test -j 4",
        "cargo test name -p pkg --features=a",
        "cargo build --release",
        "ssh host cat /etc/passwd",
        "ssh -p 22 user@host ls",
        "grep -rn x",
        "tr a b",
        "sleep 5",
        "seq 1 5",
        "which git",
        "sed s/a/b/",
        "awk -F: '{print $1}'",
        "jq -r .x",
        "head -n 5",
        "find . -name x -type f | sort -k 2 -t ,",
        "curl https://host/x",
        "basename /a/b",
    ] {
        let files = list_files(line);
        assert!(files.is_empty() || files == ".", "{line}: {files}");
    }
}

#[test]
fn files_are_read_and_written_whatever_words_are_around_them() {
    for (line, wanted) in [
        ("chmod 777 x", ">x"),
        ("chmod -R u+w x", ">x"),
        ("chmod -x x", ">x"),
        ("chmod --reference=r x", ">x"),
        ("chown -R user:group f", ">f"),
        ("chown --reference=r f", ">f"),
        ("grep PATTERN f g", "f g"),
        ("grep -e PATTERN f", "f"),
        ("grep -ie PATTERN f", "f"),
        ("grep -f patterns f", "patterns f"),
        ("grep -A 3 -m1 PATTERN f", "f"),
        ("grep --regexp=x f", "f"),
        ("grep -rn x d", "d/"),
        ("grep -- x f", "f"),
        ("grep $X f", "f"),
        ("rg x d", "d/"),
        ("rg --files d", "d/"),
        ("rg -g '*.rs' -tmd x d", "d/"),
        ("sed -n 1,5p f", "f"),
        ("sed -e s/a/b/ -e p f", "f"),
        ("sed -f script f", "script f"),
        ("sed '' f", "f"),
        ("sed -i '' f g", ">f >g"),
        ("sed --exp=p f", "f"),
        ("tail -5c f", "f"),
        ("chmod --ref=r f", ">f"),
        ("gawk -e '{print}' f", "{print} f"),
        ("grep -C x f", "f"),
        ("git diff --no-index --pretty f g", "f g"),
        ("yq f", "f"),
        ("cargo -Zscript seal.key", "seal.key"),
        ("cat x://f", "x://f"),
        ("awk -v a=1 '{print}' f", "f"),
        ("awk -f prog f", "prog f"),
        ("jq .x f", "f"),
        ("jq -f prog f", "prog f"),
        ("head -n 5 f", "f"),
        ("head -5 f", "f"),
        ("tail -fn5 f", "f"),
        ("tail --lines 5 f", "f"),
        ("sort -k 2 -t , f", "f"),
        ("cut -d : -f 1 f", "f"),
        ("head -n $X f", "f"),
        ("touch -d yesterday f", ">f"),
        ("mkdir -p -m 700 d", ">d"),
        ("git add f", "f"),
        ("git diff a/b f", "a/b f"),
        ("git commit -F f", "f"),
        ("git tag -F f v1", "f"),
        ("git hash-object f", "f"),
        ("git -C d blame f", "d/f"),
        ("npm install ./pkg", "pkg"),
        ("npm run x f", "f"),
        ("npm exec x f", "x f f"),
        ("cargo run f", "f"),
        ("cargo test -- f", "f"),
        ("go run f.go", "f.go"),
        ("gh gist create f", "create f"),
        ("docker cp f box:", "f box:"),
        ("uv run f", "f"),
        ("pip install -r f", "f"),
        ("make -f sub/Makefile x", "sub/Makefile"),
        ("make -f Makefile.x y", "Makefile.x"),
        ("docker build -f d/f ..", "d/f .."),
        ("ssh -i key host", "key"),
        ("find a b -name x -newer f", "a b f"),
        ("find a -exec rm b \\; > c", ">c -b a"),
        ("unheard-of f g", "f g"),
        ("cat f", "f"),
        ("cp a b", "a"),
        ("cp -r a b", "a/**"),
        ("mv a b", "-a a/**"),
        ("tar czf x.tgz d", "d/** >x.tgz"),
        ("zip x.zip d", ">x.zip d/**"),
        ("rsync -a d h:", "d/**"),
        ("scp f h:", "f/**"),
        ("dd if=a of=b", "a >b"),
        ("source env", "env"),
        ("nc host < f", "f host"),
    ] {
        assert_eq!(list_files(line), wanted, "{line}");
    }
}
