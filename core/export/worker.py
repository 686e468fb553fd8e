"""Export as a process of its own, so that the desktop never imports a tokenizer.

`python -m core.export.worker --log FILE` answers the requests of `core.workers.export` until its input ends.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import msgspec

from core.domain.errors import InvalidInput
from core.export.formats import format_named
from core.export.options import ExportOptions, read_options
from core.export.preview import preview
from core.export.render import Renderer
from core.export.rows import SessionRows
from core.export.run import dry_run, export
from core.export.source import LogSource
from core.llm.extra import has_extra
from core.store.home import Home
from core.workers.export import DryRun, ExportRefusal, ExportRequest, Preview, Report, ShowSample, WriteDataset
from core.workers.messages import WorkerAnswer
from core.workers.serve import Send, answer_line, serve

_DECODER = msgspec.json.Decoder[DryRun | WriteDataset | ShowSample](ExportRequest)


class ExportWorker:
    """Answers requests about one log file. `send` sends one answer."""

    def __init__(self, log: Path, send: Send) -> None:
        self._log = log
        self._send = send
        self._renderer: tuple[tuple[str, str], Renderer] | None = None

    def answer(self, line: bytes) -> None:
        """Answer one line; never raises for what it asks."""
        answer_line(line, _DECODER, self._handle, self._send)

    def _handle(self, request: ExportRequest) -> Report | Preview:
        if isinstance(request, ShowSample):
            return self._preview(request)
        dataset, progress = request.dataset, self._progress(request)
        model = dataset.model
        looks_only = isinstance(request, DryRun) and not has_extra("transformers")
        if model or (format_named(dataset.format).needs_tokens and not looks_only):
            model = model_folder(model)
        options = read_options(dataset.options)
        if isinstance(request, DryRun):
            return dry_run(self._log, dataset.sessions, dataset.format, model, options, progress)
        if not request.folder:
            raise InvalidInput("no_folder", "Writing a data set needs a folder.")
        return export(self._log, dataset.sessions, dataset.format, Path(request.folder), model, options, progress)

    def _preview(self, request: ShowSample) -> Preview:
        options = read_options(request.options)
        renderer = self._renderer_of(request.model, options)
        with closing(LogSource(self._log)) as source:
            rows = SessionRows(source, request.session, renderer, options)
            page = preview(list(rows), request.sample, request.start, request.count)
        refused = renderer.refusal if renderer is not None else None
        return msgspec.structs.replace(
            page, refused=tuple(rows.refused),
            template_refused=ExportRefusal(code=refused.code, sentence=refused.sentence) if refused else None)

    def _renderer_of(self, model: str, options: ExportOptions) -> Renderer | None:
        """The renderer of a named model; of the small one only where the training extra is there."""
        if not model and not has_extra("transformers", "jinja2"):
            return None
        folder = model_folder(model)
        if self._renderer is None or self._renderer[0] != (folder, options.thoughts):
            self._renderer = (folder, options.thoughts), Renderer(folder, thoughts=options.thoughts)
        return self._renderer[1]

    def _progress(self, request: ExportRequest) -> Callable[[float], None]:
        return lambda share: self._send(WorkerAnswer(id=request.id, progress=round(share, 4)))


def model_folder(name: str) -> str:
    """The folder of a model that a person named; "" is the small model that the training extra brings."""
    if name:
        return name
    from core.llm.smollm2 import smollm2_apart

    return str(smollm2_apart(Home.default().path / "cache"))


def main(argv: list[str] | None = None) -> int:
    """Serve until standard input ends. Standard output carries answers only."""
    parser = argparse.ArgumentParser(prog="python -m core.export.worker", description=__doc__)
    parser.add_argument("--log", type=Path, required=True, help="the server's database or a replica")
    args = parser.parse_args(argv)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    sys.modules.setdefault("torch", None)  # type: ignore[arg-type]  # 3 s and 300 MB, which a tokenizer has no use for
    return serve(lambda send: ExportWorker(args.log, send).answer)


if __name__ == "__main__":
    sys.exit(main())
