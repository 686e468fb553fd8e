"""What the packages leave out of the wheels: what nothing here ever loads. `make packages-test` opens every panel."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import icu
from elf import is_elf, needed

MODULES = ("QtCore", "QtGui", "QtWidgets", "QtNetwork", "QtDBus", "QtSvg", "QtOpenGL", "QtOpenGLWidgets")
"""Of Qt for Python; pyqtgraph loads the last two."""

PLUGINS = ("platforms/libqxcb.so", "platforms/libqoffscreen.so", "platforms/libqwayland*.so",
           "xcbglintegrations/libqxcb-*.so", "wayland-graphics-integration-client/libqt-plugin-wayland-egl.so",
           "wayland-shell-integration/libxdg-shell.so", "wayland-decoration-client/*.so",
           "platforminputcontexts/libcompose*.so", "platforminputcontexts/libibus*.so",
           "platformthemes/libqxdgdesktopportal.so", "iconengines/*.so",
           "imageformats/libqsvg.so", "imageformats/libqjpeg.so", "imageformats/libqgif.so", "imageformats/libqico.so")
TRANSLATIONS = ("qtbase_zh_CN.qm", "qtbase_en.qm")

UNUSED = ("bin", "*/tests", "numpy/**/tests", "numpy/f2py", "numpy/_core/include", "numpy/_core/lib", "numpy/doc",
          "numpy/distutils", "numpy/**/*.pyi", "pyqtgraph/examples", "pyqtgraph/opengl", "pyqtgraph/**/tests",
          "pyqtgraph/canvas", "pyqtgraph/flowchart", "pyqtgraph/jupyter", "cffi", "cffi-*", "pycparser",
          "pycparser-*", "**/*.pyi", "openai/cli", "PySide6/scripts", "numpy/_core/*_tests.*.so",
          "numpy/_core/_simd.*.so")
"""Below the folder of packages. cryptography loads cffi's library (_cffi_backend), and nothing its Python."""

UNSTRIPPED = ("pysqlite3/*.so", "yaml/*.so", "cryptography/hazmat/bindings/*.so")
"""Libraries whose makers left in what only a debugger reads: most of SQLite's."""


def trim(packages: Path) -> None:
    """Remove from a folder of installed packages what is never loaded."""
    for pattern in UNUSED:
        _remove(packages.glob(pattern))
    side = packages / "PySide6"
    wanted = {f"{name}.abi3.so" for name in MODULES} | {"__init__.py", "_config.py", "_git_pyside_version.py", "Qt",
                                                       "support", "py.typed"}
    _remove(path for path in side.iterdir() if path.name not in wanted and not path.name.startswith("libpyside6.abi3"))
    _trim_qt(side)
    for pattern in UNSTRIPPED:
        subprocess.run(["strip", "--strip-unneeded", *packages.glob(pattern)], check=True)
    for file in [*packages.rglob("RECORD"), *packages.rglob("direct_url.json"), *packages.rglob("REQUESTED")]:
        file.unlink()  # they name what is gone, and the folder that was built in


def _trim_qt(side: Path) -> None:
    qt = side / "Qt"
    _remove(path for path in qt.iterdir() if path.name not in ("lib", "plugins", "translations"))
    _keep(qt / "translations", TRANSLATIONS)
    _keep(qt / "plugins", PLUGINS)
    wanted = _closure([*side.glob("*.so*"), *(qt / "plugins").rglob("*.so")], qt / "lib")
    _remove(path for path in (qt / "lib").iterdir() if path not in wanted)
    for library in (qt / "lib").glob("libicudata.so.*"):
        icu.blank(library)


def _closure(roots: Iterable[Path], libraries: Path) -> set[Path]:
    """The libraries of a folder that files need, and what those need."""
    found: set[Path] = set()
    waiting = list(roots)
    while waiting:
        for name in needed(waiting.pop()):
            path = libraries / name
            if path.exists() and path not in found:
                found.add(path)
                waiting.append(path)
    return found


def _keep(folder: Path, patterns: Iterable[str]) -> None:
    kept = {path for pattern in patterns for path in folder.glob(pattern)}
    _remove(path for path in folder.rglob("*") if path.is_file() and path not in kept)
    _remove(path for path in folder.iterdir() if path.is_dir() and not any(p.is_file() for p in path.rglob("*")))


def _remove(paths: Iterable[Path] | Iterator[Path]) -> None:
    for path in list(paths):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def binaries(tree: Path) -> list[Path]:
    """Every program and library of a tree."""
    return sorted(path for path in tree.rglob("*") if path.is_file() and not path.is_symlink() and is_elf(path))
