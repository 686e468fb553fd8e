"""Is a task sound? The checks of the papers, each in real containers that are made for it and removed.

Nothing done must earn nothing, the reference solution must earn the top, the same hand-in the same score twice; what
is hidden must not be readable in the agent's host; who cheats must earn nothing.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path, PurePosixPath

import msgspec

from core.domain.errors import ReportableError
from core.domain.ids import new_id
from core.domain.task import AgentSettings, Host, Task
from core.sandbox.archive import tar_of
from core.sandbox.kinds import open_sandbox
from core.sandbox.placement import HostLinks
from core.sandbox.sandbox import Sandbox
from core.sandbox.services import Services, open_service
from core.store.home import resources
from core.tasks.beginning import HostFilling
from core.tasks.catalogue import Catalogue
from core.tasks.evaluator_hosts import EvaluatorHosts
from core.tasks.handing_in import HandingIn
from core.tasks.hidden import readable_secrets
from core.tasks.host_links import links_of
from core.tasks.images import built_images, own_image
from core.tasks.reader import CatalogueTask
from core.tasks.scoring import Outcome

SOLVE_S = 1800.0
"""How long a script of the task may take, in seconds."""

SOLUTION = "/solution"
"""Where Harbor's solutions find themselves; in a host with a workspace, /tmp/solution."""


class ProofResult(msgspec.Struct, frozen=True, kw_only=True):
    """What one check found: `hidden`, `initial`, `nothing`, `reference`, `repeat`, or `cheat` with a name."""

    check: str
    passed: bool
    detail: str


class Prover:
    """Checks one task of a catalogue."""

    def __init__(self, entry: CatalogueTask, catalogue: Catalogue, folder: Path, home: str,
                 lab_names: tuple[str, ...] = ()) -> None:
        """`folder` is where sessions of the checks live; `home` labels their containers; `lab_names` as in
        `ways_out`."""
        self._entry, self._catalogue, self._folder, self._home = entry, catalogue, folder, home
        self._images: dict[str, str] = {}
        self._lab_names = lab_names

    async def findings(self) -> AsyncIterator[ProofResult]:
        """One finding after the other. Raises ReportableError where no host of the task can be made."""
        self._images = await built_images(self._catalogue, self._entry.task, AgentSettings(), lab_names=self._lab_names)
        async with self.host() as (host, handing_in):
            yield await self._hidden(host)
            if self._entry.proof.initial:
                yield await self._initial(host)
            yield _earns_nothing("nothing", (await handing_in.score())[0])
            for name, script, files in self._cheats():
                await self._run(host, script, files)
                yield _earns_nothing(f"cheat {name}", (await handing_in.score())[0])
        if not self._entry.proof.solution:
            yield ProofResult(check="reference", passed=False, detail="the task has no reference solution")
        else:
            async with self.host() as (host, handing_in):
                for finding in await self._reference(host, handing_in):
                    yield finding

    @asynccontextmanager
    async def host(self) -> AsyncIterator[tuple[Sandbox, HandingIn]]:
        """The task's first host as a session finds it, beside its others and its services; and what hands its state in.
        """
        task, session = self._entry.task, f"check-{new_id()}"
        first = task.hosts[0]
        with tempfile.TemporaryDirectory(prefix="check-", dir=self._folder) as place:
            async with self._members(session, Path(place)) as host:
                hosts = EvaluatorHosts(session, first, Path(place), self._home, self._images[first.name],
                                       lab_names=self._lab_names, own_image=own_image(task, self._images),
                                       services=tuple(one.name for one in task.services))
                yield host, HandingIn(task, self._catalogue, host, hosts, folder=Path(place))

    @asynccontextmanager
    async def _members(self, session: str, place: Path) -> AsyncIterator[Sandbox]:
        """All of the task's hosts and services while they run; gives the first host."""
        task, filling = self._entry.task, HostFilling(self._entry.task, self._catalogue)
        hosts = [open_sandbox("docker", session, one, place, self._images[one.name], home=self._home,
                              places=(SOLUTION,), links=self._links(one)) for one in task.hosts]
        services = Services(open_service(session, one, place, self._images[one.name], home=self._home,
                                         links=self._links(one)) for one in task.services)
        try:
            for host in hosts:
                await host.start()
                await filling.fill(host)
            await services.start()
            yield hosts[0]
        finally:
            await services.remove()
            for host in hosts:
                await host.remove()

    def _links(self, host: Host) -> HostLinks:
        return links_of(self._entry.task, host, self._catalogue, self._folder, self._lab_names)

    async def _hidden(self, host: Sandbox) -> ProofResult:
        found = await readable_secrets(host, self._entry, self._catalogue)
        detail = "; ".join(found[:5]) or "nothing hidden can be read"
        return ProofResult(check="hidden", passed=not found, detail=detail)

    async def _initial(self, host: Sandbox) -> ProofResult:
        script = self._entry.proof.initial
        problem = await self._run(host, script, self._beside(script))
        return ProofResult(check="initial", passed=not problem, detail=problem or "what a session begins with is there")

    async def _reference(self, host: Sandbox, handing_in: HandingIn) -> list[ProofResult]:
        proof = self._entry.proof
        if problem := await self._run(host, proof.solution, self._beside(proof.solution)):
            return [ProofResult(check="reference", passed=False, detail=problem)]
        first, second = (await handing_in.score())[0], (await handing_in.score())[0]
        reached = not first.failed and first.total is not None and first.total >= proof.expect
        same = (first.total, first.failed) == (second.total, second.failed)
        return [ProofResult(check="reference", passed=reached, detail=f"{_words(first)}, of {proof.expect:g} expected"),
                ProofResult(check="repeat", passed=same, detail=f"{_words(first)}, then {_words(second)}")]

    async def _run(self, host: Sandbox, script: str, files: Sequence[tuple[str, Path]]) -> str:
        """Run a script in a host, beside its files; what went wrong, or ""."""
        place = SOLUTION if self._entry.task.hosts[0].workdir else "/tmp/solution"
        await host.unpack(tar_of(files), place)
        name = PurePosixPath(script).name
        command = ["python3" if name.endswith(".py") else "bash", f"{place}/{name}"]
        ran = await host.run(command, cwd=host.workspace, timeout=SOLVE_S, limit=64 * 1024)
        if ran.timed_out:
            return f"{script} did not end within {SOLVE_S:g} s"
        output = ran.output[-400:].decode("utf-8", "replace").strip()
        return f"{script} ended with exit code {ran.exit_code}: {output}" if ran.exit_code else ""

    def _beside(self, script: str) -> list[tuple[str, Path]]:
        return self._catalogue.paths(self._entry.task, str(PurePosixPath(script).parent))

    def _cheats(self) -> list[tuple[str, str, list[tuple[str, Path]]]]:
        """All attempts to be tried: their names, scripts and files."""
        own = [(PurePosixPath(name).stem, name, self._beside(name)) for name in self._entry.proof.cheats]
        path = general_cheat(self._entry.task)
        return [*own, ("in general", path.name, [(path.name, path)])]


def _earns_nothing(check: str, outcome: Outcome) -> ProofResult:
    """A failed evaluation of what a cheat left earns nothing; of nothing done it is a defect of the task."""
    is_bottom = outcome.total == 0 or (outcome.failed and check != "nothing")
    return ProofResult(check=check, passed=is_bottom, detail=_words(outcome))


def _words(outcome: Outcome) -> str:
    text = "not scored" if outcome.total is None else f"{outcome.total:g}"
    words = outcome.message if len(outcome.message) < 600 else f"{outcome.message[:120]} … {outcome.message[-400:]}"
    return f"{text} ({words})" if words else text


def prove(entry: CatalogueTask, catalogue: Catalogue, folder: Path, home: str = "", lab_names: tuple[str, ...] = ()
          ) -> list[ProofResult]:
    """All findings of a task; what hinders a check is one, too."""
    async def collected() -> list[ProofResult]:
        found: list[ProofResult] = []
        try:
            async for finding in Prover(entry, catalogue, folder, home, lab_names).findings():
                found.append(finding)  # noqa: PERF401 - what was found before an error counts
        except ReportableError as error:
            found.append(ProofResult(check="host", passed=False, detail=error.sentence))
        return found

    return asyncio.run(collected())


def general_cheat(task: Task) -> Path:
    """The attempt to earn a score without doing a task: a script of resources/evaluators/cheats, `submission` for what
    is handed in, `tests` for tests on a host's state."""
    name = "tests" if task.evaluator.kind == "tests" else "submission"
    return resources() / "evaluators" / "cheats" / f"{name}.sh"
