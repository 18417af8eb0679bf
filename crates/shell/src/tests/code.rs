//! What the code of an interpreter does, as far as plain texts say it.

use super::*;
use crate::effect::{ReadScope, WriteContent};

/// `-path` for each deletion, `+path` for each write, `?word` for a target that is not known, `!program` for each run.
fn list_done(line: &str) -> Vec<String> {
    let describe = |effect| match effect {
        Effect::Delete { path } => Some(format!("-{}", path.display())),
        Effect::Write { path, .. } => Some(format!("+{}", path.display())),
        Effect::UnknownTarget { target, .. } => Some(format!("?{}", target.trim_matches('`'))),
        Effect::Run { program, .. } if !is_interpreter(&program) => Some(format!("!{program}")),
        _ => None,
    };
    effects(line, Path::new("/p"), Some(Path::new("/h"))).into_iter().filter_map(describe).collect()
}

fn is_interpreter(program: &str) -> bool {
    ["python3", "node", "perl", "ruby", "php", "awk", "echo", "cat"].contains(&program)
}

#[test]
fn calls_with_plain_texts_have_their_effects() {
    for (line, wanted) in [
        ("python3 -c \"import os; os.remove('a')\"", &["-/p/a"][..]),
        ("python3 -c \"import os; os.system('rm -rf /x')\"", &["!rm", "-/x"]),
        ("python3 -c \"subprocess.run(['rm', '-rf', '/x'], check=True)\"", &["!rm", "-/x"]),
        ("python3 -c \"s.call('rm /x', shell=True)\"", &["!rm", "-/x"]),
        ("python3 -c \"Path('/x').unlink()\"", &["-/x"]),
        ("python3 -c \"shutil.rmtree(os.path.expanduser('~/x'))\"", &["-/h/x"]),
        ("python3 -c \"open('/x', 'w').write('')\"", &["+/x"]),
        ("python3 -c \"open('/x')\"", &[]),
        ("python3 -c \"rmtree(f'/home/{u}/x')\"", &["?/home/$_/x"]),
        ("python3 -c \"rmtree('/home/' + u)\"", &["?/home/$_"]),
        ("python3 -c \"rmtree(x)\"", &["?$_"]),
        ("python3 -c \"names.remove('/x')\"", &[]),
        ("python3 -c \"print('os.remove(1)')\"", &[]),
        ("python3 - <<'X'\n# don't\nos.remove('a')\nX", &["-/p/a"]),
        ("python3 <<< \"os.remove('a')\"", &["-/p/a"]),
        ("echo \"os.remove('a')\" | python3", &["-/p/a"]),
        ("python3 a.py \"os.remove('a')\"", &[]),
        ("cat <<'X'\nos.remove('a')\nX", &[]),
        ("node -e \"require('fs').rmSync('/x', {recursive: true})\"", &["-/x"]),
        ("node -e \"cp.spawnSync('rm', ['-r', '/x'])\"", &["!rm", "-/x"]),
        ("node -e 'fs.rmSync(`${d}/x`)'", &["?$_/x"]),
        ("perl -e 'unlink \"/x\"'", &["-/x"]),
        ("perl -e 'rmtree(\"/x\")'", &["-/x"]),
        ("ruby -e '`rm /x`'", &["!rm", "-/x"]),
        ("ruby -rfileutils -e 'FileUtils.rm_rf(\"/x\")'", &["-/x"]),
        ("php -r 'shell_exec(\"rm /x\");'", &["!rm", "-/x"]),
        ("awk 'BEGIN{system(\"rm /x\")}'", &["!rm", "-/x"]),
    ] {
        assert_eq!(list_done(line), wanted, "{line}");
    }
}

#[test]
fn code_reads_the_files_that_plain_texts_name() {
    let reads = |line: &str, file: &str| {
        let read = Effect::Read { path: file.into(), scope: ReadScope::File };
        effects(line, Path::new("/p"), Some(Path::new("/h"))).contains(&read)
    };
    for (line, file) in [
        ("python3 -c \"print(open('.env').read())\"", "/p/.env"),
        ("python3 -c \"print(open('.env', 'r').read())\"", "/p/.env"),
        ("python3 -c \"Path('~/.netrc').expanduser().read_text()\"", "/h/.netrc"),
        ("python3 - <<'X'\nwith open(\".env\") as f: print(f.read())\nX", "/p/.env"),
        ("node -e \"fs.readFileSync('.env', 'utf8')\"", "/p/.env"),
        ("ruby -e 'puts File.read(\".env\")'", "/p/.env"),
        ("php -r 'echo file_get_contents(\".env\");'", "/p/.env"),
    ] {
        assert!(reads(line, file), "{line}");
    }
    for line in
        ["python3 -c \"open('.env', 'w')\"", "python3 -c \"print('.env')\"", "node -e 'read(\".env\")'"]
    {
        assert!(!reads(line, "/p/.env"), "{line}");
    }
}

#[test]
fn code_says_what_it_writes() {
    let adds = |line: &str| {
        let found = effects(line, Path::new("/p"), None).into_iter().find_map(|effect| match effect {
            Effect::Write { content: WriteContent::Adds { text }, .. } => Some(text.to_string()),
            _ => None,
        });
        found.unwrap_or_default()
    };
    assert_eq!(adds("python3 -c \"open('x', 'w').write('a')\""), "a\n");
    assert_eq!(adds("python3 - <<'X'\nf = open('x', 'w')\nf.write('a')\nf.write('b')\nX"), "a\nb\n");
    assert_eq!(adds("python3 -c \"Path('x').write_text('a')\""), "a\n");
    assert_eq!(adds("node -e \"fs.writeFileSync('x', 'a')\""), "a\n");
    assert_eq!(adds("python3 -c \"open('x', 'w'); sys.stdout.write('a')\""), "");
    assert_eq!(adds("python3 -c \"open('x', 'w').write(y)\""), "");
}

#[test]
fn texts_that_a_shell_reads_are_commands() {
    for line in ["echo 'rm a' | sh", "cat <<'X' | bash\nrm a\nX", "printf 'rm %s\\n' a | bash"] {
        assert_eq!(list_done(line).last().map(String::as_str), Some("-/p/a"), "{line}");
    }
    for line in [
        "echo 'rm a' > s && bash s",
        "cat > s.sh <<'X'\n#!/bin/sh\nrm a\nX\nchmod +x s.sh; ./s.sh",
        "echo 'rm a' > /tmp/s; . /tmp/s",
        "cat > s.py <<'X'\nos.remove('a')\nX\npython3 s.py",
    ] {
        assert!(list_done(line).contains(&"-/p/a".to_owned()), "{line}");
    }
    assert!(!list_done("echo 'rm a' > s; echo \"$X\" > s; bash s").contains(&"-/p/a".to_owned()));
}

#[test]
fn a_loop_deletes_each_of_its_words() {
    for (line, wanted) in [
        ("for d in ~/a /b c; do rm -r \"$d\"; done", &["!rm", "-/h/a", "-/b", "-/p/c"][..]),
        ("for d in a b; do rm $d/x; done", &["!rm", "-/p/a/x", "-/p/b/x"]),
        ("for f in /etc/*.conf; do rm $f; done", &["!rm", "?/etc/*.conf"]),
        ("for d in a b; do d=/x; rm $d; done", &["!rm", "?$d"]),
        ("for d in 'a b'; do rm $d; done", &["!rm", "?$d"]),
        ("for d in a; do rm $d$e; done", &["!rm", "?$d$e"]),
    ] {
        assert_eq!(list_done(line), wanted, "{line}");
    }
}

#[test]
fn a_command_may_read_the_texts_that_reach_it() {
    let texts = |line: &str| {
        let line = read_line(line, Path::new("/p"), None);
        let last = u32::try_from(line.commands.len()).unwrap() - 1;
        line.texts_for(last).map(str::to_owned).collect::<Vec<_>>()
    };
    for line in ["psql <<< t", "echo t | psql", "psql <<X\nt\nX", "cat <<X | psql\nt\nX"] {
        assert!(texts(line).contains(&"t\n".to_owned()), "{line}");
    }
    assert!(texts("cat <<< t; psql").is_empty());
}
