#!/bin/sh
# Runs `provost` with the given arguments. The client continues when a hook fails, so without
# the program any plan could leave plan mode: this script blocks that one call, and nothing else.

# Some clients run this without the arguments of its entry.
[ $# -gt 0 ] || set -- hook --pack self --pack rules --pack workflow --pack plan-gate

# A client that was started from a desktop may not have these directories on its PATH.
PATH=$PATH:$HOME/.cargo/bin:$HOME/.local/bin
command -v provost >/dev/null && exec provost "$@"

event=$(cat)
says() { printf '%s\n' "$event" | grep -Eq "\"$1\": *\"$2\""; }
says hook_event_name PreToolUse && says tool_name ExitPlanMode || exit 0
echo "[RODIN] BLOCKED: no plan can be assessed: there is no program \`provost\` on the PATH. To fix: end here and say so; the user can install it, disable the plugin rodin, or leave plan mode in the client." >&2
exit 2
