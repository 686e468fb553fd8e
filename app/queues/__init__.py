"""The list of what there is to work through: mine, queues, saved filters, servers."""

from app.desk.panel import Panel
from app.kit.i18n import QT_TRANSLATE_NOOP

PANEL = Panel("queues", QT_TRANSLATE_NOOP("Panel", "Queues"), __name__, {
    "live": ("left", 13), "read": ("left", 13), "compare": ("left", 13), "export": ("left", 13),
    "queue": ("left", 0)}, is_headed=True)
