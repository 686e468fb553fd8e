"""Queries, results and pages visited."""

from app.desk.panel import Panel
from app.kit.i18n import QT_TRANSLATE_NOOP

PANEL = Panel("searches", QT_TRANSLATE_NOOP("Panel", "Searches"), __name__, {
    "live": ("right", 2), "read": ("right_below", 2), "compare": ("right_below", 2),
    "export": ("right", 12), "queue": ("right", 12)})
