"""An interpreter for processes of training, that has the libraries loaded: most of what a small training takes is to
load them. One process loads them and forks each process from there; what was started stands for it: it hands its
words, environment, folder and three files over, and ends as the other does. Who kills the one kills both.

`warm.py serve SOCKET` is the process that forks, `warm.py SOCKET …` what stands for another.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import runpy
import select
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

LIBRARIES = ("trl.trainer.sft_trainer", "peft", "datasets", "accelerate.commands.launch", "torch.distributed.run",
             "torch.distributed.checkpoint", "transformers.models.llama.modeling_llama", "core.training.engine")


@contextlib.contextmanager
def warm_interpreter() -> Iterator[Path]:
    """Its path, for as long as it works."""
    with tempfile.TemporaryDirectory() as folder:
        path, place = Path(folder) / "python", Path(folder) / "socket"
        path.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -IS {shlex.quote(__file__)} {place} "$@"\n')
        path.chmod(0o755)
        root = Path(__file__).parents[2]
        surroundings = {**os.environ, "PYTHONPATH": str(root), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
        with subprocess.Popen([sys.executable, __file__, "serve", str(place)], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, env=surroundings) as process:
            assert process.stdin is not None and process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            yield path
            process.stdin.close()


def stand_for(place: str, arguments: list[str]) -> int:
    """Have a process forked that does what this one was started for, and end as it ends."""
    asked = socket.socket(socket.AF_UNIX)
    asked.connect(place)
    words = json.dumps({"argv": arguments, "env": dict(os.environ), "cwd": str(Path.cwd())}).encode()
    socket.send_fds(asked, [len(words).to_bytes(4, "big")], [0, 1, 2])
    asked.sendall(words)
    pid = int(asked.recv(64))
    for one in (signal.SIGTERM, signal.SIGINT):
        signal.signal(one, lambda number, _: os.kill(pid, number))
    status = int(asked.recv(64) or 70)
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    return status


def serve(place: str) -> None:
    """Fork until the input ends."""
    sys.path.pop(0)  # this folder
    for name in LIBRARIES:
        importlib.import_module(name)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(place)
    listener.listen(64)
    print("ready", flush=True)  # noqa: T201
    while 0 not in select.select([0, listener], [], [])[0]:
        asked, _ = listener.accept()
        if not os.fork():
            _keep(asked)
        asked.close()
        _reap()
    _reap()


def _reap() -> None:
    """Take notice of those that ended, so that their time counts as the tests'."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass


def _keep(asked: socket.socket) -> NoReturn:
    """Fork once more, and tell how that one ends; kill it when nobody stands for it any more."""
    size, files, _, _ = socket.recv_fds(asked, 4, 3)
    with asked.makefile("rb") as stream:
        told = json.loads(stream.read(int.from_bytes(size, "big")))
    pid = os.fork()
    if not pid:
        _become(told, files)
    for file in files:
        os.close(file)
    asked.sendall(str(pid).encode().ljust(64))
    over = os.pidfd_open(pid)
    if over not in select.select([asked, over], [], [])[0]:
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    with contextlib.suppress(OSError):
        asked.sendall(str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _become(told: dict, files: list[int]) -> NoReturn:
    for number, file in enumerate(files):
        os.dup2(file, number)
    os.closerange(3, 4096)
    os.environ.clear()
    os.environ.update(told["env"])
    os.chdir(told["cwd"])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.stdout.reconfigure(write_through=True)  # type: ignore[union-attr]
    name, *arguments = [word for word in told["argv"] if word != "-u"]
    sys.path[:0] = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    if name == "-m":
        sys.argv = arguments
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv = [name, *arguments]
        sys.path.insert(0, str(Path(name).parent))
        runpy.run_path(name, run_name="__main__")
    raise SystemExit


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    else:
        raise SystemExit(stand_for(sys.argv[1], sys.argv[2:]))
