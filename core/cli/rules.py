"""`tiphys rules`: which rules there are, with their settings."""

from __future__ import annotations

from pathlib import Path

import click

from core.cli.output import emit, json_option, say
from core.cli.propose_verdicts import rules_for, rules_option
from core.store.home import Home


@click.command()
@rules_option
@click.option("--task", default="", help="As they are for the sessions of this task.")
@json_option
def rules(rules_folder: Path | None, task: str, as_json: bool) -> None:
    """List the rules with their settings: the program's own and those of your folder."""
    for rule in rules_for(Home.default(), task, rules_folder):
        if as_json:
            emit({"rule": rule.name, "version": rule.version, "enabled": rule.enabled, "about": rule.about,
                  "settings": rule.settings})
            continue
        say(f"{rule.name} {rule.version}{'' if rule.enabled else ' (off)'}")
        for name, value in rule.settings.items():
            say(f"    {name} = {value}")
        say(f"    {rule.about}")
