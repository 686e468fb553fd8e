"""Guidance against a small model of what must happen, in any order of advice, changes, steps and repeats."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from support.agents import Log, memory

from core.agents.delivery import Inbox
from core.agents.journal import Journal
from core.domain.events import (
    GuidanceChangeRefused,
    GuidanceDelivered,
    GuidanceEdited,
    GuidanceWithdrawn,
    SessionStateChanged,
)
from core.domain.verdict import Author

NAMES = ("a", "b", "c")
MOVES = st.one_of(
    st.tuples(st.just("guide"), st.sampled_from(NAMES)),
    st.tuples(st.just("edit"), st.sampled_from(NAMES)),
    st.tuples(st.just("withdraw"), st.sampled_from(NAMES)),
    st.tuples(st.sampled_from(["step", "give", "again", "reopen"]), st.just("")),
)


class Expected:
    """What must come out, told in plain words."""

    def __init__(self) -> None:
        self.queue: dict[str, str] = {}
        self.delivered: dict[str, int] = {}
        self.known: set[str] = set()
        self.decided: list[tuple[str, str, int | None]] = []
        self.step = 0

    def event(self, move: str, name: str, n: int) -> None:
        if move == "guide" and name not in self.known:
            self.known.add(name)
            self.queue[name] = f"text {n}"
        elif move != "guide" and name in self.queue:
            self.decided.append((move, name, None))
            if move == "edit":
                self.queue[name] = f"text {n}"
            else:
                del self.queue[name]
        elif move != "guide":
            self.decided.append(("refuse", name, self.delivered.get(name)))

    def bind(self) -> list[tuple[str, str]]:
        self.step += 1
        bound = list(self.queue.items())
        self.delivered.update(dict.fromkeys(self.queue, self.step))
        self.decided += [("deliver", name, self.step) for name in self.queue]
        self.queue.clear()
        return bound


@settings(max_examples=40, deadline=None)
@given(st.lists(MOVES, max_size=25))
def test_every_change_is_decided_once_and_every_advice_delivered_once(moves: list[tuple[str, str]]) -> None:
    with tempfile.TemporaryDirectory(dir=memory()) as folder:
        path = Path(folder) / "journal.db"
        journal, log, expected, given_upto = Journal(path, "s"), Log(), Expected(), 0
        pending: list[tuple[str, str, int]] = []
        for n, (move, name) in enumerate(moves):
            inbox = Inbox(journal)
            if move == "guide":
                log.guide(name, f"text {n}")
                pending.append((move, name, n))
            elif move in ("edit", "withdraw"):
                log.change(name, f"r{n}", f"text {n}" if move == "edit" else None)
                pending.append((move, name, n))
            elif move == "give":
                inbox.take(given_upto + 1, log.bodies[given_upto:])
                given_upto = len(log.bodies)
                for decided in pending:
                    expected.event(*decided)
                pending.clear()
            elif move == "again":
                inbox.rewind()
                inbox.take(1, log.bodies[:given_upto])
            elif move == "reopen":
                journal.close()
                journal = Journal(path, "s")
            else:
                with journal.transaction("begin"):
                    bound = [(h.id, h.text) for h in inbox.bind(expected.step + 1)]
                assert bound == expected.bind()
        assert _decided(journal) == expected.decided
        journal.close()


def _decided(journal: Journal) -> list[tuple[str, str, int | None]]:
    decided: list[tuple[str, str, int | None]] = []
    for fact in journal.facts():
        match fact:
            case GuidanceEdited():
                decided.append(("edit", fact.guidance, None))
            case GuidanceWithdrawn():
                decided.append(("withdraw", fact.guidance, None))
            case GuidanceChangeRefused():
                decided.append(("refuse", fact.guidance, fact.step))
            case GuidanceDelivered():
                decided.append(("deliver", fact.guidance, fact.step))
    return decided


def test_what_the_server_decided_itself_is_obeyed(tmp_path: Path) -> None:
    server = Author(kind="server", name="server")
    inbox, log = Inbox(Journal(tmp_path / "journal.db", "s")), Log()
    log.guide("a", "one")
    log.guide("b", "two")
    log.add(GuidanceEdited(guidance="a", text="one, edited", request="r1"), server)
    log.add(GuidanceWithdrawn(guidance="b", request="r2"), server)
    log.add(GuidanceWithdrawn(guidance="a", request="r3"), Author(kind="agent", name="s"))
    log.give(inbox)
    assert [h.text for h in inbox.waiting()] == ["one, edited"], "the echo of an agent's own event changes nothing"


def test_controls_count_once_and_the_newest_wish_holds(tmp_path: Path) -> None:
    inbox, log = Inbox(Journal(tmp_path / "journal.db", "s")), Log()
    for control in ("pause", "interrupt", "resume", "stop"):
        log.control(control)
    assert log.give(inbox).controls == ("pause", "interrupt", "resume", "stop")
    assert inbox.wish == "stop"
    inbox.done("stop")
    inbox.rewind()
    assert log.give(inbox).controls == () and inbox.wish is None
    log.add(SessionStateChanged(state="paused", reason="paused_by_person"))
    assert log.give(inbox, 5).controls == ("pause",) and inbox.server_state() == "paused"
    assert inbox.server_state() is None
