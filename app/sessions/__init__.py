"""The list of sessions: filters, controls, new sessions, thresholds."""

from app.desk.panel import Panel
from app.kit.i18n import QT_TRANSLATE_NOOP

PANEL = Panel("sessions", QT_TRANSLATE_NOOP("Panel", "Sessions"), __name__, {
    "live": ("left", 0), "read": ("left", 1), "compare": ("left", 0),
    "export": ("left", 0), "queue": ("left", 14)}, is_leading=True)
