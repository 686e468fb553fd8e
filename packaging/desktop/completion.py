"""Prints what completes the command line in a shell: completion.py bash|zsh|fish. Runs in the packages' Python."""

import sys

from click.shell_completion import get_completion_class

from core.cli.root import root

made = get_completion_class(sys.argv[1])
if made is None:
    raise SystemExit(f"There is no completion for {sys.argv[1]}.")
sys.stdout.write(made(root, {}, "tiphys", "_TIPHYS_COMPLETE").source())
