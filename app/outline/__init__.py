"""The outline of a session: its phases, what stands out in them, and the plan."""

from app.desk.panel import Panel
from app.kit.i18n import QT_TRANSLATE_NOOP

PANEL = Panel("outline", QT_TRANSLATE_NOOP("Panel", "Outline"), __name__, {
    "live": ("left", 11), "read": ("left", 0), "compare": ("left", 11),
    "export": ("left", 11), "queue": ("left", 11)})
