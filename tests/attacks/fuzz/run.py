"""Coverage-guided fuzzing of one decoder with atheris: not part of the test command.

    pip install atheris
    python tests/attacks/fuzz/run.py events [-runs=200000] [libFuzzer options…]

Anything but an answer or one of our errors stops the run and leaves a `crash-…` file. libFuzzer stops an input that
takes more than a second (-timeout) or more than 512 MiB (-rss_limit_mb).
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT)]

import atheris  # type: ignore[import-not-found]  # noqa: E402

with atheris.instrument_imports(include=["core", "app"]):
    from app.desk.settings import Settings
    from core.actions.registry import parse_call
    from core.domain.errors import ReportableError
    from core.domain.events import decode_event
    from core.domain.foreign import neutral, without_marks
    from core.domain.message import ToolCall, decode_message
    from core.domain.step import decode_body
    from core.formats import registry
    from core.formats.json_text import parse
    from core.llm.text_actions import parse_text_actions
    from core.protocol.codec import decode_from_server, decode_to_server
    from core.protocol.frames import Assembly, parse_piece
    from core.store.blobs import decompress
    from core.supervision.judge import read_opinions
    from core.tasks.task_file import read_task

FOLDER = Path(tempfile.mkdtemp(prefix="tiphys-fuzz-"))


def text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def piece(data: bytes) -> None:
    Assembly().add(parse_piece(data))


def file(data: bytes) -> None:
    path = FOLDER / "file"
    path.write_bytes(data)
    for session in registry.read(path):
        for name in session.blobs:
            session.blobs[name]


def task(data: bytes) -> None:
    (FOLDER / "task.toml").write_bytes(data)
    read_task(FOLDER)


def cast(data: bytes) -> None:
    (FOLDER / "file.cast").write_bytes(b'{"version": 2, "width": 80, "height": 24}\n' + data)
    for session in registry.read(FOLDER / "file.cast"):
        for name in session.blobs:
            session.blobs[name]


def settings(data: bytes) -> None:
    (FOLDER / "settings.toml").write_bytes(data)
    Settings(FOLDER / "settings.toml")


TARGETS: dict[str, Callable[[bytes], object]] = {
    "events": decode_event,
    "bodies": decode_body,
    "messages": decode_message,
    "to_server": decode_to_server,
    "from_server": decode_from_server,
    "pieces": piece,
    "payloads": lambda d: decompress(d, 1 << 20),
    "json": parse,
    "files": file,
    "casts": cast,
    "tasks": task,
    "settings": settings,
    "actions": lambda d: parse_text_actions(text(d), 1),
    "calls": lambda d: parse_call(ToolCall(id="1", name="run_command", arguments=text(d))),
    "opinions": lambda d: read_opinions(text(d)),
    "neutral": lambda d: without_marks(neutral(text(d))),
}


def main() -> None:
    """Fuzz the target named first until libFuzzer's options end it."""
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in TARGETS:
        sys.exit(f"usage: run.py TARGET [libFuzzer options…]; targets: {', '.join(TARGETS)}")
    read = TARGETS[name]

    def one(data: bytes) -> None:
        try:
            read(data)
        except ReportableError:
            return

    atheris.Setup([sys.argv[0], "-timeout=1", "-rss_limit_mb=512", *sys.argv[2:]], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
