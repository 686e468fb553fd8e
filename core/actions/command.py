"""The command family: run commands in named terminals that outlive the action, and look after them."""

import asyncio
import math
import re
import secrets
from typing import Annotated

from msgspec import Meta

from core.actions.bench import Bench
from core.actions.declare import OnHost, declared
from core.actions.jobs import JobNote, job_id
from core.actions.output import range_output
from core.actions.result import ActionFailed, Result
from core.actions.terminal_looks import LOOKS, TerminalName, session_of
from core.domain.errors import Conflict, NotFound
from core.domain.step import ActionError
from core.sandbox.sandbox import Sandbox
from core.sandbox.values import Job, TerminalInfo

DEFAULT_TERMINAL = "main"
WAIT_S = 120.0
LONGEST_WAIT_S = 3600.0
GLANCE_S = 0.7
"""How long a command that is not waited for may still end within its action, in seconds."""
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}\Z")
_SIGNALS = {130: "interrupted", 137: "killed, often for want of memory", 143: "terminated"}


class OpenTerminal(OnHost, frozen=True, kw_only=True):
    """Open a terminal (a long-lived bash) under a name. Opening one that exists gives it as it is."""

    session_id: Annotated[str, Meta(description="Name of the terminal; made up if left out.")] = ""


class RunCommand(OnHost, frozen=True, kw_only=True):
    """Run a shell command, of any number of lines, in a terminal.

    The result has the real exit code. A command that takes longer than the timeout goes on as a job:
    look at it with get_session_output, and wait for it with sleep, which ends when a job does.
    """

    command: Annotated[str, Meta(description="The command; may have many lines and heredocs.", min_length=1)]
    session_id: Annotated[str, Meta(description="The terminal to run it in; 'main' if left out.")] = ""
    wait_for_completion: Annotated[bool, Meta(description="Wait for its end (the default), or let it go on at once "
                                                          "and come back to it later.")] = True
    timeout: Annotated[float | None, Meta(description="Seconds to wait for its end; 120 if left out.")] = None


class InputInSession(OnHost, frozen=True, kw_only=True):
    """Type a line into the program that runs in a terminal, such as an answer to its question."""

    session_id: TerminalName
    input_text: Annotated[str, Meta(description="What to type. Enter is added, unless it is a control character.")]


class CloseSession(OnHost, frozen=True, kw_only=True):
    """End a terminal and all that runs in it."""

    session_id: TerminalName


class CloseAllSessions(OnHost, frozen=True, kw_only=True):
    """End all terminals of a host and all that runs in them."""


class KillSessionProcesses(OnHost, frozen=True, kw_only=True):
    """End the programs that run in a terminal; the terminal stays."""

    session_id: TerminalName
    force: Annotated[bool, Meta(description="Kill at once, instead of asking first.")] = False


async def create_session(a: OpenTerminal, bench: Bench) -> Result:
    """Open a terminal."""
    host, sandbox = bench.host(a.computer_ip)
    name = checked_name(a.session_id or secrets.token_hex(4))
    existed = any(t.name == name and t.alive for t in await sandbox.terminals.list())
    info = await opened(bench, host, sandbox, name)
    state = "existed already" if existed else "is open"
    return Result(text=f"Session {name} on {host} {state}, in {info.cwd}.",
                  data={"computer_ip": host, "session_id": name})


async def run_command(a: RunCommand, bench: Bench) -> Result:
    """Run a command, and wait for it as asked."""
    host, sandbox = bench.host(a.computer_ip)
    name = checked_name(a.session_id or DEFAULT_TERMINAL)
    await opened(bench, host, sandbox, name)
    job = job_id(bench.step, bench.call_id)
    bench.jobs.start(JobNote(id=job, call_id=bench.call_id, step=bench.step, host=host, terminal=name,
                             command=" ".join(a.command.split())[:200]))
    try:
        await sandbox.terminals.command(name, job, a.command)
    except Conflict as error:
        bench.jobs.forget(job)
        if error.code != "busy":
            raise
        raise ActionFailed("busy", f"Session {name} on {host} is busy. Wait (sleep), answer its program "
                           "(input_in_session), end it (kill_session_processes), or use another session_id.",
                           "refused") from error
    bench.foreground = (host, name, job)
    try:
        found = await sandbox.terminals.wait_job(job, _wait(a))
    finally:
        bench.foreground = None
    return await job_result(bench, host, found)


def _wait(a: RunCommand) -> float:
    if not a.wait_for_completion:
        return GLANCE_S
    asked = WAIT_S if a.timeout is None or not math.isfinite(a.timeout) else a.timeout
    return min(max(asked, 0.0), LONGEST_WAIT_S)


async def job_result(bench: Bench, host: str, job: Job) -> Result:
    """How a job stands, with what it has printed."""
    sandbox = bench.hosts[host]
    end = job.end
    if not job.ended:
        end = next((t.total for t in await sandbox.terminals.list() if t.name == job.terminal), job.end)
    output = await range_output(bench, host, job.terminal, job.start, max(job.start, end))
    data = {"computer_ip": host, "session_id": job.terminal}
    if not job.ended:
        return Result(status="running", job=job.id, output=output, data=data)
    bench.jobs.forget(job.id)
    return Result(exit_code=job.exit_code, error=exit_error(job.exit_code), job=job.id, output=output, data=data)


def exit_error(code: int | None) -> ActionError | None:
    """The error of an exit code, None for 0."""
    if code == 0:
        return None
    if code is None:
        return ActionError(kind="lost", message="The terminal was lost; nobody knows how the command ended.")
    why = f" ({_SIGNALS[code]})" if code in _SIGNALS else ""
    return ActionError(kind="exit_code", message=f"The command ended with exit code {code}{why}.")


async def input_in_session(a: InputInSession, bench: Bench) -> Result:
    """Type into a running program, and show what it answers within a moment."""
    host, sandbox = bench.host(a.computer_ip)
    info = await session_of(sandbox, host, a.session_id)
    if not info.busy:
        raise ActionFailed("not_waiting", f"Nothing runs in session {info.name} that could read input; "
                           "use run_command.", "refused")
    control = len(a.input_text) == 1 and ord(a.input_text) < 32
    await sandbox.terminals.write(info.name, (a.input_text + ("" if control else "\n")).encode("utf-8", "replace"))
    after = await _quiet(sandbox, info)
    output = await range_output(bench, host, info.name, info.total, after.total)
    return Result(output=output, status="running" if after.busy else "finished",
                  data={"computer_ip": host, "session_id": info.name, "is_busy": after.busy}, job=after.job)


async def _quiet(sandbox: Sandbox, info: TerminalInfo) -> TerminalInfo:
    """The terminal once it has said something and then nothing for 0.3 s, or after 3 s."""
    loop = asyncio.get_running_loop()
    until = loop.time() + 3.0
    while True:
        await asyncio.sleep(0.1)
        now = await session_of(sandbox, "", info.name)
        if loop.time() > until or not now.busy or (now.total > info.total and now.quiet_s > 0.3):
            return now


async def close_session(a: CloseSession, bench: Bench) -> Result:
    """End a terminal."""
    host, sandbox = bench.host(a.computer_ip)
    info = await session_of(sandbox, host, a.session_id)
    return await _close(bench, host, [info.name])


async def close_all_sessions(a: CloseAllSessions, bench: Bench) -> Result:
    """End all terminals of a host."""
    host, sandbox = bench.host(a.computer_ip)
    return await _close(bench, host, [t.name for t in await sandbox.terminals.list()])


async def _close(bench: Bench, host: str, names: list[str]) -> Result:
    await bench.follower.flush()
    for name in names:
        try:
            await bench.hosts[host].terminals.close(name)
        except NotFound:
            continue
        finally:
            bench.jobs.lost(host, name)
            bench.jobs.tell(host, name)  # the agent ended them itself
            bench.cleared.pop(f"{host}/{name}", None)
    text = f"Closed on {host}: {', '.join(names) or 'nothing was open'}."
    return Result(text=text, data={"num_closed_sessions": len(names), "closed_machines": [host]})


async def kill_session_processes(a: KillSessionProcesses, bench: Bench) -> Result:
    """End what runs in a terminal: SIGTERM, and SIGKILL to what is left after a second."""
    host, sandbox = bench.host(a.computer_ip)
    info = await session_of(sandbox, host, a.session_id)
    killed = await sandbox.terminals.kill(info.name, force=a.force)
    anew = await end_programs(bench, host, info.name)
    for note in bench.jobs.tell(host, info.name):
        bench.jobs.forget(note.id)  # the agent ended it itself
    ended = [{"pid": p.pid, "cmd": p.command} for p in killed]
    lines = [f"{p['pid']} {p['cmd']}" for p in ended] or ["nothing"]
    if anew:
        lines.append("The shell itself did not stop; it was ended and started anew.")
    return Result(text="\n".join([f"Ended in session {info.name} on {host}:", *lines]),
                  data={"signal_used": "KILL" if a.force else "TERM", "killed_processes": ended, "failed_kills": []})


async def end_programs(bench: Bench, host: str, name: str) -> bool:
    """Free a terminal that was told to stop: SIGKILL, Ctrl-C to its shell, at last a new shell (then True)."""
    terminals = bench.hosts[host].terminals
    for force in (False, True):
        for _ in range(10):
            if not await terminals.is_busy(name):
                return False
            await asyncio.sleep(0.1)
        if not force:
            await terminals.kill(name, force=True)
            await terminals.interrupt(name)
    await terminals.end(name)
    await opened(bench, host, bench.hosts[host], name)
    return True


def checked_name(name: str) -> str:
    """A terminal's name. Raises ActionFailed."""
    if not _NAME.match(name) or name in (".", ".."):
        raise ActionFailed("bad_name", "A session_id is 1 to 64 letters, digits, dots, dashes or underscores.",
                           "refused")
    return name


async def opened(bench: Bench, host: str, sandbox: Sandbox, name: str) -> TerminalInfo:
    """The terminal, opened where it is not, and followed into the log."""
    info = await sandbox.terminals.open(name, offset=bench.follower.offset(host, name))
    bench.follower.follow(host, name)
    return info


ACTIONS = (
    *declared(create_session), *LOOKS[:1], *declared(run_command, input_in_session), *LOOKS[1:],
    *declared(close_session, close_all_sessions, kill_session_processes),
)
