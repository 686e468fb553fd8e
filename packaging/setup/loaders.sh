#!/usr/bin/env bash
# Trainers whose loaders the export tests ask, without their dependencies (.venv has what the loaders need).
set -euo pipefail
cd "$(dirname "$0")/../.."
wanted=(llamafactory==0.9.5 axolotl==0.19.0 addict==2.4.0)
stamp=build/loaders/.installed
[ "$(cat $stamp 2>/dev/null)" = "${wanted[*]}" ] && exit 0
rm -rf build/loaders && mkdir -p build/loaders
if command -v uv >/dev/null && uv pip install --quiet --no-deps --python .venv/bin/python --target build/loaders "${wanted[@]}"; then :
elif .venv/bin/python -c 'import pip' 2>/dev/null; then
  .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --target build/loaders "${wanted[@]}" 2> >(grep -v 'is ignored: it is neither' >&2)
else
  python3 -m pip --python .venv/bin/python install --quiet --no-deps --target build/loaders "${wanted[@]}"
fi
echo "${wanted[*]}" >$stamp
