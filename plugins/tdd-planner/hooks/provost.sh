#!/bin/sh
# Runs `provost` with the given arguments. The client goes on when a hook fails, so without the
# program the planner could do anything: it is held here, and nobody else is.

# A client that was started from a desktop does not know where cargo and people put programs.
PATH=$PATH:$HOME/.cargo/bin:$HOME/.local/bin
command -v provost >/dev/null && exec provost "$@"

event=$(cat)
# The person's own prompts are asked about under another pack, and never held.
[ "$3" = self ] && exit 0
# Agents in the background have types too; theirs are not the type of this event's agent.
event=${event%%'"background_tasks"'*}
# `compat` is called for the planner alone; a hook of the whole session has to look.
if [ "$1" = hook ]; then
	printf '%s\n' "$event" | grep -Eq '"agent_type": *"([^":]*:)?tdd-planner"' || exit 0
fi
case $event in
*'"tool_input"'*) ;;
*'"stop_hook_active":true'* | *'"stop_hook_active": true'*) exit 0 ;; # It was told once.
esac
echo "[provost] BLOCKED: the planner's guards cannot run: there is no program \`provost\` on the PATH. To fix: end here and say so; a person can install it, or disable the plugin tdd-planner." >&2
exit 2
