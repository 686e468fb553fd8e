"""In the session's head: the queue that asks for it, which of its sessions this is, and the way to the others."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.desk.workplace import Workplace
from app.kit import quantities, theme, tokens
from app.kit.action_button import IconButton
from app.kit.boxes import row
from app.kit.safe_text import PlainLabel, one_line


class QueuePlace(QWidget):
    """Hidden where no queue asks for the session that is looked at."""

    def __init__(self, place: Workplace, parent: QWidget) -> None:
        super().__init__(parent)
        self._place = place
        fact = theme.font_of("fact")
        self.name = PlainLabel("", self, font=theme.bold_font(fact))
        self.count = PlainLabel("", self, font=fact, faint=True)
        row(PlainLabel(self.tr("Queue"), self, font=fact, faint=True), self.name, self.count,
            *(IconButton(place.actions[key], icon, self) for key, icon in (
                ("queue.previous", "chevron-left"), ("queue.next", "chevron-right"))),
            on=self, spacing=theme.px(tokens.WITHIN), margin=0)
        place.sight.opened.connect(self._show_place)
        place.queues.changed.connect(self._show_place)
        self._show_place()

    def _show_place(self) -> None:
        session = self._place.sight.session
        key = self._place.queues.asks_of(session) if session else ""
        queue = self._place.queues.queue(key)
        if queue is not None:
            wanted = [one for one, item in self._place.queues.items(key) if item.wanted]
            self.name.setText(one_line(queue.name, 32))
            n = quantities.number(wanted.index(session) + 1) if session in wanted else "–"
            self.count.setText(self.tr("session {n} of {count}").format(n=n, count=quantities.number(len(wanted))))
        self.setVisible(queue is not None)
