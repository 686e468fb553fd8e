"""A folded trajectory as bytes, and back: what was read once need not be read again when a session is opened.

Derived from the log, so it may be lost at any time. Columns are raw arrays of this machine; another layout, or another
version of the fold, is refused and the log is folded anew.
"""

import sys
from array import array

import msgspec

from core.domain import events as e
from core.domain.errors import InvalidInput
from core.domain.guidance import Guidance
from core.domain.items import Item
from core.domain.outputs import Outputs
from core.domain.session import SessionRow
from core.domain.step_entry import Note, Opinions
from core.domain.steps import Read, StepShape
from core.domain.trajectory import Trajectory

VERSION = f"12 {sys.byteorder} {array('I').itemsize}"
"""Of this layout and of what the fold means; to be changed with either."""

COLUMNS = ("numbers", "seqs", "shape_of", "key_of", "started", "ended", "cost", "tokens_in", "tokens_out")


class _Tape(msgspec.Struct):
    seqs: memoryview
    offsets: memoryview
    sizes: memoryview


class _Shared(msgspec.Struct, kw_only=True):
    """What a trajectory has under the same names."""

    seq: int
    row: SessionRow
    created: e.SessionCreated | None
    open_step: e.StepStarted | None
    offered: e.TakenOver | None
    asked: dict[str, e.ActionAsked]
    leave: tuple[str, str] | None
    summaries: dict[str, e.SummaryAdded]
    summary_places: dict[str, int] = msgspec.field(name="steps_before")
    guidance: dict[str, Guidance]
    scores: list[e.ScoreGiven]
    submissions: list[e.SubmissionMade]
    rescored: list[e.SubmissionRescored]
    branched: e.Branched | None
    files: list[e.FileChanged]
    web_searches: list[e.SearchMade] = msgspec.field(name="searches")
    notes: list[Note]
    spent: dict[str, dict[int, float]]


class _Folded(_Shared, kw_only=True):
    version: str
    columns: dict[str, memoryview]
    flags: memoryview
    shapes: list[StepShape]
    opinions: dict[int, Opinions]
    usage_at: dict[int, int]
    steps: int
    places: list[int]
    others: list[Item]
    terminals: dict[str, _Tape]


_DECODER = msgspec.msgpack.Decoder(_Folded)


def can_be_stored(trajectory: Trajectory) -> bool:
    """Whether a trajectory has nothing that waits for an earlier event."""
    return not trajectory.early and not trajectory.early_opinions


def encode_folded(trajectory: Trajectory) -> bytes:
    """The bytes of a trajectory."""
    steps, items = trajectory.steps, trajectory.items
    columns = {name: memoryview(getattr(steps, name)).cast("B") for name in COLUMNS}
    terminals = {key: _Tape(*(memoryview(c).cast("B") for c in (o.seqs, o.offsets, o.sizes)))
                 for key, o in trajectory.terminals.items()}
    return msgspec.msgpack.encode(_Folded(
        version=VERSION, columns=columns, flags=memoryview(steps.flags), shapes=steps.shapes, opinions=steps.opinions,
        usage_at=steps.usage_at, steps=items.steps, places=items.places, others=items.others, terminals=terminals,
        **{name: getattr(trajectory, name) for name in _Shared.__struct_fields__}))


def decode_folded(session: str, data: bytes | memoryview, read: Read) -> Trajectory:
    """The trajectory of such bytes, reading on from `read`. Raises InvalidInput for any other bytes."""
    try:
        folded = _DECODER.decode(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise InvalidInput("bad_fold", f"A folded session cannot be read: {error}") from error
    if folded.version != VERSION or set(folded.columns) != set(COLUMNS):
        raise InvalidInput("bad_fold", "A folded session is of another version of this program.")
    made = Trajectory(session, read)
    for name in _Shared.__struct_fields__:
        setattr(made, name, getattr(folded, name))
    _put_steps(made, folded)
    made.items.steps, made.items.places, made.items.others = folded.steps, folded.places, folded.others
    for key, tape in folded.terminals.items():
        held = made.terminals[key] = Outputs(read)
        for column, bytes_ in ((held.seqs, tape.seqs), (held.offsets, tape.offsets), (held.sizes, tape.sizes)):
            column.frombytes(bytes_)
    return made


def _put_steps(made: Trajectory, folded: _Folded) -> None:
    steps = made.steps
    for name, data in folded.columns.items():
        getattr(steps, name).frombytes(data)
    steps.flags = bytearray(folded.flags)
    steps.opinions, steps.usage_at = folded.opinions, folded.usage_at
    lengths = {len(getattr(steps, name)) for name in COLUMNS} | {len(steps.flags), folded.steps}
    if len(lengths) != 1 or (folded.shapes and max(steps.shape_of, default=0) >= len(folded.shapes)):
        raise InvalidInput("bad_fold", "A folded session has columns of different lengths.")
    steps.restore(folded.shapes)
