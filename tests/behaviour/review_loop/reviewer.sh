#!/bin/sh
# Stands in for the `claude` program as a reviewer, and answers as that does. What it does is said by
# variables, as in the document's mock:
#   MOCK_CLAUDE_LOG        a directory; each call makes a numbered one in it: arguments, input, environment
#   MOCK_CLAUDE_DELAY      seconds before anything is written
#   MOCK_CLAUDE_DOES       shell commands that run meanwhile; $file is the review's path
#   MOCK_CLAUDE_VERDICT    PASS or FAIL (FAIL)
#   MOCK_CLAUDE_WRITES     review, bare (without a verdict), empty, nothing (review)
#   MOCK_CLAUDE_PRINTS     result, blank, string, fenced, object, noise, error, text, nothing (result)
#   MOCK_CLAUDE_EXIT_CODE  (0)
verdict=${MOCK_CLAUDE_VERDICT:-FAIL}
for prompt; do :; done
file=${prompt#*Write your review to }
file=${file%% and change nothing else*}

if [ -n "$MOCK_CLAUDE_LOG" ]; then
    number=1
    until mkdir "$MOCK_CLAUDE_LOG/$number" 2>/dev/null; do
        # The test is over, and its directory gone.
        [ -d "$MOCK_CLAUDE_LOG" ] || exit 9
        number=$((number + 1))
    done
    log=$MOCK_CLAUDE_LOG/$number
    printf '%s\0' "$@" >"$log/arguments"
    env >"$log/environment"
    pwd >"$log/directory"
    cat >"$log/input"
fi
[ -z "$MOCK_CLAUDE_DELAY" ] || sleep "$MOCK_CLAUDE_DELAY"
eval "$MOCK_CLAUDE_DOES"

case ${MOCK_CLAUDE_WRITES:-review} in
review) printf '# Review\n\n1. A finding, or none.\n\nVERDICT: %s\n' "$verdict" >"$file" ;;
bare) printf '# Review\n\nNothing to say about the outcome.\n' >"$file" ;;
empty) : >"$file" ;;
esac

start='{"type":"result","subtype":"success","is_error":false,"duration_ms":9,"num_turns":3'
end='"session_id":"s","total_cost_usd":0.01,"usage":{"output_tokens":5}'
case ${MOCK_CLAUDE_PRINTS:-result} in
noise)
    echo 'Warning: a new version is there' >&2
    echo 'Warning: slow network'
    ;;
esac
case ${MOCK_CLAUDE_PRINTS:-result} in
result | noise)
    printf '%s,"result":"{\\"verdict\\":\\"%s\\"}",%s,"structured_output":{"verdict":"%s"}}\n' \
        "$start" "$verdict" "$end" "$verdict"
    ;;
blank) printf '%s,"result":"",%s,"structured_output":{"verdict":"%s"}}\n' "$start" "$end" "$verdict" ;;
string) printf '%s,"result":"{\\"verdict\\":\\"%s\\"}",%s}\n' "$start" "$verdict" "$end" ;;
fenced) printf '%s,"result":"```json\\n{\\"verdict\\":\\"%s\\"}\\n```",%s}\n' "$start" "$verdict" "$end" ;;
object) printf '{"result":{"verdict":"%s"},"session_id":"s","cost":0.01}\n' "$verdict" ;;
error) printf '{"type":"result","subtype":"success","is_error":true,"result":"API Error: overloaded",%s}\n' "$end" ;;
text) echo 'I have written the review.' ;;
esac
exit "${MOCK_CLAUDE_EXIT_CODE:-0}"
