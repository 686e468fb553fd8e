"""Which members of the pool can take a session's hosts: pure arithmetic over what is free."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import TYPE_CHECKING

import msgspec

from core.domain.task import Host, Task

if TYPE_CHECKING:
    from core.server.pool_file import HostLease, PoolHost

Given = tuple[str, tuple[str, ...]]
"""A member's name and the GPUs of it."""


class Demand(msgspec.Struct, frozen=True, kw_only=True):
    """What a session asks of the pool. `is_together`: its hosts share a network or a folder, so one engine has all."""

    hosts: tuple[Host, ...]
    is_together: bool = False

    @classmethod
    def of(cls, task: Task) -> Demand:
        """What a task's hosts and services ask for."""
        is_together = task.is_linked or (len(task.hosts) > 1 and task.shared_folder)
        return cls(hosts=task.members, is_together=is_together)

    @property
    def gpus(self) -> int:
        """All GPUs of all hosts."""
        return sum(host.gpus for host in self.hosts)

    @property
    def words(self) -> str:
        """In one line."""
        parts = [f"{self.gpus} GPUs"] if self.gpus else []
        parts.append(f"{sum(host.cpus for host in self.hosts):g} CPUs")
        parts.append(f"{sum(host.memory_mb for host in self.hosts):,} MiB of memory")
        parts += [f"the machine {host.machine}" for host in self.hosts if host.machine]
        parts += ["data of the server"] if any(host.data for host in self.hosts) else []
        return ", ".join(parts)

    def goes_before(self, other: Demand) -> bool:
        """Whether whoever asks for this, and came first, is not to be passed by the other.

        Only who asks for no GPU may pass one that waits for GPUs, and nobody passes who waits for the same machine.
        """
        machines = {host.machine for host in self.hosts if host.machine}
        if machines:
            return bool(machines & {host.machine for host in other.hosts}) or (self.gpus > 0 and other.gpus > 0)
        return self.gpus == 0 or other.gpus > 0


class Room(msgspec.Struct, kw_only=True):
    """What a member has left; None is not counted."""

    host: PoolHost
    gpus: list[str]
    cpus: float | None
    memory_mb: int | None

    @classmethod
    def of(cls, host: PoolHost, leases: Sequence[HostLease]) -> Room:
        """A member without what is given out."""
        taken = {gpu for lease in leases for gpu in lease.gpus}
        return cls(host=host, gpus=[gpu for gpu in host.gpus if gpu not in taken],
                   cpus=None if host.cpus is None else host.cpus - sum(lease.cpus for lease in leases),
                   memory_mb=None if host.memory_mb is None else host.memory_mb - sum(o.memory_mb for o in leases))

    def take(self, wanted: Host) -> Given | None:
        """Take what a host asks for, or nothing."""
        is_machine = self.host.kind == "machine"
        if (wanted.machine != self.host.name) if wanted.machine or is_machine else (
                bool(wanted.data) and not self.host.has_data):
            return None
        if (wanted.gpus > len(self.gpus) or (self.cpus is not None and wanted.cpus > self.cpus + 1e-9)
                or (self.memory_mb is not None and wanted.memory_mb > self.memory_mb)):
            return None
        given, self.gpus = tuple(self.gpus[: wanted.gpus]), self.gpus[wanted.gpus :]
        self.cpus = None if self.cpus is None else self.cpus - wanted.cpus
        self.memory_mb = None if self.memory_mb is None else self.memory_mb - wanted.memory_mb
        return self.host.name, given


def fit(demand: Demand, rooms: Sequence[Room]) -> list[Given] | None:
    """A place for each host, in their order, or None. The member with the fewest GPUs that are enough is taken, so that
    many stay free together; among equals the first."""
    ordered = sorted(rooms, key=lambda room: len(room.gpus))
    engines = [room for room in ordered if room.host.kind == "engine"]
    if not demand.is_together:
        return _each(demand.hosts, ordered)
    machines = [room for room in ordered if room.host.kind == "machine"]
    for engine in engines:
        given = _each(demand.hosts, deepcopy([engine, *machines]))
        if given is not None:
            return given
    return None


def _each(hosts: Sequence[Host], rooms: Sequence[Room]) -> list[Given] | None:
    given = []
    for host in hosts:
        found = next((one for one in (room.take(host) for room in rooms) if one is not None), None)
        if found is None:
            return None
        given.append(found)
    return given
