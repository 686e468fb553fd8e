"""What a server's desk announces, and the desk of all servers with it."""

from PySide6.QtCore import QObject, Signal


class DeskSignals(QObject):
    """What a desk announces; `app.desk.desks.Desks` announces the same of all desks."""

    rows_changed = Signal()
    trajectory_changed = Signal(str)
    trajectory_replaced = Signal(str)
    """The server's log of a session is another one: read `trajectory` again; what was held of it is stale."""

    session_deleted = Signal(str)
    """A session was deleted on its server; nothing of it is here any more."""

    queues_changed = Signal()
    """Review queues changed, or who reads what."""

    outbox_changed = Signal()
    link_changed = Signal()
    answered = Signal(str, object)
    """A command (its id) was answered, whenever it was sent: None, or the Refusal."""

    live_text = Signal(str, str, str)
    """(session, channel, text so far): a thought being written; never stored."""

    blob_arrived = Signal(str)
    """A payload came; `body` gives it."""

    blob_absent = Signal(str)
    """The server does not hold a payload that was wanted."""
