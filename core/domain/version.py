"""Which version of the program this is."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version


@cache
def version() -> str:
    """The version of the installed program; "" where it runs from a folder that nobody installed."""
    try:
        return installed_version("tiphys")
    except PackageNotFoundError:
        return ""
