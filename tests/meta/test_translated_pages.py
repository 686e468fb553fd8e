"""Each page of the manual in Chinese has the sections, commands and tables of its English twin: what is added to one of
them and forgotten in the other is found here."""

from __future__ import annotations

import re
from itertools import zip_longest
from pathlib import Path

import pytest
from attacks import foreign
from support.chinese_tables import in_chinese, lacking

DOCS = Path(__file__).resolve().parents[2] / "docs"
TWINS = sorted(page for page in [*DOCS.glob("*.md"), DOCS.parent / "SECURITY.md"] if not page.name.endswith(".zh.md"))
_BLOCK = re.compile(r"^```.*?^```", re.M | re.S)


def chinese(page: Path) -> Path:
    return page.with_name(page.name.replace(".md", ".zh.md"))


def headings(text: str) -> list[int]:
    """The levels of the headings, in order."""
    return [len(signs) for signs in re.findall(r"^(#+) ", _BLOCK.sub("", text), re.M)]


def commands(text: str) -> list[list[str]]:
    """The code blocks, without their comments and what a person would write in their own language."""
    return [[re.sub(r'"[^"\n]*"|\s', "", re.sub(r"(^|\s)(#|//|<!--).*$", "", line)) for line in block.splitlines()
             if re.sub(r"(^|\s)(#|//|<!--).*$", "", line).strip()] for block in _BLOCK.findall(text)]


def tables(text: str) -> list[int]:
    """How many rows each table has."""
    found = re.findall(r"^\|[ :-]*-.*\n((?:\|.*\n)*)", _BLOCK.sub("", text), re.M)
    return [rows.count("\n") for rows in found]


def links(text: str) -> list[str]:
    """The pages, pictures and places elsewhere that are named, each once."""
    found = [target.partition("#")[0].replace(".zh.", ".") for target in
             re.findall(r"\]\(([^)\s]+)\)", _BLOCK.sub("", text))]
    return sorted({target for target in found if target})


def test_every_page_has_a_twin() -> None:
    assert [page.name for page in TWINS if not chinese(page).exists()] == []
    assert [page.name for page in DOCS.glob("*.zh.md")
            if page.name != "index.zh.md" and not (DOCS / page.name.replace(".zh.", ".")).exists()] == []


@pytest.mark.parametrize("page", [page for page in TWINS if chinese(page).exists()], ids=lambda page: page.name)
def test_twins_have_the_same_sections_commands_tables_and_links(page: Path) -> None:
    one, other = page.read_text(encoding="utf-8"), chinese(page).read_text(encoding="utf-8")
    for part in (headings, tables, links):
        assert part(other) == part(one), part.__name__
    for mine, its in zip_longest(commands(one), commands(other)):
        assert its == mine


def test_what_commands_make_stands_on_the_chinese_pages_in_chinese() -> None:
    one, other = ((DOCS / name).read_text(encoding="utf-8").partition(foreign.BEGIN)[2].partition(foreign.END)[0]
                  for name in ("reliability.md", "reliability.zh.md"))
    assert in_chinese(one, foreign.WORDS) == other and lacking(one, foreign.WORDS) == set()
