#!/bin/bash
# Runs fuzz targets, two at a time: run_fuzz.sh PROGRAM SECONDS [TARGET...]. Each begins with its
# corpus, test/fuzz/corpus/TARGET.tar.gz, and with the sound inputs that it makes itself. Prints a line a
# target and at the end one of JSON. Fails when one of them finds something or could not run; the
# input of a finding is kept, and the command that repeats it printed.
#
#   SEED=N  where the random numbers of each target begin; another place every time without it
#   GROW=1  afterwards the corpus of each target becomes the fewest of its inputs, old and new, that
#           reach all code that any of them reaches (`make fuzz-corpus`). By hand only: otherwise
#           what a run covers would depend on the runs before. An input that once was a finding is
#           put into the corpus as found-HASH and stays, whatever it reaches.
set -uo pipefail
program=$1 seconds=$2
shift 2
targets=${*:-$("$program" --list)} || exit 1
corpus=test/fuzz/corpus
seed=${SEED:-$((RANDOM * 32768 + RANDOM + 1))}
began=$SECONDS
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Short stacks of allocations and little memory that waits to be freed make the fuzzer twice as fast;
# `make asan` runs with the defaults.
export ASAN_OPTIONS=malloc_context_size=4:quarantine_size_mb=16:detect_stack_use_after_return=0
# Inputs are chosen evenly: weighing them by their rare features takes longer than running them.
flags="-entropic=0 -malloc_limit_mb=64 -rss_limit_mb=1024 -timeout=10 -max_len=4096"

number_in() { sed -n "s/$1/\1/p" "$2" | tail -n 1; }

# The corpus of a target, as files of a folder. Equal files make equal archives.
unpack() {
  [ ! -e "$corpus/$1.tar.gz" ] || tar -xzf "$corpus/$1.tar.gz" -C "$2"
}
pack() {
  tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=0644 -C "$2" -c . |
    gzip -9n > "$corpus/$1.tar.gz"
}

grow() {
  local target=$1 kept=$work/$1.kept merged=$work/$1.merged
  mkdir -p "$merged" "$kept"
  unpack "$target" "$kept" || return 1
  "$program" --target="$target" $flags -merge=1 -use_counters=0 "$merged" "$kept" "$work/$target" \
    > "$work/$target.log" 2>&1 || return 1
  find "$kept" -type f ! -name 'found-*' -delete
  cp "$merged"/* "$kept"
  pack "$target" "$kept"
}

fuzz() {
  local target=$1 log=$work/$1.log found=$(dirname "$program")/found-$1- inputs right
  mkdir "$work/$target" && "$program" --target="$target" --seeds="$work/$target" || return 1
  unpack "$target" "$work/$target" || return 1
  # A single allocation of more than 64 MiB, or an input that takes 10 s, is a finding.
  if timeout -k 10 $((seconds + 120)) "$program" --target="$target" $flags -seed="$seed" \
    -max_total_time="$seconds" -print_final_stats=1 -artifact_prefix="$found" "$work/$target" \
    > "$log" 2>&1; then
    inputs=$(number_in 'stat::number_of_executed_units: *\([0-9]*\)' "$log")
    right=$(number_in 'checksums right: \([0-9]* of [0-9]*\)' "$log")
    if ((${inputs:-0} == 0)); then
      echo "fuzz $target: FAILED: it ran no input"
      return 1
    fi
    echo "fuzz $target: $inputs inputs${right:+, checksums right in ${right% of *}}, no finding"
    echo "$inputs ${right:-0 of 0}" > "$work/$target.counts"
    [ -z "${GROW:-}" ] || grow "$target" || { echo "fuzz $target: FAILED: merging"; return 1; }
    return
  fi
  tail -n 40 "$log"
  found=$(number_in '.*Test unit written to \(.*\)' "$log")
  if [ -z "$found" ]; then
    echo "fuzz $target: FAILED: it could not run"
    return 1
  fi
  touch "$work/$target.finding"
  echo "fuzz $target: FINDING; again: $program --target=$target $flags $found"
  return 1
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
cat "$work"/*.counts 2>/dev/null | awk -v seconds="$seconds" -v seed="$seed" \
  -v commit="$(git rev-parse --short HEAD 2>/dev/null)" -v all="$(wc -w <<< "$targets")" \
  -v wall="$((SECONDS - began))" -v findings="$(find "$work" -name '*.finding' | wc -l)" '
  { inputs += $1; right += $2; of += $4 }
  END { printf "{\"suite\":\"fuzz\",\"inputs\":%d,\"inputs_with_checksums\":%d,\"checksums_right\":%d," \
    "\"targets\":%d,\"targets_passed\":%d,\"seconds_each\":%d,\"seconds\":%d,\"seed\":%d," \
    "\"commit\":\"%s\",\"findings\":%d}\n", inputs, of, right, all, NR, seconds, wall, seed, \
    commit, findings }'
exit "$failed"
