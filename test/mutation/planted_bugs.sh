#!/bin/bash
# Mutation testing: do the general suites find planted bugs? Each *.patch beside this script is one
# bug; its head names the class, the bug, and the suites to begin with. The script copies the tree and
# its objects, and for each bug applies the patch, builds what the next suite needs, and runs general
# suites until one finds something, for at most SECONDS_EACH (180) of processor time, so that a busy
# machine makes no difference. It prints a JSON line a bug and a score, and exits 8 when a bug was
# missed, 2 when one could not be tried.
#
#   test/mutation/planted_bugs.sh                   all of them
#   test/mutation/planted_bugs.sh NAME...           these; or the files of patches from elsewhere
#   test/mutation/planted_bugs.sh --pick N [REV]    N of them, chosen by the commit's hash
#
# The suites: those of `reliability` by name; worlds and model (the small worlds of the model test, and its
# long lives), interleave (threads at their yield points), interleave_files (those of its scenarios that
# load, build indexes and take named snapshots), fuzz (the decoders' fuzzer, built by clang),
# and for mutants tests (those of each part; planted bugs have to be found without them).
# All run from SEED, that of CI. JOBS bugs are tried side by side, each in a copy of its own. What make
# is to know comes from `make mutation`, or by CXX and MAKEFLAGS.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 2
patches=$PWD/test/mutation
seconds=${SECONDS_EACH:-180} seed=${SEED:-20261120} jobs=${JOBS:-$(nproc)}
general="crash errors worlds cut files space model allocations interleave interleave_files flip differential"
tests=(base format index store_file compaction memstore wal engine)
work=$(mktemp -d "${TMPDIR:-/tmp}/mutation.XXXXXX")
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

refuse() {
  echo "mutation: $1" >&2
  exit 2
}

# Prints the patches to try, a path a line.
choose() {
  local all=("$patches"/*.patch) name
  if [ "${1:-}" = --pick ]; then
    [[ ${2:-} =~ ^[0-9]+$ && $# -le 3 ]] || refuse "--pick takes a number, and perhaps a revision"
    local hash
    hash=$(git rev-parse --verify --quiet "${3:-HEAD}^{commit}") || refuse "no commit '${3:-HEAD}'"
    local first=$((16#${hash:0:8} % ${#all[@]})) i
    # Strides of seven meet every class in turn.
    for ((i = 0; i < $2; ++i)); do echo "${all[$(((first + 7 * i) % ${#all[@]}))]}"; done
    return
  fi
  [ $# -gt 0 ] || printf '%s\n' "${all[@]}"
  for name; do
    if [ -e "$patches/$name.patch" ]; then
      echo "$patches/$name.patch"
    else
      [[ $name == *.patch && -e $name ]] || refuse "no bug '$name'; the bugs are the patches of test/mutation"
      realpath "$name"
    fi
  done
}

# All of them, picked or not, so that one is mended when the code that it changes moves.
check_all_apply() {
  local patch stale=()
  for patch in "$patches"/*.patch; do
    patch -p1 --dry-run --silent --force <"$patch" >/dev/null 2>&1 || stale+=("$(basename "$patch")")
  done
  [ ${#stale[@]} = 0 ] || refuse "these do not apply to the tree: ${stale[*]}"
}

field() { sed -n "s/^$1: //p;/^diff/q" "$2"; }

# The tree as it is, with what was built.
copy_tree() {
  mkdir "$1"
  git ls-files -z --cached --others --exclude-standard | xargs -0 cp -a --parents --reflink=auto -t "$1" 2>/dev/null
  local folder
  for folder in build build-asan; do
    [ -d "$folder/obj" ] || continue
    mkdir "$1/$folder"
    cp -a --reflink=auto "$folder/obj" "$1/$folder/"
  done
}

# Builds in the tree what a suite needs. Linked is what was never copied, so always anew.
build() {
  local targets
  case $2 in
    worlds | model) targets=build/test_model ;;
    interleave | interleave_files) targets=build/test_interleave ;;
    tests) targets=${tests[*]/#/build/test_} ;;
    fuzz) targets=fuzz-program ;;
    *) targets=build/reliability ;;
  esac
  make -C "$1" --no-print-directory -j2 $targets >"$1.build" 2>&1
}

# Runs one suite in the tree, as the leader of a session.
start_suite() {
  cd "$1" || exit 127
  export TANDEM_SEED=$seed TMPDIR=$1.scratch
  case $2 in
    worlds) TANDEM_OPERATIONS=600000 exec setsid build/test_model --run_test=model/SmallWorlds ;;
    model)
      TANDEM_OPERATIONS=300000 exec setsid build/test_model \
        --run_test=model/CrashesOnTheSimulatedDisk,FilesThroughPosix
      ;;
    # A few schedules of every scenario before many of any.
    interleave | interleave_files)
      exec setsid bash -c 'TANDEM_QUICK=1 build/test_interleave --run_test=$0 && TANDEM_TRIALS=2 exec build/test_interleave --run_test=$0' "$2"
      ;;
    tests)
      exec setsid bash -c 'for each; do build/test_$each --report_level=short || exit; done' - "${tests[@]}"
      ;;
    fuzz) exec setsid tools/dev/run_fuzz.sh build-asan/fuzz $((1 + $3 / 14)) ;;
    *) exec setsid build/reliability "$2" --seed "$seed" --directory "$TMPDIR" ;;
  esac >"$1.log" 2>&1
}

# Processor time, in seconds, after which a suite that ends by itself hangs: three times what it takes.
patience() {
  case $1 in
    worlds) echo 100 ;;
    tests) echo 150 ;;
    *) echo 1000000 ;;
  esac
}

# Runs one suite in the tree for so many seconds, and says how many tenths of them it took. What runs
# out of time found nothing: 124. What hangs found something.
run_suite() {
  local process begin=$SECONDS used=0 code=0 ended patience
  patience=$(patience "$2")
  start_suite "$@" &
  process=$!
  while kill -0 $process 2>/dev/null; do
    sleep 0.2
    # What has found something need not go on.
    grep -qE 'FINDING|error: in "' "$1.log" && code=1
    used=$(ps -o cputimes= --sid $process | awk '{ sum += $1 } END { print sum + 0 }')
    [ "$used" -lt "$3" ] && [ $((SECONDS - begin)) -lt $((5 * $3 + 20)) ] || code=124
    [ "$used" -lt "$patience" ] || code=1
    [ $code = 0 ] || kill -KILL -- -$process
    [ $code = 0 ] || break
  done 2>/dev/null
  wait $process 2>/dev/null
  ended=$?
  [ $code != 0 ] || code=$ended
  times >"$1.times"  # In a pipe it would be the times of nothing.
  sed -n '2{y/ms/  /;p}' "$1.times" | awk '{ printf "%d\n", 10 * (60 * ($1 + $3) + $2 + $4) }'
  return $code
}

# Runs suites on the bug in the tree and prints what came of it: found SUITE SECONDS, missed, or broken.
find_bug() {
  local tree=$1 spent=0 suite tenths code
  shift
  for suite; do
    # What is left must be worth a start.
    [ $((spent + 20)) -lt $((10 * seconds)) ] || break
    build "$tree" "$suite" || { echo "broken" && return; }
    mkdir -p "$tree.scratch"
    tenths=$(run_suite "$tree" "$suite" $((seconds - spent / 10)))
    code=$?
    rm -rf "$tree.scratch"
    spent=$((spent + tenths))
    case $code in
      0 | 124) ;;
      2 | 126 | 127) echo "broken" && return ;;
      *) echo "found $suite $((spent / 10)).$((spent % 10))" && return ;;
    esac
  done
  echo "missed"
}

# Tries one patch in the tree, which is afterwards as before.
try_patch() {
  local tree=$1 patch=$2 name begin=$SECONDS suites suite outcome after
  name=$(basename "$patch" .patch)
  if ! patch -s -p1 -d "$tree" <"$patch" >"$tree.build" 2>&1; then
    outcome=broken
  else
    suites=$(field Suites "$patch")
    for suite in $general; do [[ " $suites " == *" $suite "* ]] || suites+=" $suite"; done
    # shellcheck disable=SC2086
    read -r outcome suite after < <(find_bug "$tree" $suites)
    patch -s -R -p1 -d "$tree" <"$patch"
  fi
  local line
  line="{\"bug\":\"$name\",\"class\":\"$(field Class "$patch")\""
  case $outcome in
    found) line+=",\"caught_by\":\"$suite\",\"seconds\":$after" ;;
    missed) line+=",\"caught_by\":null" ;;
    *)
      line+=",\"built\":false"
      [ -n "${QUIET:-}" ] || tail -n 20 "$tree.build" >&2
      ;;
  esac
  echo "$line,\"total_seconds\":$((SECONDS - begin))}" | tee -a "$work/results"
  [ -z "${LOGS:-}" ] || cp "$tree.log" "$LOGS/$name.log" 2>/dev/null
}

# Takes patches from the queue until it is empty.
worker() {
  local tree=$work/$1 patch
  exec 9>"$work/lock"
  copy_tree "$tree"
  while flock 9 && read -r patch <&8; do
    flock -u 9
    try_patch "$tree" "$patch"
  done
  flock -u 9
}

choose "$@" >"$work/queue" || exit 2
check_all_apply
total=$(wc -l <"$work/queue")
[ "$jobs" -le "$total" ] || jobs=$total
: >"$work/results"
exec 8<"$work/queue"
for ((i = 1; i <= jobs; ++i)); do worker "$i" & done
wait
count() { grep -c "$1" "$work/results"; }
broken=$(count '"built":false') caught=$(count '"caught_by":"')
echo "{\"suite\":\"mutation\",\"bugs\":$((total - broken)),\"caught\":$caught,\"seconds\":$SECONDS,\"commit\":\"$(git rev-parse --short HEAD)\"}"
[ "$broken" = 0 ] || exit 2
[ $((caught + broken)) = "$total" ] || exit 8
