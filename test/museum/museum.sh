#!/bin/bash
# The museum of planted bugs: do the general suites find them? Each *.patch beside this script is one
# bug; its head names the class, the bug, and the suites to begin with. The script copies the tree and
# its objects, and for each bug applies the patch, builds, and runs general suites, at most SECONDS
# (60) of them, until one finds something. It prints a JSON line a bug and a score, and exits 8 when a
# bug was missed.
#
#   test/museum/museum.sh                 all of them
#   test/museum/museum.sh NAME...         these
#   test/museum/museum.sh --pick N REV    N of them, chosen by the commit's hash
#
# The suites: those of `prove` by name; model (the model test), interleave (threads at their yield
# points), fuzz (the decoders' fuzzer, built by clang).
set -uo pipefail
cd "$(dirname "$0")/../.."
root=$PWD seconds=${SECONDS_EACH:-60}
work=$(mktemp -d "${TMPDIR:-/tmp}/museum.XXXXXX")
trap 'rm -rf "$work"' EXIT

usage() {
  echo "museum: $1" >&2
  exit 2
}

choose() {
  mapfile -t all < <(cd test/museum && ls ./*.patch | sed 's#^\./##; s#\.patch$##')
  if [ "${1:-}" = --pick ]; then
    [ $# = 3 ] || usage "--pick takes a number and a revision"
    local hash
    hash=$(git rev-parse --verify --quiet "$3^{commit}") || usage "no commit '$3'"
    local first=$((16#${hash:0:8} % ${#all[@]})) i
    # Strides of seven meet every class in turn.
    for ((i = 0; i < $2; ++i)); do echo "${all[$(((first + 7 * i) % ${#all[@]}))]}"; done
  elif [ $# -gt 0 ]; then
    local name
    for name; do
      [ -e "test/museum/$name.patch" ] || usage "no bug '$name'"
      echo "$name"
    done
  else
    printf '%s\n' "${all[@]}"
  fi
}

field() { sed -n "s/^$1: //p;/^diff/q" "test/museum/$2.patch"; }

# The programs that the suites need, built in the copy.
build() {
  local suite targets=()
  for suite; do
    case $suite in
      model) targets+=(build/test_model) ;;
      interleave) targets+=(build/test_interleave) ;;
      fuzz) continue ;;
      *) targets+=(build/prove build/tandem) ;;
    esac
  done
  if [ ${#targets[@]} != 0 ]; then
    make -C "$work/tree" --no-print-directory "${MAKE_FLAGS[@]}" "${targets[@]}" >"$work/build.log" 2>&1 || return 1
  fi
  if [[ " $* " == *" fuzz "* ]]; then
    make -C "$work/tree" --no-print-directory fuzz FUZZ_TARGETS=none FUZZ_SECONDS=1 >>"$work/build.log" 2>&1
    [ -x "$work/tree/build-asan/fuzz" ] || return 1
  fi
}

# Runs one suite in the copy for so many seconds; fails when it finds something.
run_suite() {
  local suite=$1 left=$2
  cd "$work/tree" || exit 1
  case $suite in
    model) TANDEM_OPERATIONS=$((left * 8000)) timeout -k 5 "$left" build/test_model >"$work/run.log" 2>&1 ;;
    interleave) timeout -k 5 "$left" build/test_interleave >"$work/run.log" 2>&1 ;;
    fuzz) timeout -k 5 "$left" tools/house/run_fuzz.sh build-asan/fuzz $((left / 6)) >"$work/run.log" 2>&1 ;;
    *) timeout -k 5 "$left" build/prove "$suite" --directory "$work" >"$work/run.log" 2>&1 ;;
  esac
  local code=$?
  # What ran out of time found nothing.
  [ $code = 124 ] || return $code
}

# Prints the suite that finds the bug and after how many seconds; nothing when none does.
hunt() {
  local begin=$SECONDS suite
  for suite; do
    local left=$((seconds - (SECONDS - begin)))
    [ $left -gt 0 ] || return
    if ! (run_suite "$suite" "$left"); then
      echo "$suite $((SECONDS - begin))"
      return
    fi
  done
}

general="crash errors model differential flip cut files space interleave"
names=$(choose "$@") || exit 2
mkdir "$work/tree"
git ls-files -z | xargs -0 cp -a --parents -t "$work/tree"
for folder in build build-asan; do
  mkdir -p "$work/tree/$folder"
  [ -d "$folder/obj" ] && cp -a "$folder/obj" "$work/tree/$folder/"
  cp -a "$folder"/*.a "$work/tree/$folder/" 2>/dev/null
done
MAKE_FLAGS=(${MUSEUM_MAKE_FLAGS:-})

caught=0 total=0
for name in $names; do
  total=$((total + 1))
  suites=$(field Suites "$name")
  for suite in $general; do [[ " $suites " == *" $suite "* ]] || suites+=" $suite"; done
  patch -s -p1 -d "$work/tree" <"test/museum/$name.patch" || usage "$name does not apply"
  if ! build $suites; then
    tail -n 20 "$work/build.log" >&2
    usage "$name does not build"
  fi
  read -r suite after < <(hunt $suites) || true
  if [ -n "${suite_found:=$suite}" ]; then
    caught=$((caught + 1))
    echo "{\"bug\":\"$name\",\"class\":\"$(field Class "$name")\",\"caught_by\":\"$suite\",\"seconds\":$after}"
  else
    echo "{\"bug\":\"$name\",\"class\":\"$(field Class "$name")\",\"caught_by\":null}"
  fi
  unset suite suite_found after
  patch -s -R -p1 -d "$work/tree" <"test/museum/$name.patch"
done
echo "{\"suite\":\"museum\",\"bugs\":$total,\"caught\":$caught,\"commit\":\"$(git rev-parse --short HEAD)\"}"
[ "$caught" = "$total" ] || exit 8
