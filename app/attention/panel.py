"""Wires the Attention panel: lists what needs a look, announces each change once, opens the very step."""

from __future__ import annotations

from datetime import datetime

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication, QWidget

from app.attention.model import Alert, Raised, alerts_of, is_quiet, raised
from app.attention.notifications import DesktopNotifications
from app.attention.view import AttentionView
from app.desk.notices import Notice
from app.desk.session_words import attention_word
from app.desk.workplace import Workplace
from app.kit import quantities
from app.kit.entries import EntriesModel, TwoLines
from app.kit.safe_text import one_line
from core.domain.session import SessionRow
from core.protocol.operations import ClearAttention


def build(place: Workplace, parent: QWidget) -> AttentionView:
    """The panel, wired."""
    model = EntriesModel(parent)
    view = AttentionView(model, place.actions["go.next_session"], parent)
    AttentionController(place, model, view)
    return view


class AttentionController(QObject):
    """Knows what was announced already; what was so at the start is not announced."""

    def __init__(self, place: Workplace, model: EntriesModel, view: AttentionView) -> None:
        super().__init__(view)
        self._place, self._model, self._view = place, model, view
        self._announced: dict[str, frozenset[str]] = {}
        self._raised: dict[Alert, Raised] = {}
        self._opening: Alert | None = None
        self.notifications = DesktopNotifications(self)
        place.desks.rows_changed.connect(self._show_alerts)
        place.sight.grew.connect(self._on_grew)
        place.sight.stepped.connect(self._on_stepped)
        place.actions["go.next_session"].triggered.connect(self._go_to_next)
        view.opened.connect(self.open)
        view.dealt_with.connect(self._on_dealt_with)
        place.notices.opened.connect(self._on_notice)
        self.notifications.clicked.connect(self._on_notification)
        self._show_alerts()

    # ---- what is listed --------------------------------------------------------------------------

    def _show_alerts(self) -> None:
        rows = self._place.desks.rows()
        for row in rows:
            self._announce(row)
        alerts = alerts_of(rows)
        self._raised = {alert: found for alert, found in self._raised.items() if alert in alerts}
        known = {row.session: row for row in rows}
        self._model.show([(alert, self._lines(alert, known[alert.session])) for alert in alerts])
        self._view.show_content(bool(alerts))

    def _lines(self, alert: Alert, row: SessionRow) -> TwoLines:
        found = self._find(alert)
        right = [self.tr("step {n}").format(n=quantities.number(found.step))] if found and found.step else []
        if found is not None and found.at is not None:
            right.append(quantities.clock(found.at))
        word = attention_word(alert.kind)
        below = f"{word}: {one_line(found.evidence, 160)}" if found and found.evidence else word
        return TwoLines(title=one_line(row.title or row.session, 80), below=below, sign="!", meaning="attention",
                        right=" · ".join(right))

    def _find(self, alert: Alert) -> Raised | None:
        if alert not in self._raised:
            desk = self._place.desks.of(alert.session)
            head = desk.head(alert.session)
            if head < alert.until:
                return None  # what the message was about has not come yet
            found = raised(desk.read, alert.until or head, alert)
            if found is None:
                return None
            self._raised[alert] = found
        return self._raised[alert]

    # ---- what is announced -----------------------------------------------------------------------

    def _announce(self, row: SessionRow) -> None:
        """One message per session and change; none for what was so at the start, none in quiet hours."""
        now, before = frozenset(row.attention), self._announced.get(row.session)
        self._announced[row.session] = now
        fresh = now - before if before is not None else frozenset()
        if not fresh or not self._may_announce():
            return
        kind = next(a.kind for a in alerts_of([row]) if a.kind in fresh)
        alert = Alert(row.session, kind, row.seq)  # a later one of the same kind is another message
        title = one_line(row.title or row.session, 60)
        kinds = ", ".join(attention_word(kind) for kind in sorted(fresh))
        seen = self._view.window().isActiveWindow()
        if not seen and self.notifications.is_available:
            self.notifications.show(title, kinds, alert)
        elif not seen or row.session != self._place.sight.session:
            self._place.notices.tell(self.tr("{title}: {kinds}").format(title=title, kinds=kinds), "attention",
                                     row.session, alert)
        QApplication.alert(self._view.window())

    def _may_announce(self) -> bool:
        settings = self._place.settings
        if not settings.get("sessions.notify"):
            return False
        now = datetime.now().astimezone().time()
        quiet = is_quiet(now, settings.text("sessions.quiet_from"), settings.text("sessions.quiet_to"))
        return not (settings.get("sessions.quiet") and quiet)

    def _on_notice(self, notice: Notice) -> None:
        self.open(notice.about)

    def _on_notification(self, alert: object) -> None:
        window = self._view.window()
        window.setWindowState(window.windowState() & ~window.windowState().WindowMinimized)
        window.raise_()
        window.activateWindow()
        self.open(alert)

    # ---- what the reader does --------------------------------------------------------------------

    def open(self, alert: object) -> None:
        """Go to the step of an alert; where its session is not here yet, as soon as it has come."""
        if not isinstance(alert, Alert):
            return
        found = self._find(alert)
        self._opening = None
        if found is not None:
            self._place.cursor.move(alert.session, found.step or None)
        else:
            self._place.cursor.move(alert.session)
            self._opening = alert
        self._place.queues.entered.emit()  # the list of a queue shows no session
        self._select(alert)

    def _on_grew(self) -> None:
        if self._opening is not None and self._find(self._opening) is not None:
            self.open(self._opening)

    def _on_stepped(self) -> None:
        """The reader went on before what the message is about came."""
        self._opening = None

    def _go_to_next(self) -> None:
        alerts = [what for what, _ in self._model.rows]
        at = self._view.list.currentIndex().row()
        if alerts:
            self.open(alerts[(at + 1) % len(alerts)])
        else:
            self._place.notices.tell(self.tr("Nothing needs attention."), "info")

    def _select(self, alert: Alert) -> None:
        newest = Alert(alert.session, alert.kind)
        row = next((i for i, (what, _) in enumerate(self._model.rows) if what == newest), -1)
        if row >= 0:
            self._view.select(row)

    def _on_dealt_with(self, alert: Alert) -> None:
        self._place.sender.send(alert.session, ClearAttention(kind=alert.kind))  # type: ignore[arg-type]
