"""Wires the status bar to the desk, the outbox and what is in sight."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication, QDockWidget, QWidget

from app.desk.session_key import OWN
from app.desk.workplace import Workplace
from app.kit import quantities
from app.kit.i18n import plural
from app.kit.safe_text import one_line
from app.servers.connection_state import own_state_of, state_of
from app.window.status_bar import StatusBar
from app.window.typing import takes_letters
from app.window.window import Window
from core.domain.session import FINAL_STATES


class StatusController(QObject):
    """Says every two seconds, and at each change, how things stand."""

    def __init__(self, place: Workplace, bar: StatusBar, window: Window) -> None:
        super().__init__(bar)
        self._place, self._bar, self._window = place, bar, window
        self._was_online = False
        self._timer = QTimer(self, interval=2000)
        self._connect()
        for show in (self._show_link, self._show_waiting, self._show_place):
            show()
        self._timer.start()

    def _connect(self) -> None:
        desks, sight = self._place.desks, self._place.sight
        self._place.queues.counted.connect(self._show_count)
        self._place.queues.entered.connect(self._show_place)
        desks.link_changed.connect(self._show_link)
        desks.outbox_changed.connect(self._show_waiting)
        sight.grew.connect(self._show_place)
        sight.stepped.connect(self._show_place)
        sight.opened.connect(self._show_keys_again)
        self._window.focus.typing.changed.connect(self._show_keys_again)
        self._window.layouts.asked.connect(self._on_layout)
        QApplication.instance().focusChanged.connect(self._show_keys)  # type: ignore[union-attr]
        self._timer.timeout.connect(self._show_link)

    def _on_layout(self, *_: object) -> None:
        self._show_place()
        QTimer.singleShot(0, self, self._show_keys_again)  # when the window has given the keys to the layout's list

    def _show_link(self) -> None:
        links = [(desk.server, desk.link) for desk in self._place.desks.all]
        others = len(links) > 1  # this computer's own server has nothing to say while nobody needs it
        shown = [(server, link) for server, link in links if not (others and server == OWN and link.state == "off")]
        named = len(shown) > 1 or any(server != OWN for server, _ in shown)
        if not named and shown:
            link = shown[0][1]
            self._was_online = self._was_online or link.state == "online"
            self._bar.show_links([own_state_of(link, was_online=self._was_online)])
            return
        self._bar.show_links([state_of(link, one_line(self._place.servers.name_of(server), 24) if named else "")
                              for server, link in shown])

    def _show_waiting(self) -> None:
        count = self._place.desks.waiting()
        self._bar.show_waiting(self.tr("%Ln waiting to be delivered", None, plural(count)) if count else "")

    def _show_keys_again(self) -> None:
        self._show_keys(None, QApplication.focusWidget())

    def _show_keys(self, before: QWidget | None, now: QWidget | None) -> None:
        """Where a letter goes: to a command, or into a text."""
        if now is None or now.window() is not self._window:
            return
        if self._window.focus.typing.is_lost:
            self._bar.keys.setText(self.tr("Letters do nothing · Esc returns to the list"))
            return
        if takes_letters(now):
            self._bar.keys.setText(self.tr("Keys type here · Esc returns to the list"))
            return
        dock = next((d for d in self._window.findChildren(QDockWidget) if d.isAncestorOf(now)), None)
        if (dock is not None and dock.objectName() == "trajectory") or self._window.focus.is_home(now):
            self._bar.keys.setText(self.tr("Keys act on the list"))
        elif dock is None and self._place.sight.row is None:
            keys = [self._place.actions[key].shortcut().toString() for key in ("help.keys", "view.palette")]
            self._bar.keys.setText(self.tr("{keys} all keys · {palette} every command").format(
                keys=keys[0], palette=keys[1]))
        else:
            where = dock.windowTitle() if dock is not None else now.accessibleName()
            words = self.tr("Keys act on {panel} · Esc returns to the list") if where else self.tr(
                "Esc returns to the list")
            self._bar.keys.setText(words.format(panel=where))

    def _show_count(self, shown: int, total: int) -> None:
        """In the queue layout: how much of what there is is listed; in others the place in the session stays."""
        if self._window.layouts.current != "queue":
            return
        words = self.tr("{shown} of {total} sessions").format(shown=quantities.number(shown),
                                                              total=quantities.number(total))
        self._bar.place.setText(words if total else "")  # before the first session comes there is nothing to count

    def _show_place(self) -> None:
        if self._window.layouts.current == "queue":
            return
        row, step = self._place.sight.row, self._place.sight.step
        trajectory = self._place.sight.trajectory
        if row is None or not row.steps or trajectory is None or not trajectory.seq:
            self._bar.place.setText("")
            return
        total = quantities.number(row.steps)
        if (share := self._place.sight.desk.progress(row.session)) < 1:
            self._bar.place.setText(self.tr("reading the session: {share} %").format(share=int(100 * share)))
            return
        if step is None and row.state not in FINAL_STATES:
            self._bar.place.setText(self.tr("at step {n} of {total}, following").format(n=total, total=total))
            return
        at = total if step is None else quantities.number(step)
        self._bar.place.setText(self.tr("at step {n} of {total}").format(n=at, total=total))
