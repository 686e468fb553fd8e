"""What became of each draft, as lines of JSON in the folder of a run; a person's word is one more line."""

from __future__ import annotations

from pathlib import Path

import msgspec

from core.domain.errors import InvalidInput, NotFound
from core.tasks.folder import read_text
from core.tasks.generation.draft import DraftRecord, State

FILE = "drafts.jsonl"


class DraftRecords:
    """The records of a run's folder; the last line about a draft counts."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE

    def put(self, record: DraftRecord) -> None:
        """Add a line. Raises OSError."""
        with self._path.open("ab") as file:
            file.write(msgspec.json.encode(record) + b"\n")

    def all(self) -> list[DraftRecord]:
        """The records by number. Raises NotFound (no_drafts), InvalidInput (bad_drafts)."""
        if not self._path.is_file():
            raise NotFound("no_drafts", f"{self._path.parent} holds no {FILE} of generated tasks.",
                           path=str(self._path.parent))
        found: dict[str, DraftRecord] = {}
        for number, line in enumerate(read_text(self._path).splitlines(), 1):
            try:
                record = msgspec.json.decode(line, type=DraftRecord)
            except msgspec.DecodeError as error:
                raise InvalidInput("bad_drafts", f"{self._path}, line {number}, is no record of a draft: {error}",
                                   path=str(self._path), line=number) from error
            found[record.id] = record
        return sorted(found.values(), key=lambda one: one.number)

    def decide(self, name: str, state: State, reason: str) -> DraftRecord:
        """A person's word about a draft. Raises NotFound (no_draft), and as `all`."""
        record = next((one for one in self.all() if one.id == name), None)
        if record is None:
            raise NotFound("no_draft", f"There is no draft {name} in {self._path}.", draft=name)
        changed = msgspec.structs.replace(record, state=state, reason=reason, gate="person", by_person=True)
        self.put(changed)
        return changed
