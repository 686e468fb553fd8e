"""The tokens of a session's row so far, as its model sampled them: what the next prompt goes on from."""

import msgspec

from core.agents.journal import Journal
from core.domain.context import MessageRef
from core.domain.message import encode_message
from core.domain.sampled import decode_sampled, encode_sampled
from core.llm.model import Completion, PastTokens


class _Row(msgspec.Struct, frozen=True):
    """The blobs of the answers that make the row, and the messages that it stands for, the last answer included."""

    blobs: tuple[str, ...]
    messages: tuple[str, ...]


class OwnTokens:
    """The journal's side of token in, token out. The journal holds names; the ids are kept beside them."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._row: _Row | None = None
        self._ids: list[int] = []

    def past(self, context: list[str]) -> PastTokens | None:
        """The row's tokens, where a context (hashes of its messages) goes on from what they stand for."""
        row = self._read()
        if row is None or tuple(context[: len(row.messages)]) != row.messages or len(context) <= len(row.messages):
            return None
        return PastTokens(self._ids, len(row.messages))

    def hold(self, completion: Completion, context: list[str], reply: MessageRef) -> str:
        """Keep an answer's tokens, given for a context; gives their blob's name, or "" where there are none.

        Tokens of an answer in which a secret was starred out are dropped: ids would spell it. Inside the transaction
        in which the answer is kept.
        """
        sampled, message = completion.sampled, encode_message(completion.message)
        if sampled is None or self._journal.clean(message) != message:
            self._journal.put_slot("row", None)
            self._row, self._ids = None, []
            return ""
        before = self._read() if sampled.continues else None
        name = self._journal.put_blob(encode_sampled(sampled))
        row = _Row((*(before.blobs if before else ()), name), (*context, reply.hash))
        self._journal.put_slot("row", row)
        self._ids = [*(self._ids if before else ()), *sampled.prompt_ids, *sampled.ids]
        self._row = row
        return name

    def _read(self) -> _Row | None:
        """The row; after a restart its ids are read from the journal's blobs again."""
        if self._row is None:
            self._row = self._journal.slot("row", _Row)
            held = [decode_sampled(self._journal.blob(name)) for name in (self._row.blobs if self._row else ())]
            self._ids = [i for one in held for i in (*one.prompt_ids, *one.ids)]
        return self._row
