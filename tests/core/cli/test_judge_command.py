"""Rules, a model at a real endpoint, agreement and the preview, as commands."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

import pytest
from support.served_model import served
from support.tiny_model import make_tokenizer

from core.domain.message import Message, ToolCall
from core.llm.model import Completion, estimate_tokens

KEEP = ("--unjudged", "keep")


class Masker:
    """A judge that masks every second turn; counts what it is asked."""

    name = "masker"

    def __init__(self) -> None:
        self.asked = 0

    async def complete(self, request, on_text=None):
        self.asked += 1
        first, last = re.search(r"turn (\d+) to turn (\d+)", request.messages[1].content).groups()
        results = {f"turn {n}": {"keep": n % 2 == 1, "reason": "even"} for n in range(int(first), int(last) + 1)}
        call = ToolCall(id="1", name="judge_results", arguments=json.dumps({"judge_results": results}))
        now = datetime.now(UTC)
        return Completion(message=Message(role="assistant", tool_calls=(call,)), model="masker", finish_reason="stop",
                          started_at=now, ended_at=now)

    def count(self, message):
        return estimate_tokens(message)

    async def close(self):
        pass


@pytest.fixture
def endpoint():
    """A judge behind a real HTTP endpoint in a thread of its own: (model, base URL)."""
    model = Masker()
    with served(model) as url:
        yield model, url


def test_a_model_judges_over_http_once_and_the_cost_is_told_before(tiphys, imported, endpoint) -> None:
    model, url = endpoint
    tiphys("judge", imported, "--rules-only")
    asked = ("judge", imported, "--model", "masker", "--base-url", url, "--prices", "1", "2")
    estimate = tiphys(*asked, "--estimate", "--json").one
    assert (estimate["windows"], estimate["cached"], model.asked) == (1, 0, 0)
    assert estimate["cost_usd"] == pytest.approx((estimate["input_tokens"] + 2 * estimate["output_tokens"]) / 1e6)
    ran = tiphys(*asked, "--json")
    assert (ran.status, ran.one["verdicts"], ran.one["masked"], model.asked) == (0, 2, 1, 1), ran.err
    assert "judged 1 of 1 windows" in ran.err and "USD" in ran.err
    shown = tiphys("show", imported, "--json").one["steps"]
    assert [s["verdict"]["final"] for s in shown] == ["keep", "mask"]
    [opinion] = [o for o in shown[1]["verdict"]["opinions"] if o["kind"] == "judge"]
    assert (opinion["kind"], opinion["author"], opinion["reason"]) == ("judge", "masker", "even")
    assert tiphys(*asked, "--json").one["verdicts"] == 0 and model.asked == 1
    assert tiphys(*asked, "--estimate", "--json").one["windows"] == 0


def test_rules_of_the_home_judge_and_are_listed(tiphys, imported, home) -> None:
    tiphys("judge", imported, "--rules-only")
    (home / "rules").mkdir(exist_ok=True)
    (home / "rules" / "wordy.py").write_text(
        "from core.supervision.rule import Finding\n"
        "def find(evidence, *, most=3):\n    'Too long.'\n"
        "    yield from (Finding(s.number, 'long') for s in evidence.steps if len(s.thought) > most)\n")
    lines = {line["rule"]: line for line in tiphys("rules", "--json").lines}
    assert lines["wordy"]["settings"] == {"most": 3} and lines["blind_edit"]["enabled"] is True
    assert tiphys("judge", imported, "--rules-only", "--json").one["masked"] == 2
    (home / "rules" / "rules.toml").write_text("[rules.wordy]\nenabled = false\n")
    assert tiphys("judge", imported, "--rules-only", "--json").one["verdicts"] == 2, "taken back"
    shown = tiphys("show", imported, "--json").one["steps"]
    assert shown[0]["verdict"] == {"final": "undecided", "opinions": [], "masked_actions": []}
    assert "wordy 1" in tiphys("rules").out
    (home / "rules" / "rules.toml").write_text("[rules.nonsense]\n")
    assert tiphys("judge", imported, "--rules-only", "--json").status == 2


def test_agreement_holds_sources_against_people(tiphys, imported, home) -> None:
    (home / "rules").mkdir(exist_ok=True)
    (home / "rules" / "all.py").write_text("from core.supervision.rule import Finding\ndef find(evidence):\n"
                                           "    yield from (Finding(s.number, 'x') for s in evidence.steps)\n")
    before = tiphys("agreement", imported, "--json").one
    [effect] = [r for r in before["rules"] if r["rule"] == "all"]
    assert (effect["found"], effect["would_mask"], before["sources"]) == (2, 2, []), "nothing was judged yet"
    tiphys("judge", imported, "--rules-only", "--json")
    tiphys("verdict", imported, 1, "keep", "--json")
    tiphys("verdict", imported, 2, "mask", "--json")
    agreement = tiphys("agreement", imported, "--json").one
    [source] = [s for s in agreement["sources"] if s["source"] == "rule:all"]
    assert (source["source"], source["masks"], source["judged"], source["confirmed"]) == ("rule:all", 2, 2, 1)
    assert source["precision"] == 0.5
    assert (agreement["decided"], agreement["pairs"], agreement["alpha"]) == (2, [], None)
    assert tiphys("agreement").status == 0
    assert "rule:all" in tiphys("agreement", imported).out


def test_export_options_reach_the_export(tiphys, imported, tmp_path) -> None:
    pytest.importorskip("transformers")
    model = make_tokenizer(tmp_path / "model")
    (tmp_path / "secrets").write_text("Look first.\n\n")
    to = ("export", imported, "--to", "trl", "--model", model, "--dry-run", "--out", tmp_path / "x",
          "--unjudged", "keep", "--json")
    plain = tiphys(*to).one
    assert (plain["samples"], plain["rows"], plain["findings"]) == (1, 1, [])
    assert tiphys(*to, "--balance", "repeat").one["rows"] == 7 == tiphys(*to, "--preset", "paper").one["rows"]
    assert tiphys(*to, "--balance", "repeat", "--chains").one["rows"] == 1
    assert tiphys(*to, "--eval-task", tiphys("show", imported, "--json").one["row"]["task"]).one["eval_rows"] == 1
    refused = tiphys(*to, "--secrets", tmp_path / "secrets").one
    assert refused["samples"] == 0 and "holds_a_secret" in str(refused["sessions"])
    redacted = tiphys(*to, "--secrets", tmp_path / "secrets", "--redact").one
    assert redacted["findings"][0]["kind"] == "named_value" and redacted["trained"] < plain["trained"]
    assert tiphys(*to, "--eval-share", "2").status == 2
    tiphys("verdict", imported, 1, "mask")
    assert tiphys(*to).one["trained"] < plain["trained"] == tiphys(*to, "--ablation").one["trained"]


def test_a_preview_marks_the_trained_tokens(tiphys, imported, tmp_path) -> None:
    pytest.importorskip("transformers")
    model = make_tokenizer(tmp_path / "model")
    preview = tiphys("preview", imported, "--model", model, *KEEP, "--json").one
    assert preview["session"] == imported and preview["total"] == len(preview["tokens"]) > 0
    assert preview["trained"] == sum(mask for _, mask in preview["tokens"])
    assert preview["share"] == pytest.approx(preview["trained"] / preview["total"], abs=1e-6)
    plain = tiphys("preview", imported, "--model", model, *KEEP).out
    trained = "".join(re.findall(r"⟦(.*?)⟧", plain, re.DOTALL))
    assert trained == "".join(text for text, mask in preview["tokens"] if mask)
    assert "Look first." in trained and "<|im_start|>user" not in trained
    coloured = tiphys("preview", imported, "--model", model, *KEEP, "--colour", "always").out
    assert "\x1b[32m" in coloured and "⟦" not in coloured
    assert tiphys("preview", imported, "--model", model, *KEEP, "--sample", 9, "--json").status == 2
    tiphys("verdict", imported, 1, "mask", "--json")
    masked = tiphys("preview", imported, "--model", model, *KEEP, "--json").one
    assert 0 < masked["trained"] < preview["trained"]
    ablated = tiphys("preview", imported, "--model", model, "--ablation", "--json").one
    assert ablated["trained"] == preview["trained"]
    assert tiphys("preview", imported, "--model", model, "--json").one["trained"] == 0, "nobody judged the other step"


def test_decisions_are_made_again_from_the_log_with_other_switches(tiphys, imported) -> None:
    tiphys("verdict", imported, 2, "mask", "--json")
    decisions = tiphys("decisions", imported, "--json").lines
    assert [(d["step"], d["value"]) for d in decisions] == [(1, "undecided"), (2, "mask")] and decisions[1]["because"]
    again = tiphys("decisions", imported, "--ignore", "person", "--json").lines
    assert again[1]["value"] == "undecided" and again[1]["left_out"] == decisions[1]["because"]
    assert tiphys("decisions", imported, "--at", "1", "--json").lines == []
    assert "mask" in tiphys("decisions", imported).out and tiphys("decisions", "none").status != 0
