"""What the program says that speaks with an external agent beside its model endpoint: of leave, turns, plans, edits,
printed output, and the end (`core.gateway.acp`, `tiphys attach`).

Whoever holds the session's token can say it, the agent in a sandbox too: it is shown as the agent's own words, each
bounded, and so many a step. Only an attached agent tells its end, and what it edited: a sandbox is looked at itself.
"""

import logging
from collections.abc import Awaitable, Callable
from typing import Annotated

import msgspec

from core.actions.follow import INLINE, OutputBudget
from core.agents.delivery import Inbox
from core.agents.held_words import LeaveAsked
from core.agents.line_session import LineSession
from core.agents.signals import Signals
from core.domain.errors import InvalidInput
from core.domain.events import FileChanged, NoteAdded, TerminalOutput
from core.domain.ids import new_id

log = logging.getLogger("agent")

PREFIX = "/tiphys/"
WORD_FIELD = "x-tiphys-word"
PRINTED = "commands"
"""The terminal that shows what the agent says that its commands printed."""
MOST_NOTE, MOST_TEXT = 20_500, 4 << 20
MOST_A_STEP = 200
"""Notes and edits that are taken of one step."""
_LOST = ("The agent was ended before it had written its conversation down. It begins another one, in which it is told "
         "what it did. Why it could not take up its own: ")

_Note = Annotated[str, msgspec.Meta(max_length=MOST_NOTE)]
_Content = Annotated[str, msgspec.Meta(max_length=MOST_TEXT)]


class Edit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file that the agent says it has changed; `before` is None where there was none."""

    path: Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]
    after: _Content
    before: _Content | None = None
    size: Annotated[int, msgspec.Meta(ge=0, lt=1 << 53)] = 0
    too_large: bool = False
    is_partial: bool = False


class AgentWords:
    """Takes the words of one session's agent."""

    def __init__(self, main: LineSession, inbox: Inbox, signals: Signals, *, host: str, is_attached: bool,
                 speaks_acp: bool, stays: bool, is_over: Callable[[], bool],
                 on_leave: Callable[[LeaveAsked | None], None], on_waits: Callable[[bool], None],
                 on_ended: Callable[[int], None]) -> None:
        """`stays`: the agent waits for advice after its turns whatever it says itself. `on_leave` shows what leave is
        asked for, None once that is answered, `on_waits` that it has ended its turn and waits for advice; `on_ended`
        takes the exit status."""
        self._main, self._inbox, self._signals, self._host = main, inbox, signals, host
        self._stays, self._is_over, self._on_leave, self._on_ended = stays, is_over, on_leave, on_ended
        self._on_waits = on_waits
        self._budget = OutputBudget()
        self._asks, self._is_refused = False, False
        self._taken, self._lost_at = (-1, 0), -1
        speaks = is_attached or speaks_acp
        shown: dict[str, Callable[[bytes], None]] = {"note": self._note, "plan": self._plan, "printed": self._print}
        self._facts = (shown if speaks else {}) | (
            {"edit": self._edit, "ended": self._end} if is_attached else {})
        self._questions: dict[str, Callable[[bytes], Awaitable[object]]] = {
            "leave": self._leave, "turn": self._turn, "before": self._before} if speaks else {}

    def knows(self, path: str) -> bool:
        """Whether this is a word that is taken here."""
        return path.startswith(PREFIX) and path.removeprefix(PREFIX) in {*self._facts, *self._questions}

    async def take(self, path: str, raw: bytes, name: str) -> bytes:
        """A word; gives what is answered. One of a `name` that came before has no effect. Raises InvalidInput."""
        what, journal = path.removeprefix(PREFIX), self._main.journal
        try:
            if what in self._questions:
                return msgspec.json.encode(await self._questions[what](raw))
            if not name or journal.slot("agent_word", str) != name:
                with journal.transaction("agent's word"):
                    self._facts[what](raw)
                    journal.put_slot("agent_word", name)
        except msgspec.MsgspecError as error:
            raise InvalidInput("bad_request_body", f"{path} was told what is not understood: {error}") from error
        return b"{}"

    def refuse(self) -> bool:
        """A person refuses what leave is asked for now; False where it is asked for nothing."""
        self._is_refused = self._asks
        self._signals.ring()
        return self._asks

    # ---- what is shown

    @property
    def _step(self) -> int:
        steps = self._main.steps
        return steps.open.number if steps.open else steps.counted.steps

    def _may(self, step: int) -> bool:
        """Whether one more is taken of a step."""
        before, count = self._taken
        self._taken = (step, count + 1 if step == before else 1)
        if self._taken[1] == MOST_A_STEP + 1:
            log.warning("the agent says more than %d things of step %d; the rest is not taken", MOST_A_STEP, step)
        return self._taken[1] <= MOST_A_STEP

    def _note(self, raw: bytes) -> None:
        text, step = msgspec.json.decode(raw, type=_Note), self._step
        if self._may(step):
            self._main.journal.add(NoteAdded(step=step, text=text))

    def _plan(self, raw: bytes) -> None:
        """A plan that the model wrote by a call of its own stands in the step already."""
        text, step = msgspec.json.decode(raw, type=_Note), self._step
        if not self._main.steps.wrote_plan and self._may(step):
            self._main.journal.add(NoteAdded(step=step, text=f"Plan:\n{text}"))

    def _edit(self, raw: bytes) -> None:
        edit, step, journal = msgspec.json.decode(raw, type=Edit), self._step, self._main.journal
        if not self._may(step):
            return
        before, after = ("" if text is None or edit.too_large else journal.put_blob(text.encode("utf-8", "replace"))
                         for text in (edit.before, edit.after))
        journal.add(FileChanged(host=self._host, path=edit.path, before=before, after=after, size=edit.size, step=step,
                                too_large=edit.too_large, is_partial=edit.is_partial))

    def _print(self, raw: bytes) -> None:
        data = msgspec.json.decode(raw, type=_Content).replace("\n", "\r\n").encode("utf-8", "replace")
        journal = self._main.journal
        at = journal.terminals().get(f"{self._host}/{PRINTED}", 0)
        start, data = self._budget.thinned(data)
        if data:
            blob = journal.put_blob(data) if len(data) > INLINE else ""
            journal.add(TerminalOutput(host=self._host, terminal=PRINTED, offset=at + start, size=len(data), blob=blob,
                                       data=b"" if blob else data))

    # ---- what a person decides

    async def _leave(self, raw: bytes) -> object:
        """Ask a person: to have the session go on allows it; to interrupt, to stop, or to say something refuses it."""
        asked = self._ask(msgspec.json.decode(raw, type=_Note))
        self._asks, self._is_refused = True, False
        self._on_leave(asked)
        try:
            while not (self._is_refused or self._inbox.wish in ("resume", "stop")
                       or len(self._inbox.waiting()) > asked.waiting):
                await self._signals.heard()
            return {"allow": self._inbox.wish == "resume" and not self._is_refused}
        finally:
            self._asks = False
            self._main.journal.put_slot("leave", None)
            self._on_leave(None)

    def _ask(self, what: str) -> LeaveAsked:
        """The question in the journal; one that stands there was asked of a runner that died, and what a person
        answered since counts."""
        asked = self._inbox.leave
        if asked is None or asked.what != what:
            with self._main.journal.transaction("leave"):
                self._inbox.done("resume")
                asked = LeaveAsked(what, len(self._inbox.waiting()), new_id())
                self._main.journal.put_slot("leave", asked)
        return asked

    async def _turn(self, raw: bytes) -> object:
        """A turn of the agent is over: whether an advice begins another; where it stays once there is one, or a stop.
        """
        stays = msgspec.json.decode(raw, type=bool) or self._stays
        while self._inbox.wish != "stop" and not self._is_over():
            if self._inbox.waiting() and self._inbox.wish != "pause":
                self._on_waits(False)
                return {"goes_on": True}
            if not stays and self._inbox.wish != "pause":
                break
            self._on_waits(True)
            await self._signals.heard()
        return {"goes_on": False}

    async def _before(self, raw: bytes) -> object:
        """What the session knows of the conversation, for an agent that was killed before it wrote that down."""
        why = msgspec.json.decode(raw, type=_Note)
        text = self._main.retold()
        if text and self._lost_at != self._step:  # asked again, where the answer was lost, it is noted once
            self._lost_at = self._step
            self._main.journal.add(NoteAdded(step=self._step, text=_LOST + why))
        return {"text": text}

    def _end(self, raw: bytes) -> None:
        self._on_ended(msgspec.json.decode(raw or b"0", type=int))
