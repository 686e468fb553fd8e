"""Any OpenAI-compatible endpoint, through the official client: streaming, tool calls, usage, cost.

One attempt per call (`max_retries=0`): the agent retries, so that it can be stopped and can say that it waits.
"""

import os
import re
from collections.abc import AsyncIterator, Iterable
from datetime import UTC, datetime
from typing import Any

import openai
from openai import AsyncOpenAI, DefaultAsyncHttpxClient

from core.domain.host_rights import endpoint_of
from core.domain.message import Message, ToolCall, payload, tool_payload
from core.domain.step import Usage
from core.domain.task import ModelSettings
from core.llm.engine_tokens import ASKED, sampled_of
from core.llm.model import Completion, EndpointError, LanguageModel, OnText, Request

CONNECT_S, READ_S = 20.0, 300.0
_TOO_LONG = re.compile(r"context.?length|maximum context|too many tokens|prompt is too long|context window", re.I)
_THINK = re.compile(r"\A\s*<think>(.*?)</think>\s*", re.DOTALL)
_OPTIONAL = ("max_tokens", "stream_options", "temperature")


class OpenAIModel(LanguageModel):
    """A model behind an endpoint."""

    def __init__(self, settings: ModelSettings) -> None:
        self._settings, self.name = settings, settings.name
        self._client = LateClient(settings)
        self._without: set[str] = set()

    async def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """One attempt, streamed unless tokens are recorded. Raises EndpointError for all that can go wrong there."""
        started = datetime.now(UTC)
        answer = _StreamedAnswer(on_text)
        try:
            made = await self._client.api.chat.completions.create(**self._arguments(request))
            if self._settings.records_tokens:
                return self._with_tokens(made, request, on_text, started)
            await answer.read(made)
        except openai.APIStatusError as error:
            self._learn(error)
            raise _refusal(error) from error
        except openai.APITimeoutError as error:
            raise EndpointError("endpoint_timeout", "The endpoint did not answer in time.") from error
        except openai.APIConnectionError as error:
            raise EndpointError("endpoint_unreachable", f"The endpoint {self._settings.base_url or 'of OpenAI'} cannot "
                                f"be reached: {_cause(error)}.") from error
        except openai.APIError as error:
            raise _broken(str(error.message)) from error
        except (openai.OpenAIError, ValueError, TypeError, LookupError, AttributeError) as error:
            raise _broken(f"{type(error).__name__}: {error}") from error
        except Exception as error:
            if type(error).__module__.split(".")[0] in ("httpx", "httpx2", "httpcore", "httpcore2", "h11"):
                raise _broken(f"the connection broke off ({type(error).__name__})") from error
            raise
        return answer.completion(self._settings, started)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    def _arguments(self, request: Request) -> dict[str, Any]:
        limit = "max_completion_tokens" if "max_tokens" in self._without else "max_tokens"
        arguments: dict[str, Any] = {
            "model": self._settings.name,
            "messages": [payload(m) for m in request.messages],
            limit: request.max_tokens,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if request.tools:
            arguments["tools"] = [tool_payload(t.name, t.description, t.parameters) for t in request.tools]
        temperature = self._settings.temperature if request.temperature is None else request.temperature
        if temperature is not None:
            arguments["temperature"] = temperature
        if self._settings.top_p is not None:
            arguments["top_p"] = self._settings.top_p
        if self._settings.records_tokens:
            del arguments["stream"], arguments["stream_options"]
            arguments |= {"temperature": 1.0, "top_p": 1.0} | arguments | ASKED
        if request.seed is not None:
            arguments["seed"] = request.seed
        return {name: value for name, value in arguments.items() if name not in self._without}

    def _with_tokens(self, made: Any, request: Request, on_text: OnText | None, started: datetime) -> Completion:
        """The answer with its tokens. Raises EndpointError for none."""
        if not made.choices:
            raise _broken("it holds no answer")
        choice = made.choices[0]
        message = choice.message
        thought = getattr(message, "reasoning_content", None) or getattr(message, "reasoning", None) or ""
        text, reasoning = split_thinking(message.content or "", thought)
        calls = [ToolCall(id=call.id, name=call.function.name, arguments=call.function.arguments or "{}")
                 for call in message.tool_calls or []]
        if on_text is not None:
            on_text(text)
        given = self._arguments(request)
        policy = made.model or self._settings.name
        sampled, why = sampled_of(made, choice, request, policy=policy, temperature=given["temperature"],
                                  top_p=given["top_p"])
        return Completion(message=Message(role="assistant", content=text, tool_calls=tuple(calls), reasoning=reasoning),
                          usage=usage_of(made.usage, self._settings), model=policy, sampled=sampled, unsampled=why,
                          finish_reason=choice.finish_reason or "stop", started_at=started, ended_at=datetime.now(UTC))

    def _learn(self, error: openai.APIStatusError) -> None:
        """Leave out, from the next attempt on, an optional argument that this endpoint says it does not take."""
        message = str(error.message)
        if error.status_code in (400, 422) and not _TOO_LONG.search(message):
            self._without |= {name for name in _OPTIONAL if re.search(rf"\b{name}\b", message)}


class LateClient:
    """An endpoint's client, which is opened when it is asked for something. Its key is read from the environment then
    and kept nowhere else."""

    def __init__(self, settings: ModelSettings) -> None:
        self._settings = settings
        self._open: AsyncOpenAI | None = None

    @property
    def api(self) -> AsyncOpenAI:
        """The client. Raises EndpointError (endpoint_refused)."""
        if self._open is None:
            self._open = open_client(self._settings)
        return self._open

    async def close(self) -> None:
        """Close the connections; what is asked after that opens others."""
        if self._open is not None:
            client, self._open = self._open, None
            await client.close()


def open_client(settings: ModelSettings) -> AsyncOpenAI:
    """A client of an endpoint that sends what was allowed and nothing more. Raises EndpointError (endpoint_refused)."""
    env = settings.key_env
    key = os.environ.get(env, "") if env else "none"
    if not key:
        raise EndpointError("endpoint_refused", f"The environment variable {env} holds no key.", env=env)
    timeout = openai.Timeout(READ_S, connect=CONNECT_S)
    client = AsyncOpenAI(api_key=key, base_url=endpoint_of(settings.base_url), max_retries=0, timeout=timeout,
                         http_client=DefaultAsyncHttpxClient(follow_redirects=False))
    # The library would add what it finds in other variables; only what was allowed may leave, and only there.
    client.organization = client.project = client.admin_api_key = client.webhook_secret = None
    client._custom_headers = {}
    return client


class _StreamedAnswer:
    """Puts the pieces of a stream together."""

    def __init__(self, on_text: OnText | None) -> None:
        self._on_text = on_text
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: dict[int, dict[str, str]] = {}
        self._finish = ""
        self._model = ""
        self._usage: Any = None

    async def read(self, stream: AsyncIterator[Any]) -> None:
        async for chunk in stream:
            self._model = getattr(chunk, "model", "") or self._model
            self._usage = getattr(chunk, "usage", None) or self._usage
            for choice in (getattr(chunk, "choices", None) or [])[:1]:
                self._take(choice)

    def _take(self, choice: Any) -> None:
        delta = choice.delta
        if delta is not None:
            thought = getattr(delta, "reasoning_content", None) or getattr(delta, "reasoning", None)
            if isinstance(thought, str):
                self._reasoning.append(thought)
            if isinstance(delta.content, str) and delta.content:
                self._text.append(delta.content)
                if self._on_text is not None:
                    self._on_text("".join(self._text))
            for call in delta.tool_calls or []:
                self._call(call)
        self._finish = choice.finish_reason or self._finish

    def _call(self, piece: Any) -> None:
        index = piece.index if isinstance(piece.index, int) else len(self._calls)
        call = self._calls.setdefault(index, {"id": "", "name": "", "arguments": ""})
        call["id"] = piece.id or call["id"]
        if piece.function is not None:
            call["name"] += piece.function.name or ""
            call["arguments"] += piece.function.arguments or ""

    def completion(self, settings: ModelSettings, started: datetime) -> Completion:
        """The whole answer. Raises EndpointError when the stream was cut."""
        if not self._finish:
            raise _broken("the answer was cut off before its end")
        ended = datetime.now(UTC)
        text, reasoning = split_thinking("".join(self._text), "".join(self._reasoning))
        calls = [
            ToolCall(id=call["id"] or f"call-{int(started.timestamp() * 1000)}-{index}", name=call["name"],
                     arguments=call["arguments"] or "{}")
            for index, call in sorted(self._calls.items())
        ]
        message = Message(role="assistant", content=text, tool_calls=tuple(calls), reasoning=reasoning)
        return Completion(message=message, usage=usage_of(self._usage, settings), model=self._model or settings.name,
                          finish_reason=self._finish, started_at=started, ended_at=ended)


def split_thinking(text: str, reasoning: str) -> tuple[str, str]:
    """Text and reasoning; a leading <think> block, which some servers leave in the text, is reasoning."""
    found = _THINK.match(text)
    return (text[found.end() :], (reasoning + found[1]).strip()) if found else (text, reasoning)


def usage_of(usage: Any, settings: ModelSettings) -> Usage:
    """What a completion used, with its cost where both prices are known."""
    if usage is None:
        return Usage()
    used, made = getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None)
    cached = getattr(getattr(usage, "prompt_tokens_details", None), "cached_tokens", None)
    return Usage(input_tokens=used, output_tokens=made, cached_tokens=cached, cost_usd=settings.cost(used, made))


def _refusal(error: openai.APIStatusError) -> EndpointError:
    status, message = error.status_code, _short(str(error.message))
    if status in (400, 413, 422) and _TOO_LONG.search(str(error.message)):
        return EndpointError("context_too_long", f"The endpoint says that the context is too long: {message}")
    if status == 429:
        return EndpointError("endpoint_busy", "The endpoint is busy (429).", retry_after=_retry_after(error))
    if status >= 500 or status == 408:
        return EndpointError("endpoint_failed", f"The endpoint failed ({status}): {message}",
                             retry_after=_retry_after(error))
    return EndpointError("endpoint_refused", f"The endpoint refused the request ({status}): {message}")


def _retry_after(error: openai.APIStatusError) -> float | None:
    try:
        seconds = float(error.response.headers.get("retry-after", ""))
    except ValueError:
        return None
    return seconds if 0 <= seconds < 86_400 else None


def _broken(why: str) -> EndpointError:
    return EndpointError("endpoint_nonsense", f"The endpoint's answer cannot be used: {_short(why)}")


def _cause(error: BaseException) -> str:
    causes: Iterable[BaseException] = filter(None, (error.__cause__, error))
    return _short(next((str(c) for c in causes if str(c)), type(error).__name__))


def _short(text: str) -> str:
    return " ".join(text.split())[:300]
