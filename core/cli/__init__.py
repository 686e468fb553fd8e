"""The command line. `main` is the program `tiphys`; each command lies in the module of its name."""

from __future__ import annotations

import signal
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the words of the command line; gives the exit status. Ctrl+C while the program still loads just ends it."""
    is_usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_usual:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from core.cli.root import main as run

    if is_usual:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return run(argv)
