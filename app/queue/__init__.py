"""The sessions of a review queue, or of a filter, in columns: how far each is, and who has it."""

from app.desk.panel import Panel
from app.kit.i18n import QT_TRANSLATE_NOOP

PANEL = Panel("queue", QT_TRANSLATE_NOOP("Panel", "Queue"), __name__, {
    "live": ("middle", 14), "read": ("middle", 14), "compare": ("middle", 14), "export": ("middle", 14),
    "queue": ("middle", 0)}, is_headed=True)
