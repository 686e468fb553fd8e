"""V8: 10,000 sessions in the list: its first paint, each key of a filter, and a change that comes while it is read.

Baseline and product run in turn in one process; `cpu` is the processor time of the GUI thread.
"""

from __future__ import annotations

from pathlib import Path

import many_sessions
import rig
import view_rig as view
from PySide6.QtCore import QSortFilterProxyModel
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QListView

from app.sessions.panel import build


def main() -> None:
    """Print the figures."""
    view.application()
    path = many_sessions.make()
    rounds = [_round(path) for _ in range(view.ROUNDS)]
    middle = {name: view.median([one[name] for one in rounds]) for name in rounds[0]}
    ratios = {"ratio_paint": round(middle["baseline_paint_ms"] / middle["paint_cpu_ms"], 1),
              "ratio_key": round(middle["baseline_key_ms"] / middle["key_cpu_ms"], 1)}
    rig.told("sessions", **ratios, **middle, **view.machine())


def _round(path: Path) -> dict[str, float]:
    with view.place_over(path) as place:
        titles = [f"{r.title} {r.task} {r.model} {r.state}" for r in place.desks.rows()]
        baseline = _baseline(titles)
        with view.Clock() as paint:
            panel = build(place, None)
            view.shown(panel)
            view.frame(panel)
        walls, cpus = [], []
        for letter in many_sessions.TYPED:
            with view.Clock() as key:
                QTest.keyClick(panel.words, letter)
                view.frame(panel)
            walls.append(key.wall)
            cpus.append(key.cpu)
        assert 0 < panel.list.model().rowCount() < many_sessions.COUNT / 5
        panel.words.clear()
        view.frame(panel)
        with view.Clock() as news:
            place.desks.rows_changed.emit()
            view.frame(panel)
    return {"paint_ms": paint.wall, "paint_cpu_ms": paint.cpu, "key_ms": max(walls), "key_cpu_ms": max(cpus),
            "change_ms": news.wall, **baseline}


def _baseline(titles: list[str]) -> dict[str, float]:
    """A list widget with a line a session; a proxy that filters the same lines, for one key."""
    with view.Clock() as paint:
        listed = view.WrappedList(titles)
        view.shown(listed)
        view.frame(listed)
    proxy = QSortFilterProxyModel()
    model = view.PreviewModel(titles)
    proxy.setSourceModel(model)
    filtered = QListView()
    filtered.setModel(proxy)
    view.shown(filtered)
    view.frame(filtered)
    with view.Clock() as key:
        proxy.setFilterFixedString("repair")
        view.frame(filtered)
    return {"baseline_paint_ms": paint.cpu, "baseline_key_ms": key.cpu}


if __name__ == "__main__":
    main()
