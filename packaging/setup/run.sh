#!/usr/bin/env bash
# The main job: the desktop with the demonstration; without a display the whole way, headless.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=packaging/setup

started=""
if [ "$(id -u)" = 0 ]; then
  $here/system.sh engine
  [ -f build/dockerd.pid ] || started=yes
  $here/engine.sh start || true
fi
finish() {  # the status is that of the work, also where somebody loses patience while the engine ends
  trap '' INT TERM
  [ -z "$started" ] || $here/engine.sh stop
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

options=()
[ -z "${UNCONFINED:-}" ] || options+=(--unconfined)
if .venv/bin/python -m core.cli.display; then
  .venv/bin/tiphys demo "${options[@]}"
else
  echo "So the demonstration goes its whole way without a window: a session, guidance, verdicts, training."
  .venv/bin/tiphys demo --check "${options[@]}"  # before anything is fetched for minutes
  make --silent --no-print-directory .venv/.has-train
  .venv/bin/tiphys demo --headless "${options[@]}"
fi
