"""The book of one line of a session's gateway: what is put into each request, and what the log says of it.

`arrive` decides, in memory; `commit` makes it true in the journal, before the request is forwarded where it binds
guidance, while the model thinks where not; `answered` holds the answer before the agent has the end of it. A death
between any two of these leaves what the agent's next request, which is the same again, takes up.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain

import msgspec

from core.agents.delivery import Inbox
from core.agents.exchange_context import ContextWriter, ItemRefs, decode_refs, guidance_words
from core.agents.exchange_steps import ExchangeSteps, OpenAnswer, SideAnswer
from core.agents.held_words import HeldGuidance
from core.agents.journal import Journal
from core.agents.progress import with_usage
from core.agents.states import read_progress, save_progress
from core.domain.context import ContextDelta, MessageRef, delta_between, shared_length
from core.domain.events import ExchangeMade, NoteAdded
from core.domain.message import ToolCall
from core.domain.step import Usage
from core.gateway.anchor import GuidancePlace, place_behind, places_in
from core.gateway.answer_reader import Heard
from core.gateway.dialect import CallOutcome
from core.gateway.items import put_in
from core.gateway.lines import MAIN, AgentLine, LinePlacement
from core.gateway.request import AgentRequest

_MOST_ROWS = 1 << 62
_MOST_PAYLOADS = 4_000
_WENT_BACK = "The agent went on from an earlier place: later contexts hold nothing of what came after it."

_RETOLD = "The agent was started again, and tells its conversation with another beginning."


class Sending(msgspec.Struct, kw_only=True):
    """A request that is about to be forwarded, as it was decided on."""

    request: AgentRequest
    placement: LinePlacement
    number: int
    """Of the exchange."""
    step: int
    """Of the main line; 0 for a request of no step."""
    body: bytes
    pieces: list[bytes]
    """The body as it is sent, in pieces."""
    inserted: dict[int, list[GuidancePlace]]
    bound: list[HeldGuidance]
    again: tuple[str, ...]
    started_at: datetime
    held_s: float = 0.0
    context: tuple[MessageRef, ...] = ()
    since: int = 0
    delta: ContextDelta = ContextDelta()
    is_committed: bool = False
    is_retold: bool = False
    """It tells the whole conversation anew, with another beginning."""

    @property
    def binds(self) -> bool:
        """Whether the journal must hold it before anybody else does."""
        return bool(self.bound or self.again)

    @property
    def guided(self) -> int:
        """How many guidance texts stand in it."""
        return sum(map(len, self.inserted.values()))


class Written(msgspec.Struct, frozen=True):
    """The last body of a line, in its pieces, and by what names these are held."""

    number: int
    pieces: list[bytes]
    refs: list[MessageRef]


def _payloads(pieces: list[bytes]) -> list[bytes]:
    """Pieces as they are held: of very many, so many at a time that an event has room for the names of all."""
    many = 1
    while len(pieces) > many * _MOST_PAYLOADS:
        many *= 16
    return pieces if many == 1 else [b"".join(pieces[at : at + many]) for at in range(0, len(pieces), many)]


class ExchangeBook:
    """The exchanges of one line, and of the calls beside it."""

    def __init__(self, journal: Journal, inbox: Inbox, steps: ExchangeSteps, writer: ContextWriter,
                 terminals: Callable[[], Mapping[str, int]], line: str = MAIN,
                 inherited: Callable[[], Sequence[GuidancePlace]] = tuple) -> None:
        """`line` is whose book it is. `inherited` are the places of the caller's guidance, which stands in a
        conversation that begins with the caller's."""
        self._journal, self._inbox, self._steps, self._writer = journal, inbox, steps, writer
        self._terminals, self._inherited = terminals, inherited
        self._refs: list[ItemRefs] = []
        self._rows = 0
        """How many items the journal holds of the line."""
        self._line_row: tuple[object, ...] = ()
        journal.on_undone.append(self._forget_rows)
        self.line = self._read_line(line)
        self._places = [msgspec.json.decode(row, type=GuidancePlace)
                        for (row,) in journal.sql("SELECT place FROM gateway_place ORDER BY id")]
        self._number = journal.slot("exchanges", int) or 0
        self._pieces: dict[str, Written] = {}
        self._tools: dict[str, str] = {}
        self._tell_of_the_cut()

    # ---- deciding

    @property
    def places(self) -> Sequence[GuidancePlace]:
        """Where guidance stands, the caller's first."""
        return (*self._inherited(), *self._places)

    def arrive(self, request: AgentRequest, placement: LinePlacement, held_s: float = 0.0) -> Sending:
        """What is put into a request that belongs here. Nothing is written yet."""
        may_be_retold = placement.is_taken_up and placement.relation == "compacted"
        is_retold = may_be_retold and self._writer.holds_first_step(request)
        if is_retold:
            placement = msgspec.structs.replace(placement, relation="rewound")
        line, relation = placement.line, placement.relation
        is_step = line.kind != "side" and relation != "retry"
        self.line = line if is_step else self.line
        step = self._step_of(placement)
        bound = self._inbox.waiting() if is_step else []
        places = [place_behind(g.id, guidance_words(g.text), step, request.dialect, request.items, request.chain)
                  for g in bound]
        lost = self._lost(request, step) if is_step and relation in ("compacted", "rewound") else []
        self._places += [*lost, *places]
        inserted, pieces, body = self._guided(request)
        self._number += 1
        return Sending(request=request, placement=placement, number=self._number, step=step, pieces=pieces,
                       body=body, inserted=inserted, bound=bound, again=tuple(place.guidance for place in lost),
                       started_at=datetime.now(UTC), held_s=held_s, is_retold=is_retold)

    def counted(self, request: AgentRequest) -> bytes:
        """The body of a request that only counts tokens, with the guidance that would stand in it."""
        return self._guided(request)[2]

    def _guided(self, request: AgentRequest) -> tuple[dict[int, list[GuidancePlace]], list[bytes], bytes]:
        """Which guidance stands in a request, and its body with that, in pieces and as one; without any the bytes
        that came."""
        inserted = places_in(self.places, request.dialect, request.items, request.chain)
        held = request.conversation
        if not inserted:
            return inserted, held.pieces, held.raw
        texts = {at: [place.text for place in there] for at, there in inserted.items()}
        pieces = put_in(request.dialect, request.body, held, texts)
        return inserted, pieces, b"".join(pieces)

    def _step_of(self, placement: LinePlacement) -> int:
        if placement.line.kind == "side":
            return 0
        opened = self._steps.open
        if placement.relation == "retry":
            return opened.number if opened else read_progress(self._journal).steps
        if placement.relation == "compacted" and self._steps.is_summary_open():
            return read_progress(self._journal).steps + 1
        return self._steps.next_number

    def _lost(self, request: AgentRequest, step: int) -> list[GuidancePlace]:
        """What a compaction threw away is put in once more, at the border of now."""
        inserted = places_in(self._places, request.dialect, request.items, request.chain)
        there = {place.guidance for places in inserted.values() for place in places}
        gone = {place.guidance: place for place in self._places if place.guidance not in there}
        return [place_behind(name, place.text, step, request.dialect, request.items, request.chain)
                for name, place in gone.items()]

    # ---- the journal

    def commit(self, sending: Sending) -> None:
        """Write down what was decided: the step before is whole, the next has begun, these texts are bound to it."""
        sending.is_committed = True
        with self._journal.transaction("exchange"):
            if sending.placement.line.kind == "side":
                sending.context = self._context_of_side(sending)
            else:
                self._commit_line(sending)
            self._write_pieces(sending)
            self._journal.put_slot("exchanges", sending.number)
            self._journal.sql("INSERT OR REPLACE INTO gateway_sent VALUES (?, ?)", (
                sending.number, msgspec.json.encode(self._fact(sending, Heard(is_discarded=True)))))

    def _commit_line(self, sending: Sending) -> None:
        request, line, relation = sending.request, sending.placement.line, sending.placement.relation
        shared = sending.placement.shared
        is_step = relation != "retry"
        opened = self._steps.open
        echoes = opened.number if opened and opened.answer and relation == "extends" else 0
        summary = ""
        if is_step:
            self._close_step(request, shared)
            if relation == "compacted":
                summary = self._steps.compacted()
            elif relation == "rewound" and (at := read_progress(self._journal).steps):
                self._journal.add(NoteAdded(step=at, text=_RETOLD if sending.is_retold else _WENT_BACK))
        refs = self._item_refs(request, line, shared, echoes, summary)
        for place in self._places[len(self._places) - len(sending.bound) - len(sending.again) :] if is_step else ():
            self._journal.sql("INSERT INTO gateway_place (place) VALUES (?)", (msgspec.json.encode(place),))
        if not is_step:
            return
        sending.context = self._context(sending, refs)
        bound = self._inbox.bind(sending.step) if sending.bound else []
        assert [b.id for b in bound] == [b.id for b in sending.bound], "guidance came between decision and journal"
        self._steps.begin(OpenAnswer(number=sending.step, context=sending.context, tools=self._tools_of(request),
                                     started_at=sending.started_at, held_s=sending.held_s),
                          [b.id for b in bound], sending.again)

    def _close_step(self, request: AgentRequest, shared: int) -> None:
        outcomes: list[CallOutcome] = []
        echoed: list[ToolCall] = []
        dialect = request.dialect
        for item in request.values(shared):
            outcomes += dialect.outcomes(item)
            if dialect.is_answer(item):
                echoed += [call for message in dialect.messages(item) for call in message.tool_calls]
        self._steps.close(outcomes, echoed, self._terminals())

    def _item_refs(self, request: AgentRequest, line: AgentLine, shared: int, echoes: int, summary: str
                   ) -> list[ItemRefs]:
        """The messages of all items of a line, held and remembered from the first new one on."""
        before = self._refs[:shared]
        had_steps = read_progress(self._journal).steps > 0 and not (summary and not shared)
        made = self._writer.items(request, len(before), echoes=echoes, had_steps=had_steps, summary=summary)
        refs = self._refs = [*before, *made]
        if self._rows > len(before):
            self._journal.sql("DELETE FROM gateway_item WHERE line = ? AND place >= ?", (line.name, len(before)))
        self._rows = len(refs)
        self._journal.sql_many("INSERT INTO gateway_item VALUES (?, ?, ?, ?)", [
            (line.name, place, request.chain[place], msgspec.json.encode(refs[place]))
            for place in range(len(before), len(refs))])
        row = (line.name, line.kind, msgspec.json.encode(line.identity), line.tools)
        if row != self._line_row:
            self._journal.sql("INSERT OR REPLACE INTO gateway_line VALUES (?, ?, ?, ?)", row)
            self._line_row = row
        return refs

    def _forget_rows(self) -> None:
        """What the journal holds of the line is not known: whatever may be there is replaced."""
        self._rows, self._line_row = _MOST_ROWS, ()

    def _context(self, sending: Sending, refs: Sequence[ItemRefs]) -> tuple[MessageRef, ...]:
        texts = {p.guidance: p.text for places in sending.inserted.values() for p in places}
        words = self._writer.guidance(texts)
        context, at = [*self._writer.opening(sending.request)], 0
        for place in sorted(sending.inserted):
            context += chain.from_iterable(refs[at : place + 1])
            context += [words[p.guidance] for p in sending.inserted[place]]
            at = place + 1
        return (*context, *chain.from_iterable(refs[at:]))

    def _context_of_side(self, sending: Sending) -> tuple[MessageRef, ...]:
        """The messages of a call beside the line; what it shares with the line is held already."""
        held = self._refs[: sending.placement.shared] if sending.placement.relation == "summary" else []
        made = self._writer.items(sending.request, len(held), echoes=0, had_steps=bool(held), summary="")
        return self._context(sending, [*held, *made])

    def _tools_of(self, request: AgentRequest) -> str:
        name = request.asked.tools
        if name not in self._tools:
            tools = request.dialect.tools(request.body)
            self._tools[name] = self._journal.put_blob(msgspec.json.encode(tools)) if tools else ""
        return self._tools[name]

    def _write_pieces(self, sending: Sending) -> None:
        """The body in payloads, as a delta to the last body of the same line."""
        key = f"{sending.placement.line.name} {sending.placement.line.kind}"
        before = self._pieces.get(key, Written(0, [], []))
        pieces = _payloads(sending.pieces)
        shared = shared_length(before.pieces, pieces)
        refs = [*before.refs[:shared],
                *(MessageRef(hash=self._journal.put_blob(piece), role="piece") for piece in pieces[shared:])]
        sending.since, sending.delta = before.number, delta_between(before.refs, refs)
        self._pieces[key] = Written(sending.number, pieces, refs)

    # ---- the answer

    def answered(self, sending: Sending, ending: Heard) -> None:
        """An exchange that was committed is over."""
        with self._journal.transaction("exchange over"):
            answer = ending.answer
            is_good = answer is not None and answer.is_whole and not ending.is_discarded
            if answer is not None and is_good and sending.step:
                self._steps.answered(sending.step, answer)
            elif answer is not None and is_good and sending.placement.line.kind == "side":
                reply = self._writer.ref(answer.message, "note")
                self._steps.set_aside(SideAnswer(text=answer.message.content, context=sending.context, reply=reply))
            self._tell(self._fact(sending, ending))

    def _tell(self, fact: ExchangeMade) -> None:
        self._journal.add(fact)
        self._journal.sql("DELETE FROM gateway_sent WHERE number = ?", (fact.number,))
        if not fact.step and fact.usage != Usage():
            save_progress(self._journal, with_usage(read_progress(self._journal), fact.usage))

    def _fact(self, sending: Sending, ending: Heard) -> ExchangeMade:
        request, line = sending.request, sending.placement.line
        usage = self._steps.price(ending.answer.usage) if ending.answer else Usage()
        return ExchangeMade(
            number=sending.number, line=line.name, relation=sending.placement.relation, step=sending.step,
            dialect=request.dialect.name, model=request.model[:500], status=ending.status, pieces=sending.delta,
            since=sending.since, answer=self._journal.put_blob(ending.raw) if ending.raw else "",
            guided=sending.guided, is_discarded=ending.is_discarded,
            problem=ending.problem[:2000], usage=usage, started_at=sending.started_at,
            first_byte_s=ending.first_byte_s, held_s=sending.held_s)

    def finish(self, *, is_end: bool) -> None:
        """The agent has ended, by itself (`is_end`) or not: its last answer is a step."""
        with self._journal.transaction("last step"):
            self._steps.close([], [], self._terminals(), is_end=is_end)

    # ---- after a death

    def _read_line(self, name: str) -> AgentLine | None:
        found = self._journal.sql("SELECT kind, identity, tools FROM gateway_line WHERE name = ?", (name,))
        if not found:
            return None
        kind, identity, tools = found[0]
        rows = self._journal.sql("SELECT link, refs FROM gateway_item WHERE line = ? ORDER BY place", (name,))
        self._refs, self._rows = [decode_refs(refs) for _, refs in rows], len(rows)
        return AgentLine(name=name, kind=kind, tools=tools, chain=[bytes(link) for link, _ in rows],
                         identity=msgspec.json.decode(identity, type=tuple[str, ...]))

    def _tell_of_the_cut(self) -> None:
        """Requests that a runner before had sent on when it died: what came back is not known."""
        with self._journal.transaction("exchanges cut"):
            for (fact,) in self._journal.sql("SELECT fact FROM gateway_sent ORDER BY number"):
                left = msgspec.json.decode(fact, type=ExchangeMade)
                self._tell(msgspec.structs.replace(left, problem="The gateway ended before the answer did."))
