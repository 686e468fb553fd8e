"""A model's chat template that never comes to an end, or grows without end, is cut; others go on (threats 4 and 13)."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.cost import no_old_garbage
from support.tally import tally
from support.tiny_model import make_tokenizer

pytest.importorskip("transformers")

from core.domain.errors import InvalidInput
from core.domain.message import Message
from core.export.template import ChatTemplate
from core.llm import render_budget
from core.llm.render_budget import rendered

LOOPS = "{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(99999) %}"
ENDS = "{% endfor %}{% endfor %}{% endfor %}"
TEMPLATES = {
    "loops": LOOPS + ENDS,
    "loops that write": LOOPS + "x" + ENDS,
    "a loop in a filter": "{{ range(99999) | map('string') | join | length }}" + LOOPS + "{{ [a, b] | sort }}" + ENDS,
    "a macro that calls itself twice":
        "{% macro m(n) %}{% if n > 0 %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(60) }}",
    "a text that doubles":
        "{% set n = namespace(x='xxxxxxxx') %}{% for i in range(99) %}{% set n.x = n.x ~ n.x %}{% endfor %}{{ n.x }}",
    "a list that doubles":
        "{% set n = namespace(x=[1]) %}{% for i in range(99) %}{% set n.x = n.x + n.x %}{% endfor %}",
    "loops in a call block":
        "{% macro m() %}{{ caller() }}{% endmacro %}{% call m() %}" + LOOPS + "{{ a }}" + ENDS + "{% endcall %}",
    "loops of generation": "{% generation %}" + LOOPS + "{{ a }}" + ENDS + "{% endgeneration %}",
}
MESSAGES = [Message(role="user", content="Hello")]


@pytest.fixture(autouse=True)
def small_budget(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(render_budget, "RENDER_S", 0.25)
    monkeypatch.setattr(render_budget, "GROWTH_BYTES", 200 * 1024**2)
    monkeypatch.setattr(render_budget, "_slow", set())
    with no_old_garbage():  # a look through what other tests left may take longer than that
        yield


def template_of(text: str, folder: Path) -> ChatTemplate:
    from transformers import AutoTokenizer

    if not any(folder.iterdir()):
        make_tokenizer(folder)
    tokenizer = AutoTokenizer.from_pretrained(str(folder))
    tokenizer.chat_template = text
    return ChatTemplate(tokenizer)


def test_templates_without_end_are_cut_and_others_render_on(tmp_path: Path) -> None:
    harm = []
    for name, text in TEMPLATES.items():
        template = template_of(text, tmp_path)
        for _ in range(2):
            with pytest.raises(InvalidInput) as refused:
                template.text(MESSAGES)
            if refused.value.code != "template_too_slow":
                harm.append(name)
        assert template_of("{{ messages[0].content }}", tmp_path).text(MESSAGES) == "Hello"
    tally("chat templates without end", len(TEMPLATES), harm)


def test_a_cut_in_one_thread_is_none_in_another() -> None:
    """Each has its own budget, and what is nearly over is not cut afterwards."""
    results: list[object] = []

    def count(seconds: float) -> str:
        began = time.thread_time()
        while time.thread_time() - began < seconds:
            sum(range(100))
        return f"{seconds}"

    def work(seconds: float) -> None:
        try:
            results.append(rendered(f"template {seconds}", lambda: count(seconds)))
        except InvalidInput as error:
            results.append(error.code)

    threads = [threading.Thread(target=work, args=(s,)) for s in (0.05, 0.1, 60.0, 0.02)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(str, results)) == ["0.02", "0.05", "0.1", "template_too_slow"]


def test_renderings_about_as_long_as_the_budget_end_one_way_or_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cut may come at any instruction, also when the text is there: then nothing of it is left. On a busy computer
    it may come late; the last one has no end of its own."""
    monkeypatch.setattr(render_budget, "RENDER_S", 0.05)
    monkeypatch.setattr(render_budget, "_LOOK_EVERY_S", 0.005)
    ends: list[str] = []
    for number in [*range(0, 100, 2), 1_000_000]:
        began = time.thread_time()

        def render(began: float = began, number: int = number) -> str:
            while time.thread_time() - began < 0.045 + number / 8_000:
                pass
            return "text"

        try:
            ends.append(rendered(f"template {number}", render))
        except InvalidInput as error:
            ends.append(error.code)
        assert sum(range(1_000)) == 499_500, "instructions at which a cut that comes too late would be seen"
    assert set(ends) == {"text", "template_too_slow"}
    assert not render_budget._watcher._turns
