"""What an account may do on a server, in words."""

from __future__ import annotations

from collections.abc import Iterable

from app.kit.i18n import QT_TRANSLATE_NOOP, translate

_WORDS = {
    "view": QT_TRANSLATE_NOOP("Scopes", "look"),
    "guide": QT_TRANSLATE_NOOP("Scopes", "guide"),
    "review": QT_TRANSLATE_NOOP("Scopes", "judge steps"),
    "run": QT_TRANSLATE_NOOP("Scopes", "work on sessions that wait for a runner from outside"),
    "propose": QT_TRANSLATE_NOOP("Scopes", "propose verdicts"),
    "metrics": QT_TRANSLATE_NOOP("Scopes", "watch the server"),
    "admin": QT_TRANSLATE_NOOP("Scopes", "everything"),
}


def scope_words(scopes: Iterable[str]) -> str:
    """The scopes in the reader's language, one after the other."""
    return ", ".join(translate("Scopes", _WORDS[s]) if s in _WORDS else s for s in scopes)
