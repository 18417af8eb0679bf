# Plays the critic, the validator and the reviewer of the demo. Real ones are models.
case $1 in
critic)
    while read -r _; do :; done
    echo '### FINDING-1: No way back'
    echo '- **Severity**: high'
    echo '- **Description**: Nothing says how the migration is undone if it fails.'
    ;;
validator)
    covered=no
    while read -r line; do
        case $line in '### GAP-'*) covered=yes ;; esac
    done
    case $covered in
    yes) echo '### VERDICT: PASS' && echo '**Reason**: All serious findings are covered.' ;;
    no) echo '### VERDICT: FAIL' && echo '**Reason**: FINDING-1: No way back' ;;
    esac
    ;;
*)
    prompt=$(cat)
    file=${prompt#*Write your review to }
    file=${file%% and change nothing else*}
    verdict=PASS finding='Nothing to fix.'
    case $file in *-review-1.md) verdict=FAIL finding='1. An empty password is accepted (src/login.rs:12).' ;; esac
    printf '# Review\n\n%s\n\nVERDICT: %s\n' "$finding" "$verdict" >"$file"
    echo "VERDICT: $verdict"
    ;;
esac
