"""Deep links come back as they were written; what is none is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.deep_link import DeepLink, is_link, parse_link
from core.domain.errors import InvalidInput

ids = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,40}", fullmatch=True)


names = st.from_regex(r"[a-z]{1,10}", fullmatch=True).filter(lambda n: n not in ("step", "panel", "server"))
texts = st.text(st.characters(categories=("L", "N", "P", "S")), min_size=1, max_size=40)
views = st.dictionaries(names, texts, max_size=6)
servers = st.sampled_from(["", "wss://lab.example:7717", "ws://[::1]:9/tiphys"])


@given(st.builds(DeepLink, ids, st.none() | st.integers(0, 999_999_999), st.sampled_from(["", "review", "files"]),
                 servers, views))
def test_a_link_reads_as_it_was_written(link):
    assert is_link(str(link))
    assert parse_link(f"  {link}\n") == link


def test_how_a_link_looks():
    assert str(DeepLink("0198-ab", 420)) == "tiphys://session/0198-ab?step=420"
    assert parse_link("TIPHYS://session/s1/?step=3&tool=x&panel=../etc") == DeepLink("s1", 3, view={"tool": "x"})
    link = DeepLink("s1", 3, "files", "wss://lab:1", {"find": "a b&c", "regex": "1"})
    assert str(link) == "tiphys://session/s1?step=3&panel=files&server=wss%3A%2F%2Flab%3A1&find=a+b%26c&regex=1"


def test_what_is_odd_in_a_link_is_passed_over():
    odd = parse_link(f"tiphys://session/s1?server=file:///etc&find={'x' * 999}&a/b=c&tool=%0a&host=main")
    assert odd == DeepLink("s1", view={"host": "main"})


@pytest.mark.parametrize("text", [
    "", "s1", "http://session/s1", "tiphys://session/", "tiphys://session/..", "tiphys://session/a/b",
    "tiphys://host/s1", "tiphys://session/s1?step=-1", "tiphys://session/s1?step=٣", "tiphys://session/%00",
    "tiphys://[bad", "tiphys://session/s1?" + "&".join("a=1" for _ in range(50))])
def test_what_is_no_link_is_refused(text):
    with pytest.raises(InvalidInput) as caught:
        parse_link(text)
    assert caught.value.code == "bad_link"
