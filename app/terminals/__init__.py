"""The terminals of a session, drawn as terminals, at any step."""

from app.desk.panel import Panel
from app.kit.i18n import QT_TRANSLATE_NOOP

PANEL = Panel("terminals", QT_TRANSLATE_NOOP("Panel", "Terminals"), __name__, {
    "live": ("right", 0), "read": ("right_below", 1), "compare": ("right_below", 1),
    "export": ("right", 11), "queue": ("right", 11)})
