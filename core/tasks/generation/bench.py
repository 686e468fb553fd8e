"""The containers in which drafts are tried, one after the other: one for the agent's part, one for the evaluator.

Between two uses every process of the one before is ended and all that it could write is emptied, which takes a
twentieth of the time of a new container; both have no network and a root that is read-only. What the gates find is
what `tiphys tasks check` finds in new ones.
"""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from core.domain.errors import ReportableError, Unavailable
from core.domain.ids import new_id
from core.domain.task import Host
from core.sandbox.docker import DockerSandbox
from core.sandbox.sandbox import Sandbox
from core.sandbox.streams import own_python
from core.tasks.beginning import HostFilling
from core.tasks.catalogue import Catalogue
from core.tasks.evaluator_hosts import EvaluatorHosts
from core.tasks.generation.authored import refused
from core.tasks.generation.draft import Image
from core.tasks.handing_in import HandingIn
from core.tasks.proof import Prover
from core.tasks.reader import CatalogueTask
from core.tasks.scoring import tail
from core.tasks.submission import collect

SETUP_S = 60.0
"""How long a script that makes a draft's files may take, in seconds."""

# A process without a parent was entered by the engine: the way in. What an agent leaves has the first one as its.
_EMPTY = """
import os, shutil, signal
def parent(pid):
    return int(open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1])
pid, own = os.getpid(), set()
while pid > 0:
    own.add(pid)
    pid = parent(pid)
for name in os.listdir("/proc"):
    try:
        if name.isdigit() and int(name) not in own and parent(name):
            os.kill(int(name), signal.SIGKILL)
    except OSError:
        pass
for top in ("/workspace", os.path.expanduser("~"), "/tmp", "/dev/shm"):
    for entry in os.scandir(top):
        (shutil.rmtree if entry.is_dir(follow_symlinks=False) else os.unlink)(entry.path)
"""


class ReusedSandbox(DockerSandbox):
    """A container that is made once; each `start` finds it as new, and only `discard` removes it."""

    _is_made = False

    async def start(self) -> None:
        """See Sandbox. Raises Unavailable where it cannot be emptied."""
        if not self._is_made:
            await super().start()
            self._is_made = True
        ran = await self.run(own_python("-I", "-B", "-c", _EMPTY), cwd="/", timeout=60)
        if ran.exit_code or ran.timed_out:
            raise Unavailable("sandbox_not_emptied", f"A container of the gates cannot be emptied: {tail(ran.output)}")

    async def remove(self) -> None:
        """It stays for the next draft."""

    async def discard(self) -> None:
        """End and delete it."""
        await super().remove()


class _ReusedEvaluator(EvaluatorHosts):
    """Gives the same evaluator's container each time."""

    sandbox: Sandbox

    def fresh(self) -> Sandbox:
        """See EvaluatorHosts."""
        return self.sandbox


class DraftBench:
    """Two containers for one draft at a time."""

    def __init__(self, folder: Path, home: str) -> None:
        """`folder` is where their files pass through; `home` labels them."""
        self.folder, self.home = folder, home
        session, host = f"drafts-{new_id()}", Host(name="main", memory_mb=512)
        self.agent = ReusedSandbox(session, host, folder, home=home)
        self._evaluator = ReusedSandbox(session, Host(name="evaluator", memory_mb=512), folder, home=home)
        self.evaluators = _ReusedEvaluator(session, host, folder, home)
        self.evaluators.sandbox = self._evaluator

    async def close(self) -> None:
        """Delete both."""
        await self.agent.discard()
        await self._evaluator.discard()

    async def make(self, image: Image, folder: str) -> Image:
        """The files that an image's script leaves. Raises InvalidInput (bad_draft) where it fails."""
        if not image.setup.strip():
            return image
        await self.agent.start()
        for name, data in image.files.items():
            await self.agent.write_file(f"/workspace/{folder}/{name}", data)
        command = f"mkdir -p {folder} && cd {folder} && bash -s"
        ran = await self.agent.run(["bash", "-c", command], input=image.setup.encode(), cwd="/workspace",
                                   timeout=SETUP_S, limit=64 * 1024)
        if ran.timed_out or ran.exit_code:
            raise refused(f"the script of the image ended with exit code {ran.exit_code}: {tail(ran.output)}")
        return Image(files=await self._files(folder))

    async def initial_problem(self, image: Image, folder: str, tests: str) -> str:
        """What tests find wrong with the files of an image before anybody begins, or ""."""
        await self.agent.start()
        for name, data in image.files.items():
            await self.agent.write_file(f"/workspace/{folder}/{name}", data)
        ran = await self.agent.run(["python3", "-I", "-B", "-"], input=tests.encode(), cwd="/workspace",
                                   timeout=SETUP_S, limit=64 * 1024)
        return "" if not ran.exit_code and not ran.timed_out else f"exit code {ran.exit_code}: {tail(ran.output)}"

    async def _files(self, folder: str) -> dict[str, bytes]:
        with tempfile.TemporaryDirectory(prefix="image-", dir=self.folder) as place:
            try:
                found = await collect(self.agent, [folder], Path(place))
            except ReportableError as error:
                raise refused(f"what the image's script left cannot be read: {error.sentence}") from error
            return {name.partition("/")[2]: path.read_bytes() for name, path in found}


class BenchProver(Prover):
    """The checks of `tiphys tasks check` on a bench."""

    def __init__(self, entry: CatalogueTask, catalogue: Catalogue, bench: DraftBench) -> None:
        super().__init__(entry, catalogue, bench.folder, bench.home)
        self._bench = bench

    @asynccontextmanager
    async def host(self) -> AsyncIterator[tuple[Sandbox, HandingIn]]:
        """See Prover."""
        bench = self._bench
        await bench.agent.start()
        await HostFilling(self._entry.task, self._catalogue).fill(bench.agent)
        yield bench.agent, HandingIn(self._entry.task, self._catalogue, bench.agent, bench.evaluators,
                                     folder=bench.folder)
