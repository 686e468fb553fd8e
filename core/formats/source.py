"""One file that may hold sessions: its bytes, bounded, and the little that recognition needs."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal

import msgspec

from core.domain.errors import InvalidInput, LimitReached, Unavailable
from core.formats.json_items import LARGE, FilePieces, parse_large, parse_some
from core.formats.json_text import Parsed, objects_in, parse
from core.formats.unpacked import Unpacked, dress

MAX_JSON = 1024 * 1024 * 1024
"""Largest file that is parsed as one JSON text, in bytes; JSON Lines are read line by line without this bound."""

MAX_LINE = 256 * 1024 * 1024
"""Largest single line, in bytes."""

SAMPLES = 50
"""How many lines or items recognition looks at."""

_PROGRESS_BYTES = 64 * 1024
_CHUNK = 1024 * 1024
_HEAD = 64 * 1024

Shape = Literal["lines", "list", "object", "none"]


def is_plain(path: Path) -> bool:
    """Whether there is a regular file, and no link to one; not so where nobody may look."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except (OSError, ValueError):
        return False


def printable(name: str) -> str:
    """The name of a file with a sign in place of each byte that is no UTF-8 (PEP 383)."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


class FileLine(msgspec.Struct, frozen=True):
    """One line of a file: its number from 1, the byte it starts at, and its bytes without the line's end."""

    number: int
    start: int
    data: bytes
    whole: bool
    """Whether a line end follows; the last line of a growing file has none."""
    stop: int
    """The byte after the line and its end."""


class Source:
    """A regular file. Raises InvalidInput for anything else (a device, a socket, a missing file)."""

    def __init__(self, path: Path, progress: Callable[[int], None] | None = None) -> None:
        """`progress` is called every so often with how many bytes of the file have been read."""
        self._progress = progress
        self.path = path
        """The file's name, which may tell what it is of."""
        self.file = path
        """Where its bytes are read: in it, or in what it unpacks to."""
        self.trouble = ""
        """What could not be unpacked."""
        self.held: dict[Any, Any] | None = None
        """What readings of a growing file share, as long as it only grows; None for one that is read once."""
        try:
            if not path.is_file():
                raise InvalidInput("not_a_file", f"{path} is not a file.", path=str(path))
            self._look(path)
            if packed := dress(self.head):
                self._unpacked = Unpacked(path, packed)
                self.trouble = self._unpacked.trouble
                self._look(self._unpacked.path)
        except OSError as error:
            raise self._unreadable(error) from error

    @property
    def name(self) -> str:
        """What the file is called, as text that can be written: a name may have bytes that are no UTF-8."""
        return printable(self.path.name)

    def _unreadable(self, error: OSError) -> Unavailable:
        return Unavailable("file_unreadable", f"{self.path} cannot be read: {error.strerror}.", path=str(self.path))

    def opened(self) -> IO[bytes]:
        """The bytes. Raises Unavailable (file_unreadable) where they are gone meanwhile."""
        try:
            return self.file.open("rb")
        except OSError as error:
            raise self._unreadable(error) from error

    def _look(self, file: Path) -> None:
        self.file, self.size = file, file.stat().st_size
        with file.open("rb") as held:
            self.head = held.read(_HEAD)

    def without_steps(self, wanted: str, problems: Iterable[str] = ()) -> InvalidInput:
        """The error (no_steps) for a file that holds no `wanted`, with what else is wrong with it."""
        why = " ".join(problems)
        return InvalidInput("no_steps", f"{self.path} holds no {wanted}. {why}".strip(), path=str(self.path),
                            why=why)

    def part(self, path: Path) -> Source:
        """Another file that is a part of what this one stands for."""
        return Source(path)

    @property
    def is_read_again(self) -> bool:
        """Whether what its lines hold is decoded each time it is looked at, for memory's sake."""
        return self.size >= LARGE

    @property
    def first_byte(self) -> bytes:
        """The first byte that is no white space; it tells JSON objects, lists and archives apart."""
        return self.head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]

    @property
    def data(self) -> bytes:
        """All bytes. Raises LimitReached beyond MAX_JSON."""
        self._check_size()
        with self.opened() as file:
            return file.read()

    def pieces(self) -> FilePieces:
        """The bytes, to be read piece by piece. Raises Unavailable (file_unreadable)."""
        try:
            return FilePieces(self.file)
        except OSError as error:
            raise self._unreadable(error) from error

    def _check_size(self) -> None:
        if self.size > MAX_JSON:
            raise LimitReached("file_too_large", f"{self.path} has {self.size:,} bytes; {MAX_JSON:,} can be read.")

    @cached_property
    def json(self) -> Parsed:
        """The file as one JSON value; the items of long lists are decoded when they are looked at. Raises LimitReached
        beyond MAX_JSON."""
        self._check_size()
        return parse_large(self.pieces()) if self.size >= LARGE else parse(self.data)

    @property
    def damage(self) -> list[str]:
        """One sentence where the JSON value could be read in part only."""
        return [f"{self.json.problem} What stands before it was read."] if self.json.problem else []

    @cached_property
    def shape(self) -> Shape:
        """How the file is made, judged by its first lines; a single line counts as a JSON text, not as lines."""
        if self.first_byte not in (b"{", b"["):
            return "none"
        first = [] if self._is_one_line() else list(islice(self.lines(), 8))
        if len(first) > 1:
            parsed = [parse(line.data) for line in first]
            whole = [isinstance(p.value, dict | list) and not p.problem for p in parsed]
            if whole[0] or sum(whole) > len(whole) // 2:
                return "lines"
        return "list" if self.first_byte == b"[" else "object"

    def _is_one_line(self) -> bool:
        """Whether nothing but white space follows the first line, found without holding that line."""
        has_begun = is_over = False
        with self.opened() as file:
            while chunk := file.read(_CHUNK):
                chunk = chunk if has_begun else chunk.lstrip()
                end = -1 if is_over else chunk.find(b"\n")
                if (is_over or end >= 0) and chunk[end + 1 :].strip():
                    return False
                has_begun, is_over = has_begun or bool(chunk), is_over or end >= 0
        return True

    @cached_property
    def samples(self) -> tuple[Any, ...]:
        """The first values: of the first lines, of the first items of a list, or the one object."""
        if self.shape == "none":
            return ()
        if self.shape == "lines":
            return tuple(parse(line.data).value for line in islice(self.lines(), SAMPLES))
        value = self.json.value
        return tuple(value[:SAMPLES]) if isinstance(value, list) else (value,)

    @property
    def object(self) -> dict[str, Any]:
        """The one object that the file is, or an empty one."""
        value = self.json.value if self.shape == "object" else None
        return value if isinstance(value, dict) else {}

    def records(self, members: tuple[str, ...] | None = None) -> Iterator[tuple[FileLine, Parsed]]:
        """The lines that are not blank, each with its JSON value; each object of a line that holds several. Of objects
        `members` are enough, where they are named."""
        reported = 0
        for line in self.lines():
            if self._progress is not None and line.stop - reported >= _PROGRESS_BYTES:
                self._progress(line.start)
                reported = line.stop
            parsed = parse(line.data) if members is None else parse_some(line.data, members)
            if not parsed.problem or len(parts := objects_in(line.data)) < 2:
                yield line, parsed
                continue
            for place, part in parts:
                yield msgspec.structs.replace(line, start=line.start + place, data=part), parse(part)

    def lines(self, start: int = 0, number: int = 0) -> Iterator[FileLine]:
        """The lines that are not blank, from the byte `start` on, before which there are `number` lines.

        Raises LimitReached for one beyond MAX_LINE.
        """
        with self.opened() as file:
            file.seek(start)
            while data := file.readline(MAX_LINE + 1):
                number += 1
                if len(data) > MAX_LINE:
                    raise LimitReached("line_too_long",
                                       f"Line {number} of {self.path} is longer than {MAX_LINE:,} bytes.",
                                       path=str(self.path))
                if data.strip():
                    yield FileLine(number, start, data.rstrip(b"\r\n"), data.endswith(b"\n"), start + len(data))
                start += len(data)
