"""A compose file's services, which is foreign: the shape of every field that is read here, in plain words where it is
another one (https://docs.docker.com/reference/compose-file/services/)."""

from __future__ import annotations

import posixpath
import re
import shlex
from pathlib import Path
from typing import Any

from core.domain.errors import InvalidInput
from core.domain.task import Data, Health, Stage
from core.tasks.foreign_folder import not_possible
from core.tasks.yaml_table import read_yaml

_STAGES: dict[str, Stage] = {"service_started": "started", "service_healthy": "healthy",
                             "service_completed_successfully": "completed"}
_SPAN = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?(?:(\d+)ms)?\Z")
_MOUNT = re.compile(r"(?P<source>\./[^:]+):(?P<target>/[^:]+):ro\Z")
_VARIABLE = re.compile(r"\$(?!\$)")
_HEALTH = frozenset({"test", "interval", "timeout", "retries", "start_period"})


def read_compose(folder: Path, file: str) -> dict[str, ComposeService]:
    """The services of a compose file of the task's folder, by name. Raises InvalidInput, which names the file, the
    service and the field."""
    raw = read_yaml(folder, file)
    for field in raw:
        if field not in ("services", "version"):
            raise not_possible(f"{file}: {str(field)[:80]} is not to be had here")
    services = raw.get("services")
    if services is not None and not isinstance(services, dict):
        raise _wrong(f"{file}: services", services, "a table of services")
    return {str(key): ComposeService(f"{file}: services.{str(key)[:60]}", str(key), value)
            for key, value in (services or {}).items()}


class ComposeService:
    """One service; `where` is how sentences name it."""

    def __init__(self, where: str, name: str, raw: Any) -> None:
        self.where, self.name = where, name
        self.raw = _table(where, raw)

    def refuse(self, field: str, value: Any, why: str = "is not to be had here") -> InvalidInput:
        """The error for a field that asks for too much."""
        return not_possible(f"{self.where}.{field[:60]} = {str(value)[:80]} {why}")

    def require(self, known: frozenset[str]) -> None:
        """Raises InvalidInput for a field that is none of these."""
        for field, value in self.raw.items():
            if field not in known:
                raise self.refuse(str(field), value)

    def text(self, field: str) -> str:
        """A text or number, "" where there is none."""
        return self._text(field, self.raw.get(field))

    def words(self, field: str) -> tuple[str, ...] | None:
        """A command: a list, or one text as a shell would split it."""
        given = self.raw.get(field)
        if given is None:
            return None
        if isinstance(given, list):
            return tuple(self._text(field, one) for one in given)
        try:
            return tuple(shlex.split(self._text(field, given)))
        except ValueError as error:
            raise self.refuse(field, given, f"is no command: {error}") from error

    def variables(self) -> dict[str, str]:
        """What `environment` says, as a table or as lines NAME=VALUE."""
        given = self.given_variables()
        for name, value in given.items():
            if value is None:
                raise self.refuse(f"environment.{name}", "", "asks for a variable of the server, which no task gets")
        return {name: self._text(f"environment.{name}", value) for name, value in given.items()}

    def given_variables(self) -> dict[str, Any]:
        """The same as they are written; None for a name without a value."""
        given = self.raw.get("environment") or {}
        if isinstance(given, list):
            lines = [str(one).partition("=") for one in given]
            return {name: value if mark else None for name, mark, value in lines}
        return {str(name): value for name, value in _table(f"{self.where}.environment", given).items()}

    def entries(self, field: str) -> list[Any]:
        """A list, empty where there is none."""
        given = self.raw.get(field)
        if given is not None and not isinstance(given, list):
            raise _wrong(f"{self.where}.{field}", given, "a list")
        return given or []

    def after(self) -> dict[str, Stage]:
        """What it depends on, and how far that must be."""
        given = self.raw.get("depends_on") or {}
        if isinstance(given, list):
            return {self._text("depends_on", one): "started" for one in given}
        return {str(name): self._stage(str(name), value)
                for name, value in _table(f"{self.where}.depends_on", given).items()}

    def health(self) -> Health | None:
        """Its check; None where it names none."""
        given = self.raw.get("healthcheck")
        if given is None:
            return None
        where = f"{self.where}.healthcheck"
        for field, value in _table(where, given).items():
            if field not in _HEALTH:
                raise self.refuse(f"healthcheck.{field}", value)
        spans = {ours: _seconds(f"{where}.{theirs}", given[theirs]) for theirs, ours in
                 (("interval", "every_s"), ("timeout", "timeout_s"), ("start_period", "begins_s")) if theirs in given}
        retries = given.get("retries", 3)
        if not isinstance(retries, int) or isinstance(retries, bool):
            raise _wrong(f"{where}.retries", retries, "a number")
        return Health(command=self._check(given.get("test")), retries=retries, **spans)

    def data(self, place: str) -> tuple[Data, ...]:
        """Its volumes: files and folders beside the compose file, in the folder `place`, that it only reads."""
        found = []
        for one in self.entries("volumes"):
            mount = _MOUNT.match(one) if isinstance(one, str) else None
            if mount is None or ".." in one.split("/"):
                raise self.refuse("volumes", one, "is not to be had here: only ./FILE:/PLACE:ro of the folder is")
            found.append(Data(source=posixpath.normpath(f"{place}/{mount['source']}"), target=mount["target"]))
        return tuple(found)

    def _stage(self, name: str, value: Any) -> Stage:
        given = _table(f"{self.where}.depends_on.{name[:60]}", value)
        condition = str(given.get("condition") or "service_started")
        if condition not in _STAGES or set(given) - {"condition"}:
            raise not_possible(f"{self.where}.depends_on: the condition {str(given)[:80]} is not to be had here")
        return _STAGES[condition]

    def _check(self, test: Any) -> tuple[str, ...]:
        if isinstance(test, list) and test[:1] == ["CMD"] and len(test) > 1:
            return tuple(self._text("healthcheck.test", one) for one in test[1:])
        if isinstance(test, list) and test[:1] == ["CMD-SHELL"] and len(test) == 2:
            test = test[1]
        if not isinstance(test, str) or not test.strip():
            raise self.refuse("healthcheck.test", test)
        return ("/bin/sh", "-c", self._text("healthcheck.test", test))

    def _text(self, field: str, value: Any) -> str:
        if value is None:
            return ""
        if isinstance(value, bool):
            value = str(value).lower()
        if not isinstance(value, str | int | float):
            raise _wrong(f"{self.where}.{field}", value, "a text")
        if _VARIABLE.search(text := str(value).replace("$$", "\0")):
            raise self.refuse(field, value, "asks for a variable of the server, which no task gets")
        return text.replace("\0", "$")


def _table(where: str, value: Any) -> dict[Any, Any]:
    if value is not None and not isinstance(value, dict):
        raise _wrong(where, value, "a table")
    return value or {}


def _seconds(where: str, value: Any) -> float:
    """A span as compose writes it: 1m30s, 500ms, or a number of seconds."""
    found = _SPAN.match(str(value)) if isinstance(value, str) and value else None
    if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
        return float(value)
    if found is None:
        raise _wrong(where, value, "a span such as 1m30s")
    hours, minutes, seconds, thousandths = (float(one or 0) for one in found.groups())
    return 3600 * hours + 60 * minutes + seconds + thousandths / 1000


def _wrong(where: str, value: Any, wanted: str) -> InvalidInput:
    return not_possible(f"{where} is {str(value)[:80]!r} and must be {wanted}")
