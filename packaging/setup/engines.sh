#!/usr/bin/env bash
# Bring what tests/engines holds against our training, each into a folder of its own: engines.sh FOLDER
set -euo pipefail
folder=$1
bring() {  # FOLDER PACKAGES…: without what they depend on, as .venv has that
  local done=$folder/$1/.done
  [ "$(cat "$done" 2>/dev/null)" = "${*:2}" ] && return
  rm -rf "${folder:?}/$1"
  python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-deps --target "$folder/$1" \
    "${@:2}" 2> >(grep -v 'is ignored: it is neither' >&2)
  echo "${*:2}" >"$done"
}
bring liger liger-kernel==0.8.5 triton==3.9.0
bring axolotl axolotl==0.19.0 liger-kernel==0.8.5 triton==3.9.0 trl==1.9.0 addict numba llvmlite fire termcolor art colorama \
  posthog backoff distro pillow
