"""The texts of single tokens make the answer, also where one character takes several tokens."""

from __future__ import annotations

from types import SimpleNamespace

from core.llm.token_texts import texts_of_entries, texts_of_ids

EMOJI = "🦜".encode()


def read(ids) -> str:
    """A tokenizer of bytes."""
    return bytes(ids).decode("utf-8", "replace")


def begun(ids) -> str:
    """A tokenizer whose first token loses its space, as SentencePiece's does."""
    return "".join((" one", " two", "s")[i] for i in ids).removeprefix(" ")


def test_texts_of_tokens_make_the_answer():
    known: dict[int, str] = {}
    assert texts_of_ids(read, b"ab", known) == ["a", "b"] and known == {97: "a", 98: "b"}
    assert texts_of_ids(read, b"a" + EMOJI + b"b", known) == ["a", "", "", "", "🦜", "b"]
    assert texts_of_ids(read, EMOJI[:2], known) == ["", "�"]
    assert texts_of_ids(begun, [0, 1, 2], {}) == ["one", " two", "s"] and texts_of_ids(read, b"", known) == []


def test_an_answer_that_cannot_be_split_has_no_texts():
    assert texts_of_ids(lambda ids: f"{len(ids)} tokens", [1, 2], {}) == []


def test_an_endpoint_says_bytes_or_texts():
    entries = [SimpleNamespace(token="x", bytes=[one]) for one in EMOJI]
    assert texts_of_entries(entries) == ["", "", "", "🦜"]
    assert texts_of_entries([SimpleNamespace(token="hi\ud800", bytes=None)]) == ["hi?"]
    assert texts_of_entries([SimpleNamespace(token="token_id:7", bytes=None)]) == []
    assert texts_of_entries([SimpleNamespace(logprob=-1.0)]) == []
