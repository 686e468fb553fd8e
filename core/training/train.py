"""A training run from start, or from its last checkpoint, to a model's folder that plain transformers loads."""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from core import program
from core.domain.errors import InvalidInput, Unavailable
from core.export.staging import usable
from core.llm.extra import require_extra
from core.llm.foreign_model import model_config
from core.store.home import write_whole
from core.training.alone import alone_in
from core.training.checkpoints import check_form, last_checkpoint, step_of
from core.training.launch import gpus_here, is_first, is_launched, launch
from core.training.settings import TrainSettings, check_gpus, check_same_run
from core.workers.training import OnMetric, TrainSummary

if TYPE_CHECKING:
    from core.training.data import Crew, DataFacts

_log = logging.getLogger("train")
_FREE = ("out", "data", "save_every", "keep", "device", "micro_batch", "eval_every", "merge_copies", "merge_chains",
         "cut_tail", "packing", "pack_tokens", "head", "checkpointing", "gpus", "processes", "track", "run_name",
         "peak_tflops", "memory_gb", "attention", "liger", "context_parallel")
"""Settings that may change between a run and its resumption: none of them changes what is learnt."""


def run(settings: TrainSettings, on_metric: OnMetric | None = None, stop: threading.Event | None = None
        ) -> TrainSummary:
    """Train; called again with the same folder it goes on where it was. Setting `stop` ends it after a checkpoint.

    Raises InvalidInput for data or settings that cannot be trained exactly, Conflict where the folder holds another
    run or another process trains in it, Unavailable without the training extra.
    """
    require_extra("torch", "transformers", "trl", "accelerate", "datasets", "peft")
    _check_trackers(settings)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    settings.check()
    from core.training.kernels import check_kernels

    asked = stop or threading.Event()
    check_gpus(settings, gpus_here())
    check_kernels(settings, gpus_here() > 0 and settings.device != "cpu")
    if settings.devices > 1 and not is_launched():
        return launch(settings, on_metric, asked)
    with alone_in(Path(settings.out)):
        facts, held_facts, start = _examined(settings)
        if settings.result.is_dir():
            return TrainSummary(done=True, folder=str(settings.result), step=step_of(start), steps=step_of(start))
        return _train(settings, facts, held_facts, start, on_metric, asked)


def _check_trackers(settings: TrainSettings) -> None:
    missing = [name for name in settings.track if importlib.util.find_spec(name) is None]
    if missing:
        raise Unavailable("tracker_missing", f"Metrics are to go to {missing[0]}, which is not installed: "
                          f"{program.install_line(missing[0])}.", missing=missing)


def _examined(settings: TrainSettings) -> tuple[DataFacts, DataFacts | None, Path | None]:
    """What the data hold, what is held out, and where an earlier run left off. Raises InvalidInput, Conflict."""
    facts, held_facts = checked_data(settings, Path(settings.out) / "rows")
    with _first_before_the_others(settings):
        _claim(settings, facts)
        start = last_checkpoint(settings.checkpoints)
    check_form(start, is_launched())
    return facts, held_facts, start


def checked_data(settings: TrainSettings, folder: Path) -> tuple[DataFacts, DataFacts | None]:
    """What the data hold and what is held out, looked at for the model; the rows lie in `folder`. Raises InvalidInput,
    NotFound."""
    from core.export.staging import finish_interrupted
    from core.training.data import check_rows, check_thoughts, eval_files, train_files

    with _first_before_the_others(settings):
        finish_interrupted(Path(settings.data))
    config = model_config(settings.model).get_text_config()
    longest, held, crew = _longest(settings, config), eval_files(settings.data), crew_of(settings)
    rules = (config.vocab_size, longest, folder, crew, settings.thoughts)
    facts = check_rows(train_files(settings.data), *rules)
    check_thoughts(facts, settings.thoughts)
    return facts, check_rows(held, *rules) if held else None


def crew_of(settings: TrainSettings) -> Crew:
    """The processes that train together, of which each looks at its part of the data."""
    from core.training.data import Crew

    if not is_launched():
        return Crew()
    from accelerate import PartialState

    state = PartialState(cpu=settings.device == "cpu")
    return Crew(state.process_index, state.num_processes, state.wait_for_everyone)


@contextlib.contextmanager
def _first_before_the_others(settings: TrainSettings) -> Iterator[None]:
    """Of several processes the first goes ahead: it writes what the others then find."""
    if not is_launched():
        yield
        return
    from accelerate import PartialState

    with PartialState(cpu=settings.device == "cpu").main_process_first():
        yield


def _train(settings: TrainSettings, facts: DataFacts, held: DataFacts | None, start: Path | None,
           on_metric: OnMetric | None, stop: threading.Event) -> TrainSummary:
    from core.training.data import load_rows
    from core.training.engine import make_trainer, save_result
    from core.training.metrics import MetricsCallback, StopCallback

    resumed_at = step_of(start)
    metrics = MetricsCallback(settings.metrics, on_metric, resumed_at)
    rows = load_rows(facts)
    held_rows = load_rows(held) if held is not None else None
    trainer = make_trainer(settings, facts, rows, [metrics, StopCallback(stop)], held_rows, stop)
    if trainer.train_dataset is not rows:  # the engine once cut rows at 1,024 tokens without a word
        raise InvalidInput("supervision_lost", "The engine would train other rows than those of the data set.")
    _log.info("training %d rows, %d of %d tokens with loss", facts.rows, facts.trained, facts.tokens)
    trainer.run(start)
    state = trainer.state
    if stop.is_set() and state.global_step < state.max_steps:
        last = last_checkpoint(settings.checkpoints)
        return TrainSummary(done=False, stopped=True, folder=settings.out, step=state.global_step, loss=metrics.loss,
                            steps=state.max_steps, checkpoint=str(last or ""), resumed_at=resumed_at)
    save_result(trainer, settings)
    if is_first():
        shutil.rmtree(Path(settings.out) / "rows", ignore_errors=True)
    return TrainSummary(done=True, folder=str(settings.result), step=state.global_step, steps=state.max_steps,
                        loss=metrics.loss, resumed_at=resumed_at)


def _longest(settings: TrainSettings, config: Any) -> int:
    room = getattr(config, "max_position_embeddings", None)
    return min(settings.max_length, room) if isinstance(room, int) and room > 0 else settings.max_length


def _claim(settings: TrainSettings, facts: DataFacts) -> None:
    """Write what this run is into its folder, or find that it is the same as before. Raises Conflict."""
    facts_of_run = {k: v for k, v in msgspec.to_builtins(settings).items() if k not in _FREE}
    facts_of_run |= {"data_sha256": facts.sha256, "rows": facts.rows, "tokens": facts.tokens, "trained": facts.trained}
    path = Path(settings.out) / "run.json"
    if path.is_file():
        before = msgspec.json.decode(path.read_bytes())
        check_same_run(settings.out, before, facts_of_run)
        return
    with usable(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, msgspec.json.format(msgspec.json.encode(facts_of_run), indent=2))
