#!/bin/sh
# Installs what was built, or removes it again: `install.sh install BUILD` and `install.sh uninstall`.
# From the environment: VERSION, SONAME, LIBS, PREFIX, LIBDIR, INCLUDEDIR, BINDIR, and DESTDIR, which
# is put before every path that is written but stands in no file.
set -eu
cd "$(dirname "$0")/../.."
DESTDIR=${DESTDIR:-}

# The path as tandem.pc names it: relative to the prefix where it lies under it.
from_prefix() {
  case $1 in
    "$PREFIX"/*) echo "\${prefix}${1#"$PREFIX"}" ;;
    *) echo "$1" ;;
  esac
}

# A template with its names replaced.
fill() {
  sed -e "s|@PREFIX@|$PREFIX|g" -e "s|@LIBDIR@|$(from_prefix "$LIBDIR")|g" \
    -e "s|@INCLUDEDIR@|$(from_prefix "$INCLUDEDIR")|g" -e "s|@VERSION@|$VERSION|g" \
    -e "s|@SONAME@|$SONAME|g" -e "s|@LIBS@|$LIBS|g" \
    -e "s|@LIBRARY_NAMES@|$(echo "$LIBS" | sed 's/-lpthread//; s/-l//g; s/ *$//; s/ /;/g')|g" \
    -e "s|@INCLUDEDIR_FROM_LIBDIR@|$(realpath -m --relative-to="$LIBDIR" "$INCLUDEDIR")|g" "$1"
}

refresh_loader() {
  if [ -z "$DESTDIR" ] && [ "$(id -u)" = 0 ]; then ldconfig; fi
}

install_all() {
  build=$1
  for folder in "$BINDIR" "$LIBDIR/pkgconfig" "$LIBDIR/cmake/tandem" "$INCLUDEDIR/tandem"; do
    install -d "$DESTDIR$folder"
  done
  install -m 755 "$build/tandem" "$DESTDIR$BINDIR/tandem"
  install -m 644 include/tandem/*.h "$DESTDIR$INCLUDEDIR/tandem"
  install -m 644 "$build/libtandem.a" "$DESTDIR$LIBDIR/libtandem.a"
  install -m 644 "$build/libtandem.so.$VERSION" "$DESTDIR$LIBDIR/libtandem.so.$VERSION"
  ln -sf "libtandem.so.$VERSION" "$DESTDIR$LIBDIR/$SONAME"
  ln -sf "$SONAME" "$DESTDIR$LIBDIR/libtandem.so"
  fill tools/install/tandem.pc.in >"$DESTDIR$LIBDIR/pkgconfig/tandem.pc"
  for name in tandemConfig tandemConfigVersion; do
    fill "tools/install/$name.cmake.in" >"$DESTDIR$LIBDIR/cmake/tandem/$name.cmake"
  done
  refresh_loader
}

# Only what an installation puts there: files of other versions stay.
uninstall_all() {
  rm -f "$DESTDIR$BINDIR/tandem" "$DESTDIR$LIBDIR/libtandem.a" "$DESTDIR$LIBDIR/libtandem.so" \
    "$DESTDIR$LIBDIR/$SONAME" "$DESTDIR$LIBDIR/libtandem.so.$VERSION" \
    "$DESTDIR$LIBDIR/pkgconfig/tandem.pc" \
    "$DESTDIR$LIBDIR/cmake/tandem/tandemConfig.cmake" \
    "$DESTDIR$LIBDIR/cmake/tandem/tandemConfigVersion.cmake"
  for header in include/tandem/*.h; do rm -f "$DESTDIR$INCLUDEDIR/tandem/${header##*/}"; done
  for folder in "$LIBDIR/cmake/tandem" "$INCLUDEDIR/tandem"; do
    rmdir "$DESTDIR$folder" 2>/dev/null || true
  done
  refresh_loader
}

case "${1:-}" in
  install) install_all "$2" ;;
  uninstall) uninstall_all ;;
  *) echo "usage: install.sh install BUILD | uninstall" >&2; exit 2 ;;
esac
