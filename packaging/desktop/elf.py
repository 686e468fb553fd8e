"""What programs and libraries need of the system, read from the files themselves (binutils' readelf)."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path


def is_elf(path: Path) -> bool:
    """Whether a file is a program or a library."""
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def needed(path: Path) -> list[str]:
    """The names of the libraries that a file is linked with."""
    return re.findall(r"\(NEEDED\).*\[(.+)\]", _readelf("-d", path))


def newest_glibc(path: Path) -> tuple[int, ...]:
    """The newest version of glibc whose symbols a file uses; () where it uses none."""
    found = re.findall(r"Name: GLIBC_([\d.]+)\b", _readelf("-V", path))
    return max((tuple(map(int, version.split("."))) for version in found), default=())


def _readelf(option: str, path: Path) -> str:
    return subprocess.run(["readelf", option, "-W", str(path)], capture_output=True, text=True, check=True,
                          env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}).stdout
