#!/bin/bash
# Many threads on one database, in a directory that goes with a run that finds nothing:
# run_stress.sh PROGRAM SECONDS [OPTION OF STRESS...]. Any report of a sanitizer ends the run at once
# and fails it; 0 seconds: nothing is done.
set -uo pipefail
program=$1 seconds=$2
shift 2
[ "$seconds" = 0 ] && exit 0
work=$(mktemp -d)
export TSAN_OPTIONS="halt_on_error=1 ${TSAN_OPTIONS:-}"
if "$program" stress "$work/stress" --duration "${seconds}s" "$@" > "$work/log" 2>&1; then
  echo "stress: $seconds s, $(sed -n 's/.*stress: //p;q' "$work/log"), no finding: $(awk '$1 == "writes" || $1 == "gets" || $1 == "queries" ||
    $1 == "scans" || $1 == "reopens" {printf "%s%s %s", sep, $2, $1; sep = ", "}' "$work/log")"
  rm -rf "$work"
else
  code=$?
  head -n 120 "$work/log"
  echo "stress: FINDING, exit $code; kept: $work"
  exit 1
fi
