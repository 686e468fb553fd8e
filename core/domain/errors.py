"""The errors that a person is told about; every other exception is a bug.

ReportableError
├── InvalidInput        a file, an argument or a message is wrong           (exit status 2)
├── NotFound            what was named does not exist                       (exit status 2)
├── Conflict            not allowed in this state                           (exit status 1)
├── Unavailable         server, engine, endpoint or disk cannot be used now (exit status 1)
├── LimitReached        steps, time, tokens, money, size                    (exit status 1)
├── ProtocolMismatch    wire or file version                                (exit status 1)
└── Denied              token, scope                                        (exit status 1)

Each carries a stable lower_snake `code`, one English sentence for logs and the command line, and `params`
from which the desktop makes its own sentence in the reader's language.
"""

import re
from typing import ClassVar

_ERRNO = re.compile(r"\[(?:Errno|WinError) -?\d+\] ")
"""What Python puts before the system's own words; it says nothing to people."""


class ReportableError(Exception):
    """An expected failure. `str()` is one sentence that names what and where."""

    exit_status: ClassVar[int] = 1

    def __init__(self, code: str, sentence: str, **params: object) -> None:
        self.code = code
        self.sentence = _ERRNO.sub("", sentence)
        super().__init__(self.sentence)
        self.params = params


class InvalidInput(ReportableError):
    """A file, an argument or a message is wrong."""

    exit_status = 2


class NotFound(ReportableError):
    """What was named does not exist."""

    exit_status = 2


class Conflict(ReportableError):
    """Not allowed in the present state, such as pausing a finished session."""


class Unavailable(ReportableError):
    """A server, engine, endpoint or disk cannot be used now; trying later may help."""


class LimitReached(ReportableError):
    """A limit of steps, time, tokens, money or size was reached."""


class ProtocolMismatch(ReportableError):
    """The other side, or a file, speaks a version that this program does not."""


class Denied(ReportableError):
    """The token is missing, unknown, revoked, or lacks the scope."""


_CLASSES = {of_one.__name__: of_one for of_one in ReportableError.__subclasses__()}


def error_kind(error: ReportableError) -> str:
    """The name under which an error's class travels on the wire."""
    return type(error).__name__


def make_error(kind: str, code: str, sentence: str, params: dict[str, object]) -> ReportableError:
    """The error that the other side reported; an unknown kind becomes a plain ReportableError."""
    return _CLASSES.get(kind, ReportableError)(code, sentence, **params)
