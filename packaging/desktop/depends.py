"""The Debian packages that a tree depends on, computed from its programs and libraries."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import elf
import trim

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "resources" / "system_libraries.tsv"
FONTS = "fonts-noto-cjk | fonts-wqy-microhei"


def control_lines(tree: Path) -> dict[str, str]:
    """The fields Depends and Recommends. Raises SystemExit for a library that the table does not know, or a row that
    nothing needs any more."""
    rows = read_table()
    used = system_libraries(tree)
    if unknown := sorted(used - rows.keys()):
        raise SystemExit(f"{TABLE.name} knows no package of {', '.join(unknown)}.")
    if idle := sorted(rows.keys() - used):
        raise SystemExit(f"{TABLE.name} names what nothing needs: {', '.join(idle)}.")
    glibc = ".".join(map(str, max(elf.newest_glibc(path) for path in trim.binaries(tree))))
    always = {choice for choice, purpose in rows.values() if not purpose}
    versions = {"libc6": f"libc6 (>= {glibc})", "libstdc++6": "libstdc++6 (>= 12)"}
    depends = sorted(versions.get(choice, choice.replace("|", " | ")) for choice in always)
    recommends = sorted({choice.replace("|", " | ") for choice, purpose in rows.values() if purpose})
    return {"Depends": ", ".join(depends), "Recommends": ", ".join([FONTS, *recommends, "xdg-utils"]),
            "Suggests": "docker.io | docker-ce, zenity | kdialog | x11-utils"}


def system_libraries(tree: Path) -> set[str]:
    """The libraries that a tree needs and does not have."""
    binaries = trim.binaries(tree)
    inside = {path.name for path in binaries}
    return {name for path in binaries for name in elf.needed(path)} - inside


def read_table(lines: Iterable[str] | None = None) -> dict[str, tuple[str, str]]:
    """By library: the packages that have it, and what it is for ("" : always)."""
    given = TABLE.read_text().splitlines() if lines is None else lines
    parts = [(*line.split("\t"), "")[:3] for line in given if not line.startswith("#")]
    return {library: (packages, purpose) for library, packages, purpose in parts}
