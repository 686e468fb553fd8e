"""What this computer's operator allowed tasks to take of it: one private file a grant, in the home's folder `allowed`.

A grant for a task counts for one content of its folder, so that a changed folder is asked about again. A grant of a
session is what was allowed when it was created. A key's grant is a (variable, endpoint) pair for whatever task.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from core.domain.errors import Conflict, NotFound, ReportableError
from core.domain.host_rights import HostRight, in_words, key_right, lab_name, rights_of
from core.store.home import make_private_folder, write_private
from core.tasks.folder import digest
from core.tasks.reader import CatalogueTask

_log = logging.getLogger("session")


class Grant(msgspec.Struct, frozen=True, kw_only=True):
    """What was allowed: to a task's folder of this digest, to a session, or (a key) to all."""

    rights: tuple[HostRight, ...]
    at: datetime
    task: str = ""
    session: str = ""
    digest: str = ""


class Allowances:
    """The grants that lie in a folder (`Home.allowed`); of None: nothing is allowed, and nothing can be."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def lacking(self, rights: Iterable[HostRight], digest: str, session: str = "") -> tuple[HostRight, ...]:
        """Those of the rights that nobody allowed to a folder of this digest ("" : a task without one)."""
        grants = [g for g in self._keys() if g]
        grants += [g for g in (digest and self._read(f"task-{digest}.json"),) if g]
        grants += [g for g in (session and self._read(f"session-{session}.json"),) if g and g.digest == digest]
        granted = {right for grant in grants for right in grant.rights}
        granted |= {HostRight("endpoint", right.endpoint) for right in granted if right.kind == "variable"}
        return tuple(right for right in rights if right not in granted)

    def require(self, rights: Iterable[HostRight], task: str, digest: str, session: str = "") -> None:
        """Raises Conflict (task_not_allowed), which names every right that is lacking and how it is given."""
        if missing := self.lacking(rights, digest, session):
            how = (f"tiphys allow session {session}, then tiphys resume {session}" if session
                   else f"tiphys run {task} --allow, or tiphys allow task {task}")
            raise Conflict("task_not_allowed", f"Task {task} asks for what nobody allowed it on this computer: "
                           f"{in_words(missing)}. Who runs this server may allow it: {how}.", task=task,
                           asks=[msgspec.to_builtins(right) for right in missing])

    def allow_task(self, task: str, digest: str, rights: Iterable[HostRight]) -> None:
        """Remember a person's word for a task's folder as it is, beside earlier ones. Its keys are allowed to all."""
        name = f"task-{digest}.json"
        before = self._read(name)
        all_rights = tuple(dict.fromkeys((*(before.rights if before else ()), *rights)))
        self._write(name, Grant(rights=all_rights, at=datetime.now(UTC), task=task, digest=digest))
        for right in all_rights:
            if right.kind == "variable":
                self.allow_key(right.name, right.endpoint)

    def allow_session(self, session: str, task: str, digest: str, rights: Iterable[HostRight]) -> None:
        """Remember what was allowed to one session."""
        self._write(f"session-{session}.json",
                    Grant(rights=tuple(rights), at=datetime.now(UTC), task=task, session=session, digest=digest))

    def allow_key(self, variable: str, endpoint: str) -> None:
        """Let a variable's value be sent to an endpoint. Raises InvalidInput."""
        right = key_right(variable, endpoint)
        self._write(_key_file(right), Grant(rights=(right,), at=datetime.now(UTC)))

    def allow_name(self, name: str) -> HostRight:
        """Let hosts with a network, and builds, reach a name whose address is private. Raises InvalidInput."""
        right = lab_name(name)
        self._write(_key_file(right), Grant(rights=(right,), at=datetime.now(UTC)))
        return right

    def names(self) -> tuple[str, ...]:
        """The names of this lab's own network that may be reached by whatever has a network."""
        rights = [right for grant in self._keys() if grant for right in grant.rights]
        return tuple(sorted(right.name for right in rights if right.kind == "lab_name"))

    def grants(self) -> list[Grant]:
        """All grants, the newest last."""
        found = self._folder.glob("*.json") if self._folder else []
        return sorted((g for g in (self._read(path.name) for path in found) if g), key=lambda g: g.at)

    def revoke(self, name: str) -> int:
        """Take the grants of a task, of a session, of a variable or of a name back; gives how many. Raises NotFound."""
        count = 0
        for path in list(self._folder.glob("*.json")) if self._folder else []:
            grant = self._read(path.name)
            if grant and (name in (grant.task, grant.session)
                          or any(r.kind in ("variable", "lab_name") and r.name == name for r in grant.rights)):
                path.unlink(missing_ok=True)
                count += 1
        if not count:
            raise NotFound("no_grant", f"Nothing was allowed to {name}.", name=name)
        return count

    def _keys(self) -> list[Grant | None]:
        return [self._read(path.name) for path in self._folder.glob("key-*.json")] if self._folder else []

    def _read(self, name: str) -> Grant | None:
        """A grant; what cannot be read allows nothing."""
        if self._folder is None:
            return None
        try:
            return msgspec.json.decode((self._folder / name).read_bytes(), type=Grant)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            _log.warning("%s in %s is no grant: %s", name, self._folder, error)
            return None

    def _write(self, name: str, grant: Grant) -> None:
        if self._folder is not None:
            write_private(make_private_folder(self._folder) / name, msgspec.json.encode(grant))


def asked(entry: CatalogueTask, allowances: Allowances) -> tuple[tuple[HostRight, ...], str]:
    """What a task asks of this computer that nobody allowed it yet, and its folder's digest, for the one who does.

    A folder that cannot be read is allowed nothing; its digest is empty.
    """
    rights = rights_of(entry.task, entry.agent)
    if not rights:
        return (), ""
    try:
        content = digest(entry.folder)
    except ReportableError as error:
        _log.warning("%s", error.sentence)
        return rights, ""
    return allowances.lacking(rights, content), content


def _key_file(right: HostRight) -> str:
    pair = f"{right.name}={right.endpoint}".encode()
    return f"key-{hashlib.sha256(pair).hexdigest()[:32]}.json"
