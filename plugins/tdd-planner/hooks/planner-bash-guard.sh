#!/bin/sh
# Judges a Bash call of the planner: exit 0, or exit 2 with the reason on stderr.
exec "${0%/*}/provost.sh" compat planner-bash-guard
