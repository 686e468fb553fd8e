"""One training over several devices: this process starts one per device, hears the first of them, and stops them.

On GPUs `accelerate launch` starts them with the FSDP2 settings of fsdp.yaml beside this file: parameters, gradients and
optimizer are sharded. On a processor each of them has the whole model, which is of use for tests only.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from core.domain.errors import InvalidInput, Unavailable
from core.training.settings import TrainSettings
from core.workers.training import TrainSummary

CONFIG = Path(__file__).with_name("fsdp.yaml")
_LAST_WORDS = 4000


def is_launched() -> bool:
    """Whether this process is one of several that train together."""
    return "RANK" in os.environ and "WORLD_SIZE" in os.environ


def is_first() -> bool:
    """Whether it is the one that writes and speaks."""
    return os.environ.get("RANK", "0") == "0"


def launch(settings: TrainSettings, say: Callable[[dict[str, Any]], None] | None,
           stop: threading.Event) -> TrainSummary:
    """Train on `settings.gpus` devices. Raises what the first of the processes reported, or Unavailable with the last
    words of one that broke."""
    with tempfile.TemporaryDirectory() as folder, _stop_file(stop, Path(folder) / "stop") as asked:
        environment = {**os.environ, "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1")}
        # a session of its own: a terminal's Ctrl+C stops this process, and this one asks them to save
        with subprocess.Popen([*_launcher(settings), *_worker(settings, asked)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=environment, start_new_session=True) as process:
            words = _Last(process)
            try:
                ended = _follow(process, say)
            except BaseException:
                os.killpg(process.pid, signal.SIGTERM)
                raise
        return _summary(ended, process.returncode, words.told)


def _launcher(settings: TrainSettings) -> list[str]:
    if settings.device == "cpu":
        return [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={settings.gpus}"]
    return [sys.executable, "-m", "accelerate.commands.launch", "--config_file", str(CONFIG),
            "--num_processes", str(settings.gpus)]


def _worker(settings: TrainSettings, asked: Path) -> list[str]:
    known = {k: v for k, v in msgspec.to_builtins(settings).items() if v is not None}
    data, model, out = (known.pop(name) for name in ("data", "model", "out"))
    more = [part for name, value in known.items() for part in ("--set", f"{name}={msgspec.json.encode(value).decode()}"
                                                               if not isinstance(value, str) else f"{name}={value}")]
    return ["-m", "core.training.worker", data, "--model", model, "--out", out, "--stop-file", str(asked), *more]


@contextlib.contextmanager
def _stop_file(stop: threading.Event, path: Path) -> Iterator[Path]:
    """A file that comes into being when `stop` is set."""
    over = threading.Event()

    def watch() -> None:
        while not over.is_set():
            if stop.wait(0.2):
                path.touch()
                return

    thread = threading.Thread(target=watch, name="stop-file")
    thread.start()
    try:
        yield path
    finally:
        over.set()
        thread.join()


class _Last:
    """Reads a process's errors, and keeps the last of them."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process, self._kept = process, b""
        self._thread = threading.Thread(target=self._read, name="errors")
        self._thread.start()

    @property
    def told(self) -> str:
        """The last words, after the process's end."""
        self._thread.join()
        return self._kept.decode("utf-8", "replace")

    def _read(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._kept = (self._kept + line)[-_LAST_WORDS:]


def _follow(process: subprocess.Popen[bytes], say: Callable[[dict[str, Any]], None] | None) -> dict[str, Any]:
    """Pass on what the first process says; gives its last line."""
    assert process.stdout is not None
    ended: dict[str, Any] = {}
    for line in process.stdout:
        try:
            told = msgspec.json.decode(line, type=dict[str, Any])
        except msgspec.DecodeError:
            continue  # a library's own words
        if "done" in told or "error" in told:
            ended = told
        elif say is not None:
            say(told)
    return ended


def _summary(ended: dict[str, Any], status: int, words: str) -> TrainSummary:
    error = ended.get("error")
    if isinstance(error, dict):
        raise InvalidInput(str(error.get("code")), str(error.get("sentence")))
    if not ended:
        last = words.strip().splitlines()[-1:] or [""]
        raise Unavailable("training_broke", f"The training processes ended with status {status}: {last[0][:300]}")
    return msgspec.convert(ended, TrainSummary)
