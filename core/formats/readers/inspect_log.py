"""Inspect logs: `.eval` (a zip file, deflate or zstd, whole or chunked samples) and `.json`, versions 2 and 3.

Each sample of each epoch is one session. An interrupted run, or a cut file, has only its journal's start in place of
the header.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from core.domain.errors import InvalidInput
from core.formats.format import Format
from core.formats.imported import Imported
from core.formats.json_text import parse
from core.formats.readers import inspect_sample
from core.formats.rows import joined
from core.formats.source import Source
from core.formats.values import dict_of, dicts_of
from core.formats.zipped import Zip, opened

NAME = "inspect"
_WHOLE = re.compile(r"samples/[^/]+\.json")
_SHELL = re.compile(r"(samples/[^/]+)/sample\.json")


def recognises(source: Source) -> bool:
    """Whether the file is a zip file with a log's header or journal, or an object with an evaluation."""
    if source.head.startswith(b"PK\x03\x04"):
        try:
            with opened(source.file) as file:
                return "header.json" in file.names or "_journal/start.json" in file.names
        except InvalidInput:
            return False
    log = source.object
    return "task" in dict_of(log.get("eval")) and bool(log.keys() & {"samples", "plan", "status", "results"})


def read(source: Source) -> Iterator[Imported]:
    """A session per sample; a damaged sample is named beside the one before it."""
    if not source.head.startswith(b"PK\x03\x04"):
        log = source.object
        numbered = ((f"Sample {n}", s) for n, s in enumerate(dicts_of(log.get("samples")), 1))
        end = [("The end", source.json.problem)] if source.json.problem else []
        yield from joined(source.path, _sessions(source, log, chain(numbered, end)))
        return
    with opened(source.file) as file:
        yield from joined(source.path, _sessions(source, _header(file), _members(file)))


def _header(file: Zip) -> dict[str, Any]:
    for name in ("header.json", "_journal/start.json"):
        if name in file.names:
            try:
                if found := dict_of(parse(file.read(name)).value):
                    return found
            except InvalidInput:
                continue
    return {}


def _members(file: Zip) -> Iterator[tuple[str, Any]]:
    """Every sample of the archive; a sentence in place of one that cannot be read."""
    for name in file.names:
        shell = _SHELL.fullmatch(name)
        if not shell and not _WHOLE.fullmatch(name):
            continue
        try:
            parsed = parse(file.read(name))
            value = dict_of(parsed.value)
            if shell and value:
                value = _assembled(file, shell[1], value)
            if value:
                yield name, value
            if not value or parsed.problem:
                yield name, parsed.problem or "It is no object."
        except InvalidInput as error:
            yield name, str(error)
    if file.trouble:
        yield "The end", file.trouble


def _assembled(file: Zip, prefix: str, shell: dict[str, Any]) -> dict[str, Any]:
    """A chunked sample as the one object that it would be otherwise."""
    parts = {kind: _sequence(file, f"{prefix}/{kind}/") for kind in ("messages", "events", "calls", "attachments")}
    refs = shell.get("message_refs")
    messages = inspect_sample.expand(refs, parts["messages"]) if isinstance(refs, list) else parts["messages"]
    return {**shell, "messages": messages, "events": parts["events"], "events_data": {"messages": parts["messages"]},
            "attachments": {str(n): text for n, text in enumerate(parts["attachments"])}}


def _sequence(file: Zip, prefix: str) -> list[Any]:
    found: list[Any] = []
    places = {int(stem): name for name in file.names if name.startswith(prefix)
              and (stem := name[len(prefix):].removesuffix(".json")).isdecimal() and len(stem) < 12}
    for _, name in sorted(places.items()):
        value = parse(file.read(name)).value
        found.extend(value if isinstance(value, list) else [])
    return found


def _sessions(source: Source, log: dict[str, Any],
              samples: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Imported | str]]:
    for where, sample in samples:
        if isinstance(sample, str):
            yield where, f"{where}: {sample}"
        else:
            made = inspect_sample.session(source.name, log, sample)
            yield where, made if isinstance(made, Imported) else f"{where} was left out: {made}"


FORMAT = Format(name=NAME, title="Inspect log", recognises=recognises, read=read)
