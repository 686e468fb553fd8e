#!/usr/bin/env bash
# Run the tests with a Docker engine and the sandbox image at hand; leaves nothing running that it started.
# The suite runs in parts side by side, four more than there are cores, as many tests wait for something: Qt and PyTorch
# do not share a process, and a part that is done early gives its place to the next. What failed there is run once more,
# alone, when all parts have ended; what passes only then is named at the end, as it looks at something too early.
# usage: test.sh [PYTEST ARGUMENT…]   (with arguments: one process, those tests only)
set -euo pipefail
cd "$(dirname "$0")/../.."
here=packaging/setup

started=""
[ -f build/dockerd.pid ] || started=yes
finish() { [ -z "$started" ] || $here/engine.sh stop; }
trap finish EXIT
pids=() running=()
trap 'kill "${pids[@]}" 2>/dev/null; exit 130' INT TERM

prepare() {  # what tests with containers, and those of others' loaders and libraries, need
  $here/engine.sh start || [ -z "${CI:-}" ]
  $here/loaders.sh || [ -z "${CI:-}" ]
  $here/libraries.sh build/libraries quick || [ -z "${CI:-}" ]
  if docker info >/dev/null 2>&1; then .venv/bin/tiphys image build; fi
}

# One thread for torch: its models are too small for more, and threads that wait for each other hold the other parts up.
export QT_QPA_PLATFORM=${QT_QPA_PLATFORM:-offscreen} LANG=C.UTF-8 LC_ALL=C.UTF-8 OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
# Hundreds of processes of the program are started; each would compile what it imports, a third of what it costs.
unset PYTHONDONTWRITEBYTECODE
pytest=(.venv/bin/python -m pytest -q)

if [ $# -gt 0 ]; then prepare; "${pytest[@]}" "$@"; exit; fi

# What needs no containers begins while `prepare` is at work; then what waits most, and what is short fills the places at the
# end. An empty one has what is in no other.
parts=("tests/core/training/test_[t-z]*.py" "tests/app/[s-z]*/" "tests/core/training/test_[a-s]*.py tests/study" "tests/app/[a-r]*/"
       "tests/e2e/test_[a-g]*.py" "tests/core/sandbox tests/core/tasks" "tests/e2e/test_[h-z]*.py" "" "tests/attacks tests/wire tests/meta"
       "tests/core/actions tests/core/agents" "tests/core/cli tests/core/formats" "tests/faults")
unprepared=4  # so many of them need nothing of `prepare`
for i in "${!parts[@]}"; do [ -n "${parts[i]}" ] || rest=$i; done
# shellcheck disable=SC2048,SC2086
parts[rest]="tests $(printf -- '--ignore %s ' tests/benchmarks tests/conformance ${parts[*]})"
places=$(($(getconf _NPROCESSORS_ONLN) + 4))
rm -rf build/tests && mkdir -p build/tests

part() {  # NUMBER ARGUMENT…: a part, with a memory of its own of what failed
  # shellcheck disable=SC2086
  "${pytest[@]}" ${parts[$1]} -o "cache_dir=$PWD/build/tests/$1.cache" "${@:2}"
}
failed() {  # NUMBER: the tests that failed, one a line
  sed -nE 's/^ *"(.*)": true,?$/\1/p' "build/tests/$1.cache/v/cache/lastfailed" 2>/dev/null || true
}

status=0 steadied=""
prepare >build/tests/prepare.log 2>&1 &
prepared=$!
pids+=("$prepared")
for i in "${!parts[@]}"; do
  [ "$i" != "$unprepared" ] || wait "$prepared" || status=1
  while [ "$(jobs -pr | wc -l)" -ge "$places" ]; do wait -n || true; done  # how it ended is asked below
  part "$i" >"build/tests/$i.log" 2>&1 &
  pids+=($!) running[i]=$!
done
cat build/tests/prepare.log
codes=()
for i in "${!parts[@]}"; do
  wait "${running[i]}" && codes[i]=0 || codes[i]=$?
  echo "${parts[i]/ --*/, the rest}:"
  cat "build/tests/$i.log"
done

for i in "${!parts[@]}"; do
  [ "${codes[i]}" != 0 ] || continue
  names=$(failed "$i")
  # 1: tests failed. Anything else is no verdict of a test: it crashed, was killed, or could not even collect.
  if [ "${codes[i]}" != 1 ] || [ -z "$names" ]; then
    echo "${parts[i]/ --*/, the rest}: pytest ended with status ${codes[i]}."
    status=${codes[i]}
  elif echo "Once more, alone:" && part "$i" --lf --lfnf=none; then
    steadied+="$names"$'\n'
  else
    status=1
  fi
done
[ -z "$steadied" ] || printf '\nPassed only when run alone:\n%s' "$steadied"
exit "$status"
