#!/bin/sh
# Start Tiphys with its own Python, apart from the user's packages and variables.
here=$(dirname "$(readlink -f "$0")")
exec "$here/python3" -I -m core.cli "$@"
