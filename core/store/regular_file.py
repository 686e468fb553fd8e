"""Opening a file that somebody else named: a device, a pipe or a link there must hold nobody up and lead nowhere."""

import os
import stat
from pathlib import Path

from core.domain.errors import InvalidInput


def open_regular(path: Path, *, follow: bool) -> int | None:
    """A descriptor of a regular file, which is not waited for; None where something else lies there. `follow` says
    whether a link may lead to it. Raises OSError. Close it."""
    links = 0 if follow else getattr(os, "O_NOFOLLOW", 0)
    file = os.open(path, os.O_RDONLY | links | getattr(os, "O_NONBLOCK", 0))
    if stat.S_ISREG(os.fstat(file).st_mode):
        return file
    os.close(file)
    return None


def open_unlinked(path: Path, code: str) -> int:
    """A descriptor of a regular file that no link leads to. Raises InvalidInput of this code. Close it."""
    try:
        file = open_regular(path, follow=False)
    except OSError as error:
        raise InvalidInput(code, f"{path} cannot be read: {error}", path=str(path)) from error
    if file is None:
        raise InvalidInput(code, f"{path} is no regular file.", path=str(path))
    return file
