"""`tiphys train`: masked supervised fine-tuning on exported data."""

from __future__ import annotations

import threading
from pathlib import Path

import click

from core.cli.export import default_model
from core.cli.number import Whole
from core.cli.options import NewPlace
from core.cli.output import emit, json_option, say
from core.domain.errors import InvalidInput, LimitReached, ReportableError
from core.llm.extra import require_extra
from core.store.home import Home
from core.training.settings import TrainSettings, read_settings
from core.training.train import run
from core.training.worker import serve, stop_on_signals
from core.workers.messages import Problem
from core.workers.training import Metric, TrainFailure


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--model", default="", help="Folder of the model to start from (default: SmolLM2).")
@click.option("--out", required=True, type=NewPlace(file_okay=False), help="Folder for the weights and the metrics.")
@click.option("--gpus", type=Whole(1), help="GPUs that share the work and the model's memory (FSDP2).")
@click.option("--device", type=click.Choice(["auto", "cpu"]), help="cpu: use no GPU.")
@click.option("--processes", type=Whole(1), help="With --device cpu: so many share the work, as GPUs would.")
@click.option("--thoughts", type=click.Choice(["drop", "context", "keep"]),
              help="Recorded reasoning in DATA: without loss (context), must train, must be absent.")
@click.option("--dry-run", is_flag=True, help="Say what memory a run would take, by part, and start nothing.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Any other training setting.")
@json_option
def train(data: Path, model: str, out: Path, settings: tuple[str, ...], as_json: bool, dry_run: bool,
          **asked: str | int | None) -> int:
    """Train a model on DATA, a folder that `tiphys export --to trl` wrote.

    With --json each line on stdout is one report of progress; the last says {"done": true, "folder": …}.
    """
    unnamed = [s for s in settings if "=" not in s]
    if unnamed:
        raise InvalidInput("bad_settings", f"--set takes NAME=VALUE, not {unnamed[0]!r}.")
    try:
        require_extra("torch", "transformers", "trl", "accelerate")
        start = model or default_model(Home.default())
        values = dict(s.split("=", 1) for s in settings) | {"data": str(data), "model": start, "out": str(out)}
        known = read_settings(values | {name: str(value) for name, value in asked.items() if value is not None})
    except ReportableError as error:
        if as_json:  # who follows the progress on stdout finds the end of it there too
            emit(TrainFailure(error=Problem.of(error)))
        raise
    if dry_run:
        from core.training import dry_run as estimate

        found = estimate.dry_run(known)
        emit(estimate.as_data(found)) if as_json else say("\n".join(estimate.lines(found)))
        return 0 if found.chosen else LimitReached.exit_status
    return serve(known) if as_json else _with_words(known)


def _with_words(settings: TrainSettings) -> int:
    def tell(metric: Metric) -> None:
        if metric.loss is not None:
            say(f"step {metric.step} of {metric.steps}  loss {metric.loss:.4f}")

    summary = run(settings, tell, stop_on_signals(threading.Event()))
    if summary.stopped:
        say(f"Stopped after step {summary.step} of {summary.steps}; the same command goes on from there.")
    else:
        say(f"The trained model is in {summary.folder}.")
    return 0
