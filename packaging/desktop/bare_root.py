"""A bare system of a Debian release, made with mmdebstrap, to install packages in as an administrator would.

What root does there has this machine's network, with names resolved and apt's proxy set as here; a person's programs
have no network but the loopback of their own, so that no display and no server of this machine is met. Needs root.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

PASSED_ON = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")


class BareRoot:
    """One system in a folder; it is made anew from an archive that is kept beside it."""

    def __init__(self, release: str, folder: Path) -> None:
        self.release, self.path = release, folder / release
        archive = folder / f"{release}.tar"
        folder.mkdir(parents=True, exist_ok=True)
        if not archive.exists():
            subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", "--include=ca-certificates", release,
                            str(archive)], check=True)
        self.remove()
        self.path.mkdir()
        subprocess.run(["tar", "-xf", str(archive), "-C", str(self.path)], check=True)
        self._prepare()

    def _prepare(self) -> None:
        dump = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=True).stdout
        lines = [line for line in dump.splitlines() if "proxy" in line.lower()]
        (self.path / "etc/apt/apt.conf.d/99-as-outside").write_text("\n".join(lines) + "\n")
        shutil.copy("/etc/resolv.conf", self.path / "etc/resolv.conf")
        authorities = Path("/etc/ssl/certs/ca-certificates.crt")
        if authorities.exists():
            shutil.copy(authorities, self.path / "etc/ssl/certs/ca-certificates.crt")
        self.run("apt-get update -qq && useradd --create-home --shell /bin/bash lab")

    def run(self, script: str, *, user: str = "root", check: bool = True, variables: Mapping[str, str] = {},
            timeout: float = 600) -> subprocess.CompletedProcess[str]:
        """Run a script inside, in a namespace of its own: whatever it starts and mounts goes with it.

        Raises SystemExit with what it printed where it fails, unless `check` is False.
        """
        words = script if user == "root" else f"exec su - {user} -c {shlex.quote(script)}"
        root = shlex.quote(str(self.path))
        alone = user != "root"
        loopback = "ip link set lo up; " if alone else ""
        # a running system has the folder of the displays' sockets; an X server that is not root's makes none
        mounts = (f"mount -t proc proc {root}/proc; mount --rbind /dev {root}/dev; mount -t tmpfs tmpfs {root}/tmp; "
                  f"mkdir -m 1777 {root}/tmp/.X11-unix")
        outer = f"{loopback}{mounts}; exec chroot {root} /bin/bash -c {shlex.quote(words)}"
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive",
                       **{name: os.environ[name] for name in PASSED_ON if name in os.environ}, **variables}
        apart = ["unshare", "--mount", "--pid", "--fork", "--kill-child", *(["--net"] if alone else [])]
        done = subprocess.run([*apart, "bash", "-ec", outer], text=True, capture_output=True, env=environment,
                              check=False, timeout=timeout)
        if check and done.returncode:
            raise SystemExit(f"In {self.release} this failed ({done.returncode}): {script}\n"
                             f"{done.stdout[-3000:]}{done.stderr[-3000:]}")
        return done

    def remove(self) -> None:
        """Delete the folder; nothing is mounted there outside of `run`."""
        if self.path.exists():
            subprocess.run(["rm", "-rf", "--one-file-system", str(self.path)], check=True)
