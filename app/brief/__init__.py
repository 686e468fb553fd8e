"""The chosen session of a queue in brief, and the one button that goes on with it."""

from app.desk.panel import Panel
from app.kit.i18n import QT_TRANSLATE_NOOP

PANEL = Panel("brief", QT_TRANSLATE_NOOP("Panel", "In brief"), __name__, {
    "live": ("right", 20), "read": ("right", 20), "compare": ("right", 20), "export": ("right", 20),
    "queue": ("right", 0)}, is_headed=True)
