"""A made session of the size that breaks viewers: 100,000 steps on disk, as a replica would hold them.

Synthetic, the same for the same size: observations of 2 KB, every 500th of 1 MB and one of 30 MB, 50 terminals, 5,000
files, a summary every 400 steps, guidance, scores, polls and loops. Messages of the contexts are named, not stored.

    python tests/benchmarks/stress.py [STEPS]     makes it (half a minute) and says where; kept in the temporary folder
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from core.domain.blob import blob_hash
from core.domain.context import ContextDelta, MessageRef, PreviousRange
from core.domain.events import (
    Fact,
    FileChanged,
    GuidanceDelivered,
    GuidanceQueued,
    NoteAdded,
    ScoreGiven,
    SessionCreated,
    SessionStateChanged,
    StepAdded,
    StepStarted,
    SummaryAdded,
    TerminalOutput,
    VerdictGiven,
    encode_event,
    make_event,
)
from core.domain.head import make_head
from core.domain.step import Action, ActionError, Observation, Output, StepBody, Usage, encode_body
from core.domain.task import Task
from core.domain.verdict import Author
from core.store import blobs, log
from core.store.schema import open_log
from core.store.search import SearchIndex
from core.store.sqlite import Connection, transaction

VERSION = 1
"""Of what is made; another one makes it anew."""

SESSION = "stress"
STEPS = 100_000
TERMINALS, FILES = 50, 5_000
MEGABYTE_EVERY, HUGE_AT = 500, 0.5
AGENT, PERSON, RULE = (Author(kind="agent", name="stress"), Author(kind="person", name="li"),
                       Author(kind="rule", name="null_action", version="1"))
_WORDS = [f"{a}{b}" for a in ("lo", "ba", "gra", "ti", "ne", "sho", "ru", "ke", "mi", "tra") for b in
          ("der", "tch", "dient", "ken", "poch", "rd", "n", "ra", "sk", "in", "x", "ps", "ve", "le", "m")]


def make(steps: int = 0, *, index: bool = False) -> Path:
    """The replica's file, of STEPS steps where no number is given; made where it is not there yet, with its search
    index if that is wanted."""
    steps = steps or STEPS
    folder = Path(tempfile.gettempdir()) / f"tiphys-stress-{VERSION}-{steps}"
    path, done = folder / "replica.db", folder / "done"
    if not done.exists():
        folder.mkdir(exist_ok=True)
        for old in folder.glob("replica.*"):
            old.unlink()
        _fill(path, steps)
        done.touch()
    if index and not (folder / "indexed").exists():
        found = SearchIndex(path.with_suffix(".search"))
        found.update(path)
        found.close()
        (folder / "indexed").touch()
    return path


def _fill(path: Path, steps: int) -> None:
    conn = open_log(path)
    conn.execute("PRAGMA synchronous=OFF")
    maker = Maker(steps)
    with transaction(conn):
        log.create(conn, SESSION)
    chunk: list[bytes] = []
    payloads: list[bytes] = []
    for facts in maker.steps():
        for author, at, fact in facts:
            chunk.append(encode_event(make_event(fact, author, at=at)))
        payloads += maker.payloads
        maker.payloads = []
        if len(chunk) > 6000:
            _store(conn, chunk, payloads)
            chunk, payloads = [], []
    _store(conn, chunk, payloads)
    conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    conn.close()


def _store(conn: Connection, chunk: list[bytes], payloads: list[bytes]) -> None:
    with transaction(conn):
        for data in payloads:
            blobs.put(conn, data)
        log.append(conn, SESSION, chunk)


Told = tuple[Author, datetime, Fact]


class Maker:
    """Gives the facts of one step after the other; `payloads` are those that they name."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.payloads: list[bytes] = []
        self._random = random.Random(7)
        self._lines = [" ".join(self._random.choices(_WORDS, k=12)) for _ in range(4000)]
        self._at = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
        self._offsets = [0] * TERMINALS
        self._files: dict[int, str] = {}
        self._length = self._kept = 0
        self._entering: list[MessageRef] = []

    def steps(self) -> Iterator[list[Told]]:
        """The facts, step by step."""
        task = Task(id="stress", title="A made session for measuring", description="Synthetic: no agent did this.")
        yield self._told([(PERSON, SessionCreated(task=task)), (AGENT, SessionStateChanged(state="running"))])
        self._entering = [self._ref("system", 0), self._ref("user", 0)]
        for number in range(1, self.count + 1):
            yield self._told(self._step(number))

    def _told(self, facts: list[tuple[Author, Fact]]) -> list[Told]:
        made = []
        for author, fact in facts:
            self._at += timedelta(seconds=self._random.random() * 6)
            made.append((author, self._at, fact))
        return made

    def _step(self, number: int) -> list[tuple[Author, Fact]]:
        facts: list[tuple[Author, Fact]] = []
        if number % 1500 == 0:
            text = f"Look at the validation loss before you go on ({number})."
            facts += [(PERSON, GuidanceQueued(guidance=f"g{number}", text=text)),
                      (AGENT, GuidanceDelivered(guidance=f"g{number}", step=number))]
        facts.append((AGENT, StepStarted(number=number)))
        body, terminal, printed = self._body(number)
        data = printed[:300].encode()
        facts.append((AGENT, TerminalOutput(host="main", terminal=f"t{terminal}", offset=self._offsets[terminal],
                                            size=len(data), data=data)))
        self._offsets[terminal] += len(data)
        if number % max(1, self.count // FILES) == 0:
            facts.append((AGENT, self._file(number)))
        facts.append((AGENT, self._added(number, body, terminal)))
        if number % 400 == 0:
            facts.append((AGENT, self._summary(number)))
        if number % 5000 == 0:
            facts.append((PERSON, ScoreGiven(ordinal=number // 5000, step=number, total=min(99.0, number / 1100))))
        if number % 97 == 0:
            facts.append((RULE, VerdictGiven(step=number, value="mask", reason="no effect")))
        if number % 2500 == 0:
            facts.append((PERSON, NoteAdded(step=number, text="worth a look")))
        return facts

    def _body(self, number: int) -> tuple[StepBody, int, str]:
        chance, terminal = self._random, number % TERMINALS
        waits = number % 60 >= 55
        size = 1_000_000 if number % MEGABYTE_EVERY == 0 else 2_000
        if number == int(self.count * HUGE_AT) + 1:
            size = 30_000_000
        first = chance.randrange(3000)
        text = "\n".join(self._lines[first : first + size // 70 + 1]) if size < 60_000 else \
            "\n".join(self._lines) * (size // 280_000 + 1)
        if number % 1000 == 999:
            text += f"\nNEEDLE{number} rareword"
        if number % 5 < 2:
            text = f"epoch {number} loss 0.{number % 997:03d}\n" + text
        command = "sleep 30" if waits else f"python train.py --shard {number} --seed {first}"
        action = Action(call_id=f"c{number}", tool="sleep" if waits else "run_command", family="command",
                        arguments={"command": command, "computer_ip": "main"})
        fails = number % 17 == 0 and not waits
        output = Output(text=text[:size], total_chars=size, terminal=f"main/t{terminal}",
                        start=self._offsets[terminal], end=self._offsets[terminal] + 300)
        error = ActionError(kind="exit_code", message="The command ended with exit code 1.") if fails else None
        seen = Observation(call_id=action.call_id, exit_code=int(fails), output=output, error=error)
        thought = " ".join(self._lines[first : first + 3])
        return StepBody(number=number, thought=thought, actions=(action,), observations=(seen,)), terminal, text

    def _added(self, number: int, body: StepBody, terminal: int) -> StepAdded:
        parts: tuple[PreviousRange | MessageRef, ...] = (PreviousRange(start=0, stop=self._kept),) if self._kept else ()
        delta = ContextDelta(parts=(*parts, *self._entering))
        self._kept += len(self._entering)
        self._entering = [self._ref("assistant", number), self._ref("tool", number)]
        data = encode_body(body)
        self.payloads.append(data)
        head = make_head(body, usage=Usage(input_tokens=4000 + self._kept * 60, output_tokens=120, cost_usd=0.002),
                         started_at=self._at, ended_at=self._at + timedelta(seconds=2))
        return StepAdded(head=head, body=blob_hash(data), context=delta,
                         terminals={f"main/t{terminal}": self._offsets[terminal]})

    def _summary(self, number: int) -> SummaryAdded:
        id_ = f"s{number}"
        made = SummaryAdded(id=id_, first=max(1, number - 399), last=number, text=" ".join(self._lines[:5]),
                            context=ContextDelta(parts=(PreviousRange(start=0, stop=self._kept),)))
        self._kept = 2
        self._entering = [self._ref("user", number), self._ref("assistant", number)]
        return made

    def _file(self, number: int) -> FileChanged:
        at = number % FILES
        data = f"# file {at}, written at step {number}\n{self._lines[at % 4000]}\n".encode()
        self.payloads.append(data)
        before, after = self._files.get(at, ""), blob_hash(data)
        self._files[at] = after
        return FileChanged(host="main", path=f"src/part_{at // 100}/module_{at}.py", before=before, after=after,
                           size=len(data), step=number)

    @staticmethod
    def _ref(role: str, number: int) -> MessageRef:
        return MessageRef(hash=blob_hash(f"{role}{number}".encode()), role=role, tokens=60, source=f"step:{number}")


if __name__ == "__main__":
    began = time.monotonic()
    made_at = make(int(sys.argv[1]) if sys.argv[1:] else STEPS, index="--index" in sys.argv)
    print(made_at, f"{made_at.stat().st_size / 1e6:.0f} MB, {time.monotonic() - began:.0f} s")
