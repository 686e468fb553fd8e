"""Export as a process of its own, so that the desktop never imports a tokenizer: JSON lines in, JSON lines out.

`python -m core.export.worker --log FILE`. Every request carries an `id` and `do`; every answer the same `id`
with `ok`, `error` {code, sentence, params} or `progress` (0–1). It ends when its input ends.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from core.domain.errors import InvalidInput, ReportableError
from core.export.formats import FORMATS, format_named
from core.export.options import read_options
from core.export.preview import preview
from core.export.render import Renderer
from core.export.report import Report
from core.export.rows import SessionRows
from core.export.run import dry_run, export
from core.export.source import LogSource
from core.json_lines import Say, serve
from core.store.home import Home

_log = logging.getLogger("train")


class Ask(msgspec.Struct, kw_only=True):
    """One request."""

    id: int | str
    do: str
    sessions: list[str] = []
    session: str = ""
    format: str = "trl"
    model: str = ""
    folder: str = ""
    sample: int = 0
    start: int = 0
    count: int = 4000
    options: dict[str, Any] = {}


class Worker:
    """Answers requests about one log file. `say` sends one answer."""

    def __init__(self, log: Path, say: Say) -> None:
        self._log = log
        self._say = say
        self._renderer: tuple[str, Renderer] | None = None

    def answer(self, line: bytes) -> None:
        """Answer one line; never raises for what it asks."""
        ask: Ask | None = None
        try:
            ask = msgspec.json.decode(line, type=Ask)
            self._say({"id": ask.id, "ok": self._do(ask)})
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            self._fail(None, InvalidInput("bad_request", f"The request cannot be read: {error}"))
        except ReportableError as error:
            self._fail(ask, error)
        except Exception as error:  # noqa: BLE001 - a command handler: one bad request must not end the process
            _log.exception("export worker")
            self._fail(ask, ReportableError("export_failed", f"The export failed: {type(error).__name__}: {error}"))

    def _do(self, ask: Ask) -> dict[str, Any]:
        match ask.do:
            case "formats":
                return {"formats": [{"name": f.name, "title": f.title, "about": f.about} for f in FORMATS.values()]}
            case "dry_run":
                return report_data(dry_run(self._log, ask.sessions, ask.format, self._model(ask),
                                           read_options(ask.options), self._progress(ask)))
            case "preview":
                return self._preview(ask)
            case "write":
                if not ask.folder:
                    raise InvalidInput("no_folder", "Writing a data set needs a folder.")
                return report_data(export(self._log, ask.sessions, ask.format, Path(ask.folder), self._model(ask),
                                          read_options(ask.options), self._progress(ask)))
        raise InvalidInput("bad_request", f"The export worker does not know the request {ask.do}.")

    def _preview(self, ask: Ask) -> dict[str, Any]:
        folder = model_folder(ask.model)
        if self._renderer is None or self._renderer[0] != folder:
            self._renderer = folder, Renderer(folder)
        renderer = self._renderer[1]
        refused = renderer.refusal
        with closing(LogSource(self._log)) as source:
            rows = SessionRows(source, ask.session, renderer, read_options(ask.options))
            told = preview(list(rows), ask.sample, ask.start, ask.count)
        told["refused"] = msgspec.to_builtins(rows.refused)
        told["template_refused"] = {"code": refused.code, "sentence": refused.sentence} if refused else None
        return told

    def _model(self, ask: Ask) -> str:
        return model_folder(ask.model) if ask.model or format_named(ask.format).needs_tokens else ""

    def _progress(self, ask: Ask) -> Callable[[float], None]:
        return lambda share: self._say({"id": ask.id, "progress": round(share, 4)})

    def _fail(self, ask: Ask | None, error: ReportableError) -> None:
        told = {"code": error.code, "sentence": error.sentence, "params": {k: str(v) for k, v in error.params.items()}}
        self._say({"id": ask.id if ask else None, "error": told})


def model_folder(name: str) -> str:
    """The folder of a model that a person named; "" is the small model that the training extra brings."""
    if name:
        return name
    from core.llm.smollm2 import smollm2_dir

    return str(smollm2_dir(Home.default().path / "cache"))


def report_data(report: Report) -> dict[str, Any]:
    """A report as plain data."""
    told: dict[str, Any] = msgspec.to_builtins(report)
    return told


def main(argv: list[str] | None = None) -> int:
    """Serve until standard input ends. Standard output carries answers only."""
    parser = argparse.ArgumentParser(prog="python -m core.export.worker", description=__doc__)
    parser.add_argument("--log", type=Path, required=True, help="the server's database or a replica")
    args = parser.parse_args(argv)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    return serve(lambda say: Worker(args.log, say).answer)


if __name__ == "__main__":
    sys.exit(main())
