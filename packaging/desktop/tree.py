"""Builds the tree that the .deb and the .run carry: below a prefix such as /usr or ~/.local, nothing outside of it.

    python packaging/desktop/tree.py OUT

`lib/tiphys-VERSION` has a Python of its own and everything from packaging/locks/desktop.txt; `lib/tiphys` and
`bin/tiphys` lead there, so that another version's folder can stand beside it while something runs from that. The same
source gives the same bytes: times come from SOURCE_DATE_EPOCH (default: the last commit's), names are sorted
when packed, byte code is checked by nobody and holds no times.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import own_python
import shipped
import trim
from version import version

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
PROGRAM = Path("lib") / f"tiphys-{version()}"
PACKAGES = PROGRAM / "lib" / "python3" / "dist-packages"
BUILD = ROOT / "build" / "desktop"


def build(out: Path) -> None:
    """Make the tree anew in a folder."""
    shutil.rmtree(out, ignore_errors=True)
    program = out / PROGRAM
    own_python.lay(program, BUILD / "python")
    install(program / "bin" / "python3", out / PACKAGES)
    trim.trim(out / PACKAGES)
    shutil.copy(HERE / "tiphys.sh", program / "bin" / "tiphys")
    (program / "bin" / "tiphys").chmod(0o755)
    (program.parent / "tiphys").symlink_to(program.name)
    (out / "bin").mkdir()
    (out / "bin" / "tiphys").symlink_to("../lib/tiphys/bin/tiphys")
    compile_all(program)
    shipped.lay(out)
    prove(program / "bin" / "python3")
    settle(out)


def install(python: Path, packages: Path) -> None:
    """Put the locked packages, and the program itself, into a folder, by their hashes."""
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--disable-pip-version-check",
           "--no-compile", "--target", str(packages)]
    locked = ["--require-hashes", "--only-binary", ":all:", "-r", str(ROOT / "packaging" / "locks" / "desktop.txt")]
    _run([*pip, *locked])
    wheel = BUILD / "wheel"
    shutil.rmtree(wheel, ignore_errors=True)
    source = BUILD / "source"
    shutil.rmtree(source, ignore_errors=True)
    _checkout(source)
    _run([sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps",
          "--wheel-dir", str(wheel), str(source)])
    _run([*pip, "--no-deps", "--no-index", "--upgrade", *map(str, wheel.glob("*.whl"))])


def _checkout(out: Path) -> None:
    """The files that git knows, as they are now: no build's leftovers."""
    names = subprocess.run(["git", "ls-files", "-z", "app", "core", "resources", "pyproject.toml", "README.md",
                            "LICENSE"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).exists():
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, out / name)


def compile_all(program: Path) -> None:
    """Byte code beside every module: nobody can write there later, and a start without it takes seconds."""
    for cache in list(program.rglob("__pycache__")):
        shutil.rmtree(cache)
    done = subprocess.run(
        [str(program / "bin" / "python3"), "-I", "-B", "-m", "compileall", "-q", "-f", "-j", "1", "--invalidation-mode",
         "unchecked-hash", "-s", str(program.parents[1]), "-p", "/", str(program / "lib")],
        env={"PATH": os.defpath, "LANG": "C.UTF-8", "PYTHONHASHSEED": "0"}, check=False)
    if done.returncode:
        raise SystemExit("Some module cannot be compiled.")


def prove(python: Path) -> None:
    """Load every module of the program, without those of extras."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    absent = {re.split(r"[^A-Za-z0-9_.-]", line)[0].replace("-", "_") for lines in extras.values() for line in lines}
    _run([str(python), "-I", "-B", str(HERE / "whole.py"), *sorted(absent)])


def settle(out: Path) -> None:
    """One owner's modes and one time for all."""
    time = epoch()
    for path in [*out.rglob("*"), out]:
        if not path.is_symlink():
            runs = path.is_dir() or path.parent.name == "bin"
            path.chmod(0o755 if runs else 0o644)
        os.utime(path, (time, time), follow_symlinks=False)


def epoch() -> int:
    """The time that everything in a package has, in seconds."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    return int(subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True,
                              check=True).stdout)


def _run(command: list[str]) -> None:
    environment = {**os.environ, "PIP_NO_CACHE_DIR": os.environ.get("PIP_NO_CACHE_DIR", "0")}
    if subprocess.run(command, check=False, env=environment).returncode:
        raise SystemExit(f"This failed: {' '.join(command)}")


if __name__ == "__main__":
    build(Path(sys.argv[1]).absolute())
