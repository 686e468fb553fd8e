"""Where the actions of a context lie in a template's text: found by rendering, verified, or refused with a reason."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial

import msgspec

from core.domain.errors import InvalidInput
from core.domain.message import Message
from core.export.pieces import Masked, holes, starts_in_text, starts_of_calls
from core.export.spans import Span, check_completion, stop_after
from core.export.template import NO_FRAME, ChatTemplate, TextFrame, followed
from core.export.thoughts import ThoughtPlaces
from core.llm.model import ToolSpec
from core.workers.export import ExportRefusal

_BY_WHAT_FOLLOWS = frozenset({"prompt_not_prefix", "prompt_opens_thinking", "completion_rewritten", "no_stop"})
"""Reasons that may not hold where the text ends earlier."""

NOTHING_MASKED: Mapping[int, Masked] = {}


class Located(msgspec.Struct, frozen=True, kw_only=True):
    """A text with its actions; those that were asked for are marked as trained, or `refused`."""

    text: str
    spans: tuple[Span, ...]
    refused: tuple[ExportRefusal, ...]

    @property
    def trained(self) -> list[Span]:
        """The actions that were asked for and found."""
        return [s for s in self.spans if s.trained]


class Form(msgspec.Struct, frozen=True, kw_only=True):
    """How a model's answers look in its template: texts of its stop and control tokens, and what frames an answer
    without calls (`plain`) and the text beside calls (`beside`). `thoughts` is where recorded thoughts stand, None
    where rows hold none; `trains_thoughts`: they carry loss with their action."""

    template: ChatTemplate
    stops: Sequence[str]
    control: Sequence[str]
    plain: TextFrame = NO_FRAME
    beside: TextFrame = NO_FRAME
    thoughts: ThoughtPlaces | None = None
    trains_thoughts: bool = False


class Context:
    """The messages of one context and the tools beside them; what a server would give the model before each of them
    is rendered once. `day` as in ChatTemplate.text; `masked` says of which messages only some calls are trained."""

    def __init__(self, form: Form, messages: Sequence[Message], tools: Sequence[ToolSpec] = (), day: str = "",
                 masked: Mapping[int, Masked] = NOTHING_MASKED) -> None:
        self._form = form
        self._masked = masked
        self._messages = messages
        self._tools = tools
        self._day = day
        self._prompts: dict[int, str] = {}

    def locate(self, asked: Collection[int]) -> Located:
        """The text up to the last action that is asked for: as a step after it would hold it, or, where more of them
        are exact then, as it stands alone, or as it was served. Raises InvalidInput where the template refuses all."""
        count = max(asked) + 1
        found: list[Located] = []
        errors: list[InvalidInput] = []
        for text in self.ways(self._messages[:count]):
            try:
                found.append(self._located(text(), count, asked))
            except InvalidInput as error:
                errors.append(error)
                continue
            if not found[-1].refused:
                break
        if not found:
            raise errors[0]
        return max(found, key=lambda one: len(one.trained))  # of equal ones the first

    def cuts(self, asked: Collection[int]) -> tuple[list[Located], list[ExportRefusal]]:
        """As few texts as it takes to hold all actions exactly, the shortest first; and what no text holds.

        Raises InvalidInput where the template refuses a text that is needed.
        """
        left, found, refused = sorted(asked), list[Located](), list[ExportRefusal]()
        while left:
            one = self.locate(left)
            exact = {s.message for s in one.trained}
            reasons = {r.message: r for r in one.refused}
            if exact:
                found.append(one)
            lost = [i for i in left if i not in exact and (i == left[-1] or reasons[i].code not in _BY_WHAT_FOLLOWS)]
            refused += [reasons[i] for i in lost]
            left = [i for i in left if i not in exact and i not in lost]
        return found[::-1], sorted(refused, key=lambda r: r.message or 0)

    def ways(self, upto: Sequence[Message]) -> list[partial[str]]:
        """The texts that may hold the last of these messages, an answer, each to be made when it is needed."""
        ways = [partial(self._text, followed(upto)), partial(self._text, upto), partial(self._served, upto)]
        if not self._form.template.mode.thoughts or not upto[-1].reasoning:
            return ways
        return [*ways, partial(self._stopped, upto), partial(self._opened, upto)]

    def _text(self, messages: Sequence[Message]) -> str:
        whole = self._form.template.text(messages, self._tools, day=self._day)
        absent = next((t.name for t in self._tools if t.name not in whole), None)
        if absent is not None:
            raise InvalidInput("tools_not_rendered", f"The chat template does not show the model its tool {absent}.")
        return whole

    def _served(self, upto: Sequence[Message]) -> str:
        """What a server gives the model before the last of these messages, an answer, and it as the template writes it:
        behind the same cue, though after a past that it tells otherwise once it is answered. Raises InvalidInput."""
        index = len(upto) - 1
        prompt, past = self.prompt(index), self._text(upto[:-1])
        cue = prompt.removeprefix(past)
        front, found, answer = self._text(upto).rpartition(cue) if cue else ("", "", "")
        if not found or not front or cue == prompt or not any(c in cue for c in self._form.control):
            why = f"The chat template rewrites what comes before message {index + 1}."
            raise InvalidInput("prompt_not_prefix", why)
        return prompt + answer

    def _stopped(self, upto: Sequence[Message]) -> str:
        """The last answer with its thought, which goes once a person speaks again, and the stop token that only such
        words bring (GLM). Raises InvalidInput."""
        bare = [*upto[:-1], msgspec.structs.replace(upto[-1], reasoning="")]
        front, whole = self._text(bare), self._text(followed(bare))
        if not whole.startswith(front):
            raise InvalidInput("prompt_not_prefix", "The chat template rewrites an answer once something follows it.")
        return self._text(upto) + whole[len(front) :]

    def _opened(self, upto: Sequence[Message]) -> str:
        """As it is served where the prompt opens a thought that the template leaves out of answers (DeepSeek): thought,
        closing mark, and the answer as the template writes it. Raises InvalidInput."""
        prompt, thought, whole = self.prompt(len(upto) - 1), upto[-1].reasoning.strip(), self._text(upto)
        front = prompt.rstrip().removesuffix("<think>")
        if not thought or front == prompt.rstrip() or not whole.startswith(front):
            raise InvalidInput("prompt_not_prefix", "The chat template's prompt opens no thought.")
        mark = "\n</think>\n\n" if prompt.endswith("\n") else "</think>"
        return f"{prompt}{thought}{mark}{whole[len(front) :]}"

    def _located(self, whole: str, count: int, asked: Collection[int]) -> Located:
        spans: list[Span] = []
        refused: list[ExportRefusal] = []
        for index in self._own(count):
            try:
                spans.append(self._span(whole, index, index in asked))
            except InvalidInput as error:
                if index in asked:
                    refused.append(ExportRefusal(code=error.code, sentence=error.sentence, message=index))
        return Located(text=whole, spans=tuple(spans), refused=tuple(refused))

    def _own(self, count: int) -> Iterator[int]:
        """The agent's own messages."""
        return (i for i, m in enumerate(self._messages[:count]) if m.role == "assistant")

    def _span(self, whole: str, index: int, trained: bool) -> Span:
        prompt = self.prompt(index)
        if not whole.startswith(prompt):
            if prompt.rstrip().endswith("<think>") and whole.startswith(prompt.rstrip().removesuffix("<think>")):
                why = "The chat template makes the model think before it answers, and leaves thoughts out of answers."
                raise InvalidInput("prompt_opens_thinking", why)
            why = f"The chat template rewrites what comes before message {index + 1} once later messages follow."
            raise InvalidInput("prompt_not_prefix", why)
        form = self._form
        end, stop = stop_after(whole, len(prompt), form.stops)
        completion = whole[len(prompt) : end - len(stop)]
        start, begin = len(prompt), self._behind_thought(index, completion)
        inside = self._untrained(index, completion, begin, end - start) if trained else ()
        return Span(message=index, start=start, end=end, trained=trained, thought_end=start + begin if begin else 0,
                    holes=tuple((start + a, start + b) for a, b in inside))

    def _behind_thought(self, index: int, completion: str) -> int:
        """Where the answer begins behind its thought, once both are as they were written. Raises InvalidInput."""
        message, form = self._messages[index], self._form
        if form.thoughts is None:
            check_completion(message, completion, form.control, form.plain, form.beside)
            return 0
        begin = self._end_of_thought(message, completion)
        frames = (form.thoughts.plain, form.thoughts.beside) if message.reasoning else (form.plain, form.beside)
        check_completion(message, completion[begin:], form.control, *(f or NO_FRAME for f in frames), with_thought=True)
        return begin

    def _end_of_thought(self, message: Message, completion: str) -> int:
        return self._form.thoughts.end(message, completion) if self._form.thoughts is not None else 0

    def _untrained(self, index: int, completion: str, begin: int, size: int) -> tuple[tuple[int, int], ...]:
        """The characters of a trained answer without loss: calls that are masked; a thought that is context, is empty,
        or decided on a masked call."""
        masked = index in self._masked
        inside = self._holes(index, completion[begin:], size - begin) if masked else ()
        is_context = masked or not self._form.trains_thoughts or not self._messages[index].reasoning
        thought = ((0, begin),) if begin and is_context else ()
        return (*thought, *((begin + a, begin + b) for a, b in inside))

    def _holes(self, index: int, completion: str, size: int) -> tuple[tuple[int, int], ...]:
        """The characters of an answer that carry no loss. Raises InvalidInput where its calls cannot be told apart."""
        message, masked, form = self._messages[index], self._masked[index], self._form
        if not message.tool_calls:
            return holes(masked, starts_in_text(message, masked.places, completion), size)
        shorter = [[*self._ways(index, count)] for count in range(1, len(message.tool_calls))]
        return holes(masked, starts_of_calls(message, completion, shorter, form.control, form.beside), size)

    def _ways(self, index: int, calls: int) -> Iterator[str]:
        """An answer with its first calls alone, as it may stand in a text."""
        message = self._messages[index]
        upto = [*self._messages[:index], msgspec.structs.replace(message, tool_calls=message.tool_calls[:calls])]
        prompt = self.prompt(index)
        for text in self.ways(upto):
            try:
                whole = text()
                end, stop = stop_after(whole, len(prompt), self._form.stops)
                begin = self._end_of_thought(upto[-1], completion := whole[len(prompt) : end - len(stop)])
            except InvalidInput:
                continue
            if whole.startswith(prompt):
                yield completion[begin:]

    def prompt(self, index: int) -> str:
        """What a server gives the model before a message. Raises InvalidInput."""
        if index not in self._prompts:
            self._prompts[index] = self._form.template.text(self._messages[:index], self._tools, prompt=True,
                                                            day=self._day)
        return self._prompts[index]
