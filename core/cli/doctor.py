"""`tiphys doctor`: what works on this computer, and how to mend what does not."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import closing

import click
import msgspec

from core import program
from core.cli import system_libraries
from core.cli.display import display_problem
from core.cli.output import emit, json_option, say
from core.sandbox.engine import open_engine
from core.sandbox.image import REPOSITORY, source_digest
from core.store import training_environment
from core.store.endpoint import serving
from core.store.home import Home
from core.store.sqlite import SAFE_VERSION, driver, is_safe


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One thing: whether it works, its state in one sentence, and how to mend it. `needed` is what for."""

    name: str
    works: bool
    state: str
    mend: str = ""
    needed: str = ""


@click.command()
@json_option
def doctor(as_json: bool) -> None:
    """Say what works here (Docker, display, fonts, SQLite, models, GPU), and how to mend what does not."""
    for look in CHECKS:
        check = look()
        if as_json:
            emit(check)
            continue
        say(f"{'✔' if check.works else '✗'} {check.name:<18}{check.state}")
        if not check.works:
            say(f"{'':<20}{check.mend} ({check.needed})")


def python() -> Check:
    """The interpreter."""
    good = (3, 11) <= sys.version_info < (3, 14)
    return Check(name="Python", works=good, state=f"{platform.python_version()} in {sys.prefix}",
                 mend="Install Python 3.11, 3.12 or 3.13.", needed="everything")


def home() -> Check:
    """The folder of all state."""
    path = Home.default().path
    free = shutil.disk_usage(path).free
    return Check(name="home", works=os.access(path, os.W_OK) and free > 1 << 30,
                 state=f"{path}, {free / (1 << 30):,.0f} GiB free", mend="Free some space, or set TIPHYS_HOME.",
                 needed="everything")


def sqlite() -> Check:
    """The version of SQLite that the program uses."""
    wanted = ".".join(map(str, SAFE_VERSION))
    return Check(name="SQLite", works=is_safe(), state=f"{driver.sqlite_version}",
                 mend=f"Install the program again: its own pysqlite3 has SQLite {wanted} or newer",
                 needed="a log that survives two writers' checkpoints")


def server() -> Check:
    """Whether a server serves this home."""
    endpoint = serving(Home.default())
    return Check(name="server", works=True, state=f"running at {endpoint.url}" if endpoint else
                 "not running; the desktop starts a private one")


def docker_engine() -> Check:
    """The Docker engine and its version."""
    needed = "sandboxes; without it only the unconfined local sandbox"
    mend = "Start it: sudo systemctl start docker; install it: sudo apt-get install docker.io"
    import docker
    from docker.errors import DockerException

    try:
        client = docker.from_env(timeout=10)
        try:
            version = client.version()
        finally:
            client.close()
    except (DockerException, OSError) as error:
        if "Permission" in str(error):
            mend = "Join the group docker: sudo usermod -aG docker $USER, then log in again"
        return Check(name="Docker engine", works=False, state="No Docker engine answers.", mend=f"{mend}.",
                     needed=needed)
    return Check(name="Docker engine", works=True, state=f"{version['Version']} (API {version['ApiVersion']})")


def sandbox_image() -> Check:
    """The default image of the sandboxes."""
    mend, needed = "Build it: tiphys image build", "sandboxes"
    if not docker_engine().works:
        return Check(name="sandbox image", works=False, state="Unknown without an engine.", mend=mend, needed=needed)
    with closing(open_engine()) as engine:
        built = engine.images.list(REPOSITORY, filters={"label": f"tiphys.source={source_digest()}"})
    tags = [tag for image in built for tag in image.tags]
    return Check(name="sandbox image", works=bool(tags), state=tags[0] if tags else "Not built.", mend=mend,
                 needed=needed)


def display() -> Check:
    """Whether a window can be shown."""
    problem = display_problem()
    address = os.environ.get("WAYLAND_DISPLAY") or os.environ.get("DISPLAY", "")
    return Check(name="display", works=not problem, state=problem or address,
                 mend="Log in to a graphical session, or: xvfb-run tiphys", needed="the desktop")


def chinese_fonts() -> Check:
    """Whether some font has Chinese characters."""
    mend, needed = "Install one: sudo apt-get install fonts-noto-cjk", "Chinese text in the desktop"
    try:
        listing = subprocess.run(["fc-list", ":lang=zh", "family"], capture_output=True, text=True, timeout=20,
                              check=False)
        families = sorted({line.split(",")[0] for line in listing.stdout.splitlines() if line.strip()})
    except FileNotFoundError:
        found = [p for d in ("/usr/share/fonts", "/usr/local/share/fonts") for p in _fonts(d)]
        families = found[:1]
    return Check(name="Chinese font", works=bool(families), state=families[0] if families else "None is installed.",
                 mend=mend, needed=needed)


def _fonts(folder: str) -> list[str]:
    return [name for _, _, names in os.walk(folder) for name in names if "CJK" in name or "wqy" in name]


def qt() -> Check:
    """Whether the desktop's libraries can be loaded; asked in a process of its own."""
    done = subprocess.run(program.command("qt-version"), capture_output=True, text=True, timeout=60, check=False)
    last = (done.stderr.strip().splitlines() or [""])[-1]
    lacking = system_libraries.missing()
    mend = system_libraries.sentence(lacking) if lacking else "Install the program again"
    return Check(name="Qt", works=not (done.returncode or lacking), state=done.stdout.strip() or last, mend=mend,
                 needed="the desktop")


def training() -> Check:
    """Whether the training extra is installed."""
    missing = [m for m in ("torch", "transformers", "trl", "peft") if importlib.util.find_spec(m) is None]
    python = training_environment.python(Home.default()) if missing else None
    state = f"in {python.parents[1]}" if python else f"missing: {', '.join(missing)}" if missing else "installed"
    return Check(name="training extra", works=bool(python) or not missing, state=state,
                 mend="tiphys train-setup (in a checkout: make .venv/.has-train)",
                 needed="training, exact token counts, local models")


def model_endpoint() -> Check:
    """Whether the OpenAI-compatible endpoint of the environment answers."""
    url, key = os.environ.get("OPENAI_BASE_URL", ""), os.environ.get("OPENAI_API_KEY", "")
    mend, needed = "Set OPENAI_BASE_URL and OPENAI_API_KEY, or use a local model", "agents with a real model"
    if not url and not key:
        return Check(name="model endpoint", works=False, state="None is configured.", mend=mend, needed=needed)
    url = url or "https://api.openai.com/v1"
    if not url.startswith(("http://", "https://")):
        return Check(name="model endpoint", works=False, state=f"{url} is no web address.", mend=mend, needed=needed)
    request = urllib.request.Request(f"{url.rstrip('/')}/models", headers={"Authorization": f"Bearer {key}"})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            works, state = answer.status < 400, f"{url} answers"
    except (urllib.error.URLError, OSError, ValueError) as error:
        works, state = False, f"{url}: {error}"
    return Check(name="model endpoint", works=works, state=state, mend=mend, needed=needed)


def gpu() -> Check:
    """The graphics cards that training could use."""
    needed = "training of more than a demonstration"
    tool = shutil.which("nvidia-smi")
    if not tool:
        return Check(name="GPU", works=False, state="No NVIDIA driver is installed.", needed=needed,
                     mend="Nothing to mend without a card: small models train on the processor")
    answer = subprocess.run([tool, "--query-gpu=name,memory.total", "--format=csv,noheader"], capture_output=True,
                          text=True, timeout=30, check=False)
    cards = answer.stdout.strip().replace("\n", "; ")
    return Check(name="GPU", works=not answer.returncode and bool(cards), state=cards or answer.stderr.strip(),
                 mend="See that nvidia-smi works", needed=needed)


CHECKS: tuple[Callable[[], Check], ...] = (
    python, home, sqlite, server, docker_engine, sandbox_image, display, chinese_fonts, qt, training, model_endpoint,
    gpu,
)
