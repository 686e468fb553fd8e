"""The server's settings file: every setting has its effect and its documentation, and nothing else is taken."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from core.cli.serve import chosen, serve, settings_of
from core.domain.errors import InvalidInput, NotFound, ReportableError
from core.server import settings_file
from core.server.settings_file import SERVER_SETTINGS, read_settings, template, to_toml
from core.store.home import Home

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "packaging"))

import server_settings  # noqa: E402


def write(folder: Path, text: str) -> Path:
    path = folder / "server.toml"
    path.write_text(text)
    return path


def test_the_documentation_and_the_installed_file_are_made_of_the_declarations() -> None:
    stale = [path.name for path, text in server_settings.pages().items() if path.read_text() != text]
    assert stale == [], "run packaging/server_settings.py"


def test_every_option_of_the_server_is_a_setting() -> None:
    of_a_call = {"file", "print_settings", "private", "as_json"}
    options = {p.name for p in serve.params if isinstance(p, click.Option)}
    assert options - of_a_call == {s.key for s in SERVER_SETTINGS if s.flag}


def test_the_installed_file_changes_nothing_and_each_line_of_it_works(tmp_path: Path) -> None:
    assert read_settings(write(tmp_path, template())) == {}
    lines = [line[1:] for line in template().splitlines() if line.startswith("#") and line[1:2].isalpha()]
    in_force = "\n".join(lines)
    assert tomllib.loads(in_force).keys() == {s.key for s in SERVER_SETTINGS}
    assert read_settings(write(tmp_path, in_force)) == {s.key: s.default for s in SERVER_SETTINGS}


def test_every_setting_of_the_server_has_its_effect(tmp_path: Path) -> None:
    secret = tmp_path / "oidc.secret"
    secret.touch(0o640)
    secret.write_text("correct horse")
    text = "".join(f"{s.key} = {to_toml(s.example)}\n" for s in SERVER_SETTINGS)
    values = read_settings(write(tmp_path, text.replace("/etc/tiphys/oidc.secret", str(secret))))
    made, usual = settings_of(Home(tmp_path), values, False), settings_of(Home(tmp_path), {}, False)
    for one in SERVER_SETTINGS:
        if hasattr(made, one.key):
            assert getattr(made, one.key) == one.example, one.key
            assert getattr(usual, one.key) in (one.default, None), one.key
        elif one.key.startswith("oidc_") and isinstance(one.example, str):
            assert getattr(made.log_in, one.key.removeprefix("oidc_")) == values[one.key], one.key


@pytest.mark.parametrize(("text", "code"), [
    ("hots = '0.0.0.0'", "unknown_setting"), ("[tls]\nkey = 'x'", "unknown_setting"), ("port = '7717'", "bad_setting"),
    ("port = 70000", "bad_setting"), ("port = true", "bad_setting"), ("self_signed = 1", "bad_setting"),
    ("names = 'lab'", "bad_setting"), ("names = [1]", "bad_setting"), ("log_format = 'xml'", "bad_setting"),
    ("idle_minutes = -1", "bad_setting"), ("host", "bad_settings_file"), ("x = " + "[" * 9999, "bad_settings_file"),
])
def test_what_cannot_be_meant_is_refused_with_its_place(tmp_path: Path, text: str, code: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ReportableError) as refused:
        read_settings(path)
    assert refused.value.code == code and str(path) in refused.value.sentence


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero"),
                                  lambda path: path.write_bytes(b"#" * (1 << 20 | 1))])
def test_a_file_without_an_end_is_refused_at_once(tmp_path: Path, make: Callable[[Path], object]) -> None:
    make(tmp_path / "odd.toml")
    with pytest.raises(InvalidInput, match=r"odd\.toml is no settings file: it "):
        read_settings(tmp_path / "odd.toml")


def test_a_misspelt_name_is_answered_with_the_right_one(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="Did you mean trusted_proxies"):
        read_settings(write(tmp_path, "trusted_proxy = []"))


def test_a_file_that_was_named_must_be_there_and_the_usual_one_need_not(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotFound):
        read_settings(tmp_path / "none.toml")
    monkeypatch.setattr(settings_file, "DEFAULT_FILE", tmp_path / "none.toml")
    assert read_settings(None) == {}
    monkeypatch.setattr(settings_file, "DEFAULT_FILE", write(tmp_path, "port = 9"))
    assert read_settings(None) == {"port": 9}


def test_the_command_line_wins_over_the_file(tmp_path: Path) -> None:
    values = chosen({"host": "::1", "port": None, "names": (), "self_signed": False},
                    {"host": "0.0.0.0", "port": 9, "names": ("lab",), "self_signed": True})
    made = settings_of(Home(tmp_path), values, False)
    assert (made.host, made.port, made.names, made.self_signed) == ("::1", 9, ("lab",), False)


def test_a_server_runs_from_its_file_and_logs_json(tmp_path: Path) -> None:
    """The real program: its address, its fingerprint and its log are as the file says."""
    path = write(tmp_path, 'self_signed = true\nnames = ["lab.example"]\nlog_format = "json"\nport = 17731\n')
    env = {**os.environ, "TIPHYS_HOME": str(tmp_path / "home"), "PYTHONPATH": str(ROOT)}
    with subprocess.Popen([sys.executable, "-m", "core.cli", "serve", "--settings", str(path), "--json"], env=env,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGTERM)
        lines = [json.loads(line) for line in process.communicate(timeout=30)[1].splitlines()]
    assert ready["addresses"][0].startswith("wss://lab.example:17731#sha256=")
    assert any("serving" in line["message"] and line["program"] == "server" for line in lines)
