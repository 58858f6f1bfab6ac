#!/bin/bash
# Runs fuzz targets, two at a time: run_fuzz.sh PROGRAM SECONDS [TARGET...]. Prints a line a target;
# fails when one of them finds something, and says how to see it again.
set -uo pipefail
program=$1 seconds=$2
shift 2
targets=${*:-$("$program" --list)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fuzz() {
  local target=$1 corpus=$work/$1 log=$work/$1.log found=$(dirname "$program")/found-$1-
  mkdir -p "$corpus"
  "$program" --target="$target" --seeds="$corpus" || return 1
  # A single allocation of more than 64 MiB, or an input that takes 10 s, is a finding.
  if "$program" --target="$target" -max_total_time="$seconds" -malloc_limit_mb=64 -rss_limit_mb=1024 \
    -timeout=10 -max_len=4096 -print_final_stats=1 -verbosity=1 -artifact_prefix="$found" "$corpus" \
    > "$log" 2>&1; then
    echo "fuzz $target: $(sed -n 's/stat::number_of_executed_units: *//p' "$log") inputs, no finding"
  else
    tail -n 40 "$log"
    echo "fuzz $target: FINDING; again: $program --target=$target $(ls "$found"* 2>/dev/null | head -n 1)"
    return 1
  fi
}

failed=0
for target in $targets; do
  while (($(jobs -rp | wc -l) >= 2)); do
    wait -n || failed=1
  done
  fuzz "$target" &
done
while (($(jobs -p | wc -l) > 0)); do
  wait -n || failed=1
  jobs > /dev/null
done
exit "$failed"
