"""The known kinds of environments: whatever module of `adapters` declares one."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

import msgspec

from core.domain.errors import InvalidInput, ReportableError, Unavailable
from core.domain.task import EnvironmentSettings, Limits, Task
from core.environments import adapters
from core.environments.apart import ApartEnvironment
from core.environments.environment import Environment, EnvironmentKind


def declared() -> dict[str, EnvironmentKind]:
    """The kinds of all adapters, by name."""
    modules = (import_module(f"{adapters.__name__}.{found.name}") for found in iter_modules(adapters.__path__))
    kinds = (k for module in modules if isinstance(k := getattr(module, "ENVIRONMENT", None), EnvironmentKind))
    return {kind.name: kind for kind in sorted(kinds, key=lambda kind: kind.name)}


ENVIRONMENTS = declared()


def kind_of(settings: EnvironmentSettings) -> EnvironmentKind:
    """The kind of settings. Raises InvalidInput (bad_environment) for one, or an option, that there is none of."""
    kind = ENVIRONMENTS.get(settings.kind)
    if kind is None:
        raise _bad(f"There is no environment {settings.kind[:80]!r}; there are {', '.join(ENVIRONMENTS)}.")
    unknown = next((name for name in settings.options if name not in kind.options), None)
    if unknown is not None:
        raise _bad(f"The environment {kind.name} has no option {unknown[:80]!r}; it has "
                   f"{', '.join(kind.options) or 'none'}.")
    return kind


def open_environment(settings: EnvironmentSettings) -> Environment:
    """The environment of settings, in a worker process where its kind is played apart. Raises as `open_here`; what is
    apart raises it when it is reset."""
    kind = kind_of(settings)
    return ApartEnvironment(settings, kind) if kind.apart else open_here(settings)


def open_here(settings: EnvironmentSettings) -> Environment:
    """The environment of settings in this process. Raises InvalidInput (bad_environment), Unavailable
    (no_environment_extra, environment_failed: it is foreign code, and may raise anything)."""
    kind = kind_of(settings)
    try:
        return kind.open(settings)
    except ReportableError:
        raise
    except Exception as error:
        raise Unavailable("environment_failed", f"The environment {kind.name} failed: it cannot be made, "
                          f"{type(error).__name__}: {str(error)[:200]}.", kind=kind.name) from error


def with_horizon(task: Task) -> Task:
    """A task with its environment's usual limit of steps, where it names none."""
    kind = ENVIRONMENTS.get(task.environment.kind) if task.environment is not None else None
    if kind is None or task.limits.steps is not None:
        return task
    return msgspec.structs.replace(task, limits=msgspec.structs.replace(task.limits, steps=kind.steps))


def environment_task(kind: str, *, item: int = 0, seed: int = 0, **options: str) -> Task:
    """A task to play an item of a kind. Raises InvalidInput (bad_environment)."""
    settings = EnvironmentSettings(kind=kind, item=item, seed=seed, options=options)
    known = kind_of(settings)
    return Task(id=kind, title=f"{known.title} {item}", description=known.about, hosts=(), environment=settings,
                limits=Limits(steps=known.steps, evaluations=None))


def _bad(sentence: str) -> InvalidInput:
    return InvalidInput("bad_environment", sentence)
