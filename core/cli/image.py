"""`tiphys image`: the sandbox image."""

from __future__ import annotations

import asyncio
from contextlib import closing
from datetime import timedelta

import click

from core.cli.number import Number
from core.cli.output import emit, json_option, note, say
from core.sandbox.engine import open_engine
from core.sandbox.image import build_image
from core.sandbox.unused_images import prune_images
from core.server.pool_file import engines_of
from core.store.home import Home


@click.group()
def image() -> None:
    """The images that sandboxes are made from."""


@image.command()
@click.option("--base", default="", help="An image to build upon (default: made from this system's packages).")
@json_option
def build(base: str, as_json: bool) -> None:
    """Build the default sandbox image on the local Docker engine, without a registry; quick when it is there."""
    if not as_json:
        note("Building the sandbox image …")
    with closing(open_engine()) as engine:
        tag = build_image(engine, base)
    emit({"image": tag}) if as_json else say(tag)


@image.command()
@click.option("--days", type=Number(0, 36500), default=30.0, show_default=True,
              help="Of so many days nobody asked for it.")
@click.option("--dry-run", is_flag=True, help="Only name them.")
@json_option
def prune(days: float, dry_run: bool, as_json: bool) -> None:
    """Remove images that were made for tasks and sandboxes and that nothing needs, from all engines of the host pool.

    None is lost: each is made again when a session asks for it. Containers keep theirs. A server does this daily.
    """
    found = 0
    for at in engines_of(Home.default()):
        for one in asyncio.run(prune_images(at, timedelta(days=days), removes=not dry_run)):
            found += 1
            if as_json:
                emit({"image": one.name, "engine": at.url, "used": one.used.isoformat(), "bytes": one.bytes,
                      "removed": not dry_run})
            else:
                say(f"{one.name}  last asked for {one.used:%Y-%m-%d}, {one.bytes >> 20:,} MiB")
    if not found and not as_json:
        say("There is no such image.")
