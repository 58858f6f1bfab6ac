#!/bin/bash
# Runs the test programs named as arguments, two at a time, shows the output of those that fail (and
# of all with VERBOSE=1), and ends with the line "N passed, N failed": test cases, not programs.
# PROGRAM:FILTER runs the cases of a program that Boost.Test's --run_test selects.
set -u
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

run_one() {
  local program=${1%%:*} filter=${1#"${1%%:*}"} log=$2/$3 begin=$SECONDS
  "$program" --report_level=short --color_output=no ${filter:+--run_test="${filter#:}"} >"$log" 2>&1
  echo $? >"$log.exit"
  echo "$((SECONDS - begin))" >"$log.seconds"
}
export -f run_one
for i in $(seq $#); do printf '%s\n%s\n' "${!i}" "$i"; done |
  xargs -d '\n' -P 2 -n 2 bash -c 'run_one "$1" "$0" "$2"' "$logs"

passed=0 failed=0 number=0 failures=()
for program in "$@"; do
  number=$((number + 1))
  log=$logs/$number
  code=$(cat "$log.exit" 2>/dev/null || echo 127)
  ok=$(sed -nE 's/^ *([0-9]+) test cases? out of [0-9]+ passed$/\1/p' "$log" | tail -n 1)
  bad=$(sed -nE 's/^ *([0-9]+) test cases? out of [0-9]+ failed$/\1/p' "$log" | tail -n 1)
  ok=${ok:-0} bad=${bad:-0}
  # A program that crashed, or whose report is missing, failed at least once.
  [ "$code" != 0 ] && [ "$bad" = 0 ] && bad=1
  passed=$((passed + ok)) failed=$((failed + bad))
  name=$(basename "${program%%:*}")${program#"${program%%:*}"}
  printf '%-28s %4d passed %4d failed %5ss\n' "$name" "$ok" "$bad" "$(cat "$log.seconds")"
  if [ "$bad" != 0 ] || [ -n "${VERBOSE:-}" ]; then
    # What failed first, in case the rest is long.
    errors=$(grep -E 'error: in|fatal error: in|runtime error:|SUMMARY: ' "$log")
    [ "$bad" = 0 ] || failures+=("failed: $name: $(head -n 3 <<<"${errors:-exit code $code}" | cut -c 1-400)")
    [ -z "$errors" ] || sed "s/^/    /" <<<"$errors"
    tail -n 60 "$log" | sed 's/^/    /'
  else
    # Seeds, counters and skips are worth seeing in a passing run, too.
    grep -E '^(seed|counters|skipped|note):' "$log" | sed 's/^/    /'
  fi
done
# Once more, where a log that was cut still has it.
[ ${#failures[@]} = 0 ] || printf '%s\n' "${failures[@]}"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
