"""The envelope of every request to a worker process and of every answer: one JSON object a line."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import msgspec

from core.domain.errors import ReportableError, error_kind, make_error

A = TypeVar("A")


class WorkerRequest(msgspec.Struct, Generic[A], frozen=True, kw_only=True, tag_field="do"):
    """What a worker is asked; it answers with an `A`. `Calls` gives the `id`."""

    id: int | str = 0


def answer_type(request: WorkerRequest[A]) -> type[A]:
    """What a request is answered with, as its class declares."""
    found: type[A] = vars(type(request))["__orig_bases__"][0].__args__[0]
    return found


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why there is no answer: the fields of a ReportableError."""

    code: str
    sentence: str
    params: dict[str, Any] = {}
    kind: str = ""

    @classmethod
    def of(cls, error: ReportableError) -> Problem:
        """An error as it travels."""
        params = {key: str(value) for key, value in error.params.items()}
        return cls(code=error.code, sentence=error.sentence, params=params, kind=error_kind(error))

    @property
    def error(self) -> ReportableError:
        """The error that travelled."""
        return make_error(self.kind, self.code, self.sentence, dict(self.params))


class WorkerAnswer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of a worker: `progress` (0–1), `ok`, or `error`. With `more` further ones for this request follow."""

    id: int | str | None
    ok: msgspec.Raw = msgspec.Raw()
    error: Problem | None = None
    progress: float | None = None
    more: bool = False


def answer_to(request: WorkerRequest[A], value: A, *, more: bool = False) -> WorkerAnswer:
    """What a request asked for."""
    return WorkerAnswer(id=request.id, ok=msgspec.Raw(msgspec.json.encode(value)), more=more)
