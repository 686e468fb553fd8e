"""The sandboxes in which a session's evaluator runs: made anew for one evaluation, without network, removed after."""

from __future__ import annotations

from pathlib import Path

import msgspec

from core.domain.ids import new_id
from core.domain.task import Evaluator, Host
from core.sandbox.kinds import open_sandbox
from core.sandbox.placement import HERE, HostLinks, HostPlace, ways_out
from core.sandbox.sandbox import Sandbox

TESTS, LOGS = "/tests", "/logs"
"""Where a task's tests find themselves, and where they leave their reward (as Harbor has it)."""


class EvaluatorHosts:
    """Makes them after the first host of a session: of its image, with its share of the machine."""

    def __init__(self, session: str, host: Host, folder: Path, home: str = "", image: str = "",
                 place: HostPlace = HERE, lab_names: tuple[str, ...] = (), own_image: str = "",
                 services: tuple[str, ...] = ()) -> None:
        """`image` is what the host's image was built as, where the task builds it, `own_image` that of the tests' own
        host; `place` is where the host runs, and so where copies of its state do; `lab_names` as in `ways_out`.
        `services` are the names of the session's, which a copy reaches as the host did."""
        self._session, self._host, self._folder, self._home, self._image = session, host, folder, home, image
        self.place, self._lab_names, self._own_image, self._services = place, lab_names, own_image, services

    def fresh(self) -> Sandbox:
        """A new one of the host's image, with an empty workspace."""
        host = msgspec.structs.replace(self._host, name="evaluator", network=False, reach=(), data=(), gpus=0,
                                       machine="", workdir="")
        return open_sandbox("docker", self._name(), host, self._folder, self._image, home=self._home)

    def copy_of(self, snapshot: str, *, as_root: bool = False) -> Sandbox:
        """A new one with the state of a snapshot of the host. Its tests have the network that the host has, and reach
        the session's services."""
        host = msgspec.structs.replace(self._host, data=(), gpus=0)
        beside = HostLinks(has_peers=True, peers=self._services, joins=self._session) if self._services else HostLinks()
        return self._opened(host, snapshot, (TESTS, LOGS), as_root, beside)

    def of_the_tests(self, evaluator: Evaluator) -> Sandbox:
        """A new one of the host that the tests have of their own, with a folder for them unless its image holds them.
        """
        assert evaluator.host is not None
        places = (LOGS,) if evaluator.tests_within else (TESTS, LOGS)
        return self._opened(evaluator.host, self._own_image, places, evaluator.as_root)

    def _opened(self, host: Host, image: str, places: tuple[str, ...], as_root: bool,
                links: HostLinks = HostLinks()) -> Sandbox:
        host = msgspec.structs.replace(host, name="evaluator")
        place = msgspec.structs.replace(self.place, gpus=())
        links = msgspec.structs.replace(links, reach=ways_out(host, self._lab_names))
        return open_sandbox("docker", self._name(), host, self._folder, image, home=self._home, placement=place,
                            links=links, places=places, as_root=as_root)

    def _name(self) -> str:
        return f"{self._session}-evaluation-{new_id()[-8:]}"
