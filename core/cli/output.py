"""What commands print: one JSON object a line with --json and nothing else on stdout, else text for people."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import click
import msgspec

F = TypeVar("F", bound=Callable[..., Any])

_UNKNOWN = "–"


def json_option(command: F) -> F:
    """The --json flag, passed as `as_json`."""
    about = "Print JSON, one object a line, and nothing else."
    return click.option("--json", "as_json", is_flag=True, help=about)(command)


def emit(value: object) -> None:
    """One JSON object on a line of its own; a sign stands for each byte of a file's name that is no UTF-8 (PEP 383)."""
    try:
        text = msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        held = json.dumps(msgspec.to_builtins(value), ensure_ascii=False, separators=(",", ":"))
        text = held.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    click.echo(text)


def say(text: str) -> None:
    """One line for a person; control characters of foreign text are made visible."""
    click.echo(visible(text))


def note(text: str) -> None:
    """A remark beside the result, on stderr."""
    click.echo(visible(text), err=True)


def visible(text: str) -> str:
    """The text without any character by which a terminal could be driven."""
    return "".join(c if c in "\n\t" or c.isprintable() or c == "\u3000" else f"\\x{ord(c):02x}" for c in text)


def table(titles: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Aligned columns under their titles; None is shown as unknown."""
    shown = [[_cell(c) for c in row] for row in rows]
    widths = [max(len(t), *(len(r[i]) for r in shown)) if shown else len(t) for i, t in enumerate(titles)]
    for line in ([*titles], *shown):
        say("  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip())


def _cell(value: object) -> str:
    if value is None or value == "":
        return _UNKNOWN
    if isinstance(value, bool) or not isinstance(value, int | float):
        return " ".join(str(value).split())[:60]
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"
