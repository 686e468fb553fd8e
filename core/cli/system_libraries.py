"""Whether this computer has the libraries of the system that a window needs, and what brings them.

Nothing of Qt is imported here: where a library lacks, Qt ends the process, in the menu without a word.
`python -m core.cli.system_libraries` says what lacks; status 1 where something does.
"""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import subprocess
import sys

from core.store.home import resources

DIALOGS = (("zenity", "--error", "--no-markup", "--title=Tiphys", "--width=560", "--text={}"),
           ("kdialog", "--title", "Tiphys", "--error", "{}"), ("xmessage", "-center", "{}"))
SHOWN_S = 600


def missing() -> dict[str, str]:
    """The libraries that cannot be loaded, each with the Debian package that brings it."""
    if not sys.platform.startswith("linux"):
        return {}
    table = (resources() / "system_libraries.tsv").read_text(encoding="utf-8").splitlines()
    rows = [(*line.split("\t"), "")[:3] for line in table if not line.startswith("#")]
    return {library: _package(packages.split("|")) for library, packages, purpose in rows
            if not purpose and not _loads(library)}


def sentence(lacking: dict[str, str]) -> str:
    """What lacks, and the line that mends it."""
    packages = " ".join(sorted(set(lacking.values())))
    return (f"Libraries of the system are missing: {', '.join(sorted(lacking))}. "
            f"Install them: sudo apt-get install {packages}")


def show(text: str) -> None:
    """In a dialog that needs no Qt, where there is a display and a program for it; a menu has no terminal."""
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")) or sys.stderr.isatty():
        return
    for name, *words in DIALOGS:
        if program := shutil.which(name):
            subprocess.run([program, *(word.format(text) for word in words)], check=False, timeout=SHOWN_S,
                           stderr=subprocess.DEVNULL)
            return


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _package(choices: list[str]) -> str:
    """The name under which this distribution has it; the newest one comes first."""
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        return choices[0]
    old = {"debian": 13, "ubuntu": 24}.get(release.get("ID", ""), 0)
    number = release.get("VERSION_ID", "").split(".")[0]
    return choices[-1] if number.isdigit() and int(number) < old else choices[0]


if __name__ == "__main__":
    found = missing()
    if found:
        sys.stderr.write(sentence(found) + "\n")
    sys.exit(bool(found))
