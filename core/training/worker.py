"""Training as a process: metrics as JSON lines on standard output, SIGTERM stops it after a checkpoint."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import msgspec

from core.domain.errors import ReportableError
from core.training.launch import is_first
from core.training.settings import TrainSettings, read_settings
from core.training.train import run
from core.workers.messages import Problem
from core.workers.training import TrainFailure


def serve(settings: TrainSettings, stop_file: str = "", stop_with_input: bool = False) -> int:
    """Run with metrics on standard output; the last line is {"done": …} or {"error": …}. Returns the exit status.

    A signal stops it, or `stop_file` once it exists, or with `stop_with_input` the end of standard input. Of several
    processes that train together the first one speaks.
    """
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    stop = stop_on_signals(_Asked(Path(stop_file)) if stop_file else threading.Event())
    if stop_with_input:
        threading.Thread(target=_wait_for_end_of_input, args=(stop,), name="input", daemon=True).start()
    say = _speaker(sys.stdout.buffer)
    with contextlib.redirect_stdout(sys.stderr):
        try:
            say(run(settings, say, stop))
        except ReportableError as error:
            say(TrainFailure(error=Problem.of(error)))
            return error.exit_status
    return 0


def _speaker(out: BinaryIO) -> Callable[[object], None]:
    """Writes one JSON line of the first process. Where nobody reads any more the run goes on to its checkpoint."""

    def say(report: object) -> None:
        if is_first():
            with contextlib.suppress(BrokenPipeError):
                out.write(msgspec.json.encode(report) + b"\n")
                out.flush()

    return say


def _wait_for_end_of_input(stop: threading.Event) -> None:
    while os.read(0, 1024):
        pass
    stop.set()


def stop_on_signals(stop: threading.Event) -> threading.Event:
    """Let SIGTERM and Ctrl+C set it; gives it back."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    return stop


class _Asked(threading.Event):
    """Set by a signal, or by a file that exists."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def is_set(self) -> bool:
        """Whether to stop."""
        return super().is_set() or self._path.exists()


def main(argv: list[str] | None = None) -> int:
    """`python -m core.training.worker DATA --model DIR --out DIR [--set NAME=VALUE …]`."""
    parser = argparse.ArgumentParser(prog="python -m core.training.worker", description=__doc__)
    parser.add_argument("data")
    parser.add_argument("--model", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--stop-file", default="")
    parser.add_argument("--stop-with-input", action="store_true")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="more")
    args = parser.parse_args(argv)
    chosen = dict(m.partition("=")[::2] for m in args.more)
    try:
        settings = read_settings({**chosen, "data": args.data, "model": args.model, "out": args.out})
    except ReportableError as error:
        sys.stdout.buffer.write(msgspec.json.encode(TrainFailure(error=Problem.of(error))) + b"\n")
        return error.exit_status
    return serve(settings, args.stop_file, args.stop_with_input)


if __name__ == "__main__":
    sys.exit(main())
