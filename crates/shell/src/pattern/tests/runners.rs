//! Programs that start the program that their words name.

use std::path::Path;

use super::check_lines;
use crate::effect::Effect;
use crate::pattern::PatternMatch::{No, Yes};

#[test]
fn what_a_runner_starts_is_a_run() {
    check_lines(
        Yes,
        &[
            (
                "tool push -f",
                &[
                    "npx tool push -f",
                    "npx -y -p pack tool@2.1 push -f",
                    "npx -c 'tool push -f'",
                    "npm exec -- tool push -f",
                    "bunx tool push -f",
                    "bun x tool push -f",
                    "pnpm --filter web exec tool push -f",
                    "pnpm dlx tool@latest push -f",
                    "yarn dlx -p pack tool push -f",
                    "uv run --with x tool push -f",
                    "uvx --from x tool push -f",
                    "uv tool run tool push -f",
                    "pipx run tool push -f",
                    "poetry -C d run tool push -f",
                    "pipenv run tool push -f",
                    "conda run -n e tool push -f",
                    "bundle exec tool push -f",
                    "direnv exec . tool push -f",
                    "mise exec node@20 -- tool push -f",
                    "doppler run --command 'tool push -f'",
                    "op run --env-file=.env -- tool push -f",
                    "dotenv -e .env -- tool push -f",
                    "cross-env A=1 tool push -f",
                    "nix-shell -p x --run 'tool push -f'",
                    "nix develop .#x -c tool push -f",
                    "tmux new-session -d -s x 'tool push -f'",
                    "docker exec -it -u root web tool push -f",
                    "docker -H h run --rm -v a:b image tool push -f",
                    "docker compose -f x.yml exec -e A=1 web tool push -f",
                    "docker exec web sh -c 'cd x && tool push -f'",
                    "kubectl exec -it -n ns pod -c main -- tool push -f",
                    "ssh -p 22 -i key me@host tool push -f",
                    "ssh host 'cd x && tool push -f'",
                    "ssh host <<EOF\ntool push -f\nEOF",
                    "ssh host bash -s <<EOF\ntool push -f\nEOF",
                    "sudo npx tool push -f",
                    "npx cross-env A=1 tool push -f",
                    "echo 'tool push -f' | sh",
                    "cat <<EOF | bash\ntool push -f\nEOF",
                    "alias p='tool push'\np -f",
                ],
            ),
            (
                "docker run --privileged",
                &["sudo docker run --privileged x ls", "env A=1 sudo docker run --privileged x"],
            ),
            ("npx tool", &["sudo npx tool push", "npx -y tool"]),
        ],
    );
    check_lines(
        No,
        &[(
            "tool push -f",
            &[
                "npm run tool push -f",
                "docker run tool push -f",
                "docker build -t tool push",
                "uv add tool push -f",
                "npx other tool push -f",
                "ssh tool push -f",
                "kubectl logs pod -- tool push -f",
                "echo 'tool push -f' | cat",
                "bundle install tool push -f",
            ],
        )],
    );
}

#[test]
fn a_program_elsewhere_does_nothing_to_files_and_branches_here() {
    let count = |line: &str| {
        let effects = crate::effects(line, Path::new("/p"), None);
        effects
            .iter()
            .filter(|effect| matches!(effect, Effect::Delete { .. } | Effect::Commit { .. }))
            .count()
    };
    for line in [
        "docker exec web rm -rf src",
        "docker run image sh -c 'rm -rf src'",
        "ssh host rm -rf src",
        "ssh host 'cd x && rm -rf src && git commit -m x'",
        "kubectl exec pod -- rm -rf src",
    ] {
        assert_eq!(count(line), 0, "{line}");
    }
    for line in
        ["uv run rm src", "docker exec web ls; rm src", "npx -c 'rm src'", "docker exec web cd /x && rm src"]
    {
        assert_eq!(count(line), 1, "{line}");
    }
}
