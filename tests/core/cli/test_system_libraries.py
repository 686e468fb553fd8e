"""A library that lacks is named with the apt line, without Qt: on the terminal, or in a dialog."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from core import program
from core.cli import system_libraries

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def lacking(tmp_path, monkeypatch):
    """Resources whose table names a library that no system has."""
    (tmp_path / "system_libraries.tsv").write_text(
        "# c\nlibc.so.6\tlibc6\nlibnowhere.so.9\tlibnowhere9t64|libnowhere9\nlibalso.so.1\tlibalso1\twayland\n")
    monkeypatch.setenv("TIPHYS_RESOURCES", str(tmp_path))
    return tmp_path


def test_only_what_is_always_needed_and_lacks_is_named(lacking) -> None:
    assert list(system_libraries.missing()) == ["libnowhere.so.9"]


@pytest.mark.parametrize(("system", "number", "wanted"), [
    ("debian", "12", "libnowhere9"), ("debian", "13", "libnowhere9t64"), ("ubuntu", "24.04", "libnowhere9t64"),
    ("ubuntu", "22.04", "libnowhere9"), ("arch", "", "libnowhere9t64")])
def test_the_package_has_the_distributions_name(lacking, monkeypatch, system, number, wanted) -> None:
    monkeypatch.setattr(system_libraries.platform, "freedesktop_os_release",
                        lambda: {"ID": system, "VERSION_ID": number})
    assert system_libraries.missing() == {"libnowhere.so.9": wanted}


def test_the_start_ends_with_the_sentence_and_a_dialog(lacking, tmp_path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    dialog = tools / "zenity"
    dialog.write_text(f'#!/bin/sh\necho "$@" >{tmp_path}/shown\n')
    dialog.chmod(dialog.stat().st_mode | stat.S_IXUSR)
    done = subprocess.run(program.command("tiphys"), capture_output=True, text=True, check=False, cwd=ROOT, env={
        **os.environ, "TIPHYS_HOME": str(tmp_path / "home"), "DISPLAY": ":77", "QT_QPA_PLATFORM": "offscreen",
        "PATH": f"{tools}:/usr/bin:/bin"})
    assert done.returncode == 1 and "[no_libraries]" in done.stderr
    assert "sudo apt-get install libnowhere9" in done.stderr
    assert "libnowhere.so.9" in (tmp_path / "shown").read_text()


def test_this_system_has_what_its_own_table_names() -> None:
    assert sys.platform != "linux" or system_libraries.missing() == {}
