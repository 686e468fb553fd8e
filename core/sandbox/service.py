"""A service of a session: a container whose own program runs beside the hosts from the session's start to its end.

Nobody enters it, so no daemon is brought in and the image is taken as it is. Its program may be root of the container,
as most images' are before they take an account of their own, and no more: it reaches what the session's network leads
to. Its files are its container's. They outlast a stop, as a host's do, and are in no snapshot.
"""

import asyncio
from time import monotonic
from typing import Any

import msgspec

from core.domain.errors import Unavailable
from core.domain.task import Health, Program, Stage
from core.sandbox.container import ROOT_RIGHTS, limits, networking, read_in_place
from core.sandbox.docker import DockerSandbox, volume_sizes
from core.sandbox.engine import in_thread, translated
from core.sandbox.image import find_image, pulled

READY_S, LOOK_S = 600.0, 0.2
"""How long a session waits for a service, and how often it looks, in seconds."""


class ServiceState(msgspec.Struct, frozen=True):
    """A service's container now: the engine's words for its status and health ("" without a check), its exit code."""

    status: str
    health: str
    exit_code: int

    @property
    def is_over(self) -> bool:
        """Whether its program has ended, and is not started anew."""
        return self.status in ("exited", "dead")

    @property
    def has_failed(self) -> bool:
        """Whether nothing more is to be hoped of it."""
        return self.health == "unhealthy" or (self.is_over and self.exit_code != 0)

    def is_at(self, stage: Stage) -> bool:
        """Whether it came so far."""
        if stage == "completed":
            return self.is_over and self.exit_code == 0
        return self.status == "running" and (stage == "started" or self.health in ("healthy", "none"))


class ServiceSandbox(DockerSandbox):
    """A service's container. Of a sandbox it has the beginning, the end and the measure; there are no terminals."""

    @property
    def _runs(self) -> Program:
        return self.host.program or Program()

    async def start(self) -> None:
        """Have it run; how far it came, `reached` tells."""
        await in_thread(self._ensure)

    async def reached(self, stage: Stage) -> None:
        """Wait until it came so far. Raises Unavailable (service_failed) where it does not, with its last words."""
        end = monotonic() + READY_S
        while not (now := await in_thread(self._now)).is_at(stage):
            if now.has_failed or (now.is_over and stage != "completed") or monotonic() > end:
                raise await in_thread(self._problem, now, stage)
            await asyncio.sleep(LOOK_S)

    async def is_up(self) -> None:
        """Wait until it runs, and is healthy where it says so, or has ended well. Raises as `reached`."""
        now = await in_thread(self._now)
        if self._runs.ends or not now.is_at("completed"):
            await self.reached("completed" if self._runs.ends else "healthy")

    async def disk_used(self) -> int:
        """See Sandbox. What differs from the image, and the volumes that the image asks for."""
        return await in_thread(self._written)

    def _now(self) -> ServiceState:
        state = translated(self._container).attrs["State"]
        return ServiceState(str(state["Status"]), str((state.get("Health") or {}).get("Status") or "none"),
                            int(state.get("ExitCode") or 0))

    def _problem(self, now: ServiceState, stage: Stage) -> Unavailable:
        how = (f"it ended with exit code {now.exit_code}" if now.is_over else
               "its health check failed" if now.health == "unhealthy" else f"it is not {stage} after {READY_S:g} s")
        words = " ".join(self._last_output().split())
        return Unavailable("service_failed", f"The service {self.host.name} of the task does not run: {how}"
                           f"{f' ({words})' if words else ''}.", service=self.host.name)

    def _written(self) -> int:
        found = self._described()
        names = [one["Name"] for one in found.get("Mounts") or () if one.get("Type") == "volume"]
        sizes = volume_sizes(self._engine()) if names else {}
        return int(found.get("SizeRw") or 0) + sum(sizes.get(name, 0) for name in names)

    def _create(self) -> Any:
        engine, program = self._engine(), self._runs
        image = find_image(engine, self.image) or pulled(engine, self.image)
        shape = limits(self.host, float(engine.info().get("NCPU") or self.host.cpus), ())
        options: dict[str, Any] = {
            "entrypoint": program.entrypoint, "user": program.user or None, "working_dir": self.host.workdir or None,
            "healthcheck": _health(program.health), "restart_policy": _RESTARTS[program.restarts],
            "cap_add": ROOT_RIGHTS, "read_only": False, "mounts": read_in_place(self.links), "init": False}
        made = engine.containers.create(
            image.id, program.command, name=self.name, labels=self.labels, hostname=self.host.name[:60], detach=True,
            **{**shape, **{name: value for name, value in options.items() if value is not None}},
            **networking(self._network(), self._variables()))
        return self._named_in_network(made)


_RESTARTS = {"never": None, "failed": {"Name": "on-failure"}, "always": {"Name": "unless-stopped"}}


def _health(health: Health | None) -> dict[str, Any] | None:
    """A check in the engine's form, whose times are nanoseconds."""
    if health is None:
        return None
    return {"test": ["CMD", *health.command], "interval": int(health.every_s * 1e9), "retries": health.retries,
            "timeout": int(health.timeout_s * 1e9), "start_period": int(health.begins_s * 1e9)}
