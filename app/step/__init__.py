"""One step: thought, actions, observations, and the eye that opens its context."""

from app.desk.panel import Panel
from app.kit.i18n import QT_TRANSLATE_NOOP

PANEL = Panel("step", QT_TRANSLATE_NOOP("Panel", "Step"), __name__, {
    "live": ("right_below", 0), "read": ("right", 0), "compare": ("right", 0),
    "export": ("right", 0), "queue": ("right", 19)}, is_headed=True)
