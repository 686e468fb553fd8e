"""A host that is a plain machine, reached by SSH: the same daemon as a process of the login there. *Unconfined*.

For machines with GPUs and without Docker. Needs python3 and bash there, nothing installed by anybody: the daemon's
source is sent along. It outlives connections and this program; its files lie in the login's `.tiphys-hosts`.
"""

import asyncio
import io
import shlex
import tarfile
from pathlib import Path

from core.domain.errors import Unavailable
from core.domain.task import Host
from core.sandbox.daemon_link import Streams
from core.sandbox.daemon_socket import BOOT
from core.sandbox.installation import home_label, is_unnumbered
from core.sandbox.placement import EngineAddress, HostPlace
from core.sandbox.sandbox import Sandbox
from core.sandbox.tunnel import ssh_argv, ssh_streams

_SOURCE = Path(__file__).parent / "ptyd"
START_S = 60.0
_START = """
import io, os, socket, subprocess, sys, tarfile, time
name, gpus, boot = sys.argv[1:]
base = os.path.join(os.path.expanduser("~"), ".tiphys-hosts", name)
os.makedirs(base, 0o700, exist_ok=True)
for part in ("workspace", "state"):
    os.makedirs(os.path.join(base, part), 0o700, exist_ok=True)
source = os.path.join(base, "daemon")
os.chdir(base)
def answers():
    try:
        with socket.socket(socket.AF_UNIX) as link:
            link.connect("s")
        return True
    except OSError:
        return False
if not answers():
    with tarfile.open(fileobj=sys.stdin.buffer, mode="r|") as tar:
        tar.extractall(source)
    code = "import os; os.fork() and os._exit(0); os.setsid(); " + boot
    env = dict(os.environ, CUDA_VISIBLE_DEVICES=gpus, NVIDIA_VISIBLE_DEVICES=gpus, TIPHYS_MACHINE_HOST=name)
    with open("log", "ab") as log:
        subprocess.run([sys.executable, "-I", "-B", "-c", code, source, "serve", base, base + "/state",
                        base + "/workspace", "bash"], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env,
                       check=True)
    until = time.monotonic() + 20
    while not answers():
        if time.monotonic() > until:
            sys.exit("the daemon did not start: " + open("log", errors="replace").read()[-300:])
        time.sleep(0.05)
print(base)
"""
_END = """
import glob, os, signal, socket, struct, sys, time
mark = ("TIPHYS_MACHINE_HOST=" + sys.argv[1]).encode()
try:
    os.chdir(os.path.join(os.path.expanduser("~"), ".tiphys-hosts", sys.argv[1]))
    with socket.socket(socket.AF_UNIX) as link:
        link.settimeout(3)
        link.connect("s")
        text = b'{"rid": 1, "op": "shutdown"}'
        link.sendall(struct.pack("!II", len(text), 0) + text)
        while link.recv(65536):
            pass
except OSError:
    pass
def left():
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            with open(path, "rb") as file:
                if mark in file.read().split(b"\\0"):
                    yield int(path.split("/")[2])
        except OSError:
            pass
until = time.monotonic() + 10
while found := list(left()):
    if time.monotonic() > until:
        sys.exit("these processes cannot be ended: %s" % found)
    for pid in found:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass
    time.sleep(0.05)
"""
"""A daemon that hangs is ended, too, and what has left its terminals: all that inherited the host's name."""


class MachineSandbox(Sandbox):
    """A host on a plain machine. Nothing is confined; GPUs are kept apart by what programs see of them alone."""

    confined = False

    def __init__(self, session: str, host: Host, placement: HostPlace, *, home: str = "") -> None:
        """`home` tells sessions of the same id apart that several installations have on a machine."""
        super().__init__(host, "")
        self.session, self.placement = session, placement
        whose = "" if is_unnumbered(home) else f"@{home_label(home)}"
        self._name = f"{session}/{host.name}{whose}"

    async def start(self) -> None:
        """See Sandbox. Raises Unavailable where the machine cannot be reached, or has no python3 or bash."""
        command = shlex.join(["python3", "-I", "-B", "-c", _START, self._name, ",".join(self.placement.gpus), BOOT])
        output = await _ssh(self.placement.address.url, f"command -v bash >/dev/null && {command}", _daemon_tar())
        self.workspace = f"{output.strip().splitlines()[-1]}/workspace"
        await self.terminals.list()

    async def disk_used(self) -> int:
        """See Sandbox. As the machine itself tells it: there is no outside of a plain machine."""
        ran = await self.run(["du", "-sk", self._base()], timeout=120)
        return int(ran.output.split()[0]) << 10 if ran.exit_code == 0 else 0

    async def stop(self) -> None:
        """See Sandbox. Raises Unavailable where the machine cannot be asked: then it may all go on there."""
        await self.close()
        await _ssh(self.placement.address.url, shlex.join(["python3", "-I", "-c", _END, self._name]), b"")

    async def remove(self) -> None:
        """See Sandbox: its folder on the machine goes too."""
        await self.stop()
        await _ssh(self.placement.address.url, f"rm -rf ~/.tiphys-hosts/{shlex.quote(self._name)}; "
                        f"rmdir ~/.tiphys-hosts/{shlex.quote(self.session)} 2>/dev/null; true", b"")

    def _base(self) -> str:
        return self.workspace.rpartition("/")[0]

    async def _connect(self) -> Streams:
        base = self._base() if self.workspace else f".tiphys-hosts/{self._name}"
        command = shlex.join(["python3", "-I", "-B", "-c", BOOT, f"{base}/daemon", "bridge", base])
        try:
            return await ssh_streams(self.placement.address.url, command)
        except OSError as error:
            raise Unavailable("ssh_failed", f"{self.placement.place} cannot be reached: {error}.") from error


async def describe_machine(at: EngineAddress) -> str:
    """What a plain machine is, in a line. Raises Unavailable where it cannot be used as a host."""
    script = ("import os, platform, subprocess, shutil; smi = shutil.which('nvidia-smi'); "
              "gpus = subprocess.run([smi, '-L'], capture_output=True).stdout.count(b'GPU ') if smi else 0; "
              "print(platform.node(), platform.system(), os.cpu_count(), 'CPUs,', gpus, 'GPUs')")
    return (await _ssh(at.url, f"command -v bash >/dev/null && python3 -c {shlex.quote(script)}", b"")).strip()[:200]


async def _ssh(url: str, command: str, data: bytes) -> str:
    """What a command on the machine prints. Raises Unavailable (ssh_failed)."""
    argv = ssh_argv(url)
    process = await asyncio.create_subprocess_exec(
        *argv[:-1], "-T", argv[-1], command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE, start_new_session=True)
    try:
        async with asyncio.timeout(START_S):
            output, errors = await process.communicate(data)
    except TimeoutError:
        raise Unavailable("ssh_failed", f"{url} did not answer within {START_S:g} s.") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        why = errors.decode("utf-8", "replace").strip()[-300:] or f"exit status {process.returncode}"
        raise Unavailable("ssh_failed", f"{url} cannot be used: {why}.", why=why)
    return output.decode("utf-8", "replace")


def _daemon_tar() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for path in sorted(_SOURCE.glob("*.py")):
            tar.add(path, f"ptyd/{path.name}")
    return out.getvalue()
