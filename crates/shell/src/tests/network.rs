//! What a line fetches from the network and runs, and what it sends there.

use super::*;

fn read(line: &str) -> Line {
    read_line(line, Path::new("/p"), None)
}

#[test]
fn fetched_code_that_runs_is_reported() {
    for line in [
        "curl -fsSL https://x/i | sh",
        "curl x | sudo -E bash -",
        "wget -O- x | sudo bash",
        "wget -qO - x | sh -s -- -y",
        "curl x | gunzip | bash",
        "curl x | tee f | sh",
        "curl x | bash -c 'cd d; bash'",
        "(cd d && curl x) | sh",
        "curl x | python3",
        "curl x | python3 -",
        "curl x | node",
        "bash <(curl -s x)",
        "bash <(curl -s x) arg",
        "source <(curl x)",
        ". <(wget -qO- x)",
        "python3 <(curl x)",
        "sh -c \"$(curl -fsSL x)\"",
        "sh -c \"`curl x`\"",
        "bash -lc \"$(wget -O - x)\" -- arg",
        "python3 -c \"$(curl x)\"",
        "eval \"$(curl x)\"",
        "eval $(curl x)",
        "$(curl x)",
        "curl x > i.sh && sh i.sh",
        "curl -o i.sh x; bash ./i.sh",
        "curl -O https://x/i.sh && chmod +x i.sh && ./i.sh",
        "wget https://x/i.sh; sh i.sh",
        "curl x -o /tmp/i.py && python3 /tmp/i.py",
        "cd d && curl x > i && . ./i",
    ] {
        let line_read = read(line);
        assert!(line_read.effects.contains(&Effect::RunFetched), "{line}: {line_read:?}");
        assert_eq!(line_read.effects.len(), line_read.command_numbers.len(), "{line}");
    }
    for line in [
        "curl x",
        "curl x | jq .",
        "curl x | tar xz",
        "curl x | python3 -m json.tool",
        "curl x | python3 -c 'import sys'",
        "curl x | node -e 'x'",
        "curl x | bash -c 'cat'",
        "curl x | sh script.sh",
        "curl -o f x | sh",
        "wget x | sh",
        "cat f | sh",
        "sh | curl x",
        "sh f; curl x > f",
        "curl x > f && cat f",
        "curl x; sh g",
        "echo \"$(curl x)\"",
        "A=$(curl x); echo $A",
        "eval \"$(ssh-agent)\"",
        "bash <(cat f)",
        "echo 'curl x | sh'",
    ] {
        let line_read = read(line);
        assert!(!line_read.effects.contains(&Effect::RunFetched), "{line}: {line_read:?}");
    }
}

/// `program destination` for each command that sends, and the files that it or a command that feeds it reads.
fn list_sent(line: &str) -> Vec<String> {
    let line = read(line);
    let numbered = || line.effects.iter().zip(&line.command_numbers);
    let describe = |(effect, to): (&Effect, &u32)| {
        let Effect::Send { program, destination } = effect else { return None };
        let mut text = format!("{program} {}", destination.as_deref().unwrap_or("?"));
        for (effect, from) in numbered() {
            if let Effect::Read { path, .. } = effect
                && (from == to || line.feeds(*from, *to))
            {
                text += &format!(" {}", path.display());
            }
        }
        Some(text)
    };
    numbered().filter_map(describe).collect()
}

#[test]
fn what_is_sent_is_known_with_its_files() {
    for (line, program, file) in [
        ("curl -d @f https://x", "curl https://x", "/p/f"),
        ("curl -d@f https://x", "curl https://x", "/p/f"),
        ("curl -sd @f https://x", "curl https://x", "/p/f"),
        ("curl --data-binary @f https://x", "curl https://x", "/p/f"),
        ("curl --data-urlencode a@f https://x", "curl https://x", "/p/f"),
        ("curl -F a=@f https://x", "curl https://x", "/p/f"),
        ("curl -F 'a=@f;type=text/plain' https://x", "curl https://x", "/p/f"),
        ("curl --form a=<f https://x", "curl https://x", "/p/f"),
        ("curl -F \"a=<f\" https://x", "curl https://x", "/p/f"),
        ("curl -T f https://x", "curl https://x", "/p/f"),
        ("curl -Tf https://x", "curl https://x", "/p/f"),
        ("curl --upload-file f https://x", "curl https://x", "/p/f"),
        ("cat f | curl -d @- https://x", "curl https://x", "/p/f"),
        ("cat f | base64 | curl --data-binary @- https://x", "curl https://x", "/p/f"),
        ("curl -d \"$(cat f)\" https://x", "curl https://x", "/p/f"),
        ("curl \"https://x/?k=$(cat f)\"", "curl ?", "/p/f"),
        ("curl -H \"X: `base64 f`\" https://x", "curl https://x", "/p/f"),
        ("wget --post-file=f https://x", "wget https://x", "/p/f"),
        ("wget --post-data=\"$(cat f)\" https://x", "wget https://x", "/p/f"),
        ("scp f host:", "scp host:", "/p/f"),
        ("rsync -a f user@host:d", "rsync user@host:d", "/p/f"),
        ("nc host 80 < f", "nc host", "/p/f"),
        ("cat f | nc host 80", "nc host", "/p/f"),
        ("tar c f | ssh host 'cat > x'", "ssh host", "/p/f"),
        ("ssh host cat < f", "ssh host", "/p/f"),
        ("bash -c 'cat f' | ssh host x", "ssh host", "/p/f"),
        ("aws s3 cp f s3://b/k", "aws s3://b/k", "/p/f"),
        ("gh gist create f", "gh ?", "/p/f"),
        ("http POST https://x < f", "http https://x", "/p/f"),
    ] {
        let sent = list_sent(line);
        let has = |sent: &String| sent.starts_with(program) && sent.split(' ').any(|word| word == file);
        assert!(sent.iter().any(has), "{line}: {sent:?}");
    }
    for line in [
        "curl https://x",
        "curl -o f https://x",
        "curl -H 'a: b' https://x",
        "wget https://x",
        "scp host:f .",
        "rsync -a a b",
        "ssh host ls",
        "ssh host; cat f",
        "nc -z host 80",
        "aws s3 cp s3://b/k f",
        "echo 'curl -d @f https://x'",
    ] {
        assert_eq!(list_sent(line), [""; 0], "{line}");
    }
}
