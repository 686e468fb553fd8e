"""The pictures of what is shown: fetched, decoded by a worker process, and given to the text as pixels."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QImage

from app.desk.fetches import Fetch
from app.desk.worker_calls import WorkerCalls
from app.desk.workplace import Workplace
from app.kit.timers import single_shot
from core import program
from core.workers.messages import Problem
from core.workers.pictures import MOST_SIDE, DecodedPicture, DecodePicture

STUCK_MS = 10_000
"""A picture that takes so long to decode is given up, and the worker with it."""

RECENT = 24
"""Pictures that stay decoded."""


class Pictures(QObject):
    """Asked for names of payloads; `drawn` gives each as an image, or `refused` says why there is none."""

    drawn = Signal(str, QImage)
    refused = Signal(str, str)

    def __init__(self, place: Workplace, parent: QObject) -> None:
        super().__init__(parent)
        self._place = place
        self._calls = WorkerCalls(lambda: program.command("pictures"), self)
        self._stuck = single_shot(self, STUCK_MS, self._give_up)
        self._held: OrderedDict[str, QImage | str] = OrderedDict()
        self._fetches: list[Fetch] = []

    def show(self, names: Sequence[str]) -> None:
        """Get these; what was asked for before and has not come is not wanted any more."""
        for fetch in self._fetches:
            fetch.cancel()
        self._fetches = []
        for name in dict.fromkeys(names):
            if (held := self._held.get(name)) is not None:
                self._give(name, held)
            else:
                self._fetch(name)

    def _fetch(self, name: str) -> None:
        def decode(data: bytes) -> None:
            self._stuck.start()
            self._calls.ask(DecodePicture(data=data), lambda made: self._take(name, made),
                            lambda problem: self._refuse(name, problem))

        self._fetches.append(self._place.sight.holder(name).body(name, decode, lambda: self._on_absent(name)))

    def _take(self, name: str, made: DecodedPicture) -> None:
        """Pixels are taken for what they are said to be only where there are as many."""
        self._settle()
        fits = 0 < made.width <= MOST_SIDE and 0 < made.height <= MOST_SIDE
        if not fits or len(made.pixels) != 4 * made.width * made.height:
            self._keep(name, self.tr("The picture could not be decoded."))
            return
        image = QImage(made.pixels, made.width, made.height, 4 * made.width, QImage.Format.Format_RGBA8888)
        self._keep(name, image.copy())

    def _refuse(self, name: str, problem: Problem) -> None:
        self._settle()
        self._keep(name, {
            "picture_kind": self.tr("A picture of a kind that is not shown here."),
            "picture_too_large": self.tr("The picture is too large to be shown."),
            "picture_unreadable": self.tr("The picture's file is damaged."),
        }.get(problem.code, self.tr("The picture could not be decoded.")))

    def _on_absent(self, name: str) -> None:
        self.refused.emit(name, self.tr("The server does not hold this picture."))

    def _settle(self) -> None:
        if self._calls.are_waiting:
            self._stuck.start()
        else:
            self._stuck.stop()

    def _give_up(self) -> None:
        self._calls.end(self.tr("The picture took too long to decode."))

    def _keep(self, name: str, found: QImage | str) -> None:
        self._held[name] = found
        while len(self._held) > RECENT:
            self._held.popitem(last=False)
        self._give(name, found)

    def _give(self, name: str, found: QImage | str) -> None:
        if isinstance(found, str):
            self.refused.emit(name, found)
        else:
            self.drawn.emit(name, found)
