#!/usr/bin/env bash
# Install Tiphys for this person, or (as root) for all: every file that is taken in has one of the hashes in packaging/locks.
#
#   packaging/install.sh [--prefix DIR] [--train]     to ~/.local, or /usr/local as root
#   packaging/install.sh [--prefix DIR] --uninstall   sessions and settings stay (tiphys doctor names their folder)
#
# --train adds what training needs; torch comes from the package index as this computer's builds are found there.
set -euo pipefail
cd "$(dirname "$0")/.."

prefix=$HOME/.local extras="" remove=""
[ "$(id -u)" != 0 ] || prefix=/usr/local
while [ $# -gt 0 ]; do
  case $1 in
    --prefix) prefix=${2:?--prefix needs a folder}; shift ;;
    --train) extras=yes ;;
    --uninstall) remove=yes ;;
    *) sed -n '2,8s/^# \?//p' "$0" >&2; exit 2 ;;
  esac
  shift
done
mkdir -p "$prefix"
prefix=$(cd "$prefix" && pwd)
home=$prefix/lib/tiphys entry=$prefix/share/applications/tiphys.desktop icon=$prefix/share/icons/hicolor/scalable/apps/tiphys.svg
types=$prefix/share/mime/packages/tiphys.xml

if [ -n "$remove" ]; then
  rm -rf "$home"
  rm -f "$prefix/bin/tiphys" "$entry" "$icon" "$types"
  mime=$prefix/share/mime
  if [ -d "$mime" ] && command -v update-mime-database >/dev/null; then
    update-mime-database "$mime"
    # Where no other program declared a type, what update-mime-database made goes with ours.
    [ -n "$(ls "$mime/packages")" ] || (cd "$mime" && rm -f aliases generic-icons globs globs2 icons magic mime.cache \
      subclasses treemagic types version XMLnamespaces)
  fi
  cache=$(dirname "$entry")/mimeinfo.cache
  [ ! -f "$cache" ] || update-desktop-database -q "$(dirname "$entry")"
  [ -n "$(ls "$(dirname "$entry")"/*.desktop 2>/dev/null)" ] || rm -f "$cache"
  echo "Removed from $prefix."
  exit
fi

for python in ${PYTHON:-} python3.13 python3.12 python3.11 python3; do
  if command -v "$python" >/dev/null && "$python" -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null; then
    found=$python; break
  fi
done
[ -n "${found:-}" ] || { echo "Tiphys needs Python 3.11, 3.12 or 3.13 with venv; on Debian 12: apt-get install python3-venv" >&2; exit 1; }

# A second installation replaces the first only when it is complete.
new=$home.new
rm -rf "$new"
trap 'rm -rf "$new"' EXIT
"$found" -m venv "$new"
install() { "$new/bin/python" -m pip install --quiet --disable-pip-version-check "$@" 2> >(grep -v 'is ignored: it is neither' >&2); }
echo "Installing into $home"
install --require-hashes --only-binary :all: -r packaging/locks/build.txt
install --require-hashes --only-binary :all: -r packaging/locks/desktop.txt
if [ -n "$extras" ]; then
  install "$(sed -n 's/^ *"\(torch==[^"]*\)".*/\1/p' pyproject.toml)"
  install --require-hashes --only-binary :all: -r packaging/locks/train.txt
fi
install --no-deps --no-index --no-build-isolation .
"$new/bin/python" -m pip check --disable-pip-version-check >/dev/null || [ -n "$extras" ]
rm -rf "$home"
mv "$new" "$home"
# The environment was made under another name: its programs name it.
grep -rlIZ "$new" "$home/bin" | xargs -0 -r sed -i "s#$new#$home#g"

mkdir -p "$prefix/bin" "$(dirname "$entry")" "$(dirname "$icon")"
ln -sfn "$home/bin/tiphys" "$prefix/bin/tiphys"
cp resources/tiphys.svg "$icon"
sed "s#@program@#$prefix/bin/tiphys#" resources/tiphys.desktop >"$entry"
mkdir -p "$(dirname "$types")"
cp resources/tiphys-mime.xml "$types"
command -v update-mime-database >/dev/null && update-mime-database "$prefix/share/mime" || true
command -v update-desktop-database >/dev/null && update-desktop-database -q "$(dirname "$entry")" || true
echo "Installed. Start it with $prefix/bin/tiphys; what is missing on this computer, if anything, says: tiphys doctor"
