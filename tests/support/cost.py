"""What work costs, judged by a measure of the same machine in the same run: a unit of work, or a smaller piece of the
same work. Bounds in seconds would judge the machine.

Costs are processor time of the calling thread, and the least of some rounds: what other programs do to one round they
do not do to all. What other tests left in memory is not looked through meanwhile: late in a run that costs more than
many a piece of work.
"""

from __future__ import annotations

import gc
import json
import re
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_RECORDS = [{"number": n, "tool": f"tool{n % 7}", "text": f"epoch {n} loss 0.{n:04d} " * 4} for n in range(2000)]
_WORD = re.compile(r"(\w+) (\d+)\b")


def piece_of_work() -> int:
    """One unit: 2,000 records written as JSON, read again, searched and sorted. About 10 ms."""
    records = json.loads(json.dumps(_RECORDS))
    found = [match.group(1) for record in records for match in _WORD.finditer(record["text"])]
    records.sort(key=lambda record: (record["tool"], -record["number"]))
    return len(found) + len({(record["tool"], len(record["text"])): record for record in records})


def cost_s(work: Callable[[], object], rounds: int = 3) -> float:
    """The least processor time in seconds that a round of some work took."""
    return min(spent_s(work) for _ in range(rounds))


def spent_s(work: Callable[[], object]) -> float:
    """The processor time in seconds of one round."""
    with no_old_garbage():
        began = time.thread_time()
        work()
        return time.thread_time() - began


@contextmanager
def no_old_garbage() -> Iterator[None]:
    """Objects that are there already are not collected, and not looked through by the collector, meanwhile."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def unit_s(piece: Callable[[], object] = piece_of_work, rounds: int = 5) -> float:
    """What a unit of work costs now, in seconds of processor time: as a rule, not at best."""
    return statistics.median(spent_s(piece) for _ in range(rounds))


def assert_linear(work: Callable[[int], object], size: int, *, times: int = 8) -> None:
    """Work on `times` the size costs at most twice `times` as much, where what is quadratic costs `times` squared.

    The smaller size should cost a millisecond or more.
    """
    small, large = cost_s(lambda: work(size)), cost_s(lambda: work(times * size))
    assert large < 2 * times * small, f"{times} times the size costs {large / small:.1f} times as much"
