"""The parts of a path as an agent names it, on whatever system it runs."""

import re

_ON_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\")


def separator_of(path: str) -> str:
    """What stands between the parts of a path."""
    return "\\" if "\\" in path and ("/" not in path or _ON_WINDOWS.match(path)) else "/"


def name_of(path: str) -> str:
    """The last part of a path; all of one that has no other."""
    separator = separator_of(path)
    return path.rstrip(separator).rpartition(separator)[2] or path
