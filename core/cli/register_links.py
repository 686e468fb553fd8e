"""`tiphys register-links`: tells this person's desktop that tiphys:// links are opened by this program."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click

from core import program
from core.cli.output import emit, json_option, say
from core.domain.errors import InvalidInput, Unavailable
from core.store.home import resources


@click.command(name="register-links")
@json_option
def register_links(as_json: bool) -> None:
    """Let a click on a tiphys:// link or an invitation's file open it here (Linux desktops; the installer does the same
    for all users)."""
    entry = register(Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"))
    emit({"file": str(entry)}) if as_json else say(str(entry))


def register(data: Path) -> Path:
    """Write the menu entry into a data folder of the desktop and tell the desktop; returns the entry.

    Raises InvalidInput where the desktop has no such folders, Unavailable where the entry cannot be written.
    """
    if sys.platform in ("win32", "darwin"):
        raise InvalidInput("no_menu_entries", "Only Linux desktops keep menu entries in files.")
    entry = data / "applications" / "tiphys.desktop"
    types = data / "mime" / "packages" / "tiphys.xml"
    try:
        for file, name in ((entry, "tiphys.desktop"), (types, "tiphys-mime.xml")):
            file.parent.mkdir(parents=True, exist_ok=True)
            text = (resources() / name).read_text(encoding="utf-8")
            file.write_text(text.replace("@program@", _program()), encoding="utf-8")
    except OSError as error:
        raise Unavailable("file_not_written", f"{entry} cannot be written: {error}", path=str(entry),
                          why=str(error)) from error
    for command in (["update-desktop-database", "-q", str(entry.parent)],
                    ["update-mime-database", str(types.parent.parent)],
                    ["xdg-mime", "default", entry.name, "x-scheme-handler/tiphys"]):
        if shutil.which(command[0]):
            subprocess.run(command, check=False, capture_output=True, timeout=20,
                           env={**os.environ, "XDG_DATA_HOME": str(data)})
    return entry


def _program() -> str:
    """How this very program is started, quoted for Exec."""
    return " ".join(shlex.quote(word) for word in program.launcher()).replace("%", "%%")
