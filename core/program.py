"""How this program starts a part of itself, as a process of its own: from a checkout, an installed package or frozen.

Every such process is started with what `command` gives; nothing else in the tree names the interpreter
(`tests/meta/test_program.py`), so that an installation may put the program wherever it likes.
"""

from __future__ import annotations

import importlib.util
import os
import runpy
import shutil
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

PARTS = {
    "tiphys": "core.cli",
    "desktop": "app",
    "screenshots": "app.window.screenshots",
    "qt-version": "app.kit.qt_version",
    "find": "app.desk.search_worker",
    "pictures": "app.step.picture_worker",
    "export": "core.export.worker",
    "small-model": "core.llm.smollm2",
    "rules": "core.supervision.worker",
    "search": "core.server.search_worker",
    "train": "core.training.worker",
    "environments": "core.environments.play_worker",
    "devices": "accelerate.commands.launch",
}
"""What can be started, and the module that is it."""

PART = "--part"
"""The first argument of a frozen executable that is to be another part than the command line."""


def command(part: str, *arguments: str, python: Path | None = None) -> list[str]:
    """The words that start a part. `python` is the interpreter of an environment that has more than this process's
    own, such as the one for training. A part that was started apart from the user's Python (-I) starts its own so."""
    if is_frozen() and python is None:
        return [sys.executable, PART, part, *arguments]
    isolated = ["-I"] if sys.flags.isolated else []
    return [str(python or sys.executable), *isolated, "-m", PARTS[part], *arguments]


def is_frozen() -> bool:
    """Whether this is one executable with its modules inside, which is no interpreter."""
    return bool(getattr(sys, "frozen", False))


def installed() -> Path:
    """The folder of the Python of the version that is installed now: a package's bears its version, and a link beside
    it leads to the newest, while whatever still runs stays with the one that it began with."""
    own = Path(sys.prefix)
    newest = own.with_name("tiphys")
    return newest if own.name.startswith("tiphys-") and newest.is_symlink() else own


def newest_python() -> Path | None:
    """The interpreter of the version that is installed now, where that may be another than this one."""
    found = installed() / "bin" / "python3"
    return found if installed() != Path(sys.prefix) and found.exists() else None


def interpreter() -> str | None:
    """A Python for a script that uses the standard library alone; None where this machine has none."""
    return shutil.which("python3") if is_frozen() else sys.executable


def install_line(package: str) -> str:
    """The command that brings a Python package to where this process finds it. Of a packaged program's own folder, in
    which nobody installs, it names what makes an environment that can be installed into."""
    if not os.access(sysconfig.get_path("purelib"), os.W_OK):
        return "tiphys train-setup, then this command again"
    has_pip = importlib.util.find_spec("pip") is not None
    pip = f"{sys.executable} -m pip" if has_pip else f"python3 -m pip --python {sys.executable}"
    return f"{pip} install {package}"


def launcher() -> list[str]:
    """The words by which a person or a menu starts the program."""
    for folder in (installed() / "bin", Path(sys.executable).parent):
        if (folder / "tiphys").exists():
            return [str(folder / "tiphys")]
    found = shutil.which("tiphys")
    return [found] if found else command("tiphys")


def run_frozen(argv: Sequence[str]) -> None:
    """Be the part that the arguments of a frozen executable ask for; raises SystemExit with its status."""
    part, rest = (argv[2], argv[3:]) if argv[1:2] == [PART] else ("tiphys", argv[1:])
    sys.argv = [argv[0], *rest]
    runpy.run_module(PARTS[part], run_name="__main__", alter_sys=True)
