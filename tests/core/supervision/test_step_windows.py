"""Rules over a long session: they say what they say of one that is held; its steps are read once for all of them."""

import threading
import weakref
from pathlib import Path

import pytest
from support.real_data import real

from core.domain.errors import ReportableError
from core.domain.events import Placed
from core.domain.step import StepBody, decode_body
from core.domain.trajectory import Trajectory, fold
from core.formats import registry
from core.supervision import gather as gathering
from core.supervision.gather import gather
from core.supervision.propose import findings
from core.supervision.rule import Evidence, Finding, Rule
from core.supervision.rules import RULES
from core.supervision.step_windows import StepWindows

FOREIGN = Path(__file__).parents[1] / "formats" / "foreign"


def sessions() -> list[tuple[Trajectory, dict[str, bytes]]]:
    found = []
    for path in [*sorted(FOREIGN.glob("*.jsonl")), *sorted(real("swe-agent").glob("*.traj"))]:
        try:
            for one in registry.read(path):
                placed = (Placed(session=one.session, seq=seq, body=body) for seq, body in enumerate(one.bodies, 1))
                found.append((fold(one.session, placed), dict(one.blobs)))
        except ReportableError:
            continue
    return found


def test_a_long_session_is_judged_as_a_short_one_is(monkeypatch) -> None:
    spoke = 0
    for trajectory, held in sessions():
        def body_of(name: str, held=held) -> StepBody:
            return decode_body(held[name])

        whole = findings(RULES.get(), gather(trajectory, body_of))
        with monkeypatch.context() as patch:
            patch.setattr(gathering, "MOST_HELD", 0)
            patch.setattr(gathering, "WINDOW", 1)
            evidence = gather(trajectory, body_of)
            assert isinstance(evidence.steps, StepWindows)
            assert [body.number for body in evidence.steps] == [entry.head.number for entry in trajectory.steps]
            assert findings(RULES.get(), evidence) == whole
        spoke += any(whole.values())
    assert spoke > 3


def steps(read: list[int]) -> StepWindows:
    """Ten windows of two steps; `read` gets the number of each that is read, and of the one behind them."""
    def load(window: int) -> list[StepBody] | None:
        read.append(window)
        return [StepBody(number=2 * window + n) for n in (1, 2)] if window < 10 else None

    return StepWindows(load)


def test_steps_are_read_once_for_all_who_go_through_them_side_by_side() -> None:
    read: list[int] = []
    windows = steps(read)

    def once() -> list[int]:
        return [body.number for body in windows]

    def twice() -> list[int]:
        return once() + once()

    def a_few() -> list[int]:
        return [body.number for body, _ in zip(windows, range(5), strict=False)]

    every = list(range(1, 21))
    found = windows.run_together([once, twice, a_few, list, twice, once])
    assert found == [every, every * 2, every[:5], [], every * 2, every]
    assert read == [*range(11)] * 2
    assert (len(windows), windows[3].number, [b.number for b in windows[17:]]) == (20, 4, [18, 19, 20])


def test_who_breaks_off_holds_nobody_up(caplog) -> None:
    windows = steps([])
    evidence = Evidence(steps=windows, several={}, jobs=[])

    def breaks(evidence):
        next(iter(evidence.steps))
        raise ValueError("broken")
        yield

    def all_steps(evidence):
        yield from (Finding(body.number, "x") for body in evidence.steps)

    rules = [Rule("breaks", "1", "", breaks), Rule("all", "1", "", all_steps)]
    assert findings(rules, evidence) == {"breaks": None, "all": {n: {0: "x"} for n in range(1, 21)}}
    assert "the rule breaks broke" in caplog.text


def test_all_is_read_in_one_thread_and_the_last_window_is_let_go_of_before_the_next() -> None:
    """What each thread allocates stays with it: sessions took twice their file where any of them read on."""
    readers: set[int] = set()
    last: list[weakref.ref[list[StepBody]]] = []
    held: list[bool] = []

    class Window(list[StepBody]):
        """A list that can be watched."""

    def load(window: int) -> list[StepBody] | None:
        readers.add(threading.get_ident())
        held.append(bool(last) and last[-1]() is not None)
        made = Window([StepBody(number=window + 1)])
        last.append(weakref.ref(made))
        return made if window < 10 else None

    windows = StepWindows(load)
    assert windows.run_together([lambda: sum(1 for _ in windows)] * 5) == [10] * 5
    assert readers == {threading.get_ident()} and not any(held)


def test_what_nobody_came_to_is_read_all_the_same() -> None:
    read: list[int] = []
    windows = steps(read)
    assert windows.run_together([lambda: next(iter(windows)).number]) == [1]
    assert read == [*range(11)]


def test_what_cannot_be_read_ends_it_for_all() -> None:
    def load(window: int) -> list[StepBody] | None:
        if window == 2:
            raise OSError("gone")
        return [StepBody(number=window + 1)]

    def go_through() -> int:
        return sum(1 for _ in windows)

    windows = StepWindows(load)
    with pytest.raises(OSError, match="gone"):
        windows.run_together([go_through, go_through])
    with pytest.raises(OSError, match="gone"):
        list(StepWindows(load))


def test_no_other_program_tells_of_jobs() -> None:
    """Else `gather` would have to look for them in long sessions, too."""
    bodies = [decode_body(held[entry.body]) for trajectory, held in sessions() for entry in trajectory.steps]
    assert bodies and not any(one.job for body in bodies for one in body.observations)


@pytest.mark.parametrize("count", [0, 1])
def test_nobody_who_goes_through_them_is_no_reason_to_wait(count: int) -> None:
    assert steps([]).run_together([lambda: 7] * count) == [7] * count
