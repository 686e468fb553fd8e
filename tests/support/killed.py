"""A child that is killed before the n-th thing that it does to files of a folder, for every n."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

TOUCHES = ("open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate", "shutil.rmtree", "os.scandir",
           "os.listdir")
"""What Python tells its auditors of files; the child dies before the n-th of these that names the export's folder."""


def killed_at(number: int, folder: Path, do: Callable[[], object]) -> bool:
    """Whether a child that does it died before its `number`-th touch of the folder; else it ended well."""
    if not (child := os.fork()):
        left = number

        def watch(event: str, given: tuple) -> None:
            nonlocal left
            if event in TOUCHES and any(str(folder) in os.fsdecode(one) for one in given
                                        if isinstance(one, (str, bytes, os.PathLike))):
                left -= 1
                if not left:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(watch)
        status = 70
        try:
            do()
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or status == 0
    return os.WIFSIGNALED(status)


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a data set by name."""
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()} if folder.is_dir() else {}


def every_kill(folder: Path, before: Callable[[], object], do: Callable[[], object], judge: Callable[[int], None]
               ) -> None:
    """Kill at the first touch, the second and so on, each time from the same beginning. Each state that a death leaves
    is judged once."""
    number, seen = 0, set()
    while True:
        shutil.rmtree(folder, ignore_errors=True)
        before()
        number += 1
        if not killed_at(number, folder, do):
            break
        state = frozenset((str(p), p.stat().st_size) for p in folder.rglob("*"))
        if state not in seen:
            judge(number)
        seen.add(state)
    assert len(seen) > 1
