"""Ending what an external agent runs at this moment: the commands below it, never the agent itself."""

from __future__ import annotations

from core.sandbox.sandbox import Sandbox
from core.sandbox.streams import own_python

_SCRIPT = r"""
import os, signal, sys
top, since = int(sys.argv[1]), float(sys.argv[2])
with open("/proc/uptime") as file:
    now = float(file.read().split()[0])
parents, ages = {}, {}
for entry in os.listdir("/proc"):
    if entry.isdigit():
        try:
            with open("/proc/%s/stat" % entry, errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(entry)] = int(fields[1])
        ages[int(entry)] = now - int(fields[19]) / os.sysconf("SC_CLK_TCK")
def above(pid):
    while pid in parents and pid != top:
        pid = parents[pid]
        yield pid
since += ages[os.getpid()]  # how long this program took to begin
tools = [pid for pid in parents if parents[pid] != top and top in above(pid) and ages[pid] <= since]
for pid in tools:
    try:
        os.kill(pid, signal.SIGINT)
    except OSError:
        pass
print(len(tools))
"""
"""Below a terminal's shell is the agent; what is below that and began after the model's answer is its tools."""

_SLACK_S = 0.5


async def interrupt_tools(host: Sandbox, terminal: str, since_s: float) -> int:
    """Send SIGINT to what the agent in a terminal has started since the model's answer, so many seconds ago; gives how
    many processes got it.

    Raises Unavailable where the sandbox does not answer.
    """
    shell = next((info.pid for info in await host.terminals.list() if info.name == terminal), 0)
    if not shell:
        return 0
    ran = await host.run(own_python("-I", "-c", _SCRIPT, str(shell), f"{since_s + _SLACK_S:.1f}"), timeout=10.0)
    words = ran.output.decode("utf-8", "replace").split()
    return int(words[-1]) if ran.exit_code == 0 and words and words[-1].isdecimal() else 0
