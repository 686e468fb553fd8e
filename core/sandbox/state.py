"""A host whose state is all of its image's files, as the tasks of Harbor and Endless Terminals have them.

The agent works in the image's own folders as a plain user who owns its working folder and home and nothing else; what
root owns stays as the image has it. Its image is a commit of the container: the engine keeps what changed, whatever its
size. A snapshot holds the working folder and the home, as of any host.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.domain.errors import Unavailable
from core.domain.task import Host
from core.sandbox.container import SHARED, as_root
from core.sandbox.docker import DockerSandbox, user_id
from core.sandbox.engine import Client, in_thread, passing_container, translated
from core.sandbox.image import (
    REPOSITORY,
    bring_own_python,
    daemon_layer,
    find_image,
    is_made,
    pulled,
    short_digest,
    source_digest,
)
from core.sandbox.placement import HERE, HostLinks, HostPlace

PLACE_MB = 1024
"""The most that one of the extra places of a sandbox may hold, in MiB."""

_OWN = r"""
set -e
if [ -n "$1" ]; then
    line=$(grep "^$1:" /etc/passwd) || { echo "the image has no user $1"; exit 3; }
    IFS=: read -r name password old group rest <<END
$line
END
    [ "$old" != 0 ] || { echo "the user $1 is root"; exit 3; }
    if [ "$old" != USER ]; then
        find / -xdev -user "$old" -exec chown -h USER {} +
        sed -i -e "s/^\([^:]*:[^:]*\):USER:/\1:$old:/" -e "s/^\($1:[^:]*\):$old:/\1:USER:/" /etc/passwd
    fi
    find / -xdev -group "$group" -user USER -exec chgrp -h USER {} +
fi
shift
for place in "$@"; do [ ! -d "$place" ] || chown -R USER:USER "$place"; done
"""
"""The account that the agent works as gets the number that a sandbox's programs run as; whoever had it, the other's."""


class StateSandbox(DockerSandbox):
    """A container that may write all of its own file system, as far as its user may."""

    def __init__(self, session: str, host: Host, folder: Path, image: str = "", *, home: str = "",
                 bridge: bool | None = None, placement: HostPlace = HERE, links: HostLinks = HostLinks(),
                 places: Sequence[str] = (), as_root: bool = False) -> None:
        """`places` are folders that exist in this sandbox only and belong to no state of it; `as_root`: its programs
        run as root of the container, and still reach nothing outside."""
        super().__init__(session, host, folder, image, home=home, bridge=bridge, placement=placement, links=links)
        self.workspace = host.workdir
        self.folders = {}
        self._places, self._as_root = tuple(places), as_root

    async def start(self) -> None:
        """See Sandbox. Where its home is, the image says."""
        await super().start()
        ran = await self.run(["sh", "-c", 'printf %s "$HOME"'])
        self.folders |= _saved(self.workspace, ran.output.decode("utf-8", "replace"))

    async def as_image(self, tag: str) -> str:
        """See Sandbox. The engine freezes the container meanwhile."""
        return await in_thread(self._commit, tag)

    async def disk_used(self) -> int:
        """See Sandbox. What differs from the image."""
        return await in_thread(self._written)

    def _fit(self, engine: Client) -> str:
        return fit_state(engine, self.image, self.host.workdir, user_id(), self.host.user)

    def _shape(self, cpus: float) -> dict[str, Any]:
        shape = super()._shape(cpus)
        tmpfs = dict.fromkeys(self._places, f"size={PLACE_MB}m,mode=1777,exec")
        user = as_root() if self._as_root else {}
        return {**shape, **user, "read_only": False, "tmpfs": {"/run/ptyd": shape["tmpfs"]["/run/ptyd"], **tmpfs}}

    def _volumes(self) -> dict[str, str]:
        return {target: volume for target, volume in super()._volumes().items() if target == SHARED}

    def _written(self) -> int:
        return int(self._described().get("SizeRw") or 0)

    def _commit(self, tag: str) -> str:
        self._container().commit(REPOSITORY, tag)
        return f"{REPOSITORY}:{tag}"


def _saved(workdir: str, home: str) -> dict[str, str]:
    """The folders that a snapshot holds, of which none lies in another."""
    if not home.startswith("/") or home == "/" or home == workdir or home.startswith(f"{workdir}/"):
        return {"workspace": workdir}
    return {"home": home} if workdir.startswith(f"{home}/") else {"workspace": workdir, "home": home}


def fit_state(engine: Client, base: str, workdir: str, user: int, account: str = "") -> str:
    """An image with the daemon in it whose working folder and home belong to `user`, who is its `account` where one is
    named. Blocking. Raises NotFound (unknown_image), Unavailable.
    """
    found = find_image(engine, base) or pulled(engine, base)
    mark = f"{source_digest()}:{user}:{workdir}:{account}"
    if found.labels.get("tiphys.state") == mark:
        return base
    tag = f"{REPOSITORY}:{short_digest(found.id, mark)}"
    if is_made(engine, tag):
        return tag
    home = home_of(found.attrs.get("Config") or {}, workdir, account)
    script = ["-c", _OWN.replace("USER", str(user)), "sh", account, workdir, home]
    with passing_container(engine, base, script, entrypoint=["/bin/sh"], user="0:0", network_mode="none",
                           cap_drop=["ALL"], cap_add=["CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID"],
                           security_opt=["no-new-privileges"], mem_limit=512 << 20, pids_limit=64) as container:
        translated(lambda: container.put_archive("/", daemon_layer()))
        translated(container.start)
        if status := translated(lambda: container.wait(timeout=600))["StatusCode"]:
            words = bytes(translated(container.logs))[-300:].decode("utf-8", "replace").strip()
            raise Unavailable("no_image", f"The image {base} could not be made a host's: its /bin/sh ended with exit "
                              f"code {status}. {words}".strip())
        bring_own_python(engine, container)
        changes = [f'ENV HOME={home}', f"WORKDIR {workdir}", f'LABEL tiphys.state="{mark}"']
        translated(lambda: container.commit(REPOSITORY, tag.partition(":")[2], changes="\n".join(changes)))
    return tag


def home_of(config: dict[str, Any], workdir: str, account: str = "") -> str:
    """The home of an image's user: what it says, else the folder of /home that its working folder lies in, or that
    bears the account's name."""
    declared = dict(line.partition("=")[::2] for line in config.get("Env") or []).get("HOME", "")
    if declared.startswith("/home/"):
        return str(declared)
    parts = Path(workdir).parts
    return str(Path(*parts[:3])) if len(parts) > 2 and parts[1] == "home" else f"/home/{account or 'agent'}"
