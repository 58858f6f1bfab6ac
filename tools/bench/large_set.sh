#!/bin/sh
# The large set in one command: tools/bench/large_set.sh [CONTENTS-FILE [DIRECTORY]]
#
# Without a file it takes apt-file's Contents of this machine (`apt-get install apt-file`, then
# `apt-get update`), 7.4 million rows. Needs about 5 GB in DIRECTORY (default: TMPDIR or /tmp).
set -eu
cd "$(dirname "$0")/../.."
contents=${1:-}
directory=${2:-${TMPDIR:-/tmp}}
build=${BUILD:-build}

make --no-print-directory BUILD="$build" "$build/tandem" "$build/tandem_bench" >&2
if [ -z "$contents" ]; then
  set -- /var/lib/apt/lists/*Contents*
  if [ ! -e "$1" ]; then
    echo "No Contents in /var/lib/apt/lists. Run this, then again:" >&2
    echo "  sudo apt-get install apt-file && sudo apt-get update" >&2
    exit 1
  fi
  contents=$(mktemp "$directory/contents.XXXXXX")
  trap 'rm -f "$contents"' EXIT
  /usr/lib/apt/apt-helper cat-file "$@" >"$contents"
fi
"$build/tandem_bench" contents "$contents" "$directory"
