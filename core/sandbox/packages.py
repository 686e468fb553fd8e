"""A root file system out of the Debian packages that are installed on this machine: no network, no unpacking.

dpkg knows the files of each package; with the packages' dependencies they make a small system of their own.
"""

import io
import re
import tarfile
from pathlib import Path

REQUIRED = ("bash", "coreutils", "dash", "findutils", "grep", "gzip", "libc-bin", "ncurses-base", "procps", "python3",
            "sed", "tar", "util-linux")
WELCOME = ("bzip2", "ca-certificates", "curl", "diffutils", "file", "gawk", "git", "jq", "less", "make", "mawk",
           "nano", "openssl", "patch", "poppler-utils", "python3-pip", "python3-venv", "sqlite3", "unzip", "vim-tiny",
           "xz-utils", "zip")
_STATUS = Path("/var/lib/dpkg/status")
_INFO = Path("/var/lib/dpkg/info")
_SKIP = re.compile(
    r"^/(usr/share/(doc|doc-base|man|locale|info|lintian|bug|zoneinfo|common-licenses|bash-completion|icons|fonts|perl(?!5))"
    r"|boot|dev|home|proc|root|run|sys|tmp|var)(/|$)|/__pycache__|\.(a|pyc)$"
)
_OWN = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/bash\nagent:x:1000:1000::/home/agent:/bin/bash\n"
                  "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
    "etc/group": "root:x:0:\ntty:x:5:\nagent:x:1000:\nnogroup:x:65534:\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
}
_FOLDERS = ("usr", "usr/bin", "usr/sbin", "usr/lib", "usr/lib64", "etc", "proc", "sys", "dev", "run", "var", "var/tmp",
            "home", "root", "opt")


class Installed:
    """The packages of this machine, from dpkg's own records."""

    def __init__(self) -> None:
        self._packages: dict[str, dict[str, str]] = {}
        self._providers: dict[str, str] = {}
        text = _STATUS.read_text("utf-8", "replace") if _STATUS.exists() else ""
        for paragraph in text.split("\n\n"):
            fields = dict(re.findall(r"^([A-Za-z-]+): (.*)$", paragraph, re.MULTILINE))
            if fields.get("Status", "").endswith("ok installed"):
                self._packages[fields["Package"]] = fields
                for name in _names(fields.get("Provides", "")):
                    self._providers.setdefault(name[0], fields["Package"])

    def missing(self) -> list[str]:
        """Those of the required packages that are not installed."""
        return [n for n in REQUIRED if self._resolve(n) is None]

    def closure(self) -> list[str]:
        """All packages of a sandbox's system: the required and the welcome ones with their dependencies."""
        chosen: dict[str, None] = {}
        waiting = [p for n in (*REQUIRED, *WELCOME) if (p := self._resolve(n))]
        while waiting:
            package = waiting.pop()
            if package in chosen:
                continue
            chosen[package] = None
            for field in ("Pre-Depends", "Depends"):
                for alternatives in _names(self._packages[package].get(field, "")):
                    found = next((p for n in alternatives if (p := self._resolve(n))), None)
                    waiting += [found] if found else []
        return sorted(chosen)

    def _resolve(self, name: str) -> str | None:
        return name if name in self._packages else self._providers.get(name)


def _names(field: str) -> list[list[str]]:
    """The alternatives of each dependency in a field, without versions and architectures."""
    return [[a.split()[0].split(":")[0] for a in part.split("|") if a.strip()]
            for part in field.split(",") if part.strip()]


def files_of(packages: list[str]) -> list[str]:
    """The paths of the packages' files, folders resolved (/bin is /usr/bin), with update-alternatives' links."""
    paths: set[str] = set()
    for package in packages:
        lists = [*_INFO.glob(f"{package}.list"), *_INFO.glob(f"{package}:*.list")]
        for line in (line for one in lists[:1] for line in one.read_text().splitlines()):
            path = Path(line)
            if line != "/." and not _SKIP.search(line) and (path.exists() or path.is_symlink()):
                paths.add(str(path.parent.resolve() / path.name))
    for folder in (Path("/usr/bin"), Path("/usr/sbin")):
        for link in (p for p in folder.iterdir() if p.is_symlink()):
            target = link.readlink()
            if str(target).startswith("/etc/alternatives/") and str(link.resolve()) in paths:
                paths |= {str(link), str(target)}
    certificates = Path("/etc/ssl/certs/ca-certificates.crt")
    return sorted(paths | ({str(certificates)} if "ca-certificates" in packages and certificates.exists() else set()))


def write_root(target: Path) -> int:
    """Write the root file system as a tar; gives the number of packages in it."""
    packages = Installed().closure()
    with tarfile.open(target, "w", format=tarfile.GNU_FORMAT) as tar:
        seen = set(_OWN)
        for name in _FOLDERS:
            _add_folder(tar, name)
            seen.add(name)
        for name in ("bin", "sbin", "lib", "lib64"):
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, f"usr/{name}"
            tar.addfile(link)
            seen.add(name)
        _add_folder(tar, "tmp", 0o1777)
        for name, text in _OWN.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
        for path in files_of(packages):
            if (name := path[1:]) not in seen:
                tar.add(path, arcname=name, recursive=False)
                seen.add(name)
    return len(packages)


def _add_folder(tar: tarfile.TarFile, name: str, mode: int = 0o755) -> None:
    info = tarfile.TarInfo(name)
    info.type, info.mode = tarfile.DIRTYPE, mode
    tar.addfile(info)
