"""What `tiphys import --json` reports on its standard output, one JSON object a line: the types at both ends."""

from __future__ import annotations

import msgspec

from core.domain.errors import ReportableError


class ImportLine(msgspec.Struct, frozen=True, kw_only=True):
    """One per session found. `result` is imported, present, or grown.

    `path` is the file it came from, and `stamp` that file's state before it was read.
    """

    session: str
    source: str
    format: str
    title: str
    steps: int
    errors: int
    warnings: tuple[str, ...]
    result: str
    path: str = ""
    stamp: str = ""


class ImportProgress(msgspec.Struct, frozen=True, kw_only=True):
    """Which file is being read, and the part from 0 to 1 of all bytes that has been."""

    file: str
    number: int
    of: int
    done: float
    sessions: int


class ImportProgressLine(msgspec.Struct, frozen=True):
    """With --progress: how far it is."""

    progress: ImportProgress


class ImportFailure(msgspec.Struct, frozen=True):
    """Why something could not be read: the fields of a ReportableError."""

    code: str
    sentence: str
    params: dict[str, str | int | float]

    @property
    def error(self) -> ReportableError:
        """The error that travelled."""
        return ReportableError(self.code, self.sentence, **self.params)


class ImportFailureLine(msgspec.Struct, frozen=True):
    """With --progress: what could not be read, and why."""

    failure: ImportFailure

    @classmethod
    def of(cls, error: ReportableError) -> ImportFailureLine:
        """A failure as it is reported."""
        params = {key: value for key, value in error.params.items() if isinstance(value, str | int | float)}
        return cls(ImportFailure(error.code, error.sentence, params))


class ImportPassed(msgspec.Struct, frozen=True):
    """The files of folders that an import came by: how many were read, and how many of each suffix were in no known
    format, the most common suffix first."""

    read: int
    unknown: dict[str, int]


class ImportPassedLine(msgspec.Struct, frozen=True):
    """With --progress: what folders held, once all was read."""

    passed: ImportPassed


ImportReport = ImportLine | ImportProgressLine | ImportFailureLine | ImportPassedLine


def read_import_report(line: bytes) -> ImportReport:
    """One line of an import. Raises msgspec.DecodeError for anything else."""
    keys = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
    if "progress" in keys:
        return msgspec.json.decode(line, type=ImportProgressLine)
    if "failure" in keys:
        return msgspec.json.decode(line, type=ImportFailureLine)
    if "passed" in keys:
        return msgspec.json.decode(line, type=ImportPassedLine)
    return msgspec.json.decode(line, type=ImportLine)
