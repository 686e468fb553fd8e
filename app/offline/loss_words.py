"""What will be lost with a session, in the reader's language. Words only."""

from __future__ import annotations

import msgspec
from PySide6.QtCore import QLocale

from app.kit import quantities
from app.kit.i18n import translate
from app.kit.safe_text import one_line
from core.domain.losses import Losses


class Question(msgspec.Struct, frozen=True):
    """What is asked before something is lost: the act, its button, and what goes."""

    act: str
    button: str
    detail: str


def deletion_of(lost: Losses) -> Question:
    """Of a session that is deleted on its server."""
    act = translate("Losses", "Delete “{title}” for everybody?")
    detail = [_what_goes(lost), translate(
        "Losses", "It goes from the server, and from every computer that holds a copy when that connects next. This "
        "cannot be undone; only an archive or a backup of the server brings it back.")]
    return Question(act.format(title=_title(lost)), translate("Losses", "Delete"), "\n\n".join(detail))


def archiving_of(lost: Losses, path: str, *, deletes: bool) -> Question:
    """Of a session that is put into a file."""
    act = translate("Losses", "Archive “{title}”?").format(title=_title(lost))
    first = translate("Losses", "All of it is written to {path} and read back.").format(path=one_line(path, 200))
    then = translate(
        "Losses", "Then it is deleted: from the server, and from every computer that holds a copy. Opening the file "
        "brings it back as it was; sandboxes with their files are not in it.") if deletes else _stays()
    return Question(act, translate("Losses", "Archive"), "\n\n".join([_what_goes(lost), first, then]))


def removal_of(lost: Losses, why: str) -> Question:
    """Of a copy that is removed from this computer alone, and why no more than that."""
    act = translate("Losses", "Remove the copy of “{title}” from this computer?")
    button = translate("Losses", "Remove")
    return Question(act.format(title=_title(lost)), button, "\n\n".join([why, _what_goes(lost), _stays()]))


def no_server() -> str:
    """Why the session itself cannot go now."""
    return translate("Losses", "Its server is not connected, so that only what is here can go.")


def no_admin() -> str:
    """Why this person cannot delete it."""
    return translate("Losses", "Your account may not delete sessions of that server, so that only what is here can go.")


def old_server() -> str:
    """Why an older server cannot delete it."""
    return translate("Losses", "Its server is too old to delete sessions, so that only what is here can go.")


def _stays() -> str:
    return translate(
        "Losses", "The session itself stays on its server. What you wrote and could not send yet stays, too.")


def _what_goes(lost: Losses) -> str:
    lines = [(translate("Losses", "Steps: {n}"), quantities.number(lost.steps)),
             (translate("Losses", "Opinions of people: {n}"), _opinions(lost)),
             (translate("Losses", "Messages to the agent: {n}"), quantities.number(lost.guidance)),
             (translate("Losses", "Size: {n}"), QLocale().formattedDataSize(lost.bytes))]
    if lost.hosts:
        lines.append((translate("Losses", "Sandboxes with their files: {n}"), quantities.number(lost.hosts)))
    return "\n".join(line.format(n=value) for line, value in lines)


def _opinions(lost: Losses) -> str:
    names = ", ".join(one_line(name, 40) for name in lost.people[:6]) + (" …" if len(lost.people) > 6 else "")
    return f"{quantities.number(lost.opinions)} ({names})" if names else quantities.number(lost.opinions)


def _title(lost: Losses) -> str:
    return one_line(lost.title or lost.session, 80)
