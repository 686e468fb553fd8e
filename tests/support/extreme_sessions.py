"""Sessions of valid but extreme events of every kind, for what shows, searches, exports or opens a session."""

from __future__ import annotations

import msgspec
from support.extremes import TIMES, Extremes

from core.domain.blob import blob_hash
from core.domain.bounds import INT32, WHOLE
from core.domain.context import ContextDelta, MessageRef, PreviousRange
from core.domain.events import FACT_KINDS, Fact, OpinionFact, SessionCreated, StepAdded, encode_event, make_event
from core.domain.message import Message, encode_message
from core.domain.step import StepBody, encode_body
from core.domain.verdict import Author
from core.protocol.codec import MAX_EVENT

NUMBERS = (1, 2, 3, 4, 5, 6, 7, 8, 99, INT32 - 1, INT32)
IDS = ("g0", "g1", "g2", "g3", "", "x" * 200, "\u202e\x00")
HOSTS = ("main", "gpu", "", "h" * 500, "\u202e\x07", "a/b")
PATHS = ("a.py", "/", "", "../x", "d/" * 200 + "f", "p" * 60_000, "\u202e.py", "a\nb")

FILES = (b"", b"one\ntwo\n", b"\xff\xfe\x00" * 99, b"x" * 300_000, "训\u202e\n".encode() * 500, b"\n" * 20_000,
         b"not json", b"[" * 900)


class ExtremeSession:
    """Events of one session in an order that a log may have; `bodies` and `blobs` as `support.logs.Maker` has them."""

    def __init__(self, seed: int, events: int = 60) -> None:
        self.bodies: list[bytes] = []
        self.blobs: dict[str, bytes] = {}
        plain = Extremes(seed)
        self._random = plain.random
        bodies = tuple(self._hold(encode_body(plain.value(StepBody))) for _ in range(8))
        messages = tuple(self._hold(encode_message(plain.value(Message))) for _ in range(8))
        files = tuple(map(self._hold, FILES))
        missing = blob_hash(b"nowhere")
        step = (0, *NUMBERS)
        shared: dict[str, tuple[object, ...]] = {
            "number": NUMBERS, "step": step, "first": step, "last": step, "guidance": IDS, "request": IDS,
            "host": HOSTS, "path": PATHS, "body": (*bodies, *files, missing), "hash": (*messages, *files, missing),
            "offset": (0, 3, 200, WHOLE), "before": (*files, "", missing), "after": (*files, "", missing),
            "blob": (*files, ""), "terminal": ("sh", "", "t" * 500, "\x1b"),
        }
        self._made = Extremes(seed, shared)
        self._bodies, self._messages = bodies, messages
        self.say(self._made.fact(SessionCreated), Author(kind="server", name="server"))
        kinds = [kind for kind in FACT_KINDS.values() if kind is not SessionCreated]
        for number in range(events):
            kind = StepAdded if number % 4 == 0 else self._random.choice(kinds)
            self.say(self._step(number // 4) if kind is StepAdded and number < 40 else self._made.fact(kind), None)

    def say(self, fact: Fact, author: Author | None) -> None:
        """Add an event; one that is too large to travel is left out."""
        if author is None:
            author = self._made.value(Author)
            if isinstance(fact, OpinionFact) and self._random.random() < 0.7:
                author = msgspec.structs.replace(author, kind="person")
        body = encode_event(make_event(fact, author, at=self._random.choice(TIMES)))
        if len(body) <= MAX_EVENT:
            self.bodies.append(body)

    def _step(self, index: int) -> Fact:
        """A step whose context can be rebuilt, so that what is shown of contexts is reached, too."""
        hashes = self._random.choices(self._messages, k=2)
        entered = tuple(MessageRef(hash=name, role="user", tokens=INT32) for name in hashes)
        parts = (*((PreviousRange(start=0, stop=2 * index),) if index else ()), *entered)
        made = self._made.fact(StepAdded)
        assert isinstance(made, StepAdded)
        head = msgspec.structs.replace(made.head, number=index + 1)
        return msgspec.structs.replace(made, head=head, body=self._random.choice(self._bodies),
                                       context=ContextDelta(parts=parts))

    def _hold(self, data: bytes) -> str:
        name = blob_hash(data)
        self.blobs[name] = data
        return name
