"""Packs the tree as tiphys_VERSION_amd64.deb: for Debian 12, 13 and Ubuntu 24.04, whatever Python these have.

    python packaging/desktop/deb.py TREE OUT_FOLDER
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import depends
from tree import BUILD, epoch
from version import version

SCRIPTS = Path(__file__).parent / "debian"


def pack(tree: Path, out: Path) -> Path:
    """Write the package; the same tree gives the same bytes."""
    root = BUILD / "deb"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(tree, root / "usr", symlinks=True, copy_function=os.link)  # the tree again, not its bytes
    control = root / "DEBIAN"
    control.mkdir()
    (control / "control").write_text(_control(tree), encoding="utf-8")
    (control / "md5sums").write_text(_sums(root), encoding="utf-8")
    for script in SCRIPTS.iterdir():
        shutil.copy(script, control / script.name)
        (control / script.name).chmod(0o755)
    for path in (root, root / "usr", control, *control.iterdir()):
        os.utime(path, (epoch(), epoch()))
    out.mkdir(parents=True, exist_ok=True)
    target = out / f"tiphys_{version()}_amd64.deb"
    # the level is the release's; a number of threads of its own would change the bytes
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Zzstd", f"-z{os.environ.get('TIPHYS_ZSTD', '19')}",
                    "--threads-max=1", "-b", str(root), str(target)], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "SOURCE_DATE_EPOCH": str(epoch())})
    return target


def _control(tree: Path) -> str:
    size = sum(path.lstat().st_size for path in tree.rglob("*") if not path.is_dir())
    lines = {
        "Package": "tiphys", "Version": version(), "Architecture": "amd64", "Section": "science",
        "Priority": "optional", "Maintainer": "The Tiphys developers <tiphys@example.org>",
        "Installed-Size": str(size // 1024), **depends.control_lines(tree),
        "Description": "watch, steer and review long-running language-model agents\n"
                       " Tiphys shows what agents do while they do it, lets people guide them and judge each step,\n"
                       " and turns the result into masked training data. It brings its own Python and Qt; what\n"
                       " training needs is fetched by 'tiphys train-setup'.",
    }
    return "".join(f"{name}: {value}\n" for name, value in lines.items())


def _sums(root: Path) -> str:
    files = sorted(path for path in (root / "usr").rglob("*") if path.is_file() and not path.is_symlink())
    return "".join(f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(root)}\n" for path in files)


if __name__ == "__main__":
    made = pack(Path(sys.argv[1]).absolute(), Path(sys.argv[2]).absolute())
    sys.stdout.write(f"{made.name}  {made.stat().st_size / 1e6:.1f} MB\n")
