"""Logging set-up: a console for people, a rotating file of JSON lines, and no secret in either.

Loggers are named by topic (session, agent, sandbox, wire, store, train, ui), not by module. What an annotator
must see is a notice of the desktop, not a log line.
"""

from __future__ import annotations

import base64
import io
import json
import logging
import os
import re
import sys
import time
import urllib.parse
from collections import OrderedDict
from contextlib import suppress
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Buffer

TOPICS = ("session", "agent", "sandbox", "wire", "store", "train", "ui")
HIDDEN = "[hidden]"

_SHORTEST = 6
_FILE_BYTES = 10 * 1024 * 1024
_MOST_FILES = 5

_PATTERNS = re.compile(
    r"""
    tp[hi]_[A-Za-z0-9_-]{20,}                                 # our own tokens and invitations
    | (?: (?<![A-Za-z0-9]) | (?<=\\[nrt]) )                   # not inside a word; behind an escape as repr() writes it
      (?: sk- [A-Za-z0-9_-]{16,}                              # OpenAI, Anthropic, OpenRouter
        | (?: hf_ | gsk_ | xai- ) [A-Za-z0-9]{20,}
        | (?: gh[pousr]_ | npm_ ) [A-Za-z0-9]{30,} | github_pat_ [A-Za-z0-9_]{40,}
        | glpat- [A-Za-z0-9_-]{20,}
        | [rs]k_(?:live|test)_ [A-Za-z0-9]{16,}               # Stripe
        | SG\. [\w-]{16,} \. [\w-]{16,}                       # SendGrid
        | pypi- [\w-]{50,}
        | xox[abeoprs]- [A-Za-z0-9-]{10,}
        | AIza [A-Za-z0-9_-]{35} | ya29\. [\w-]{20,}          # Google
        | (?:AKIA|ASIA) [A-Z0-9]{16} \b
        | eyJ [A-Za-z0-9_-]{10,} \. [A-Za-z0-9_-]{10,} \. [A-Za-z0-9_-]{10,} )     # JSON web tokens
    | (?<= hooks\.slack\.com/services/) [\w/]{20,}
    | (?<= Bearer\ ) [A-Za-z0-9._~+/-]{16,} =*
    | (?<= ://) [^\s/:@]+ : [^\s/@]+ (?= @)                   # user:password@host
    | -----BEGIN\ [A-Z\ ]*PRIVATE\ KEY----- .*? -----END\ [A-Z\ ]*PRIVATE\ KEY-----
    """,
    re.VERBOSE | re.DOTALL,
)


class Redactor:
    """Takes secrets out of text: known values in every common spelling, and what looks like a key."""

    def __init__(self) -> None:
        self._values: set[str] = set()
        self._exact: re.Pattern[str] | None = None
        self._exact_bytes: re.Pattern[bytes] | None = None

    def add(self, secret: str) -> None:
        """Hide this value from now on; shorter than 6 characters is too short to be told from other text."""
        if len(secret) < _SHORTEST or secret in self._values:
            return
        self._values |= _spellings(secret)
        longest_first = sorted(self._values, key=len, reverse=True)
        self._exact = re.compile("|".join(map(re.escape, longest_first)))
        raw = [re.escape(value.encode("utf-8", "surrogateescape")) for value in longest_first]
        self._exact_bytes = re.compile(b"|".join(raw))

    def redact(self, text: str) -> str:
        """The text with `[hidden]` in place of every secret."""
        return _PATTERNS.sub(HIDDEN, self.redact_exact(text))

    def redact_exact(self, text: str) -> str:
        """The text without the known values; what only looks like a key stays (for trajectories: it may be data)."""
        return self._exact.sub(HIDDEN, text) if self._exact else text

    def star_out(self, data: bytes) -> bytes:
        """The bytes with stars, as many, over the known values: offsets into a stream stay what they are."""
        return self._exact_bytes.sub(lambda m: b"*" * len(m[0]), data) if self._exact_bytes else data

    @property
    def longest_bytes(self) -> int:
        """Bytes of the longest spelling, at least 1."""
        return max((len(v.encode("utf-8", "surrogateescape")) for v in self._values), default=1)


def _spellings(secret: str) -> set[str]:
    """A value as it may appear: raw, in JSON, in a URL, in hex, and inside base64 at each of its three phases."""
    raw = secret.encode("utf-8", "surrogateescape")
    escaped = json.dumps(secret, ensure_ascii=False)[1:-1]
    quoted = urllib.parse.quote(secret, safe="")
    found = {secret, escaped, json.dumps(secret)[1:-1], quoted, raw.hex(), raw.hex().upper()}
    found |= {urllib.parse.quote(secret), re.sub("%..", lambda m: m[0].lower(), quoted)}
    for phase in range(3):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            whole = encode(b"\0" * phase + raw).decode().rstrip("=")
            spoiled_end = 1 if (phase + len(raw)) % 3 else 0
            inner = whole[(0, 2, 3)[phase] : len(whole) - spoiled_end]
            if len(inner) >= _SHORTEST:
                found.add(inner)
    return found


redactor = Redactor()
"""The process's own; whoever reads a key from the environment or a file adds it here."""


def set_up(program: str, folder: Path | None = None, *, verbose: bool = False, console: bool = True,
           as_json: bool = False) -> None:
    """Send the program's log to stderr (`as_json`: as JSON lines there too), and to `folder`/`program`.log (JSON lines,
    5 × 10 MiB, mode 0600).

    Replaces an earlier set-up.
    """
    root = logging.getLogger()
    for handler in list(root.handlers):
        if getattr(handler, "is_ours", False):
            root.removeHandler(handler)
            handler.close()
    root.setLevel(logging.WARNING)  # of libraries; our topics say more
    for topic in TOPICS:
        logging.getLogger(topic).setLevel(logging.DEBUG if verbose else logging.INFO)
    if console:
        formatter = JsonFormatter(program) if as_json else PlainFormatter()
        _attach(root, logging.StreamHandler(sys.stderr), formatter)
    if folder is not None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _attach(root, _PrivateFile(folder / f"{program}.log"), JsonFormatter(program))


def silenced(name: str) -> logging.Logger:
    """A library's own log at a level that disturbs nobody: our status tells of refused handshakes and failed pings."""
    logger = logging.getLogger(name)
    logger.setLevel(logging.CRITICAL)
    return logger


class Thinned:
    """Says each cause once a minute at most, and how often it came meanwhile with the next time.

    `most` lines a minute of all causes together: what strangers bring about cannot fill a disk.
    """

    def __init__(self, logger: logging.Logger, every_s: float = 60.0, most: int = 120) -> None:
        self._logger, self._every_s, self._most = logger, every_s, most
        self._causes: OrderedDict[str, tuple[float, int]] = OrderedDict()
        self._minute, self._lines = 0.0, 0

    def say(self, level: int, cause: str, message: str, *values: object) -> None:
        """A line of the log, unless the cause or all of them together had theirs."""
        now = time.monotonic()
        due, untold = self._causes.pop(cause, (0.0, 0))
        if now < due or not self._has_room(now):
            self._causes[cause] = due, untold + 1
        else:
            self._causes[cause] = now + self._every_s, 0
            more = f" ({untold} more since it was told last)" if untold else ""
            self._logger.log(level, message + more, *values)
        if len(self._causes) > 1024:
            self._causes.popitem(last=False)

    def _has_room(self, now: float) -> bool:
        if now - self._minute >= self._every_s:
            self._minute, self._lines = now, 0
        self._lines += 1
        return self._lines <= self._most


class _UnfailingBytes(io.RawIOBase):
    """A file descriptor whose failing writes (a full disk, a reader that is gone) are nobody's business."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._handle

    def write(self, data: Buffer) -> int:
        with suppress(OSError):
            os.write(self._handle, data)
        return memoryview(data).nbytes


def make_stderr_unfailing() -> None:
    """What cannot be written to this process's stderr is dropped: it must not change how the process ends.

    Python itself would end with status 120 where the last flush fails, whatever the program's own status.
    """
    if sys.__stderr__ is not None and sys.stderr is sys.__stderr__:
        raw = _UnfailingBytes(sys.__stderr__.fileno())
        sys.stderr = io.TextIOWrapper(io.BufferedWriter(raw), encoding="utf-8", errors="backslashreplace",
                                      line_buffering=True)


def _attach(root: logging.Logger, handler: logging.Handler, formatter: logging.Formatter) -> None:
    handler.setFormatter(formatter)
    handler.is_ours = True  # type: ignore[attr-defined]
    root.addHandler(handler)


class _PrivateFile(RotatingFileHandler):
    """A rotating file that only its owner may read. Where the disk does not take it, stderr has a sentence once a
    minute, and no traceback for each line."""

    _silent_until = 0.0

    def __init__(self, path: Path) -> None:
        super().__init__(path, maxBytes=_FILE_BYTES, backupCount=_MOST_FILES - 1, encoding="utf-8",
                         errors="backslashreplace")

    def handleError(self, record: logging.LogRecord) -> None:
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            super().handleError(record)
            return
        now = time.monotonic()
        if now >= self._silent_until and sys.stderr is not None:
            self._silent_until = now + 60.0
            with suppress(OSError, ValueError):
                sys.stderr.write(f"{self.baseFilename} cannot be written: {error.strerror}\n")

    def _open(self):  # type: ignore[no-untyped-def]  # noqa: ANN202 - typeshed's type is private to it
        os.close(os.open(self.baseFilename, os.O_CREAT | os.O_WRONLY, 0o600))
        return super()._open()


class PlainFormatter(logging.Formatter):
    """One line for a person; control characters of foreign text are shown, not obeyed."""

    def format(self, record: logging.LogRecord) -> str:
        """time topic level message."""
        time = datetime.fromtimestamp(record.created).strftime("%H:%M:%S")
        level = "" if record.levelno == logging.INFO else f" {record.levelname.lower()}"
        text = f"{time} {record.name}{level} {_message(self, record)}"
        return re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", lambda m: f"\\x{ord(m[0]):02x}", text)


class JsonFormatter(logging.Formatter):
    """One JSON object per line."""

    def __init__(self, program: str) -> None:
        super().__init__()
        self._program = program

    def format(self, record: logging.LogRecord) -> str:
        """at, program, pid, topic, level, message."""
        entry = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "program": self._program, "pid": record.process, "topic": record.name, "level": record.levelname.lower(),
            "message": _message(self, record),
        }
        return json.dumps(entry, ensure_ascii=False)


def _message(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    text = record.getMessage()
    if record.exc_info:
        text += "\n" + formatter.formatException(record.exc_info)
    return redactor.redact(text)
