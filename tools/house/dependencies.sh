#!/bin/sh
# Installs the Debian packages named as arguments that are missing: as root, or through sudo.
# Otherwise prints the exact command and fails.
set -eu

missing=""
for package in "$@"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
    missing="$missing $package"
done
[ -z "$missing" ] && exit 0

install="apt-get install -y --no-install-recommends$missing"
if [ "$(id -u)" = 0 ]; then
  sudo=""
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
  sudo="sudo"
else
  echo "Packages are missing and this user may not install them. Run this, then make again:" >&2
  echo "  sudo $install" >&2
  exit 1
fi
echo "Installing:$missing" >&2
export DEBIAN_FRONTEND=noninteractive
# The lists may be absent or old on a fresh machine: refresh them once when an install fails.
$sudo $install >/dev/null 2>&1 || { $sudo apt-get update >/dev/null && $sudo $install >/dev/null; }
