"""Whatever has a closed list of kinds has a word for each in the reader's language: who adds one is told what lacks."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import get_args

import pytest
from PySide6.QtWidgets import QApplication
from support.window import speaking

from app.desk.actions import ACTIONS
from app.desk.right_words import right_words
from app.desk.session_words import URGENCY, attention_word, state_words
from app.desk.step_words import error_word, status_word
from app.drafts import words as draft_words
from app.export.model import STATES
from app.find.hits import where_word
from app.kit.i18n import translate
from app.review.opinions import author_words, value_word
from app.servers.scope_words import scope_words
from core.domain import host_rights
from core.domain.drafts import DraftState, Phase
from core.domain.events import AttentionKind, SessionState
from core.domain.hit import Where
from core.domain.host_rights import HostRight
from core.domain.step import Status
from core.domain.verdict import Author, AuthorKind, VerdictValue
from core.server.notify import WORDS
from core.store.accounts import SCOPES
from core.workers.export import State

JUDGES_NOBODY = {"agent", "server"}
"""Authors that give no opinion on a step."""

ASKED_BY_NO_TASK = {"lab_name"}
"""What an administrator allows for all; no window asks for it."""

CORE = Path(host_rights.__file__).parents[1]


def error_kinds() -> set[str]:
    """The kinds of errors that our own modules write down, also where a foreign one is not told."""
    made = (n for path in CORE.rglob("*.py") if "ActionError(" in (text := path.read_text(encoding="utf-8"))
            for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Call) and ast.unparse(n.func) == "ActionError")
    values = [k.value for call in made for k in call.keywords if k.arg == "kind"]
    parts = (part for v in values for part in (v.values if isinstance(v, ast.BoolOp) else
                                               [v.body, v.orelse] if isinstance(v, ast.IfExp) else [v]))
    return {part.value for part in parts if isinstance(part, ast.Constant)}


LISTS: dict[str, tuple[Iterable[str], Callable[[str], str]]] = {
    "attention": (get_args(AttentionKind), attention_word),
    "session": (get_args(SessionState), lambda state: state_words(state)[1]),
    "action": (get_args(Status), status_word),
    "error": (error_kinds(), error_word),
    "place of a hit": (get_args(Where), where_word),
    "author": (set(get_args(AuthorKind)) - JUDGES_NOBODY, lambda kind: author_words(Author(kind=kind, name=""))),
    "verdict": (set(get_args(VerdictValue)) - {"none"}, value_word),
    "right": (set(host_rights._SENTENCES) - ASKED_BY_NO_TASK, lambda kind: right_words(HostRight(kind, "N", "E"))),
    "scope": (SCOPES, lambda scope: scope_words([scope])),
}


@pytest.mark.parametrize("kinds", LISTS)
def test_each_kind_has_a_word_in_chinese(qapp: QApplication, kinds: str) -> None:
    known, word = LISTS[kinds]
    with speaking(qapp, "zh_CN"):
        assert [kind for kind in known if word(kind).isascii()] == []


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_no_two_commands_of_a_menu_are_called_the_same(qapp: QApplication, language: str) -> None:
    with speaking(qapp, language):
        names = [(one.menu, re.sub(r"\(&.\)|[&…]", "", translate("Actions", one.text))) for one in ACTIONS if one.menu]
    assert [name for name, count in Counter(names).items() if count > 1] == []


def test_each_kind_of_attention_has_its_place_and_its_message() -> None:
    assert set(URGENCY) == set(get_args(AttentionKind))
    assert set(WORDS) >= set(get_args(AttentionKind))


def test_each_state_of_a_draft_and_of_a_sample_has_its_words() -> None:
    assert set(draft_words.STATES) == set(draft_words._MEANINGS) == set(draft_words._SIGNS) == set(get_args(DraftState))
    assert set(draft_words._PHASES) == set(get_args(Phase))
    assert set(STATES) == set(get_args(State))
