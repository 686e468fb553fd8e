"""The Python that the packages carry: Debian 12's own, moved.

Its interpreter finds the standard library from its own place, so it runs from any folder; it needs glibc 2.36 and the
libraries of the system that `system_libraries.tsv` knows, which get their security updates from there. The archives
are fetched by apt (which checks the distribution's signature) and compared with packaging/locks/python.txt.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOCK = ROOT / "packaging" / "locks" / "python.txt"
VERSION = "3.11"
UNUSED = ("idlelib", "lib2to3", "test", "turtledemo", "pydoc_data", "tkinter", "curses", "ensurepip", "distutils",
          "config-3.11-x86_64-linux-gnu", "sitecustomize.py", "EXTERNALLY-MANAGED", "_distutils_system_mod.py",
          "turtle.py", "LICENSE.txt")
UNUSED_EXTENSIONS = ("_dbm", "nis", "_crypt", "readline", "_curses", "_curses_panel", "_uuid", "_test*", "_xxtest*",
                     "xxlimited*", "_ctypes_test*", "audioop", "ossaudiodev", "spwd")


def lay(tree: Path, cache: Path) -> None:
    """Put the interpreter at tree/bin/python3 and its standard library under tree/lib/python3.11."""
    unpacked = cache / "unpacked"
    shutil.rmtree(unpacked, ignore_errors=True)
    for archive in archives(cache):
        subprocess.run(["dpkg-deb", "-x", str(archive), str(unpacked)], check=True)
    library = tree / "lib" / f"python{VERSION}"
    (tree / "bin").mkdir(parents=True)
    shutil.copy(unpacked / "usr" / "bin" / f"python{VERSION}", tree / "bin" / "python3")
    shutil.copytree(unpacked / "usr" / "lib" / f"python{VERSION}", library, symlinks=True,
                    ignore=shutil.ignore_patterns(*UNUSED, "__pycache__"))
    for pattern in UNUSED_EXTENSIONS:
        for file in (library / "lib-dynload").glob(f"{pattern}.cpython-*.so"):
            file.unlink()
    shutil.copy(unpacked / "usr" / "share" / "doc" / f"python{VERSION}-minimal" / "copyright", tree / "PYTHON-LICENCE")


def archives(cache: Path) -> list[Path]:
    """The locked packages, fetched where they are not there yet. Raises SystemExit where they are no longer those."""
    cache.mkdir(parents=True, exist_ok=True)
    return [_archive(cache, *line.split()) for line in LOCK.read_text().splitlines() if not line.startswith("#")]


def _archive(cache: Path, name: str, version: str, digest: str) -> Path:
    file = cache / f"{name}_{version}_amd64.deb"
    if not file.exists():
        done = subprocess.run(["apt-get", "download", "-q", f"{name}:amd64={version}"], cwd=cache, capture_output=True,
                              text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{name} {version} cannot be fetched ({done.stderr.strip().splitlines()[-1:]}). This "
                             "needs Debian 12's archives; where they have a newer one: packaging/locks/update.sh")
    if hashlib.sha256(file.read_bytes()).hexdigest() != digest:
        file.unlink()
        raise SystemExit(f"{name} {version} is not the file of {LOCK.name}.")
    return file


if __name__ == "__main__":  # whether Debian still has the packages of the list
    archives(ROOT / "build" / "desktop" / "python")
