"""An agent that was started again and tells its conversation with another beginning (`session/load` of some agents)."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.gateway_bench import Bench
from support.gateway_talk import Talk, answer, result

from core.domain.events import NoteAdded, StepAdded, SummaryAdded
from core.domain.step import decode_body


@pytest.mark.parametrize("keeps", ["all", "the end"])
def test_what_it_tells_anew_is_no_summary_and_no_step_is_there_twice(tmp_path: Path, keeps: str) -> None:
    bench = Bench(tmp_path, "http://127.0.0.1:1")
    talk = Talk(bench)
    begun = [{"role": "system", "content": "You are."}, {"role": "user", "content": "Here are: a.py"}]
    said = [{"role": "user", "content": "Do it."}, answer("c1"), result("c1"), answer("c2")]
    assert talk.ask([*begun, said[0]], answer("c1")) == "new"
    assert talk.ask([*begun, *said[:3]], answer("c2")) == "extends"
    talk.lines.lines.is_restarted = True
    anew = [begun[0], {"role": "user", "content": "Here are: a.py b.py"}, {"role": "assistant", "content": "Got it."}]
    told = said if keeps == "all" else said[3:]
    relation = talk.ask([*anew, *told, result("c2"), {"role": "user", "content": "Go on."}], answer("c3"))
    facts = bench.journal.facts()
    steps = [fact for fact in facts if isinstance(fact, StepAdded)]
    assert [step.head.number for step in steps] == [1, 2]
    bodies = [decode_body(bench.journal.blob(step.body)) for step in steps]
    assert [body.observations[0].output.text for body in bodies] == ["of c1", "of c2"]
    notes = [fact.text for fact in facts if isinstance(fact, NoteAdded)]
    if keeps == "all":
        assert relation == "rewound" and notes == [
            "The agent was started again, and tells its conversation with another beginning."]
        sources = [ref.source for ref in talk.lines.main.steps.open.context]
        assert sources.count("step:1") == sources.count("step:2") == 2, "its answer and what came back"
    else:
        assert relation == "compacted" and notes == []
    assert len([fact for fact in facts if isinstance(fact, SummaryAdded)]) == (keeps != "all")
    bench.journal.close()
