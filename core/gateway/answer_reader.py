"""Reads an answer while it is passed on: its bytes, what it says so far, and how it ended."""

import zlib

import msgspec

from core.gateway.dialect import Answer, AnswerStream, Dialect
from core.gateway.http_head import MOST_ANSWER, Head, bad_http
from core.gateway.sse import EventReader, loose_json


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
        self._raw = bytearray()
        self._plain: bytearray | None = None
        """The same without its coding, where it has one."""
        self._unpacked: zlib._Decompress | None = None
        self._events = EventReader()
        self._stream: AnswerStream = dialect.stream()
        self._status = 0
        self._first_byte_s: float | None = None
        self._in_events = False

    def begin(self, head: Head, first_byte_s: float) -> None:
        """The head came, so long after the request. Raises InvalidInput (bad_http) for a coding that nobody here reads:
        the agent must not act on what is not logged."""
        self._status, self._first_byte_s = head.status, first_byte_s
        self._in_events = "event-stream" in head.field("content-type").lower()
        coding = head.field("content-encoding").lower()
        if coding in ("gzip", "x-gzip", "deflate"):
            self._plain, self._unpacked = bytearray(), zlib.decompressobj(47)  # of gzip and of zlib
        elif coding not in ("", "identity"):
            raise bad_http(f"the coding {coding[:40]!r}, which was not asked for")

    def take(self, piece: bytes) -> bytes:
        """The next piece of the body; gives it without its coding. Raises InvalidInput (bad_http) where it cannot be
        unpacked."""
        self._raw += piece
        if self._plain is not None:
            piece = self._unpack(piece)
            self._plain += piece
        if self._in_events:
            for name, data in self._events.take(piece):
                self._stream.take(name, data)
        return piece

    def _unpack(self, piece: bytes) -> bytes:
        assert self._plain is not None
        assert self._unpacked is not None
        try:
            made = self._unpacked.decompress(piece, MOST_ANSWER - len(self._plain) + 1)
        except zlib.error as error:
            raise bad_http(f"a body that cannot be unpacked ({error})") from error
        if len(self._plain) + len(made) > MOST_ANSWER:
            raise bad_http(f"a body of more than {MOST_ANSWER:,} bytes unpacked")
        return made

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
        raw = bytes(self._raw)
        plain = raw if self._plain is None else bytes(self._plain)
        is_good = 200 <= self._status < 300
        answer = self._answer(plain) if is_good and raw else None
        problem = answer.problem if answer else "" if is_good or not self._status else (
            f"The endpoint answered {self._status}: {plain[:300].decode('utf-8', 'replace')}")
        cut_off = is_good and (answer is None or not answer.is_whole) and not problem
        return Heard(status=self._status, raw=raw, answer=answer, problem=problem or (
            "The answer broke off." if cut_off else ""), first_byte_s=self._first_byte_s)

    def _answer(self, raw: bytes) -> Answer | None:
        if self._in_events:
            for name, data in self._events.end():
                self._stream.take(name, data)
            return self._stream.answer()
        found = loose_json(raw)
        if isinstance(found, list):  # Gemini's stream without events
            for one in found:
                if isinstance(one, dict):
                    self._stream.take("", one)
            return self._stream.answer()
        return self.dialect.whole(found) if isinstance(found, dict) else None
