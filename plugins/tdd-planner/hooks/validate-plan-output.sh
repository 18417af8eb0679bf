#!/bin/sh
# Judges the planner's plan when it wants to stop: exit 0, or exit 2 with the reason on stderr.
exec "${0%/*}/provost.sh" compat validate-plan-output
