"""Every stable code has its mend in docs/errors.md, and the server's metrics name no code that is not there."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging"))

import errors_page  # noqa: E402


def test_the_page_is_what_the_source_declares() -> None:
    assert errors_page.page() == (ROOT / "docs/errors.md").read_text(), "run packaging/errors_page.py"


def test_a_code_without_a_mend_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    known = errors_page.mends()
    monkeypatch.setattr(errors_page, "mends", lambda: {c: m for c, m in known.items() if c != "no_session"})
    with pytest.raises(SystemExit, match="no_session"):
        errors_page.page()
    monkeypatch.setattr(errors_page, "mends", lambda: {**known, "gone_code": "x"})
    with pytest.raises(SystemExit, match="gone_code"):
        errors_page.page()


def test_what_is_only_known_at_run_time_is_left_open() -> None:
    assert errors_page.declared()["no_session"] == "There is no session … here."
