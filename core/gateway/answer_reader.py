"""Reads an answer while it is passed on: its bytes, what it says so far, and how it ended."""

from __future__ import annotations

import msgspec

from core.gateway.dialect import Answer, AnswerStream, Dialect, Json
from core.gateway.http_head import Head
from core.gateway.sse import EventReader


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """How an exchange ended: the status, the answer's bytes, and the answer where it was understood."""

    status: int = 0
    raw: bytes = b""
    answer: Answer | None = None
    is_discarded: bool = False
    problem: str = ""
    first_byte_s: float | None = None


class AnswerReader:
    """One answer."""

    def __init__(self, dialect: Dialect, is_stream: bool) -> None:
        self.dialect, self.is_stream = dialect, is_stream
        self._pieces: list[bytes] = []
        self._events = EventReader()
        self._stream: AnswerStream = dialect.stream()
        self._status = 0
        self._first_byte_s: float | None = None
        self._in_events = False

    def begin(self, head: Head, first_byte_s: float) -> None:
        """The head came, so long after the request."""
        self._status, self._first_byte_s = head.status, first_byte_s
        self._in_events = "event-stream" in head.field("content-type").lower()

    def take(self, piece: bytes) -> None:
        """The next piece of the body."""
        self._pieces.append(piece)
        if self._in_events:
            for name, data in self._events.take(piece):
                self._stream.take(name, data)

    @property
    def text(self) -> str:
        """The words so far."""
        return self._stream.text

    @property
    def may_be_over(self) -> bool:
        """Whether the agent may act on what came: a stream that told its end, or an answer in one piece."""
        return not self._in_events or self._stream.is_over

    def ending(self) -> Heard:
        """How it stands now."""
        raw = b"".join(self._pieces)
        is_good = 200 <= self._status < 300
        answer = self._answer(raw) if is_good and raw else None
        problem = answer.problem if answer else "" if is_good or not self._status else (
            f"The endpoint answered {self._status}: {raw[:300].decode('utf-8', 'replace')}")
        cut_off = is_good and (answer is None or not answer.is_whole) and not problem
        return Heard(status=self._status, raw=raw, answer=answer, problem=problem or (
            "The answer broke off." if cut_off else ""), first_byte_s=self._first_byte_s)

    def _answer(self, raw: bytes) -> Answer | None:
        if self._in_events:
            for name, data in self._events.end():
                self._stream.take(name, data)
            return self._stream.answer()
        try:
            found = msgspec.json.decode(raw)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return None
        if isinstance(found, list):  # Gemini's stream without events
            for one in found:
                if isinstance(one, dict):
                    self._stream.take("", one)
            return self._stream.answer()
        whole: Json = found if isinstance(found, dict) else {}
        return self.dialect.whole(whole)
