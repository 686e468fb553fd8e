"""What the pinned rows say: the task in two lines, and the call that began a subagent. No Qt widgets."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.desk.row_text import RowText
from app.kit import quantities
from app.kit.safe_text import one_line
from core.domain.request import headline, plain_words
from core.domain.session import SessionRow
from core.domain.trajectory import Trajectory


def _lines(trajectory: Trajectory) -> list[str]:
    """The lines of what was asked, without what programs put around it; where that begins with a heading, as
    "Motivation", the task's title stands first."""
    created = trajectory.created
    if created is None:
        return []
    text = headline(created.task.description) or created.task.description[:4000] or created.task.title
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if lines and created.task.description.lstrip().startswith("#") and created.task.title:
        lines = [created.task.title, *(line for line in lines if not line.startswith("#"))]
    return [line for line in (one_line(plain_words(line)) for line in lines) if line]


def task_row(trajectory: Trajectory) -> RowText:
    """Row 0: what was asked."""
    lines = _lines(trajectory)
    began = next(iter(trajectory.steps.started), float("nan"))
    return RowText(number="0", time=quantities.clock(quantities.moment(began)) if began == began else "",
                   icon="target", tool=QCoreApplication.translate("Row", "Task"), meaning="person",
                   title=lines[0] if lines else "", face="strong")


def rest_of_task(trajectory: Trajectory) -> str:
    """The second line of row 0."""
    return " ".join(_lines(trajectory)[1:])[:400]


def parent_row(row: SessionRow, above: SessionRow | None) -> RowText:
    """The session that this one branched from: the steps before are there."""
    title = QCoreApplication.translate("Row", "branched from {title}").format(
        title=one_line((above.title or above.task) if above is not None else row.parent, 120))
    return RowText(number=quantities.number(row.parent_step), icon="corner-left-up", title=title, meaning="muted",
                   tool=QCoreApplication.translate("Row", "Branch"), word=one_line(row.arm, 60))


def caller_row(row: SessionRow, step: int | None) -> RowText:
    """The step that called this subagent, and how far the reader is in it."""
    word = QCoreApplication.translate("Row", "step {n} of {count}").format(
        n=quantities.number(step or row.steps), count=quantities.number(row.steps))
    if row.errors:
        word += f"  ✗ {quantities.number(row.errors)}"
    return RowText(number=quantities.number(row.caller_step) if row.caller_step else "", icon="bot",
                   tool=QCoreApplication.translate("Row", "Caller"), title=one_line(row.title, 160), word=word,
                   meaning="muted",
                   duration=quantities.short_duration(row.worked_s))
