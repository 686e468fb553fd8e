"""The part of the command family that only looks: which terminals there are, what they print, what runs."""

import time
from typing import Annotated, Any

from msgspec import Meta

from core.actions.bench import Bench
from core.actions.declare import OnHost, declared
from core.actions.output import tail_text, text_output
from core.actions.result import ActionFailed, Result
from core.sandbox.sandbox import Sandbox
from core.sandbox.values import TerminalInfo

TerminalName = Annotated[str, Meta(description="Name of the terminal.")]


class ListSessions(OnHost, frozen=True, kw_only=True):
    """List all terminals of all hosts, whether each is idle, and what runs."""


class GetSessionOutput(OnHost, frozen=True, kw_only=True):
    """Show the last lines of a terminal, with how its last command stands."""

    session_id: TerminalName
    start_lines: Annotated[int, Meta(description="How many lines from the end to begin.", ge=1)] = 50
    end_lines: Annotated[int | None, Meta(description="How many lines from the end to stop; 0 if left out.")] = None
    since_timestamp: Annotated[float | None, Meta(description="Show instead what was printed since this time "
                                                              "(seconds since 1970).")] = None


class GetSessionRecentOutput(OnHost, frozen=True, kw_only=True):
    """Show what a terminal printed in the last seconds."""

    session_id: TerminalName
    seconds: Annotated[int, Meta(description="How many seconds to look back.", ge=1)] = 10


class GetSessionStatus(OnHost, frozen=True, kw_only=True):
    """Tell whether a terminal's command has ended, with which exit code, and what runs."""

    session_id: TerminalName


class CheckSessionIdle(OnHost, frozen=True, kw_only=True):
    """Tell whether a terminal is idle, so that it takes a new command."""

    session_id: TerminalName


class ClearSessionBuffer(OnHost, frozen=True, kw_only=True):
    """Forget what a terminal printed so far: later looks begin here."""

    session_id: TerminalName


async def session_of(sandbox: Sandbox, host: str, name: str) -> TerminalInfo:
    """A terminal by name. Raises ActionFailed `not_found`."""
    known = await sandbox.terminals.list()
    found = next((t for t in known if t.name == name), None)
    if found is None:
        names = ", ".join(t.name for t in known) or "none"
        raise ActionFailed("not_found", f"There is no session {name!r} on {host}. Open sessions: {names}.")
    return found


async def list_sessions(a: ListSessions, bench: Bench) -> Result:
    """All terminals."""
    hosts = [bench.host(a.computer_ip)] if a.computer_ip in bench.hosts else list(bench.hosts.items())
    table: dict[str, dict[str, Any]] = {}
    for host, sandbox in hosts:
        for t in await sandbox.terminals.list():
            table[f"{host}:{t.name}"] = {"computer_ip": host, "session_id": t.name, "is_alive": t.alive,
                                         "is_idle": not t.busy, "job": t.job, "cwd": t.cwd,
                                         "quiet_seconds": round(t.quiet_s, 1)}
    lines = [f"{key}: {_state(row)}, in {row['cwd']}" for key, row in table.items()]
    return Result(text="\n".join(lines) or "No session is open.", data={"sessions": table})


def _state(row: dict[str, Any]) -> str:
    if not row["is_alive"]:
        return "ended"
    return "idle" if row["is_idle"] else f"busy ({row['job'] or 'a program'}), quiet for {row['quiet_seconds']:g} s"


async def get_session_output(a: GetSessionOutput, bench: Bench) -> Result:
    """The last lines."""
    host, sandbox = bench.host(a.computer_ip)
    info = await session_of(sandbox, host, a.session_id)
    since = bench.cleared.get(f"{host}/{info.name}", 0)
    if a.since_timestamp is not None:
        return await _shown(bench, host, info, bench.follower.offset_at(host, info.name, a.since_timestamp), None)
    start, end = a.start_lines, max(0, a.end_lines or 0)
    start, end = max(start, end), min(start, end)
    return await _shown(bench, host, info, since, (start, end))


async def get_session_recent_output(a: GetSessionRecentOutput, bench: Bench) -> Result:
    """What was printed just now."""
    host, sandbox = bench.host(a.computer_ip)
    info = await session_of(sandbox, host, a.session_id)
    since = bench.follower.offset_at(host, info.name, time.time() - a.seconds)
    return await _shown(bench, host, info, max(since, bench.cleared.get(f"{host}/{info.name}", 0)), None)


async def _shown(bench: Bench, host: str, info: TerminalInfo, since: int, lines: tuple[int, int] | None) -> Result:
    text, begin = await tail_text(bench.hosts[host], info, since)
    if lines is not None:
        rows = text.split("\n")
        text = "\n".join(rows[max(0, len(rows) - lines[0]) : len(rows) - lines[1]])
    output = await text_output(bench, text or "(nothing was printed)", f"{host}/{info.name}", begin, info.total)
    data = {"computer_ip": host, "session_id": info.name, "is_alive": info.alive, "is_idle": not info.busy}
    return Result(output=output, data=data)


async def get_session_status(a: GetSessionStatus, bench: Bench) -> Result:
    """How a terminal's command stands."""
    host, sandbox = bench.host(a.computer_ip)
    info = await session_of(sandbox, host, a.session_id)
    processes = await sandbox.terminals.processes(info.name)
    children = [f"{p.pid} {p.state} {p.command}" for p in processes][:30]
    status = {"completed": not info.busy, "reason": _reason(info), "children_count": len(processes),
              "children_info": children}
    last = bench.jobs.last(host, info.name)
    if last is not None and last.ended:
        status["exit_code"] = last.exit_code
    return Result(text="\n".join([f"Session {info.name} on {host}: {status['reason']}.", *children]),
                  data={"computer_ip": host, "session_id": info.name, "status": status})


def _reason(info: TerminalInfo) -> str:
    if not info.alive:
        return f"its shell ended with exit code {info.exit_code}"
    if info.busy:
        return f"{info.job or 'a program'} is running, nothing printed for {info.quiet_s:.0f} s"
    return "idle"


async def check_session_idle(a: CheckSessionIdle, bench: Bench) -> Result:
    """Whether a terminal takes a command."""
    result = await get_session_status(GetSessionStatus(session_id=a.session_id, computer_ip=a.computer_ip), bench)
    result.data = {**result.data, "is_idle": result.data["status"]["completed"]}
    return result


async def clear_session_buffer(a: ClearSessionBuffer, bench: Bench) -> Result:
    """Later looks begin at the present end."""
    host, sandbox = bench.host(a.computer_ip)
    info = await session_of(sandbox, host, a.session_id)
    bench.cleared[f"{host}/{info.name}"] = info.total
    return Result(text=f"The output of session {info.name} on {host} so far is put away.")


LOOKS = declared(list_sessions, get_session_output, get_session_recent_output, get_session_status, check_session_idle,
                 clear_session_buffer)
