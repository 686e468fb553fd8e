"""What became of each draft of a run of `tiphys tasks generate`, and the answers of its author, as lines of JSON in the
run's folder; a person's word is one more line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from core.domain.drafts import DraftAnswer, DraftRecord, DraftState
from core.domain.errors import InvalidInput, NotFound

FILE, ANSWERS = "drafts.jsonl", "answers.jsonl"
LONGEST = 256 << 20
"""Bytes of the longest such file that is read."""

T = TypeVar("T")


class DraftRecords:
    """The records of a run's folder; the last line about a draft counts."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / FILE

    def put(self, record: DraftRecord) -> None:
        """Add a line. Raises OSError."""
        _append(self._path, record)

    def put_answer(self, answer: DraftAnswer) -> None:
        """Add an author's answer. Raises OSError."""
        _append(self._folder / ANSWERS, answer)

    def all(self) -> list[DraftRecord]:
        """The records by number. Raises NotFound (no_drafts), InvalidInput (bad_drafts)."""
        if not self._path.is_file():
            raise NotFound("no_drafts", f"{self._folder} holds no {FILE} of generated tasks.", path=str(self._folder))
        found = {record.id: record for record in _lines(self._path, DraftRecord)}
        return sorted(found.values(), key=lambda one: one.number)

    def answers(self) -> dict[int, list[DraftAnswer]]:
        """The authors' answers in their order, by the draft's number; {} where none were noted. Raises InvalidInput."""
        found: dict[int, list[DraftAnswer]] = {}
        if (self._folder / ANSWERS).is_file():
            for answer in _lines(self._folder / ANSWERS, DraftAnswer):
                found.setdefault(answer.number, []).append(answer)
        return found

    def decide(self, name: str, state: DraftState, reason: str) -> DraftRecord:
        """A person's word about a draft. Raises NotFound (no_draft), OSError, and as `all`."""
        record = next((one for one in self.all() if one.id == name), None)
        if record is None:
            raise NotFound("no_draft", f"There is no draft {name} in {self._path}.", draft=name)
        changed = msgspec.structs.replace(record, state=state, reason=reason, gate="person", by_person=True)
        self.put(changed)
        return changed


def _append(path: Path, value: object) -> None:
    with path.open("ab") as file:
        file.write(msgspec.json.encode(value) + b"\n")


def _lines(path: Path, kind: type[T]) -> Iterator[T]:
    if path.stat().st_size > LONGEST:
        raise InvalidInput("bad_drafts", f"{path} has more than {LONGEST >> 20} MiB.", path=str(path), line=0)
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                yield msgspec.json.decode(line, type=kind)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                raise InvalidInput("bad_drafts", f"{path}, line {number}, is no record of a draft: {error}",
                                   path=str(path), line=number) from error
