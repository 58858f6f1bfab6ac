#!/bin/bash
# Runs the test programs named as arguments, two at a time, shows the output of those that fail (and
# of all with VERBOSE=1), and ends with the line "N passed, N failed": test cases, not programs.
set -u
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

run_one() {
  local program=$1 log=$2/$(basename "$1") begin=$SECONDS
  "$program" --report_level=short --color_output=no >"$log" 2>&1
  echo $? >"$log.exit"
  echo "$((SECONDS - begin))" >"$log.seconds"
}
export -f run_one
printf '%s\n' "$@" | xargs -P 2 -I{} bash -c 'run_one "$1" "$2"' _ {} "$logs"

passed=0 failed=0
for program in "$@"; do
  log=$logs/$(basename "$program")
  code=$(cat "$log.exit" 2>/dev/null || echo 127)
  ok=$(sed -nE 's/^ *([0-9]+) test cases? out of [0-9]+ passed$/\1/p' "$log" | tail -n 1)
  all=$(sed -nE 's/^ *[0-9]+ test cases? out of ([0-9]+) (passed|failed)$/\1/p' "$log" | tail -n 1)
  ok=${ok:-0} all=${all:-0}
  bad=$((all - ok))
  # A program that crashed, or whose report is missing, failed at least once.
  [ "$code" != 0 ] && [ "$bad" = 0 ] && bad=1
  passed=$((passed + ok)) failed=$((failed + bad))
  printf '%-28s %4d passed %4d failed %5ss\n' "$(basename "$program")" "$ok" "$bad" "$(cat "$log.seconds")"
  if [ "$bad" != 0 ] || [ -n "${VERBOSE:-}" ]; then
    tail -n 60 "$log" | sed 's/^/    /'
  else
    # Seeds, counters and skips are worth seeing in a passing run, too.
    grep -E '^(seed|counters|skipped|note):' "$log" | sed 's/^/    /'
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
