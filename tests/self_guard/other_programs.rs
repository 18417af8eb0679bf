//! Programs that replace, pack away or write a protected file that their words name, and wrappers around them.

use crate::full;

#[test]
fn a_program_that_packs_a_protected_file_away_is_denied() {
    full().denies_lines(&[
        "gzip provost.toml",
        "gzip -9f provost.toml",
        "gunzip provost.toml.gz",
        "xz provost.toml",
        "xz -d provost.toml.xz",
        "bzip2 provost.toml",
        "zstd --rm provost.toml",
        "compress provost.toml",
        "lzma provost.toml",
        "zip -m x.zip provost.toml",
        "zip -qrm x.zip .claude",
        "zip --move x.zip provost.toml",
        "tar cf provost.toml a.txt",
        "tar -czf provost.toml a.txt",
        "tar -c -f provost.toml a.txt",
        "tar --create --file=provost.toml a.txt",
        "tar --remove-files -cf x.tar provost.toml",
        "tar -cf x.tar --remove-files .claude",
        "tar xf x.tar provost.toml",
        "tar -xzf x.tgz ./provost.toml",
        "tar -x -f x.tar -C .. project/provost.toml",
        "tar xf x.tar .claude/settings.json",
        "tar --extract --file x.tar provost.toml",
        "tar cf x.tar a.txt --checkpoint=1 --checkpoint-action=exec='rm provost.toml'",
        "tar -cf- --use-compress-program='rm provost.toml;' a.txt",
        "tar -I 'sh -c \"rm provost.toml\"' -cf x.tar a.txt",
        "tar xf x.tar --to-command='tee provost.toml'",
        "unzip -o x.zip provost.toml",
        "unzip x.zip -d .. project/provost.toml",
        "iconv -o provost.toml a.txt",
        "iconv a.txt --output=provost.toml",
        "openssl rand -out provost.toml 5",
        "cc -x c - -o provost.toml",
        "gcc -oprovost.toml x.c",
        "strip -o provost.toml /bin/true",
        "objcopy /bin/true provost.toml",
        "gpg -o provost.toml -d x.gpg",
    ]);
}

#[test]
fn packing_and_reading_go_on() {
    full().passes_lines(&[
        "gzip -k provost.toml",
        "gzip -c provost.toml > x.gz",
        "gzip --keep a.txt",
        "gzip a.txt",
        "gunzip x.gz",
        "gzip -l x.gz",
        "xz -dc x.xz",
        "zstd provost.toml",
        "zip x.zip provost.toml",
        "zip -r x.zip .",
        "tar czf x.tgz provost.toml .claude",
        "tar cf - . | gzip > ../x.tgz",
        "tar --exclude=.git -czf ../backup.tgz .",
        "tar xzf x.tgz",
        "tar xf x.tar -C /tmp",
        "tar xf x.tar src",
        "tar tf x.tar provost.toml",
        "tar -tzf x.tgz",
        "tar -xOf x.tar provost.toml",
        "unzip x.zip -d out",
        "unzip -l x.zip provost.toml",
        "unzip -p x.zip provost.toml",
        "gcc -o app main.c",
        "openssl rand -hex 16",
        "iconv -f latin1 a.txt -o b.txt",
        "objcopy a b",
    ]);
}

#[test]
fn a_wrapper_hides_no_program() {
    full().denies_lines(&[
        "taskset 1 rm provost.toml",
        "taskset -c 0 rm provost.toml",
        "chrt -o 0 rm provost.toml",
        "strace -f -o t.txt rm provost.toml",
        "strace -o provost.toml ls",
        "ltrace rm provost.toml",
        "prlimit --core=0 rm provost.toml",
        "setarch x86_64 rm provost.toml",
        "linux64 rm provost.toml",
        "setpriv --reuid 0 rm provost.toml",
        "choom -n 0 -- rm provost.toml",
        "unshare -r rm provost.toml",
        "dbus-run-session rm provost.toml",
        "dbus-run-session -- rm provost.toml",
        "script -qc 'rm provost.toml' /dev/null",
        "script -q -c 'rm provost.toml' x",
        "script --command='rm provost.toml' x",
        "script provost.toml -c ls",
        "watch -n 1 'rm provost.toml'",
        "watch rm provost.toml",
        "parallel rm ::: provost.toml",
        "unbuffer rm provost.toml",
        "runuser -u root -- rm provost.toml",
        "runuser root -c 'rm provost.toml'",
        "chroot / rm /nowhere ../project/provost.toml provost.toml",
        "ld.so /bin/rm provost.toml",
        "/lib64/ld-linux-x86-64.so.2 /bin/rm provost.toml",
        "claude mcp add x -- rm provost.toml",
        "claude mcp add --scope user x -- sh -c 'rm provost.toml'",
    ]);
    full().passes_lines(&[
        "taskset -c 0 cargo bench",
        "strace -f -o t.txt ls",
        "script -qc 'npm test' /dev/null",
        "watch -n1 git status",
        "prlimit --pid 1",
        "unshare -r ls",
        "parallel echo ::: 1 2 3",
        "claude mcp add foo -- npx foo",
        "claude mcp list",
    ]);
}

#[test]
fn a_text_that_the_shell_reads_again_is_seen() {
    full().denies_lines(&[
        "source /dev/stdin <<< 'rm provost.toml'",
        ". /dev/stdin <<'E'\nrm provost.toml\nE",
        ". /dev/fd/0 <<< 'rm provost.toml'",
        "source - <<< 'rm provost.toml'; source /dev/stdin <<< 'rm provost.toml'",
        "declare -a a='(1 $(rm provost.toml))'",
        "declare -a 'a=($(rm provost.toml))'",
        "typeset -A m='([a]=$(rm provost.toml))'",
        "local -a 'a=(`rm provost.toml`)'",
        "readonly -a 'a=($(rm provost.toml))'",
        "compgen -W '$(rm provost.toml)'",
        "compgen -W '`rm provost.toml`' x",
        "true {x[0]}> provost.toml",
        "exec {fd[1]}>provost.toml",
        "exec {a['$(rm provost.toml)']}>/dev/null",
        "export p=provost.toml; rm $p",
        "declare p=provost.toml; rm \"$p\"",
        "readonly p=provost.toml; rm ${p}",
    ]);
    full().passes_lines(&[
        "declare -a list=(a b); list+=(c)",
        "declare -a 'a=(1 2)'",
        "compgen -W 'a b' a",
        "exec {fd}>/dev/null",
        "export p=a.txt; rm $p",
        "cmd='cargo test'; $cmd",
        "source .venv/bin/activate",
        ". ./env.sh <<< 'rm provost.toml'",
    ]);
}
