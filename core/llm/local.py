"""A model in this process, run by transformers: `ModelSettings.name` is its folder. Nothing is downloaded.

`torch` and `transformers` are imported when the first answer is asked for, in a thread: the event loop of the
agent goes on.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from core.domain.errors import InvalidInput
from core.domain.ids import new_id
from core.domain.message import Message, ToolCall
from core.domain.step import Usage
from core.domain.task import ModelSettings
from core.llm.called_text import split_calls
from core.llm.extra import require_extra
from core.llm.foreign_model import SAFE, load_model
from core.llm.model import Completion, EndpointError, OnText, Request, ToolSpec
from core.llm.render_budget import rendered
from core.llm.template_messages import template_messages, template_tool
from core.llm.turns import by_turns, demands_turns


class LocalModel:
    """A causal language model from a folder. One answer at a time; a cancelled answer stops at its next token."""

    def __init__(self, settings: ModelSettings) -> None:
        require_extra("torch", "transformers", "jinja2")
        if not (Path(settings.name) / "config.json").is_file():
            raise InvalidInput("no_model", f"The folder {settings.name!r} holds no model.", path=settings.name)
        self._folder = settings.name
        self._temperature = settings.temperature or 0.0
        self._lock = asyncio.Lock()
        self._loading = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None
        self._counter: Any = None
        self._by_turns: bool | None = None

    @property
    def name(self) -> str:
        """The folder's name."""
        return Path(self._folder).name

    async def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """The model's answer. Raises EndpointError (context_too_long, endpoint_refused)."""
        async with self._lock:
            stop = threading.Event()
            loop = asyncio.get_running_loop()

            def say(text: str) -> None:
                if on_text is not None:
                    loop.call_soon_threadsafe(on_text, text)

            try:
                return await asyncio.to_thread(self._answer, request, say, stop)
            except asyncio.CancelledError:
                stop.set()  # the thread ends by itself, at its next token
                raise

    def count(self, message: Message) -> tuple[int, bool]:
        """The message's length in this model's tokens; an estimate for the template's marks around it."""
        tokenizer = self._tokenizer()
        text = msgspec.json.encode(message.tool_calls).decode() if message.tool_calls else ""
        return len(tokenizer(message.content + text, add_special_tokens=False, verbose=False)["input_ids"]) + 5, True

    async def close(self) -> None:
        """Let go of the weights."""
        async with self._lock:
            self._loaded = None

    def _tokenizer(self) -> Any:
        if self._counter is None:
            from transformers import AutoTokenizer

            self._counter = AutoTokenizer.from_pretrained(self._folder, **SAFE)
        return self._counter

    def _load(self) -> tuple[Any, Any]:
        with self._loading:
            if self._loaded is None:
                from transformers import AutoModelForCausalLM

                model = load_model(AutoModelForCausalLM, self._folder)
                self._loaded = self._tokenizer(), model.eval()
            return self._loaded

    def _answer(self, request: Request, say: OnText, stop: threading.Event) -> Completion:
        started = datetime.now(UTC)
        tokenizer, model = self._load()
        prompt = self._prompt(tokenizer, request)
        room = int(getattr(model.config, "max_position_embeddings", 0) or 1 << 30) - len(prompt)
        if room <= 0:
            raise EndpointError("context_too_long", f"The context has {len(prompt)} tokens, too many for {self.name}.")
        ids = self._generate(model, tokenizer, prompt, request, room, say, stop)
        stops = _stop_ids(model, tokenizer)
        ended = bool(ids) and ids[-1] in stops
        text = tokenizer.decode(ids[:-1] if ended else ids, skip_special_tokens=False)
        usage = Usage(input_tokens=len(prompt), output_tokens=len(ids))
        message = self._message(text, bool(request.tools))
        reason = "tool_calls" if message.tool_calls else "stop" if ended else "length"
        return Completion(message=message, usage=usage, model=self.name, finish_reason=reason, started_at=started,
                          ended_at=datetime.now(UTC))

    def _prompt(self, tokenizer: Any, request: Request) -> list[int]:
        if self._by_turns is None:
            self._by_turns = demands_turns(partial(self._text, tokenizer))
        text = self._text(tokenizer, by_turns(request.messages) if self._by_turns else request.messages, request.tools)
        return list(tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])

    def _text(self, tokenizer: Any, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> str:
        from jinja2.exceptions import TemplateError

        try:
            return str(rendered(str(tokenizer.chat_template), lambda: tokenizer.apply_chat_template(
                template_messages(messages), tools=[template_tool(t) for t in tools] or None, tokenize=False,
                add_generation_prompt=True)))
        except (TemplateError, TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RuntimeError,
                InvalidInput) as error:
            sentence = f"The chat template of {self.name} refuses the messages: {str(error)[:200]}"
            raise EndpointError("endpoint_refused", sentence) from error

    def _generate(self, model: Any, tokenizer: Any, prompt: list[int], request: Request, room: int,
                  say: OnText, stop: threading.Event) -> list[int]:
        import torch
        from transformers import StoppingCriteriaList

        class Watch:
            """Shows the text so far after each token, and ends a cancelled answer."""

            def __call__(self, ids: Any, scores: Any, **_: Any) -> Any:
                say(tokenizer.decode(ids[0, len(prompt) :], skip_special_tokens=True))
                return torch.full((ids.shape[0],), stop.is_set(), dtype=torch.bool, device=ids.device)

        inputs = torch.tensor([prompt], device=model.device)
        sampling: dict[str, Any] = {"do_sample": False}
        temperature = self._temperature if request.temperature is None else request.temperature
        if temperature:
            sampling = {"do_sample": True, "temperature": temperature}
        with torch.inference_mode():
            out = model.generate(inputs, attention_mask=torch.ones_like(inputs),
                                 max_new_tokens=min(request.max_tokens, room), **sampling,
                                 pad_token_id=tokenizer.pad_token_id, stopping_criteria=StoppingCriteriaList([Watch()]))
        return [int(i) for i in out[0, len(prompt) :]]

    def _message(self, text: str, tools: bool) -> Message:
        if not tools:
            return Message(role="assistant", content=text)
        content, calls = split_calls(text)
        made = tuple(ToolCall(id=f"call_{new_id()[-12:]}", name=n, arguments=a) for n, a in calls)
        return Message(role="assistant", content=content, tool_calls=made)


def _stop_ids(model: Any, tokenizer: Any) -> set[int]:
    ends = model.generation_config.eos_token_id
    return {*(ends if isinstance(ends, list) else [ends]), tokenizer.eos_token_id} - {None}
