"""`tiphys tasks generate` and `tiphys tasks drafts`: making tasks, and a person's word about each."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import click

from core.cli.output import emit, json_option, note, say, table


@click.command()
@click.option("--count", required=True, type=click.IntRange(1, 100_000), help="How many tasks are to pass all gates.")
@click.option("--out", required=True, type=click.Path(path_type=Path, file_okay=False), help="A new folder for them.")
@click.option("--seed", default=1, show_default=True, help="Of the templates: the same seed gives the same tasks.")
@click.option("--base-image", default="", help="What the images of Harbor's form build upon.")
@click.option("--at-once", default=2, show_default=True, type=click.IntRange(1, 64), help="Drafts tried at a time.")
@json_option
def generate(count: int, out: Path, seed: int, base_image: str, at_once: int, as_json: bool) -> int:
    """Make tasks in four phases, each with gates in real containers.

    What passed lies in OUT/tiphys and OUT/harbor; every draft, the refused ones with gate and reason, in
    OUT/drafts.jsonl.
    """
    import asyncio

    from core.store.home import Home
    from core.tasks.generation.bench import DraftBench
    from core.tasks.generation.draft import DraftRecord
    from core.tasks.generation.folders import BASE
    from core.tasks.generation.generator import DraftPlan, Generator, clear, prepare
    from core.tasks.generation.template_author import TemplateAuthor

    def show(record: DraftRecord) -> None:
        gates[record.gate] += record.state != "accepted"
        if as_json:
            emit(record)
        else:
            why = "" if record.state == "accepted" else f": {record.gate}: {record.reason}"
            say(f"{record.state}  {record.id}  {record.title}{why}")

    home, gates, began = Home.default(), Counter[str](), time.monotonic()
    plan = DraftPlan(count=count, folder=out.absolute(), at_once=at_once, base=base_image or BASE)
    prepare(plan.folder)
    try:
        generator = Generator(TemplateAuthor(seed), plan,
                              lambda: DraftBench(plan.folder / ".work", str(home.path)), show)
        made = asyncio.run(generator.run())
    finally:
        clear(plan.folder)
    refused = ", ".join(f"{gate} {number}" for gate, number in (+gates).most_common()) or "none"
    note(f"{made} of {count} tasks passed all gates in {time.monotonic() - began:.0f} s. Refused by gate: {refused}.")
    return 0 if made == count else 1


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.option("--accept", metavar="DRAFT", help="A person accepts this one.")
@click.option("--refuse", metavar="DRAFT", help="A person refuses this one.")
@click.option("--mend", metavar="DRAFT", help="A person wants this one mended.")
@click.option("--reason", default="", help="Why.")
@json_option
def drafts(folder: Path, accept: str | None, refuse: str | None, mend: str | None, reason: str, as_json: bool) -> None:
    """List the drafts of generated tasks in FOLDER, or say what becomes of one."""
    from core.tasks.generation.records import DraftRecords

    records = DraftRecords(folder)
    if accept:
        records.decide(accept, "accepted", reason)
    if refuse:
        records.decide(refuse, "refused", reason)
    if mend:
        records.decide(mend, "to mend", reason)
    found = records.all()
    if as_json:
        for record in found:
            emit(record)
        return
    table(("draft", "state", "title", "gate", "reason"), [(d.id, d.state, d.title, d.gate, d.reason) for d in found])
