"""Two sessions side by side."""

from app.desk.panel import Panel
from app.kit.i18n import QT_TRANSLATE_NOOP

PANEL = Panel("compare", QT_TRANSLATE_NOOP("Panel", "Compare"), __name__, {
    "live": ("middle", 12), "read": ("middle", 12), "compare": ("middle", 0),
    "export": ("middle", 12), "queue": ("middle", 12)})
