"""The files of a session: versions and their differences."""

from app.desk.panel import Panel
from app.kit.i18n import QT_TRANSLATE_NOOP

PANEL = Panel("files", QT_TRANSLATE_NOOP("Panel", "Files"), __name__, {
    "live": ("right_line", 0), "read": ("right_below", 0), "compare": ("right_below", 0),
    "export": ("right", 10), "queue": ("right", 10)})
