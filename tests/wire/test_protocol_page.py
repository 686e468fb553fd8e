"""The page for those who write a client in another language names everything that there is."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.protocol import messages
from core.protocol.messages import CAPABILITIES, Close, FromServer, ToServer
from core.protocol.operations import AnyOp
from core.protocol.scopes import SCOPE_OF_OP

PAGE = (Path(__file__).parents[2] / "docs/protocol.md").read_text(encoding="utf-8")
WORDS = sorted({str(m.__struct_config__.tag) for u in (ToServer, FromServer, AnyOp) for m in u.__args__})  # type: ignore[attr-defined]
CODES = sorted(v for k, v in vars(Close).items() if k.isupper())


@pytest.mark.parametrize("word", WORDS)
def test_every_message_and_operation_is_described(word: str) -> None:
    assert f"`{word}`" in PAGE or f'"type":"{word}"' in PAGE


def test_every_capability_is_offered_and_described() -> None:
    assert {value for name, value in vars(messages).items() if name.startswith("CAN_")} == set(CAPABILITIES)
    assert [word for word in CAPABILITIES if f"`{word}`" not in PAGE] == []


@pytest.mark.parametrize("code", CODES)
def test_every_close_code_is_explained(code: int) -> None:
    assert f"| {code} |" in PAGE


def test_the_scopes_of_the_page_are_those_of_the_table() -> None:
    section = PAGE.split("## Tokens and scopes")[1].split("## Commands")[0]
    rows = {line.split("`")[1]: line for line in section.splitlines() if line.startswith("| `")}
    for op, scope in SCOPE_OF_OP.items():
        assert f"`{op.__struct_config__.tag}`" in (rows.get(scope) or rows[f"{scope}:SESSION"])
