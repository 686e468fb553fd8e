#!/usr/bin/env bash
# Write the lists of everything that an installation takes in, each file by its hashes (needs uv, the network and Debian 12's lists).
#   build.txt    what builds the package itself
#   tools.txt    what describes the packages
#   site.txt     what builds the manual
#   desktop.txt  the desktop, the server and the command line, for every platform and Python
#   train.txt    what training adds; without torch and what only torch needs: its builds differ from place to place
set -euo pipefail
cd "$(dirname "$0")/../.."
uv=$(command -v uv || echo .venv/bin/uv)
compile() { "$uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header "$@"; }

locks=packaging/locks
compile pyproject.toml --output-file $locks/desktop.txt
echo "setuptools>=77" | compile - --output-file $locks/build.txt
echo "cyclonedx-bom>=7" | compile - --output-file $locks/tools.txt
printf '%s\n' "mkdocs-material>=9.8,<10" "mkdocs-static-i18n>=1.3,<2" | compile - --output-file $locks/site.txt
rest=$(compile pyproject.toml --extra train-engine | grep -oE '^(torch|triton|nvidia-[a-z0-9-]+|cuda-[a-z0-9-]+|sympy|mpmath|networkx)==' | sed 's/==//' | sort -u)
compile pyproject.toml --extra train-engine $(printf -- '--no-emit-package %s ' $rest) --output-file $locks/train.txt

# Debian 12's packages of the Python that the desktop packages carry: python.txt.
python3 -B packaging/desktop/own_python.py --follow
