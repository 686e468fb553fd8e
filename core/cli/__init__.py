"""The command line. `main` is the program `tiphys`; each command lies in the module of its name."""

from core.cli.root import main

__all__ = ["main"]
