//! Forms of secrets, and ordinary texts that look a little like them.

use serde_json::json;

use super::*;

/// A secret for the forms below that no rule knows by itself.
const SECRET: &str = "hunter2correct";

#[track_caller]
fn check(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let masked = mask_credentials(text);
        assert_eq!(masked, *expected, "{text}");
        assert_eq!(mask_credentials(&masked), masked, "again: {text}");
    }
}

#[test]
fn credentials_are_masked() {
    check(&[
        ("write /tmp/sk-ant-REDACTED", "write /tmp/sk-••••"),
        ("ghp_abcdefghij0123456789 rest", "ghp_•••• rest"),
        ("PASSWORD=hunter2 x", "PASSWORD=•••• x"),
        ("{\"api_key\": \"abc\"}", "{\"api_key\": \"••••\"}"),
        ("Authorization: Bearer abc.def", "Authorization: Bearer ••••"),
        ("https://me:secret@host/x", "https://me:••••@host/x"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMII", "-----BEGIN••••"),
        ("AWS_SECRET_ACCESS_KEY=abcd/efgh", "AWS_SECRET_ACCESS_KEY=••••"),
        ("é token=ñandú é", "é token=•••• é"),
    ]);
}

/// Each form has the secret once, and nothing of it may stay.
#[test]
fn no_form_of_a_command_shows_its_secret() {
    for form in [
        // Assignments.
        "PGPASSWORD=@ psql -h db",
        "export DB_PASS=@; ./run",
        "export STRIPE_KEY=@",
        "env MYSQL_PWD=@ mysql",
        "REDIS_PASS='@' ./x",
        "./x --pass=@ --verbose",
        "docker run -e POSTGRES_PASSWORD=@ postgres",
        "make deploy API_TOKEN=\"@\"",
        "TF_VAR_db_password=@ terraform apply",
        "set DB_PASSWORD=@&& run.bat",
        "$env:API_KEY = \"@\"",
        "java -Dspring.datasource.password=@ -jar app.jar",
        "AccountName=a;AccountKey=@;EndpointSuffix=core",
        "Server=x;User Id=sa;Password=@;",
        "curl 'https://api.example.com/x?access_token=@&y=1'",
        "curl 'https://a.blob.core.windows.net/c?sv=2020&sig=@'",
        "curl 'https://b.s3.amazonaws.com/k?X-Amz-Signature=@&x=1'",
        "{\"user\":\"me\",\"pass\":\"@\"}",
        "{'password': '@'}",
        "password: @",
        "client_secret=@",
        "userPass=@",
        // Quoted values with characters that end other words.
        "PASSWORD='a,b;c @ d'",
        "PASSWORD=\"a \\\" @ b\" x",
        "TOKEN=a\\ @ x",
        "--password=\"a)b}c@\"",
        // Headers.
        "curl -H 'Authorization: Bearer @' https://x",
        "curl -H \"Authorization: Basic @==\" https://x",
        "curl -H 'authorization: token @' x",
        "curl -H 'Authorization: @' x",
        "curl -H 'Authorization: AWS4-HMAC-SHA256 Credential=a/b, Signature=@' x",
        "curl -H 'X-API-Key: @' x",
        "curl -H \"x-auth-token: @\" x",
        "curl -H 'PRIVATE-TOKEN: @' x",
        "curl -H 'Cookie: a=1; session=@' x",
        "curl -b 'sid=@' x",
        "curl -H 'Proxy-Authorization: Basic @' x",
        "http GET x Authorization:'Bearer @'",
        // Options of any program.
        "app --password @ --x",
        "app --password '@ and more' --x",
        "app -password @",
        "app --token @",
        "app --token=@",
        "app --auth-token @",
        "app --api-key @",
        "app --client-secret @",
        "app --adminPassword @",
        "gpg --batch --passphrase @ -c x",
        "keytool -genkey -storepass @ -keypass x",
        // Options of some programs.
        "mysql -u root -p@ shop",
        "mysqldump -p'@' shop > x.sql",
        "sudo /usr/bin/mysql -uroot -p@",
        "bash -c \"mysql -uroot -p@\"",
        "sshpass -p @ ssh host",
        "sshpass -p '@' ssh host",
        "docker login -u me -p @ registry.example.com",
        "podman login --username me -p @",
        "helm registry login -u me -p @ x",
        "az login -u me -p @",
        "redis-cli -h x -a @ ping",
        "7z a -p@ x.7z y",
        "zip -P @ x.zip y",
        "unzip -P @ x.zip",
        "ldapsearch -D cn=admin -w @ -b dc=x",
        "curl -u me:@ https://x",
        "curl -ume:@ https://x",
        "curl --user 'me:@' https://x",
        "curl --proxy-user=me:@ https://x",
        "http -a me:@ GET x",
        "smbclient -U me%@ //x/y",
        "lftp -u me,@ ftp.example.com",
        "plink -pw @ host",
        "sqlcmd -S x -U sa -P @ -Q 'select 1'",
        "openssl enc -aes-256-cbc -pass pass:@ -in x",
        "openssl rsa -passin pass:@ -in x",
        "openssl enc -k @ -in x",
        "htpasswd -nb me @",
        "htpasswd -b .htpasswd me @",
        "mongosh -u me -p @ x",
        "twine upload -u me -p @ dist/*",
        "gh secret set NAME -b @",
        "gh secret set NAME --body '@'",
        "aws configure set aws_secret_access_key @",
        "npm config set //registry.npmjs.org/:_authToken @",
        "npm set //registry.npmjs.org/:_authToken=@",
        "cargo login @",
        "nmcli dev wifi connect home password @",
        "wpa_passphrase home @",
        "kubectl create secret generic x --from-literal=value=@",
        "rclone config create x s3 secret_access_key @",
        "poetry config http-basic.name me @",
        "composer config http-basic.repo.example.com me @",
        "dotnet nuget push a.nupkg -k @",
        "security add-generic-password -a me -s x -w @",
        "net use z: \\\\host\\share /user:me @",
        "snmpwalk -v3 -A @ host",
        "openssl dgst -sha256 -hmac @ f",
        "cast send --private-key @ a b",
        "cat > ~/.netrc <<EOF\nmachine example.com login me password @\nEOF",
        // Other languages.
        "mysql -e \"CREATE USER 'a' IDENTIFIED BY '@'\"",
        "psql -c \"ALTER USER a WITH PASSWORD '@'\"",
        "python3 -c \"requests.get('https://x', auth=('me', '@'))\"",
        "python3 -c \"requests.get('https://x', auth=HTTPBasicAuth('me', '@'))\"",
        "flyctl secrets set NAME=@",
        "vault kv put secret/x value=@",
        // What is given to a program that reads a secret.
        "echo @ | docker login -u me --password-stdin",
        "echo '@' | sudo -S apt update",
        "printf '%s' @ | docker login --password-stdin",
        "echo me:@ | chpasswd",
        "sudo -S ls <<< @",
        "sudo -S ls <<< '@'",
        "gh auth login --with-token <<< \"@\"",
        "chpasswd <<< $'@\\n'",
        "expect -c 'spawn ssh h; expect \"assword:\"; send \"@\\r\"'",
        // Addresses.
        "git clone https://me:@@github.com/x/y",
        "psql postgresql://me:@@db:5432/x",
        "redis-cli -u redis://:@@db:6379",
        "mongodb+srv://me:@@cluster.example.net/x",
        "git remote add o 'https://oauth2:@@gitlab.com/x'",
        "curl https://hooks.slack.com/services/T000/B000/@",
        "curl https://discord.com/api/webhooks/123/@",
        "curl https://api.telegram.org/bot123:@/getMe",
        "https://me:pa/ss@@host/x",
        // Keys.
        "echo '-----BEGIN OPENSSH PRIVATE KEY-----\n@\n-----END OPENSSH PRIVATE KEY-----' > k",
        "-----BEGIN PRIVATE KEY-----\\n@",
    ] {
        // The separator of addresses is the same letter.
        let text = form.replacen('@', SECRET, 1);
        let masked = mask_credentials(&text);
        assert!(!masked.contains(SECRET) && masked.contains(MASK), "{text}\n{masked}");
        assert_eq!(mask_credentials(&masked), masked, "again: {text}");
    }
}

#[test]
fn tokens_of_services_are_known_by_their_form() {
    let random = "Ab3dE9gH1jK5mN7pQ2sT";
    for token in [
        format!("sk-{random}"),
        format!("sk-proj-{random}_{random}"),
        format!("sk-ant-api03-{random}"),
        format!("sk_live_{random}"),
        format!("rk_live_{random}"),
        format!("ghp_{random}"),
        format!("gho_{random}"),
        format!("github_pat_{random}"),
        format!("glpat-{random}"),
        format!("xoxb-123-456-{random}"),
        format!("xapp-1-{random}"),
        "AKIAIOSFODNN7EXAMPLE".to_owned(),
        "ASIAIOSFODNN7EXAMPLE".to_owned(),
        format!("AIzaSy{random}"),
        format!("ya29.{random}"),
        format!("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{random}"),
        format!("npm_{random}"),
        format!("pypi-{random}"),
        format!("hf_{random}"),
        format!("dop_v1_{random}"),
        format!("SG.{random}.{random}"),
        format!("whsec_{random}"),
        format!("shpat_{random}"),
        format!("GOCSPX-{random}"),
        format!("hvs.{random}"),
        format!("dckr_pat_{random}"),
        format!("gsk_{random}"),
        format!("tskey-auth-{random}"),
        format!("AGE-SECRET-KEY-1{random}"),
    ] {
        let end = &token[token.len() - 8..];
        for text in [
            token.clone(),
            format!("curl -H x:{token} y"),
            format!("echo \"{token}\" > f"),
            format!("a/{token}/b"),
            format!("https://{token}@github.com/x"),
            format!("https://x-access-token:{token}@github.com/x"),
        ] {
            let masked = mask_credentials(&text);
            assert!(!masked.contains(end) && masked.contains(MASK), "{text}\n{masked}");
        }
    }
}

#[test]
fn base64_is_masked_without_a_name() {
    for secret in [
        "wJ4lrXUtnF3MI/K7mD9nG/bPxRf1CYe2kX8pQz5T",
        "c2VjcmV0OmFiY2RlZmdoaWprbG1ub3A=",
        "dXNlcm5hbWU6cGFzc3dvcmQxMjM0NTY=",
        "4tFq0pVnXz8R1mYw6KcJ2g==",
        "TWFuIGlzIGRpc3Rpbmd1aXNoZWQsIG5vdCBvbmx5IGJ5IGhpcyByZWFzb24=",
    ] {
        for text in [secret.to_owned(), format!("echo {secret} | base64 -d"), format!("run '{secret}'")] {
            assert!(!mask_credentials(&text).contains(&secret[..12]), "{text}: {}", mask_credentials(&text));
        }
    }
}

#[test]
fn ordinary_text_is_not_masked() {
    for text in [
        "/home/me/project/provost.toml is Provost's configuration",
        "the token file",
        "a tokenizer",
        "http://h:80/x",
        "http://localhost:8080/user@example.org",
        "sk-",
        "",
        // Commands.
        "git push --force origin main",
        "git commit -m 'docs: say what the token is for'",
        "git show 4f51c78aa2249d8308561d5987f6ecc8dec83d46",
        "git log --author=me@example.org -p src/main.rs",
        "git clone git@github.com:x/y.git",
        "mkdir -p target/debug/build",
        "ssh -p 2222 host",
        "cargo test -p provost --test behaviour report::",
        "docker run -p 8080:80 -u 1000:1000 nginx",
        "docker compose -p project up",
        "docker build --secret id=mysecret,src=x .",
        "cp -p a b && zip -r x.zip y",
        "curl -u \"$USER:$TOKEN\" https://x",
        "curl -H \"Authorization: Bearer $TOKEN\" https://x",
        "docker login -u me --password-stdin < file",
        "export TOKEN=$(cat ~/.token)",
        "PASSWORD=\"${DB_PASSWORD}\" ./x",
        "app --password \"$PASSWORD\" --x",
        "token: ${{ secrets.GITHUB_TOKEN }}",
        "mysql -u root -p",
        "cd $PWD && echo PWD=/home/me",
        "max_tokens=4096",
        "tests pass: 12, bypass=1, compass=north, passed=3",
        "cargo run --bin key-value-store",
        "npm run build:secret_santa",
        "npm_config_cache=/tmp/x npm ci",
        "hf_hub download x",
        "rm -rf node_modules/sk-learn-helpers",
        "find . -name '*.key' -print",
        "openssl x509 -in cert.pem -noout -text",
        "sort --key=2 file",
        "if [ \"$auth\" == 1 ]; then",
        "the bearer of this letter",
        "bearer token authentication",
        "cargo test password::is_masked",
        "pytest tests/test_token.py::TestToken::test_expired",
        "ffmpeg -i a.mp4 -pass 1 b.mp4",
        "rails db:seed PASS=1 TOKEN=none",
        "python3 -c 'login(me, auth=None, password=False)'",
        "composer config repositories.local path ../lib",
        "net use && security find-generic-password -s x",
        "machine learning, login and password",
        "psql -c 'select password from users'",
        // Names and paths.
        "/Users/JohnDoe/Projects/MyApp2/Sources/AppKit3D/ViewController.swift",
        "crates/core/src/workspace/git_repository.rs",
        "/nix/store/0c7c96gikmzv87i7lv3vq5s1cmfjd6zf-glibc-2.38",
        "/Application\\ Support/Code/User/workspaceStorage/1a2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d/state.json",
        "cast call 0x1f9840a85d5aF5bf1D1762F925BDADdC4201F984",
        "target/debug/deps/behaviour-c9f03eb7e749bcf0",
        "a6244560-d03c-4a53-ac56-5d9a9e0a04bd",
        "x86_64-unknown-linux-gnu",
        "2026-11-18T20:09:46.411Z",
        "AbstractSingletonProxyFactoryBeanConfiguration2Test",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "feature/REQ-0004-login-with-OAuth2",
        "rule:baseline/publish, rule:no-force-push",
        "tools may not change Provost's configuration",
        "type the prompt `provost override rule:no-secrets REASON` in the client",
        "toolu_01XFDUDYJgAACzvnptvVoYEL",
        "the result of toolu_01XFDUDYJgAACzvnptvVoYEL, in msg_01Aq9w938a90dw8q7Zk3Xy",
        "integrity=sha512-oRMe1Ab9xQ2ZtY7uW5vN3mK8pL6jH4gF0dS2aC1bE9iR7oT5yU3wQ==",
        "計画 を 見る",
    ] {
        assert_eq!(mask_credentials(text), text);
    }
}

#[test]
fn a_secret_is_masked_wherever_the_text_has_it() {
    check(&[
        ("printf %s Hunter2x | openssl dgst -hmac Hunter2x", "printf %s •••• | openssl dgst -hmac ••••"),
        ("echo Hunter2x; TOKEN=Hunter2x ./run /tmp/Hunter2x", "echo ••••; TOKEN=•••• ./run /tmp/••••"),
        ("make hunter && app --password hunter", "make hunter && app --password ••••"),
    ]);
}

#[test]
fn a_cut_text_shows_no_part_of_a_secret() {
    for text in [
        "curl https://me:hunter2corr … (cut)",
        "PASSWORD='hunter2corr … (cut)",
        "git clone https://me:hunter2corr",
    ] {
        assert!(!mask_credentials(text).contains("hunter"), "{}", mask_credentials(text));
    }
}

#[test]
fn the_texts_of_a_line_are_masked_and_its_ids_are_not() {
    let mut line = json!({"id": "1k0jabtrqr402", "call": "toolu_01XFDUDYJgAACzvnptvVoYEL", "subject": "TOKEN=x1",
        "guards": [{"what": "PASSWORD=x2", "evidence": ["--token x3"]}], "micros": 5});
    mask_line(&mut line);
    let expected = json!({"id": "1k0jabtrqr402", "call": "toolu_01XFDUDYJgAACzvnptvVoYEL", "subject": "TOKEN=••••",
        "guards": [{"what": "PASSWORD=••••", "evidence": ["--token ••••"]}], "micros": 5});
    assert_eq!(line, expected);
}

#[test]
fn what_quotes_a_part_of_a_command_shows_none_of_its_secrets() {
    let secrets = KnownSecrets::find("git push --force && echo 'hunter2correct' | sudo -S ls");
    for (text, expected) in [
        (
            "`git push --force && echo 'hunter2correct' | sud…` denied",
            "`git push --force && echo '••••' | sud…` denied",
        ),
        ("`git push --force && echo 'hunter2cor…` denied", "`git push --force && echo '••••…` denied"),
        ("hunter2correct is a path", "•••• is a path"),
        ("nothing of it …", "nothing of it …"),
        ("PASSWORD=x", "PASSWORD=••••"),
    ] {
        assert_eq!(secrets.mask(text), expected);
    }
}

#[test]
fn a_long_text_takes_linear_time() {
    for part in ["password=", "a:b@", "://", "echo ", "sk-", "-p ", "Ab3", "\"'", "bearer "] {
        let text = part.repeat(200_000 / part.len());
        let (_, took) = cpu_time::cpu_time(|| mask_credentials(&text).len());
        assert!(took.as_secs() < 2, "{part}: {took:?} of CPU time");
    }
}
