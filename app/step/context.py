"""The messages of a context with what entered and left since the step before: the model behind the eye."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, Qt
from PySide6.QtGui import QGuiApplication

from app.desk.row_text import ICONS
from app.kit import icons, quantities, theme
from app.kit.flat_model import Index
from app.kit.i18n import plural
from app.kit.safe_text import one_line, plain_tooltip, visible
from app.step.context_lines import ContextLine, folded, is_error, lines_of, shares_of, with_borders
from app.step.entered_border import BorderRole, border_figures
from app.step.message_looks import MessageLook
from app.step.message_words import made_by_program, source_words
from core.domain.context import MessageRef

SHOWN = ("context", "changes", "entered", "left", "gone")
PLACE, CHANGE, WHO, STEP, WORDS, SIZE, TOKENS = range(7)
_RIGHT = (PLACE, STEP, TOKENS)

ShareRole = int(Qt.ItemDataRole.UserRole) + 1
"""How long a row's messages are beside the longest row: 0 to 1."""


class ContextModel(QAbstractTableModel):
    """Place, change, whose it is, the step that brought it, first words, size and tokens of each message."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._all: list[ContextLine] = []
        self.lines: list[ContextLine] = []
        self._gone: list[ContextLine] = []
        self._holding: frozenset[str] = frozenset()
        self._looks: Mapping[str, MessageLook] = {}
        self._failed: frozenset[int] = frozenset()
        self._opened: frozenset[int] = frozenset()
        self._longest = 1
        self.limit = 0
        self._entered = ""
        self.shown = "context"
        """Which messages are listed: one of SHOWN."""

    @property
    def refs(self) -> list[MessageRef]:
        """The messages of the context, in order."""
        return [line.ref for line in self._all if line.change != "left"]

    @property
    def all_refs(self) -> list[MessageRef]:
        """The messages of the context and those that left it."""
        return [line.ref for line in [*self._all, *self._gone]]

    @property
    def shares(self) -> dict[str, int]:
        """Tokens of the context by what they are."""
        return shares_of(self._all, self._looks, self._failed)

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.lines)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        """Place, change, who, step, first words, size, tokens."""
        return 0 if parent.isValid() else 7

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = int(Qt.ItemDataRole.DisplayRole)
    ) -> object:
        """The names of the columns, each over what stands in it."""
        if role == Qt.ItemDataRole.TextAlignmentRole and section in _RIGHT:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if role != Qt.ItemDataRole.DisplayRole or orientation != Qt.Orientation.Horizontal:
            return None
        return ("#", "", self.tr("Who"), self.tr("Step"), self.tr("First words"), self.tr("Size"),
                self.tr("Tokens"))[section]

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        """Text, sign, alignment and colour of a cell."""
        if not index.isValid() or index.row() >= len(self.lines):
            return None
        line, column = self.lines[index.row()], index.column()
        if line.is_border:
            return self._border(line, column, role)
        if role == Qt.ItemDataRole.DisplayRole:
            return visible(str(self._cell(line, column)))
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole) and column in (CHANGE, WORDS):
            if column == CHANGE:
                return self._change(line)
            text = self._cell(line, column)[:400]
            return plain_tooltip(text) if role == Qt.ItemDataRole.ToolTipRole else visible(text)
        if role == Qt.ItemDataRole.DecorationRole and column in (CHANGE, WHO):
            name = _CHANGES.get(line.change, "") if column == CHANGE else self._icon(line)
            return icons.icon(name, self._ink(line) or "ink") if name else None
        if role == Qt.ItemDataRole.TextAlignmentRole and column in _RIGHT:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if role == Qt.ItemDataRole.FontRole:
            return self._font(line, column)
        if role == Qt.ItemDataRole.ForegroundRole:
            is_quiet = bool(line.more) or column in _RIGHT or line.change in ("left", "gone")
            return theme.colour(("" if column == WORDS else self._ink(line)) or ("muted" if is_quiet else "ink"))
        if role == Qt.ItemDataRole.BackgroundRole:
            return self._ground(line)
        if role == ShareRole:
            return line.tokens / self._longest, self._ink(line) or "edge"
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """A border is no message: keys and clicks pass it by."""
        is_border = index.isValid() and self.lines[index.row()].is_border
        return Qt.ItemFlag.NoItemFlags if is_border else super().flags(index)

    def show(self, before: Sequence[MessageRef], after: Sequence[MessageRef], limit: int = 0, entered: str = ""
             ) -> None:
        """Show a context beside the one of the step before. Above `limit` tokens it is summarised; 0: not known.
        `entered` says for what entered what is new in it."""
        self.limit, self._entered = limit, entered
        self._all = lines_of(before, after)
        self._gone, self._opened = [], frozenset()
        self._list()

    def show_gone(self, gone: Sequence[tuple[MessageRef, int]]) -> None:
        """The messages that earlier contexts held and this one does not, each with the step that lost it."""
        self._gone = [ContextLine(0, "gone", ref, since) for ref, since in gone]
        self._list()

    def show_looks(self, looks: Mapping[str, MessageLook], failed: frozenset[int] = frozenset()) -> None:
        """What the messages say first and which steps brought them: now those of one step can be one row. What the
        `failed` steps got back counts as errors."""
        self._looks, self._failed = {**looks}, failed
        self._list()

    def toggle(self, row: int) -> None:
        """Open what a row folds, or fold it again."""
        if 0 <= row < len(self.lines):
            place = self.lines[row].place
            is_folded = bool(self.lines[row].more)
            self._opened = self._opened | {place} if is_folded else self._opened - {place}
            self._list()

    def mark_holding(self, hashes: frozenset[str]) -> None:
        """Mark the messages that hold the text which is looked for; none of them stays folded."""
        if hashes != self._holding:
            self._holding = hashes
            self._list()

    def first_holding(self) -> int:
        """The row of the first marked message, -1 where none is."""
        return next((row for row, line in enumerate(self.lines)
                     if line.ref.hash in self._holding and not line.is_border), -1)

    def row_of(self, hash: str) -> int:
        """The row that shows a message, be it folded; -1 where it is not listed."""
        return next((row for row, line in enumerate(self.lines)
                     if not line.is_border and any(one.ref.hash == hash for one in (line, *line.more))), -1)

    def name_of(self, hash: str) -> str:
        """Whose a message is, and of a result the call and the step; "" as long as nothing is known of it."""
        look = self._looks.get(hash)
        line = next((line for line in [*self._all, *self._gone] if line.ref.hash == hash), None)
        if look is None or line is None:
            return ""
        step = self.tr("step {n}").format(n=look.step) if look.step else ""
        call = one_line(look.tool, 80) if look.kind == "result" else ""
        return " · ".join(filter(None, (self._who(line, look), call, step)))

    def set_shown(self, shown: str) -> None:
        """List the context, the changes, what entered, what left, or all that is gone."""
        self.shown = shown
        self._list()

    def summary(self) -> str:
        """Number of messages, and how many entered and left."""
        now = self.refs
        if self.shown == "gone":
            lost = sum(line.ref.tokens for line in self._gone)
            gone = self.tr("%Ln message(s) of earlier contexts are gone", None, plural(len(self._gone)))
            return f"{gone} · " + self.tr("{sign}{tokens} tokens").format(sign="≈ ", tokens=quantities.number(lost))
        entered = sum(line.change == "entered" for line in self._all)
        return " · ".join((
            self.tr("%Ln message(s)", None, plural(len(now))),
            self.tr("{n} entered").format(n=entered), self.tr("{n} left").format(n=len(self._all) - len(now))))

    def tokens(self) -> tuple[str, str]:
        """The tokens of the context, of how many where that is known, and whether they are counted or estimated; and
        the same in short."""
        now = self.refs
        words = quantities.tokens(sum(r.tokens for r in now))
        if self.limit:
            words = self.tr("{tokens} of {limit}").format(tokens=words, limit=quantities.tokens(self.limit))
        is_estimated = any(r.estimated for r in now)
        short = self.tr("{sign}{tokens} tokens").format(sign="≈ " if is_estimated else "", tokens=words)
        how = (self.tr("{tokens}, estimated: the log does not count each message") if is_estimated else
               self.tr("{tokens}, counted"))
        return how.format(tokens=short), short

    def _list(self) -> None:
        wanted = {"context": ("", "entered"), "changes": ("entered", "left")}.get(self.shown, (self.shown,))
        self.beginResetModel()
        lines = self._gone if self.shown == "gone" else [x for x in self._all if x.change in wanted]
        messages = folded(lines, self._looks, self._opened, self._holding)
        self._longest = max((line.tokens for line in messages), default=1) or 1
        self.lines = [*with_borders(messages)] if "entered" in wanted and len(wanted) > 1 else messages
        self.endResetModel()

    # ---- cells -----------------------------------------------------------------------------------

    def _border(self, line: ContextLine, column: int, role: int) -> object:
        """What a border row says, in its first column."""
        words = (self._entered, border_figures(line)) if column == PLACE else None
        if role == BorderRole:
            return words
        is_text = role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole)
        return " · ".join(filter(None, words)) if words and is_text else None

    def _cell(self, line: ContextLine, column: int) -> str:
        look = self._looks.get(line.ref.hash)
        if column == PLACE:
            last = f"–{line.more[-1].place}" if line.more else ""
            return f"{line.place}{last}" if line.place else "–"
        if column == WHO:
            return self._who(line, look)
        if column == STEP:
            return self._step(line, look)
        if column == WORDS:
            return self._words(line, look)
        if column == CHANGE:
            return "◆" if line.ref.hash in self._holding else ""
        if column == TOKENS:
            return quantities.number(line.tokens)
        return ""

    def _who(self, line: ContextLine, look: MessageLook | None) -> str:
        if line.more and look is not None:
            steps = len(self._steps(line))
            return self.tr("{n} steps").format(n=steps) if steps > 1 else look.tool or self.tr("1 step")
        if look is None:
            return line.ref.role
        if made := made_by_program(line.ref.source):
            return self.tr("Note") if made == "note" else self.tr("Summary")
        known = {"system": self.tr("System"), "result": self.tr("Result"), "message": self.tr("Answer"),
                 "user": self.tr("Person") if look.step else self.tr("Task")}
        return known.get(look.kind) or one_line(look.tool, 30)

    def _steps(self, line: ContextLine) -> list[int]:
        found = (self._looks.get(one.ref.hash) for one in (line, *line.more))
        return sorted({look.step for look in found if look is not None and look.step})

    def _step(self, line: ContextLine, look: MessageLook | None) -> str:
        if line.change == "gone":
            return self.tr("until {n}").format(n=line.since)
        steps = self._steps(line)
        return "–" if not steps else str(steps[0]) if len(steps) == 1 else f"{steps[0]}–{steps[-1]}"

    def _words(self, line: ContextLine, look: MessageLook | None) -> str:
        if look is None or not look.words:
            return source_words(line.ref.source)
        own = [one for one in map(self._look, (line, *line.more)) if one is not None and one.kind != "result"]
        words = " · ".join(f"{one.tool} {one.words}".strip() for one in own[:6]) if len(own) > 1 else look.words
        return one_line(words, 400)

    def _look(self, line: ContextLine) -> MessageLook | None:
        return self._looks.get(line.ref.hash)

    def _icon(self, line: ContextLine) -> str:
        look = self._looks.get(line.ref.hash)
        if line.more:
            return "chevron-right"
        if look is None:
            return ""
        if made := made_by_program(line.ref.source):
            return "flag" if made == "note" else "scroll-text"
        return _WHO.get(look.kind) or ("target" if not look.step else "user-round") * (look.kind == "user") or (
            ICONS.get(look.kind, "braces"))

    def _font(self, line: ContextLine, column: int) -> object:
        look = self._looks.get(line.ref.hash)
        if column == WHO and look is not None and look.kind != "result" and not line.more:
            return theme.bold_font(QGuiApplication.font())
        return None

    def _ink(self, line: ContextLine) -> str:
        look = self._looks.get(line.ref.hash)
        if line.change:
            return "keep" if line.change == "entered" else "muted"
        if any(is_error(self._look(one), self._failed) for one in (line, *line.more)):
            return "error"
        return "person" if look is not None and look.kind == "user" and not made_by_program(line.ref.source) else ""

    def _ground(self, line: ContextLine) -> object:
        if line.ref.hash in self._holding:
            return theme.tint("attention", 60)
        return theme.colour("keep_tint") if line.change == "entered" else None

    def _change(self, line: ContextLine) -> str:
        if line.change == "gone":
            return self.tr("− since step {n}").format(n=line.since)
        return {"entered": "+ " + self.tr("entered"), "left": "− " + self.tr("left")}.get(line.change, "")


_CHANGES = {"entered": "log-in", "left": "log-out", "gone": "log-out"}
_WHO = {"system": "scroll-text", "result": "corner-down-right"}
