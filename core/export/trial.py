"""What a chat template can do, found out with small conversations of which the exact actions are known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, partial

import msgspec

from core.domain.errors import InvalidInput
from core.domain.message import Message, ToolCall
from core.export.locate import Context, Form, Located
from core.export.spans import stop_after
from core.export.template import FOLLOWING, NO_FRAME, TextFrame, followed
from core.export.thoughts import find_places
from core.llm.model import ToolSpec
from core.llm.template_messages import demands_turns

_TOOLS = (ToolSpec(name="probe_tool", description="Probe."),)
_CALL = ToolCall(id="call00001", name="probe_tool", arguments='{"key": "Vb1x"}')
_ASKED = Message(role="user", content="Qa1x")
_RESULT = Message(role="tool", content="Rc1x", tool_call_id=_CALL.id, name=_CALL.name)
_DIALOGUE = (_ASKED, Message(role="assistant", content="Ab1x"), Message(role="user", content="Qc1x"),
             Message(role="assistant", content="Ad1x"))


class Trial:
    """A template in one mode (`form.template`) on trial; `refusal` is why it is not exact, None where it is."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self.refusal: InvalidInput | None = None
        self._exact = 0
        try:
            self.form = self._framed(form)
            self._exact = self._dialogue()
        except InvalidInput as error:
            self.refusal = error

    @property
    def rank(self) -> tuple[bool, int, bool, int, bool, bool]:
        """The higher the better; a mode that adds nothing of its own to answers before one that does."""
        kinds = self.form.thoughts.kinds if self.form.thoughts is not None else 0
        return (self.refusal is None, kinds, self.form.plain == NO_FRAME, self._exact, self.renders_calls,
                self.renders_thoughts)

    @cached_property
    def demands_turns(self) -> bool:
        """Whether the template refuses two messages of a person one after the other."""
        return self.refusal is None and demands_turns(lambda messages: self.form.template.text(messages, prompt=True))

    @cached_property
    def renders_calls(self) -> bool:
        """Whether the template shows tools, calls and results."""
        return self._shows_calls("")

    @cached_property
    def renders_thoughts(self) -> bool:
        """Whether it also shows the text beside a call."""
        return self._shows_calls("Th1x")

    def _framed(self, form: Form) -> Form:
        """The form with what the template itself writes around answers."""
        form = msgspec.structs.replace(form, plain=_frame(form, _DIALOGUE[1], ()),
                                       beside=_frame(form, _called("Th1x"), _TOOLS))
        if form.template.mode.thoughts:
            found = find_places(partial(_ways, form, ()), partial(_ways, form, _TOOLS), _called(""), form.stops)
            form = msgspec.structs.replace(form, thoughts=found)
        return form

    def _dialogue(self) -> int:
        """How many of two answers are exact. Raises InvalidInput where none is, or an answer holds what is not its."""
        found, refused = Context(self.form, self._thoughtful(_DIALOGUE)).cuts({1, 3})
        if not found:
            raise InvalidInput(refused[0].code, refused[0].sentence)
        if any("Qa1x" not in one.text for one in found):
            raise InvalidInput("template_not_exact", "The chat template leaves out what the model was told.")
        return sum(len(one.trained) for one in found)

    def _thoughtful(self, messages: Sequence[Message]) -> list[Message]:
        """The messages, the model's with a thought where the template has a place for it."""
        places = self.form.thoughts
        return [msgspec.structs.replace(m, reasoning="Rt1x")
                if places is not None and m.role == "assistant" and places.has_place(m) else m for m in messages]

    def _shows_calls(self, thought: str) -> bool:
        if self.refusal is not None:
            return False
        messages = self._thoughtful([_ASKED, _called(thought), _RESULT])
        try:
            one = Context(self.form, messages, _TOOLS).locate({1})
            continued = self.form.template.text(messages, _TOOLS)
            prompt = self.form.template.text(messages, _TOOLS, prompt=True)
        except InvalidInput:
            return False
        return _whole_call(one) and continued.startswith(_upto(one)) and "Rc1x" in prompt and thought in _upto(one)


def _ways(form: Form, tools: Sequence[ToolSpec], answer: Message) -> Iterator[tuple[str, partial[str]]]:
    context = Context(form, [_ASKED, answer], tools)
    try:
        prompt = context.prompt(1)
    except InvalidInput:
        return
    yield from ((prompt, text) for text in context.ways([_ASKED, answer]))


def _called(thought: str) -> Message:
    return Message(role="assistant", content=thought, tool_calls=(_CALL,))


def _whole_call(one: Located) -> bool:
    """Whether the call was found and ends before anything else begins."""
    return len(one.trained) == 1 and FOLLOWING not in one.text[one.trained[0].start : one.trained[0].end]


def _upto(one: Located) -> str:
    return one.text[: one.trained[0].end]


def _frame(form: Form, answer: Message, tools: Sequence[ToolSpec]) -> TextFrame:
    """What stands around the text of an answer that follows a question, at its end or with more behind it. Only
    control tokens and the words between them are the template's own; else there is no frame, and nothing is exact."""
    tried = [_around(form, more, tools) for more in (followed([_ASKED, answer]), [_ASKED, answer])]
    found = [f for f in tried if f is not None]
    own = [f for f in found if f != NO_FRAME and "think" not in f.before + f.after
           and any(c in f.before + f.after for c in form.control)]
    return NO_FRAME if NO_FRAME in found or not own else own[0]


def _around(form: Form, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> TextFrame | None:
    """What stands around the text of the second message; None where that cannot be told."""
    answer = messages[1]
    try:
        prompt = form.template.text(messages[:1], tools, prompt=True)
        whole = form.template.text(messages, tools)
        end, stop = stop_after(whole, len(prompt), form.stops)
    except InvalidInput:
        return None
    before, found, after = whole[len(prompt) : end - len(stop)].partition(answer.content)
    if not found or not whole.startswith(prompt) or any(c.name in before for c in answer.tool_calls):
        return None
    if FOLLOWING in after:
        return None
    return TextFrame(before=before.strip(), after="" if answer.tool_calls else after.strip())
