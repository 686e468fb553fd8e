"""Making sessions and steering their state: what a living runner is asked, and what the server does for a dead one."""

import msgspec

from core.domain.errors import Conflict, Denied, InvalidInput
from core.domain.events import ControlAsked, SessionCreated, SessionState, SessionStateChanged
from core.domain.host_rights import HostRight, rights_of
from core.domain.ids import is_id, root_session
from core.domain.session import AWAITED, FINAL_STATES, SessionRow
from core.domain.task import AgentSettings, Task
from core.protocol.operations import Control, CreateSession, ImportSession
from core.server.lookups import Lookups
from core.server.record import SERVER, check_move, person, require_live, write
from core.store import early_opinions, log
from core.store.accounts import Principal
from core.store.attribution import attribute
from core.store.sqlite import Connection
from core.tasks.task_check import check_task


def create(conn: Connection, principal: Principal, session: str, op: CreateSession, lookups: Lookups
           ) -> dict[str, object]:
    """Make a session; supervision starts its runner. Raises InvalidInput, NotFound, Conflict, Denied."""
    check_new(session)
    task, agent, rights, digest = _what(op, principal, lookups)
    is_known = not log.create(conn, session) and not _was_awaited(conn, session)
    fact = SessionCreated(task=task, agent=agent, group=op.group)
    if is_known and not _was_recalled(conn, session, fact):
        raise Conflict("session_exists", f"There is a session {session} already.", session=session)
    if rights:
        lookups.allowances.allow_session(session, task.id, digest, rights)
    if is_known:
        return {"seq": 1}
    return write(conn, session, fact, person(principal))


def await_session(conn: Connection, session: str) -> None:
    """Make room for a session that a restored log has yet to be told of again; no list has it before."""
    check_id(session)
    if log.create(conn, session):
        log.put_row(conn, SessionRow(session=session, hidden_until=AWAITED))


def is_here(conn: Connection, session: str) -> bool:
    """Whether there is a session, or room for it. Raises InvalidInput for what can name none."""
    check_id(session)
    return log.knows(conn, session)


def take_early(conn: Connection, session: str) -> None:
    """The session is here: so are the opinions that came before it, each as its account's."""
    for account, body in early_opinions.take(conn, session):
        place = log.append(conn, session, [body])
        attribute(conn, session, place, place, account)


def _was_awaited(conn: Connection, session: str) -> bool:
    """Whether there is only room for the session; it is none that lists hide from now on."""
    row = log.row(conn, session)
    if row.is_awaited:
        log.put_row(conn, msgspec.structs.replace(row, hidden_until=0))
        return True
    return False


def _was_recalled(conn: Connection, session: str, fact: SessionCreated) -> bool:
    """Whether the server made the very session itself, after the log that knew it was replaced."""
    first = log.read(conn, session, 0, 1)
    return bool(first) and first[0].event.author == SERVER and first[0].event.fact == fact


def open_import(conn: Connection, session: str, op: ImportSession) -> dict[str, object]:
    """Make room for an imported session, whose events come by Lease and Append. Raises InvalidInput, Conflict."""
    check_id(session)
    if op.origin in ("", "live"):
        raise InvalidInput("bad_origin", "An import needs the name of its format.")
    log.create(conn, session)
    row, head = log.row(conn, session), log.head(conn, session)
    if head and row.origin == "live" and not row.is_awaited:  # what is only awaited may be an import
        raise Conflict("session_exists", f"Session {session} was made here and is no import.", session=session)
    if row.origin == "live":
        row = msgspec.structs.replace(row, origin=op.origin)  # also where its events were live once
    if row.seq == 0 or row.is_hidden:
        row = msgspec.structs.replace(row, hidden_until=op.events)
    log.put_row(conn, row)
    return {"seq": head}


def settle_imports(conn: Connection) -> None:
    """Sessions of growing files whose follower died with this computer run no more: nobody knows their end."""
    for row in log.rows(conn):
        if row.origin != "live" and row.state == "running" and row.reason == "file_grows":
            write(conn, row.session, SessionStateChanged(state="stopped", reason="end_not_recorded"), SERVER)


def control(conn: Connection, principal: Principal, session: str, op: Control, lookups: Lookups, command: str
            ) -> dict[str, object]:
    """Ask the runner, or change the state where there is none. Raises NotFound, Conflict.

    The event bears the command's id: a runner that obeyed it knows it again in a log that was restored.
    """
    row = log.row(conn, session)
    require_live(row)
    if op.control not in ("pause", "resume") or row.state in FINAL_STATES:
        refuse_subagent(row, op.control)
    if row.state in FINAL_STATES:
        return _revive(conn, principal, row, op, command)
    if lookups.is_alive(root_session(session)):
        return write(conn, session, ControlAsked(control=op.control, answers=op.answers), person(principal), id=command)
    if op.control in ("interrupt", "snapshot"):
        raise Conflict("no_runner", f"Session {session} has no runner now, so there is nothing to {op.control}.")
    if op.control == "resume" and row.state != "paused":
        raise Conflict("wrong_state", f"Session {session} is {row.state}, not paused.", state=row.state)
    moves: dict[str, tuple[SessionState, str]] = {
        "pause": ("paused", "paused_by_person"),
        "resume": ("running", "resumed_by_person"),
        "stop": ("stopped", "stopped_by_person"),
    }
    return _move(conn, principal, row, *moves[op.control], command)


def _what(op: CreateSession, principal: Principal, lookups: Lookups
          ) -> tuple[Task, AgentSettings, tuple[HostRight, ...], str]:
    """What is to be made, what of this computer it may take, and the digest of the folder that this was allowed to.

    A catalogue's task as it stands is for every guide; anything else chooses what runs on the server.
    """
    from core.environments.registry import kind_of, with_horizon  # with all that is played: only a new session asks

    own = not isinstance(op.task, str) or op.agent != AgentSettings()
    if own and not principal.allows("admin"):
        raise Denied("missing_scope", "A task or agent settings of your own need admin; choose a task by its id.",
                     scope="admin")
    if isinstance(op.task, str):
        task, suggested = lookups.find_task(op.task)
        agent, asked_by_file = suggested if op.agent == AgentSettings() else op.agent, rights_of(task, suggested)
    else:
        task, agent, asked_by_file = op.task, op.agent, ()
    task = with_horizon(task)
    check_task(task, agent)
    if task.environment is not None and agent.kind == "own":
        kind_of(task.environment)
    if agent.model.kind == "unknown" and agent.kind != "outside":
        raise InvalidInput("task_without_model", f"Task {task.id} names no model that is to work on it: choose one, as "
                           f"with tiphys run {task.id} --model NAME --base-url URL.", task=task.id)
    if agent.model.kind == "policy" and not op.group:
        raise InvalidInput("task_without_model", f"Task {task.id} is answered by a policy, which only a roll-out has.",
                           task=task.id)
    if agent.sandbox == "docker" and task.hosts and agent.kind != "outside":
        lookups.refuse_unfit(task)
    rights = rights_of(task, agent)
    own_words = {r for r in rights if own and _is_own_word(r, agent, asked_by_file)}
    digest = lookups.catalogue.digest(task.id) if rights else ""
    lookups.allowances.require([r for r in rights if r not in own_words], task.id, digest)
    return task, agent, rights, digest


def _is_own_word(right: HostRight, agent: AgentSettings, asked_by_file: tuple[HostRight, ...]) -> bool:
    """Whether an administrator's own settings are the word for a right.

    Not where they repeat the file's, and never for a variable, a folder of this computer or a machine without a
    sandbox: whose value may go where, and what may be read or used, is said on this computer alone.
    To run unconfined takes `confirmed_unconfined`, which no file can hold.
    """
    if right.kind.startswith("unconfined"):
        return agent.confirmed_unconfined
    return right.kind not in ("variable", "data", "machine") and right not in asked_by_file


def _revive(conn: Connection, principal: Principal, row: SessionRow, op: Control, command: str) -> dict[str, object]:
    if op.control != "resume":
        raise Conflict("session_over", f"Session {row.session} is {row.state} already.", state=row.state)
    return _move(conn, principal, row, "queued", "resumed_by_person", command)


def _move(conn: Connection, principal: Principal, row: SessionRow, to: SessionState, reason: str, command: str
          ) -> dict[str, object]:
    check_move(row, to)
    return write(conn, row.session, SessionStateChanged(state=to, reason=reason), person(principal), id=command)


def refuse_subagent(row: SessionRow, what: str) -> None:
    """Raise Conflict (subagent) for what only the session that called it can be asked."""
    root = root_session(row.session)
    if root != row.session:
        raise Conflict("subagent", f"Session {row.session} is a subagent's, which cannot be asked to {what} by itself: "
                       f"ask session {root}, whose agent called it.", session=root)


def check_new(session: str) -> None:
    """Raise InvalidInput unless it can name a session that a person makes: a subagent's is made by its caller."""
    check_id(session)
    if root_session(session) != session:
        raise InvalidInput("bad_id", f"{session[:80]!r} is the name of a subagent, which its caller makes.")


def check_id(session: str) -> None:
    """Raise InvalidInput unless it can name a session."""
    if not is_id(session):
        raise InvalidInput("bad_id", f"{session[:80]!r} cannot name a session.")
