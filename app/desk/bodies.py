"""Several payloads at once: told how many are here, and given together when all are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from app.desk.fetches import Fetch
from app.desk.in_sight import InSight


class Bodies:
    """Asks for some payloads of what is in sight; `cancel` drops the answer."""

    def __init__(self, sight: InSight, names: Iterable[str], use: Callable[[dict[str, bytes]], None],
                 progress: Callable[[int, int], None] | None = None) -> None:
        """`use` gets the payloads by hash; `tell` how many are here, of how many, while some are missing."""
        self._wanted = tuple(dict.fromkeys(n for n in names if n))
        self._got: dict[str, bytes] = {}
        self._use, self._progress = use, progress
        self._fetches: list[Fetch] = []
        self._over = not self._wanted
        if self._over:
            use({})
        for name in self._wanted:
            self._fetches.append(sight.holder(name).body(name, partial(self._take_body, name)))
        self._report()

    @property
    def is_open(self) -> bool:
        """Whether payloads are still awaited."""
        return not self._over

    def cancel(self) -> None:
        """Nobody wants them any more."""
        self._over = True
        for fetch in self._fetches:
            fetch.cancel()

    def _take_body(self, name: str, data: bytes) -> None:
        self._got[name] = data
        if len(self._got) == len(self._wanted):
            self._over = True
            self._use(self._got)
        elif len(self._fetches) == len(self._wanted):
            self._report()

    def _report(self) -> None:
        if not self._over and self._progress is not None:
            self._progress(len(self._got), len(self._wanted))
