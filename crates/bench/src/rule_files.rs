//! Rules as a project has them: every key of the language, and no rule that matches the measured events.

/// Rules of one service of a project. `SERVICE` stands for its name.
const RULES_OF_A_SERVICE: &str = r#"
[[rule]]
name = "SERVICE-dependencies"
runs = ["npm install|i|add SERVICE-legacy", "yarn add SERVICE-legacy"]
deny = "SERVICE-legacy is not maintained any more"
fix  = "use @company/SERVICE"
match     = ["npm i -D SERVICE-legacy", "yarn add SERVICE-legacy"]
not_match = ["npm install", "npm i SERVICE"]

[[rule]]
name = "SERVICE-volumes"
runs = ["docker compose down -v|--volumes", "docker volume rm SERVICE-data"]
ask  = "the volumes hold the data of SERVICE"

[[rule]]
name = "SERVICE-cluster"
runs = "kubectl delete|scale|drain --namespace=SERVICE"
ask  = "SERVICE is in production"
match = ["kubectl delete pod x --namespace SERVICE"]

[[rule]]
name   = "SERVICE-history"
runs   = "git push --force|-f origin SERVICE-main"
deny   = "others work on this branch"
except = "git push --force-with-lease"

[[rule]]
name = "SERVICE-tests"
runs = "rm -r|-f services/SERVICE/tests"
deny = "tests are corrected, not deleted"

[[rule]]
name  = "SERVICE-secrets"
reads = ["services/SERVICE/secrets/**", "services/SERVICE/.env*", "!services/SERVICE/.env.example"]
ask   = "it holds secrets of SERVICE"
match     = [{ read = "services/SERVICE/secrets/key.pem" }]
not_match = [{ read = "services/SERVICE/.env.example" }]

[[rule]]
name  = "SERVICE-token"
reads = "~/.config/SERVICE/token"
deny  = "the token belongs to the user"

[[rule]]
name   = "SERVICE-generated"
writes = ["services/SERVICE/generated/**", "**/SERVICE.pb.go"]
deny   = "it is generated"
fix    = "change the schema and run `make generate`"

[[rule]]
name    = "SERVICE-migrations"
changes = "services/SERVICE/migrations/**"
unless  = "new"
ask     = "applied migrations are not edited"

[[rule]]
name    = "SERVICE-data"
deletes = ["services/SERVICE/data/**", "!services/SERVICE/data/cache/**"]
deny    = "it cannot be made again"

[[rule]]
name   = "SERVICE-logging"
writes = "services/SERVICE/**/*.ts"
adds   = '\bconsole\.(log|debug)\('
warn   = "use the logger"

[[rule]]
name = "SERVICE-keys"
adds = '(?i)SERVICE[_-]?key\s*[:=]\s*["`][\w-]{20,}'
deny = "a key of SERVICE does not belong in a file"

[[rule]]
name    = "SERVICE-releases"
commits = "release/SERVICE-*"
deny    = "only the release job commits there"

[[rule]]
name    = "SERVICE-messages"
commits = "SERVICE/*"
message = '^[A-Z]+-[0-9]+: '
deny    = "a message begins with the number of a ticket"

[[rule]]
name   = "SERVICE-pushes"
pushes = ["release/SERVICE-*", "SERVICE-main"]
ask    = "it deploys SERVICE"

[[rule]]
name = "SERVICE-database"
uses = "mcp__SERVICE-db__drop_*|mcp__SERVICE-db__execute"
ask  = "it changes the database of SERVICE"

[[rule]]
name      = "SERVICE-deployment"
delegates = "SERVICE-deployer"
in_agent  = "main"
ask       = "it deploys SERVICE"

[[rule]]
name    = "SERVICE-tests-before-done"
stops   = true
changed = "services/SERVICE/**"
need    = { passed = "npm test" }
rounds  = 3

[[rule]]
name    = "SERVICE-lint-before-commit"
commits = "SERVICE/*"
changed = "services/SERVICE/**"
need    = { check = "make -C services/SERVICE lint", seconds = 120 }

[[rule]]
name   = "SERVICE-format"
writes = "services/SERVICE/**/*.ts"
run    = "npx prettier --write {path}"
"#;

/// The text of a `provost.toml` with the built-in rules and this many own ones.
pub fn write_rules(count: usize) -> String {
    let mut text = String::from("[rules]\nuse = [\"baseline\"]\n");
    let in_service = RULES_OF_A_SERVICE.matches("[[rule]]").count();
    for service in 0..count.div_ceil(in_service) {
        text += &RULES_OF_A_SERVICE.replace("SERVICE", &format!("service{service}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_as_many_rules_as_it_should() {
        for count in [0, 100, 1000] {
            assert_eq!(write_rules(count).matches("\n[[rule]]\n").count(), count);
        }
    }
}
