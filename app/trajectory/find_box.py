"""Find in the trajectory: what the list draws at once, what the bodies hold as a worker finds it."""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject

from app.desk.callers import step_named
from app.desk.find_query import Query, items_with
from app.desk.searcher import Searcher
from app.desk.workplace import Workplace
from app.kit.timers import single_shot
from app.trajectory.nested import NestedModel
from app.trajectory.view import TrajectoryView
from core.workers.search import FindInSession, ItemsFound

PAUSE_MS = 5
"""The bodies are searched when the reader pauses so long in typing."""

AT_ONCE = 2_000
"""Of so many items at most the drawn lines are searched at each key (20 ms); of more only by the worker."""

NESTED = re.compile(r"[1-9]\d{0,6}(?:\.[1-9]\d{0,6}){1,8}")
"""A step of a subagent: `9.46`. Where there is none of that number, it is text to find."""

FEW = 200
"""So many new hits are put among the others one by one."""

ARRIVED_MS = 400
"""Bodies that were fetched for a search are searched so long after the last came."""


class FindBoxController(QObject):
    """Keeps the hits of the find box, in order, and goes from one to the next."""

    def __init__(self, place: Workplace, model: NestedModel, panel: TrajectoryView,
                 go: Callable[[int], None], here: Callable[[], int]) -> None:
        """`go(item)` shows an item; `here()` is the one that is looked at, -1 for none."""
        super().__init__(panel)
        self._place, self._model, self._panel, self._go, self._here = place, model, panel, go, here
        self._query = Query()
        self._hits: list[int] = []
        self._matches: dict[int, str] = {}
        self._at = -1
        self._jumped = False
        self._went = False
        """To a step by its number: then nothing is looked for."""
        self._missing: set[str] = set()
        self._searcher = Searcher(place, self)
        self._pause = single_shot(self, PAUSE_MS, self._search_bodies)
        self._again = single_shot(self, ARRIVED_MS, self._search_bodies)
        self._connect()

    def _connect(self) -> None:
        panel, actions = self._panel, self._place.actions
        panel.find_changed.connect(self._on_find)
        panel.find_next.connect(self._find_words)
        actions["go.find"].triggered.connect(panel.start_find)
        actions["go.find_next"].triggered.connect(partial(self._find_words, False))
        actions["go.find_previous"].triggered.connect(partial(self._find_words, True))
        self._place.desks.blob_arrived.connect(self._on_blob)

    def leave(self) -> None:
        """Another session is shown: its find box is empty."""
        self._panel.find_box.clear()
        self._on_find("", self._query.regex)

    def find_anew(self) -> None:
        """The reader may see more of what others said than before, or less."""
        self._on_find(self._query.words, self._query.regex)

    def renew(self) -> None:
        """The trajectory grew: search again, quietly, where something is looked for."""
        if not self._query.is_empty and not self._searcher.is_busy and not self._pause.isActive():
            self._again.start()

    # ---- what the reader does --------------------------------------------------------------------

    def _on_find(self, words: str, regex: bool) -> None:
        self._query = Query(words, regex)
        self._hits, self._at, self._jumped, self._went = [], -1, False, False
        self._model.active.model.mark_found(())
        self._matches.clear()
        self._missing.clear()
        self._searcher.drop()
        self._pause.stop()
        self._again.stop()
        if words.startswith("#") and self._to_number(words):
            self._query = Query()
        self._panel.show_problem("")
        pattern = self._pattern()
        self._place.cursor.seek(None if regex else pattern)
        trajectory = self._model.trajectory
        small = trajectory is not None and len(trajectory.items) <= AT_ONCE
        if small and not regex and not self._query.is_empty:
            self._take(items_with(trajectory, words, self._model.reader))
        if pattern is not None:
            self._pause.start()
        self.show()

    def _pattern(self) -> re.Pattern[str] | None:
        try:
            return self._query.pattern()
        except re.error as error:
            self._panel.show_problem(self.tr("No valid expression: {why}").format(why=error))
            return None

    def _to_number(self, words: str) -> bool:
        digits = words[1:].replace(",", "").strip()
        self._went = digits.isdigit() and self._model.item_of_step(int(digits)) >= 0
        if self._went:
            self._place.cursor.to_step(int(digits))
        return digits.isdigit() or not digits

    def _find_words(self, back: bool, *_: object) -> None:
        words = self._panel.find_box.text().strip()
        if NESTED.fullmatch(words) and (to := step_named(self._place.sight.desk, self._place.sight.session, words)):
            self._place.cursor.move(*to)
            return
        self._jump(back)
        self.show()

    def _jump(self, back: bool = False, *, stay: bool = False) -> None:
        """Go to the next or previous hit, round the end; one that a filter hides is passed over."""
        here = self._here()
        shown = self._shown()
        if not shown:
            self._at = -1
            return
        if back:
            item = shown[bisect.bisect_left(shown, here) - 1]
        else:
            at = bisect.bisect_left(shown, here) if stay else bisect.bisect_right(shown, here)
            item = shown[at % len(shown)]
        self._at = item
        if self._query.regex:  # marked as the words that were found: an expression may take for ever
            self._place.cursor.seek(Query(self._matches.get(item, "")).pattern())
        self._go(item)

    def _shown(self) -> list[int]:
        """The hits that no filter hides."""
        if self._model.is_whole:
            return self._hits
        return [item for item in self._hits if self._model.row_of(item) >= 0]

    # ---- what the worker says --------------------------------------------------------------------

    def _search_bodies(self) -> None:
        trajectory = self._model.trajectory
        if trajectory is None or self._query.is_empty:
            return
        words, regex = self._query.words, self._query.regex
        self._searcher.ask(FindInSession(session=trajectory.session, words=words if regex else words.strip(),
                                         regex=regex, start=self._place.sight.step or 0,
                                         reader=self._model.reader),
                           self._on_found, self._panel.show_problem)
        self.show()

    def _on_found(self, found: ItemsFound) -> None:
        self._matches.update(zip(found.items, found.matches, strict=False))
        self._take(found.items)
        missing = set(found.missing) - self._missing
        if missing:
            self._missing |= missing
            self._place.sight.desk.want(missing)
        self.show()

    def _take(self, items: list[int]) -> None:
        count = len(self._model.trajectory.items) if self._model.trajectory is not None else 0
        fresh = [item for item in items if 0 <= item < count]
        if not fresh:
            return
        if self._hits and len(fresh) < FEW:
            for item in fresh:
                at = bisect.bisect_left(self._hits, item)
                if at == len(self._hits) or self._hits[at] != item:
                    self._hits.insert(at, item)
        else:
            self._hits = sorted({*self._hits, *fresh})
        self._model.active.model.mark_found(fresh, more=True)
        if not self._jumped:
            self._jump(stay=True)
            self._jumped = self._at >= 0

    def _on_blob(self, hash: str) -> None:
        if hash in self._missing:
            self._again.start()

    def show(self) -> None:
        """Say which hit of how many is shown."""
        shown = self._shown()
        at = bisect.bisect_left(shown, self._at)
        at = at if at < len(shown) and shown[at] == self._at else -1
        searching = self._searcher.is_busy or self._pause.isActive()
        self._panel.show_hits(at, None if self._went else len(shown), searching=searching)
