"""Summaries: the arithmetic of the paper, the exact context, retries, and the mechanical fallback."""

from __future__ import annotations

import asyncio
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from support.agents import Log, Stage, turns

from core.agents.context import WorkingLine, after_cut, choose_cut
from core.agents.context import turns as turns_of
from core.domain.context import MessageRef, apply_delta
from core.domain.events import SessionStateChanged, StepAdded, SummaryAdded
from core.domain.message import Message
from core.domain.step import Usage
from core.llm.model import Completion, EndpointError, OnText, Request
from core.llm.scripted import ScriptedModel, read_script

LONG = turns(12, finish=False).replace('command = "c', f'text = "{"word " * 200}')


def ref(name: str, source: str = "") -> MessageRef:
    return MessageRef(hash=name, role="tool", tokens=10, source=source)


@given(st.integers(min_value=0, max_value=40), st.lists(st.integers(min_value=1, max_value=6), max_size=20))
def test_the_older_half_is_replaced(first: int, more: list[int]) -> None:
    """After each round t becomes t − k + 1 (algorithm 1, line 8), and every step is in exactly one place."""
    lines = [WorkingLine(ref("task", "task"), 0),
             *(WorkingLine(ref(f"s{n}", f"step:{n}"), n) for n in range(1, first + 1))]
    done, covered = first, 0
    for grown in more:
        t = len(turns_of(lines))
        cut = choose_cut(lines)
        if cut is None:
            assert t < 2 or (t == 2 and covered)
        else:
            assert cut.k == t // 2 or (cut.k == t // 2 + 1 and t < 4 and covered)
            assert cut.first == 1 and cut.last > covered
            lines = list(after_cut(lines, cut, ref(f"S{cut.last}", f"summary:{cut.last}")))
            covered = cut.last
            assert len(turns_of(lines)) == t - cut.k + 1
            assert [line.turn for line in lines] == [0, covered, *range(covered + 1, done + 1)]
        lines += [WorkingLine(ref(f"s{n}", f"step:{n}"), n) for n in range(done + 1, done + grown + 1)]
        done += grown


class Summarising:
    """Plays the script; answers summary requests as it is told."""

    name = "summarising"

    def __init__(self, answers: list[Message | EndpointError]) -> None:
        self._inner = ScriptedModel(read_script(LONG + '\n[[turn]]\ncalls = [{ tool = "finish" }]'))
        self._answers = answers
        self.requests: list[Request] = []

    async def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        answer = await self._inner.complete(request, on_text)
        if request.purpose == "act":
            return answer
        self.requests.append(request)
        next_answer = self._answers.pop(0) if self._answers else answer.message
        if isinstance(next_answer, EndpointError):
            raise next_answer
        return Completion(message=next_answer, usage=Usage(output_tokens=7), started_at=answer.started_at,
                          ended_at=answer.ended_at)

    def count(self, message: Message) -> tuple[int, bool]:
        return self._inner.count(message)

    async def close(self) -> None:
        return


def play(folder: Path, answers: list[Message | EndpointError], log: Log | None = None) -> tuple[Stage, Summarising]:
    model = Summarising(answers)
    stage = Stage(folder, model, context_tokens=2600)
    if log is not None:
        log.give(stage.inbox)
    asyncio.run(stage.agent.run())
    assert stage.facts(SessionStateChanged)[-1].state == "finished"
    return stage, model


def spoken(text: str) -> Message:
    return Message(role="assistant", content=text)


def test_a_summary_shares_the_prefix_and_replaces_its_steps(tmp_path: Path) -> None:
    log = Log()
    log.guide("g1", "never use the test split")
    stage, model = play(tmp_path, [spoken("<state_snapshot>\nfirst summary\n</state_snapshot>")], log)
    summary = stage.facts(SummaryAdded)[0]
    steps = stage.facts(StepAdded)
    assert summary.text == "first summary" and summary.first == 1
    before = [s for s in stage.journal.facts() if isinstance(s, (StepAdded, SummaryAdded))]
    t = before.index(summary)
    assert summary.last == t // 2
    refs: list[MessageRef] = []
    for step in steps[:t]:
        refs = apply_delta(refs, step.context)
    written_in = apply_delta(refs, summary.context)
    asked = [stage.journal.message(r) for r in written_in]
    assert asked == list(model.requests[0].messages), "the context of the summary is stored exactly"
    assert [r.hash for r in written_in[: len(refs) - 1]] == [r.hash for r in refs[:-1]], "all but the note is shared"
    assert "<summary_request>" in asked[-1].content
    after = [stage.journal.message(r) for r in apply_delta(refs, steps[t].context)]
    assert after[2].content.startswith(f'<summary first="1" last="{summary.last}">\nfirst summary')
    assert "<real_user>\nnever use the test split\n</real_user>" in after[2].content, "advice is never summarised away"
    assert f"Result of step {summary.last}" in after[2].content
    assert after[3].content == f"turn {summary.last}", "then step k + 1 (turns count from 0)"


def test_a_call_instead_of_a_summary_is_asked_again(tmp_path: Path) -> None:
    call = ScriptedModel(read_script(turns(1)))._message(read_script(turns(1)).turn[0], _place())
    stage, model = play(tmp_path, [call, spoken("  "), spoken("plain text will do")])
    assert stage.facts(SummaryAdded)[0].text == "plain text will do"
    assert len({r.messages for r in model.requests[:3]}) == 1
    assert stage.steps.progress.tokens > 0


def test_without_any_summary_a_list_of_steps_stands_in(tmp_path: Path) -> None:
    failures: list[Message | EndpointError] = [EndpointError("context_too_long", "too long")] * 40
    stage, _ = play(tmp_path, failures)
    summary = stage.facts(SummaryAdded)[0]
    assert summary.completion is None and summary.context.parts == ()
    assert "1. run_command" in summary.text


def test_a_summary_without_end_stands_in_its_event_as_far_as_there_is_room(tmp_path: Path) -> None:
    stage, _ = play(tmp_path, [spoken("\x01" * 3_000_000)])
    first, *_ = stage.facts(SummaryAdded)
    assert set(first.text) == {"\x01"} and 100_000 < len(first.text) < 400_000


def _place():
    from core.llm.scripted import _Place

    return _Place("main", 0)
