"""The terms of everything that the packages carry, in one file, from what each part brings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email.parser import HeaderParser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMMON = Path("/usr/share/common-licenses")
"""Debian's texts; used for parts that bring none of their own."""

WITHOUT_TEXT = {"PySide6_Essentials": ("LGPL-3", "GPL-3"), "shiboken6": ("LGPL-3", "GPL-3")}
QT = ("Qt and Qt for Python are used under the LGPL version 3: they are separate libraries, which you may replace by "
      "your own builds in lib/tiphys/lib/python3/dist-packages/PySide6. Their source is at download.qt.io, and the "
      "terms of what Qt itself took in (ICU among it) are at doc.qt.io/qt-6/licenses-used-in-qt.html.")


def lay(tree: Path, papers: Path) -> None:
    """Write `copyright`. Raises SystemExit for a part that names no terms."""
    packages = tree / "lib" / "tiphys" / "lib" / "python3" / "dist-packages"
    python = tree / "lib" / "tiphys" / "PYTHON-LICENCE"
    parts = [_part("Tiphys", "Apache-2.0", [(ROOT / "LICENSE").read_text(encoding="utf-8")]),
             _part("Python, as Debian 12 builds it", "PSF-2.0 and others", [python.read_text(encoding="utf-8")]), QT]
    parts += list(_distributions(packages))
    python.unlink()
    papers.mkdir(parents=True, exist_ok=True)
    (papers / "copyright").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _distributions(packages: Path) -> Iterator[str]:
    for folder in sorted(packages.glob("*.dist-info"), key=lambda path: path.name.lower()):
        about = HeaderParser().parsestr((folder / "METADATA").read_text(encoding="utf-8"))
        name = str(about["Name"])
        if name == "tiphys":
            continue
        texts = [path.read_text(encoding="utf-8", errors="replace") for path in sorted(folder.rglob("*"))
                 if path.is_file() and re.match(r"(licen[cs]e|copying|notice|authors)", path.name, re.IGNORECASE)]
        texts += [(COMMON / common).read_text(encoding="utf-8") for common in WITHOUT_TEXT.get(name, ())]
        if not texts:
            raise SystemExit(f"{name} brings no text of its licence; name one in {Path(__file__).name}.")
        yield _part(f"{name} {about['Version']}", _terms(about), texts)


def _terms(about: object) -> str:
    get = about.get  # type: ignore[attr-defined]
    given = get("License-Expression") or get("License") or ""
    classifiers = [line.split(" :: ")[-1] for line in about.get_all("Classifier", [])  # type: ignore[attr-defined]
                   if line.startswith("License ::")]
    return given.strip().split("\n")[0][:100] or ", ".join(classifiers) or "see the text"


def _part(name: str, terms: str, texts: list[str]) -> str:
    return "\n\n".join(["=" * 100 + f"\n{name}: {terms}", *(text.strip() for text in texts)])
