#!/bin/sh
# Makes sure that what the Debian packages named as arguments bring is there. It first asks the
# compiler and the PATH, so that a machine of any distribution passes where the libraries are, and
# quickly. What is missing is installed by apt, as root or through sudo; where that cannot be, the
# script says what is missing, how to get it, and fails.
# CXX and CXXFLAGS are those of the build.
set -eu
CXX=${CXX:-g++}

# What a package brings: a header, or a program.
what_of() {
  case $1 in
    libzstd-dev) echo "header zstd.h" ;;
    libxxhash-dev) echo "header xxhash.h" ;;
    liburing-dev) echo "header liburing.h" ;;
    libroaring-dev) echo "header roaring/roaring.h" ;;
    libutf8proc-dev) echo "header utf8proc.h" ;;
    libre2-dev) echo "header re2/re2.h" ;;
    libfmt-dev) echo "header fmt/format.h" ;;
    libcli11-dev) echo "header CLI/CLI.hpp" ;;
    libexpat1-dev) echo "header expat.h" ;;
    rapidjson-dev) echo "header rapidjson/document.h" ;;
    libboost-test-dev) echo "header boost/test/unit_test.hpp" ;;
    libcpp-httplib-dev) echo "header httplib.h" ;;
    librocksdb-dev) echo "header rocksdb/db.h" ;;
    libleveldb-dev) echo "header leveldb/db.h" ;;
    liblmdb-dev) echo "header lmdb.h" ;;
    libsqlite3-dev) echo "header sqlite3.h" ;;
    g++) echo "program ${CXX%% *}" ;;
    clang-16) echo "program clang++-16" ;;
    libclang-rt-16-dev) echo "runtime clang++-16" ;;
    pkgconf) echo "program pkg-config" ;;
    *) echo "program $1" ;;
  esac
}

# Where a header's library comes from: for those who have no Debian.
project_of() {
  case $1 in
    zstd.h) echo "zstd" ;;
    xxhash.h) echo "xxHash" ;;
    liburing.h) echo "liburing" ;;
    roaring/*) echo "CRoaring" ;;
    utf8proc.h) echo "utf8proc" ;;
    re2/*) echo "RE2" ;;
    fmt/*) echo "{fmt}" ;;
    CLI/*) echo "CLI11" ;;
    expat.h) echo "Expat" ;;
    rapidjson/*) echo "RapidJSON" ;;
    boost/*) echo "Boost.Test" ;;
    httplib.h) echo "cpp-httplib" ;;
    rocksdb/*) echo "RocksDB" ;;
    leveldb/*) echo "LevelDB" ;;
    lmdb.h) echo "LMDB" ;;
    sqlite3.h) echo "SQLite" ;;
  esac
}

# Prints, of "PACKAGE HEADER" lines, those whose header the compiler does not find: one run for all.
headers_missing() {
  while read -r package header; do
    printf '#if !__has_include(<%s>)\n%s %s\n#endif\n' "$header" "$package" "$header"
  done >"$scratch/probe"
  # Without a compiler nothing is found.
  # shellcheck disable=SC2086
  $CXX $CXXFLAGS -E -P -x c++ "$scratch/probe" 2>/dev/null ||
    sed -n '/^#/!p' "$scratch/probe"
}

# Prints "PACKAGE THING" of each argument that is not there.
find_missing() {
  : >"$scratch/headers"
  for package in "$@"; do
    set -- $(what_of "$package")
    case $1 in
      header) echo "$package $2" >>"$scratch/headers" ;;
      program) command -v "$2" >/dev/null 2>&1 || echo "$package $2" ;;
      runtime)
        file=$("$2" -print-file-name="libclang_rt.fuzzer-$(uname -m).a" 2>/dev/null) || file=
        [ -e "$file" ] || echo "$package $2's-sanitizers"
        ;;
    esac
  done
  headers_missing <"$scratch/headers"
}

# Says what is missing, in words that serve without Debian, too.
say_missing() {
  while read -r package thing; do
    project=$(project_of "$thing")
    echo "  $thing${project:+, a header of $project} (Debian: $package)"
  done <"$scratch/missing" >&2
}

# Runs apt-get, and shows what it said when it fails. It never asks, and waits for others.
run_apt() {
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 \
    -o Acquire::Retries=3 -o Dpkg::Options::=--force-confold "$@" >"$scratch/apt" 2>&1 </dev/null
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
CXXFLAGS=${CXXFLAGS:-}
find_missing "$@" >"$scratch/missing"
[ -s "$scratch/missing" ] || exit 0

packages=$(cut -d ' ' -f 1 "$scratch/missing" | sort -u | tr '\n' ' ')
if ! command -v apt-get >/dev/null 2>&1; then
  echo "Missing, and there is no apt to install it; README.md, \"Other distributions\", says more:" >&2
  say_missing
  exit 1
fi
if [ "$(id -u)" = 0 ]; then
  sudo=""
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
  sudo="sudo"
else
  echo "Missing:" >&2
  say_missing
  echo "Only root may install it. Run this, then make again:" >&2
  echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends $packages" >&2
  exit 1
fi

echo "Installing: $packages" >&2
install() {
  # shellcheck disable=SC2086
  run_apt install --no-install-recommends $packages
}
# A fresh machine has no lists, and those of an old one may name files that are gone.
lists=$(ls /var/lib/apt/lists/*_Packages* 2>/dev/null | head -n 1)
if [ -z "$lists" ]; then run_apt update || true; fi
if ! install && ! { run_apt update && install; }; then
  cat "$scratch/apt" >&2
  echo "apt-get cannot install: $packages" >&2
  exit 1
fi
# Installed, and found by the build?
find_missing "$@" >"$scratch/missing"
[ -s "$scratch/missing" ] || exit 0
echo "Installed, but $CXX or the PATH does not find:" >&2
say_missing
exit 1
