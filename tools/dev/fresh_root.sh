#!/bin/bash
# Does the README hold on a machine that has nothing? Makes a minimal root of this Debian release with
# git and make alone, from this machine's own package sources, puts a clone of what is committed in
# it, and runs there, word for word, what the README's "Two commands" says.
#
#   fresh_root.sh                    all of that, in a scratch folder
#   fresh_root.sh make ROOT          makes the root, with the clone in ROOT/tandem
#   fresh_root.sh run ROOT COMMAND   runs a shell command in the clone
#   fresh_root.sh commands           prints the README's commands, one a line
#
# `make` exits 3 when this machine cannot make a root, and says why: it needs root's rights, mount
# namespaces, Debian 12 and its package sources.
set -euo pipefail
cd "$(dirname "$0")/../.."

cannot() {
  echo "fresh root: cannot be made here: $*" >&2
  exit 3
}

# The lines of the first block under "## Two commands".
commands() {
  awk '/^## / { inside = /^## Two commands$/ }
       inside && /^```/ { if (fenced) exit; fenced = 1; next }
       inside && fenced && NF' README.md
}

# Prints the files of this machine's package sources that name the release as a suite.
source_files() {
  local file
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
    if [ -e "$file" ] && grep -qE "^[^#]*[[:space:]]$1([-/[:space:]]|$)" "$file"; then echo "$file"; fi
  done
}

# What apt has to know of proxies, mirrors and their age, here and there.
apt_options() {
  apt-config dump | grep -E '^Acquire::((https?|ftp)::Proxy|Check-|Retries)' || true
}

make_root() {
  local root=$1 release
  [ "$(id -u)" = 0 ] || cannot "this user is not root"
  release=$(. /etc/os-release && echo "$ID ${VERSION_ID:-} ${VERSION_CODENAME:-}") || release=unknown
  [ "${release% *}" = "debian 12" ] || cannot "this is no Debian 12: $release"
  unshare --mount --pid --fork true 2>/dev/null || cannot "no namespaces for its mounts"
  tools/dev/dependencies.sh mmdebstrap || cannot "no mmdebstrap"
  local file sources include=git,make options=()
  mapfile -t sources < <(source_files "${release##* }")
  [ "${#sources[@]}" -gt 0 ] || cannot "no package source for ${release##* }"
  # Sources of other machines are signed with keys of their own, and may speak https.
  if grep -qE '^[^#]*https:' "${sources[@]}"; then include+=,ca-certificates; fi
  apt_options >"$root.apt"
  [ ! -s "$root.apt" ] || options+=(--aptopt="$root.apt")
  if ! mmdebstrap --quiet --mode=root --variant=minbase --include=$include "${options[@]}" \
    --setup-hook='mkdir -p "$1/usr/share" "$1/etc/apt"' \
    --setup-hook='for keys in /usr/share/keyrings /etc/apt/keyrings; do [ ! -d $keys ] || cp -r $keys "$1$(dirname $keys)"; done' \
    "${release##* }" "$root" "${sources[@]}" >"$root.log" 2>&1; then
    cat "$root.log" >&2
    cannot "mmdebstrap fails"
  fi
  rm -f "$root.apt" "$root.log"
  for file in /etc/hosts /etc/resolv.conf; do
    [ ! -e $file ] || cp $file "$root/etc/"
  done
  git clone -q --no-hardlinks . "$root/tandem"
}

# The mounts are seen by the processes of the command alone and end with them, however they end.
run_in_root() {
  # shellcheck disable=SC2016
  unshare --mount --propagation private --pid --fork --kill-child bash -ec '
    mount -t proc proc "$0/proc"
    mount -t sysfs -o ro sysfs "$0/sys" 2>/dev/null || true
    mount -t tmpfs tmpfs "$0/dev/shm"
    mkdir -p "$0/dev/pts"
    mount -t devpts -o newinstance,ptmxmode=0666 devpts "$0/dev/pts"
    mount --bind "$0/dev/pts/ptmx" "$0/dev/ptmx"
    chroot "$0" /usr/bin/env -i HOME=/root TERM=dumb \
      PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
      sh -c "cd /tandem && $1" || exit
    # Not the last command: the first process of its namespace stays bash, which reaps orphans.
    exit 0' "$1" "$2" </dev/null
}

run_all() {
  local scratch line
  scratch=$(mktemp -d "${TMPDIR:-/tmp}/fresh_root.XXXXXX")
  # shellcheck disable=SC2064
  trap "rm -rf --one-file-system '$scratch'" EXIT
  trap 'exit 130' INT TERM
  make_root "$scratch/root"
  while read -r line; do
    echo "fresh root: $line"
    run_in_root "$scratch/root" "$line"
  done < <(commands)
}

case ${1:-} in
  make) make_root "$2" ;;
  run) run_in_root "$2" "$3" ;;
  commands) commands ;;
  "") run_all ;;
  *) sed -n '2,/^$/s/^# \{0,1\}//p' "$0" | sed '/^set /,$d' >&2; exit 2 ;;
esac
