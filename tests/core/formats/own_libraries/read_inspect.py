"""Inspect's own reader on logs: python -P read_inspect.py LOG… prints a line of JSON for each.

Run by an interpreter that has inspect-ai; what it may import of ours is nothing.
"""

import json
import sys

from inspect_ai.log import EvalSample, read_eval_log
from inspect_ai.model import ChatMessage, Content, ModelOutput
from inspect_ai.scorer import Score, value_to_float


def words(content: str | list[Content]) -> str:
    """The words of a content; what is neither word nor reasoning by its type."""
    if isinstance(content, str):
        return content
    return "\n".join(p.text if p.type == "text" else f"[{p.type}]" for p in content if p.type != "reasoning")


def reasons(content: str | list[Content]) -> str:
    """What the model thought, without what is a cipher."""
    parts = [] if isinstance(content, str) else [p for p in content if p.type == "reasoning"]
    return "\n".join(p.summary or "" if p.redacted else p.reasoning for p in parts)


def message(one: ChatMessage) -> tuple[str, str, list[str]]:
    """Role, words, names of the tools that it calls."""
    return one.role, words(one.content), [call.function for call in getattr(one, "tool_calls", None) or []]


def tokens(output: ModelOutput) -> tuple[int | None, int | None]:
    """All that was read, with what came from a cache, and what was written."""
    used = output.usage
    if used is None:
        return None, None
    cached = (used.input_tokens_cache_write or 0) + (used.input_tokens_cache_read or 0)
    # providers that count the cache into input_tokens have totals without it
    whole = used.input_tokens + cached + used.output_tokens == used.total_tokens
    return used.input_tokens + cached if whole else used.total_tokens - used.output_tokens, used.output_tokens


def by_events(sample: EvalSample) -> list[dict]:
    """A step for each answer of a model, with what its calls gave."""
    ran: dict[str, list] = {}
    for event in sample.events:
        if event.event == "tool":
            ran.setdefault(event.id, []).append(event)
    steps = []
    for event in sample.events:
        if event.event != "model" or event.pending:
            continue
        said = event.output.choices[0].message if event.output.choices else None
        calls = (said.tool_calls if said else None) or []
        outs = []
        for tool in (ran[call.id].pop(0) for call in calls if ran.get(call.id)):
            shown = words(tool.result) if isinstance(tool.result, list) else (
                tool.result if isinstance(tool.result, str) else json.dumps(tool.result))
            outs.append({"text": shown or (tool.error.message if tool.error else ""),
                         "failed": tool.error is not None or tool.failed is True})
        if event.error:
            outs.append({"text": event.error, "failed": True})
        steps.append({"text": f"{reasons(said.content)}\n{words(said.content)}" if said else "", "outs": outs,
                      "calls": [(call.function, call.arguments) for call in calls], "tokens": tokens(event.output),
                      # some logs name messages of a pool that Inspect itself no longer looks up
                      "context": [message(m) for m in event.input] or None})
    return steps


def by_messages(sample: EvalSample) -> list[dict]:
    """The same of a sample that holds only its last conversation."""
    steps, context, is_cut = [], [], False
    for one in sample.messages:
        if one.role == "assistant":
            steps.append({"text": f"{reasons(one.content)}\n{words(one.content)}", "context": list(context), "outs": [],
                          "calls": [(call.function, call.arguments) for call in one.tool_calls or []]})
        elif one.role == "tool":
            if not context or is_cut:  # who called is not in the file
                is_cut = True
                steps = steps or [{"calls": [], "outs": []}]
                steps[-1]["calls"].append((one.function, {}))
            steps[-1]["outs"].append({"text": words(one.content), "failed": one.error is not None})
        context.append(message(one))
    return steps


def scores(sample: EvalSample) -> list[tuple[str, object, float | None]]:
    """Name and value of each score, with what Inspect takes it for as a number, in the order of the file."""
    given = [("intermediate", e.score) for e in sample.events if e.event == "score" and e.intermediate]
    return [(name, score.value, number(score)) for name, score in [*given, *(sample.scores or {}).items()]]


def number(score: Score) -> float | None:
    """Words that are no score are none here."""
    plain = isinstance(score.value, str | int | float)
    return value_to_float()(score.value) if plain and (score.value in list("CIPN") or not isinstance(
        score.value, str)) else None


for path in sys.argv[1:]:
    log = read_eval_log(path, resolve_attachments="full")
    print(json.dumps([{"name": f"sample {sample.id}, epoch {sample.epoch}", "scores": scores(sample),
                       "steps": by_events(sample) or by_messages(sample)} for sample in log.samples or []]))
