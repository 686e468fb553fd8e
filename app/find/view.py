"""The Find panel: words in all sessions, with what stands round them; a click opens the very step."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtWidgets import QWidget

from app.kit import theme, tokens
from app.kit.box_over_list import key_in, went_down
from app.kit.boxes import apart, column, words_box
from app.kit.empty import Empty, Faces
from app.kit.entries import EntriesModel, EntryList
from app.kit.i18n import plural
from app.kit.safe_text import PlainLabel, set_tooltip
from app.kit.thin_line import Gist


class FindView(QWidget):
    """A box and the list of what was found."""

    words_changed = Signal(str)

    def __init__(self, model: EntriesModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.gist = Gist(self)
        self.box = words_box(self, self.tr("Words, or “a phrase”, in every session"), self.tr("Find in all sessions"),
                             clears=True)
        self.box.installEventFilter(self)
        self.count = PlainLabel("", self, faint=True)
        self.partly = PlainLabel("", self, wrap=True, faint=True, font=theme.small_font(self.font()))
        set_tooltip(self.partly, self.tr("Menu Session, “Store offline” fetches all of one."))
        self.partly.setContentsMargins(theme.px(tokens.SIDE), theme.GRID, theme.px(tokens.SIDE), theme.GRID)
        self.partly.hide()
        self.list = EntryList(model, self.tr("Places found"), self)
        self.empty = Empty("", self)
        self._faces = Faces(self.list, self.empty)
        column(apart((self.box, 1), self.count), (self._faces, 1), self.partly, on=self, spacing=0, margin=0)
        self.box.textChanged.connect(self.words_changed)
        self.show_state("nothing")

    def show_state(self, state: str, count: int = 0, why: str = "", *, more: bool = False) -> None:
        """`state`: nothing (no words), searching, found, or failed (and why). `more`: there are more than shown."""
        self._faces.show_content(count > 0)
        self.gist.say(self.tr("Nothing is looked for") if state == "nothing" else self.tr("%Ln place(s)", None,
                       plural(count)), is_nothing=state == "nothing")
        least = "≥ " if more else ""
        words = least + self.tr("%Ln place(s)", None, plural(count)) if count else ""
        self.count.setText("…" if state == "searching" else words)
        self.empty.set_hint({
            "nothing": self.tr("Thoughts, actions, outputs, guidance, summaries and remarks of every session are "
                               "searched. Type some words above."),
            "searching": self.tr("Searching…"), "failed": self.tr("The search failed: {why}").format(why=why),
        }.get(state, self.tr("Nothing found.")))

    def show_partly(self, servers: str, count: int) -> None:
        """Say how it stands with the other servers, and of how many sessions only a part is searched."""
        partly = self.tr("Of %Ln session(s) on other servers only what is on this computer is searched.", None,
                         plural(count))
        text = " ".join(one for one in (servers, partly if count else "") if one)
        self.partly.setText(text)
        self.partly.setVisible(bool(text))

    def start(self) -> None:
        """Put the cursor into the box."""
        self.box.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.box.selectAll()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Down and Enter go to the list."""
        return went_down(key_in(self.box, watched, event), self.list) or super().eventFilter(watched, event)
