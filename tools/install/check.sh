#!/bin/bash
# Installs into a scratch folder, builds the program in check/ with what lies there, once for each way
# of linking, and runs it; then uninstalls and looks whether something stayed. From the environment:
# MAKE, CXX, BUILD, VERSION.
set -euo pipefail
cd "$(dirname "$0")/../.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=/opt/tandem root=$scratch/root
export PKG_CONFIG_PATH=$root$prefix/lib/pkgconfig
# What was staged under a root is found under it.
export PKG_CONFIG_SYSROOT_DIR=$root

fail() { echo "installcheck: $*" >&2; exit 1; }
# Runs a command, whose output matters only when it fails.
quietly() {
  "$@" >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; fail "'$*' fails"; }
}
run_make() {
  quietly "$MAKE" --no-print-directory BUILD="$BUILD" PREFIX="$prefix" DESTDIR="$root" "$@"
}

# PROGRAM KIND WAY: whether the program links the library as it should, and what it says.
check_program() {
  local needed found
  needed=$(readelf -d "$1" | sed -n 's/.*NEEDED.*\[\(libtandem.*\)\]/\1/p')
  [ "$2" = static ] || [ "$needed" = "libtandem.so.${VERSION%%.*}" ] || fail "$3 needs '$needed'"
  [ "$2" = shared ] || [ -z "$needed" ] || fail "$3 needs $needed, though it is static"
  found=$(LD_LIBRARY_PATH=$root$prefix/lib "$1" "$scratch/db-$(basename "$1")" 2>&1) ||
    fail "$3 fails: $found"
  [ "$found" = "tandem $VERSION: 1 of 2 rows" ] || fail "$3 prints: $found"
  echo "installcheck: $3 ok"
}

run_make install
flags="-std=c++20 -Wall -Wextra -Werror $(pkg-config --cflags tandem)"
program=tools/install/check/program.cc
# shellcheck disable=SC2046,SC2086
{
  $CXX $flags -c $program -o "$scratch/program.o"
  $CXX "$scratch/program.o" $(pkg-config --libs tandem) -o "$scratch/pc-shared"
  # The archive by its name: a linker takes the shared library where it finds both.
  $CXX "$scratch/program.o" $(pkg-config --static --libs tandem | sed 's/-ltandem/-l:libtandem.a/') \
    -o "$scratch/pc-static"
}
check_program "$scratch/pc-shared" shared "pkg-config, shared"
check_program "$scratch/pc-static" static "pkg-config, static"

cp -r tools/install/check "$scratch/project"
configure() {
  cmake -S "$scratch/project" -B "$1" -DCMAKE_CXX_COMPILER="${CXX##* }" \
    -DCMAKE_PREFIX_PATH="$root$prefix" "${@:2}"
}
quietly configure "$scratch/cmake"
quietly cmake --build "$scratch/cmake"
check_program "$scratch/cmake/shared" shared "CMake, shared"
check_program "$scratch/cmake/static" static "CMake, static"
quietly configure "$scratch/same" "-DWANTED=${VERSION%.*}"
! configure "$scratch/newer" -DWANTED=99.0 >"$scratch/log" 2>&1 ||
  fail "CMake takes version $VERSION for 99.0"

[ "$(pkg-config --modversion tandem)" = "$VERSION" ] || fail "tandem.pc has another version"
"$root$prefix/bin/tandem" version | grep -q "^tandem $VERSION," ||
  fail "the program has another version"
! grep -r "$scratch" "$root$prefix/lib/pkgconfig" "$root$prefix/lib/cmake" ||
  fail "a path of the scratch folder is left"
tools/install/exported_symbols.py "$root$prefix/lib/libtandem.so" "$root$prefix/lib/libtandem.a" \
  "$root$prefix/include/tandem" | sed "s|$root||"

run_make uninstall
left=$(find "$root" ! -type d)
[ -z "$left" ] || fail "uninstall leaves $left"
echo "installcheck: each of 4 ways links and runs, and uninstall leaves nothing"
