"""What an export did, or would do: counted per session, with everything that it leaves out and why."""

from __future__ import annotations

from collections import Counter

import msgspec

from core.domain.trajectory import Trajectory
from core.export.cleaning import Leak
from core.export.rows import Row, SessionRows
from core.export.sample import Refusal


class Opinion(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """A source of verdicts: how many steps it masks and keeps. Persons are named as the log names them."""

    author: str
    version: str = ""
    masks: int = 0
    keeps: int = 0


class SessionReport(msgspec.Struct, kw_only=True):
    """One session's part. `head` is the seq up to which its log was read."""

    session: str
    title: str = ""
    origin: str = ""
    head: int = 0
    steps: int = 0
    kept: int = 0
    masked: int = 0
    samples: int = 0
    rebuilt: bool = False
    in_text: bool = False
    refused: list[Refusal] = []
    verdicts: list[Opinion] = []


class Report(msgspec.Struct, kw_only=True):
    """The whole. `samples` are distinct ones, `rows` what balance makes of them, `eval_rows` those in the file for
    evaluation; tokens count distinct samples. `duplicates` were left out, `merged` rows are two samples in one,
    `cut` rows go on with a sample that one row cannot hold exactly, `renamed` counts people's folders in paths,
    `findings` tell what looked like a secret and was replaced."""

    samples: int = 0
    react: int = 0
    summary: int = 0
    rows: int = 0
    tokens: int = 0
    trained: int = 0
    longest: int = 0
    seams: int = 0
    duplicates: int = 0
    renamed: int = 0
    merged: int = 0
    cut: int = 0
    eval_rows: int = 0
    eval_sessions: list[str] = []
    findings: list[Leak] = []
    sessions: list[SessionReport] = []
    warnings: list[str] = []
    files: list[str] = []

    def count(self, row: Row) -> None:
        """Take one row into the totals."""
        self.react += (row.sample.kind == "react" or row.react_tokens > 0) and not row.part
        self.summary += row.sample.kind == "summary"
        self.samples = self.react + self.summary
        self.merged += row.react_tokens > 0
        self.cut += row.part > 0
        self.tokens += row.tokens
        self.trained += row.trained_tokens
        self.longest = max(self.longest, row.tokens)
        self.seams += row.rendered.seams if row.rendered else 0


def session_report(rows: SessionRows, samples: int) -> SessionReport:
    """The part of a session whose rows were all read."""
    told = rows.trajectory
    return SessionReport(session=told.session, title=told.row.title, origin=told.row.origin, head=told.seq,
                         steps=len(told.steps), kept=len(told.steps) - rows.masked, masked=rows.masked,
                         samples=samples, rebuilt=rows.rebuilt, in_text=rows.in_text, refused=rows.refused,
                         verdicts=opinions(told))


def opinions(trajectory: Trajectory) -> list[Opinion]:
    """Who judged this session's steps, with versions."""
    masks: Counter[tuple[str, str]] = Counter()
    keeps: Counter[tuple[str, str]] = Counter()
    for entry in trajectory.steps:
        for verdict in entry.verdicts.values():
            who = (verdict.author.key, verdict.author.version)
            masks[who] += verdict.value == "mask"
            keeps[who] += verdict.value == "keep"
    judges = sorted(set(masks) | set(keeps))
    return [Opinion(author=a, version=v, masks=masks[a, v], keeps=keeps[a, v]) for a, v in judges]
