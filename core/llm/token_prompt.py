"""What a model is given, in its own tokens: the chat template's text, and behind tokens of before only what is new.

The tokens of before are never made from text again: what the model sampled stays as it was sampled, also where the
template would write the answer otherwise. Only the text that comes behind the answer is tokenized.
"""

import json
import re
from collections.abc import Collection, Sequence
from functools import partial
from typing import Any

import msgspec

from core.domain.errors import InvalidInput
from core.domain.ids import new_id
from core.domain.message import Message, ToolCall
from core.llm.model import EndpointError, PastTokens, Request, ToolSpec
from core.llm.render_budget import rendered
from core.llm.template_messages import by_turns, demands_turns, template_messages, template_tool
from core.llm.token_texts import texts_of_ids


class TokenPrompt(msgspec.Struct, frozen=True):
    """A prompt: all of its tokens, and (`continues`) how many of them the row held before."""

    ids: list[int]
    known: int = 0

    @property
    def continues(self) -> bool:
        """Whether it goes on from the row so far."""
        return self.known > 0


class TokenPrompter:
    """Makes prompts and reads answers with a model's own tokenizer."""

    def __init__(self, tokenizer: Any, name: str, ends: Collection[int]) -> None:
        """`ends` are the ids that end an answer; `name` is told in refusals."""
        self._tokenizer, self._name, self.ends = tokenizer, name, frozenset(ends)
        self._marks = [str(tokenizer.decode([i], skip_special_tokens=False)) for i in sorted(self.ends)]
        self._by_turns: bool | None = None
        self._known: dict[int, str] = {}

    def prompt(self, request: Request) -> TokenPrompt:
        """The tokens of a request. Raises EndpointError (endpoint_refused)."""
        whole = self._written(request.messages, request.tools)
        if request.past is not None and request.past.ids:
            tail = self._behind(whole, request, request.past)
            if tail is not None:
                return TokenPrompt([*request.past.ids, *self._ids(tail)], len(request.past.ids))
        return TokenPrompt(self._ids(whole))

    def written_answer(self, request: Request, answer: Message) -> list[int]:
        """The tokens in which the template tells an answer to a request, its end with them; nobody sampled them.

        Raises EndpointError (endpoint_refused) where the template tells the request otherwise once it is answered.
        """
        before = self._written(request.messages, request.tools)
        whole = self._written((*request.messages, answer), request.tools, asks=False)
        if not whole.startswith(before):
            raise EndpointError("endpoint_refused", f"The template of {self._name} tells a context otherwise once it "
                                "is answered, so the answer has no tokens of its own.")
        text = whole[len(before):]
        ends = [text.find(mark) + len(mark) for mark in self._marks if mark and mark in text]
        return self._ids(text[: min(ends)] if ends else text)

    def message(self, ids: Sequence[int], *, ended: bool, tools: bool) -> Message:
        """The message that sampled tokens say."""
        text = self._tokenizer.decode(ids[:-1] if ended else ids, skip_special_tokens=False)
        if not tools:
            return Message(role="assistant", content=text)
        content, calls = split_calls(text)
        made = tuple(ToolCall(id=f"call_{new_id()[-12:]}", name=n, arguments=a) for n, a in calls)
        return Message(role="assistant", content=content, tool_calls=made)

    def texts(self, ids: Sequence[int]) -> list[str]:
        """What each sampled token adds to the text; [] where this tokenizer cannot say."""
        return texts_of_ids(partial(self._tokenizer.decode, skip_special_tokens=False), ids, self._known)

    def _behind(self, whole: str, request: Request, past: PastTokens) -> str | None:
        """The text behind the last answer, its end mark where the model gave none; None where the context does not go
        on from it."""
        if not 0 < past.messages < len(request.messages) or request.messages[past.messages - 1].role != "assistant":
            return None
        before = self._written(request.messages[: past.messages], request.tools, asks=False)
        if not whole.startswith(before):
            return None
        mark, at = max(((m, before.rfind(m)) for m in self._marks), key=lambda found: found[1], default=("", -1))
        if at < 0 or before[at + len(mark) :].strip():
            return None
        has_end = past.ids[-1] in self.ends
        return whole[at + len(mark) if has_end else at :]

    def _written(self, messages: Sequence[Message], tools: Sequence[ToolSpec], *, asks: bool = True) -> str:
        if self._by_turns is None:
            self._by_turns = demands_turns(partial(self._text, asks=True))
        return self._text(by_turns(messages) if self._by_turns else messages, tools, asks=asks)

    def _ids(self, text: str) -> list[int]:
        return list(self._tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])

    def _text(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = (), *, asks: bool = True) -> str:
        from jinja2.exceptions import TemplateError

        tokenizer = self._tokenizer
        try:
            return str(rendered(str(tokenizer.chat_template), lambda: tokenizer.apply_chat_template(
                template_messages(messages), tools=[template_tool(t) for t in tools] or None, tokenize=False,
                add_generation_prompt=asks)))
        except (TemplateError, TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RuntimeError,
                InvalidInput) as error:
            sentence = f"The chat template of {self._name} refuses the messages: {str(error)[:200]}"
            raise EndpointError("endpoint_refused", sentence) from error


def stop_ids(model: Any, tokenizer: Any) -> set[int]:
    """The ids that end an answer of a model."""
    ends = model.generation_config.eos_token_id
    return {*(ends if isinstance(ends, list) else [ends]), tokenizer.eos_token_id} - {None}


_CALL = re.compile(r"<tool_call>\s*(.*?)\s*(?:</tool_call>|\Z)", re.DOTALL)


def split_calls(text: str) -> tuple[str, list[tuple[str, str]]]:
    """The text beside the calls, and each call as (name, arguments as JSON text).

    What cannot be read becomes a call named "null" with the text as it came: the agent answers a malformed call.
    """
    calls = [_call(m.group(1)) for m in _CALL.finditer(text)]
    return (_CALL.sub("", text).strip() if calls else text), calls


def _call(text: str) -> tuple[str, str]:
    try:
        call = json.loads(text)
    except (ValueError, RecursionError):
        return "null", text
    if not isinstance(call, dict) or not isinstance(call.get("name"), str):
        return "null", text
    return call["name"], json.dumps(call.get("arguments", {}), ensure_ascii=False)
