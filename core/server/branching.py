"""Making a session that goes another way from a step of another on: what of the other's past it has, and what not."""

import msgspec

from core.domain import events as e
from core.domain.errors import Conflict, Denied, NotFound
from core.domain.guidance import GuidanceMode
from core.domain.host_rights import rights_of
from core.domain.session import SessionRow
from core.domain.task import AgentSettings, Task
from core.domain.verdict import Author
from core.gateway.recipe import recipe_of
from core.protocol.operations import BranchSession, Guide
from core.server import guidance
from core.server.lifecycle import check_new
from core.server.lookups import Lookups
from core.server.record import beginning, person, require_live, write
from core.store import log
from core.store.accounts import Principal
from core.store.sqlite import Connection
from core.tasks.task_check import check_task


class GivenGuidance(msgspec.Struct, kw_only=True):
    """Advice that the other session had: its words at last, and at which step it was given (None: not yet)."""

    id: str
    text: str
    mode: GuidanceMode
    author: Author
    step: int | None = None
    is_withdrawn: bool = False


def branch(conn: Connection, principal: Principal, session: str, op: BranchSession, lookups: Lookups
           ) -> dict[str, object]:
    """Make the branch; supervision starts its runner. Raises NotFound (no_session, no_step, no_guidance), Conflict:
    session_exists, imported, guidance_given, step_of_parent, task_not_allowed; Denied, InvalidInput.
    """
    check_new(session)
    row = log.row(conn, op.parent)
    created, parent = beginning(conn, op.parent)
    given = _given(conn, op.parent)
    _check(row, op, given)
    base, snapshot = _base(conn, op, parent, lookups)
    if created.agent.kind == "external":
        _check_external(created.agent, op, base)
    agent = _agent(principal, created, op)
    _take_rights(session, op, created.task, agent, lookups)
    if not log.create(conn, session):
        raise Conflict("session_exists", f"There is a session {session} already.", session=session)
    copied = [g for g in given if _is_had(g, op, base, row)]
    due = {g.id: g.step or op.step + 1 for g in copied} | ({op.guidance: op.step + 1} if op.text else {})
    fact = e.Branched(parent=op.parent, step=op.step, base=base, snapshot=snapshot, due=due, without=op.without,
                      replays=op.replays and base < op.step, ends=op.ends, more=op.more, group=op.group or session,
                      arm=op.arm)
    write(conn, session, e.SessionCreated(task=created.task, agent=agent), person(principal))
    made = write(conn, session, fact, person(principal))
    for one in copied:
        made = write(conn, session, e.GuidanceQueued(guidance=one.id, text=one.text, mode=one.mode), one.author)
    if op.text:
        made = guidance.guide(conn, principal, session, Guide(guidance=op.guidance, text=op.text))
    return made


def _check_external(agent: AgentSettings, op: BranchSession, base: int) -> None:
    """Recorded answers cannot be given to a program that holds what it knows itself: it goes on from its own record,
    which a snapshot of just that step has."""
    recipe = recipe_of(agent)
    why = ""
    if agent.is_attached:
        why = "it was started outside, and nobody here can start it again"
    elif op.ends:
        why = "its recorded answers cannot be given to it again"
    elif op.step and not recipe.resume:
        why = "its recipe does not say how it goes on from its own record (resume)"
    elif base != op.step:
        before = f"the newest one before is of step {base}" if base else "there is none before"
        why = f"it goes on from its own record alone, and no snapshot is of step {op.step}: {before}"
    if why:
        raise Conflict("external_agent", f"{recipe.title} cannot be branched so: {why}.", step=base)


def _check(row: SessionRow, op: BranchSession, given: list[GivenGuidance]) -> None:
    require_live(row)
    if op.step > row.steps:
        raise NotFound("no_step", f"Session {row.session} has no step {op.step}.", step=op.step)
    known = {g.id: g for g in given}
    for name in op.without:
        if name not in known:
            raise NotFound("no_guidance", f"Session {row.session} has no guidance {name[:80]}.", guidance=name[:80])
        step = known[name].step
        if step is not None and step <= op.step:
            raise Conflict("guidance_given", f"Guidance {name} was given at step {step}: to go on without it, branch "
                           f"from step {step - 1} or an earlier one.", guidance=name, step=step)


def _base(conn: Connection, op: BranchSession, parent: e.Branched | None, lookups: Lookups) -> tuple[int, str]:
    """The step and the snapshot to begin from: the newest one up to the step, or what the other itself began from."""
    here = lookups.snapshots(op.parent)
    found = [s for s in log.snapshots(conn, op.parent) if s.step <= op.step and s.id in here and not op.from_start]
    if found:
        last = max(found, key=lambda one: one.step)
        return last.step, last.id
    if parent is None:
        return 0, ""
    if op.step < parent.base:
        raise Conflict("step_of_parent", f"Step {op.step} of session {op.parent} is one of session {parent.parent}: "
                       "branch that one.", parent=parent.parent, step=op.step)
    return parent.base, parent.snapshot


def _agent(principal: Principal, created: e.SessionCreated, op: BranchSession) -> AgentSettings:
    """The agent, with another model where one is named. In an environment that writes its actions as the other's did,
    and says its tokens where the other's were known, so that what follows can be compared and learnt from."""
    agent = created.agent
    if op.model is None:
        return agent
    if not principal.allows("admin"):
        raise Denied("missing_scope", "A model of your own needs admin.", scope="admin")
    model, before = op.model, agent.model
    if created.task.environment is not None:
        model = msgspec.structs.replace(
            model, actions=before.actions, temperature=before.temperature, top_p=before.top_p,
            max_output_tokens=before.max_output_tokens, records_tokens=before.records_tokens or before.kind == "policy")
    return msgspec.structs.replace(agent, model=model)


def _take_rights(session: str, op: BranchSession, task: Task, agent: AgentSettings, lookups: Lookups) -> None:
    """What the other was allowed, the branch is. A model that an administrator names is a word for all but a key."""
    check_task(task, agent)
    rights = rights_of(task, agent)
    if not rights:
        return
    digest = lookups.catalogue.digest(task.id)
    own = {r for r in rights if op.model is not None and r.kind in ("endpoint", "path")}
    lookups.allowances.require([r for r in rights if r not in own], task.id, digest, op.parent)
    lookups.allowances.allow_session(session, task.id, digest, rights)


def _given(conn: Connection, session: str) -> list[GivenGuidance]:
    """All advice of a session, in the order of its log."""
    found: dict[str, GivenGuidance] = {}
    for event in map(e.decode_stored, log.about_guidance(conn, session)):
        match event.fact:
            case e.GuidanceQueued() as f:
                found[f.guidance] = GivenGuidance(id=f.guidance, text=f.text, mode=f.mode, author=event.author)
            case e.GuidanceEdited(guidance=id, text=text) if id in found:
                found[id].text = text
            case e.GuidanceWithdrawn(guidance=id) if id in found:
                found[id].is_withdrawn = True
            case e.GuidanceDelivered(guidance=id, step=step) if id in found:
                found[id].step = step
    return [one for one in found.values() if not one.is_withdrawn]


def _is_had(one: GivenGuidance, op: BranchSession, base: int, row: SessionRow) -> bool:
    """Whether the branch is given it again: all that the other was given after the base and up to its next step."""
    if one.id in op.without:
        return False
    if one.step is None:
        return op.step == row.steps
    return base < one.step <= op.step + 1
