"""The servers that the window works with: listed with how each connection stands; added, renamed, left, taken off."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QCompleter,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QGroupBox,
    QLineEdit,
    QPushButton,
    QWidget,
)

from app.desk.notices import sentence_of
from app.desk.servers import ServerEntry
from app.kit import theme
from app.kit.boxes import column, row
from app.kit.entries import EntriesModel, EntryList, EntryRole, TwoLines
from app.kit.safe_text import PlainLabel, one_line
from app.kit.scrolled import within
from app.servers.connection_state import ConnectionState
from core.domain.errors import ReportableError
from core.domain.invitation import is_invitation


class ServersDialog(QDialog):
    """Intents, each with a server's id: renamed (with the name), connected (with on or off), removed; `added` with
    address, token and name; `log_in_asked` with address and name. Nothing waits for an OK: what is done here holds at
    once."""

    added = Signal(str, str, str)
    renamed = Signal(str, str)
    connected = Signal(str, bool)
    removed = Signal(str)
    log_in_asked = Signal(str, str)

    def __init__(self, parent: QWidget, lab_addresses: Sequence[str] = ()) -> None:
        """`lab_addresses` are offered where an address is entered."""
        super().__init__(parent)
        self.setWindowTitle(self.tr("Servers"))
        self.resize(within(parent, 520, 480))
        self._entries: dict[str, ServerEntry] = {}
        self._why: dict[str, str] = {}
        self.why = PlainLabel("", self, wrap=True, faint=True)
        self.model = EntriesModel(self)
        self.list = EntryList(self.model, self.tr("Servers"), self)
        self.name = QLineEdit(self)
        self.on = QCheckBox(self.tr("Connected"), self)
        self.off = QPushButton(self.tr("Take off the list…"), self)
        self.again = QPushButton(self.tr("Log in again…"), self)
        self.address = QLineEdit(self)
        self.address.setPlaceholderText(self.tr("an invitation (tiphys://join…), or wss://lab.example:7717"))
        if lab_addresses:
            self.address.setCompleter(QCompleter(list(lab_addresses), self, filterMode=Qt.MatchFlag.MatchContains))
        self.token = QLineEdit(self, echoMode=QLineEdit.EchoMode.Password)
        self.token.setPlaceholderText(self.tr("what “tiphys account add” printed"))
        self.new_name = QLineEdit(self, placeholderText=self.tr("optional"))
        self.add = QPushButton(self.tr("Add"), self)
        self.log_in = QPushButton(self.tr("Log in with a lab account…"), self)
        self.problem = PlainLabel("", self, wrap=True, meaning="error")
        self._lay_out()
        self._connect()
        self._on_current(QModelIndex())
        self._on_address()

    def _lay_out(self) -> None:
        self.chosen = QGroupBox(self.tr("This server"), self)
        row(PlainLabel(self.tr("Name"), self, buddy=self.name), (self.name, 1), self.on, self.again, self.off,
            on=self.chosen)
        fresh = QGroupBox(self.tr("Add a server"), self)
        form = QFormLayout(fresh)
        for text, box in ((self.tr("Address"), self.address), (self.tr("Token"), self.token),
                          (self.tr("Name"), self.new_name)):
            form.addRow(PlainLabel(text, self, buddy=box), box)
        form.addRow(self.problem)
        form.addRow("", row(self.add, self.log_in, 1))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        column((self.list, 1), self.why, *(self.chosen, fresh, buttons), on=self, spacing=2 * theme.GRID,
               margin=4 * theme.GRID)

    def _connect(self) -> None:
        self.list.selectionModel().currentChanged.connect(self._on_current)
        self.name.editingFinished.connect(self._rename_server)
        self.on.clicked.connect(self._on_on)
        self.off.clicked.connect(self._on_off)
        self.address.textChanged.connect(self._on_address)
        self.address.returnPressed.connect(self._on_address_entered)
        for box in (self.token, self.new_name):
            box.returnPressed.connect(self.add.click)
        self.add.clicked.connect(self._on_add)
        self.log_in.clicked.connect(self._on_log_in)
        self.again.clicked.connect(self._on_again)
        for button in self.findChildren(QPushButton):
            button.setAutoDefault(False)  # Enter in a box is about that box, and closes nothing

    @property
    def server(self) -> str:
        """The id of the chosen server; "" when none is."""
        index = self.list.currentIndex()
        return str(index.data(EntryRole)) if index.isValid() else ""

    def show_servers(self, servers: Sequence[tuple[ServerEntry, ConnectionState]]) -> None:
        """Show the servers and how each connection stands."""
        chosen = self.server
        self._entries = {entry.id: entry for entry, _ in servers}
        self._why = {entry.id: state.detail.partition("\n")[2] for entry, state in servers}
        self.model.show([(entry.id, _lines(entry, state)) for entry, state in servers])
        if chosen in self._entries and not self.server:
            self.select(chosen)
        self._on_current(self.list.currentIndex())
        if not servers and not self.isVisible():
            self.address.setFocus()

    def select(self, server: str) -> None:
        """Make a server the chosen one."""
        row = next((i for i, (what, _) in enumerate(self.model.rows) if what == server), -1)
        self.list.setCurrentIndex(self.model.index(row))

    def refuse(self, error: ReportableError) -> None:
        """The server cannot be added."""
        self.problem.setText("✗ " + sentence_of(error))

    def accept_added(self, server: str) -> None:
        """The server was added."""
        for box in (self.address, self.token, self.new_name):
            box.clear()
        self.select(server)
        self.list.setFocus()

    def _on_on(self) -> None:
        self.connected.emit(self.server, self.on.isChecked())

    def _on_off(self) -> None:
        self.removed.emit(self.server)

    def _on_add(self) -> None:
        self.added.emit(self.address.text(), self.token.text(), self.new_name.text())

    def _on_log_in(self) -> None:
        self.log_in_asked.emit(self.address.text(), self.new_name.text())

    def _on_again(self) -> None:
        entry = self._entries[self.server]
        self.log_in_asked.emit(entry.url, entry.name)

    def _on_address(self) -> None:
        self.problem.setText("")
        text = self.address.text().strip()
        self.add.setText(self.tr("Join…") if is_invitation(text) else self.tr("Add"))
        self.add.setEnabled(bool(text))
        for widget in (self.log_in, self.token, self.new_name):
            widget.setEnabled(not is_invitation(text) and (bool(text) or widget is not self.log_in))

    def _on_address_entered(self) -> None:
        """An invitation holds its token; an address needs one."""
        if is_invitation(self.address.text().strip()):
            self.add.click()
        else:
            self.token.setFocus()

    def _on_current(self, current: QModelIndex) -> None:
        entry = self._entries.get(self.server)
        self.chosen.setEnabled(entry is not None)
        if not self.name.hasFocus() or entry is None:
            self.name.setText(entry.name if entry is not None else "")
        self.why.setText(self._why.get(self.server, ""))
        self.on.setChecked(entry is not None and entry.connected)

    def _rename_server(self) -> None:
        entry = self._entries.get(self.server)
        if entry is not None and self.name.text().strip() not in ("", entry.name):
            self.renamed.emit(entry.id, self.name.text())


def _lines(entry: ServerEntry, state: ConnectionState) -> TwoLines:
    sign, _, words = state.text.partition(" ")
    return TwoLines(title=one_line(entry.name, 40), below=f"{one_line(entry.address, 100)} · {words}", sign=sign,
                    meaning=state.meaning)
