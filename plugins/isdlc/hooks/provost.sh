#!/bin/sh
# Runs `provost` with the given arguments. Without the program nothing is denied: these guards allow what
# they cannot judge. But a user who has a workflow here believes that it is guarded, so a message says
# otherwise when a session starts and at each stop.

# Some clients run this without the arguments of its entry.
[ $# -gt 0 ] || set -- hook --pack self --pack rules --pack workflow --pack phases

# A client that was started from a desktop may not have these directories on its PATH.
PATH=$PATH:$HOME/.cargo/bin:$HOME/.local/bin
command -v provost >/dev/null && exec provost "$@"

event=$(cat)
[ -d "${CLAUDE_PROJECT_DIR:-.}/.isdlc" ] || exit 0
printf '%s\n' "$event" | grep -Eq '"hook_event_name": *"(SessionStart|Stop)"' || exit 0
echo '{"systemMessage": "[provost] The phases of the workflow are not guarded: there is no program `provost` on the PATH. To fix: install it with `cargo install --path .` in its repository, or disable the plugin isdlc."}'
