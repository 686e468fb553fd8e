"""How a command fails: one sentence and a stable code on stderr; status 2 for bad input, 1 for failure."""

from __future__ import annotations

import json
import os
import select
import sys
import traceback
from collections.abc import Callable
from types import TracebackType
from typing import Any

import click

from core.domain.errors import ReportableError

BUG = "internal_error"


def guarded(run: Callable[[], Any], as_json: bool) -> int:
    """The exit status of `run`, with expected failures told on stderr and bugs by the excepthook."""
    sys.excepthook = _tell_bug
    try:
        status = run()
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return 2
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx else "tiphys"
        tell("usage", f"{_in_words(error.format_message())} See {where} --help.", as_json)
        return 2
    except click.ClickException as error:
        tell("usage", error.format_message(), as_json)
        return 2
    except ReportableError as error:
        tell(error.code, error.sentence, as_json, error.params)
        return error.exit_status
    except (KeyboardInterrupt, click.Abort):
        return 130
    except SystemExit:  # click's way out where a pipe broke
        if _is_read():
            raise
        return 0
    return status if isinstance(status, int) else 0


def _in_words(message: str) -> str:
    """click's names of types as people say them."""
    for name, words in (("integer range", "whole number"), ("float range", "number"), ("integer", "whole number"),
                        ("float", "number")):
        message = message.replace(f"is not a valid {name}.", f"is not a {words}.")
    return message


def _is_read() -> bool:
    """Whether anybody still reads stdout, or the reader (head, less) has seen enough."""
    try:
        poll = select.poll()
        poll.register(sys.__stdout__ or -1, 0)
        return not any(flags & select.POLLERR for _, flags in poll.poll(0))
    except (AttributeError, TypeError, ValueError, OSError):  # no such call on this system, or no stdout
        return True


def tell(code: str, sentence: str, as_json: bool = False, params: dict[str, object] | None = None) -> None:
    """Print a failure: `tiphys: sentence [code]`, or with --json {"error": {code, sentence, params}}."""
    if as_json:
        known = {"code": code, "sentence": sentence, "params": params or {}}
        click.echo(json.dumps({"error": known}, ensure_ascii=False, default=str), err=True)
    else:
        click.echo(f"tiphys: {sentence} [{code}]", err=True)


def _tell_bug(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    from core.logs import redactor
    from core.store.home import Home

    path = Home.default().logs / "crash.log"
    trace_text = redactor.redact("".join(traceback.format_exception(kind, error, trace)))
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(handle, "a", encoding="utf-8", errors="backslashreplace") as file:
        file.write(trace_text + "\n")
    sentence = f"Something went wrong that should not: {kind.__name__}. The details are in {path}."
    tell(BUG, sentence, "--json" in sys.argv)
