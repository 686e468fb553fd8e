"""Remarks of readers on steps and on words of them, and the page that shows them to others."""

from app.desk.panel import Panel
from app.kit.i18n import QT_TRANSLATE_NOOP

PANEL = Panel("remarks", QT_TRANSLATE_NOOP("Panel", "Remarks"), __name__, {
    "live": ("right_below", 14), "read": ("right_below", 4), "compare": ("right_below", 14),
    "export": ("right", 18), "queue": ("right", 18)})
