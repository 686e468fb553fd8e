"""Steps on which authors disagree."""

from app.desk.panel import Panel
from app.kit.i18n import QT_TRANSLATE_NOOP

PANEL = Panel("disagreements", QT_TRANSLATE_NOOP("Panel", "Disagreements"), __name__, {
    "live": ("right_below", 12), "read": ("right_below", 15), "compare": ("middle_below", 2),
    "export": ("middle", 2), "queue": ("right", 16)})
