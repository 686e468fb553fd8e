"""Packages that environments need beside the program."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from core import program
from core.domain.errors import Unavailable

MORE = "more-environments"
"""The extra of what is large, or needs more than Python."""


def package_folder(module: str, distribution: str) -> Path:
    """Where a package lies; nothing of it is run. Raises Unavailable (no_environment_extra)."""
    require_package(module, distribution)
    spec = importlib.util.find_spec(module)
    places = list(spec.submodule_search_locations or []) if spec else []
    return Path(places[0])


def require_package(module: str, distribution: str) -> None:
    """Raises Unavailable (no_environment_extra), which says how it is installed, where a package is missing."""
    if importlib.util.find_spec(module) is None:
        raise Unavailable("no_environment_extra", f"This environment needs the package {distribution}: "
                          f"{program.install_line(distribution)}.", package=distribution)
