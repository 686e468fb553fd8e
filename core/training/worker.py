"""Training as a process: metrics as JSON lines on standard output, SIGTERM stops it after a checkpoint."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import threading
from pathlib import Path

import msgspec

from core.domain.errors import InvalidInput, ReportableError
from core.training.launch import is_first
from core.training.settings import TrainSettings
from core.training.train import run
from core.workers.messages import Problem
from core.workers.training import TrainFailure


def serve(settings: TrainSettings, stop_file: str = "") -> int:
    """Run with metrics on standard output; the last line is {"done": …} or {"error": …}. Returns the exit status.

    A signal, or `stop_file` once it exists, stops it. Of several processes that train together the first one speaks.
    """
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    stop = stop_on_signals(threading.Event() if not stop_file else _Asked(Path(stop_file)))
    out = sys.stdout.buffer

    def say(report: object) -> None:
        if is_first():
            out.write(msgspec.json.encode(report) + b"\n")
            out.flush()

    with contextlib.redirect_stdout(sys.stderr):
        try:
            say(run(settings, say, stop))
        except ReportableError as error:
            say(TrainFailure(error=Problem.of(error)))
            return error.exit_status
    return 0


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


def read_settings(values: dict[str, str]) -> TrainSettings:
    """Settings from texts, as a command line has them. Raises InvalidInput."""
    try:
        return msgspec.convert(values, TrainSettings, strict=False)
    except msgspec.ValidationError as error:
        raise InvalidInput("bad_settings", f"The training settings cannot be read: {error}") from error


def main(argv: list[str] | None = None) -> int:
    """`python -m core.training.worker DATA --model DIR --out DIR [--set NAME=VALUE …]`."""
    parser = argparse.ArgumentParser(prog="python -m core.training.worker", description=__doc__)
    parser.add_argument("data")
    parser.add_argument("--model", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--stop-file", default="")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="more")
    args = parser.parse_args(argv)
    told = dict(m.partition("=")[::2] for m in args.more)
    try:
        settings = read_settings({**told, "data": args.data, "model": args.model, "out": args.out})
    except ReportableError as error:
        sys.stdout.buffer.write(msgspec.json.encode(TrainFailure(error=Problem.of(error))) + b"\n")
        return error.exit_status
    return serve(settings, args.stop_file)


if __name__ == "__main__":
    sys.exit(main())
