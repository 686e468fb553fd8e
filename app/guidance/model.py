"""Guidance of one session with its fate: what the log says, and what is still on this computer."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import msgspec
from PySide6.QtCore import QModelIndex, QObject, Qt

from app.desk.notices import sentence_of
from app.kit.flat_model import SPOKEN, FlatModel, Index
from app.kit.i18n import translate
from app.kit.safe_text import one_line, visible
from core.domain.errors import make_error
from core.domain.events import SessionState
from core.domain.guidance import Guidance
from core.domain.session import FINAL_STATES
from core.domain.trajectory import Trajectory
from core.protocol.messages import Nak
from core.protocol.operations import ChangeGuidance, Guide
from core.store.outbox import Queued

GuidanceRole = int(Qt.ItemDataRole.UserRole) + 1
_NAK = msgspec.json.Decoder(Nak)


class GuidanceLine(msgspec.Struct, frozen=True):
    """One message of the queue: its text, its fate in sign, word and colour, and whether it may be changed."""

    id: str
    text: str
    author: str
    at: datetime | None
    sign: str
    fate: str
    meaning: str
    mode: str = "note"
    changeable: bool = False
    step: int | None = None
    session: str = ""
    """The key of the session that it was said to, in the list of all sessions."""
    place: str = ""
    """Where a message under way has come to: "here", on this computer, or "server"; "" for one whose fate is told."""
    before: int = 0
    """Before which step the agent will read it."""

    is_left: bool = False
    """Whether it was not taken, and the writer has sent another one since."""

    @property
    def is_over(self) -> bool:
        """Whether the list of steps tells it, or it was withdrawn: the tray of what is under way has it no more."""
        return not self.place and (self.is_left or self.meaning != "error")


class GuidanceModel(FlatModel[GuidanceLine]):
    """The queue, oldest first; rebuilt from log and outbox, both are small."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.all: list[GuidanceLine] = []
        """Those that do not match what is looked for, too."""
        self._words = ""
        self._limit = 0
        """At most so many of the newest are listed; 0: all."""

    def look_for(self, words: str) -> None:
        """Show only what holds these words."""
        self._words = words
        self._list()

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        """The line (GuidanceRole), or its text and fate for assistive technology."""
        line = self.row_at(index)
        if line is None or role == GuidanceRole:
            return line
        return visible(f"{line.fate}: {line.text[:400]}") if role in SPOKEN else None

    def show(self, trajectory: Trajectory | None, commands: Iterable[Queued]) -> None:
        """Show the guidance of a trajectory and the commands about it; rows that stay keep their place."""
        self.all, self._limit = lines_of(trajectory, commands), 0
        self._list()

    def show_lines(self, lines: list[GuidanceLine]) -> None:
        """Show other lines instead, the newest LISTED of those that match."""
        self.all, self._limit = lines, MOST_LINES
        self._list()

    def _list(self) -> None:
        self._put(matching(self.all, self._words)[-self._limit:])

    def _put(self, fresh: list[GuidanceLine]) -> None:
        same = 0
        while same < min(len(fresh), len(self.rows)) and fresh[same].id == self.rows[same].id:
            same += 1
        if same < len(self.rows):
            self.beginRemoveRows(QModelIndex(), same, len(self.rows) - 1)
            del self.rows[same:]
            self.endRemoveRows()
        if self.rows != fresh[:same]:
            self.rows[:same] = fresh[:same]
            self.dataChanged.emit(self.index(0), self.index(same - 1))
        if same < len(fresh):
            self.beginInsertRows(QModelIndex(), same, len(fresh) - 1)
            self.rows.extend(fresh[same:])
            self.endInsertRows()


def lines_of(trajectory: Trajectory | None, commands: Iterable[Queued]) -> list[GuidanceLine]:
    """What the log tells, then what only this computer knows yet."""
    if trajectory is None:
        return []
    queued = sorted(commands, key=lambda c: c.cseq)
    changing = {c.op.guidance: c.op for c in queued if c.state == "queued" and isinstance(c.op, ChangeGuidance)}
    state = trajectory.row.state
    refused = {c.op.guidance: c for c in queued
               if c.state == "refused" and isinstance(c.op, ChangeGuidance) and c.op.text}
    opened = trajectory.open_step
    before = (opened.number if opened is not None else trajectory.row.steps) + 1
    lines: list[GuidanceLine] = []
    for guidance in trajectory.advice:
        lines.append(_logged(guidance, changing.get(guidance.id), state, before))
        lines += _not_taken(guidance, refused.get(guidance.id))
    newest = max((c.cseq for c in queued if isinstance(c.op, Guide)), default=0)
    lines += [_local(c, c.op, changing.get(c.op.guidance), before, is_newest=c.cseq == newest) for c in queued
              if isinstance(c.op, Guide) and c.op.guidance not in trajectory.guidance]
    return lines


def _logged(guidance: Guidance, change: ChangeGuidance | None, state: SessionState, before: int) -> GuidanceLine:
    sign, fate, meaning = _fate(guidance, state)
    if change is not None or guidance.change:
        fate = f"{fate} · {_change_word(change.text if change else guidance.change != 'withdraw')}"
    elif guidance.refused and guidance.delivered_step is not None:
        late = translate("Fate", "too late to change it")
        fate = f"{fate} · {late}"
    changeable = guidance.state == "queued" and not guidance.change and change is None
    return GuidanceLine(
        id=guidance.id, text=guidance.text, author=guidance.author, at=guidance.queued_at, sign=sign, fate=fate,
        meaning=meaning, mode=guidance.mode, changeable=changeable, before=before,
        place="server" if guidance.state == "queued" and state != "finished" else "",
        step=guidance.answered_step or guidance.delivered_step)


def _not_taken(guidance: Guidance, refused: Queued | None) -> list[GuidanceLine]:
    """An edit that came too late, with its text: the person's words stay to be used again."""
    text, why = "", translate("Fate", "too late to change it")
    if guidance.refused and not guidance.change:
        text = guidance.asked
    elif refused is not None and isinstance(refused.op, ChangeGuidance) and refused.op.text != guidance.text:
        text, why = str(refused.op.text), _why(refused) or why
    if not text:
        return []
    fate = translate("Fate", "your change was not taken: {why}. Use it again below.").format(why=why.rstrip("."))
    return [GuidanceLine(id=f"{guidance.id}/change", text=text, author="", at=guidance.queued_at, sign="✗", fate=fate,
                         meaning="error", step=guidance.delivered_step)]


MOST_LINES = 200
"""So many messages of all sessions are listed at once, the newest of those that are looked for."""


def lines_to(session: str, trajectory: Trajectory, commands: Iterable[Queued]) -> list[GuidanceLine]:
    """What was said to a session (its key); each line names the session."""
    title = one_line(trajectory.row.title or trajectory.row.session, 60)
    return [msgspec.structs.replace(line, session=session, id=f"{session}/{line.id}", fate=f"{title} · {line.fate}",
                                    changeable=False) for line in lines_of(trajectory, commands)]


def in_order(lines: Iterable[GuidanceLine]) -> list[GuidanceLine]:
    """Oldest first."""
    return sorted(lines, key=lambda line: line.at.timestamp() if line.at is not None else 0.0)


def matching(lines: Iterable[GuidanceLine], words: str) -> list[GuidanceLine]:
    """The lines that hold these words, as they stand, in their text, fate or author."""
    wanted = " ".join(words.casefold().split())
    return [line for line in lines
            if any(wanted in " ".join(part.casefold().split()) for part in (line.text, line.fate, line.author))]


def _fate(guidance: Guidance, state: SessionState) -> tuple[str, str, str]:
    if guidance.state == "withdrawn":
        return "↶", translate("Fate", "withdrawn"), "muted"
    if guidance.state == "answered":
        fate = translate("Fate", "delivered at step {step}, answered at {answer}")
        text = fate.format(step=guidance.delivered_step, answer=guidance.answered_step)
        return "✓", text + _repeats(guidance), "keep"
    if guidance.state == "delivered":
        fate = translate("Fate", "delivered at step {step}")
        return "★", fate.format(step=guidance.delivered_step), "person"
    if state == "finished":
        return "✗", translate("Fate", "the session ended before it was delivered"), "muted"
    if state in FINAL_STATES:
        return "○", translate("Fate", "waits for the session to be resumed"), "attention"
    return "○", translate("Fate", "on the server, waits for the next step"), "live"


def _repeats(guidance: Guidance) -> str:
    """At which steps it was put in once more, after the agent had compacted its context."""
    if not guidance.repeated_steps:
        return ""
    steps = ", ".join(map(str, guidance.repeated_steps))
    return translate("Fate", ", again after a compaction at {steps}").format(steps=steps)


def _local(command: Queued, op: Guide, change: ChangeGuidance | None, before: int, *, is_newest: bool) -> GuidanceLine:
    sign, fate, meaning = "◌", translate("Fate", "on this computer, waits for the server"), "attention"
    if command.state == "acked":
        sign, fate, meaning = "○", translate("Fate", "on the server, waits for the next step"), "live"
    elif command.state == "refused":
        sign, fate, meaning = "✗", translate("Fate", "refused: {why}").format(why=_why(command)), "error"
    if change is not None:
        fate = f"{fate} · {_change_word(change.text)}"
    return GuidanceLine(id=op.guidance, text=op.text, author="", at=command.created_at, sign=sign, fate=fate,
                        meaning=meaning, mode=op.mode, changeable=command.state != "refused" and change is None,
                        place={"acked": "server", "refused": ""}.get(command.state, "here"), before=before,
                        is_left=command.state == "refused" and not is_newest)


def _why(command: Queued) -> str:
    """Why the server would not take it, in the reader's language."""
    if not command.reply:
        return ""
    nak = _NAK.decode(command.reply)
    return sentence_of(make_error(nak.kind, nak.code, nak.sentence, nak.params))


def _change_word(text: object) -> str:
    if text in (None, False):
        return translate("Fate", "withdrawal asked")
    return translate("Fate", "edit asked")
