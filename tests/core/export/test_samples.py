"""Which contexts become samples and what of them trains, on sessions as a runner writes them."""

from __future__ import annotations

import msgspec
import pytest
from support.logs import AGENT, PERSON, RULE, START, Maker

from core.domain.blob import blob_hash
from core.domain.context import MessageRef, delta_between
from core.domain.errors import NotFound
from core.domain.events import (
    GuidanceDelivered,
    GuidanceQueued,
    Placed,
    SessionCreated,
    StepAdded,
    SummaryAdded,
    VerdictGiven,
    decode_event,
    encode_event,
    make_event,
)
from core.domain.head import make_head
from core.domain.message import Message, decode_message, encode_message
from core.domain.step import Action, Observation, Output, StepBody, decode_body, encode_body
from core.domain.task import Task
from core.domain.trajectory import Trajectory, fold
from core.export.options import ExportOptions
from core.export.samples import SampleCollector
from core.llm.model import ToolSpec


class Blobs:
    def __init__(self, held):
        self.held = held

    def _get(self, name):
        if name not in self.held:
            raise NotFound("no_blob", f"No payload {name}.")
        return self.held[name]

    def message(self, name):
        return decode_message(self._get(name))

    def body(self, name):
        return decode_body(self.held[name]) if name in self.held else None

    def tools(self, name):
        return msgspec.json.decode(self._get(name), type=tuple[ToolSpec, ...]) if name else ()


def trajectory(bodies) -> Trajectory:
    return fold("s", [Placed(session="s", seq=n, body=b) for n, b in enumerate(bodies, 1)])


def collect(maker, **options):
    chosen = ExportOptions(**{"unjudged": "keep", **options})
    collector = SampleCollector(trajectory(maker.bodies), Blobs(maker.blobs), chosen)
    return list(collector.samples()), collector.refused


def steps_in(sample, *states):
    return [p.step for p in sample.parts if p.state in states]


@pytest.fixture
def maker() -> Maker:
    """Six steps, a summary, which carries the last two of them on, three steps more."""
    made = Maker(5)
    for _ in range(6):
        made.add_step(fails=False)
    made.summarise()
    for _ in range(3):
        made.add_step(fails=False)
    return made


def test_a_context_before_each_summary_the_summary_and_the_last_context(maker):
    samples, refused = collect(maker)
    assert [(s.kind, s.step) for s in samples] == [("react", 6), ("summary", 6), ("react", 9)]
    assert refused == []
    first, summary, _last = samples
    assert steps_in(first, "kept") == [1, 2, 3, 4, 5, 6]
    assert [p.message for p in first.parts[:-1]] == [decode_message(maker.blobs[r.hash])
                                                     for r in trajectory(maker.bodies).context(6)]
    assert [p.state for p in summary.parts[:-1]] == ["context"] * (len(summary.parts) - 1)
    assert summary.parts[-1].state == "summary"
    assert summary.parts[: len(first.parts)] != () and summary.parts[len(first.parts)].message.role == "tool"
    assert all(not s.rebuilt for s in samples)


def test_an_action_carried_past_a_summary_is_trained_once_or_in_each(maker):
    samples, _ = collect(maker)
    carried = steps_in(samples[2], "carried")
    assert carried and set(carried) <= {1, 2, 3, 4, 5, 6}
    assert steps_in(samples[2], "kept") == [7, 8, 9]
    again, _ = collect(maker, overlap="each")
    assert steps_in(again[2], "kept") == [*carried, 7, 8, 9]


def test_an_action_whose_sample_was_refused_is_trained_where_it_was_carried_to(maker):
    collector = SampleCollector(trajectory(maker.bodies), Blobs(maker.blobs), ExportOptions(unjudged="keep"))
    samples = collector.samples()
    first = next(samples)
    collector.give_back(first)
    last = list(samples)[-1]
    carried = steps_in(collect(maker)[0][2], "carried")
    assert steps_in(last, "kept") == [*carried, 7, 8, 9] and steps_in(last, "carried") == []
    assert [(r.step, r.code) for r in collector.refused] == [
        (n, "in_a_refused_sample") for n in (1, 2, 3, 4, 5, 6) if n not in carried]


def test_an_action_that_an_earlier_sample_trains_is_not_left_out_where_a_later_one_is_refused(maker):
    options = ExportOptions(unjudged="keep", overlap="each")
    collector = SampleCollector(trajectory(maker.bodies), Blobs(maker.blobs), options)
    for sample in collector.samples():
        if 9 in steps_in(sample, "kept"):
            assert len(steps_in(sample, "kept")) > 3
            collector.give_back(sample)
    assert [(r.step, r.code) for r in collector.refused] == [(n, "in_a_refused_sample") for n in (7, 8, 9)]


def test_the_summary_in_a_later_context_is_not_an_action(maker):
    last = collect(maker)[0][2]
    summaries = [p for p in last.parts if p.message.role == "assistant" and p.step is None]
    assert summaries and all(p.state == "context" for p in summaries)


def test_verdicts_mask_persons_decide_and_authors_can_be_ignored(maker):
    maker.say(VerdictGiven(step=2, value="mask", reason="x"), RULE)
    maker.say(VerdictGiven(step=3, value="mask", reason="x"), RULE)
    maker.say(VerdictGiven(step=3, value="keep"), PERSON)
    first = collect(maker)[0][0]
    assert steps_in(first, "masked") == [2] and 3 in steps_in(first, "kept")
    assert steps_in(collect(maker, ignored=("rule:null_action",))[0][0], "masked") == []
    assert steps_in(collect(maker, ignored=("rule",))[0][0], "masked") == []
    assert 3 not in steps_in(collect(maker, ignored=("person",))[0][0], "kept")
    assert steps_in(collect(maker, verdicts="none")[0][0], "masked") == []


def test_what_a_person_wrote_in_the_agents_place_is_marked_and_trains_or_not(maker):
    place = next(i for i, body in enumerate(maker.bodies) if isinstance(decode_event(body).fact, StepAdded))
    event = decode_event(maker.bodies[place])
    head = msgspec.structs.replace(event.fact.head, author="Ada")
    maker.bodies[place] = encode_event(msgspec.structs.replace(event, fact=msgspec.structs.replace(
        event.fact, head=head, asked="e1")))
    first = collect(maker)[0][0]
    assert steps_in(first, "kept") == [1, 2, 3, 4, 5, 6] and first.people == {"1": "Ada"}
    for verdicts in ("final", "none"):
        first = collect(maker, taken_over="mask", verdicts=verdicts)[0][0]
        assert steps_in(first, "masked") == [1] and first.people == {"1": "Ada"}
    assert not collect(maker)[0][-1].people.keys() - {"1"}


def test_an_action_that_the_context_holds_otherwise_than_it_was_written_is_not_trained():
    maker = Maker(1)
    maker.add_step(fails=False)
    place = next(i for i, r in enumerate(maker._context) if r.source == "step:1")
    maker._context[place] = maker._ref(Message(role="assistant", content="[cut]"), "step:1")
    maker.add_step(fails=False)
    samples, refused = collect(maker)
    assert steps_in(samples[0], "changed") == [1] and steps_in(samples[0], "kept") == [2]
    assert [(r.code, r.step) for r in refused] == [("not_in_a_sample", 1)]


def test_a_missing_message_refuses_its_sample_and_says_which(maker):
    lost = trajectory(maker.bodies).step(9).completion.hash
    del maker.blobs[lost]
    samples, refused = collect(maker)
    assert [(s.kind, s.step) for s in samples] == [("react", 6), ("summary", 6)]
    assert refused[0].code == "no_blob" and refused[0].sample == "s/react-9"
    assert [r.step for r in refused[1:]] == [7, 8, 9]


def test_two_summaries_in_a_row_give_one_context(maker):
    maker.summarise()
    samples, _ = collect(maker)
    maker.step += 0
    assert [(s.kind, s.step) for s in samples] == [("react", 6), ("summary", 6), ("react", 9), ("summary", 9)]


def test_a_summary_that_the_program_wrote_gives_no_sample():
    maker = Maker(2)
    maker.add_step(fails=False)
    maker.say(SummaryAdded(id="m", first=1, last=1, text="mechanical"))
    samples, refused = collect(maker)
    assert [s.kind for s in samples] == ["react"] and [r.code for r in refused] == ["no_context"]


def test_tools_are_those_that_the_log_names():
    maker = Maker(4)
    maker.add_step(fails=False)
    tools = (ToolSpec(name="run_command"),)
    name = maker.keep(msgspec.json.encode(tools))
    fact = msgspec.structs.replace(maker.add_step(fails=False), tools=name)
    maker.bodies[-1] = encode_event(make_event(fact, AGENT, at=START))
    assert collect(maker)[0][0].tools == tools


class Bare:
    """A session as most foreign formats give it: bodies, and no word of the contexts."""

    def __init__(self):
        self.bodies, self.blobs = [], {}

    def say(self, fact, author=AGENT):
        self.bodies.append(encode_event(make_event(fact, author, at=START)))

    def step(self, number, **told):
        action = Action(call_id=f"c{number}", tool="run_command", arguments={"command": f"ls {number}"})
        seen = Observation(call_id=action.call_id, output=Output(text=f"out {number}"))
        body = StepBody(number=number, thought=f"thought {number}", actions=(action,), observations=(seen,))
        data = encode_body(body)
        self.blobs[blob_hash(data)] = data
        self.say(StepAdded(head=make_head(body), body=blob_hash(data), **told))


def test_contexts_that_are_not_in_the_log_are_rebuilt_from_the_steps_and_say_so():
    bare = Bare()
    bare.say(SessionCreated(task=Task(id="t", title="T", description="Do it."), origin="foreign"))
    bare.step(1)
    bare.say(GuidanceQueued(guidance="g", text="careful"), PERSON)
    bare.say(GuidanceDelivered(guidance="g", step=2))
    bare.step(2)
    [sample], refused = collect(bare)
    assert sample.rebuilt and refused == []
    assert [(p.message.role, p.message.content) for p in sample.parts] == [
        ("user", "Do it."), ("assistant", "thought 1"), ("tool", "out 1"), ("user", "<real_user>careful</real_user>"),
        ("assistant", "thought 2")]
    assert steps_in(sample, "kept") == [1, 2]
    assert sample.parts[1].message.tool_calls[0].arguments == '{"command":"ls 1"}'


@pytest.mark.parametrize("source", ["", "approximate"])
def test_a_last_step_without_an_answer_leaves_the_context_before_it(source):
    bare = Bare()
    bare.say(SessionCreated(task=Task(id="t", title="T", description="Do it."), origin="foreign"))

    def ref(role, text):
        data = encode_message(Message(role=role, content=text))
        bare.blobs[blob_hash(data)] = data
        return MessageRef(hash=blob_hash(data), role=role, source=source)

    first = [ref("system", "Be good."), ref("user", "Do it.")]
    bare.step(1, context=delta_between([], first), completion=ref("assistant", "one"))
    bare.step(2, context=delta_between(first, []))
    [sample], refused = collect(bare)
    assert [p.message.content for p in sample.parts] == ["Be good.", "Do it.", "one"]
    assert steps_in(sample, "kept") == [1] and sample.rebuilt == (source == "approximate")
    assert [(r.code, r.step) for r in refused] == [("not_in_a_sample", 2)]


def test_foreign_contexts_without_sources_are_matched_by_what_the_model_wrote():
    bare = Bare()
    bare.say(SessionCreated(task=Task(id="t", title="T", description="Do it."), origin="foreign"))

    def ref(message):
        data = encode_message(message)
        bare.blobs[blob_hash(data)] = data
        return MessageRef(hash=blob_hash(data), role=message.role)

    same = ref(Message(role="assistant", content="sleep 60"))
    shot = ref(Message(role="assistant", content="an example of the prompt"))
    first = [ref(Message(role="user", content="Do it.")), shot]
    bare.step(1, context=delta_between([], first), completion=same)
    second = [*first, same, ref(Message(role="user", content="ok"))]
    bare.step(2, context=delta_between(first, second), completion=same)
    bare.say(VerdictGiven(step=1, value="mask"), PERSON)
    [sample], _ = collect(bare)
    assert [(p.step, p.state) for p in sample.parts if p.message.role == "assistant"] == [
        (None, "context"), (1, "masked"), (2, "kept")]
