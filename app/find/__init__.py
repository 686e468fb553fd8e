"""Find in all sessions of all servers."""

from app.desk.panel import Panel
from app.kit.i18n import QT_TRANSLATE_NOOP

PANEL = Panel("find", QT_TRANSLATE_NOOP("Panel", "Find"), __name__, {
    "live": ("right", 13), "read": ("right_below", 14), "compare": ("right_below", 13),
    "export": ("right", 14), "queue": ("right", 14)})
