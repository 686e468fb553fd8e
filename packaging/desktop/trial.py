"""Tries the packages of dist/ in bare systems, as an administrator and a plain user would; prints what it took.

    python packaging/desktop/trial.py [--short] [--before REVISION]   (needs root, mmdebstrap, and the packages built)

Per release: the .run without root, which names the libraries that lack; the line that it names, then the window with
every panel; gone again. The .deb: the version before installed and lived with (lived.sh), upgraded beneath an open
window and agents at work, and all that was said compared; the window with every panel, removed, purged, and the
person's data still there. --short is the .deb on the newest Debian alone; --before builds the version before from a
git revision.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import lived
from bare_root import BareRoot
from version import version

ROOT = Path(__file__).resolve().parents[2]
RELEASES = ("bookworm", "trixie")
STARTS = 3
SLOWER = 1.2
"""So many times the start from source a package's window may take."""
ON_DISPLAY = Path(__file__).with_name("on_display.sh")
DISPLAY = f"/srv/{ON_DISPLAY.name} "
PICTURES = (DISPLAY + "env QT_QPA_PLATFORM=xcb {python} -I -m app.window.screenshots --home $HOME/.local/share/tiphys "
            "--session {session} --panels --out $HOME/pictures")


class Trial:
    """One release."""

    def __init__(self, release: str) -> None:
        self.release = release
        self.root = BareRoot(release, ROOT / "build" / "roots")
        self._bring()

    def _bring(self) -> None:
        """The packages, the version before, and a trajectory, to where the person finds them."""
        box = self.root.path / "srv"
        shutil.copy(package("deb"), box / "new.deb")
        shutil.copy(_older(package("deb")), box / "old.deb")
        shutil.copy(_trajectory(), box / f"trajectory{_trajectory().suffix}")
        for name in ("window_time.py", "lived.sh", "lived.py", ON_DISPLAY.name):
            shutil.copy(Path(__file__).with_name(name), box / name)
        if package("run").exists():  # the short trial leaves it out
            shutil.copy(package("run"), box / "tiphys.run")

    def deb(self) -> None:
        """From the version before to the purge."""
        with self._timed("installing the version before, with everything that it depends on"):
            self._install("/srv/old.deb xvfb xdotool")
        before = self._person("tiphys --version").split()[-1]
        if version() == before:
            raise SystemExit(f"The version before calls itself {before}")
        flat = "no" if (self.root.path / "usr/lib/tiphys").is_symlink() else "yes"
        with self._timed(f"a day with {before}, and an upgrade beneath its window and two agents at work"):
            self.root.run(f"{DISPLAY}bash /srv/lived.sh {before} {version()} {flat}")
        lived.compare(*(str(self.root.path / "srv" / name) for name in ("before", "after")))
        if version() not in self._person("tiphys --version"):
            raise SystemExit("The upgrade left the version before.")
        if left := [p.name for p in (self.root.path / "usr/lib").glob("*tiphys-*") if version() not in p.name]:
            print(f"  kept for what still ran: {', '.join(left)}")  # noqa: T201
        session = self._imported()
        self._shows(session, "tiphys")
        self._window("/usr/bin/tiphys", "/usr/lib/tiphys/bin/python3", session)
        self.root.run("apt-get remove -y -qq tiphys")
        self._has_data()
        self._install("/srv/new.deb")
        self._shows(session, "tiphys")
        self.root.run("apt-get purge -y -qq tiphys")
        self._has_data()
        left = self.root.run("find / -xdev -path /proc -prune -o -path '*tiphys*' -not -path '/home/*' "
                             "-not -path '/srv/*' -print; dpkg -l tiphys 2>/dev/null | grep ^ii || true").stdout
        if left.strip():
            raise SystemExit(f"The purge left: {left}")

    def run_file(self) -> None:
        """Without root, in a system that lacks what a window needs."""
        self._install("xvfb xdotool")
        with self._timed("installing without root"):
            told = self._person("sh /srv/tiphys.run 2>&1")
        line = re.search(r"sudo (apt-get install [\w .+-]+)", told)
        if not line:
            raise SystemExit(f"The .run named no libraries in a system without them: {told}")
        refused = self.root.run(DISPLAY + "~/.local/bin/tiphys", user="lab", check=False)
        if refused.returncode != 1 or "[no_libraries]" not in refused.stderr:
            raise SystemExit(f"A window without its libraries ended so: {refused.returncode} {refused.stderr}")
        print(f"  it asks for: {line[1]}")  # noqa: T201
        self.root.run(line[1].replace("install", "install -y -qq --no-install-recommends", 1))
        session = self._imported("~/.local/bin/tiphys")
        self._window("/home/lab/.local/bin/tiphys", "~/.local/lib/tiphys/bin/python3", session)
        self._person("sh /srv/tiphys.run --uninstall")
        self._has_data()
        left = self._person("find ~/.local ~/.config -path '*tiphys*' -not -path '*/.local/share/tiphys*' 2>/dev/null "
                            "|| true")
        if left.strip():
            raise SystemExit(f"The .run left: {left}")
        self._person("rm -rf ~/.local/share/tiphys")

    def _window(self, program: str, python: str, session: str) -> None:
        """Its first window, then every panel."""
        times = self._person(f"{DISPLAY}{python} -I -B /srv/window_time.py {STARTS} {program}").split()
        print(f"  first window after {min(map(float, times)):.2f} s (best of {STARTS})")  # noqa: T201
        self._person("rm -rf ~/pictures")
        with self._timed("opening every panel and dialog"):
            self._person(PICTURES.format(python=python, session=session))
        names = {path.stem for path in (self.root.path / "home/lab/pictures").glob("*.png")}
        if missing := _keys() - {name.removeprefix("panel-") for name in names}:
            raise SystemExit(f"These panels did not open: {', '.join(sorted(missing))}")
        print(f"  {len(names)} pictures, all {len(_keys())} panels")  # noqa: T201
        crash = self.root.path / "home/lab/.local/share/tiphys/logs/crash.log"
        if crash.exists() and crash.read_text().strip():
            raise SystemExit(crash.read_text())

    def _imported(self, program: str = "tiphys") -> str:
        lines = self._person(f"{program} import --json /srv/trajectory*").splitlines()
        return str(json.loads(lines[0])["session"])

    def _shows(self, session: str, program: str) -> None:
        if "step" not in self._person(f"{program} show {session} --json | head -c 4000"):
            raise SystemExit("The session imported before is no longer shown.")

    def _has_data(self) -> None:
        if not (self.root.path / "home/lab/.local/share/tiphys/server.db").exists():
            raise SystemExit("The person's sessions are gone.")

    def _install(self, what: str) -> None:
        self.root.run(f"apt-get install -y -qq --no-install-recommends {what}")

    def _person(self, script: str) -> str:
        return self.root.run(script, user="lab").stdout

    @contextmanager
    def _timed(self, what: str) -> Iterator[None]:
        started = time.monotonic()
        yield
        print(f"  {what}: {time.monotonic() - started:.1f} s", flush=True)  # noqa: T201


def package(kind: str) -> Path:
    """A package of this version."""
    return ROOT / "dist" / f"tiphys_{version()}_amd64.{kind}"


def _older(deb: Path) -> Path:
    """The version before where dist/before has it; else this one under a lower number, by which it calls itself too."""
    found = sorted((ROOT / "dist" / "before").glob("tiphys_*_amd64.deb"))
    if found:
        return found[-1]
    made = ROOT / "build" / "desktop" / "older"
    program = made / "usr" / "lib" / f"tiphys-{version()}"
    shutil.rmtree(made, ignore_errors=True)
    subprocess.run(["dpkg-deb", "-R", str(deb), str(made)], check=True)
    control = made / "DEBIAN" / "control"
    [metadata] = program.glob("lib/python3/dist-packages/tiphys-*.dist-info/METADATA")
    for file in (control, metadata):
        file.write_text(file.read_text(encoding="utf-8").replace(f"Version: {version()}\n", "Version: 0.0.1\n"),
                        encoding="utf-8")
    (made / "usr/lib/tiphys").unlink()
    (made / "usr/lib/tiphys").symlink_to(program.rename(program.with_name("tiphys-0.0.1")).name)
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "-b", str(made), f"{made}.deb"], check=True,
                   stdout=subprocess.DEVNULL)
    return made.with_name("older.deb")


def build_before(revision: str) -> None:
    """Into dist/before: the package of a revision, by its own recipe, under a number below this one's."""
    source, out = ROOT / "build" / "before", ROOT / "dist" / "before"
    shutil.rmtree(source, ignore_errors=True)
    for words in (["clone", "--quiet", "--no-checkout", str(ROOT), str(source)],
                  ["-C", str(source), "checkout", "--quiet", revision]):
        subprocess.run(["git", *words], check=True)
    project = source / "pyproject.toml"
    project.write_text(re.sub('(?m)^version = ".*"', 'version = "0.0.9"', project.read_text()))
    time = subprocess.run(["git", "-C", str(source), "log", "-1", "--format=%ct"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.strip()
    subprocess.run(["make", "-C", str(source), "package-deb"], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "SOURCE_DATE_EPOCH": time, "TIPHYS_ZSTD": "3"})
    out.mkdir(parents=True, exist_ok=True)
    shutil.copy(source / "dist" / "tiphys_0.0.9_amd64.deb", out)


def _trajectory() -> Path:
    """One that another program wrote."""
    data = Path(os.environ.get("TIPHYS_TEST_DATA") or ROOT.parent / "shared" / "data")
    found = sorted((data / "swe-agent").glob("function_calling_simple.traj"))
    return found[0] if found else ROOT / "tests/core/formats/foreign/claude.jsonl"


def _panels() -> list[Path]:
    folders = sorted((ROOT / "app").glob("*/__init__.py"))
    return [path for path in folders if "PANEL" in path.read_text(encoding="utf-8")]


def _keys() -> set[str]:
    """The keys of all panels, from their sources: nothing is imported here."""
    found = {m[1] for path in _panels() if (m := re.search(r'PANEL\s*=\s*\w+\(\s*(?:key=)?"([\w-]+)"',
                                                            path.read_text(encoding="utf-8")))}
    if not found:
        raise SystemExit("No panel declares its key as it did.")
    return found


def compare_with_source() -> None:
    """The start of the packed tree beside that of the source, in turns. Raises SystemExit."""
    source, packed = [".venv/bin/tiphys"], ["build/desktop/tree/bin/tiphys"]
    times: dict[str, list[float]] = {"source": [], "packed": []}
    for _ in range(2):
        for name, command in (("source", source), ("packed", packed)):
            words = [ON_DISPLAY, sys.executable, "-B", ROOT / "packaging/desktop/window_time.py", str(STARTS), *command]
            done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False,
                                  env={k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "QT_"))})
            if done.returncode:
                raise SystemExit(f"The {name} window did not start.")
            times[name] += map(float, done.stdout.split())
    best = {name: min(found) for name, found in times.items()}
    print(f"First window: {best['packed']:.2f} s packed, {best['source']:.2f} s from source")  # noqa: T201
    if best["packed"] > SLOWER * best["source"]:
        raise SystemExit(f"The packed window takes more than {SLOWER} times as long as the source's.")


def main() -> None:
    """Try what is asked for; raises SystemExit with what went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--before", metavar="REVISION")
    parser.add_argument("--release", choices=RELEASES, action="append")
    chosen = parser.parse_args()
    for needed in map(package, ("deb",) if chosen.short else ("deb", "run")):
        if not needed.exists():
            raise SystemExit(f"{needed.relative_to(ROOT)} is not there: make packages builds it.")
    if chosen.before:
        build_before(chosen.before)
    for release in chosen.release or (RELEASES[-1:] if chosen.short else RELEASES):
        print(f"{release}:", flush=True)  # noqa: T201
        trial = Trial(release)
        try:
            if not chosen.short:
                trial.run_file()
            trial.deb()
        finally:
            trial.root.remove()
    if (ROOT / ".venv/bin/tiphys").exists():
        compare_with_source()
    print("The packages do what they should.")  # noqa: T201


if __name__ == "__main__":
    main()
