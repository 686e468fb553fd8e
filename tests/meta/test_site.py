"""The manual: every page is in it, and no link of a page leads nowhere."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging" / "site"))

import build  # noqa: E402

PAGES = sorted([*(ROOT / "docs").glob("*.md"), *(ROOT / name for name in build.TOP if (ROOT / name).exists())])
NAMES = {build.TOP.get(page.name, page.name) if page.parent == ROOT else page.name for page in PAGES}


def anchors(page: Path) -> set[str]:
    """The headings of a page, as links name them."""
    heads = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", page.read_text(), flags=re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", head).lower()).strip().replace(" ", "-")
            for head in heads}


def test_every_page_stands_in_the_manual() -> None:
    listed = set(re.findall(r": (\S+\.md)$", (ROOT / "packaging/site/mkdocs.yml").read_text(), re.M))
    assert listed == {name for name in NAMES if not name.endswith(".zh.md")}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_link_leads_nowhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", page.read_text(), flags=re.S)):
        path, _, anchor = target.partition("#")
        if "://" in path:
            continue
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file) or file.suffix != ".md", target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_row_stands_outside_a_table(page: Path) -> None:
    lines = ["", *re.sub(r"```.*?```", "", page.read_text(), flags=re.S).splitlines(), ""]
    heads = [after for before, row, after in zip(lines, lines[1:], lines[2:], strict=False)
             if row.startswith("| ") and not before.startswith("|")]
    assert all(re.match(r"\| ?-", rule) for rule in heads)


def test_links_out_of_the_manual_become_names() -> None:
    made = build.linked(ROOT / "docs" / "administration.md")
    assert "](../" not in made and "`packaging/server/nginx.conf`" in made
    assert "](SECURITY.md" in build.linked(ROOT / "README.md") and "](guide.md" in build.linked(ROOT / "README.md")


def test_a_chinese_page_leads_to_chinese_pages() -> None:
    made = build.linked(ROOT / "docs" / "guide.zh.md")
    assert "](tasks.md#任务可以要求什么)" in made and ".zh.md" not in made
