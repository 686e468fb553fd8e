"""A made-up session for the pictures of the manual: an agent trains a classifier, errs, is guided, and is judged.

Everything in it is invented; the log is such as a runner would have written.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from core.domain.blob import blob_hash
from core.domain.context import MessageRef, delta_between
from core.domain.events import (
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
    TimeSpent,
    VerdictGiven,
    encode_event,
    make_event,
)
from core.domain.head import make_head
from core.domain.message import Message, ToolCall, encode_message
from core.domain.step import Action, ActionError, Observation, Output, StepBody, Usage, encode_body
from core.domain.task import AgentSettings, ModelSettings, Task
from core.domain.verdict import Author

AGENT, SERVER = Author(kind="agent", name="runner"), Author(kind="server", name="server")
LI, WANG = Author(kind="person", name="li"), Author(kind="person", name="wang")
EDIT, LOOP = Author(kind="rule", name="blind_edit", version="2"), Author(kind="rule", name="repeated_call", version="1")
JUDGE = Author(kind="judge", name="paper", version="1")
FAMILIES = {"run_command": "command", "edit_file": "file", "open_file": "file", "sleep": "control"}

TRAIN = ("import argparse\n\nfrom data import load\nfrom model import Classifier\n\n\ndef main() -> None:\n"
         "    args = parse()\n    train, test = load(args.folder)\n    model = Classifier(width=64)\n"
         "    for epoch in range(args.epochs):\n        model.fit(train, rate=0.5)\n"
         "        print(epoch, model.accuracy(test))\n\n\nif __name__ == \"__main__\":\n    main()\n")
FIXED = TRAIN.replace("train, test = load(args.folder)", "train, held_out = load(args.folder, split=0.8)").replace(
    "rate=0.5", "rate=0.02").replace("model.accuracy(test)", "model.accuracy(held_out)")
LAST = FIXED.replace("width=64", "width=256").replace("range(args.epochs)", "range(args.epochs)  # stops early")


START = datetime(2026, 3, 2, 9, 4, tzinfo=UTC)


@dataclass
class Story:
    """Writes the log; `bodies` and `blobs` are what a runner would have sent."""

    task: str = "reviews"
    title: str = "Train a review classifier"
    model: str = "qwen3-32b"
    bodies: list[bytes] = field(default_factory=list)
    blobs: dict[str, bytes] = field(default_factory=dict)
    at: datetime = START
    step: int = 0
    offset: int = 0
    context: list[MessageRef] = field(default_factory=list)
    logged: list[MessageRef] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)

    def say(self, fact: Fact, author: Author = AGENT, after_s: float = 2.0) -> None:
        """The next event, so many seconds later."""
        self.at += timedelta(seconds=after_s)
        self.bodies.append(encode_event(make_event(fact, author, at=self.at)))

    def store_blob(self, data: bytes) -> str:
        """A payload's name."""
        self.blobs[blob_hash(data)] = data
        return blob_hash(data)

    def enter(self, message: Message, source: str) -> None:
        """A message enters the context."""
        tokens = 4 + len(message.content) // 4
        self.context.append(MessageRef(hash=self.store_blob(encode_message(message)), role=message.role, tokens=tokens,
                                       source=source))

    def begin(self) -> None:
        """The task, and a running agent."""
        task = Task(id=self.task, title=self.title, description="Train a classifier for the reviews in data/. "
                    "Choose everything on the training split; the test split is for the evaluator alone.")
        model = ModelSettings(kind="openai", name=self.model, base_url="https://models.example.org/v1")
        self.say(SessionCreated(task=task, agent=AgentSettings(model=model)), SERVER)
        self.say(SessionStateChanged(state="running"))
        self.enter(Message(role="system", content="You are a careful researcher. " * 30), "task")
        self.enter(Message(role="user", content=task.description), "task")

    def act(self, tool: str, arguments: dict[str, object], thought: str, output: str, *, code: int = 0,
            seconds: float = 8.0, file: tuple[str, str] | None = None, guidance: str = "") -> None:
        """One step with all that it leaves behind."""
        self.step += 1
        self.say(StepStarted(number=self.step, guidance=(guidance,) if guidance else ()))
        if guidance:
            self.say(GuidanceDelivered(guidance=guidance, step=self.step))
        started, self.at = self.at, self.at + timedelta(seconds=seconds)
        action = Action(call_id=f"c{self.step}", tool=tool, arguments={**arguments, "computer_ip": "gpu-1"},
                        family=FAMILIES.get(tool, "other"))  # type: ignore[arg-type]
        data = output.encode()
        error = ActionError(kind="exit_code", message=f"The command ended with exit code {code}.") if code else None
        seen = Observation(call_id=action.call_id, exit_code=code, error=error, started_at=started, ended_at=self.at,
                           status="failed" if code else "finished",
                           output=Output(text=output, total_chars=len(output), terminal="gpu-1/main",
                                         start=self.offset, end=self.offset + len(data)))
        body = StepBody(number=self.step, thought=thought, actions=(action,), observations=(seen,), model=self.model)
        self._leave(body, action, data, file)

    def _leave(self, body: StepBody, action: Action, data: bytes, file: tuple[str, str] | None) -> None:
        shown = f"\x1b[32magent@gpu-1\x1b[0m:~$ {action.arguments.get('command', action.tool)}\r\n".encode()
        shown += data.replace(b"\n", b"\r\n")
        self.say(TerminalOutput(host="gpu-1", terminal="main", offset=self.offset, size=len(shown), data=shown))
        self.offset += len(shown)
        if file is not None:
            path, text = file
            after = self.store_blob(text.encode())
            self.say(FileChanged(host="gpu-1", path=path, before=self.files.get(path, ""), after=after,
                                 size=len(text), step=self.step))
            self.files[path] = after
        delta, self.logged = delta_between(self.logged, self.context), list(self.context)
        usage = Usage(input_tokens=sum(r.tokens for r in self.logged), output_tokens=90 + 7 * (self.step % 9),
                      cost_usd=0.004 + 0.0001 * self.step)
        seen = body.observations[0]
        head = make_head(body, usage=usage, started_at=seen.started_at, ended_at=seen.ended_at)
        call = ToolCall(id=action.call_id, name=action.tool, arguments=json.dumps(action.arguments))
        self.enter(Message(role="assistant", content=body.thought, tool_calls=(call,)), f"step:{self.step}")
        self.say(StepAdded(head=head, body=self.store_blob(encode_body(body)), context=delta,
                           completion=self.context[-1], terminals={"gpu-1/main": self.offset}))
        self.enter(Message(role="tool", content=seen.output.text, tool_call_id=action.call_id), f"step:{self.step}")

    def guide(self, name: str, text: str, author: Author = LI) -> None:
        """A person writes to the agent."""
        self.say(GuidanceQueued(guidance=name, text=text), author, after_s=40)
        self.enter(Message(role="user", content=f"<real_user>{text}</real_user>"), f"guidance:{name}")

    def summarise(self, text: str, last: int) -> None:
        """A summary takes the place of the older half."""
        asked = Message(role="user", content="Summarise what you did so far.")
        before = list(self.context)
        self.enter(asked, "note")
        written = delta_between(self.logged, self.context)
        name = self.store_blob(encode_message(Message(role="assistant", content=text)))
        answer = MessageRef(hash=name, role="assistant", tokens=60, source="summary:s1")
        self.say(SummaryAdded(id="s1", first=1, last=last, text=text, context=written, completion=answer))
        self.context = [*before[:2], answer, *before[-6:]]


def make_story(seed: int = 0, at: datetime = START) -> Story:
    """The whole story, begun `at`. Another `seed` gives a run that goes another way after step 6."""
    story = Story(model=("qwen3-32b", "glm-4.6")[seed % 2], at=at)
    story.begin()
    run = story.act
    run("run_command", {"command": "ls -la && head -3 data/train.csv"}, "I look at what is there.",
        "total 24\n-rw-r--r-- data/train.csv\n-rw-r--r-- data/test.csv\n-rw-r--r-- train.py\ntext,label\n"
        "\"arrived broken\",0\n\"works as promised\",1\n")
    run("open_file", {"path": "train.py"}, "The training script comes first.", TRAIN, file=("train.py", TRAIN))
    story.say(SearchMade(query="learning rate small text classifier", engine="web", step=2, results=tuple(
        SearchResult(title=f"Tuning text classifiers, part {i}", link=f"https://example.org/tuning/{i}",
                     snippet="Start low, and raise the rate only while the loss falls.", position=i) for i in (1, 2))))
    for rate in (0.5, 0.5, 0.5):
        run("run_command", {"command": "python train.py --epochs 3"}, f"I try the rate {rate} once more.",
            "0 0.51\n1 0.49\nTraceback (most recent call last):\n  File \"train.py\", line 12, in main\n"
            "OverflowError: loss is not finite\n", code=1, seconds=41)
    run("run_command", {"command": "python train.py --epochs 3 --folder data/test.csv"},
        "The test file is smaller: perhaps it trains better.", "0 0.93\n1 0.97\n2 0.99\n", seconds=35)
    story.say(AttentionRaised(kind="loop", step=story.step), SERVER)
    if not seed:
        story.guide("g1", "You train on the test split: that is not allowed. Hold out a fifth of the training split "
                          "instead, and lower the learning rate, the loss overflows.")
    run("edit_file", {"path": ("train.py", "config.yaml")[seed]},
        "I hold out a fifth of the training split and lower the rate.",
        "1 file changed, 3 insertions(+), 3 deletions(-)\n",
        file=(("train.py", "config.yaml")[seed], FIXED), guidance="" if seed else "g1")
    if not seed:
        story.say(GuidanceAnswered(guidance="g1", step=story.step))
    run("run_command", {"command": "nohup python train.py --epochs 40 > train.log &"}, "The long run goes into the "
        "background.", "[1] 4121\n")
    for minute in range(6):
        run("sleep", {"sleep_time": 300}, "It needs time.", f"epoch {6 * minute + 5}\n", seconds=300)
    run("run_command", {"command": "tail -4 train.log"}, "I read how it went.",
        "36 0.871\n37 0.873\n38 0.874\n39 0.874\n", seconds=3)
    story.say(SubmissionMade(ordinal=1, step=story.step, blob=story.store_blob(b"weights")))
    story.say(ScoreGiven(ordinal=1, step=story.step, total=61.5, parts={"accuracy": 61.5}, message="better"), SERVER)
    story.summarise("The script overflowed at rate 0.5. I now hold out a fifth of the training split, train at 0.02 "
                    "and reach 0.874 on it; the first submission scored 61.5.", 8)
    if not seed:
        story.guide("g2", "Good. A wider model may help now; look at the loss every few epochs.")
    run("edit_file", {"path": "train.py"}, "I widen the model.", "1 file changed\n", file=("train.py", LAST),
        guidance="" if seed else "g2")
    for epoch in range(8):
        run("run_command", {"command": f"python train.py --epochs {5 + epoch} --seed {epoch}"},
            "I look at the loss every few epochs." if epoch % 2 else "Another seed, the same settings.",
            "".join(f"{e} {0.80 + 0.012 * e + 0.002 * epoch:.3f}\n" for e in range(5 + epoch)), seconds=30 + 12 * epoch)
    story.say(SubmissionMade(ordinal=2, step=story.step, blob=story.store_blob(b"weights 2")))
    total = (78.0, 66.0)[seed]
    story.say(ScoreGiven(ordinal=2, step=story.step, total=total, parts={"accuracy": total}, message="good"), SERVER)
    _judged(story)
    if not seed:
        story.guide("g3", "Write down which seed was best before you finish.")
        story.context.pop()  # it waits for the next step
    else:
        story.say(SessionStateChanged(state="finished", reason="finished"))
    return story


def make_tour(at: datetime, task: str) -> Story:
    """The demonstration as it stands when its agent is about to read the test data; step 5 is at work."""
    story = Story(task=task, title="Label product reviews (demonstration)", model="scripted", at=at)
    story.begin()
    story.act("run_command", {"command": "python train.py --epochs 3"}, "A first run.", "0 0.51\n1 0.58\n2 0.66\n",
              seconds=24)
    story.say(SubmissionMade(ordinal=1, step=1, blob=story.store_blob(b"labels")))
    story.say(ScoreGiven(ordinal=1, step=1, total=66.0, parts={"accuracy": 66.0}, message="first labels"), SERVER)
    story.act("open_file", {"path": "train.py"}, "Which rate does it take?", TRAIN)
    story.act("edit_file", {"path": "train.py"}, "A lower rate.", "1 file changed\n", file=("train.py", FIXED))
    story.act("run_command", {"command": "python eval.py --split test"}, "How good is it on the test data?",
              "eval.py: error: test split is locked until finish\n", code=2, seconds=1)
    story.say(StepStarted(number=5))
    return story


def _judged(story: Story) -> None:
    for step, value, author, reason in (
        (4, "mask", LOOP, "the same failing call as step 3"), (5, "mask", LOOP, "the same failing call as step 4"),
        (6, "mask", JUDGE, "Trains on the test split, against the task's own words."),
        (7, "mask", EDIT, "edits train.py, which it opened 5 steps before"),
        (1, "keep", LI, ""), (2, "keep", LI, ""), (3, "keep", LI, "a fair first try"),
        (4, "mask", LI, "Repeats what failed"),
        (5, "mask", LI, "Repeats what failed"), (6, "mask", LI, "Uses data that it must not use"),
        (7, "keep", LI, "Follows guidance well"), (1, "keep", WANG, ""), (3, "mask", WANG, "Acts on a wrong belief"),
        (4, "mask", WANG, ""), (6, "mask", WANG, ""), (7, "keep", WANG, ""), (8, "unsure", WANG, "")):
        story.say(VerdictGiven(step=step, value=value, reason=reason), author)  # type: ignore[arg-type]
    story.say(NoteAdded(step=6, text="The turning point: from here on it would have scored on what it trained on."), LI)
    story.say(TagSet(step=6, tag="leak"), LI)
    story.say(TagSet(step=7, tag="turning point"), LI)
    story.say(TimeSpent(seconds={1: 6, 2: 9, 3: 14, 4: 4, 5: 3, 6: 41, 7: 22}), LI)
    story.say(TimeSpent(seconds={1: 5, 3: 31, 4: 8, 6: 12, 7: 9, 8: 17}), WANG)
