#!/usr/bin/env bash
# Bring what tests/engines holds against our training, each into a folder of its own: engines.sh FOLDER
set -euo pipefail
folder=$1
bring() {  # FOLDER PACKAGES…: without what they depend on, as .venv has that
  [ -e "$folder/$1/.done" ] && return
  python3 -m pip install --quiet --disable-pip-version-check --no-deps --target "$folder/$1" "${@:2}"
  touch "$folder/$1/.done"
}
bring liger liger-kernel==0.8.5 triton==3.9.0
bring axolotl axolotl==0.19.0 liger-kernel==0.8.5 triton==3.9.0 trl==1.9.0 addict numba llvmlite fire termcolor art colorama \
  posthog backoff distro pillow
