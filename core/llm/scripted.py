"""A model that plays a script: for demonstrations and tests, and labelled "scripted" wherever a model is named.

The script is TOML: `[[turn]]` tables of the main line, and `[[branch]]` tables that advice in the context sets
off (`when`, a regular expression over the texts of `<real_user>`). Where the play stands is written in the ids
of the calls (`branch.turn.call`), so the model keeps no memory and a restarted runner gets the same answers.
"""

from __future__ import annotations

import asyncio
import os
import re
import tomllib
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from core.domain.errors import InvalidInput
from core.domain.message import Message, ToolCall
from core.domain.step import Usage
from core.domain.task import ModelSettings
from core.llm.model import Completion, LanguageModel, OnText, Request

PACE = "TIPHYS_SCRIPT_PACE"
"""Environment variable: seconds per turn instead of the script's own pace."""

MAIN = "main"
_ID = re.compile(r"(?P<branch>[A-Za-z_]\w*)\.(?P<turn>\d+)\.\d+(?:~(?P<back>\w+\.\d+))?\Z")
_ADVICE = re.compile(r"<real_user>\s*(.*?)\s*</real_user>", re.DOTALL)
_SHOWS_S = 0.1


class Call(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One call of a turn."""

    tool: str
    arguments: dict[str, Any] = {}


class ScriptedTurn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the model says at one step. `malformed` is the text of one more call whose arguments are no JSON."""

    thought: str = ""
    calls: tuple[Call, ...] = ()
    pace_s: float | None = None
    malformed: str = ""


class Branch(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Another line, taken when new advice matches; `back` goes on where the line was left."""

    name: str
    when: str
    turn: tuple[ScriptedTurn, ...]
    back: bool = False


class Script(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A whole script."""

    pace_s: float = 1.0
    turn: tuple[ScriptedTurn, ...] = ()
    branch: tuple[Branch, ...] = ()
    summary: str = ""


class _Place(msgspec.Struct, frozen=True):
    """Where the play stands: the turn to play next, and where a branch returns to."""

    branch: str
    turn: int
    back: str = ""


def read_script(text: str) -> Script:
    """The script of a text. Raises InvalidInput."""
    try:
        script = msgspec.convert(tomllib.loads(text), Script)
        for branch in script.branch:
            re.compile(branch.when)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError, re.error) as error:
        raise InvalidInput("bad_script", f"A scripted model's script cannot be read: {error}") from error
    return script


class ScriptedModel(LanguageModel):
    """Plays a script."""

    name = "scripted"

    def __init__(self, script: Script, settings: ModelSettings = ModelSettings()) -> None:
        self._script, self._settings = script, settings
        self._branches = {b.name: b for b in script.branch}
        pace = os.environ.get(PACE)
        self._pace = float(pace) if pace else None

    @classmethod
    def open(cls, settings: ModelSettings, script_text: str | None = None) -> ScriptedModel:
        """The model of the settings; the script is a file unless its text is given. Raises InvalidInput."""
        text = script_text
        if text is None:
            try:
                text = Path(settings.script).read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise InvalidInput("bad_script", f"The script {settings.script!r} cannot be read: {error}") from error
        return cls(read_script(text), settings)

    async def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """The next turn of the play."""
        started = datetime.now(UTC)
        if request.purpose == "summarize":
            message, pace = Message(role="assistant", content=self._summary(request)), self._script.pace_s
        else:
            message, pace = self._next(request.messages)
        await self._speak(message.content, pace if self._pace is None else self._pace, on_text)
        return Completion(message=message, usage=self._usage(request, message), model=self.name,
                          finish_reason="tool_calls" if message.tool_calls else "stop", started_at=started,
                          ended_at=datetime.now(UTC))

    # ---- the play

    def _next(self, messages: Sequence[Message]) -> tuple[Message, float]:
        place = self._place(messages)
        lines = self._line(place.branch)
        if place.turn >= len(lines) and place.back:
            branch, turn = place.back.split(".")
            place = _Place(branch, int(turn) + place.turn - len(lines))
            lines = self._line(branch)
        if place.turn >= len(lines):
            last = ScriptedTurn(thought="The script ends here.", calls=(Call(tool="finish"),))
            return self._message(last, place), self._script.pace_s
        turn_ = lines[place.turn]
        return self._message(turn_, place), self._script.pace_s if turn_.pace_s is None else turn_.pace_s

    def _line(self, branch: str) -> tuple[ScriptedTurn, ...]:
        return self._branches[branch].turn if branch in self._branches else self._script.turn

    def _place(self, messages: Sequence[Message]) -> _Place:
        """Where the last call with an id of ours leaves the play, and whether advice since then changes its line."""
        place, since, taken = _Place(MAIN, 0), 0, set()
        for index, message in enumerate(messages):
            if message.role != "assistant":
                continue
            found = next((m for c in message.tool_calls if (m := _ID.match(c.id))), None)
            if found:
                place = _Place(found["branch"], int(found["turn"]) + 1, found["back"] or "")
                taken.add(found["branch"])
            else:
                place = msgspec.structs.replace(place, turn=place.turn + 1)
            since = index + 1
        for message in messages[since:]:
            if message.role == "user" and message.content.startswith("<real_user>"):
                place = self._turned(place, _ADVICE.findall(message.content), taken)
        return place

    def _turned(self, place: _Place, advice: Sequence[str], taken: set[str]) -> _Place:
        for text in advice:
            for branch in self._script.branch:
                if re.search(branch.when, text) and (branch.back or branch.name not in taken):
                    back = f"{place.branch}.{place.turn}" if branch.back else ""
                    return _Place(branch.name, 0, place.back if place.back and branch.back else back)
        return place

    def _message(self, turn: ScriptedTurn, place: _Place) -> Message:
        back = f"~{place.back}" if place.back else ""
        calls = [
            ToolCall(id=f"{place.branch}.{place.turn}.{n}{back}", name=call.tool,
                     arguments=msgspec.json.encode(call.arguments).decode())
            for n, call in enumerate(turn.calls)
        ]
        if turn.malformed:
            calls.append(ToolCall(id=f"{place.branch}.{place.turn}.{len(calls)}{back}", name="run_command",
                                  arguments=turn.malformed))
        return Message(role="assistant", content=turn.thought.strip(), tool_calls=tuple(calls))

    def _summary(self, request: Request) -> str:
        summary = self._script.summary.strip() or f"A scripted summary of what came before step {request.step}."
        return f"<state_snapshot>\n{summary}\n</state_snapshot>"

    async def _speak(self, text: str, seconds: float, on_text: OnText | None) -> None:
        """Show the text growing, as a real model's does."""
        pieces = max(1, int(seconds / _SHOWS_S))
        for n in range(1, pieces + 1):
            await asyncio.sleep(max(0.0, seconds) / pieces)
            if on_text is not None:
                on_text(text[: len(text) * n // pieces])

    def _usage(self, request: Request, message: Message) -> Usage:
        used = sum(self.count(m)[0] for m in request.messages) + len(msgspec.json.encode(request.tools)) // 4
        return Usage(input_tokens=used if request.messages else 0, output_tokens=self.count(message)[0])
