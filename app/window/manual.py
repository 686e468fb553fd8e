"""Where the manual lies that belongs to this program: the site that `make site` builds and the packages carry."""

from __future__ import annotations

import sys
from pathlib import Path

from app.kit.theme import RESOURCES


def manual_page(chinese: bool = False) -> Path | None:
    """The first page; None where there is none."""
    prefix = Path(sys.prefix).resolve().parents[1]  # PREFIX/lib/tiphys is the Python that a package brings
    for folder in (prefix / "share" / "doc" / "tiphys" / "manual", RESOURCES.parent / "dist" / "site"):
        page = folder / "zh" / "index.html" if chinese else folder / "index.html"
        if page.exists():
            return page
    return None
