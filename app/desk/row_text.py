"""What one line of the step list says: number, time, sign and word, tool, title, duration, in the reader's language."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from PySide6.QtCore import QCoreApplication

from app.desk.blindness import seen
from app.kit import quantities
from app.kit.i18n import QT_TRANSLATE_NOOP, plural
from app.kit.safe_text import one_line, visible
from core.domain.guidance import Guidance
from core.domain.step import StepHead
from core.domain.steps import ERROR
from core.domain.trajectory import Item, StepEntry, Trajectory
from core.domain.verdict import Verdict, masked_actions, step_outcome

ERRORS: dict[str, str] = {
    "exit_code": QT_TRANSLATE_NOOP("ErrorKind", "exit code"),
    "not_found": QT_TRANSLATE_NOOP("ErrorKind", "not found"),
    "interrupted": QT_TRANSLATE_NOOP("ErrorKind", "interrupted"),
    "timeout": QT_TRANSLATE_NOOP("ErrorKind", "timeout"),
    "killed": QT_TRANSLATE_NOOP("ErrorKind", "killed"),
    "refused": QT_TRANSLATE_NOOP("ErrorKind", "refused"),
    "malformed": QT_TRANSLATE_NOOP("ErrorKind", "malformed call"),
    "failed": QT_TRANSLATE_NOOP("ErrorKind", "failed"),
    "network": QT_TRANSLATE_NOOP("ErrorKind", "network"),
    "invalid_arguments": QT_TRANSLATE_NOOP("ErrorKind", "wrong arguments"),
    "unknown_tool": QT_TRANSLATE_NOOP("ErrorKind", "unknown tool"),
    "evaluator_failed": QT_TRANSLATE_NOOP("ErrorKind", "evaluator failed"),
    "submission_too_large": QT_TRANSLATE_NOOP("ErrorKind", "submission too large"),
    "submission_unreadable": QT_TRANSLATE_NOOP("ErrorKind", "submission not readable"),
}


class RowText(msgspec.Struct, frozen=True):
    """The parts of a line. `meaning` colours `sign` and `word`; `lines` is how many lines `title` may take."""

    number: str = ""
    time: str = ""
    sign: str = ""
    word: str = ""
    meaning: str = ""
    tool: str = ""
    title: str = ""
    duration: str = ""
    lines: int = 1
    verdict: str = ""
    verdict_meaning: str = ""

    @property
    def spoken(self) -> str:
        """The line as one text."""
        parts = (self.number, self.time, self.word, self.tool, self.title, self.verdict, self.duration)
        return "  ".join(p for p in parts if p)


def row_text(trajectory: Trajectory, kind: str, first: int, last: int, live: str = "", reader: str = "") -> RowText:
    """The line of items first..last: one item, a fold (`kind` says of what: waiting or loop), or the live row.

    A blind `reader` (an author's key) is not told what others think of a step."""
    if kind == "live":
        return _live(trajectory, live)
    if kind in ("waiting", "loop"):
        return _fold(trajectory, kind, trajectory.items.step_at(first), trajectory.items.step_at(last))
    return _item(trajectory, trajectory.items[first], reader)


def status_word(status: str) -> str:
    """The word for an envelope's status."""
    return {
        "finished": QCoreApplication.translate("Step", "finished"),
        "running": QCoreApplication.translate("Step", "running in the background"),
        "timeout": QCoreApplication.translate("Step", "timeout"),
        "killed": QCoreApplication.translate("Step", "killed"),
        "refused": QCoreApplication.translate("Step", "refused"),
        "failed": QCoreApplication.translate("Step", "failed"),
    }.get(status, status)


def error_word(kind: str) -> str:
    """The word for an error's kind; an unknown one is shown as it is."""
    known = ERRORS.get(kind)
    if known is not None:
        return QCoreApplication.translate("ErrorKind", known)
    return one_line(kind.replace("_", " "), 24) or QCoreApplication.translate("Row", "error")


def _item(trajectory: Trajectory, item: Item, reader: str) -> RowText:
    if item.kind == "step":
        return _step(trajectory.steps[int(item.ref)], reader)
    if item.kind == "guidance":
        return _guidance(trajectory.guidance[str(item.ref)])
    if item.kind == "summary":
        summary = trajectory.summaries[str(item.ref)]
        template = QCoreApplication.translate("Row", "summary of {first}–{last}")
        word = template.format(first=summary.first, last=summary.last)
        return RowText(sign="≡", word=word, meaning="ink", title=_short(summary.text), lines=2)
    score = trajectory.scores[int(item.ref)]
    if score.failed:
        word = QCoreApplication.translate("Row", "not scored")
        return RowText(sign="◆", word=word, meaning="error", title=_short(score.message), lines=2)
    word = QCoreApplication.translate("Row", "score {value}").format(value=quantities.score(score.total))
    return RowText(sign="◆", word=word, meaning="ink", title=_short(score.message), lines=2)


def _step(entry: StepEntry, reader: str) -> RowText:
    head = entry.head
    tool = head.tools[0] if head.tools else QCoreApplication.translate("Row", "thought")
    title = head.title.removeprefix(tool).strip() if head.tools else head.title
    sign, word, meaning = "", "", ""
    if head.is_error:
        sign, word, meaning = "✗", error_word(head.error_kind), "error"
    elif head.status == "running":
        sign, word, meaning = "…", QCoreApplication.translate("Row", "in background"), "live"
    verdict, verdict_meaning = verdict_words(seen(entry.verdicts, reader), len(head.tools))
    return RowText(
        number=quantities.number(head.number), time=quantities.clock(head.started_at or head.ended_at),
        sign=sign, word=word, meaning=meaning, tool=one_line(tool, 40), title=one_line(title),
        duration=quantities.duration(quantities.between(head.started_at, head.ended_at)),
        verdict=verdict, verdict_meaning=verdict_meaning)


def verdict_words(verdicts: Mapping[str, Verdict], actions: int) -> tuple[str, str]:
    """Sign and word of what was decided of a step of so many actions, with the colour; empty while it is undecided."""
    decided = step_outcome(verdicts.values(), actions)
    if decided == "mask":
        return "⊘ " + QCoreApplication.translate("Row", "masked"), "mask"
    if masked := masked_actions(verdicts.values(), actions):
        words = QCoreApplication.translate("Row", "action {n} masked")
        return "◐ " + words.format(n=", ".join(map(quantities.number, masked))), "attention"
    if any(v.value == "unsure" for v in verdicts.values()):
        return "? " + QCoreApplication.translate("Row", "unsure"), "attention"
    return ("✓ " + QCoreApplication.translate("Row", "kept"), "keep") if decided == "keep" else ("", "")


def _fold(trajectory: Trajectory, kind: str, at: int, until: int) -> RowText:
    """Steps at..until as one line; only the first and the last are looked at."""
    first, last = trajectory.steps[at].head, trajectory.steps[until].head
    count = until - at + 1
    failed = sum(bool(flags & ERROR) for flags in trajectory.steps.flags[at : until + 1])
    if kind == "waiting":
        title = QCoreApplication.translate("Row", "waiting ×{count}").format(count=count)
    else:
        title = QCoreApplication.translate("Row", "the same ×{count}: {title}").format(count=count,
                                                                                      title=one_line(first.title))
    many = plural(failed)  # a name: lupdate does not follow `translate` with a call in this place
    word = QCoreApplication.translate("Row", "%n failed", None, many) if failed else ""
    return RowText(
        number=f"{quantities.number(first.number)}–{quantities.number(last.number)}",
        time=quantities.clock(first.started_at or first.ended_at), sign="▸" if not failed else "✗", word=word,
        meaning="error" if failed else "muted", tool="", title=title,
        duration=quantities.duration(quantities.between(first.started_at or first.ended_at, last.ended_at)))


def _guidance(guidance: Guidance) -> RowText:
    word = QCoreApplication.translate("Row", "guidance of {author}").format(author=one_line(guidance.author, 24))
    return RowText(time=quantities.clock(guidance.queued_at), sign="★", word=word, meaning="person",
                   title=_short(guidance.text), lines=3)


def _live(trajectory: Trajectory, text: str) -> RowText:
    number = (trajectory.open_step.number if trajectory.open_step else trajectory.row.steps + 1)
    word = QCoreApplication.translate("Row", "now")
    return RowText(number=quantities.number(number), sign="●", word=word, meaning="live",
                   title=" ".join(visible(text[-600:], escapes=False).split())[-240:], lines=2)


def _short(text: str) -> str:
    return one_line(text, 400)


def head_line(head: StepHead) -> str:
    """A step in one short line, for tables: number, how it failed, title."""
    sign = f"✗ {error_word(head.error_kind)}  " if head.is_error else ""
    return f"{quantities.number(head.number)}  {sign}{one_line(head.title)}"
