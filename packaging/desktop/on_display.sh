#!/usr/bin/env bash
# Run a command on a display that nothing else has, which goes with it: on_display.sh COMMAND…      (needs xvfb)
# The X server chooses the number itself as it opens its sockets. `xvfb-run -a` looks for a lock file before it starts
# one, so it meets a display that is about to end, or one of another root's /tmp in the same network namespace; and it
# lets the server begin anew whenever its last client leaves, which refuses whoever comes just then (-noreset).
set -euo pipefail
folder=$(mktemp -d)
mkfifo "$folder/number"
Xvfb -displayfd 9 -screen 0 1600x1000x24 -nolisten tcp -ac -noreset 9>"$folder/number" >/dev/null 2>"$folder/log" &
server=$!
finish() {
  kill "$server" 2>/dev/null || true
  wait "$server" 2>/dev/null || true
  rm -rf "$folder"
}
trap finish EXIT
read -r -t 60 number <"$folder/number" || { echo "Xvfb gave no display:" >&2; cat "$folder/log" >&2; exit 1; }
DISPLAY=:$number "$@"
