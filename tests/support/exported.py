"""A log file with a session in it, as an export reads it."""

from __future__ import annotations

from pathlib import Path

from support.logs import RULE, Maker, fill

from core.domain.events import VerdictGiven
from core.domain.verdict import Author
from core.store.writer import Writer

PLAIN = "think"


def talking_session(seed: int = 5, steps: int = 6, title: str = "Reproduce the baseline") -> Maker:
    """Steps without tool calls (their templates are small), a summary after them, three steps more, one masked."""
    made = Maker(seed, title)
    made.plain = True
    for _ in range(steps):
        made.add_step(fails=False)
    made.summarise()
    for _ in range(3):
        made.add_step(fails=False)
    made.say(VerdictGiven(step=2, value="mask", reason="bad"), RULE)
    return made


JUDGE = Author(kind="judge", name="judge-1", version="1")


def judge_kept(maker: Maker) -> None:
    """A judge keeps every step."""
    for step in range(1, maker.step + 1):
        maker.say(VerdictGiven(step=step, value="keep"), JUDGE)


def write_log(path: Path, *, judged: bool = True, **sessions: Maker) -> Path:
    """Store sessions in a new log file; a judge keeps every step, what else was said of them stays."""
    with Writer(path) as writer:
        for name, maker in sessions.items():
            if judged:
                judge_kept(maker)
            writer.do_blocking(lambda conn, name=name, maker=maker: fill(conn, name, maker.bodies, maker.blobs))
    return path
