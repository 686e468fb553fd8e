"""Random but valid logs: what a real runner could have written, the same for the same seed.

    bodies, blobs = make_session(steps=50, guidance=5, seed=7)
    writer.do_blocking(lambda conn: fill(conn, "s1", bodies, blobs))
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from core.domain.blob import blob_hash
from core.domain.context import MessageRef, delta_between
from core.domain.events import (
    AttentionCleared,
    AttentionRaised,
    Fact,
    FileChanged,
    GuidanceAnswered,
    GuidanceDelivered,
    GuidanceQueued,
    NoteAdded,
    ScoreGiven,
    SearchMade,
    SearchResult,
    SessionCreated,
    SessionStateChanged,
    StepAdded,
    StepStarted,
    SubmissionMade,
    SummaryAdded,
    TagSet,
    TerminalOutput,
    VerdictGiven,
    encode_event,
    make_event,
)
from core.domain.head import make_head
from core.domain.message import Message, ToolCall, encode_message
from core.domain.step import Action, ActionError, Observation, Output, StepBody, Usage, encode_body
from core.domain.task import AgentSettings, ModelSettings, Task
from core.domain.verdict import Author

START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
AGENT, PERSON = Author(kind="agent", name="runner"), Author(kind="person", name="li")
RULE, SERVER = Author(kind="rule", name="null_action", version="1"), Author(kind="server", name="server")

_WORDS = (
    "loader", "checkpoint", "gradient", "tokenizer", "epoch", "batch", "baseline", "accuracy", "dataset", "shard",
    "warmup", "cosine", "evaluate", "reproduce", "ablation", "overfit", "seed", "café", "naïve", "Größe",
    "训练", "检查点", "损坏", "学习率", "数据集", "评测",
)
_COMMANDS = ("python train.py --epochs {n}", "pytest -q tests/test_{n}.py", "nvidia-smi -i {n}", "ls -la data/part-{n}",
             "grep -rn learning_rate src | head -{n}", "echo '<b>not markup</b> {n}'")


class Maker:
    """Writes one session step by step; `bodies` and `blobs` are what a runner would have sent."""

    def __init__(self, seed: int = 0, title: str = "Reproduce the baseline", task: str = "",
                 kind: str = "own") -> None:
        self.random = random.Random(seed)
        self.bodies: list[bytes] = []
        self.blobs: dict[str, bytes] = {}
        self.at = START + timedelta(days=seed % 365)
        self.step = 0
        self._offset = 0
        self._files: dict[str, str] = {}
        self._context: list[MessageRef] = []
        self._logged: list[MessageRef] = []
        self._reasoning = ""
        self._waiting: list[tuple[str, str]] = []
        self._seen: list[Message] = []
        what = Task(id=task or f"task_{seed}", title=title, description=self.text(30))
        model = ModelSettings(kind="scripted", name="scripted-1")
        self.say(SessionCreated(task=what, agent=AgentSettings(kind=kind, model=model)), SERVER)
        self.say(SessionStateChanged(state="running"))
        self._enter(Message(role="system", content="You are a careful researcher."), "task")
        self._enter(Message(role="user", content=what.description), "task")

    def say(self, fact: Fact, author: Author = AGENT) -> None:
        """Add an event, some seconds later."""
        self.at += timedelta(seconds=self.random.randrange(1, 30))
        made = uuid.UUID(int=self.random.getrandbits(128), version=4)
        self.bodies.append(encode_event(make_event(fact, author, at=self.at, id=str(made))))

    def text(self, words: int) -> str:
        """So many words."""
        return " ".join(self.random.choices(_WORDS, k=words))

    def keep(self, data: bytes) -> str:
        """Keep a blob."""
        name = blob_hash(data)
        self.blobs[name] = data
        return name

    def guide(self, text: str = "") -> str:
        """Queue guidance; the next step delivers it."""
        guidance = f"g{len(self.bodies)}-{self.random.getrandbits(32):08x}"
        text = text or self.text(8)
        self.say(GuidanceQueued(guidance=guidance, text=text), PERSON)
        self._waiting.append((guidance, text))
        return guidance

    def add_step(self, tool: str = "run_command", fails: bool | None = None, reasoning: str = "") -> StepAdded:
        """One whole step with its terminal output and, now and then, a file or a search."""
        self.step += 1
        self._reasoning = reasoning
        self._enter_observation()
        delivered, self._waiting = self._waiting, []
        for guidance, text in delivered:
            self._enter(Message(role="user", content=f"<real_user>{text}</real_user>"), f"guidance:{guidance}")
        self.say(StepStarted(number=self.step, guidance=tuple(g for g, _ in delivered)))
        for guidance, _ in delivered:
            self.say(GuidanceDelivered(guidance=guidance, step=self.step))
        body = self._body(tool, self.random.random() < 0.1 if fails is None else fails)
        self._side_effects(body)
        fact = self._step_fact(body)
        self.say(fact)
        for guidance, _ in delivered:
            self.say(GuidanceAnswered(guidance=guidance, step=self.step))
        return fact

    def summarise(self, name: str = "") -> None:
        """Put a summary in place of all but the last few messages of the context."""
        id_ = name or f"sum{self.step}"
        self._enter_observation()
        asked = Message(role="user", content="Summarise your work so far.")
        written = [*self._context, self._ref(asked, "note")]
        text = self.text(20)
        answer = self._ref(Message(role="assistant", content=text), f"summary:{id_}")
        self.say(SummaryAdded(id=id_, first=1, last=max(1, self.step // 2), text=text,
                              context=delta_between(self._logged, written), completion=answer))
        self._context = [*self._context[:2], answer, *self._context[-4:]]

    def judge(self) -> None:
        """A verdict by a rule and, sometimes, a person's verdict, note and tag on a random step."""
        step = self.random.randint(1, self.step)
        self.say(VerdictGiven(step=step, value=self.random.choice(("keep", "mask")), reason="null action"), RULE)
        if self.random.random() < 0.6:
            self.say(VerdictGiven(step=step, value=self.random.choice(("keep", "mask", "unsure", "none"))), PERSON)
            self.say(NoteAdded(step=step, text=self.text(5)), PERSON)
            self.say(TagSet(step=step, tag="interesting", on=self.random.random() < 0.7), PERSON)

    def finish(self, score: float = 73.0) -> None:
        """Hand in, be scored, end."""
        self.say(SubmissionMade(ordinal=1, step=self.step, blob=self.keep(b"submission")))
        self.say(ScoreGiven(ordinal=1, step=self.step, total=score, parts={"accuracy": score}), SERVER)
        self.say(AttentionRaised(kind="finished", step=self.step), SERVER)
        self.say(AttentionCleared(kind="finished"), PERSON)
        self.say(SessionStateChanged(state="finished", reason="finished"))

    def _body(self, tool: str, fails: bool) -> StepBody:
        command = self.random.choice(_COMMANDS).format(n=self.random.randint(1, 99))
        output = "\n".join(self.text(6) for _ in range(self.random.randint(1, 12))) + "\n"
        action = Action(call_id=f"c{self.step}", tool=tool, family="command",
                        arguments={"command": command, "computer_ip": "main"})
        self.at += timedelta(seconds=2)
        seen = Observation(
            call_id=action.call_id, exit_code=1 if fails else 0, started_at=self.at,
            ended_at=self.at + timedelta(seconds=1),
            error=ActionError(kind="exit_code", message="The command ended with exit code 1.") if fails else None,
            output=Output(text=output, total_chars=len(output), terminal="main/main", start=self._offset,
                          end=self._offset + len(output.encode())),
        )
        return StepBody(number=self.step, thought=self.text(15), actions=(action,), observations=(seen,),
                        model="scripted-1", finish_reason="tool_calls")

    def _side_effects(self, body: StepBody) -> None:
        data = body.observations[0].output.text.encode()
        self.say(TerminalOutput(host="main", terminal="main", offset=self._offset, size=len(data), data=data))
        self._offset += len(data)
        if self.random.random() < 0.3:
            path = f"src/module_{self.random.randint(1, 5)}.py"
            content = self.text(40).encode()
            after = self.keep(content)
            self.say(FileChanged(host="main", path=path, before=self._files.get(path, ""), after=after,
                                 size=len(content), step=self.step))
            self._files[path] = after
        if self.random.random() < 0.1:
            found = SearchResult(title=self.text(4), link="https://example.org/a", snippet=self.text(9), position=1)
            self.say(SearchMade(query=self.text(3), engine="web", step=self.step, results=(found,)))

    def _step_fact(self, body: StepBody) -> StepAdded:
        seen = body.observations[0]
        calls = self._calls(body)
        answer = Message(role="assistant", content=body.thought, tool_calls=calls, reasoning=self._reasoning)
        completion = self._ref(answer, f"step:{self.step}")
        delta, self._logged = delta_between(self._logged, self._context), list(self._context)
        self._context.append(completion)
        self._seen = [Message(role="tool", content=o.output.text, tool_call_id=o.call_id) for o in body.observations]
        usage = Usage(input_tokens=sum(r.tokens for r in self._logged), output_tokens=completion.tokens, cost_usd=0.001)
        head = make_head(body, usage=usage, started_at=seen.started_at, ended_at=seen.ended_at)
        return StepAdded(head=head, body=self.keep(encode_body(body)), context=delta, completion=completion,
                         terminals={"main/main": self._offset})

    def _calls(self, body: StepBody) -> tuple[ToolCall, ...]:
        """The calls as the model wrote them."""
        return tuple(ToolCall(id=a.call_id, name=a.tool, arguments='{"command": "…"}') for a in body.actions)

    def _enter_observation(self) -> None:
        """The last step's observation is in a context once there is a next one."""
        for seen in self._seen:
            self._enter(seen, f"step:{self.step}")
        self._seen = []

    def _enter(self, message: Message, source: str) -> None:
        self._context.append(self._ref(message, source))

    def _ref(self, message: Message, source: str) -> MessageRef:
        tokens = len(message.content) // 4 + 1
        return MessageRef(hash=self.keep(encode_message(message)), role=message.role, tokens=tokens, source=source)


def make_session(
    steps: int = 20, guidance: int = 3, seed: int = 0, *, finished: bool = True
) -> tuple[list[bytes], dict[str, bytes]]:
    """The event bodies of a whole session, in order, and its blobs by hash."""
    maker = Maker(seed)
    guided = sorted(maker.random.randint(1, max(1, steps)) for _ in range(guidance))
    for number in range(1, steps + 1):
        for _ in range(guided.count(number)):
            maker.guide()
        maker.add_step(tool="sleep" if maker.random.random() < 0.15 else "run_command")
        if number % 15 == 0:
            maker.summarise()
        if maker.random.random() < 0.2:
            maker.judge()
    if finished and steps:
        maker.finish()
    return maker.bodies, maker.blobs


def fill(conn, session: str, bodies: Sequence[bytes], blobs: Mapping[str, bytes]) -> int:
    """Store a made session as the server would; returns the head. Call inside a transaction."""
    from core.store import blobs as store
    from core.store import log

    log.create(conn, session)
    for data in blobs.values():
        store.put(conn, data)
    return log.append(conn, session, bodies)
