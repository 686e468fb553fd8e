"""What needs a person's look, in a list and as messages of the desktop."""

from app.desk.panel import Panel
from app.kit.i18n import QT_TRANSLATE_NOOP

PANEL = Panel("attention", QT_TRANSLATE_NOOP("Panel", "Attention"), __name__, {
    "live": ("left", 2), "read": ("left", 12), "compare": ("left", 12),
    "export": ("left", 12), "queue": ("left", 12)})
