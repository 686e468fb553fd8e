"""The units of the server's package: systemd takes them, they are hardened, runners outlive a restart."""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
from pathlib import Path

import pytest

UNITS = Path(__file__).resolve().parents[2] / "packaging" / "server" / "systemd"
ANALYZE = shutil.which("systemd-analyze")
MOST_EXPOSED = {"tiphys-server.service": 2.5, "tiphys-backup.service": 3.5}


def analysed(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """systemd's own word on the units, with a program in ours' place that is there."""
    if ANALYZE is None:
        pytest.skip("there is no systemd-analyze")
    for unit in UNITS.iterdir():
        text = unit.read_text().replace("/usr/lib/tiphys-server/bin/tiphys", "/bin/true")
        (folder / unit.name).write_text(text)
    return subprocess.run([ANALYZE, *arguments], cwd=folder, capture_output=True, text=True, timeout=60)


def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    done = analysed(tmp_path, "verify", "--man=no", *(f"./{unit.name}" for unit in UNITS.iterdir()))
    of_ours = [line for line in done.stderr.splitlines() if "tiphys" in line]
    assert of_ours == []


@pytest.mark.parametrize("name", MOST_EXPOSED)
def test_the_services_are_hardened(name: str, tmp_path: Path) -> None:
    done = analysed(tmp_path, "security", "--offline=true", "--no-pager", f"./{name}")
    found = re.search(r"Overall exposure level for \S+: ([\d.]+)", done.stdout)
    assert found and float(found[1]) <= MOST_EXPOSED[name], done.stdout[-300:] + done.stderr


def test_runners_outlive_the_server_and_the_manager_watches_it() -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[method-assign, assignment]
    unit.read(UNITS / "tiphys-server.service")
    service = unit["Service"]
    assert service["KillMode"] == "process" and service["Type"] == "notify" and service["Restart"] == "always"
    assert int(service["WatchdogSec"]) > 0 and "HUP" in service["ExecReload"]
    assert "PrivateTmp" not in service, "runners would lose it with the server"
