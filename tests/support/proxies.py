"""Real reverse proxies of the distribution, with the configuration that the documentation gives."""

from __future__ import annotations

import contextlib
import functools
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
UNPACKED = ROOT / "build" / "proxies"


@functools.cache
def program(name: str) -> str:
    """The proxy's program: the installed one, or that of the distribution's package, unpacked and not installed.

    Skips the test where neither can be had.
    """
    found = shutil.which(name) or next((str(p) for p in UNPACKED.glob(f"usr/*bin/{name}")), "")
    if found:
        return found
    UNPACKED.mkdir(parents=True, exist_ok=True)
    got = subprocess.run(["apt-get", "download", "-q", name], cwd=UNPACKED, capture_output=True, text=True, timeout=120)
    for package in UNPACKED.glob(f"{name}_*.deb"):
        subprocess.run(["dpkg", "-x", package.name, "."], cwd=UNPACKED, check=True, timeout=120)
    found = next((str(p) for p in UNPACKED.glob(f"usr/*bin/{name}")), "")
    return found or pytest.skip(f"there is no {name}: {got.stderr[-200:]}")


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as held:
        return int(held.getsockname()[1])


def filled(name: str, port: int, upstream: int, certificate: Path, key: Path) -> str:
    """A configuration of packaging/server with the places of a test."""
    text = (ROOT / "packaging" / "server" / name).read_text()
    for found, put in (("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
                       ("\nlab.example {", f"\nlab.example:{port} {{"),
                       ("127.0.0.1:7717", f"127.0.0.1:{upstream}"), ("/etc/ssl/lab.example.crt", str(certificate)),
                       ("/etc/ssl/lab.example.key", str(key))):
        text = text.replace(found, put)
    return text


@contextlib.contextmanager
def nginx(folder: Path, upstream: int, certificate: Path, key: Path) -> Iterator[int]:
    """nginx in front of a port; gives its own."""
    port = free_port()
    site = filled("nginx.conf", port, upstream, certificate, key)
    (folder / "nginx.conf").write_text(
        f"daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log; worker_processes 1;\n"
        f"events {{}}\nhttp {{ access_log off; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p;\n"
        f"fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;\n{site}\n}}\n")
    with _running([program("nginx"), "-p", str(folder), "-c", str(folder / "nginx.conf")], folder, port):
        yield port


@contextlib.contextmanager
def caddy(folder: Path, upstream: int, certificate: Path, key: Path) -> Iterator[int]:
    """Caddy in front of a port; gives its own."""
    port = free_port()
    (folder / "Caddyfile").write_text("{\n\tadmin off\n\tauto_https disable_redirects\n}\n"
                                      + filled("Caddyfile", port, upstream, certificate, key))
    with _running([program("caddy"), "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"], folder,
                  port):
        yield port


@contextlib.contextmanager
def _running(command: list[str], folder: Path, port: int) -> Iterator[None]:
    with (folder / "proxy.log").open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, env={"HOME": str(folder), "PATH": "/usr/bin:/bin"})
    try:
        for _ in range(400):
            assert process.poll() is None, (folder / "proxy.log").read_text()
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(20)
