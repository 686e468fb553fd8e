"""The asking end of a worker: answers find who asked, and nobody waits for ever."""

from __future__ import annotations

import msgspec
import pytest

from core.domain.errors import InvalidInput, NotFound
from core.workers.calls import BAD_ANSWER, Calls
from core.workers.messages import Problem, WorkerAnswer, answer_to
from core.workers.rules import ListRules, RuleLine, RulesRequest
from core.workers.search import FindInSession, ItemsFound
from core.workers.serve import answer_line

WALRUS = FindInSession(session="s", words="walrus")


class Asker:
    """Keeps what was sent to the worker and what came back."""

    def __init__(self) -> None:
        self.calls = Calls()
        self.sent: list[bytes] = []
        self.answers: list[object] = []
        self.problems: list[Problem] = []
        self.shares: list[float] = []

    def ask(self, request):
        self.calls.ask(request, self.sent.append, self.answers.append, self.problems.append, self.shares.append)
        return msgspec.json.decode(self.sent[-1], type=type(request))

    def take(self, answer: WorkerAnswer) -> None:
        self.calls.take(msgspec.json.encode(answer))


@pytest.fixture
def asker() -> Asker:
    return Asker()


def test_answers_in_another_order_reach_who_asked_as_values(asker):
    rules, found = asker.ask(ListRules()), asker.ask(WALRUS)
    assert rules.id != found.id
    asker.take(answer_to(found, ItemsFound(items=[3], searched=4, total=9)))
    asker.take(answer_to(rules, [RuleLine(name="idle_gpus")]))
    assert asker.answers == [ItemsFound(items=[3], searched=4, total=9), [RuleLine(name="idle_gpus")]]
    assert not asker.calls.are_waiting and not asker.problems


def test_an_answer_in_parts_is_over_with_the_last(asker):
    request = asker.ask(WALRUS)
    asker.take(answer_to(request, ItemsFound(items=[1], searched=1, total=2), more=True))
    asker.take(WorkerAnswer(id=request.id, progress=0.5))
    assert asker.calls.are_waiting and asker.shares == [0.5]
    asker.take(answer_to(request, ItemsFound(items=[2], searched=2, total=2)))
    asker.take(answer_to(request, ItemsFound(items=[9], searched=2, total=2)))
    assert [a.items for a in asker.answers] == [[1], [2]] and not asker.calls.are_waiting


def test_what_is_no_answer_is_passed_over(asker):
    request = asker.ask(ListRules())
    for line in (b"", b"\xff", b"[]", b"a library's words", b'{"id":null}', b'{"id":99,"ok":[]}'):
        asker.calls.take(line)
    assert asker.calls.are_waiting and not asker.answers + asker.problems
    asker.take(WorkerAnswer(id=request.id, ok=msgspec.Raw(b'[{"title":"no rule"}]')))
    assert [p.code for p in asker.problems] == [BAD_ANSWER] and "name" in asker.problems[0].sentence


def test_the_end_of_the_worker_answers_all_that_waits(asker):
    asker.ask(ListRules())
    asker.ask(WALRUS)
    asker.calls.end(Problem(code="worker_ended", sentence="It ended."))
    assert [p.sentence for p in asker.problems] == ["It ended."] * 2 and not asker.calls.are_waiting
    asker.ask(ListRules())
    asker.calls.forget()
    asker.calls.end(Problem(code="worker_ended", sentence="It ended."))
    assert len(asker.problems) == 2


def test_both_ends_together(asker):
    decoder = msgspec.json.Decoder(RulesRequest)

    def handle(request):
        if request.task == "absent":
            raise NotFound("no_task", "There is no such task.", task="absent")
        return [RuleLine(name=request.task)] if request.task else 1 / 0

    for task in ("t", "absent", ""):
        asker.ask(ListRules(task=task))
        answer_line(asker.sent[-1], decoder, handle, asker.take)
    assert asker.answers == [[RuleLine(name="t")]]
    assert [p.code for p in asker.problems] == ["no_task", "worker_failed"]
    error = asker.problems[0].error
    assert isinstance(error, NotFound) and error.params == {"task": "absent"}
    answer_line(b'{"id": 5, "do": "dance"}', decoder, handle, lambda answer: asker.answers.append(answer))
    assert asker.answers[-1].id == 5 and isinstance(asker.answers[-1].error.error, InvalidInput)
