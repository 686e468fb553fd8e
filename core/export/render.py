"""The one renderer: text, token ids and mask of a sample together, from a model's own chat template and tokenizer.

Which characters are an action is found by rendering, never by looking for markers: the text that a server would
give the model before the action (messages so far, with the generation prompt) must be a prefix of the whole
text; what follows it, up to the model's stop token, is the action. Where a template drops or rewrites anything
of an action, or of what came before it, that action is refused with the reason and carries no loss. Where only what
comes later makes it do so (it drops earlier thinking once a person speaks again), the context is cut there: one row
ends before, the next goes on.
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from core.domain.errors import InvalidInput
from core.domain.message import Message
from core.export.locate import NOTHING_MASKED, Context, Form, Located
from core.export.pieces import Masked
from core.export.spans import Span
from core.export.template import MODES, THINKING_MODES, ChatTemplate
from core.export.tokens import Tokenizer
from core.export.trial import Trial
from core.llm.extra import require_extra
from core.llm.foreign_model import SAFE
from core.llm.model import ToolSpec
from core.workers.export import ExportRefusal


class Rendered(msgspec.Struct, frozen=True, kw_only=True):
    """One example. `mask` is 1 for the tokens that carry loss; `offsets` are the tokens' places in `text`.

    `spans` are all actions that were located, the trained ones marked; `refused` says which trained messages
    (by index) had to lose their loss; `seams` counts the places where the token boundary that the model saw when
    it answered differs from the one that tokenizing the whole text would give: there the model's own is used.
    `thoughts` are the tokens of recorded thoughts, start..end each, be they trained or context; the row may hold some
    only where `shows_thoughts`.
    """

    text: str
    ids: list[int]
    mask: list[int]
    offsets: list[tuple[int, int]]
    spans: tuple[Span, ...]
    refused: tuple[ExportRefusal, ...] = ()
    seams: int = 0
    thoughts: tuple[tuple[int, int], ...] = ()
    shows_thoughts: bool = False


class Renderer:
    """Renders with the tokenizer and chat template in a model's folder (or another template, given as text).

    `renders_calls`: the template shows tools, calls and results; `renders_thoughts`: also the text beside a call.
    `demands_turns`: it refuses two messages of a person one after the other. `model` is its folder's name. `room` is
    how many tokens the model takes at once, None where its folder does not say so. `stands_in`: it counts tokens for a
    model that nobody named.
    `refusal` tells why nothing can be split exactly, where nothing can. `thoughts`: the recorded reasoning of messages
    is left out (drop), shown without loss (context) or trained with its action (keep). Raises Unavailable without the
    training extra, InvalidInput where the folder holds no tokenizer or template.
    """

    def __init__(self, model_dir: Path | str, *, chat_template: str | None = None,
                 thoughts: Literal["drop", "context", "keep"] = "drop") -> None:
        require_extra("transformers", "jinja2")
        self._tokenizer = load_tokenizer(Path(model_dir))
        if chat_template is not None:
            self._tokenizer.chat_template = chat_template
        if not isinstance(self._tokenizer.chat_template, str):
            raise InvalidInput("no_chat_template", f"The tokenizer in {model_dir} has no chat template.")
        self._tokens = Tokenizer(self._tokenizer, _stop_ids(Path(model_dir), self._tokenizer))
        forms = [Form(template=ChatTemplate(self._tokenizer, mode), stops=self._tokens.stops,
                      control=self._tokens.control, trains_thoughts=thoughts == "keep")
                 for mode in (MODES if thoughts == "drop" else THINKING_MODES)]
        trials = [Trial(form) for form in forms]
        best = max(trials, key=lambda t: t.rank)  # of equal ones the first
        self._form = best.form
        self.renders_calls, self.renders_thoughts = best.renders_calls, best.renders_thoughts
        self.demands_turns = best.demands_turns
        self.refusal = best.refusal
        self.model, self.room = Path(model_dir).name, context_of(Path(model_dir))
        self.stands_in = False

    @property
    def mode(self) -> dict[str, Any]:
        """The variables that the template is given."""
        return self._form.template.mode.variables

    @property
    def template_hash(self) -> str:
        """The SHA-256 of the chat template."""
        return hashlib.sha256(str(self._tokenizer.chat_template).encode()).hexdigest()

    @property
    def tokenizer_hash(self) -> str:
        """The SHA-256 of the tokenizer's own serialisation."""
        return hashlib.sha256(self._tokenizer.backend_tokenizer.to_str().encode()).hexdigest()

    def render(self, messages: Sequence[Message], trained: Sequence[bool], tools: Sequence[ToolSpec] = (),
               day: str = "") -> Rendered:
        """The example of a context as one row. Raises InvalidInput where the template refuses it, or nothing trains.

        The text ends with the last trained token: what follows cannot change its loss. `day` is the date that a
        template with a clock writes; "" is today.
        """
        asked = self._asked(messages, trained)
        return self._row(Context(self._form, messages, tools, day).locate(asked))

    def render_all(self, messages: Sequence[Message], trained: Sequence[bool], tools: Sequence[ToolSpec] = (),
                   day: str = "", masked: Mapping[int, Masked] = NOTHING_MASKED) -> list[Rendered]:
        """The example of a context in as few rows as hold every action exactly, the shortest first; what no row
        holds is in `refused` of the last. Of the trained messages named in `masked` some calls carry no loss. Raises as
        `render` does."""
        asked = self._asked(messages, trained)
        found, refused = Context(self._form, messages, tools, day, masked).cuts(asked)
        if not found:
            raise InvalidInput(refused[0].code, refused[0].sentence)
        return [self._row(msgspec.structs.replace(one, refused=tuple(refused) if one is found[-1] else ()))
                for one in found]

    @property
    def shows_thoughts(self) -> bool:
        """Whether recorded thoughts are in rows, where they have a place."""
        return self._form.thoughts is not None

    def holds_thought(self, message: Message) -> bool:
        """Whether the template has a place for the thought of such an answer."""
        return self._form.thoughts is not None and self._form.thoughts.has_place(message)

    def apply(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = (), *, prompt: bool = False) -> str:
        """The text that a server would give the model: with `prompt`, ready for its answer."""
        return self._form.template.text(messages, tools, prompt=prompt)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of token ids, control tokens included."""
        return self._tokens.decode(ids)

    def _asked(self, messages: Sequence[Message], trained: Sequence[bool]) -> list[int]:
        if self.refusal is not None:
            raise self.refusal
        asked = [i for i, (_, t) in enumerate(zip(messages, trained, strict=True)) if t]
        if not asked:
            raise InvalidInput("nothing_trained", "No action of this sample is kept.")
        if not self.renders_calls and any(m.tool_calls for m in messages[: asked[-1] + 1]):
            raise InvalidInput("calls_not_rendered", "The chat template of this model has no tool calls.")
        return asked

    def _row(self, located: Located) -> Rendered:
        if not located.trained:
            raise InvalidInput(located.refused[0].code, located.refused[0].sentence)
        text = located.text[: located.trained[-1].end]
        spans = [s for s in located.spans if s.end <= len(text)]
        tokens, lost = self._tokens.split(text, spans)
        refused = (*located.refused, *lost)
        if not any(tokens.mask):
            raise InvalidInput(refused[0].code, refused[0].sentence)
        gone = {r.message for r in lost}
        final = [msgspec.structs.replace(s, trained=s.trained and s.message not in gone) for s in spans]
        return Rendered(text=text, ids=tokens.ids, mask=tokens.mask, offsets=tokens.offsets, spans=tuple(final),
                        refused=refused, seams=tokens.seams, thoughts=_thoughts(final, tokens.offsets),
                        shows_thoughts=self.shows_thoughts)


def _thoughts(spans: Sequence[Span], offsets: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    places = [(s.start, s.thought_end) for s in spans if s.thought_end]
    return tuple((bisect_left(offsets, a, key=lambda o: o[0]), bisect_left(offsets, b, key=lambda o: o[0]))
                 for a, b in places)


def load_tokenizer(folder: Path) -> Any:
    """The tokenizer of a model's folder. Raises InvalidInput (no_tokenizer, slow_tokenizer)."""
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(str(folder), **SAFE)
    except (OSError, ValueError, KeyError) as error:
        raise InvalidInput("no_tokenizer", f"{folder} holds no tokenizer: {str(error)[:200]}") from error
    if not tokenizer.is_fast:
        raise InvalidInput("slow_tokenizer", f"The tokenizer in {folder} does not tell where its tokens lie.")
    return tokenizer


def _stop_ids(folder: Path, tokenizer: Any) -> list[int]:
    """The ids that end an answer: those of the generation settings and the tokenizer's own."""
    path = folder / "generation_config.json"
    named = json.loads(path.read_text(encoding="utf-8")).get("eos_token_id") if path.is_file() else None
    ids = named if isinstance(named, list) else [named]
    return list(dict.fromkeys(i for i in [tokenizer.eos_token_id, *ids] if isinstance(i, int)))


def context_of(model_dir: Path) -> int | None:
    """How many tokens a model takes at once, as its config.json says; None where that does not."""
    try:
        config = json.loads((model_dir / "config.json").read_bytes())
    except (OSError, ValueError):
        return None
    parts = (config, config.get("text_config")) if isinstance(config, dict) else ()
    rooms = [p.get("max_position_embeddings") for p in parts if isinstance(p, dict)]
    return next((room for room in rooms if isinstance(room, int) and room > 0), None)
