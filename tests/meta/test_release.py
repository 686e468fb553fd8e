"""What a release asks for it asks for at once: a key that lacks after twenty minutes of building costs them again."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
UNKNOWN = "9999.0.0"
"""A version that the changelog does not name, so that nothing is ever built here."""


def release(key: str | None) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "TIPHYS_SIGNING_KEY"}
    return subprocess.run([ROOT / "packaging/release.sh", UNKNOWN], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL,
                          env=environment | ({} if key is None else {"TIPHYS_SIGNING_KEY": key}))


@pytest.mark.parametrize("holds", [None, "no file", "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n"])
def test_a_release_asks_for_its_key_before_anything_else(tmp_path: Path, holds: str | None) -> None:
    path = tmp_path / "key"
    if holds not in (None, "no file"):
        path.write_text(str(holds))
    done = release(None if holds is None else str(path))
    assert done.returncode == 2 and "update_feed.py new-key" in done.stderr, done.stderr


@pytest.mark.parametrize("named", ["none", "made"])
def test_a_key_that_was_made_here_and_a_word_without_one_are_taken(tmp_path: Path, named: str) -> None:
    if named == "made":
        named = str(tmp_path / "key")
        subprocess.run([sys.executable, ROOT / "packaging/update_feed.py", "new-key", named], check=True,
                       capture_output=True)
    done = release(named)
    assert done.returncode == 1 and "key" not in done.stderr.lower(), done.stderr
