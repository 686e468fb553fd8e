"""What a Harbor trial keeps beside a trajectory: `recording.cast`, and one folder up `result.json`.

The recording is replayed in the terminal; where both it and the steps have times, each step says how far the
terminal was when it ended. The result gives the rewards as scores, and how the trial ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from core.domain.errors import ReportableError
from core.domain.events import ScoreGiven
from core.formats.asciicast import Cast, add_output, is_header, read_cast
from core.formats.imported import SessionBuilder
from core.formats.source import Source, is_plain
from core.formats.values import as_json, dict_of, float_of, text_of, time_of

CAST, RESULT = "recording.cast", "result.json"
_RESULT_BYTES = 64 * 1024 * 1024
_PIECE = 16_384


def beside(path: Path) -> Path | None:
    """The recording beside a trajectory."""
    found = path.parent / CAST
    return found if is_plain(found) else None


class Recording:
    """Replayed into the session as far as the steps have come."""

    def __init__(self, path: Path, builder: SessionBuilder, times: Sequence[datetime | None]) -> None:
        """`times` are the steps': an output belongs to the last step that began before it."""
        self._builder, self._offset, self._at = builder, 0, 0
        self._cast = Cast({}, [], [])
        found = beside(path)
        if found is not None:
            try:
                self._cast = _read(found)
            except ReportableError as error:
                builder.warnings.append(error.sentence)
        builder.warnings.extend(f"{CAST}: {p}" for p in self._cast.problems)
        started = time_of(self._cast.header.get("timestamp"))
        self._is_timed = bool(self._cast.events) and started is not None and any(times)
        if self._cast.events and not self._is_timed:
            builder.warnings.append(f"No step says where in {CAST} it is: the recording stands at the end.")

    def until(self, next_step: datetime | None) -> dict[str, int]:
        """Replay what was shown before the next step began; gives the terminal's length where it is known."""
        if not self._is_timed or next_step is None:
            return {"main/agent": self._offset} if self._is_timed and self._offset else {}
        self._replay(next_step)
        return {"main/agent": self._offset}

    def rest(self) -> dict[str, int]:
        """Replay all that was shown after the last step began."""
        self._replay(None)
        return {"main/agent": self._offset} if self._is_timed else {}

    def _replay(self, limit: datetime | None) -> None:
        unwritten, at = b"", None
        while self._at < len(self._cast.events):
            seconds, kind, data = self._cast.events[self._at]
            moment = self._cast.time(seconds, None)
            if limit is not None and moment is not None and moment >= limit:
                break
            self._at += 1
            if kind != "o":
                continue
            at = at or moment
            unwritten += data.encode("utf-8", "replace")
            if len(unwritten) >= _PIECE or not self._cast.is_same_moment(seconds):
                self._offset, unwritten = add_output(self._builder, "agent", self._offset, unwritten, at,
                                                     self._cast.size)
                at = None
        self._offset, _ = add_output(self._builder, "agent", self._offset, unwritten, at, self._cast.size)


def _read(path: Path) -> Cast:
    source = Source(path)
    if not any(is_header(v) for v in source.samples[:1]):
        return Cast({}, [], ["It is no recorded terminal."])
    return read_cast(source)


def end(builder: SessionBuilder, path: Path) -> bool:
    """Scores and end of the trial that a trajectory lies in; False where no result holds them."""
    result = _result(path)
    if not result:
        return False
    rewards = dict_of(dict_of(result.get("verifier_result")).get("rewards"))
    parts = {k: v for k, raw in rewards.items() if (v := float_of(raw)) is not None}
    if parts:
        first = parts.get("reward", next(iter(parts.values())))
        builder.fact(ScoreGiven(ordinal=1, step=builder.steps, total=100 * first if 0 <= first <= 1 else None,
                                parts=parts if len(parts) > 1 else {}, message=f"rewards: {as_json(parts)}"[:500]))
    error = dict_of(result.get("exception_info"))
    if error:
        builder.end("failed", text_of(error.get("exception_type")) or "exception",
                    text_of(error.get("exception_message"))[:2000])
    elif result.get("finished_at"):
        builder.end("finished", "finished")
    else:
        return False
    return True


def _result(path: Path) -> dict[str, Any]:
    """The result of the trial whose `agent` folder a trajectory lies in."""
    found = path.parent.parent / RESULT
    if path.parent.name != "agent" or not is_plain(found):
        return {}
    try:
        source = Source(found)
        result = source.object if source.size <= _RESULT_BYTES else {}
    except ReportableError:
        return {}
    return result if {"trial_name", "task_name"} <= result.keys() else {}
