"""Builds dist/tiphys-server_VERSION_amd64.deb: the server and the command line without the desktop and its libraries.

    python packaging/server/build.py [OUT_FOLDER]

It has a Python of its own (packaging/desktop/own_python.py) and, of packaging/locks/desktop.txt, what no window needs,
by its hashes. The same source gives the same bytes: times come from SOURCE_DATE_EPOCH (default: the last commit's).
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "desktop"))
sys.path.insert(0, str(HERE.parent))

import own_python  # noqa: E402

BUILD = ROOT / "build" / "server"
LOCK = ROOT / "packaging" / "locks" / "desktop.txt"
OF_THE_DESKTOP = ("pyside6-essentials", "shiboken6", "qasync", "pyqtgraph")
"""Distributions that only a window needs."""

PROGRAM = Path("usr/lib/tiphys-server")
PACKAGES = PROGRAM / "lib" / "python3" / "dist-packages"
DEPENDS = ("libc6 (>= 2.36), libssl3 | libssl3t64, libffi8, zlib1g, libbz2-1.0, liblzma5, libexpat1, libsqlite3-0, "
           "libstdc++6, ca-certificates, passwd, util-linux, procps")
FILES = {
    "systemd/tiphys-server.service": "lib/systemd/system/tiphys-server.service",
    "systemd/tiphys-backup.service": "lib/systemd/system/tiphys-backup.service",
    "systemd/tiphys-backup.timer": "lib/systemd/system/tiphys-backup.timer",
    "server.toml": "etc/tiphys/server.toml", "logrotate": "etc/logrotate.d/tiphys-server",
    "tiphys-server": "usr/sbin/tiphys-server",
    "nginx.conf": "usr/share/doc/tiphys-server/examples/nginx.conf",
    "Caddyfile": "usr/share/doc/tiphys-server/examples/Caddyfile",
    "../../docs/administration.md": "usr/share/doc/tiphys-server/administration.md",
    "../../docs/server-settings.md": "usr/share/doc/tiphys-server/server-settings.md",
    "../../docs/errors.md": "usr/share/doc/tiphys-server/errors.md",
    "../../LICENSE": "usr/share/doc/tiphys-server/copyright",
}


def version() -> str:
    """Such as 0.1.0."""
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])


def epoch() -> int:
    """The time that everything in the package has."""
    return int(os.environ.get("SOURCE_DATE_EPOCH") or _output("git", "log", "-1", "--format=%ct"))


def build(out: Path) -> Path:
    """Make the package anew."""
    root = BUILD / "root"
    shutil.rmtree(root, ignore_errors=True)
    own_python.lay(root / PROGRAM, BUILD / "python")
    install(root)
    lay_files(root)
    compile_all(root)
    control(root)
    settle(root)
    out.mkdir(parents=True, exist_ok=True)
    target = out / f"tiphys-server_{version()}_amd64.deb"
    _run("dpkg-deb", "--root-owner-group", "-Zzstd", f"-z{os.environ.get('TIPHYS_ZSTD', '19')}", "--threads-max=1",
         "-b", str(root), str(target))
    return target


def locked() -> str:
    """The lines of the lock that the server needs."""
    entries = re.split(r"\n(?=[A-Za-z])", LOCK.read_text(encoding="utf-8").strip())
    names = {re.split(r"[=\s;]", entry, maxsplit=1)[0].lower(): entry for entry in entries}
    if missing := set(OF_THE_DESKTOP) - names.keys():
        raise SystemExit(f"{LOCK.name} does not name {', '.join(sorted(missing))} any more.")
    return "\n".join(e for e in entries if re.split(r"[=\s;]", e, maxsplit=1)[0].lower() not in OF_THE_DESKTOP) + "\n"


def install(root: Path) -> None:
    """Put the locked distributions and the program itself beside the interpreter."""
    wanted = BUILD / "server.txt"
    wanted.write_text(locked(), encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "--python", str(root / PROGRAM / "bin" / "python3"), "install", "--quiet",
           "--disable-pip-version-check", "--no-compile", "--no-deps", "--target", str(root / PACKAGES)]
    _run(*pip, "--require-hashes", "--only-binary", ":all:", "-r", str(wanted))
    source, wheel = BUILD / "source", BUILD / "wheel"
    for folder in (source, wheel):
        shutil.rmtree(folder, ignore_errors=True)
    for name in filter(None, _output("git", "ls-files", "-z", "core", "resources", "pyproject.toml", "README.md",
                                     "LICENSE").split("\0")):
        if (ROOT / name).exists():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, source / name)
    _run(sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "--wheel-dir",
         str(wheel), str(source))
    _run(*pip, "--no-index", "--upgrade", *map(str, wheel.glob("*.whl")))
    packages = root / PACKAGES
    for unused in (packages / "bin", packages / "pip", packages / "resources" / "i18n", *packages.glob("pip-*"),
                   *packages.glob("numpy/**/tests")):
        shutil.rmtree(unused, ignore_errors=True)


def lay_files(root: Path) -> None:
    """Units, settings, examples, documentation and the commands."""
    for name, place in FILES.items():
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(HERE / name, root / place)
    settings = root / "etc" / "tiphys" / "server.toml"
    settings.write_text(settings.read_text().replace('#backup_folder = ""', 'backup_folder = "/var/backups/tiphys"'))
    command = root / PROGRAM / "bin" / "tiphys"
    command.write_text('#!/bin/sh\n# The server\'s own Python, apart from the user\'s packages and variables.\n'
                       'here=$(dirname "$(readlink -f "$0")")\nexec "$here/python3" -I -m core.cli "$@"\n')


def compile_all(root: Path) -> None:
    """Byte code beside every module: nobody can write there later."""
    for cache in list(root.rglob("__pycache__")):
        shutil.rmtree(cache)
    _run(str(root / PROGRAM / "bin" / "python3"), "-I", "-m", "compileall", "-q", "-j", "1", "--invalidation-mode",
         "unchecked-hash", "-s", str(root), "-p", "/", str(root / PROGRAM / "lib"))


def control(root: Path) -> None:
    """The package's fields, sums, scripts and the files that an administrator changes."""
    size = sum(p.lstat().st_size for p in root.rglob("*") if not p.is_dir()) // 1024
    folder = root / "DEBIAN"
    shutil.copytree(HERE / "debian", folder)
    sums = [f"{hashlib.md5(p.read_bytes()).hexdigest()}  {p.relative_to(root)}\n" for p in sorted(root.rglob("*"))
            if p.is_file() and not p.is_symlink() and folder not in p.parents]
    (folder / "md5sums").write_text("".join(sums))
    fields = {"Package": "tiphys-server", "Version": version(), "Architecture": "amd64", "Section": "science",
              "Priority": "optional", "Maintainer": "The Tiphys developers <tiphys@example.org>",
              "Installed-Size": str(size), "Depends": DEPENDS, "Recommends": "logrotate, docker.io | docker-ce",
              "Suggests": "nginx | caddy", "Description":
              "session server of Tiphys\n Keeps the log of what language-model agents do, starts them, and serves the\n"
              " desktops of those who watch, guide and review them. Brings its own Python."}
    (folder / "control").write_text("".join(f"{k}: {v}\n" for k, v in fields.items()))


def settle(root: Path) -> None:
    """One owner's modes and one time for all."""
    time = epoch()
    for path in [*root.rglob("*"), root]:
        if not path.is_symlink():
            runs = path.is_dir() or path.parent.name in ("bin", "sbin") or path.name in ("postinst", "prerm", "postrm")
            path.chmod(0o755 if runs else 0o644)
        os.utime(path, (time, time), follow_symlinks=False)


def _output(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def _run(*command: str) -> None:
    environment = {**os.environ, "LANG": "C.UTF-8", "PYTHONHASHSEED": "0", "SOURCE_DATE_EPOCH": str(epoch())}
    if subprocess.run(command, check=False, env=environment, stdout=subprocess.DEVNULL).returncode:
        raise SystemExit(f"This failed: {' '.join(command)}")


if __name__ == "__main__":
    made = build(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist").absolute())
    sys.stdout.write(f"{made}  {made.stat().st_size / 1e6:.1f} MB\n")
