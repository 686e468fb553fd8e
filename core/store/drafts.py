"""What became of each draft of a run of `tiphys tasks generate`, and the answers of its author, as lines of JSON in the
run's folder; a person's word is one more line."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from core.domain.drafts import DraftAnswer, DraftRecord, DraftState
from core.domain.errors import InvalidInput, NotFound

FILE, ANSWERS = "drafts.jsonl", "answers.jsonl"
LONGEST = {FILE: 32 << 20, ANSWERS: 256 << 20}
"""Bytes of the longest such file that is read; of answers only where each stands is held."""

LONGEST_LINE = 16 << 20
"""Bytes of one record."""

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
        found = {record.id: record for _, record in _sized(self._path, DraftRecord)}
        return sorted(found.values(), key=lambda one: one.number)

    def answers(self) -> Mapping[int, Sequence[DraftAnswer]]:
        """The authors' answers in their order, by the draft's number; none where none were noted. They are read again
        when they are looked at. Raises InvalidInput."""
        return StoredAnswers(self._folder / ANSWERS)

    def decide(self, name: str, state: DraftState, reason: str) -> DraftRecord:
        """A person's word about a draft. Raises NotFound (no_draft), OSError, and as `all`."""
        record = next((one for one in self.all() if one.id == name), None)
        if record is None:
            raise NotFound("no_draft", f"There is no draft {name} in {self._path}.", draft=name)
        changed = msgspec.structs.replace(record, state=state, reason=reason, gate="person", by_person=True)
        self.put(changed)
        return changed


class StoredAnswers(Mapping[int, Sequence[DraftAnswer]]):
    """Answers that stay in their file: each is read when it is looked at."""

    def __init__(self, path: Path) -> None:
        """Looks through the file once. Raises InvalidInput (bad_drafts) for a line that is none."""
        self._path = path
        self._places: dict[int, list[tuple[int, int]]] = {}
        start = 0
        for size, answer in _sized(path, DraftAnswer) if path.is_file() else ():
            self._places.setdefault(answer.number, []).append((start, size))
            start += size

    def __getitem__(self, number: int) -> Sequence[DraftAnswer]:
        places, found = self._places[number], list[DraftAnswer]()
        with self._path.open("rb") as file:
            for start, size in places:
                file.seek(start)
                found.append(_decoded(self._path, file.read(size), 0, DraftAnswer))
        return found

    def __iter__(self) -> Iterator[int]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def _append(path: Path, value: object) -> None:
    with path.open("ab") as file:
        file.write(msgspec.json.encode(value) + b"\n")


def _sized(path: Path, kind: type[T]) -> Iterator[tuple[int, T]]:
    """Each record of a file, with its bytes."""
    most = LONGEST[path.name]
    if path.stat().st_size > most:
        raise InvalidInput("bad_drafts", f"{path} has more than {most >> 20} MiB.", path=str(path), line=0)
    with path.open("rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE), b""), 1):
            yield len(line), _decoded(path, line, number, kind)


def _decoded(path: Path, line: bytes, number: int, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(line, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidInput("bad_drafts", f"{path}, line {number}, is no record of a draft: {error}", path=str(path),
                           line=number) from error
