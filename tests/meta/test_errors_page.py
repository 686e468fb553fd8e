"""Every stable code has its mend in both languages, and the server's metrics name no code that is not there."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging"))

import errors_page  # noqa: E402


@pytest.mark.parametrize("name", errors_page.PAGES)
def test_the_page_is_what_the_source_declares(name: str) -> None:
    assert errors_page.page(name) == (ROOT / name).read_text(), "run packaging/errors_page.py"


@pytest.mark.parametrize("name", errors_page.PAGES)
def test_a_code_without_a_mend_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    known = errors_page.mends(name)
    monkeypatch.setattr(errors_page, "mends", lambda _: {c: m for c, m in known.items() if c != "no_session"})
    with pytest.raises(SystemExit, match="no_session"):
        errors_page.page(name)
    monkeypatch.setattr(errors_page, "mends", lambda _: {**known, "gone_code": "x"})
    with pytest.raises(SystemExit, match="gone_code"):
        errors_page.page(name)


@pytest.mark.parametrize("name", errors_page.PAGES)
def test_a_code_has_one_line(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert errors_page.mends(name)
    text = (ROOT / errors_page.PAGES[name]).read_text()
    (tmp_path / "mends").write_text(text + "no_session: Another mend.\n")
    monkeypatch.setitem(errors_page.PAGES, name, str(tmp_path / "mends"))
    with pytest.raises(SystemExit, match="several lines for no_session"):
        errors_page.mends(name)


def test_a_mend_names_the_same_in_both_languages() -> None:
    english, chinese = (
        {code: sorted(re.findall("`[^`]*`", mend)) for code, mend in errors_page.mends(name).items()}
        for name in errors_page.PAGES)
    assert english == chinese


def test_what_is_only_known_at_run_time_is_left_open() -> None:
    assert errors_page.declared()["no_session"] == "There is no session … here."
