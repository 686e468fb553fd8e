"""A person writes the agent's next actions for a while, and hands back."""

from app.desk.panel import Panel
from app.kit.i18n import QT_TRANSLATE_NOOP

PANEL = Panel("takeover", QT_TRANSLATE_NOOP("Panel", "Take over"), __name__, {
    "live": ("middle_below", 1), "read": ("right_below", 21), "compare": ("right", 21),
    "export": ("right", 21), "queue": ("right", 21)}, grows=True)
