"""A step's answer as the tokens that its policy sampled, its reward, and why there are no tokens."""

from __future__ import annotations

from math import log

import msgspec
import pytest
from PySide6.QtCore import Qt
from support.logs import AGENT, Maker
from support.panels import workplace

from app.kit import theme
from app.step.panel import build
from app.step.parts import parts_of
from core.domain.events import encode_event, make_event
from core.domain.sampled import Sampled, encode_sampled
from core.domain.step import Action, Observation, Output, StepBody, encode_body

PIECES = (("Thought", 0.99), (": go", 0.7), (" on.\n", 0.3), ("Action:", 0.95), (" craft", 0.05), (" 1", 0.004),
          ("", 0.9), ("é", 0.6))


def sampled(**more: object) -> Sampled:
    return Sampled.of(ids=range(100, 100 + len(PIECES)), logprobs=[log(p) for _, p in PIECES], prompt_ids=[1, 2],
                      policy="smol",
                      **{"version": 3, **more})


def session(made: Sampled, *, stores: bool = True) -> Maker:
    """Step 1 has tokens and a reward, step 2 has neither."""
    maker = Maker(1)
    observation = Observation(call_id="a", output=Output(text="Crafted."), reward=0.5, done=True)
    for number in (1, 2):
        fact = maker.add_step()
        body = StepBody(number=number, thought="go on.", actions=(Action(call_id="a", tool="act"),),
                        observations=(observation,) if number == 1 else (), unsampled="" if number == 1 else "No ids.")
        name = maker.keep(encode_sampled(made)) if number == 1 else ""
        again = msgspec.structs.replace(fact, body=maker.keep(encode_body(body)), sampled=name)
        maker.bodies[-1] = encode_event(make_event(again, AGENT))
        if name and not stores:
            del maker.blobs[name]
    return maker


def ground_of(panel, words: str) -> str:
    """The colour on which words lie."""
    cursor = panel.text.edit.document().find(words, panel.text.text.index("≥ 90"))
    assert not cursor.isNull(), words
    brush = cursor.charFormat().background()
    return "" if brush.style() == Qt.BrushStyle.NoBrush else brush.color().name()


def test_the_answer_lies_on_grounds_by_probability_and_says_it_of_each_token(qtbot, tmp_path):
    with workplace(tmp_path, session(sampled(texts=[text for text, _ in PIECES], temperature=0.7))) as (place, _):
        panel = build(place, None)
        qtbot.addWidget(panel)
        panel.show()
        place.cursor.move("s1", 1)
        assert panel.tokens_button.isVisible() and not panel.token.isVisible() and "Sampled" not in panel.text.text
        assert "reward 0.5 · episode over" in panel.about.text() and "reward 0.5" in panel.text.text
        place.actions["view.tokens"].setChecked(True)
        assert "Thought: go on.⏎\nAction: craft 1‹106›é" in panel.text.text
        assert "Crafted." in panel.text.text and "smol, version 3 · temperature 0.7" in panel.text.text
        found = [ground_of(panel, words) for words in ("Action:", ": go", " on.", " craft", " 1")]
        names = ("chance_likely", "chance_open", "chance_rare", "chance_slight")
        assert found == ["", *(theme.colour(name).name() for name in names)]
        cursor = panel.text.edit.document().find(" craft")
        cursor.setPosition(cursor.selectionStart())
        panel.text.edit.setTextCursor(cursor)
        assert panel.token.text().startswith("“ craft” · token 104 · 5.0 % (log -2.996) · smol, version 3")
        point = panel.text.edit.cursorRect(cursor).center()
        assert "token 104" in panel.text.edit.words_under(point)
        place.cursor.to_step(2)
        assert not panel.tokens_button.isVisible() and panel.token.text() == "This step has no sampled tokens."
        assert "This answer has no sampled tokens: No ids." in panel.text.text and "reward" not in panel.about.text()
        place.actions["view.tokens"].setChecked(False)
        assert not panel.token.isVisible()


def test_tokens_without_texts_are_their_ids_and_what_is_not_here_is_said(qtbot, tmp_path):
    with workplace(tmp_path, session(sampled()), session(sampled(version=4), stores=False)) as (place, _):
        panel = build(place, None)
        qtbot.addWidget(panel)
        place.actions["view.tokens"].setChecked(True)
        place.cursor.move("s1", 1)
        assert "‹100›‹101›" in panel.text.text and "gave no texts" in panel.text.text
        place.cursor.move("s2", 1)
        assert "Crafted." in panel.text.text and "on.⏎" not in panel.text.text
        assert panel.token.text().startswith("The sampled tokens are fetched")
        place.desks.local._on_absent(place.desks.local.trajectory("s2").steps[0].sampled)
        assert panel.token.text().startswith("The server does not hold")


@pytest.mark.parametrize("reason", ["", "The endpoint does not give ids."])
def test_why_there_are_no_tokens_is_part_of_the_step(reason):
    text = "".join(p.text for p in parts_of(StepBody(number=1, thought="x", unsampled=reason)))
    assert ("no sampled tokens" in text) == bool(reason)
