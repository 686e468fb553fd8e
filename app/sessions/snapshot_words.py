"""A snapshot in words: why it was taken, what it holds, and what it does not."""

from __future__ import annotations

from datetime import datetime

import msgspec
from PySide6.QtCore import QLocale

from app.kit import quantities
from app.kit.i18n import QT_TRANSLATE_NOOP, translate
from app.kit.safe_text import one_line
from app.kit.two_lines import TwoLines
from core.domain.events import NotSaved, SnapshotFailed, SnapshotTaken

CAUSES = {
    "steps": QT_TRANSLATE_NOOP("Snapshots", "after so many steps"),
    "time": QT_TRANSLATE_NOOP("Snapshots", "after some time"),
    "evaluation": QT_TRANSLATE_NOOP("Snapshots", "before an evaluation"),
    "summary": QT_TRANSLATE_NOOP("Snapshots", "after a summary"),
    "guidance": QT_TRANSLATE_NOOP("Snapshots", "before advice"),
    "person": QT_TRANSLATE_NOOP("Snapshots", "by hand"),
    "end": QT_TRANSLATE_NOOP("Snapshots", "at the end"),
}
NOT_SAVED = {
    "process": QT_TRANSLATE_NOOP("Snapshots", "program {what}"),
    "shell": QT_TRANSLATE_NOOP("Snapshots", "variables of the shell {what}"),
    "temporary": QT_TRANSLATE_NOOP("Snapshots", "{what}"),
    "file": QT_TRANSLATE_NOOP("Snapshots", "file {what}"),
    "service": QT_TRANSLATE_NOOP("Snapshots", "what the service {what} holds"),
    "outside": QT_TRANSLATE_NOOP("Snapshots", "what the network saw"),
}
MOST_NAMED = 8


class SavedPlace(msgspec.Struct, frozen=True):
    """A snapshot that was taken, or could not be, and when."""

    fact: SnapshotTaken | SnapshotFailed
    at: datetime


def lines_of(place: SavedPlace, is_here: bool | None) -> TwoLines:
    """How a list shows it; `is_here`: whether the server's computer holds it still, None where nobody knows."""
    fact = place.fact
    cause = translate("Snapshots", CAUSES[fact.cause]) if fact.cause in CAUSES else fact.cause
    title = translate("Snapshots", "Step {n}, {cause}").format(
        n=quantities.number(fact.step), cause=one_line(cause, 60))
    when = quantities.short_day_and_minute(place.at)
    if isinstance(fact, SnapshotFailed):
        below = translate("Snapshots", "Not taken: {why}").format(why=one_line(fact.reason, 300))
        return TwoLines(title=title, below=below, sign="✗", meaning="error", right=when)
    gone = translate("Snapshots", "removed meanwhile") if is_here is False else ""
    return TwoLines(title=title, below=" · ".join(filter(None, (gone, size_of(fact)))), right=when,
                    sign="○" if gone else "●", meaning="muted" if gone else "live")


def size_of(fact: SnapshotTaken) -> str:
    """Files, bytes, what it took beside earlier ones, and seconds."""
    size = QLocale().formattedDataSize
    files = translate("Snapshots", "Files: {n}").format(n=quantities.number(fact.files))
    return " · ".join((files, size(fact.bytes), translate("Snapshots", "{size} new").format(
        size=size(fact.added)), quantities.duration(fact.seconds)))


def lost_of(fact: SnapshotTaken) -> str:
    """What it does not bring back; "" where it says nothing."""
    if not fact.not_saved:
        return ""
    words = list(dict.fromkeys(_lost(one) for one in fact.not_saved))
    more = [translate("Snapshots", "and {n} more").format(n=len(words) - MOST_NAMED)]
    return translate("Snapshots", "Not in it: {what}").format(
        what=", ".join(words[:MOST_NAMED] + (more if len(words) > MOST_NAMED else [])))


def _lost(one: NotSaved) -> str:
    words = translate("Snapshots", NOT_SAVED[one.kind]) if one.kind in NOT_SAVED else "{what}"
    named = words.format(what=one_line(one.what or one.kind, 60))
    return f"{one_line(one.host, 30)}: {named}" if one.host else named
