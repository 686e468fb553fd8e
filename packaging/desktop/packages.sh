#!/usr/bin/env bash
# Build the desktop packages into dist/, with their sums; without an argument both.
# usage: packages.sh [deb|run]…        TIPHYS_ZSTD=3 packs quickly, for a trial (a release is packed with 19)
set -euo pipefail
cd "$(dirname "$0")/../.."
here=packaging/desktop python=${PYTHON:-python3} tree=build/desktop/tree

for tool in dpkg-deb readelf; do
  command -v $tool >/dev/null || { echo "This needs $tool: apt-get install dpkg-dev binutils" >&2; exit 1; }
done
packaging/setup/system.sh desktop
PYTHONDONTWRITEBYTECODE=1 "$python" $here/tree.py $tree 2> >(grep -vE 'is ignored: it is neither|as the .root. user' >&2)
for kind in "${@:-deb run}"; do
  for one in $kind; do
    case $one in
      deb) "$python" -B $here/deb.py $tree dist ;;
      run) "$python" -B $here/run_file.py $tree dist ;;
      *) echo "usage: packages.sh [deb|run]…" >&2; exit 2 ;;
    esac
  done
done
cp $tree/share/doc/tiphys/tiphys.cdx.json dist/
(cd dist && find . -maxdepth 1 -type f ! -name SHA256SUMS -printf "%P\n" | sort | xargs sha256sum -- >SHA256SUMS)
