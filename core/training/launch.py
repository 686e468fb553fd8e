"""One training over several devices: this process starts one per device, hears the first of them, and stops them.

`accelerate launch` starts them with the FSDP2 settings of fsdp.yaml beside this file, on GPUs and, where that is asked
for, on a processor: what the tests run is what ships. They inherit a pipe as their input, which nobody writes to: when
this process is killed it ends, and they save a checkpoint and stop instead of training on unseen.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from core import program
from core.domain.errors import Unavailable
from core.training.settings import TrainSettings
from core.workers.training import OnMetric, TrainEnd, TrainFailure, TrainSummary, read_reports

CONFIG = Path(__file__).with_name("fsdp.yaml")
_FAULT = re.compile(r"^(?:\[rank\d+\]: ?)?([\w.]*(?:Error|Exception|Interrupt): .*|Killed.*)$")
"""The line of a traceback that says what went wrong."""


def is_launched() -> bool:
    """Whether this process is one of several that train together."""
    return "RANK" in os.environ and "WORLD_SIZE" in os.environ


def is_first() -> bool:
    """Whether it is the one that writes and speaks."""
    return os.environ.get("RANK", "0") == "0"


def gpus_here() -> int:
    """How many GPUs this machine shows to this process."""
    import torch

    return torch.cuda.device_count() if torch.cuda.is_available() else 0


def launch(settings: TrainSettings, use: OnMetric | None, stop: threading.Event) -> TrainSummary:
    """Train on `settings.devices` devices. Raises what the first of the processes reported, or Unavailable with the
    last words of one that broke."""
    with tempfile.TemporaryDirectory() as folder, _stop_file(stop, Path(folder) / "stop") as asked:
        environment = {**os.environ, "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1")}
        # a session of its own: a terminal's Ctrl+C stops this process, and this one asks them to save
        with subprocess.Popen([*_launcher(settings), *_worker(settings, asked)], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
                              start_new_session=True) as process:
            errors = _Errors(process)
            try:
                end = read_reports(process.stdout or (), use)
            except BaseException:
                with contextlib.suppress(ProcessLookupError):  # it ended just now
                    os.killpg(process.pid, signal.SIGTERM)
                raise
        return _summary(end, process.returncode, errors.fault)


def _launcher(settings: TrainSettings) -> list[str]:
    # port 0: one that is free, so that two runs on a machine do not meet
    return program.command("devices", "--config_file", str(CONFIG), "--main_process_port", "0",
                           "--num_processes", str(settings.devices))


def _worker(settings: TrainSettings, asked: Path) -> list[str]:
    known = {k: _text(v) for k, v in msgspec.to_builtins(settings).items() if v is not None}
    data, model, out = (known.pop(name) for name in ("data", "model", "out"))
    more = [part for name, value in known.items() for part in ("--set", f"{name}={value}")]
    return ["-m", program.PARTS["train"], data, "--model", model, "--out", out, "--stop-file", str(asked),
            "--stop-with-input", *more]


def _text(value: Any) -> str:
    """A setting as `read_settings` takes it."""
    if isinstance(value, list | tuple):
        return ",".join(value)
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


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


class _Errors:
    """Reads what a process writes to its standard error: the last line, and the first fault. The processes that stop
    because another one broke come after it, and so does the launcher's own report."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process, self._fault, self._last = process, "", ""
        self._thread = threading.Thread(target=self._read, name="errors")
        self._thread.start()

    @property
    def fault(self) -> str:
        """What went wrong, after the process's end."""
        self._thread.join()
        return self._fault or self._last

    def _read(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            text = line.decode("utf-8", "replace").rstrip()
            self._last = text or self._last
            found = _FAULT.match(text)
            if found and not self._fault:
                self._fault = found[1]


def _summary(end: TrainEnd | None, status: int, fault: str) -> TrainSummary:
    if end is None:
        raise Unavailable("training_broke", f"The training processes ended with status {status}: {fault[:300]}")
    if isinstance(end, TrainFailure):
        raise end.error.error
    return end
