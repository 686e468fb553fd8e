"""Options that several commands take: how samples are made, and which endpoint is asked."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

_SAMPLE = (
    click.option("--model", default="", help="Folder of the model whose template and tokens count (default: SmolLM2)."),
    click.option("--calls", type=click.Choice(["auto", "native", "text"]), default="auto", show_default=True,
                 help="Tool calls by the model's template, or in the plain-text action format."),
    click.option("--thoughts", type=click.Choice(["drop", "context", "keep"]), default="drop", show_default=True,
                 help="Recorded reasoning before an action: left out, shown without loss, or trained with it."),
    click.option("--ablation", is_flag=True, help="Every action trains, whatever the verdicts say."),
    click.option("--unjudged", type=click.Choice(["refuse", "keep", "mask"]), default="refuse", show_default=True,
                 help="What becomes of steps that nobody judged: they train (keep), they do not (mask)."),
    click.option("--taken-over", type=click.Choice(["keep", "mask"]), default="keep", show_default=True,
                 help="What people wrote in the agent's place: it trains as the agent's own, or is context alone."),
    click.option("--preset", type=click.Choice(["once", "paper"]), default="once", show_default=True,
                 help="Each action in one sample, or as the paper made its data; options that you give go before it."),
)
_ENDPOINT = (
    click.option("--base-url", default="", help="Its OpenAI-compatible endpoint."),
    click.option("--key-env", default="", help="The environment variable that holds its key."),
)


def sample_options(command: F) -> F:
    """Which model's samples, and what trains in them; named as `ExportOptions` but for `model` and `ablation`."""
    return _with(command, _SAMPLE)


def endpoint_options(command: F) -> F:
    """Where the model that was named before is asked: `base_url` and `key_env`."""
    return _with(command, _ENDPOINT)


def _with(command: F, options: tuple[Callable[[F], F], ...]) -> F:
    for option in reversed(options):
        command = option(command)
    return command


class NewPlace(click.Path):
    """A file or folder that is going to be written: nothing else lies where one of its folders would be."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        place = Path(os.fsdecode(super().convert(value, param, ctx)))
        if not self.file_okay and os.path.lexists(place) and not place.is_dir():  # click looks for plain files only
            self.fail(f"{place} is no folder.", param, ctx)
        above = next((one for one in place.absolute().parents if os.path.lexists(one)), None)
        if above is not None and not above.is_dir():
            self.fail(f"{place} cannot be made: {above} is no folder.", param, ctx)
        return place
