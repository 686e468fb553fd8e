#!/usr/bin/env bash
# Make a release: version, changelog, wheel, packages, manual, bill of materials and sums in dist/, a commit and a tag.
# usage: release.sh VERSION        (nothing is sent anywhere; TIPHYS_SIGNING_KEY=FILE signs the feed of updates)
set -euo pipefail
cd "$(dirname "$0")/.."
version=${1:-} python=${PYTHON:-python3}
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || { echo "usage: make release VERSION=1.2.3" >&2; exit 2; }
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
if [ -n "${TIPHYS_SIGNING_KEY:-}" ]; then
  # with the Python and the libraries that were just packed
  echo "Desktops are to know the key $(build/desktop/tree/lib/tiphys/bin/python3 -I -B packaging/update_feed.py sign dist "$version" "$TIPHYS_SIGNING_KEY")"
else
  echo "The feed of updates is not signed: TIPHYS_SIGNING_KEY names no key (packaging/update_feed.py new-key FILE)." >&2
fi
git tag "v$version"
echo "v$version is in dist/ and tagged here:"
cat dist/SHA256SUMS
