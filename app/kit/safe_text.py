"""The one layer through which everything foreign reaches a widget: plain text, nothing hidden, nothing rendered.

Qt guesses markup in labels and tooltips and loads what it names; control,
bidi and zero-width characters hide or reorder text; one very long line freezes the layout.
"""

from __future__ import annotations

import html
import re

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QCursor, QFont, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QSizePolicy, QToolTip, QWidget

from app.kit import theme

MAX_LINE = 2_000
"""Longest line, in characters, that is given to Qt's layout (1.8 M characters in one took 80 s)."""

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)|[PX^_][^\x1b]{0,4096}\x1b\\|[ -/]*[0-~])"
)
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\ufffc\ud800-\udfff\U000e0000-\U000e0fff]"
)
_NAMES = {
    0x00AD: "SHY", 0x061C: "ALM", 0x200B: "ZWSP", 0x200C: "ZWNJ", 0x200E: "LRM", 0x200F: "RLM", 0x2028: "LS",
    0x2029: "PS", 0x202A: "LRE", 0x202B: "RLE", 0x202C: "PDF", 0x202D: "LRO", 0x202E: "RLO", 0x2060: "WJ",
    0x2066: "LRI", 0x2067: "RLI", 0x2068: "FSI", 0x2069: "PDI", 0xFEFF: "BOM",
}


def visible(text: str, *, escapes: bool = True) -> str:
    """The text with every control, bidi and zero-width character made visible; newline and tab stay.

    `escapes=False` takes terminal escape sequences (colours, titles, links) out instead of showing them.
    """
    if not escapes:
        text = _ESCAPES.sub("", text)
    return _HIDDEN.sub(_show, text.replace("\r\n", "\n"))


def _show(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code == 0x200D:  # joins the parts of one emoji; alone it is harmless
        return "\u200d"
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"‹{_NAMES.get(code, f'U+{code:04X}')}›"


def one_line(text: str, limit: int = 200) -> str:
    """The first `limit` characters on one line, visible."""
    line = " ".join(visible(text[: limit * 4], escapes=False).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def break_lines(text: str, limit: int = MAX_LINE) -> str:
    """The text with lines over `limit` characters broken; `↩` marks each break that is ours."""
    if len(text) <= limit or max(map(len, text.split("\n")), default=0) <= limit:
        return text
    return "\n".join(_broken(line, limit) for line in text.split("\n"))


def _broken(line: str, limit: int) -> str:
    if len(line) <= limit:
        return line
    return "↩\n".join(line[i : i + limit] for i in range(0, len(line), limit))


def displayable(text: str, *, escapes: bool = False) -> str:
    """What a text view may be given: visible and with long lines broken."""
    return break_lines(visible(text, escapes=escapes))


def menu_text(text: str) -> str:
    """Foreign text for a menu entry, a button or a tab: one line, `&` is no mnemonic."""
    return one_line(text, 80).replace("&", "&&")


def plain_action(text: str) -> str:
    """A menu text without its mnemonic: "&File" or "文件(&F)"."""
    cut = text.find("(&")
    if cut >= 0 and text[cut + 3 : cut + 4] == ")":
        text = text[:cut] + text[cut + 4 :]
    return text.replace("&", "")


def plain_tooltip(text: str, limit: int = 1_000) -> str:
    """Foreign text for a tooltip: escaped markup that says exactly the text, wrapped by Qt."""
    shown = visible(text[:limit], escapes=False) + ("…" if len(text) > limit else "")
    return f"<qt>{html.escape(shown).replace(chr(10), '<br>')}</qt>" if shown else ""


def set_tooltip(widget: QWidget, text: str) -> None:
    """Give a widget a tooltip that is never markup."""
    widget.setToolTip(plain_tooltip(text))


def set_hint(edit: QPlainTextEdit, text: str) -> None:
    """Give an empty text box a hint; Qt does not paint one anew that changes while it is seen."""
    edit.setPlaceholderText(text)
    edit.viewport().update()


class PlainLabel(QLabel):
    """A label that shows text as it is. `elide` shortens it with … where there is no room, `wrap` lets it take more
    lines; `faint` is for what stands beside what matters, `meaning` names a colour of the theme; `buddy` is what it
    labels."""

    def __init__(self, text: str = "", parent: QWidget | None = None, *, elide: bool = False, wrap: bool = False,
                 faint: bool = False, meaning: str = "", font: QFont | None = None, buddy: QWidget | None = None
                 ) -> None:
        super().__init__(parent)
        self._elide = elide
        if buddy is not None:
            self.setBuddy(buddy)
        self.setWordWrap(wrap)
        if faint:
            self.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        if meaning:
            self.set_meaning(meaning)
        if font is not None:
            self.setFont(font)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setOpenExternalLinks(False)
        if elide:
            self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setText(text)

    def set_meaning(self, meaning: str) -> None:
        """Write in the colour of a meaning from now on, also in a tool bar, which gives labels the role of buttons."""
        self.setForegroundRole(QPalette.ColorRole.WindowText)
        palette = self.palette()
        palette.setColor(QPalette.ColorRole.WindowText, theme.colour(meaning))
        self.setPalette(palette)

    def setText(self, text: str) -> None:
        """Show a text; hidden characters become visible."""
        super().setText(visible(text, escapes=False))

    def minimumSizeHint(self) -> QSize:
        """Elided labels may become narrow."""
        hint = super().minimumSizeHint()
        return QSize(16, hint.height()) if self._elide else hint

    def event(self, event: QEvent) -> bool:
        """A label that is shortened tells its whole text as a tip, unless it has one of its own."""
        if (event.type() == QEvent.Type.ToolTip and self._elide and not self.toolTip()
                and self.fontMetrics().horizontalAdvance(self.text()) > self.contentsRect().width()):
            QToolTip.showText(QCursor.pos(), plain_tooltip(self.text()), self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the text, shortened where the label elides."""
        if not self._elide:
            super().paintEvent(event)
            return
        painter = QPainter(self)
        room = self.contentsRect()
        elided = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, room.width())
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(room, int(self.alignment()) | int(Qt.TextFlag.TextSingleLine), elided)
