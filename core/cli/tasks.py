"""`tiphys tasks`: the tasks that a session can be started on."""

from __future__ import annotations

import click

from core.cli.output import emit, json_option, note, say, table


@click.command()
@json_option
def tasks(as_json: bool) -> None:
    """List the tasks that can be started by their id."""
    from core.domain.host_rights import in_words
    from core.domain.task_terms import terms_of
    from core.store.home import Home
    from core.tasks.allowances import Allowances, asked
    from core.tasks.catalogue import Catalogue

    home = Home.default()
    catalogue, allowances = Catalogue.of(home.path), Allowances(home.allowed)
    for problem in catalogue.problems():
        note(f"tiphys: {problem.sentence} [{problem.code}]")
    found = [(entry.task, entry.agent, *asked(entry, allowances)) for entry in catalogue.entries()]
    if as_json:
        for task, agent, asks, digest in found:
            emit({"task": task.id, "title": task.title, "hosts": [h.name for h in task.hosts], "asks": asks,
                  "digest": digest, "terms": terms_of(task, agent)})
        return
    table(("task", "title", "hosts"), [(t.id, t.title, ", ".join(h.name for h in t.hosts)) for t, *_ in found])
    for task, _, asks, _ in found:
        if asks:
            say(f"{task.id} asks of this computer: {in_words(asks)}. To allow it: tiphys allow task {task.id}")
