"""The formats of data sets: how a row becomes one JSON object. One function per format, one table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from core.domain.errors import NotFound
from core.domain.message import Message, ToolCall
from core.export.rows import SampleRow
from core.llm.template_messages import arguments_of, template_message, template_tool
from core.workers.export import DATASET_FORMATS

IGNORED = -100
"""The label of a token without loss, as torch's cross entropy knows it."""


class DatasetFormat(msgspec.Struct, frozen=True, kw_only=True):
    """`needs_tokens` formats hold what the renderer made; the others hold messages and trust the trainer's template.
    `use` says how a trainer is told to read them. Where one knows no mask within a row (`last_only`: it trains the last
    message), `encode` is asked once for each message that trains. `in_text`: it knows no calls, so these are written
    in the plain-text action format. `beside` are small files that a trainer reads beside the data."""

    name: str
    use: str
    needs_tokens: bool
    encode: Callable[[SampleRow], dict[str, Any]]
    parquet: bool = False
    shards: bool = False
    last_only: bool = False
    in_text: bool = False
    beside: Mapping[str, Any] = {}

    @property
    def title(self) -> str:
        """Its name for people."""
        return DATASET_FORMATS[self.name].title

    def lines(self, row: SampleRow) -> Iterator[dict[str, Any]]:
        """What is written of a row: one object, or one for each message that trains."""
        if not self.last_only:
            yield self.encode(row)
            return
        for last in (i for i, trained in enumerate(row.trained) if trained):
            parts = row.sample.parts[: last + 1]
            trained = tuple(i == last for i in range(last + 1))
            yield self.encode(msgspec.structs.replace(row, sample=msgspec.structs.replace(row.sample, parts=parts),
                                                      trained=trained))

    def count(self, row: SampleRow) -> int:
        """How many objects `lines` gives."""
        return sum(row.trained) if self.last_only else 1


def labels_of(row: SampleRow) -> list[int]:
    """The ids where loss falls, IGNORED elsewhere."""
    rendered = row.rendered
    return [i if m else IGNORED for i, m in zip(rendered.ids, rendered.mask, strict=True)] if rendered else []


def _trl(row: SampleRow) -> dict[str, Any]:
    ids = row.rendered.ids if row.rendered else []
    return {"input_ids": ids, "labels": labels_of(row), **_thoughts(row), **_origin(row)}


def _tokens(row: SampleRow) -> dict[str, Any]:
    """Every row is one document: its positions begin at 0."""
    ids = row.rendered.ids if row.rendered else []
    return {"input_ids": ids, "attention_mask": [1] * len(ids), "position_ids": list(range(len(ids))),
            **_thoughts(row), **_origin(row)}


def _thoughts(row: SampleRow) -> dict[str, Any]:
    """Where recorded thoughts stand: start and end of each by turns. All rows of a data set have it, or none."""
    rendered = row.rendered
    shown = rendered is not None and rendered.shows_thoughts
    return {"thoughts": [edge for place in rendered.thoughts for edge in place]} if rendered and shown else {}


def _chat(row: SampleRow) -> dict[str, Any]:
    return {"messages": _messages(row, lambda t: {"train": t}), **_tools(row), **_origin(row)}


def _slime(row: SampleRow) -> dict[str, Any]:
    """Arguments as objects: slime gives the messages to the chat template as they are, and that writes JSON itself."""
    messages = [_with_thought(template_message(p.message), p.message)
                | ({"step_loss_mask": int(t)} if p.message.role == "assistant" else {})
                for p, t in zip(row.sample.parts, row.trained, strict=True)]
    return {"messages": messages, "metadata": {**_tools(row), **_origin(row)}}


def _llama_factory(row: SampleRow) -> dict[str, Any]:
    """Tools as JSON text, as its renderers read them."""
    parts = zip(row.sample.parts, row.trained, strict=True)
    tools = {"tools": _json(_tools(row)["tools"])} if row.sample.tools else {}
    return {"messages": [_weighted(p.message, t) for p, t in parts], **tools, **_origin(row)}


def _sharegpt(row: SampleRow) -> dict[str, Any]:
    """Turns of a person and the model by turns, as LLaMA-Factory's older data format wants them."""
    turns: list[dict[str, str]] = []
    system = [p.message.content for p in row.sample.parts if p.message.role == "system"]
    for message in (p.message for p in row.sample.parts if p.message.role != "system"):
        side = "gpt" if message.role == "assistant" else "human"
        if side == "human" and turns and turns[-1]["from"] == side:
            turns[-1]["value"] += f"\n\n{message.content}"
            continue
        if side == "gpt" and (not turns or turns[-1]["from"] == side):
            turns.append({"from": "human", "value": ""})
        turns.append({"from": side, "value": message.content})
    return {"conversations": turns, "system": "\n\n".join(system), **_origin(row)}


def _weighted(message: Message, trained: bool) -> dict[str, Any]:
    content = [{"type": "reasoning", "value": message.reasoning}] if message.reasoning else []
    content += [{"type": "text", "value": message.content}] if message.content or not message.tool_calls else []
    content += [{"type": "tool_call", "value": f'{{"name": {_json(c.name)}, "arguments": {_arguments(c)}}}'}
                for c in message.tool_calls]
    return {"role": message.role, "content": content, "loss_weight": 1.0 if trained else 0.0}


def _messages(row: SampleRow, mark: Callable[[bool], dict[str, Any]]) -> list[dict[str, Any]]:
    return [_plain(p.message) | (mark(t) if p.message.role == "assistant" else {})
            for p, t in zip(row.sample.parts, row.trained, strict=True)]


def _plain(message: Message) -> dict[str, Any]:
    """A message of the OpenAI API: a call's arguments are text, exactly as the model wrote them."""
    plain = template_message(message)
    for call, written in zip(plain.get("tool_calls", ()), message.tool_calls, strict=False):
        call["function"]["arguments"] = written.arguments
    return _with_thought(plain, message)


def _with_thought(plain: dict[str, Any], message: Message) -> dict[str, Any]:
    """With the recorded thought, where rows hold these, under the name that most chat templates read."""
    return plain | ({"reasoning_content": message.reasoning} if message.reasoning else {})


def _tools(row: SampleRow) -> dict[str, Any]:
    return {"tools": [template_tool(t) for t in row.sample.tools]} if row.sample.tools else {}


def _origin(row: SampleRow) -> dict[str, Any]:
    people = {"people": row.sample.people} if row.sample.people else {}
    return {"session": row.sample.session, "kind": row.sample.kind, "step": row.sample.step, **people}


def _arguments(call: ToolCall) -> str:
    """JSON in any case: the text as the model wrote it, or that text as a string where it is no object."""
    return _json(call.arguments) if isinstance(arguments_of(call), str) else call.arguments or "{}"


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


_DATASET_INFO = {"tiphys": {"file_name": "data.jsonl", "formatting": "sharegpt",
                            "columns": {"messages": "conversations", "system": "system"}}}

_WRITTEN = {f.name: f for f in (
    DatasetFormat(name="trl", needs_tokens=True, encode=_trl,
                  use="SFTTrainer takes input_ids and labels as they are; set max_length (its default cuts at 1,024). "
                      "TRL itself knows no weights: for it export with --balance repeat or none."),
    DatasetFormat(name="trl-parquet", needs_tokens=True, encode=_trl, parquet=True, use="As for TRL."),
    DatasetFormat(name="tokens", needs_tokens=True, encode=_tokens, parquet=True, shards=True,
                  use="docs/engines.md has a recipe per engine; loss = Σ w·l / Σ w over an update."),
    DatasetFormat(name="chat", needs_tokens=False, encode=_chat,
                  use="Read train yourself: most trainers otherwise train every assistant message."),
    DatasetFormat(name="slime", needs_tokens=False, encode=_slime,
                  use="--input-key messages; check it with slime's get_text_from_loss_mask."),
    DatasetFormat(name="axolotl", needs_tokens=False, encode=_chat,
                  use="message_field_training: train; roles_to_train: []"),
    DatasetFormat(name="llama-factory", needs_tokens=False, encode=_llama_factory,
                  use="LLaMA-Factory's v1 data format."),
    DatasetFormat(name="llama-factory-sharegpt", needs_tokens=False, encode=_sharegpt,
                  use="dataset_dir: this folder, dataset: tiphys, mask_history: true (only then the mask is exact).",
                  last_only=True, in_text=True, beside={"dataset_info.json": _DATASET_INFO}),
)}

FORMATS: dict[str, DatasetFormat] = {name: _WRITTEN[name] for name in DATASET_FORMATS}
"""What a person can choose, in that order: a line there for which nothing is written here stops this import."""


def format_named(name: str) -> DatasetFormat:
    """The format of a name. Raises NotFound."""
    if name not in FORMATS:
        raise NotFound("no_format", f"There is no export format {name}; known are {', '.join(FORMATS)}.", format=name)
    return FORMATS[name]
