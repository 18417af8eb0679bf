//! Lines without unknown words.

use super::check_lines;
use crate::pattern::PatternMatch::{No, Unknown, Yes};

#[test]
fn operands_match_in_order_behind_options_and_their_values() {
    check_lines(
        Yes,
        &[
            (
                "git push",
                &[
                    "git push",
                    "git push origin main",
                    "git -C sub push",
                    "git -c a=b push",
                    "git -c a=b -C sub --no-pager push",
                    "git --git-dir x --work-tree=y push",
                    "git push --force",
                    "git -- push",
                ],
            ),
            (
                "npm install|i|ci|add",
                &["npm install", "npm i left-pad", "npm --prefix x ci", "npm -w a add b"],
            ),
            ("yarn", &["yarn", "yarn install", "yarn --cwd x", "yarn.exe add y"]),
            ("yarn add", &["yarn --cwd x add y"]),
            ("pnpm add", &["pnpm --filter x add y", "pnpm -F x add y", "pnpm --filter=x -r add y"]),
            ("docker run", &["docker --context c run x", "docker -H tcp://h run x", "docker run -v a:b x"]),
            ("docker run nginx", &["docker run -p 80:80 --name web nginx", "docker run --rm -it nginx"]),
            ("docker compose down", &["docker compose -f x.yml --profile p down -v"]),
            ("kubectl delete", &["kubectl -n ns delete pod x", "kubectl --context=c delete ns x"]),
            ("kubectl delete ns", &["kubectl delete -n x ns y", "kubectl delete -f a.yml ns"]),
            ("kubectl logs web", &["kubectl logs -f web"]),
            (
                "cargo test",
                &["cargo test", "cargo +nightly test -p x", "cargo --manifest-path a test", "cargo -q test"],
            ),
            ("cargo +nightly", &["cargo +nightly test"]),
            ("make test", &["make -C x test", "make -j4 test", "make V=1 -f M test", "make --direc x test"]),
            ("terraform apply", &["terraform -chdir=x apply", "terraform apply -auto-approve"]),
            ("aws s3 rm", &["aws --profile p s3 rm s3://b", "aws s3 --region r rm x"]),
            ("gh pr merge", &["gh -R o/r pr merge 1", "gh pr -R o/r merge", "gh pr merge --repo o/r 1"]),
            ("helm uninstall", &["helm -n ns uninstall x", "helm --kube-context c uninstall x"]),
            ("gcloud compute instances delete", &["gcloud --project p compute instances delete x"]),
            ("pip install", &["pip --proxy x install y"]),
            ("pip|pip3 install", &["pip3 install -r r.txt"]),
            ("go test", &["go -C x test ./...", "go test -run X"]),
            ("uv sync", &["uv --directory x sync"]),
            ("python -m pytest", &["python -m pytest", "python -W error -m pytest -q"]),
            ("python|python3 -m pytest", &["python3 -m pytest"]),
            ("git push * main", &["git push origin main", "git push -u up main"]),
            ("git add .", &["git add .", "git add ./", "git add -- ."]),
            ("rm src", &["rm -rf src/", "rm src//"]),
            ("rm /", &["rm -rf /", "rm -rf //"]),
            ("cat -", &["cat -"]),
            ("chmod 777", &["chmod -R 777 x"]),
            ("git push|fetch --all", &["git push --all", "git fetch origin --all"]),
            ("git checkout -- *", &["git checkout -- x"]),
            ("* push", &["git push", "hg push"]),
            ("sudo apt|apt-get", &["sudo apt install x", "sudo -u root A=1 apt-get update"]),
            ("sudo rm -r", &["sudo rm -rf x"]),
            ("xargs rm", &["ls | xargs -n 1 rm"]),
        ],
    );
    check_lines(
        No,
        &[
            (
                "git push",
                &["git pull", "git", "git stash push", "git -C push status", "git remote push", "gitk push"],
            ),
            ("npm install|i|ci|add", &["npm run install", "pnpm install", "npm"]),
            ("yarn", &["yarnpkg", "echo yarn", "cat yarn.lock"]),
            ("git push * main", &["git push main", "git push origin dev main"]),
            ("git add .", &["git add src .", "git add ..", "git add .gitignore"]),
            ("cargo test", &["cargo build --test test", "cargo +test build"]),
            ("make test", &["make -C test", "make all", "make -f test all"]),
            ("docker run nginx", &["docker run --name nginx alpine"]),
            ("rm /", &["rm -rf /tmp/x"]),
            ("git checkout -- *", &["git checkout main", "git checkout --"]),
            ("git *", &["git --version"]),
        ],
    );
}

#[test]
fn options_match_at_any_position() {
    check_lines(
        Yes,
        &[
            (
                "git push --force|-f",
                &[
                    "git push -uf origin x",
                    "git -C sub push --force",
                    "git push --force=x",
                    "git push origin main -f",
                    "git push -f",
                    "git push -o x -f",
                ],
            ),
            (
                "git add -A|--all|.",
                &["git add -A", "git add --all", "git add .", "git add -vA src", "git add --al"],
            ),
            ("rm -r", &["rm -rf x", "rm -fr x", "rm --recursive x", "rm -R x", "rm x -r", "rm --rec x"]),
            (
                "rm -rf",
                &[
                    "rm -rf x",
                    "rm -fr x",
                    "rm -r -f x",
                    "rm -r x -f",
                    "rm --recursive --force x",
                    "rm -vrif x",
                ],
            ),
            ("rm --force", &["rm -f x"]),
            ("cp -r", &["cp -R a b", "cp --recursive a b", "cp -ar a b"]),
            ("chmod -R 777", &["chmod -R 777 x", "chmod 777 -R x", "chmod --recursive 777 x"]),
            ("find -delete", &["find . -name x -delete", "find -delete"]),
            ("find . -delete", &["find . -type f -delete"]),
            (
                "terraform apply -auto-approve",
                &["terraform apply -auto-approve", "terraform apply --auto-approve"],
            ),
            ("go test -race", &["go test ./... -race", "go test --race", "go test -race=true"]),
            ("mvn -DskipTests", &["mvn -DskipTests package", "mvn package -DskipTests=true"]),
            ("kill -9", &["kill -9 1"]),
            (
                "git commit --no-verify|-n",
                &[
                    "git commit --no-verify -m x",
                    "git commit -nm x",
                    "git commit -anm x",
                    "git commit --no-veri",
                ],
            ),
            (
                "git reset --hard",
                &["git reset --hard", "git reset --har", "git reset --h HEAD~1", "git reset HEAD --hard"],
            ),
            ("git branch -D", &["git branch -D x", "git branch -qD x"]),
            ("git clean -f", &["git clean -fd", "git clean -xdf", "git clean -d -f"]),
            (
                "git commit -m=wip",
                &["git commit -m wip", "git commit -mwip", "git commit -am wip", "git commit -m=wip"],
            ),
            ("docker run --network=host", &["docker run --network host x", "docker run --network=host x"]),
            ("tool --mode=fast", &["tool --mode fast", "tool --mode=fast"]),
            ("kubectl -n=prod delete", &["kubectl -n prod delete x", "kubectl delete -nprod x"]),
            ("git checkout --", &["git checkout -- x", "git checkout HEAD -- x"]),
            ("npm publish --dry-run", &["npm publish --dry-run"]),
            ("wget --recursive", &["wget --recurs x"]),
            ("tool -delete", &["tool -delete"]),
            ("make -n|--dry-run", &["make --dry all", "make -kn"]),
        ],
    );
}

#[test]
fn values_longer_names_and_words_behind_the_dashes_are_not_options() {
    check_lines(
        No,
        &[
            (
                "git push --force|-f",
                &[
                    "git push --force-with-lease",
                    "git push --force-with-lease=x",
                    "git push -- --force",
                    "git push -- -f",
                    "git push -o f",
                    "git push -of",
                    "git push -o -f",
                    "git push --forc",
                    "git push --follow-tags",
                    "git push origin force",
                    "git push -F",
                    "git push --forceful",
                    "git -c push --force",
                    "git commit --force",
                ],
            ),
            (
                "git commit -f",
                &["git commit -m 'f'", "git commit -mf", "git commit -amf", "git commit -m -f"],
            ),
            ("git commit -n", &["git commit -uno", "git commit -m -n", "git commit --no-verify"]),
            (
                "git commit --no-verify",
                &["git commit -m --no-verify", "git commit --no-ver", "git commit --verify"],
            ),
            ("git reset --hard", &["git reset --soft", "git reset", "git reset -- --hard"]),
            ("git add -A|--all|.", &["git add src", "git add -a x", "git add -- -A"]),
            ("rm -rf", &["rm -r x", "rm -f x", "rm -- -rf", "rm rf"]),
            ("chmod -R 777", &["chmod -r 777 x", "chmod 777 x", "chmod -R 755 x"]),
            ("find -delete", &["find . -name -delete", "find . -d -e -l -t", "find . -deleted"]),
            ("kill -9", &["kill -19 1", "kill -s 9 1", "kill 9"]),
            ("npm publish --dry-run", &["npm publish --dry"]),
            ("cargo test --release", &["cargo test --rel"]),
            ("git commit -m=wip", &["git commit -m wip2", "git commit -m x wip"]),
            ("git branch -D", &["git branch -d x"]),
            ("docker run --network=host", &["docker run --network bridge host"]),
            ("git push -f", &["git push --force"]),
            ("git checkout --", &["git checkout x"]),
            ("wget --recursive", &["wget --r x"]),
            ("sed --in-place", &["sed -i s/a/b/ f"]),
        ],
    );
}

#[test]
fn quotes_and_nesting_do_not_hide_a_program() {
    let pattern = "git push --force|-f";
    check_lines(
        Yes,
        &[(
            pattern,
            &[
                "git pu\"sh\" --forc\\e",
                "bash -c 'git push --\"force\"'",
                "g'i't push $'--force'",
                "eval 'git push --force'",
                "eval git push --force",
                "echo x | xargs git push --force",
                "echo $(git push --force)",
                "echo `git push --force`",
                "echo \"$(git push --force)\"",
                "env FOO=1 git push --force",
                "FOO=1 git push --force",
                "sudo git push --force",
                "sudo -u me git push -f",
                "nice -n 5 git push -f",
                "timeout 5 git push -f",
                "command git push -f",
                "nohup git push -f &",
                "git -c x=y push -f",
                "/usr/bin/git push -f",
                "git.exe push -f",
                "(cd sub && git push -f)",
                "if true; then git push -f; fi",
                "for b in a b; do git push -f origin $b; done",
                "true && git push -f || true",
                "f() { git push -f; }; f",
                "F=--force; git push $F",
                "sh <<EOF\ngit push --force\nEOF",
                "bash <<< 'git push -f'",
                "find . -exec git push -f \\;",
                "git push \\\n  --force",
                "! git push -f",
                "cat <(git push -f)",
                "git -c alias.p='push --force' p",
                "$SUDO git push -f",
                "trap 'git push -f' EXIT",
                "watch git push -f",
            ],
        )],
    );
    check_lines(
        No,
        &[(
            pattern,
            &[
                "echo 'git push --force' >> notes.md",
                "echo git push --force",
                "git commit -m 'no git push --force'",
                "git commit -m \"git push -f\"",
                "cat <<EOF\ngit push --force\nEOF",
                "cat > x <<'EOF'\ngit push -f\nEOF",
                "git push # --force",
                "# git push --force",
                "grep -r 'git push --force' .",
                "git log --grep='push --force'",
                "printf '%s' 'git push -f'",
                "git push; echo --force",
                "git push && rm -f x",
                "git status -- push --force",
                "gh pr create --body 'git push --force'",
            ],
        )],
    );
}

#[test]
fn a_program_with_a_slash_is_a_path() {
    check_lines(
        Yes,
        &[
            ("./gradlew test", &["./gradlew test", "/p/gradlew test", "cd sub && ../gradlew test"]),
            (
                "scripts/deploy",
                &[
                    "./scripts/deploy",
                    "scripts/deploy now",
                    "cd scripts && ./deploy",
                    "bash -c scripts/deploy",
                ],
            ),
            ("/usr/bin/git push", &["/usr/bin/git push", "/usr/bin/../bin/git push"]),
            ("~/bin/x", &["~/bin/x", "$HOME/bin/x", "/h/bin/x"]),
        ],
    );
    check_lines(
        No,
        &[
            ("./gradlew test", &["cd sub && ./gradlew test", "gradlew test", "/other/gradlew test"]),
            ("/usr/bin/git push", &["git push", "/opt/git push"]),
            ("git", &["./git/x", "/git/"]),
        ],
    );
}

#[test]
fn the_letters_of_tar_need_no_dash() {
    let lines = ["tar xzf a.tgz", "tar -xzf a.tgz", "tar -z -x -f a.tgz", "tar xzvf a.tgz -C out"];
    check_lines(Yes, &[("tar -x -z", &lines)]);
    check_lines(No, &[("tar -x -z", &["tar xf a.tar", "tar czf a.tgz src", "tar -f xz -t", "cat xzf"])]);
}

#[test]
fn an_option_that_is_switched_off_is_not_given() {
    let lines = ["npm publish --dry-run", "npm publish --dry-run=true", "npm publish --dry-run=client"];
    check_lines(Yes, &[("npm publish --dry-run", &lines)]);
    check_lines(
        No,
        &[("npm publish --dry-run", &["npm publish --dry-run=false", "npm publish --dry-run=none"])],
    );
}

#[test]
fn a_star_in_a_word_is_any_text() {
    check_lines(
        Yes,
        &[
            ("npm run test*", &["npm run test", "npm run test:unit", "npm run -s test:a/b x"]),
            ("npm run *:prod|deploy", &["npm run build:prod", "npm run deploy"]),
            (
                "git push --force*",
                &["git push --force", "git push x --force-with-lease", "git push --force=x"],
            ),
            ("git push *a*b*c", &["git push a-b-c", "git push xaabbc"]),
            ("cat */.env*", &["cat app/.env", "cat /x/.env.local"]),
            ("find -name=*.pem", &["find . -name '*.pem'", "find ~ -type f -name a.pem -print"]),
            ("git -C=vendor/* push", &["git -C vendor/x push", "git -Cvendor/x push"]),
            ("aws --profile=prod* s3", &["aws --profile prod-eu s3 ls", "aws s3 --profile=prod ls"]),
        ],
    );
    check_lines(
        No,
        &[
            ("npm run test*", &["npm run lint", "npm run", "npm run build test", "npm run latest"]),
            ("npm run *:prod", &["npm run :production", "npm run prod"]),
            ("git push --force*", &["git push --no-force", "git push -f", "git push -- --force"]),
            ("git push *a*b*c", &["git push a-b", "git push cba"]),
            ("cp a*a b", &["cp a b"]),
            ("find -name=*.pem", &["find . -name '*.rs'", "find a.pem", "find . -path '*.pem'"]),
            ("git -C=vendor/* push", &["git -C src push", "git push"]),
        ],
    );
    check_lines(
        Unknown,
        &[
            ("npm run test*", &["npm run $X", "npm run te$X", "npm run tests-$X"]),
            ("git push --force*", &["git push $X", "git push --fo\"$X\""]),
        ],
    );
}

#[test]
fn the_end_of_a_pattern_excludes_more_words() {
    check_lines(
        Yes,
        &[
            ("git push <end>", &["git push", "git 'push'", "cd x && git push; ls"]),
            ("git <end>", &["git"]),
            ("git push --force|-f origin <end>", &["git push -f origin", "git push origin --force"]),
            ("npm run test* <end>", &["npm run test:a"]),
            ("make V=1 test <end>", &["make V=1 test"]),
        ],
    );
    check_lines(
        No,
        &[
            ("git push <end>", &["git push origin", "git push -f", "git -C sub push", "git push --", "git"]),
            ("git <end>", &["git push", "git --version"]),
            ("git push --force <end>", &["git push --force origin", "git push --force -v", "git push"]),
            ("npm run test* <end>", &["npm run test x"]),
            ("make test <end>", &["make V=1 test", "make -j4 test"]),
            ("cargo test <end>", &["cargo +nightly test", "cargo test $X --all", "cargo test x$X y"]),
        ],
    );
    check_lines(Unknown, &[("git push <end>", &["git push $X", "git $X"])]);
}
