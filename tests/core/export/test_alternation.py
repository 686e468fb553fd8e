"""Templates that demand alternating roles take guided sessions of several segments whole."""

from __future__ import annotations

import json

import msgspec
import pytest
from support.exported import write_log
from support.logs import Maker
from support.tiny_model import make_tokenizer, trl_template

from core.domain.message import Message
from core.export.options import ExportOptions
from core.export.render import Renderer
from core.export.run import export

pytest.importorskip("trl")
MARKS = {
    "gemma3": (("<end_of_turn>",), ("<bos>", "<start_of_turn>")),
    "cohere": (("<|END_OF_TURN_TOKEN|>",), ("<BOS_TOKEN>", "<|START_OF_TURN_TOKEN|>", "<|CHATBOT_TOKEN|>")),
    "qwen3": (("<|im_end|>",), ("<|im_start|>",)),
}


class Answering(Maker):
    """Answers in words, without calls."""

    def _calls(self, body):
        return ()


def guided(plain: bool) -> Maker:
    """Guidance before a step and behind the summary, calls and results or plain answers."""
    made = (Answering if plain else Maker)(7)
    for number in range(6):
        if number in (1, 4):
            made.guide("Use the training split. 用训练集。")
            made.guide("And keep the seed.")
        made.add_step(fails=False)
        if number == 3:
            made.summarise()
            told = Message(role="user", content="<summary>\nThe loader works.\n</summary>")  # as the agent tells it
            made._context[2] = made._ref(told, made._context[2].source)
    return made


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("name", sorted(MARKS))
def test_every_kept_action_of_a_guided_session_of_two_segments_is_trained(tmp_path, name, plain):
    stops, special = MARKS[name]
    folder = make_tokenizer(tmp_path / "m", template=trl_template(name), stops=stops, special=special)
    renderer = Renderer(folder)
    assert renderer.demands_turns == (name != "qwen3")
    log = write_log(tmp_path / "server.db", a=guided(plain))
    options = ExportOptions(balance="none", chains=False, unjudged="keep")
    report = export(log, ["a"], "trl", tmp_path / "out", str(folder), options)
    assert report.sessions[0].refused == [] and report.samples == 3
    rows = [json.loads(line) for line in (tmp_path / "out" / "data.jsonl").read_text().splitlines()]
    trained = [renderer.decode([i for i in row["labels"] if i != -100]) for row in rows]
    assert sum(text.count(stops[0]) for text in trained) == 6 + 1  # six actions and a summary
    whole = "".join(renderer.decode(row["input_ids"]) for row in rows)
    assert "用训练集" in whole and "And keep the seed." in whole
    assert not any("Use the training split" in text for text in trained)


@pytest.mark.parametrize("name", sorted(MARKS))
def test_words_of_a_system_amid_a_session_reach_a_model_whose_template_has_no_place_for_them(tmp_path, name):
    stops, special = MARKS[name]
    folder = make_tokenizer(tmp_path / "m", template=trl_template(name), stops=stops, special=special)
    made = guided(True)
    made._enter(Message(role="system", content="A workspace was added. 工作区"), "note")
    made.add_step(fails=False)
    log = write_log(tmp_path / "server.db", a=made)
    report = export(log, ["a"], "trl", tmp_path / "out", str(folder), ExportOptions(balance="none", chains=False))
    assert report.sessions[0].refused == []
    row = json.loads((tmp_path / "out" / "data.jsonl").read_text().splitlines()[-1])
    assert "A workspace was added. 工作区" in Renderer(folder).decode(row["input_ids"])


@pytest.mark.parametrize("thought", ["", " \n"])
def test_an_answer_that_the_log_holds_empty_trains_nothing(tmp_path, thought):
    """Records of visited pages hold no answers: a model would learn to stop at once."""
    class Silent(Answering):
        def _body(self, tool, fails):
            body = super()._body(tool, fails)
            return msgspec.structs.replace(body, thought=thought if self.step == 2 else body.thought)

    made = Silent(7)
    for _ in range(3):
        made.add_step(fails=False)
    folder = make_tokenizer(tmp_path / "m", template=trl_template("qwen3"))
    log = write_log(tmp_path / "server.db", a=made)
    report = export(log, ["a"], "trl", tmp_path / "out", str(folder), ExportOptions(balance="none"))
    assert [(r.code, r.step) for r in report.sessions[0].refused] == [("not_in_a_sample", 2)]
    row, = [json.loads(line) for line in (tmp_path / "out" / "data.jsonl").read_text().splitlines()]
    assert Renderer(folder).decode([i for i in row["labels"] if i != -100]).count("<|im_end|>") == 2
