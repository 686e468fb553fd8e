"""Packs the tree as tiphys_VERSION_amd64.run: a shell script that unpacks what follows it, for one person, no root.

    python packaging/desktop/run_file.py TREE OUT_FOLDER

A bare system has gzip, but neither zstd nor xz: the Python of the tree comes first, gzipped, and unpacks the rest.
"""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterable
from pathlib import Path

from tree import PACKAGES, PROGRAM, epoch
from version import version

FIRST = (PROGRAM / "bin/python3", PROGRAM / "lib/python3.11", PACKAGES / "backports")
_SQUEEZE = """
import sys
from backports.zstd import compress
sys.stdout.buffer.write(compress(sys.stdin.buffer.read(), int(sys.argv[1])))
"""


def pack(tree: Path, out: Path) -> Path:
    """Write the file; the same tree gives the same bytes."""
    files = sorted(path for path in tree.rglob("*") if path.is_symlink() or path.is_file())
    first = [path for path in files if any(path.relative_to(tree).is_relative_to(part) for part in FIRST)]
    small = gzip.compress(_archive(tree, first), 9, mtime=0)
    python = tree / "lib" / "tiphys" / "bin" / "python3"
    level = os.environ.get("TIPHYS_ZSTD", "19")
    large = subprocess.run([str(python), "-I", "-B", "-c", _SQUEEZE, level], check=True, stdout=subprocess.PIPE,
                           input=_archive(tree, sorted(set(files) - set(first)))).stdout
    out.mkdir(parents=True, exist_ok=True)
    target = out / f"tiphys_{version()}_amd64.run"
    target.write_bytes(_header(len(small)) + small + large)
    target.chmod(0o755)
    return target


def _header(small: int) -> bytes:
    text = (Path(__file__).parent / "run_header.sh").read_text(encoding="utf-8").replace("@version@", version())
    text = text.replace("@small@", f"{small:010}")
    size = len(text.replace("@first@", " " * 10).replace("@second@", " " * 10).encode())
    return text.replace("@first@", f"{size + 1:010}").replace("@second@", f"{size + small + 1:010}").encode()


def _archive(tree: Path, files: Iterable[Path]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path in files:
            entry = archive.gettarinfo(path, str(path.relative_to(tree)))
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = "root"
            entry.mtime = epoch()
            with path.open("rb") if entry.isreg() else io.BytesIO() as file:
                archive.addfile(entry, file if entry.isreg() else None)
    return packed.getvalue()


if __name__ == "__main__":
    made = pack(Path(sys.argv[1]).absolute(), Path(sys.argv[2]).absolute())
    sys.stdout.write(f"{made.name}  {made.stat().st_size / 1e6:.1f} MB\n")
