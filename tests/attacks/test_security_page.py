"""SECURITY.md names tests that exist, and every threat has one."""

from __future__ import annotations

import re

from support.hostile import ROOT

PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def test_every_test_that_the_page_names_exists() -> None:
    named = re.findall(r"`([a-z_/]+\.py)(?:::(\w+))?`", PAGE)
    missing = [path for path, _ in named if not any((ROOT / base / path).is_file() for base in ("tests", "."))]
    assert len(named) > 25 and missing == []
    for path, function in named:
        assert not function or f"def {function}(" in (ROOT / "tests" / path).read_text(encoding="utf-8")


def test_each_of_the_fourteen_threats_has_a_mitigation_and_a_test() -> None:
    rows = [line.split("|") for line in PAGE.splitlines() if re.match(r"\| \d+ \|", line)]
    assert [int(row[1]) for row in rows] == list(range(1, 15))
    assert [row[1] for row in rows if "test_" not in row[4] or len(row[3]) < 20] == []


def test_every_file_of_attacks_is_on_the_page() -> None:
    files = sorted(p.name for p in (ROOT / "tests" / "attacks").glob("test_*.py"))
    assert [name for name in files if name not in PAGE and name != "test_security_page.py"] == []


def test_the_page_says_what_is_not_promised() -> None:
    refused = PAGE.split("## What is not promised")[1]
    assert "unconfined" in refused and "kernel" in refused and "Nothing on disk is encrypted" in refused
