#!/usr/bin/env bash
# libraries.sh FOLDER [quick]: the libraries that formats come with, which tests/core/formats/test_own_libraries.py asks,
# from PyPI and npm, apart from everything else. "quick" is what installs in seconds.
set -uo pipefail
folder=$(mkdir -p "$1" && cd "$1" && pwd)
python=${PYTHON:-python3}
failed=0
bring() {  # NAME PACKAGES… -- COMMAND…: unless the same is there already
  local name=$1 wanted=() stamp
  shift
  while [ "$1" != -- ]; do wanted+=("$1"); shift; done
  shift
  stamp=$folder/$name/.installed
  [ "$(cat "$stamp" 2>/dev/null)" = "${wanted[*]}" ] && return
  rm -rf "${folder:?}/$name" && mkdir -p "$folder/$name"
  if "$@" "${wanted[@]}"; then echo "${wanted[*]}" >"$stamp"; else echo "libraries.sh: $name was not brought" >&2; failed=1; fi
}
# Harbor asks for Python 3.12; its models of trajectories run on 3.11 as well, and need of all else pydantic, which .venv has.
models() { "$python" -m pip install -q --disable-pip-version-check --root-user-action ignore --target "$folder/harbor" \
  --no-deps --ignore-requires-python "$@"; }
environment() { "$python" -m venv "$folder/inspect" && "$folder/inspect/bin/pip" install -q --disable-pip-version-check "$@"; }
modules() { echo '{"private": true}' >"$folder/$1/package.json"
  (cd "$folder/$1" && npm install --no-audit --no-fund --loglevel=error "${@:2}"); }

bring harbor harbor==0.25.0 -- models
[ "${2:-}" = quick ] && exit $failed
bring inspect inspect_ai==0.3.285 -- environment
if command -v npm >/dev/null; then
  bring node @google/gemini-cli-core@0.61.0 @anthropic-ai/claude-agent-sdk@0.3.330 -- modules node --omit=optional
  bring codex @openai/codex@0.169.0 -- modules codex
else
  echo "libraries.sh: no npm here; Gemini CLI, Claude Code's SDK and Codex are left out" >&2
  failed=1
fi
exit $failed
