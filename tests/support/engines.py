"""Engines and machines of our own for tests: a second Docker engine, a TLS door in front of one, an SSH server."""

from __future__ import annotations

import contextlib
import getpass
import os
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import docker
import pytest


class SecondEngine:
    """A Docker engine in a network of its own, with its own data: what it is asked is asked of another machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.socket = folder / "docker.sock"
        self.url = f"unix://{self.socket}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        # A killed engine leaves files with numbers of processes, and waits for who is gone. Whoever keeps services
        # going starts it again at once, as systemd does; what it ran may still be there.
        keep = (f"while :; do rm -f {self.folder}/pid {self.folder}/exec/containerd/containerd.pid; dockerd "
                f"--bridge=none --data-root {self.folder}/data --exec-root {self.folder}/exec -H {self.url} "
                f"--pidfile {self.folder}/pid; done")
        argv = ["unshare", "-n", "-p", "-f", "--kill-child", "--mount-proc", "sh", "-c", keep]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                             start_new_session=True)
        self._wait()

    def restart(self) -> None:
        """SIGKILL to the engine alone, which is started again; returns when it answers."""
        assert self._process is not None
        for pid in _descendants(self._process.pid):
            if Path(f"/proc/{pid}/comm").read_text() == "dockerd\n":
                os.kill(pid, 9)
                break
        time.sleep(0.2)
        self._wait()

    def _wait(self) -> None:
        assert self._process is not None
        until = time.monotonic() + 60
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > until:
                pytest.skip(f"no second engine: {(self.folder / 'log').read_text()[-300:]}")
            time.sleep(0.1)

    def carry_out(self, *argv: str) -> None:
        """A command in each container, whatever way the product has there."""
        with contextlib.closing(docker.DockerClient(base_url=self.url)) as client:
            for container in client.containers.list():
                container.exec_run(list(argv))

    def kill(self) -> None:
        """As a power cut would: the engine with all that it runs."""
        assert self._process is not None
        os.killpg(self._process.pid, 9)
        self._process.wait()

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self.kill()
        mounts = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
        for place in sorted((m for m in mounts if m.startswith(str(self.folder))), reverse=True):
            subprocess.run(["umount", "-l", place], capture_output=True, check=False)

    def _answers(self) -> bool:
        with socket.socket(socket.AF_UNIX) as link, contextlib.suppress(OSError):
            link.settimeout(5)
            link.connect(str(self.socket))
            link.sendall(b"GET /_ping HTTP/1.0\r\n\r\n")
            return b" 200 " in link.recv(100)
        return False


@contextmanager
def second_engine() -> Iterator[SecondEngine]:
    """Skips where none can be started (root, dockerd and unshare are needed). Its folder's path is short, as its
    sockets' must be."""
    if os.getuid() or not shutil.which("dockerd") or not shutil.which("unshare"):
        pytest.skip("a second engine needs root and dockerd")
    engine = SecondEngine(Path(tempfile.mkdtemp(prefix="engine-")))
    try:
        engine.start()
        yield engine
    finally:
        engine.stop()
        shutil.rmtree(engine.folder, ignore_errors=True)


def certificates(folder: Path) -> Path:
    """ca.pem, cert.pem and key.pem of a client; server.pem and server-key.pem of localhost."""
    folder.mkdir(parents=True, exist_ok=True)

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=ca", "-keyout", "ca-key.pem",
            "-out", "ca.pem")
    for name, key, subject in (("server.pem", "server-key.pem", "/CN=server"), ("cert.pem", "key.pem", "/CN=client")):
        (folder / "ext").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", subject, "-keyout", key, "-out", "request.pem")
        openssl("x509", "-req", "-in", "request.pem", "-CA", "ca.pem", "-CAkey", "ca-key.pem", "-CAcreateserial",
                "-days", "2", "-out", name, "-extfile", "ext")
    return folder


class Door:
    """A TCP port in front of an engine's socket, with TLS where there are certificates. Notes what goes in."""

    def __init__(self, target: Path, tls: Path | None = None) -> None:
        self._target, self._context = target, None
        if tls is not None:
            self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._context.load_cert_chain(tls / "server.pem", tls / "server-key.pem")
            self._context.load_verify_locations(tls / "ca.pem")
            self._context.verify_mode = ssl.CERT_REQUIRED
        self.asked = bytearray()
        self.refused = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            client = self._context.wrap_socket(client, server_side=True) if self._context else client
        except (ssl.SSLError, OSError):
            self.refused += 1
            client.close()
            return
        with client, socket.socket(socket.AF_UNIX) as onward:
            onward.connect(str(self._target))
            back = threading.Thread(target=_carry, args=(onward, client, lambda data: None), daemon=True)
            back.start()
            _carry(client, onward, self.asked.extend)
            back.join()


def _carry(source: socket.socket, target: socket.socket, note: Callable[[bytes], object]) -> None:
    with contextlib.suppress(OSError, ValueError):
        while data := source.recv(65536):
            note(data)
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


class SshServer:
    """Debian's sshd on a port of its own, which this user may enter by a key."""

    def __init__(self, folder: Path) -> None:
        """Skips where there is no OpenSSH. Its keys, settings and a program `ssh` that knows it lie in `folder`."""
        self._sshd = shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin") or ""
        ssh = shutil.which("ssh")
        if not self._sshd or not ssh:
            pytest.skip("no OpenSSH server: the package openssh-server")
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("host", "own"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        self.url = f"ssh://{getpass.getuser()}@127.0.0.1:{self._port}"
        (folder / "sshd_config").write_text(
            f"Port {self._port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\n"
            f"AuthorizedKeysFile {folder}/own.pub\nPidFile {folder}/pid\nStrictModes no\nUsePAM no\n"
            "PasswordAuthentication no\nPermitRootLogin yes\nAllowStreamLocalForwarding yes\n"
            "SetEnv SHLVL=1\n")  # bash passes over ~/.bashrc then: a program there that is killed may leave a lock
        (folder / "known").write_text(f"[127.0.0.1]:{self._port} {(folder / 'host.pub').read_text()}")
        (folder / "config").write_text(f"Host *\n  IdentityFile {folder}/own\n  IdentitiesOnly yes\n"
                                       f"  UserKnownHostsFile {folder}/known\n  StrictHostKeyChecking yes\n")
        (folder / "ssh").write_text(f'#!/bin/sh\nexec {ssh} -F {folder}/config "$@"\n')
        (folder / "ssh").chmod(0o755)

    def start(self) -> None:
        """Until it answers."""
        if os.getuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen([self._sshd, "-D", "-e", "-f", str(self._folder / "sshd_config")],
                                             stderr=log)
        for _ in range(100):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self._port), 1):
                break
            time.sleep(0.05)

    def stop(self) -> None:
        """With every connection that it carries, and what runs in them; what left its session lives on."""
        for pid in reversed(_descendants(self._process.pid)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, 9)
        self._process.terminate()
        self._process.wait()


def _descendants(pid: int) -> list[int]:
    """The children of a process and theirs, parents first."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            found += [int(child), *_descendants(int(child))]
    return found


@contextmanager
def ssh_machine(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SshServer]:
    """A server at work, which this process and what it starts can enter."""
    server = SshServer(folder)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    server.start()
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def ssh_server(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The ssh:// address of one."""
    with ssh_machine(folder, monkeypatch) as server:
        yield server.url


def processes_on_machines(session: str) -> list[int]:
    """What was started on plain machines for a session, the daemon and all below it, wherever it is now."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                if f"TIPHYS_MACHINE_HOST={session}/".encode() in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
    return found
