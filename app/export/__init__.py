"""Choose, preview, write and train."""

from app.desk.panel import Panel
from app.kit.i18n import QT_TRANSLATE_NOOP

PANEL = Panel("export", QT_TRANSLATE_NOOP("Panel", "Export and train"), __name__, {
    "live": ("middle", 13), "read": ("middle", 13), "compare": ("middle", 13),
    "export": ("middle", 0), "queue": ("middle", 13)})
