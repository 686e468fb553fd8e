"""`tiphys preview`: a training sample as the model will see it, the trained tokens marked."""

from __future__ import annotations

import sys
from contextlib import closing
from itertools import groupby
from typing import Any

import click
import msgspec

from core.cli.export import default_model
from core.cli.log_access import reading, require_seeing
from core.cli.number import Whole
from core.cli.options import sample_options
from core.cli.output import emit, json_option, note, say, visible
from core.export.options import ExportOptions, read_options
from core.export.preview import preview as shown
from core.export.render import Renderer
from core.export.rows import SessionRows
from core.export.source import LogSource
from core.llm.extra import has_extra
from core.store.home import Home

OPEN, CLOSE = "⟦", "⟧"
"""Around trained text where no colour can be shown."""


@click.command()
@click.argument("session")
@sample_options
@click.option("--sample", default=0, show_default=True, type=Whole(), help="Which of the session's samples, from 0.")
@click.option("--colour", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True)
@json_option
def preview(session: str, model: str, sample: int, ablation: bool, colour: str, as_json: bool, **chosen: str) -> None:
    """Show a training sample of SESSION as the model will see it, with the tokens that are trained."""
    with reading(Home.default()) as conn:
        require_seeing(conn, Home.default(), session)
    options = read_options({**chosen, "verdicts": "none" if ablation else "final"})
    data = sample_data(Home.default(), session, model, sample, options)
    if as_json:
        emit(data)
        return
    for at, one in enumerate(data["samples"]):
        mark = "→" if at == data["sample"] else " "
        say(f"{mark} {at}  {one['kind']:<8} up to step {one['step']:<6} {one['tokens']:>8,} tokens, "
            f"{one['trained']:,} trained ({_share(one['trained'], one['tokens'])})")
    for refusal in data["refused"]:
        note(f"left out: {refusal['sentence']} [{refusal['code']}]")
    if data["tokens"]:
        say("")
        styled = colour == "always" or (colour == "auto" and sys.stdout.isatty())
        click.echo(marked(data["tokens"], styled), color=styled)


def sample_data(home: Home, session: str, model: str, sample: int, options: ExportOptions) -> dict[str, Any]:
    """A sample with all its tokens, the list of the session's samples, and what is refused. Raises ReportableError."""
    has_model = bool(model) or has_extra("transformers", "jinja2")
    renderer = Renderer(model or default_model(home), thoughts=options.thoughts) if has_model else None
    if renderer is None:
        note("Without a model's template and tokens: the training extra is not here (tiphys train-setup).")
    elif renderer.refusal is not None:
        raise renderer.refusal
    with closing(LogSource(home.server_db)) as source:
        rows = SessionRows(source, session, renderer, options)
        every = list(rows)
        page = shown(every, sample, 0, (every[sample].tokens or sys.maxsize) if 0 <= sample < len(every) else 0)
    share = round(page.trained / page.total, 6) if page.total else None
    shown_page = msgspec.structs.replace(page, refused=tuple(rows.refused))
    return {"session": session, **msgspec.to_builtins(shown_page), "share": share}


def marked(tokens: list[list[Any]], styled: bool) -> str:
    """The text of tokens, runs of trained ones in green, or between signs."""
    groups = groupby(tokens, key=lambda t: bool(t[1]))
    runs = ((trained, visible("".join(text for text, _ in run))) for trained, run in groups)
    if styled:
        return "".join(click.style(text, fg="green", bold=True) if trained else text for trained, text in runs)
    return "".join(f"{OPEN}{text}{CLOSE}" if trained else text for trained, text in runs)


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"
