"""`tiphys tasks`: the tasks that a session can be started on."""

from __future__ import annotations

import click

from core.cli.output import emit, json_option, note, table


@click.command()
@json_option
def tasks(as_json: bool) -> None:
    """List the tasks that can be started by their id."""
    from core.store.home import Home
    from core.tasks.catalogue import Catalogue

    catalogue = Catalogue.of(Home.default().path)
    for problem in catalogue.problems():
        note(f"tiphys: {problem.sentence} [{problem.code}]")
    found = [entry.task for entry in catalogue.entries()]
    if as_json:
        for task in found:
            emit({"task": task.id, "title": task.title, "hosts": [h.name for h in task.hosts]})
    else:
        table(("task", "title", "hosts"), [(t.id, t.title, ", ".join(h.name for h in t.hosts)) for t in found])
