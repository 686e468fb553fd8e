"""V1 to V7 on the product's own Trajectory and Step panels, with 100,000 steps on disk; one JSON line each.

    python tests/benchmarks/run.py view          all of them (the first time half a minute more, to make the session)
    python tests/benchmarks/run.py V3 V5         some

Baseline and candidate run in turn in one process. `cpu` is the processor time of the GUI thread: what counts on a
busy machine.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import rig
import stress
import view_rig as view
from PySide6.QtCore import QAbstractEventDispatcher, QObject, QSortFilterProxyModel, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QListView, QPlainTextEdit

from app.desk.workplace import Workplace
from app.step.panel import build as build_step
from app.trajectory.model import TrajectoryModel
from app.trajectory.panel import build as build_trajectory
from app.trajectory.step_list import StepList
from core.domain.folded import decode_folded, encode_folded
from core.domain.trajectory import Trajectory

SMALL = 10_000


def opened(place: Workplace, step: int | None = None):
    """The Trajectory panel with the session open and whole."""
    panel = build_trajectory(place, None)
    view.shown(panel)
    place.cursor.move(stress.SESSION, step)
    view.until(lambda: place.desks.local.progress(stress.SESSION) == 1)
    view.frame(panel)
    return panel


def kept_fold(path: Path) -> None:
    """Open the session once, as any reader did before: what is folded is kept beside the replica."""
    folds = path.with_suffix(".folds")
    with view.place_over(path) as place:
        place.desks.local.trajectory(stress.SESSION)
        if place.desks.local.progress(stress.SESSION) < 1:
            for old in folds.glob("*.fold"):
                old.unlink()
            view.until(lambda: place.desks.local.progress(stress.SESSION) == 1 and any(folds.glob("*.fold")))


def v1(path: Path) -> None:
    """Attach to first paint; the first opening ever; a million rows."""
    walls, cpus, ratios, base = [], [], [], []
    with view.place_over(path) as place:
        texts = view.previews(place, stress.SESSION, stress.STEPS)
    for _ in range(view.ROUNDS):
        with view.Clock() as old:
            listed = view.WrappedList(texts)
            view.shown(listed)
            view.frame(listed)
        with view.place_over(path) as place:
            panel = build_trajectory(place, None)
            view.shown(panel)
            view.frame(panel)
            with view.Clock() as new:
                place.cursor.move(stress.SESSION)
                view.frame(panel)
            assert panel.list.model().rowCount() > 0.8 * stress.STEPS
        walls.append(new.wall)
        cpus.append(new.cpu)
        base.append(old.wall)
        ratios.append(old.cpu / new.cpu)
    rig.told("V1", ratio=view.median(ratios), first_paint_ms=view.median(walls), first_paint_cpu_ms=view.median(cpus),
             baseline_ms=view.median(base), **_first_ever(path), **_million(path), **view.machine())


def _first_ever(path: Path) -> dict[str, float]:
    with view.copy_of(path) as copy:
        for fold in copy.with_suffix(".folds").glob("*.fold"):
            fold.unlink()
        with view.place_over(copy) as place:
            panel = build_trajectory(place, None)
            view.shown(panel)
            view.frame(panel)
            with view.Clock() as first:
                place.cursor.move(stress.SESSION)
                view.frame(panel)
            with Stalls() as stalls, view.Clock() as whole:
                view.until(lambda: place.desks.local.progress(stress.SESSION) == 1)
    return {"first_ever_paint_ms": round(first.wall, 1), "first_ever_whole_s": round(whole.wall / 1000, 1),
            "first_ever_longest_cpu_ms": round(stalls.longest, 1)}


def _million(path: Path) -> dict[str, float]:
    """Ten times the same columns: nothing else of a session of a million steps is in memory either."""
    with view.place_over(path) as place:
        held = place.desks.local.trajectory(stress.SESSION)
        big = Trajectory(stress.SESSION)
        for seq, number in zip(held.steps.seqs, held.steps.numbers, strict=True):
            assert number
            big.seq = seq
        steps = big.steps
        for name in ("seqs", "shape_of", "key_of", "started", "ended", "cost", "tokens_in", "tokens_out"):
            getattr(steps, name).extend(getattr(held.steps, name) * 10)
        steps.numbers.extend(range(1, 10 * len(held.steps) + 1))
        steps.flags = held.steps.flags * 10
        steps.shapes, big.items.steps, big.row = held.steps.shapes, 10 * len(held.steps), held.row
        data = encode_folded(big)
        panel = StepList()
        model = TrajectoryModel(panel)
        panel.setModel(model)
        view.shown(panel)
        view.frame(panel)
        with view.Clock() as clock:
            model.show(decode_folded(stress.SESSION, data, place.desks.local.replica.reader(stress.SESSION)))
            panel.follow()
            view.frame(panel)
    return {"million_ms": round(clock.wall, 1), "million_cpu_ms": round(clock.cpu, 1)}


def v2(path: Path) -> None:
    """Memory for 10,000 steps; each side in a process of its own."""
    told = {}
    for side in ("product", "baseline"):
        done = subprocess.run([sys.executable, __file__, f"memory-{side}", str(path)], check=True, capture_output=True)
        told[side] = json.loads(done.stdout.splitlines()[-1])
    rig.told("V2", ratio=round(told["baseline"] / told["product"], 1), mb_per_10000=told["product"],
             baseline_mb_per_10000=told["baseline"])


def memory(side: str, path: Path) -> None:
    """What 100,000 steps in a list add to a process that has shown a short one."""
    with view.place_over(path) as place:
        if side == "product":
            panel = build_trajectory(place, None)
            view.shown(panel)
            view.frame(panel)
            before = view.rss_mb()
            place.cursor.move(stress.SESSION)
            view.until(lambda: place.desks.local.progress(stress.SESSION) == 1)
            view.frame(panel)
        else:
            view.frame(view.shown(view.WrappedList(["one step"] * 10)))
            place.desks.local.trajectory(stress.SESSION)
            before = view.rss_mb()
            panel = view.WrappedList(view.previews(place, stress.SESSION, stress.STEPS))
            view.frame(view.shown(panel))
        print(round((view.rss_mb() - before) / (stress.STEPS / 10_000), 2))


def v3(path: Path) -> None:
    """Jumps to random steps by the cursor, as find, links and the other panels make them."""
    chance = random.Random(3)
    with view.place_over(path) as place:
        panel = opened(place, 1)
        walls, cpus = [], []
        for _ in range(200):
            number = chance.randrange(1, stress.STEPS)
            with view.Clock() as clock:
                place.cursor.to_step(number)
                view.frame(panel)
            assert panel.list.model().step_of_row(panel.list.currentIndex().row()) == number
            walls.append(clock.wall)
            cpus.append(clock.cpu)
    rig.told("V3", p99_ms=round(view.p99(walls), 1), p99_cpu_ms=round(view.p99(cpus), 1), p50_ms=view.median(walls),
             p50_cpu_ms=view.median(cpus), **view.machine())


def v4(path: Path) -> None:
    """Steps that come while the tail is followed: a frame of 1, 17 and 170, with 10,000 and with 100,000 before."""
    told: dict[int, dict[int, tuple[list[float], list[float]]]] = {}
    for source in (stress.make(SMALL), path):
        kept_fold(source)
        with view.copy_of(source) as copy, view.place_over(copy) as place:
            panel = opened(place)
            count = len(place.desks.local.trajectory(stress.SESSION).steps)
            told[count] = {each: _frames(place, panel, each) for each in (1, 17, 170)}
    ratios = _uniform(path, told[stress.STEPS][1][1])
    big, small = told[stress.STEPS], told[SMALL]
    rig.told("V4", ratio=ratios, growth=round(view.median(big[1][1]) / view.median(small[1][1]), 2),
             **{f"{each}_a_frame": _told(big[each], small[each]) for each in (1, 17, 170)}, **view.machine())


def _told(big: tuple[list[float], list[float]], small: tuple[list[float], list[float]]) -> dict[str, float]:
    return {"p99_ms": round(view.p99(big[0]), 1), "p99_cpu_ms": round(view.p99(big[1]), 1),
            "p50_cpu_ms": view.median(big[1]), "p50_cpu_ms_at_10000": view.median(small[1])}


def _frames(place: Workplace, panel, each: int) -> tuple[list[float], list[float]]:
    walls, cpus = [], []
    replica = place.desks.local.replica
    for _ in range(40):
        bodies = more_steps(place, each)
        head = replica.head(stress.SESSION)
        replica._writer.do_blocking(lambda conn, b=bodies, h=head: _place(conn, h, b))
        with view.Clock() as clock:
            for listener in replica.events_added:
                listener(stress.SESSION, head + 1, head + len(bodies))
            place.desks.local._fold_changed()
            view.frame(panel)
        assert panel.list.rows_in_sight()[-1] == panel.list.model().rowCount() - 1
        walls.append(clock.wall)
        cpus.append(clock.cpu)
    return walls, cpus


def _place(conn, head: int, bodies: list[bytes]) -> None:
    from core.store import log

    log.place(conn, stress.SESSION, head + 1, bodies)


def more_steps(place: Workplace, count: int) -> list[bytes]:
    """Events of the next steps."""
    from core.domain.events import encode_event, make_event

    next_number = place.desks.local.trajectory(stress.SESSION).steps.numbers[-1] + 1
    maker = stress.Maker(stress.STEPS)
    made = []
    for number in range(next_number, next_number + count):
        body, terminal, _ = maker._body(number * 60)
        body = type(body)(number=number, actions=body.actions, observations=body.observations)
        made.append(encode_event(make_event(maker._added(number, body, terminal), stress.AGENT)))
    return made


def _uniform(path: Path, ours: list[float]) -> float:
    """How much longer a uniform list view with a Python model takes for one more row."""
    with view.place_over(path) as place:
        model = view.PreviewModel(view.previews(place, stress.SESSION, stress.STEPS))
    listed = view.UniformView(model)
    view.frame(view.shown(listed))
    cpus = []
    for number in range(10):
        with view.Clock() as clock:
            model.add([f"step {number}"])
            listed.scrollToBottom()
            view.frame(listed)
        cpus.append(clock.cpu)
    return round(view.median(cpus) / view.median(ours), 1)


def v5(path: Path) -> None:
    """From the key that completes a word to the painted hits, over the whole text: the time, and the window's part."""
    stress.make(stress.STEPS, index=True)
    told: dict[str, object] = {}
    with view.place_over(path) as place:
        texts = view.previews(place, stress.SESSION, stress.STEPS)
        panel = opened(place, 1)
        panel.find_box.setText("rareword")  # starts the worker, as any first search does
        view.until(lambda: panel.list.model().active.model.found)
        for words in ("rareword", "loss"):
            walls, cpus, base = [], [], []
            for _ in range(view.ROUNDS):
                base.append(_proxy(texts, words))
                panel.find_box.setText("q" + words[:-1])
                panel.find_box.home(False)
                view.frame(panel)
                assert not panel.list.model().active.model.found
                with view.Clock() as clock:
                    QTest.keyClick(panel.find_box, Qt.Key.Key_Delete)
                    panel.find_box.end(False)
                    QTest.keyClick(panel.find_box, words[-1])
                    view.until(lambda: panel.list.model().active.model.found)
                    view.frame(panel)
                walls.append(clock.wall)
                cpus.append(clock.cpu)
            told[words] = {"ratio": round(view.median(base) / view.median(cpus), 1), "ms": view.median(walls),
                           "cpu_ms": view.median(cpus), "baseline_cpu_ms": view.median(base), "hits": panel.hits.text()}
    rig.told("V5", **told, **view.machine())


def _proxy(texts: list[str], words: str) -> float:
    proxy = QSortFilterProxyModel()
    model = view.PreviewModel(texts)
    proxy.setSourceModel(model)
    listed = QListView()
    listed.setUniformItemSizes(True)
    listed.setModel(proxy)
    view.frame(view.shown(listed))
    with view.Clock() as clock:
        proxy.setFilterFixedString(words)
        view.frame(listed)
    return clock.cpu


def v7(path: Path) -> None:
    """A step whose observation is of 1 MB, and of 30 MB: its first paint, and the longest time without the window."""
    told: dict[str, object] = {}
    for name, number in (("1_mb", stress.MEGABYTE_EVERY), ("30_mb", int(stress.STEPS * stress.HUGE_AT) + 1)):
        firsts, longest, ratios = [], [], []
        for _ in range(view.ROUNDS):
            with view.place_over(path) as place:
                panel = build_step(place, None)
                view.shown(panel)
                place.cursor.move(stress.SESSION, 3)
                view.until(lambda: place.desks.local.progress(stress.SESSION) == 1)
                view.frame(panel)
                with Stalls() as stalls, view.Clock() as clock:
                    place.cursor.to_step(number)
                    view.until(lambda p=panel: p.text.text.count("\n") > 500)
                    view.frame(panel)
                base = _whole(place, number)
            firsts.append(clock.wall)
            longest.append(stalls.longest)
            ratios.append(base / clock.cpu)
        told[name] = {"ratio": view.median(ratios), "first_paint_ms": view.median(firsts),
                      "longest_cpu_ms": round(max(longest), 1)}
    rig.told("V7", **told, **view.machine())


def _whole(place: Workplace, number: int) -> float:
    from core.domain.step import decode_body

    data = place.desks.local.replica.body(place.desks.local.trajectory(stress.SESSION).step(number).body)
    assert data is not None
    text = decode_body(data).observations[0].output.text
    box = QPlainTextEdit()
    view.shown(box)
    view.frame(box)
    with view.Clock() as clock:
        box.setPlainText(text)
        view.frame(box)
    return clock.cpu


class Stalls:
    """The longest time in ms of processor time that one turn of the loop took while this was open."""

    def __enter__(self) -> Stalls:
        self.longest, self._began = 0.0, time.thread_time()
        dispatcher = QAbstractEventDispatcher.instance()
        self._links = [signal.connect(self._look, Qt.ConnectionType.DirectConnection)
                       for signal in (dispatcher.awake, dispatcher.aboutToBlock)]
        return self

    def __exit__(self, *_: object) -> None:
        self._look()
        for link in self._links:
            QObject.disconnect(link)

    def _look(self) -> None:
        now = time.thread_time()
        self.longest, self._began = max(self.longest, (now - self._began) * 1000), now


def main(names: list[str]) -> None:
    """Measure what is named."""
    view.application()
    if names and names[0].startswith("memory-"):
        memory(names[0].partition("-")[2], Path(names[1]))
        return
    path = stress.make()
    kept_fold(path)
    for name in names or ["V1", "V2", "V3", "V4", "V5", "V6", "V7"]:
        if name == "V6":
            subprocess.run([sys.executable, str(Path(__file__).with_name("bench_view_live.py"))], check=True)
        else:
            {"V1": v1, "V2": v2, "V3": v3, "V4": v4, "V5": v5, "V7": v7}[name](path)


if __name__ == "__main__":
    main(sys.argv[1:])
