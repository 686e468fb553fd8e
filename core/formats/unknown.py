"""Why a file is in no known format: what it is instead, as far as its bytes tell."""

from __future__ import annotations

from core.domain.errors import InvalidInput
from core.formats import foreign_database, zipped
from core.formats.source import Source

_MAGIC = ((b"\x89PNG", "a picture"), (b"\xff\xd8\xff", "a picture"), (b"GIF8", "a picture"),
          (b"%PDF", "a PDF document"), (b"\x7fELF", "a program"), (b"MZ", "a program"),
          (b"\x28\xb5\x2f\xfd", "packed with zstd"),
          (b"BZh", "packed with bzip2"), (b"\xfd7zXZ", "packed with xz"), (b"7z\xbc\xaf", "a 7z archive"))
_MOST_NAMES = 6


def refusal(source: Source) -> InvalidInput:
    """The error for a file that no reader takes: empty_file, bad_archive, bad_database, or unknown_format."""
    path = str(source.path)
    if source.trouble:
        return InvalidInput("bad_archive", f"{path}: {source.trouble}", path=path)
    if not source.size:
        return InvalidInput("empty_file", f"{path} is empty.", path=path)
    try:
        what = _kind_of(source)
    except InvalidInput as error:
        return error
    return InvalidInput("unknown_format", f"{path} is in no format known here: it is {what}.", path=path)


def _kind_of(source: Source) -> str:
    """What a file is. Raises InvalidInput for an archive or a database that is damaged."""
    if source.head.startswith(b"PK"):
        with zipped.opened(source.file) as archive:
            shown = ", ".join(archive.names[:_MOST_NAMES])
            return f"a zip archive of other things ({shown})" if shown else "an empty zip archive"
    if foreign_database.is_database(source):
        with foreign_database.opened(source.file) as base:
            return f"a database of another program (tables {', '.join(base.tables()[:_MOST_NAMES])})"
    if found := next((what for magic, what in _MAGIC if source.head.startswith(magic)), ""):
        return found
    if source.shape != "none":
        return _json(source)
    return "no text" if b"\0" in source.head else "text that is no JSON"


def _json(source: Source) -> str:
    first = next(iter(source.samples), None)
    if isinstance(first, dict):
        return f"JSON whose first object has other members ({', '.join(list(first)[:_MOST_NAMES])[:200]})"
    problem = source.json.problem if source.shape != "lines" else ""
    return f"JSON of another kind{f' ({problem})' if problem else ''}"
