"""Which rules judge: the program's own and a person's, switched and tuned by rules.toml.

    at_end = false                                # they judge only when they are asked to (tiphys judge)
    [rules.blind_edit]
    enabled = false
    [rules.idle_gpus]
    gpus = 8
    [tasks.review-labels.rules.early_finish]      # for the sessions of one task
    enabled = false

Both lie in one folder, $TIPHYS_HOME/rules by default. A person's rule is a Python file there:

    from core.supervision.rule import Finding
    def find(evidence, *, most=3):                # keyword arguments are settings
        \"\"\"Why steps like these should not be imitated.\"\"\"
        yield from (Finding(s.number, "too many calls") for s in evidence.steps if len(s.actions) > most)
    VERSION = "1"                                 # the rule is named as its file

It runs with the rights of the program: put only files there that you trust.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.domain.errors import InvalidInput, NotFound
from core.supervision.rule_file import FILE, RuleFile, read_rule_file
from core.supervision.rules import RULES, Registry, Rule


def has_own_rules(folder: Path) -> bool:
    """Whether a person has put rules of their own into a folder."""
    return any(_own(folder))


def rules_of(folder: Path | None, task: str = "") -> list[Rule]:
    """All rules as the folder's files set them for a task, in order; disabled ones too.

    No folder, or none that exists, gives the program's rules as they are. Raises InvalidInput (bad_rules) for
    files that cannot be used, naming them.
    """
    if folder is None or not folder.is_dir():
        return RULES.get()
    registry = Registry(RULES.get())
    for path in sorted(_own(folder)):
        _load(path, registry)
    file = read_rule_file(folder / FILE)
    for part in (file, *file.tasks.values()):
        _check(part, registry, folder / FILE)
    settings = [file.rules, file.tasks[task].rules if task in file.tasks else {}]
    return [_set(rule, {k: v for part in settings for k, v in part.get(rule.name, {}).items()})
            for rule in registry.get()]


def _own(folder: Path) -> Iterator[Path]:
    return (path for path in folder.glob("*.py") if not path.name.startswith(("_", ".")))


def _check(part: RuleFile, registry: Registry, path: Path) -> None:
    """Raise InvalidInput (bad_rules), which names the file, for what no rule takes: in the part of any task, so that it
    is known before a session of that task is judged."""
    try:
        for rule in registry.get(list(part.rules)):
            _set(rule, dict(part.rules[rule.name]))
    except (InvalidInput, NotFound) as error:
        raise InvalidInput("bad_rules", f"{path}: {error.sentence}", path=str(path)) from error


def _set(rule: Rule, settings: dict[str, Any]) -> Rule:
    enabled = settings.pop("enabled", True)
    if not isinstance(enabled, bool):
        raise InvalidInput("bad_rules", f"The setting enabled of the rule {rule.name} is true or false, not "
                           f"{enabled!r:.80}.")
    tuned = rule.tuned(settings)
    return tuned if enabled else tuned.switched_off()


def _load(path: Path, registry: Registry) -> None:
    """Run a person's rule file and take its `find`. The version holds the file's hash: an edit is a new version."""
    source = path.read_bytes()
    scope: dict[str, Any] = {"__name__": f"tiphys_rules.{path.stem}", "__file__": str(path)}
    try:
        exec(compile(source, str(path), "exec"), scope)
    except Exception as error:
        raise InvalidInput("bad_rules", f"{path.name} cannot be loaded: {type(error).__name__}: {error}",
                           path=str(path)) from error
    if not callable(scope.get("find")):
        raise InvalidInput("bad_rules", f"{path.name} defines no function find(evidence).", path=str(path))
    version = f"{scope.get('VERSION', '1')}+{hashlib.sha256(source).hexdigest()[:8]}"
    registry.add(path.stem, version)(scope["find"])
