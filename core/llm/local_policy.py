"""A policy in this process: a model of transformers, which somebody may be training, answers in batches."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from core.domain.message import Message
from core.llm.extra import require_extra
from core.llm.foreign_model import SAFE, load_model, require_model
from core.llm.local import asked_of, completion_of
from core.llm.model import Completion, EndpointError, Request
from core.llm.token_prompt import TokenPrompt, TokenPrompter, stop_ids

if TYPE_CHECKING:
    from core.llm.generation import Draw


class LocalPolicy:
    """Answers with a live model. Set `version` after each update of its weights."""

    def __init__(self, model: Any, tokenizer: Any, *, name: str = "policy", version: int = 0, temperature: float = 1.0,
                 top_p: float = 1.0, most_at_once: int = 64) -> None:
        """`most_at_once` requests go through the model together; more are answered one batch after the other."""
        self.name, self.version = name, version
        self._model, self._tokenizer = model, tokenizer
        self._temperature, self._top_p, self._most = temperature, top_p, most_at_once
        self._prompter = TokenPrompter(tokenizer, name, stop_ids(model, tokenizer))
        self._counts: dict[str, int] = {}

    @classmethod
    def load(cls, folder: str | Path, **settings: Any) -> LocalPolicy:
        """The policy of a model's folder. Raises InvalidInput, Unavailable (no_train_extra)."""
        require_extra("torch", "transformers", "jinja2")
        from transformers import AutoModelForCausalLM, AutoTokenizer

        require_model(folder)
        model = load_model(AutoModelForCausalLM, folder).eval()
        return cls(model, AutoTokenizer.from_pretrained(str(folder), **SAFE), **{"name": Path(folder).name, **settings})

    async def answer(self, requests: Sequence[Request]) -> list[Completion | EndpointError]:
        """Answers in the order of the requests; the event loop goes on meanwhile."""
        return await asyncio.to_thread(self._answers, list(requests))

    def count(self, message: Message) -> tuple[int, bool]:
        """The message's length in this policy's tokens; an estimate for the template's marks around it."""
        text = message.content
        if message.tool_calls:
            text += msgspec.json.encode(message.tool_calls).decode()
        if text not in self._counts:
            if len(self._counts) >= 10_000:
                self._counts.clear()
            self._counts[text] = len(self._tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])
        return self._counts[text] + 5, True

    async def close(self) -> None:
        """The model is its owner's."""

    def _answers(self, requests: list[Request]) -> list[Completion | EndpointError]:
        prepared: list[tuple[Request, TokenPrompt, Draw] | EndpointError] = [self._prepared(r) for r in requests]
        able = [one for one in prepared if not isinstance(one, EndpointError)]
        made = iter([c for at in range(0, len(able), self._most) for c in self._batch(able[at : at + self._most])])
        return [one if isinstance(one, EndpointError) else next(made) for one in prepared]

    def _prepared(self, request: Request) -> tuple[Request, TokenPrompt, Draw] | EndpointError:
        try:
            prompt = self._prompter.prompt(request)
            return request, prompt, asked_of(self._model, request, prompt.ids, self._temperature, self._top_p,
                                             self.name)
        except EndpointError as error:
            return error

    def _batch(self, batch: Sequence[tuple[Request, TokenPrompt, Draw]]) -> list[Completion]:
        from core.llm.generation import generate

        started, version = datetime.now(UTC), self.version
        given = generate(self._model, [asked for _, _, asked in batch], self._prompter.ends,
                         self._tokenizer.pad_token_id or 0)
        return [completion_of(self._prompter, request, prompt, asked, one, self.name, version, started)
                for (request, prompt, asked), one in zip(batch, given, strict=True)]
