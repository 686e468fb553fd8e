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
    beside = Path(sys.executable).with_name("tiphys")
    if beside.exists():
        return [str(beside)]
    installed = shutil.which("tiphys")
    return [installed] if installed else command("tiphys")


def run_frozen(argv: Sequence[str]) -> None:
    """Be the part that the arguments of a frozen executable ask for; raises SystemExit with its status."""
    part, rest = (argv[2], argv[3:]) if argv[1:2] == [PART] else ("tiphys", argv[1:])
    sys.argv = [argv[0], *rest]
    runpy.run_module(PARTS[part], run_name="__main__", alter_sys=True)
