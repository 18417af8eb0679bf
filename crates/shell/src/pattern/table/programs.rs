//! The rows of the table, by program.

use super::git::GIT;
use super::{OptionStyle, PreludeForm, ProgramRow, lists, row};

const REMOVED: &str = "\
    --dir --force --help --interactive --no-preserve-root --one-file-system --preserve-root \
    --recursive --verbose --version";
const COPIED: &str = "\
    --archive --attributes-only --backup --context --copy-contents --debug --dereference \
    --exchange --force --help --interactive --keep-directory-symlink --link --no-clobber --no-copy \
    --no-dereference --no-preserve --no-target-directory --one-file-system --parents --preserve \
    --recursive --reflink --remove-destination --sparse= --strip-trailing-slashes --suffix= \
    --symbolic-link --target-directory= --update --verbose --version";
const OWNED: &str = "\
    --changes --dereference --from= --help --no-dereference --no-preserve-root --preserve-root \
    --quiet --recursive --reference= --silent --verbose --version";
const FIND: &str = "\
    -D= -amin= -anewer= -atime= -cmin= -cnewer= -context= -ctime= -fls= -fprint= -fprint0= \
    -fstype= -gid= -group= -ilname= -iname= -inum= -ipath= -iregex= -iwholename= -links= -lname= \
    -maxdepth= -mindepth= -mmin= -mtime= -name= -newer= -path= -perm= -printf= -regex= -regextype= \
    -samefile= -size= -type= -uid= -used= -user= -wholename= -xtype=";
const GO: &str = "\
    -C= -asmflags= -bench= -benchtime= -buildmode= -count= -covermode= -coverpkg= -coverprofile= \
    -cpu= -cpuprofile= -exec= -f= -fuzz= -fuzztime= -gcflags= -ldflags= -memprofile= -mod= \
    -modfile= -o= -overlay= -p= -parallel= -pkgdir= -run= -shuffle= -skip= -tags= -timeout= \
    -toolexec=";
const CURL: &str = "\
    --cacert= --cert= --config= --connect-timeout= --cookie= --cookie-jar= --data= --data-ascii= \
    --data-binary= --data-raw= --data-urlencode= --form= --header= --json= --key= --max-time= \
    --output= --output-dir= --proxy= --range= --referer= --request= --resolve= --retry= \
    --upload-file= --url= --user= --user-agent= --write-out=";
const CARGO: &str = "\
    --bench= --bin= --color= --config= --example= --exclude= --explain= --features= --index= \
    --jobs= --lockfile-path= --manifest-path= --message-format= --package= --profile= --registry= \
    --target= --target-dir= --test= --token= --vers= --version=";
const GH: &str = "\
    --assignee= --author= --author-email= --base= --body= --body-file= --cache= --field= --head= \
    --header= --hostname= --input= --jq= --json= --label= --limit= --match-head-commit= --method= \
    --milestone= --notes= --notes-file= --project= --raw-field= --repo= --reviewer= --search= \
    --state= --subject= --target= --template= --title=";
const CONTAINER: &str = "\
    --add-host= --annotation= --build-arg= --cap-add= --cap-drop= --cidfile= --cpus= \
    --detach-keys= --device= --dns= --entrypoint= --env= --env-file= --expose= --gpus= --hostname= \
    --ip= --label= --log-driver= --log-opt= --memory= --mount= --name= --net= --network= --pid= \
    --platform= --pull= --publish= --restart= --runtime= --security-opt= --shm-size= \
    --stop-signal= --tmpfs= --ulimit= --user= --userns= --volume= --volumes-from= --workdir=";
const COMPOSE: &str = "\
    --ansi= --entrypoint= --env= --env-file= --file= --index= --name= --parallel= --profile= \
    --progress= --project-directory= --project-name= --publish= --user= --volume= --workdir=";
const KUBECTL: &str = "\
    --as= --as-group= --as-uid= --cache-dir= --certificate-authority= --client-certificate= \
    --client-key= --cluster= --container= --context= --field-selector= --filename= --grace-period= \
    --image= --kubeconfig= --kustomize= --namespace= --output= --patch= --profile= --replicas= \
    --request-timeout= --selector= --server= --timeout= --token= --type= --user=";
const HELM: &str = "\
    --kube-apiserver= --kube-as-user= --kube-context= --kube-token= --kubeconfig= --namespace= \
    --registry-config= --repo= --repository-cache= --repository-config= --set= --set-file= \
    --set-string= --timeout= --values= --version=";
const AWS: &str = "\
    --ca-bundle= --cli-binary-format= --cli-connect-timeout= --cli-read-timeout= --color= \
    --endpoint-url= --output= --profile= --query= --region=";
const GCLOUD: &str = "\
    --account= --billing-project= --configuration= --filter= --flags-file= --flatten= --format= \
    --impersonate-service-account= --limit= --project= --region= --sort-by= --verbosity= --zone=";
const PIP: &str = "\
    --cache-dir= --cert= --client-cert= --constraint= --editable= --exists-action= \
    --extra-index-url= --find-links= --index-url= --log= --prefix= --proxy= --python= \
    --requirement= --retries= --root= --src= --target= --timeout= --trusted-host= --upgrade \
    --upgrade-strategy= --user --yes";
const NPM: &str = "\
    --access= --cache= --depth= --include= --loglevel= --omit= --otp= --prefix= --registry= \
    --scope= --script-shell= --tag= --userconfig= --workspace=";
const UV: &str = "\
    --allow-insecure-host= --cache-dir= --color= --config-file= --directory= --env-file= \
    --extra= --extra-index-url= --from= --group= --index= --index-url= --no-group= --only-group= \
    --package= --project= --python= --with= --with-editable= --with-requirements=";
const MAKE: &str = "\
    --always-make --assume-new= --assume-old= --directory= --dry-run --eval= --file= \
    --include-dir= --jobs --keep-going --makefile= --new-file= --old-file= --question --silent \
    --touch --what-if=";
const GRADLE: &str = "\
    --build-file= --console= --exclude-task= --gradle-user-home= --include-build= --init-script= \
    --max-workers= --project-dir= --settings-file= --tests= --warning-mode=";

/// Programs whose options matter to people who write rules. A program that is not listed has clusters of letters, and
/// no option of it takes the next word.
pub(super) static PROGRAMS: &[ProgramRow] = &[
    GIT,
    // Package managers and build tools.
    row("npm", "C:w:", NPM),
    row(
        "pnpm",
        "C:F:",
        "--config= --dir= --filter= --package= --registry= --reporter= --store-dir= --workspace-concurrency=",
    ),
    row("yarn", "", "--cache-folder= --cwd= --modules-folder= --mutex= --registry= --use-yarnrc=")
        .commands(&[("dlx", lists("p:", "--package="))]),
    row("bun", "c:", "--config= --cwd= --filter="),
    row("npx pnpx bunx", "c:p:w:", "--call= --package= --workspace="),
    row("deno", "c:L:", "--cert= --config= --import-map= --location= --lock= --log-level="),
    row("node", "C:e:p:r:", "--conditions= --eval= --import= --loader= --print= --require="),
    row("pip pip3", "c:e:f:i:r:t:", PIP).abbreviates(),
    // The word after `-m` is the program that runs, so it counts as an operand.
    row("python python3", "W:X:c:", "--check-hash-based-pycs="),
    row(
        "pytest py.test",
        "W:c:k:m:n:o:p:r:",
        "--basetemp= --deselect= --durations= --ignore= --junitxml= --maxfail= --rootdir=",
    ),
    row("uv uvx", "p:w:", UV),
    row("pipx", "", "--index-url= --pip-args= --python= --spec="),
    row("poetry", "C:P:", "--directory= --project="),
    row("pdm hatch", "e:p:", "--env= --project="),
    row("conda mamba micromamba", "n:p:r:", "--cwd= --name= --prefix= --root-prefix="),
    row("bundle", "", "--gemfile="),
    row("cargo", "C:F:Z:j:p:", CARGO).prelude(PreludeForm::Toolchain),
    row("rustc rustdoc rustfmt rustup", "", "").prelude(PreludeForm::Toolchain),
    row("go", "", GO).style(OptionStyle::GoFlag),
    row("make gmake", "C:E:I:W:f:j::l::o:", MAKE).abbreviates().prelude(PreludeForm::Assignment),
    row("just", "d:f:", "--color= --dotenv-path= --justfile= --shell= --working-directory=")
        .prelude(PreludeForm::Assignment),
    row("gradle gradlew", "D::I:P::b:c:g:p:x:", GRADLE),
    row("mvn mvnw", "", "--file= --projects= --settings= -P= -T= -b= -f= -gs= -l= -pl= -rf= -s= -t=")
        .style(OptionStyle::Word),
    row("java", "", "--class-path= --module-path= -classpath= -cp= -p=").style(OptionStyle::Word),
    row("flutter dart", "d:", "--device-id="),
    // Containers, clusters and clouds.
    row(
        "docker podman nerdctl",
        "H:c:l:",
        "--config= --connection= --context= --host= --identity= --log-level= --root= --runroot= --tlscacert= --tlscert= --tlskey= --url=",
    )
    .before_command()
    .commands(&[
        ("run create exec container", lists("a:c:e:h:l:m:p:u:v:w:", CONTAINER)),
        ("compose", lists("e:f:p:u:w:", COMPOSE)),
        (
            "build buildx",
            lists("f:o:t:", "--build-arg= --builder= --file= --output= --platform= --tag= --target="),
        ),
    ]),
    row("docker-compose podman-compose", "f:p:", COMPOSE)
        .before_command()
        .commands(&[("exec run", lists("e:l:p:u:v:w:", COMPOSE))]),
    row("kubectl oc", "c:l:n:o:s:v:", KUBECTL)
        .commands(&[("apply create delete describe diff edit get patch replace scale", lists("f:k:", ""))]),
    row("helm", "f:n:", HELM),
    row(
        "terraform tofu",
        "",
        "-backend-config= -lock-timeout= -out= -parallelism= -replace= -state= -state-out= \
         -target= -var= -var-file=",
    )
    .style(OptionStyle::GoFlag),
    row("packer vault consul nomad", "", "-address= -namespace= -region= -token= -var= -var-file=")
        .style(OptionStyle::GoFlag),
    row("aws", "", AWS),
    row("gcloud", "", GCLOUD),
    row("gsutil", "h:o:u:", ""),
    row("az", "g:n:o:", "--location= --name= --output= --query= --resource-group= --subscription="),
    row("gh", "R:", GH).commands(&[
        ("pr issue", lists("B:F:H:L:a:b:l:t:", "")),
        ("release", lists("F:n:t:", "")),
        ("api", lists("F:H:X:f:p:q:t:", "")),
    ]),
    row("fly flyctl heroku", "a:c:r:", "--access-token= --app= --config= --remote="),
    row("vercel", "A:S:t:", "--cwd= --local-config= --scope= --token="),
    row(
        "supabase",
        "o:p:",
        "--db-url= --dns-resolver= --network-id= --output= --password= --profile= --project-ref= --workdir=",
    ),
    row("restic", "o:p:r:", "--option= --password-file= --repo= --repository-file="),
    row("pulumi", "C:s:", "--color= --cwd= --profiling= --stack="),
    row("glab", "R:X:", "--field= --header= --hostname= --method= --repo="),
    row("snow", "c:", "--account= --connection= --database= --role= --schema= --user= --warehouse="),
    row("rabbitmqctl rabbitmqadmin", "H:P:V:n:p:u:", "--host= --node= --password= --port= --username= --vhost="),
    row("nats", "s:", "--context= --creds= --password= --server= --user="),
    row("wrangler", "c:e:", "--config= --cwd= --env="),
    row("firebase", "P:", "--account= --config= --project= --token="),
    row("ansible ansible-playbook", "M:e:i:l:t:u:", "--extra-vars= --inventory= --limit= --tags= --user="),
    // Programs that run another one. It is a run of its own; this is for patterns such as `sudo apt`.
    row("sudo doas", "C:D:R:T:U:g:h:p:r:t:u:", "--chdir= --group= --host= --prompt= --user=")
        .before_command()
        .prelude(PreludeForm::Assignment),
    row("env", "C:S:a:u:", "--argv0= --chdir= --split-string= --unset=")
        .before_command()
        .prelude(PreludeForm::Assignment),
    row("nice", "n:", "--adjustment=").before_command(),
    row("aws-vault", "d:t:", "--backend= --duration= --mfa-token= --region="),
    row("dotenv env-cmd", "e:f:r:v:", "--environments= --file= --rc-file=").before_command(),
    row("watchexec", "d:e:f:i:s:w:", "--debounce= --exts= --filter= --ignore= --signal= --watch=")
        .before_command(),
    row("xvfb-run", "e:f:n:p:s:w:", "--error-file= --server-args= --server-num=").before_command(),
    row("caffeinate", "t:w:", "").before_command(),
    row("systemd-run", "E:H:M:p:t:u:", "--description= --property= --setenv= --slice= --unit=")
        .before_command(),
    row("screen", "S:T:c:e:h:p:s:t:", "").before_command(),
    row("tmux", "F:L:S:c:e:f:l:n:s:t:x:y:", ""),
    row("devcontainer", "", "--config= --container-id= --id-label= --remote-env= --workspace-folder="),
    row("timeout", "k:s:", "--kill-after= --signal=").before_command(),
    row("xargs", "E:I:L:P:a:d:n:s:", "--arg-file= --delimiter= --max-args= --max-procs= --replace")
        .before_command(),
    // Databases.
    row(
        "pg_dump pg_restore createdb dropdb",
        "F:I:L:N:P:S:T:U:d:f:h:j:n:p:t:",
        "--dbname= --file= --format= --host= --jobs= --port= --schema= --table= --use-list= --username=",
    )
    .abbreviates(),
    row(
        "psql",
        "F:P:R:T:U:c:d:f:h:o:p:v:",
        "--command= --dbname= --file= --host= --port= --username= --variable=",
    )
    .abbreviates(),
    row(
        "mysql mysqladmin mysqldump mariadb",
        "D:P:S:e:h:p::u:",
        "--database= --execute= --host= --port= --socket= --user=",
    )
    .abbreviates(),
    row("redis-cli", "a:h:n:p:s:u:", "--pass= --user="),
    // Files and systems.
    row("rm", "", REMOVED).abbreviates(),
    row("cp mv ln install", "S:g:m:o:t:", COPIED).abbreviates(),
    row("chown chgrp", "", OWNED).abbreviates(),
    row(
        "chmod",
        "",
        "--changes --help --no-preserve-root --preserve-root --quiet --recursive --reference= \
         --silent --verbose --version",
    )
    .abbreviates(),
    row("rmdir mkdir", "m:", "--help --ignore-fail-on-non-empty --mode= --parents --verbose --version")
        .abbreviates(),
    row(
        "shred",
        "n:s:",
        "--exact --force --help --iterations= --random-source= --remove --size= --verbose \
         --version --zero",
    )
    .abbreviates(),
    row("truncate", "r:s:", "--help --io-blocks --no-create --reference= --size= --version").abbreviates(),
    row("touch", "d:r:t:", "--date= --help --no-create --no-dereference --reference= --time= --version")
        .abbreviates(),
    row("sed", "e:f:i::l:", "--expression= --file= --in-place --line-length=").abbreviates(),
    row("grep egrep fgrep", "A:B:C:D:d:e:f:m:", "--context --file= --max-count= --regexp=").abbreviates(),
    row("find", "", FIND).style(OptionStyle::Word),
    row("tar", "C:T:X:b:f:g:", "--directory= --exclude= --exclude-from= --file= --files-from=").abbreviates(),
    row("kill pkill", "n:s:", "--signal="),
    row("mkfs", "t:", "--type="),
    row("systemctl", "H:M:n:o:p:s:t:", "--host= --machine= --output= --property= --signal= --state= --type=")
        .abbreviates(),
    row("apt apt-get", "a:c:o:t:", "--config-file= --option= --target-release="),
    row("curl", CURL_LETTERS, CURL),
    row(
        "wget",
        "O:P:Q:T:U:a:e:i:o:t:w:",
        "--directory-prefix= --header= --input-file= --output-document= --post-data= \
         --user-agent=",
    )
    .abbreviates(),
    row("ssh", "B:D:E:F:I:J:L:O:Q:R:S:W:b:c:e:i:l:m:o:p:w:", ""),
    row("scp sftp", "B:D:F:J:P:S:X:c:i:l:o:", ""),
    row(
        "rsync",
        "B:M:T:e:f:",
        "--exclude= --exclude-from= --files-from= --filter= --include= --rsh= --rsync-path=",
    )
    .abbreviates(),
    row(
        "openssl ffmpeg ffprobe magick convert xcodebuild adb emulator javac gcc g++ clang \
         clang++",
        "",
        "",
    )
    .style(OptionStyle::Word),
    row("jj hg", "R:", "--at-operation= --config= --repository="),
];

const CURL_LETTERS: &str = "A:C:D:E:F:H:K:P:Q:T:U:X:Y:b:c:d:e:m:o:r:t:u:w:x:y:z:";
