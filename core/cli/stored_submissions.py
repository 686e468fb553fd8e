"""What `tiphys rescore` scores: the submissions that the log holds, and what becomes of each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from core.cli.log_access import reading, trajectory
from core.domain.errors import InvalidInput, NotFound, ReportableError
from core.domain.events import SubmissionMade, SubmissionRescored
from core.domain.host_rights import rights_of
from core.domain.task import ModelSettings
from core.domain.trajectory import Trajectory
from core.llm.kinds import open_model
from core.protocol.operations import Rescore
from core.server.authority import Authority
from core.store import blobs, log
from core.store.home import Home
from core.tasks.allowances import Allowances
from core.tasks.catalogue import Catalogue
from core.tasks.folder import read_text
from core.tasks.images import built_images
from core.tasks.rescoring import Rescorer, ScriptRescorer, require_rescorable
from core.tasks.rubric import RubricJudge

EVALUATORS_RIGHTS = ("unconfined_evaluator", "image", "build")
"""What of all that a task asks of this computer its evaluator takes."""


class StoredSubmission(msgspec.Struct, frozen=True, kw_only=True):
    """A submission of a session's log: its payload's name, the newest score (None: none), who scored it again last,
    and whether there was nothing to hand in."""

    session: str
    task: str
    ordinal: int
    blob: str
    before: float | None
    version: str = ""
    is_missing: bool = False


class Rescoring(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one: the scores before and after, or the `problem`, or why it was `passed_over`."""

    session: str
    task: str
    ordinal: int
    evaluator: str
    version: str
    before: float | None
    after: float | None = None
    problem: str = ""
    code: str = ""
    passed_over: str = ""

    @property
    def change(self) -> float | None:
        """By how much the score changed; None where there are no two."""
        return None if self.before is None or self.after is None else self.after - self.before


def stored_submissions(home: Home, sessions: Sequence[str], task: str) -> list[StoredSubmission]:
    """The submissions of these sessions, or of all of a task, oldest first.

    Raises NotFound (no_session, no_submission) where there is none.
    """
    with reading(home) as conn:
        names = sessions or sorted(row.session for row in log.rows(conn) if row.task == task)
        found = [one for name in names for one in _of(trajectory(conn, name))]
    if not found:
        raise NotFound("no_submission", f"The log holds no submission of {', '.join(sessions) or f'the task {task}'}.")
    return found


def _of(held: Trajectory) -> list[StoredSubmission]:
    task = held.created.task.id if held.created else ""
    return [_stored(held, task, made) for made in held.submissions]


def _stored(held: Trajectory, task: str, made: SubmissionMade) -> StoredSubmission:
    given = next((s for s in reversed(held.scores) if s.ordinal == made.ordinal), None)
    newest = held.newest_rescore(made.ordinal)
    last = newest or given
    return StoredSubmission(
        session=held.session, task=task, ordinal=made.ordinal, blob=made.blob, before=last.total if last else None,
        version=newest.version if newest and not newest.failed else "",
        is_missing=given is not None and given.reason == "not_handed_in")


@asynccontextmanager
async def task_rescorer(home: Home, task: str, judge: str, base_url: str, key_env: str, rubric: Path | None
                        ) -> AsyncIterator[Rescorer]:
    """Who scores submissions of a task: its evaluator, or a judge.

    Raises NotFound (no_task), InvalidInput (not_rescorable), Conflict (task_not_allowed), Unavailable.
    """
    catalogue = Catalogue.of(home.path)
    if rubric is None:
        yield await _evaluator(home, task, catalogue)
        return
    model = open_model(ModelSettings(kind="openai", name=judge, base_url=base_url, key_env=key_env))
    try:
        yield RubricJudge(model, catalogue.find(task).task.description, read_text(rubric))
    finally:
        await model.close()


async def _evaluator(home: Home, name: str, catalogue: Catalogue) -> ScriptRescorer:
    entry, allowances = catalogue.find(name), Allowances(home.allowed)
    require_rescorable(entry.task)
    rights = tuple(right for right in rights_of(entry.task, entry.agent) if right.kind in EVALUATORS_RIGHTS)

    def check() -> None:
        allowances.require(rights, name, catalogue.digest(name) if rights else "")

    check()
    home.sessions.mkdir(parents=True, exist_ok=True)
    images = await built_images(catalogue, entry.task, entry.agent, lab_names=allowances.names())
    return ScriptRescorer(entry.task, catalogue, home.sessions, str(home.path), images, check,
                          confined=entry.agent.sandbox == "docker")


async def rescored(home: Home, one: StoredSubmission, rescorer: Rescorer, *, again: bool, stores: bool) -> Rescoring:
    """Score one submission and put what comes of it into the log. Raises what the authority raises."""
    result = Rescoring(session=one.session, task=one.task, ordinal=one.ordinal, evaluator=rescorer.name,
                       version=rescorer.version, before=one.before)
    if one.version == rescorer.version and not again:
        return msgspec.structs.replace(result, after=one.before, passed_over="scored by this version already")
    if one.is_missing:
        return msgspec.structs.replace(result, after=one.before, passed_over="nothing was handed in")
    try:
        packed = _payload(home, one)
    except ReportableError as error:
        return msgspec.structs.replace(result, problem=error.sentence, code=error.code)
    outcome = await rescorer.score(packed)
    if stores:
        fact = SubmissionRescored(ordinal=one.ordinal, evaluator=rescorer.name[:200], version=rescorer.version,
                                  **msgspec.structs.asdict(outcome))
        async with Authority(home) as authority:
            await authority.do(one.session, Rescore(score=fact))
    if outcome.failed:
        return msgspec.structs.replace(result, problem=outcome.message, code=outcome.reason)
    return msgspec.structs.replace(result, after=outcome.total)


def _payload(home: Home, one: StoredSubmission) -> bytes:
    """What was handed in. Raises NotFound (submission_not_stored), InvalidInput (blob_hash, blob_damaged)."""
    if not one.blob:
        raise NotFound("submission_not_stored", f"Submission {one.ordinal} of session {one.session} is not in the log: "
                       "it was too large to be kept, or the task is scored on a container's state.",
                       session=one.session)
    with reading(home) as conn:
        try:
            return blobs.get(conn, one.blob)
        except NotFound as error:
            raise NotFound("submission_not_stored", f"The log names submission {one.ordinal} of session {one.session}, "
                           "but does not hold its payload.", session=one.session) from error
        except InvalidInput as error:
            raise InvalidInput("submission_changed", f"Submission {one.ordinal} of session {one.session} is not what "
                               f"was handed in: {error.sentence}", session=one.session) from error
