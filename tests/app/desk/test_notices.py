"""Every refusal becomes a sentence in the reader's language; what is unknown keeps core's own sentence."""

from __future__ import annotations

import string

import pytest

from app.desk.notices import SENTENCES, Notices, sentence_of
from core.domain.errors import Conflict, InvalidInput


def test_a_known_code_is_told_with_its_parameters():
    assert sentence_of(Conflict("already_delivered", "Delivered.", step=12)).endswith("at step 12.")


def test_an_unknown_code_or_a_missing_parameter_keeps_the_sentence():
    assert sentence_of(Conflict("brand_new", "Said by the core.")) == "Said by the core."
    assert sentence_of(Conflict("already_delivered", "Said by the core.")) == "Said by the core."


def test_a_bug_is_told_without_its_innards(qtbot, caplog):
    notices = Notices()
    posted = []
    notices.posted.connect(posted.append)
    notices.report(ZeroDivisionError("secret path"))
    assert "ZeroDivisionError" in posted[0].sentence
    assert "secret" not in posted[0].sentence
    assert "secret path" in caplog.text


@pytest.mark.parametrize("code", sorted(SENTENCES))
def test_sentences_name_plain_parameters(code):
    fields = [name for _, name, _, _ in string.Formatter().parse(SENTENCES[code]) if name]
    assert all(name.isidentifier() for name in fields)
    assert sentence_of(InvalidInput(code, "x", **dict.fromkeys(fields, "VALUE")))
