"""Verdicts on steps: keys, book with undo, rules, opinions of others."""

from operator import attrgetter

from app.desk.panel import Panel
from app.kit.i18n import QT_TRANSLATE_NOOP

PANEL = Panel("review", QT_TRANSLATE_NOOP("Panel", "Opinions"), __name__, {
    "live": ("right_below", 11), "read": ("right_below", 3), "compare": ("middle_below", 1),
    "export": ("right", 15), "queue": ("right", 15)}, bar=attrgetter("bar"))
