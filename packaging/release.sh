#!/usr/bin/env bash
# Make a release: version, changelog, wheel, packages, manual, bill of materials and sums in dist/, a commit and a tag.
# usage: release.sh VERSION        (nothing is sent anywhere)
# TIPHYS_SIGNING_KEY=FILE signs the feed of updates, TIPHYS_SIGNING_KEY=none leaves it unsigned; else a terminal is asked.
set -euo pipefail
cd "$(dirname "$0")/.."
version=${1:-} python=${PYTHON:-python3} key=${TIPHYS_SIGNING_KEY:-}
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || { echo "usage: make release VERSION=1.2.3" >&2; exit 2; }
if [ -z "$key" ] && [ -t 0 ]; then read -r -p "File of the key that signs the feed of updates (none: unsigned): " key; fi
if [ -z "$key" ]; then
  echo "Which key signs the feed of updates? TIPHYS_SIGNING_KEY=FILE (packaging/update_feed.py new-key FILE), or =none." >&2
  exit 2
fi
# the head of every Ed25519 key in PKCS #8
[ "$key" = none ] || grep -qs '^MC4CAQAwBQYDK2VwBCIEI' "$key" ||
  { echo "$key holds no key that can sign: packaging/update_feed.py new-key FILE makes one." >&2; exit 2; }
[ -z "$(git status --porcelain)" ] || { echo "The working tree has changes: commit them first." >&2; exit 1; }
! git rev-parse -q --verify "refs/tags/v$version" >/dev/null || { echo "v$version is there already." >&2; exit 1; }
grep -q "^## $version" CHANGELOG.md || { echo "CHANGELOG.md says nothing of $version." >&2; exit 1; }
"$python" -B packaging/desktop/own_python.py  # where Debian has a newer Python the lock follows, which is a change
git diff --quiet || { echo "packaging/locks/python.txt has changed: commit it first." >&2; exit 1; }

sed -i "s/^version = \".*\"/version = \"$version\"/" pyproject.toml
sed -i "s/^## $version.*/## $version ($(date -u +%Y-%m-%d))/" CHANGELOG.md
git diff --quiet || git commit -qam "Release $version"
quiet() { "$@" 2> >(grep -vE 'is ignored: it is neither|as the .root. user' >&2); }
rm -rf dist/*.deb dist/*.run dist/*.whl dist/latest.json*
rm -rf build/lib build/bdist.*  # modules that are gone by now would stay in the wheel
mkdir -p dist
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
quiet "$python" -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .
"$python" -B packaging/site/build.py
quiet "$python" -B packaging/server/build.py dist
TIPHYS_ZSTD=19 packaging/desktop/packages.sh
if [ "$key" != none ]; then
  # with the Python and the libraries that were just packed
  echo "Desktops are to know the key $(build/desktop/tree/lib/tiphys/bin/python3 -I -B packaging/update_feed.py sign dist "$version" "$key")"
fi
git tag "v$version"
echo "v$version is in dist/ and tagged here:"
cat dist/SHA256SUMS
