"""The Python that the packages carry: Debian 12's own, moved.

Its interpreter finds the standard library from its own place, so it runs from any folder; it needs glibc 2.36 and the
libraries of the system that `system_libraries.tsv` knows, which get their security updates from there. The archives
are fetched by apt (which checks the distribution's signature) and compared with packaging/locks/python.txt.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
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
    """The packages of the lock. Where Debian has replaced them the lock follows, and that is said.

    Raises SystemExit where they are not to be had, or are not the locked ones.
    """
    cache.mkdir(parents=True, exist_ok=True)
    if not all(_fetch(cache, name, version) for name, version, _ in _locked()):
        follow()
    return [_archive(cache, *line) for line in _locked()]


def follow() -> None:
    """Lock what Debian 12 has now: apt has checked its signature. Raises SystemExit where apt knows no such package."""
    if os.geteuid() == 0:
        subprocess.run(["apt-get", "update", "-qq"], check=False)
    before = _locked()
    now = [_candidate(name) for name, _, _ in before]
    if now != before:
        LOCK.write_text("\n".join([*(line for line in LOCK.read_text().splitlines() if line.startswith("#")),
                                   *map(" ".join, now)]) + "\n")
        sys.stderr.write(f"Debian has replaced Python {before[0][1]} by {now[0][1]}: {LOCK.relative_to(ROOT)} follows; "
                         "commit it.\n")


def _locked() -> list[tuple[str, str, str]]:
    """Name, version and SHA-256 of each package."""
    lines = [line.split() for line in LOCK.read_text().splitlines() if not line.startswith("#")]
    return [(name, version, digest) for name, version, digest in lines]


def _candidate(name: str) -> tuple[str, str, str]:
    shown = subprocess.run(["apt-cache", "show", "--no-all-versions", f"{name}:amd64"], capture_output=True, text=True,
                           check=False).stdout
    fields = dict(line.split(": ", 1) for line in shown.splitlines() if line.startswith(("Version: ", "SHA256: ")))
    if len(fields) < 2:
        raise SystemExit(f"apt knows no {name}: the packages are built on Debian 12, after apt-get update.")
    return name, fields["Version"], fields["SHA256"]


def _fetch(cache: Path, name: str, version: str) -> bool:
    """Whether the archive is there, or could be fetched."""
    return (cache / f"{name}_{version}_amd64.deb").exists() or not subprocess.run(
        ["apt-get", "download", "-q", f"{name}:amd64={version}"], cwd=cache, capture_output=True,
        check=False).returncode


def _archive(cache: Path, name: str, version: str, digest: str) -> Path:
    file = cache / f"{name}_{version}_amd64.deb"
    if not _fetch(cache, name, version):
        raise SystemExit(f"{name} {version} cannot be fetched from Debian 12's archives.")
    if hashlib.sha256(file.read_bytes()).hexdigest() != digest:
        file.unlink()
        raise SystemExit(f"{name} {version} is not the file of {LOCK.name}.")
    return file


if __name__ == "__main__":  # whether Debian still has the packages of the list; --follow: lock those that it has
    if sys.argv[1:] == ["--follow"]:
        follow()
    archives(ROOT / "build" / "desktop" / "python")
