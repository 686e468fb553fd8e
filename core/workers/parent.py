"""A worker ends with the process that started it, whatever killed that, and whatever the worker is doing."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from contextlib import suppress

LOOK_EVERY_S = 1.0

_PR_SET_PDEATHSIG = 1
"""prctl(2)."""


def end_with_parent() -> None:
    """From now on the end of the parent is this process's, also while it waits for input that somebody else holds open.

    Linux does it by itself, even where a regular expression holds the interpreter for ever; elsewhere a thread looks.
    """
    parent = os.getppid()
    if sys.platform == "linux":
        with suppress(AttributeError, OSError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    threading.Thread(target=_watch, args=(parent,), daemon=True, name="parent").start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK_EVERY_S)
    os._exit(1)
