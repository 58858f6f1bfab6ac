#!/bin/bash
# Builds as on a system that is no Debian, with all libraries there: a part of what was built goes
# and is built again by `make`, with a PATH on which no program of apt and dpkg lies.
set -euo pipefail
cd "$(dirname "$0")/../.."
programs=$(mktemp -d)
trap 'rm -rf "$programs"' EXIT

IFS=: read -ra folders <<<"$PATH"
for folder in "${folders[@]}"; do
  # What comes first on the PATH stays first: a name that is there already is not linked again.
  [ ! -d "$folder" ] || ln -s "$(realpath "$folder")"/* "$programs" 2>/dev/null || true
done
rm -f "$programs"/{apt,dpkg,apt-*,dpkg-*}
if PATH=$programs command -v apt-get dpkg-query; then
  echo "without apt: they are still on the PATH" >&2
  exit 1
fi

rm -f build/tandem build/obj/tools/tandem/main.o
PATH=$programs make
[ -x build/tandem ] || { echo "without apt: no build/tandem" >&2; exit 1; }
