"""A step as parts of a text view: thought, each action with its arguments, its observation with its envelope."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from difflib import unified_diff
from typing import Any

import msgspec

from app.desk.row_text import ICONS, UNNAMED, tool_word
from app.desk.step_words import error_word, status_word
from app.kit import quantities
from app.kit.highlight import lexer_for
from app.kit.i18n import translate
from app.kit.long_text import Part
from app.kit.markdown import markdown_parts
from app.kit.quantities import byte_size
from app.kit.safe_text import one_line
from app.step.sampled_parts import sampled_parts
from core.domain.deed import NEW, OLD, changed_texts, command_line
from core.domain.picture import Picture
from core.domain.plan import plan_items
from core.domain.sampled import Sampled
from core.domain.step import Action, Observation, StepBody
from core.domain.tools import OWN, ToolTable

PLAN_SIGNS = {"done": "✓", "working": "▸", "open": "○"}
_STATUS_SIGN = {"finished": "✓", "running": "…", "timeout": "✗", "killed": "✗", "refused": "✗", "failed": "✗"}


def parts_of(body: StepBody, tools: ToolTable = OWN, *, raw: bool = False) -> list[Part]:
    """The whole step, each action followed by what came back for it. `tools` says what the actions are for; `raw` shows
    every text as it was written."""
    parts: list[Part] = []
    if body.pictures:
        parts += [_heading(translate("Step", "Sent by a person")), *picture_parts(body.pictures)]
    if body.thought:
        heading = translate("Step", "Thought") if body.actions or body.observations else (translate("Step", "Answer"))
        parts += [_heading(heading), *prose(body.thought, raw=raw)]
    answers = {o.call_id: o for o in body.observations}
    count = len(body.actions)
    for number, action in enumerate(body.actions, 1):
        kind = tools.tool(action.tool).kind_of(action.arguments)
        parts += _action_parts(action, "tool" if raw else kind, number, count)
        observation = answers.pop(action.call_id, None)
        if observation is not None:
            parts += observation_parts(observation, kind, raw=raw)
    for observation in answers.values():
        parts += observation_parts(observation, raw=raw)
    if body.unsampled:
        sentence = translate("Step", "This answer has no sampled tokens: {why}")
        parts.append(Part(text=sentence.format(why=body.unsampled) + "\n", style="meta", meaning="attention"))
    if not parts:
        parts.append(Part(text=translate("Step", "The model wrote nothing in this step."), style="meta"))
    return parts


def answer_parts(sampled: Sampled, body: StepBody, tools: ToolTable = OWN, *, raw: bool = False) -> list[Part]:
    """The step with the tokens of its answer in the place of what they say, and all that came back."""
    kinds = {a.call_id: tools.tool(a.tool).kind_of(a.arguments) for a in body.actions}
    parts = sampled_parts(sampled)
    for observation in body.observations:
        parts += observation_parts(observation, kinds.get(observation.call_id, "tool"), raw=raw)
    return parts


def reward_words(observations: Sequence[Observation]) -> str:
    """What an environment gave for these, in its own unit, and whether its episode is over; "" where it does not."""
    rewards = [one.reward for one in observations if one.reward is not None]
    words = [translate("Step", "reward {value}").format(value=f"{sum(rewards):g}")] if rewards else []
    if any(one.done for one in observations):
        words.append(translate("Step", "episode over"))
    return " · ".join(words)


def prose(text: str, *, raw: bool = False) -> list[Part]:
    """What a model or a person wrote, drawn as the Markdown that it mostly is; an empty line after it."""
    if raw:
        return [_gap(Part(text=text.strip("\n"), style="mono", escapes=True))]
    return [*markdown_parts(text.strip()), Part(text="\n", style="prose")]


def _action_parts(action: Action, kind: str, number: int, count: int) -> list[Part]:
    about = one_line(str(action.arguments.get("description") or ""), 200) if kind in ("shell", "subagent") else ""
    if action.tool == UNNAMED:
        about = translate("Step", "its file does not name the tool")
    heading = f"{one_line(tool_word(action.tool), 80)}{f'  {about}' if about else ''}"
    if count > 1:
        place = translate("Step", "{n} of {count}").format(n=number, count=count)
        heading += f"  ({place})"
    parts = [_heading(heading, number if count > 1 else 0, ICONS.get(kind, "braces"))]
    if action.malformed:
        parts.append(Part(text=translate("Step", "Malformed call: ") + action.malformed + "\n", meaning="error"))
    made = _DRAWN.get(kind, argument_parts)(action.arguments)
    return [*parts, *(made or [Part(text="\n", style="meta")])]


def _shell_parts(given: dict[str, Any]) -> list[Part]:
    """The command as it would be typed, then what else was said of it."""
    key = next((k for k in _COMMANDS if given.get(k)), "")
    command = command_line(given.get(key)).rstrip("\n")
    if not command:
        return argument_parts(given)
    rest = {k: v for k, v in given.items() if k not in (key, "description")}
    return [Part(text=f"{command}\n", style="block", lexer="bash"), *(argument_parts(rest) or [Part(text="\n")])]


def _edit_parts(given: dict[str, Any]) -> list[Part]:
    """What goes and what comes, line by line, then what else was said."""
    pairs = list(changed_texts(given))
    if not pairs:
        return argument_parts(given)
    texts = (*OLD, *NEW, "edits", "replacements")
    parts = argument_parts({k: v for k, v in given.items() if k not in texts})
    for old, new in pairs:
        parts.append(_gap(Part(text="\n".join(_compared(old.split("\n"), new.split("\n"))), style="block",
                               lexer="diff")))
    return parts


def _compared(old: list[str], new: list[str]) -> list[str]:
    """What goes and what comes, with two lines around; of long texts all of both."""
    if sum(map(len, old + new)) > MOST_DIFF:
        return [*(f"-{line}" for line in old), *(f"+{line}" for line in new)]
    return [line for line in unified_diff(old, new, lineterm="", n=2) if not line.startswith(("---", "+++", "@@"))]


def _todo_parts(given: dict[str, Any]) -> list[Part]:
    """A checklist, as one."""
    items = plan_items(given)
    if items is None:
        return argument_parts(given)
    lines = [Part(text=f"  {PLAN_SIGNS[item.state]} {one_line(item.words, 300)}\n", style="prose",
                  meaning={"done": "muted", "working": "person"}.get(item.state, "")) for item in items]
    return [*lines, Part(text="\n", style="prose")]


def _words_parts(given: dict[str, Any]) -> list[Part]:
    """What was asked of a subagent, or said to a person: its longest text as prose."""
    texts = (k for k, v in given.items() if isinstance(v, str) and k != "description")
    key = max(texts, key=lambda k: len(given[k]), default="")
    rest = {k: v for k, v in given.items() if k not in (key, "description")}
    return [*argument_parts(rest), *(prose(given[key]) if key else [])]


_COMMANDS = ("command", "cmd", "keystrokes", "code", "script")
_DRAWN: dict[str, Callable[[dict[str, Any]], list[Part]]] = {
    "shell": _shell_parts, "edit": _edit_parts, "todo": _todo_parts, "subagent": _words_parts,
    "message": _words_parts, "thought": _words_parts, "submit": _words_parts}
MOST_DIFF = 20_000
"""Characters up to which two texts are compared line by line."""

MOST_JSON = 200_000
"""Characters of an output that is laid out as JSON."""


def argument_parts(arguments: dict[str, Any]) -> list[Part]:
    """Arguments pretty-printed: short ones on a line, texts in frames and in the colours of their language."""
    path = next((str(arguments[k]) for k in ("path", "filename", "file_path") if arguments.get(k)), "")
    parts: list[Part] = []
    for key, value in arguments.items():
        text = value if isinstance(value, str) else _json(value)
        block = "\n" in text or len(text) > 120
        parts.append(Part(text=f"{key}{':' if block else ': '}", style="mono", meaning="muted"))
        if block:
            parts.append(Part(text="\n", style="mono"))
        parts.append(Part(text=text.rstrip("\n") + "\n", style="block" if block else "mono",
                          lexer=_lexer(key, value, path)))
    return [*parts[:-1], _gap(parts[-1])] if parts else parts


def _lexer(key: str, value: object, path: str) -> str:
    if not isinstance(value, str):
        return "json"
    if key in ("command", "input_text"):
        return "bash"
    return lexer_for(path) if key in ("content", "new_content", "text", "old_str", "new_str", "replacement") else ""


def observation_parts(observation: Observation, kind: str = "tool", *, raw: bool = False) -> list[Part]:
    """An observation: its envelope in words, its error, its output as the model saw it."""
    failed = observation.is_error
    sign = "✗" if failed else _STATUS_SIGN.get(observation.status, "")
    word = translate("Step", "Observation")
    parts = [Part(text=f"{word}  {sign} {envelope(observation)}\n", style="heading", meaning="error" if failed else "",
                  icon="circle-x" if failed else "corner-down-right")]
    output, error = observation.output, observation.error
    if error is not None:  # a program that tells of the failure in the words of its output is not told twice
        message = "" if output.text.strip().startswith(error.message.strip()) else error.message
        words = (error_word(error.kind) if observation.status != "finished" else "", message)
        if any(words):
            parts.append(Part(text=f"{': '.join(filter(None, words))}\n", meaning="error"))
    if output.text:
        parts += _output(output.text, kind, raw)
    elif not observation.data and observation.error is None:
        parts.append(Part(text=translate("Step", "No output.") + "\n", style="meta"))
    if output.truncated:
        parts.append(Part(text=_cut(observation) + "\n", style="meta", meaning="attention"))
    if observation.data:
        parts.append(Part(text=_json(observation.data) + "\n", style="mono", lexer="json", folds=True))
    parts += picture_parts(observation.pictures)
    return [*parts[:-1], _gap(parts[-1])]


def picture_parts(pictures: Sequence[Picture]) -> list[Part]:
    """What is known of each picture, and its place; of one that is not stored why."""
    parts = []
    for picture in pictures:
        kind = one_line(picture.media, 60) or translate("Step", "picture")
        if picture.blob:
            words = f"{kind} · {byte_size(picture.size)}"
        elif picture.place:
            sentence = translate("Step", "Picture at {place}: only its address is known, and no address is loaded.")
            words = sentence.format(place=one_line(picture.place, 200))
        else:
            sentence = translate("Step", "{kind} of {size}: too large to be stored.")
            words = sentence.format(kind=kind, size=byte_size(picture.size))
        parts.append(Part(text=words + "\n", style="meta", picture=picture.blob))
    return parts


def _output(text: str, kind: str, raw: bool) -> list[Part]:
    """An output: a subagent's report as prose, JSON laid out, everything else as a terminal shows it."""
    if raw:
        return [Part(text=text.rstrip("\n") + "\n", style="mono", escapes=True)]
    if kind == "subagent":
        return markdown_parts(text.strip())
    if text[:1] in "{[" and len(text) < MOST_JSON:
        with suppress(msgspec.DecodeError, RecursionError):
            return [Part(text=msgspec.json.format(text, indent=2) + "\n", style="mono", lexer="json", folds=True)]
    return [Part(text=text.rstrip("\n") + "\n", style="mono", terminal=True)]


def envelope(observation: Observation) -> str:
    """Status, exit code, duration, job and terminal in one line."""
    error = observation.error if observation.status == "finished" else None  # the tool ended; what it did, failed
    words = [error_word(error.kind) if error is not None else status_word(observation.status)]
    if error is not None and error.kind == "exit_code" and observation.exit_code is not None:
        words = []  # the code says it
    if observation.exit_code is not None:
        words.append(translate("Step", "exit code {code}").format(code=observation.exit_code))
    took = quantities.duration(quantities.between(observation.started_at, observation.ended_at))
    if took:
        words.append(took)
    if observation.job:
        words.append(translate("Step", "job {id}").format(id=one_line(observation.job, 40)))
    if observation.output.terminal:
        words.append(translate("Step", "terminal {name}").format(name=one_line(observation.output.terminal, 60)))
    if observation.output.truncated:
        words.append(translate("Step", "truncated"))
    if gained := reward_words([observation]):
        words.append(gained)
    return " · ".join(words)


def _cut(observation: Observation) -> str:
    output = observation.output
    sentence = translate("Step", "The model was given {shown} of {total} characters.")
    return sentence.format(shown=quantities.number(len(output.text)), total=quantities.number(output.total_chars))


def _heading(text: str, choice: int = 0, icon: str = "") -> Part:
    return Part(text=text + "\n", style="heading", choice=choice, icon=icon)


def _gap(part: Part) -> Part:
    """The part with an empty line after it."""
    return msgspec.structs.replace(part, text=part.text.rstrip("\n") + "\n\n")


def _json(value: object) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
