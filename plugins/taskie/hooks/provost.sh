#!/bin/sh
# Runs `provost` with the given arguments. Without the program nothing is held: a missing review is
# no harm that a held session would mend. But whoever has plans here believes that they are reviewed,
# so the person is told at each stop.

# A client that was started from a desktop does not know where cargo and people put programs.
PATH=$PATH:$HOME/.cargo/bin:$HOME/.local/bin
command -v provost >/dev/null && exec provost "$@"

event=$(cat)
[ -d .taskie/plans ] || exit 0
printf '%s\n' "$event" | grep -Eq '"hook_event_name": *"Stop"' || exit 0
echo '{"systemMessage": "[provost] No review is made: there is no program `provost` on the PATH. To fix: install it with `cargo install --path .` in its repository, or disable the plugin taskie."}'
