"""What training needs is brought into an environment of its own, and commands go there."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from core.cli import train_setup
from core.store import training_environment
from core.store.home import Home

ROOT = Path(__file__).resolve().parents[3]

WITHOUT = """
import importlib.util, sys
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "torch" else found(name, *rest)
from core.cli.root import main
sys.exit(main(sys.argv[1:]))
"""


def script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.mark.parametrize(("driver", "build"), [("13.1", "cu130"), ("12.8", "cu126"), ("11.4", "cpu")])
def test_the_build_fits_the_driver(tmp_path, monkeypatch, driver, build) -> None:
    script(tmp_path / "nvidia-smi", f'#!/bin/sh\necho "| Driver Version: 570  CUDA Version: {driver} |"\n')
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert train_setup.fitting_build() == build


def test_without_a_driver_it_is_the_processors(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert train_setup.fitting_build() == "cpu"


def test_a_folder_without_wheels_is_refused_and_nothing_stays(tiphys, tmp_path) -> None:
    empty = tmp_path / "wheels"
    empty.mkdir()
    ran = tiphys("train-setup", "--wheels", str(empty), "--yes")
    assert ran.status == 1 and "[train_setup_failed]" in ran.err and "--wheels FOLDER" in ran.err
    home = Home.default()
    assert not training_environment.folder(home).exists()
    assert list(home.path.glob(".training-environment-*")) == []


def test_a_command_that_trains_goes_to_the_environment_and_others_do_not(tmp_path) -> None:
    home = Home(tmp_path / "home")
    script(training_environment.python_in(training_environment.folder(home)), '#!/bin/sh\necho "there: $@"\n')

    def run(*words: str) -> str:
        return subprocess.run([sys.executable, "-c", WITHOUT, "--home", str(home.path), *words], cwd=ROOT, text=True,
                              capture_output=True, check=False, env={**os.environ}).stdout

    assert run("train", "set", "--out", "o").strip() == (
        f"there: -m core.cli --home {home.path} train set --out o")
    assert "there" not in run("sessions")
