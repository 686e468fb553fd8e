"""A run of reinforcement learning: its curves, the group of a task side by side, what is worth a look."""

from app.desk.panel import Panel
from app.kit.i18n import QT_TRANSLATE_NOOP

PANEL = Panel("learning", QT_TRANSLATE_NOOP("Panel", "Learning"), __name__, {
    "live": ("middle", 15), "read": ("middle", 15), "compare": ("middle", 15), "export": ("middle", 3),
    "queue": ("middle", 15)}, is_headed=True)
