#!/usr/bin/env bash
# Run the tests with a Docker engine and the sandbox image at hand; leaves nothing running that it started.
# The suite runs as two processes side by side: Qt and PyTorch do not share one.
# usage: test.sh [PYTEST ARGUMENT…]   (with arguments: one process, those tests only)
set -euo pipefail
cd "$(dirname "$0")/../.."
here=packaging/setup

started=""
[ -f build/dockerd.pid ] || started=yes
finish() { [ -z "$started" ] || $here/engine.sh stop; }
trap finish EXIT
trap 'exit 130' INT TERM

$here/engine.sh start || [ -z "${CI:-}" ]
$here/loaders.sh || [ -z "${CI:-}" ]
if docker info >/dev/null 2>&1; then .venv/bin/tiphys image build; fi
export QT_QPA_PLATFORM=${QT_QPA_PLATFORM:-offscreen} LANG=C.UTF-8 LC_ALL=C.UTF-8
pytest=(.venv/bin/python -m pytest -q)

if [ $# -gt 0 ]; then "${pytest[@]}" "$@"; exit; fi

beside=(tests/app tests/attacks tests/meta tests/wire tests/e2e tests/faults)
skip=(); for folder in "${beside[@]}"; do skip+=(--ignore "$folder"); done
"${pytest[@]}" "${beside[@]}" >build/test-beside.log 2>&1 &
other=$!
status=0
"${pytest[@]}" "${skip[@]}" --ignore tests/benchmarks || status=$?
wait "$other" || status=$?
echo "The desktop, the wire, attacks, faults and the whole way:"
cat build/test-beside.log
exit "$status"
