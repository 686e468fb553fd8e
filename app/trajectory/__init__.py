"""The list of steps: folds, filters, find, minimap, digest."""

from app.desk.panel import Panel
from app.kit.i18n import QT_TRANSLATE_NOOP

PANEL = Panel("trajectory", QT_TRANSLATE_NOOP("Panel", "Trajectory"), __name__, {
    "live": ("middle", 0), "read": ("middle", 0), "compare": ("middle", 1),
    "export": ("middle", 1), "queue": ("middle", 11)}, is_headed=True, is_leading=True)
