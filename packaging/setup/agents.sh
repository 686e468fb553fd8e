#!/bin/bash
# agents.sh FOLDER [NAME...]: install real agents for the conformance runs, from npm and PyPI, apart from everything else.
# Without names all of them; "quick" are the three that install and run quickest.
set -u
folder=$(mkdir -p "$1" && cd "$1" && pwd)
shift
names=${*:-mini claude codex gemini qwen opencode inspect openhands swe verifiers}
[ "$names" = quick ] && names="mini claude codex"
declare -A npm=([claude]=@anthropic-ai/claude-code@2.1.330 [codex]=@openai/codex@0.169.0 [gemini]=@google/gemini-cli@0.61.0
  [qwen]=@qwen-code/qwen-code@0.24.4 [opencode]=opencode-ai@1.18.33)
declare -A pypi=([mini]="mini-swe-agent==2.4.6 mcp" [inspect]="inspect_ai==0.3.285 openai>=3.4"
  [openhands]="openhands-sdk==1.58.0 openhands-tools==1.58.0" [swe]="-e $folder/swe-agent mcp"
  [verifiers]="verifiers==0.4.0 uv")
failed=0
wanted=()
for name in $names; do [ -n "${npm[$name]:-}" ] && wanted+=("${npm[$name]}"); done
if [ ${#wanted[@]} -gt 0 ]; then
  if command -v npm >/dev/null; then
    mkdir -p "$folder/node"
    [ -f "$folder/node/package.json" ] || echo '{"private": true}' >"$folder/node/package.json"
    (cd "$folder/node" && npm install --no-audit --no-fund --loglevel=error "${wanted[@]}") || failed=1
    # npm may be set to run no install scripts; this one links the program.
    script=$folder/node/node_modules/@anthropic-ai/claude-code/install.cjs
    [ -f "$script" ] && (cd "$(dirname "$script")" && node install.cjs)
  else
    echo "agents.sh: no npm here; ${wanted[*]} are left out" >&2
    failed=1
  fi
fi
for name in $names; do
  [ -n "${pypi[$name]:-}" ] || continue
  if [ "$name" = swe ] && [ ! -d "$folder/swe-agent" ]; then # PyPI has no package of it; its files lie beside its code
    git clone -q --depth 1 https://github.com/SWE-agent/SWE-agent "$folder/swe-agent" || { failed=1; continue; }
  fi
  python=${PYTHON:-python3}
  if [ "$name" = openhands ]; then # the first that works: a program of this name may only say that it is not there
    for newer in python3.13 python3.12; do "$newer" -c "" 2>/dev/null && python=$newer && break; done
  fi
  [ -x "$folder/py/$name/bin/python" ] || "$python" -m venv "$folder/py/$name" || failed=1
  # shellcheck disable=SC2086
  "$folder/py/$name/bin/pip" install -q --disable-pip-version-check ${pypi[$name]} || failed=1
done
exit $failed
