#!/bin/sh
# Runs `provost` with the given arguments. The client continues when a hook fails, so without
# the program the planner could do anything: this script blocks the planner, and nobody else.

# Some clients run this without the arguments of its entry.
[ $# -gt 0 ] || set -- hook --pack self --pack rules --pack workflow --pack planner

# A client that was started from a desktop may not have these directories on its PATH.
PATH=$PATH:$HOME/.cargo/bin:$HOME/.local/bin
command -v provost >/dev/null && exec provost "$@"

event=$(cat)
# The packs `self`, `rules` and `workflow` do not guard the planner, so nothing is blocked without them.
case $3 in self | rules) exit 0 ;; esac
# Background agents have types too, which are not the type of this event's agent.
event=${event%%'"background_tasks"'*}
# `compat` is called for the planner only; a hook of the whole session has to check.
if [ "$1" = hook ]; then
	printf '%s\n' "$event" | grep -Eq '"agent_type": *"([^":]*:)?tdd-planner"' || exit 0
fi
case $event in
*'"tool_input"'*) ;;
*'"stop_hook_active":true'* | *'"stop_hook_active": true'*) exit 0 ;; # It was blocked once.
esac
echo "[provost] BLOCKED: the planner's guards cannot run: there is no program \`provost\` on the PATH. To fix: end here and say so; the user can install it, or disable the plugin tdd-planner." >&2
exit 2
