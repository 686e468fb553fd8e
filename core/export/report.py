"""Counts a report: rows into the totals, and a session's part with who judged it."""

from __future__ import annotations

from collections import Counter

from core.domain.trajectory import Trajectory
from core.export.rows import SampleRow, SessionRows
from core.workers.export import Report, SessionReport, VerdictSource


def count_row(report: Report, row: SampleRow) -> None:
    """Take one row into the totals."""
    report.react += (row.sample.kind == "react" or row.react_tokens > 0) and not row.part
    report.summary += row.sample.kind == "summary"
    report.samples = report.react + report.summary
    report.merged += row.react_tokens > 0
    report.cut += row.part > 0
    report.tokens += row.tokens
    report.trained += row.trained_tokens
    report.longest = max(report.longest, row.tokens)
    report.seams += row.rendered.seams if row.rendered else 0


def session_report(rows: SessionRows, samples: int) -> SessionReport:
    """The part of a session whose rows were all read."""
    trajectory = rows.trajectory
    steps, outcomes = len(trajectory.steps), rows.outcomes
    return SessionReport(session=trajectory.session, title=trajectory.row.title, origin=trajectory.row.origin,
                         head=trajectory.seq, steps=steps, kept=outcomes["keep"], masked=outcomes["mask"],
                         partly=outcomes["partly"], undecided=outcomes["undecided"], samples=samples,
                         rebuilt=rows.rebuilt, in_text=rows.in_text, refused=rows.refused,
                         thoughts=rows.thoughts["shown"], homeless_thoughts=rows.thoughts["homeless"],
                         verdicts=verdict_sources(trajectory))


def verdict_sources(trajectory: Trajectory) -> list[VerdictSource]:
    """Who judged this session's steps, with versions."""
    masks: Counter[tuple[str, str]] = Counter()
    keeps: Counter[tuple[str, str]] = Counter()
    for entry in trajectory.steps:
        for verdict in entry.verdicts.values():
            source = (verdict.author.key, verdict.author.version)
            masks[source] += verdict.value == "mask"
            keeps[source] += verdict.value == "keep"
    sources = sorted(set(masks) | set(keeps))
    return [VerdictSource(author=a, version=v, masks=masks[a, v], keeps=keeps[a, v]) for a, v in sources]
