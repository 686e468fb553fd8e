"""Templates that demand alternating roles take guided sessions of several segments whole."""

from __future__ import annotations

import json

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


def guided(plain: bool) -> Maker:
    """Guidance before a step and behind the summary, calls and results or plain answers."""
    made = Maker(7)
    made.plain = plain
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
    report = export(log, ["a"], "trl", tmp_path / "out", str(folder), ExportOptions(balance="none", chains=False))
    assert report.sessions[0].refused == [] and report.samples == 3
    rows = [json.loads(line) for line in (tmp_path / "out" / "data.jsonl").read_text().splitlines()]
    trained = [renderer.decode([i for i in row["labels"] if i != -100]) for row in rows]
    assert sum(text.count(stops[0]) for text in trained) == 6 + 1  # six actions and a summary
    whole = "".join(renderer.decode(row["input_ids"]) for row in rows)
    assert "用训练集" in whole and "And keep the seed." in whole
    assert not any("Use the training split" in text for text in trained)
