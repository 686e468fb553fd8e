"""A model in this process, run by transformers: `ModelSettings.name` is its folder. Nothing is downloaded.

`torch` and `transformers` are imported when the first answer is asked for, in a thread: the event loop of the
agent goes on.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from core.domain.message import Message
from core.domain.sampled import Sampled
from core.domain.step import Usage
from core.domain.task import ModelSettings
from core.llm.extra import require_extra
from core.llm.foreign_model import SAFE, load_model, require_model
from core.llm.model import Completion, EndpointError, OnText, Request
from core.llm.token_prompt import TokenPrompt, TokenPrompter, stop_ids

if TYPE_CHECKING:
    from core.llm.generation import Draw, Drawn


class LocalModel:
    """A causal language model from a folder. One answer at a time; a cancelled answer stops at its next token."""

    def __init__(self, settings: ModelSettings) -> None:
        require_extra("torch", "transformers", "jinja2")
        require_model(settings.name)
        self._folder, self.name = settings.name, Path(settings.name).name
        self._temperature = settings.temperature or 0.0
        self._top_p = settings.top_p or 1.0
        self._lock = asyncio.Lock()
        self._loading = threading.Lock()
        self._loaded: tuple[Any, Any, TokenPrompter] | None = None
        self._counter: Any = None

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

    def _load(self) -> tuple[Any, Any, TokenPrompter]:
        with self._loading:
            if self._loaded is None:
                from transformers import AutoModelForCausalLM

                model = load_model(AutoModelForCausalLM, self._folder)
                tokenizer = self._tokenizer()
                prompter = TokenPrompter(tokenizer, self.name, stop_ids(model, tokenizer))
                self._loaded = tokenizer, model.eval(), prompter
            return self._loaded

    def _answer(self, request: Request, say: OnText, stop: threading.Event) -> Completion:
        from core.llm.generation import generate

        started = datetime.now(UTC)
        tokenizer, model, prompter = self._load()
        prompt = prompter.prompt(request)
        asked = asked_of(model, request, prompt.ids, self._temperature, self._top_p, self.name)

        def shown(row: int, given: Drawn) -> bool:
            say(tokenizer.decode(given.ids, skip_special_tokens=True))
            return stop.is_set()

        given = generate(model, [asked], prompter.ends, tokenizer.pad_token_id or 0, shown)[0]
        return completion_of(prompter, request, prompt, asked, given, self.name, 0, started)


def asked_of(model: Any, request: Request, prompt: Sequence[int], temperature: float, top_p: float, name: str) -> Draw:
    """What is asked of a model for a request. Raises EndpointError (context_too_long)."""
    from core.llm.generation import Draw

    room = int(getattr(model.config, "max_position_embeddings", 0) or 1 << 30) - len(prompt)
    if room <= 0:
        raise EndpointError("context_too_long", f"The context has {len(prompt)} tokens, too many for {name}.")
    heat = temperature if request.temperature is None else request.temperature
    return Draw(prompt=prompt, most=min(request.max_tokens, room), temperature=heat, top_p=top_p, seed=request.seed)


def completion_of(prompter: TokenPrompter, request: Request, prompt: TokenPrompt, asked: Draw, given: Drawn, name: str,
                  version: int, started: datetime) -> Completion:
    """The answer that sampled tokens are, with the tokens."""
    message = prompter.message(given.ids, ended=given.ended, tools=bool(request.tools))
    reason = "tool_calls" if message.tool_calls else "stop" if given.ended else "length"
    sampled = Sampled.of(ids=given.ids, logprobs=given.logprobs, prompt_ids=prompt.ids[prompt.known :],
                         continues=prompt.continues, policy=name, version=version, temperature=asked.temperature,
                         top_p=asked.top_p, texts=prompter.texts(given.ids))
    return Completion(message=message, usage=Usage(input_tokens=len(prompt.ids), output_tokens=len(given.ids)),
                      model=name, finish_reason=reason, started_at=started, ended_at=datetime.now(UTC),
                      sampled=sampled)
