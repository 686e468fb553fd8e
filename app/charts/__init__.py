"""Score, tokens, cost and time as curves."""

from app.desk.panel import Panel
from app.kit.i18n import QT_TRANSLATE_NOOP

PANEL = Panel("charts", QT_TRANSLATE_NOOP("Panel", "Charts"), __name__, {
    "live": ("right_below", 13), "read": ("right_below", 16), "compare": ("middle_below", 0),
    "export": ("right", 17), "queue": ("right", 17)})
