#!/usr/bin/env bash
# Run the tests with a Docker engine and the sandbox image at hand; leaves nothing running that it started.
# The suite runs in parts side by side, one more than there are cores, as many tests wait for something: Qt and PyTorch
# do not share a process, and a part that is done early gives its place to the next.
# usage: test.sh [PYTEST ARGUMENT…]   (with arguments: one process, those tests only)
set -euo pipefail
cd "$(dirname "$0")/../.."
here=packaging/setup

started=""
[ -f build/dockerd.pid ] || started=yes
finish() { [ -z "$started" ] || $here/engine.sh stop; }
trap finish EXIT
pids=()
trap 'kill "${pids[@]}" 2>/dev/null; exit 130' INT TERM

$here/engine.sh start || [ -z "${CI:-}" ]
$here/loaders.sh || [ -z "${CI:-}" ]
if docker info >/dev/null 2>&1; then .venv/bin/tiphys image build; fi
# One thread for torch: its models are too small for more, and threads that wait for each other hold the other parts up.
export QT_QPA_PLATFORM=${QT_QPA_PLATFORM:-offscreen} LANG=C.UTF-8 LC_ALL=C.UTF-8 OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
pytest=(.venv/bin/python -m pytest -q)

if [ $# -gt 0 ]; then "${pytest[@]}" "$@"; exit; fi

# The longest first; the last one has what is in no other.
parts=("tests/core/training tests/study" "tests/e2e tests/faults" "tests/app" "tests/attacks tests/wire tests/meta")
skipped=$(printf -- '--ignore %s ' tests/benchmarks tests/conformance ${parts[*]})
parts+=("tests $skipped")
places=$(($(getconf _NPROCESSORS_ONLN) + 1))
mkdir -p build/tests
for i in "${!parts[@]}"; do
  while [ "$(jobs -pr | wc -l)" -ge "$places" ]; do wait -n || true; done  # how it ended is asked below
  # shellcheck disable=SC2086
  "${pytest[@]}" ${parts[i]} >"build/tests/$i.log" 2>&1 &
  pids+=($!)
done
status=0
for i in "${!parts[@]}"; do
  wait "${pids[i]}" || status=$?
  echo "${parts[i]/ --*/, the rest}:"
  cat "build/tests/$i.log"
done
exit "$status"
