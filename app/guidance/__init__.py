"""Advice to a working agent: the box, the queue, templates, what came of it."""

from app.desk.panel import Panel
from app.kit.i18n import QT_TRANSLATE_NOOP

PANEL = Panel("guidance", QT_TRANSLATE_NOOP("Panel", "Guidance"), __name__, {
    "live": ("middle_below", 0), "read": ("right_below", 13), "compare": ("right", 13),
    "export": ("right", 13), "queue": ("right", 13)}, is_headed=True, grows=True)
