"""A newer version is believed only from a feed that is signed with the administrator's key."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from core.client import update_feed
from core.client.update_feed import newer
from core.domain.errors import ReportableError

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "packaging"))

import update_feed as release  # noqa: E402


@pytest.fixture
def feed(tmp_path: Path) -> tuple[Path, str]:
    key = release.new_key(tmp_path / "key.pem")
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "tiphys_9.1.0_amd64.deb").write_bytes(b"package")
    assert release.sign(tmp_path / "dist", "9.1.0", tmp_path / "key.pem") == key
    return tmp_path / "dist", key


@pytest.fixture(autouse=True)
def _running(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(update_feed, "named", lambda program: f"{program} 1.10.0")


def code_of(place: Path | str, key: str) -> str:
    with pytest.raises(ReportableError) as caught:
        newer(str(place), key, Path(place).parent / "seen.json")
    return caught.value.code


def test_what_a_release_signs_is_offered_to_an_older_program_alone(feed: tuple[Path, str]) -> None:
    place, key = feed
    offered = newer(str(place), key, place.parent / "seen.json")
    assert offered is not None and offered.version == "9.1.0" and list(offered.files) == ["tiphys_9.1.0_amd64.deb"]
    assert (place.parent / "key.pem").stat().st_mode & 0o077 == 0
    for version in ("1.10.0", "1.9.0", "0.1.0"):
        release.sign(place, version, place.parent / "key.pem")
        assert newer(str(place), key, place.parent / "seen.json") is None


def test_what_is_changed_or_of_another_key_is_not_believed(feed: tuple[Path, str], tmp_path: Path) -> None:
    place, key = feed
    other = release.new_key(tmp_path / "other.pem")
    assert code_of(place, other) == "feed_signature"
    text = json.loads((place / "latest.json").read_text())
    (place / "latest.json").write_text(json.dumps({**text, "version": "9.9.9"}))
    assert code_of(place, key) == "feed_signature"
    (place / "latest.json.sig").write_text("!")
    assert code_of(place, key) == "feed_signature"


@pytest.mark.parametrize("place", ["http://lab.example/tiphys", "ftp://lab.example", "https://"])
def test_a_feed_comes_from_a_folder_or_encrypted(place: str) -> None:
    assert code_of(place, "") == "bad_issuer"


def test_what_is_no_feed_is_said(feed: tuple[Path, str], tmp_path: Path) -> None:
    place, key = feed
    assert code_of(tmp_path / "nowhere", key) == "feed_away"
    assert code_of(place, "short") == "bad_feed"


def test_a_feed_that_was_signed_before_one_that_was_seen_is_not_believed(
    feed: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    place, key = feed
    older = {name: (place / name).read_bytes() for name in update_feed.NAMES}
    monkeypatch.setattr(release.time, "time", lambda: 4e9)
    release.sign(place, "9.2.0", place.parent / "key.pem")
    offered = newer(str(place), key, place.parent / "seen.json")
    assert offered is not None and offered.version == "9.2.0"
    for name, content in older.items():
        (place / name).write_bytes(content)
    assert code_of(place, key) == "feed_set_back"
