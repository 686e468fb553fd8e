"""One evaluation from beginning to end: what lies in a host now, out of the agent's reach, to an outcome."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path

from core.domain.errors import ReportableError
from core.domain.task import Task
from core.sandbox.sandbox import Sandbox
from core.store.home import resources
from core.tasks.catalogue import Catalogue
from core.tasks.container_tests import run_tests
from core.tasks.evaluation import Given, NamedPath, evaluate
from core.tasks.evaluator_hosts import EvaluatorHosts
from core.tasks.folder import require_regular
from core.tasks.scoring import Outcome, failed
from core.tasks.submission import collect, stored

BENCHMARK = "evaluators/innovator.py"


class HandingIn:
    """Collects a task's submissions from its first host and has them scored."""

    def __init__(self, task: Task, catalogue: Catalogue, host: Sandbox, hosts: EvaluatorHosts | None,
                 check: Callable[[], None] = lambda: None, folder: Path | None = None) -> None:
        """`hosts` makes the sandboxes in which the evaluator runs; None: a plain process. `check` raises where the
        task may no longer take what it asks of this computer. `folder` is where submissions pass through."""
        self._task, self._catalogue, self._host, self._hosts = task, catalogue, host, hosts
        self._check, self._folder = check, folder

    async def score(self) -> tuple[Outcome, bytes]:
        """The outcome, and what of the submission goes into the log.

        Only what the agent did not hand in scores 0; whatever else goes wrong is a failed evaluation, which says why.
        """
        if self._task.evaluator.kind == "tests":
            return await self._by_tests(), b""
        with tempfile.TemporaryDirectory(prefix="submission-", dir=self._folder) as place:
            try:
                files = await collect(self._host, self._task.evaluator.submission, Path(place))
            except (ReportableError, OSError) as error:
                return _not_collected(error), b""
            outcome = await score_files(self._task, self._catalogue, files, self._hosts, self._check)
            return outcome, await asyncio.to_thread(stored, files)

    async def _by_tests(self) -> Outcome:
        if self._hosts is None:
            return failed("The tests of this task look at the state of a container, which takes Docker.")
        try:
            tests = self._tests()
            self._check()
        except (ReportableError, OSError) as error:
            return failed(f"The tests cannot be read: {error}")
        return await run_tests(self._task, tests, self._host, self._hosts, self._folder)

    def _tests(self) -> list[NamedPath]:
        """The references, and the script where it lies beside them."""
        evaluator = self._task.evaluator
        tests = self._catalogue.paths(self._task, evaluator.references)
        script = self._catalogue.file(self._task, evaluator.script)
        return tests if any(path == script for _, path in tests) else [*tests, (script.name, require_regular(script))]


async def score_files(task: Task, catalogue: Catalogue, files: list[NamedPath], hosts: EvaluatorHosts | None,
                      check: Callable[[], None] = lambda: None) -> Outcome:
    """The outcome of the task's script on files that were handed in; the arguments as in `HandingIn`."""
    try:
        script, references = evaluator_files(task, catalogue)
    except (ReportableError, OSError) as error:
        return failed(f"The evaluator cannot be read: {error}")
    given = Given(script=script, submission=files, references=references)
    return await evaluate(given, task, hosts.fresh if hosts else None, check)


def evaluator_files(task: Task, catalogue: Catalogue) -> tuple[Path, list[NamedPath]]:
    """The script that scores, and its references. Raises NotFound, InvalidInput, LimitReached, OSError."""
    evaluator = task.evaluator
    script = require_regular(catalogue.file(task, evaluator.script))
    references = catalogue.paths(task, evaluator.references) if evaluator.references else []
    if evaluator.kind == "benchmark":
        return resources() / BENCHMARK, _own(references, evaluator.script)
    return script, references


def _own(references: list[NamedPath], script: str) -> list[NamedPath]:
    """A benchmark's evaluations but those of other tasks."""
    name = script.split("/")[1]
    return [(path, place) for path, place in references if path.partition("/")[0] in ("base", name, "__init__.py")]


def _not_collected(error: ReportableError | OSError) -> Outcome:
    code = error.code if isinstance(error, ReportableError) else ""
    text = error.sentence if isinstance(error, ReportableError) else str(error)
    if code == "not_handed_in":
        return Outcome(total=0.0, message=f"There is no complete submission: {text}", reason=code)
    reason = "submission_too_large" if code == "submission_too_large" else "submission_unreadable"
    return failed(f"The submission was not scored: {text}", reason)
