"""Several processes train one model, by the launcher and the settings file that ship: accelerate with FSDP2, here over
gloo on a processor. Gradients are those of one process; what is killed goes on; what is saved is whole."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import msgspec
import psutil
import pytest
from support.cut_files import assert_cut_is_found
from support.shard_cases import CASES, RUN, SHARED
from support.tiny_model import make_model
from support.updates import plain_gradient, session_rows, trainer_gradient, worst_error, write_rows

from core.domain.errors import Conflict, InvalidInput, Unavailable
from core.training.launch import CONFIG, _launcher, _summary, gpus_here
from core.training.settings import TrainSettings
from core.training.train import run
from core.workers.training import Metric, read_reports

torch = pytest.importorskip("torch")
pytest.importorskip("trl")
pytestmark = [pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning"),
              pytest.mark.timeout(600)]
SUPPORT = Path(__file__).parents[2] / "support"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two models, and 21 rows that each count 0.1: what is cast to bfloat16 counts 0.1001, and shows."""
    folder = tmp_path_factory.mktemp("together")
    rows = session_rows(2, 60, 300, share=0.4)[:21]  # in batches of 8 the last update is smaller than the others
    write_rows(folder / "data.jsonl", [{**row, "weight": 0.1} for row in rows])
    make_model(folder / "tied")
    make_model(folder / "untied", tied=False)
    return folder, rows


@pytest.fixture(scope="module")
def outcomes(made, warm, tmp_path_factory):
    """What two processes made of every case, in both precisions: the folder of each."""
    out = tmp_path_factory.mktemp("cases")
    command = [str(warm), *launcher()[1:], str(SUPPORT / "shard_cases.py"), str(made[0]), str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          env={**environment(), "PYTHON_EXEC": str(warm)})
    assert done.returncode == 0, done.stderr[-20_000:]
    return out


@pytest.fixture
def loaded(warm, monkeypatch):
    """The launcher starts processes that have the libraries loaded."""
    monkeypatch.setenv("PYTHON_EXEC", str(warm))


def launcher() -> list[str]:
    return _launcher(TrainSettings(data="", model="", out="", device="cpu", processes=2))


def environment() -> dict[str, str]:
    paths = [str(SUPPORT.parent), str(SUPPORT.parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}


def settings(folder, out, **more) -> TrainSettings:
    return TrainSettings(**{"data": str(folder), "model": str(folder / "tied"), "out": str(out), "device": "cpu",
                            **RUN, **more})


ALL = [*((*case, "") for case in CASES), *((*case, "-shared") for case in SHARED)]


@pytest.mark.parametrize(("model", "method", "way"), ALL)
def test_the_gradient_of_two_processes_is_that_of_plain_transformers(made, outcomes, model, method, way):
    folder, rows = made
    loss, gradient, values = torch.load(outcomes / "fp32" / f"{model}-{method}{way}.pt")
    theirs = plain_gradient(folder / model, rows, values if method == "lora" else None)
    assert loss == pytest.approx(theirs[0], rel=1e-5)
    assert worst_error(gradient, theirs[1]) <= 5e-6


@pytest.mark.parametrize(("model", "method", "way"), ALL)
def test_in_bfloat16_it_differs_by_rounding_only_and_is_summed_in_float32(made, outcomes, tmp_path, model, method, way):
    folder, rows = made
    loss, gradient, values = torch.load(outcomes / "bf16" / f"{model}-{method}{way}.pt")
    theirs = plain_gradient(folder / model, rows, values if method == "lora" else None)
    assert loss == pytest.approx(theirs[0], rel=2e-4)  # weights that were cast would be wrong by 1e-3
    _, alone, trainer = trainer_gradient(folder / model, folder / "data.jsonl", tmp_path, batch=21,
                                         method=method, precision="bf16", pack_tokens=100_000)
    wide = {n: v.float() for n, v in trainer.trained.items()}
    rounding = worst_error(alone, plain_gradient(folder / model, rows, wide if method == "lora" else None)[1])
    assert worst_error(gradient, theirs[1]) <= 2 * rounding
    assert {g.dtype for g in gradient.values()} == {torch.float32}
    sums = torch.cat([g.flatten() for g in gradient.values()])
    sums = sums[sums != 0]  # a sum that is made in bfloat16 is one of its numbers
    assert float((sums == sums.bfloat16().float()).float().mean()) < 0.7


@pytest.mark.parametrize(("model", "method"), CASES)
def test_what_two_processes_save_is_the_whole_model(made, outcomes, model, method):
    from safetensors.torch import load_file
    from transformers import AutoModelForCausalLM

    folder, out = made[0], outcomes / "bf16" / f"{model}-{method}"
    before, after = (load_file(f / "model.safetensors") for f in (folder / model, out / "model"))
    assert set(before) == set(after) and all(before[n].dtype == after[n].dtype for n in before)
    changed = {n for n in before if not torch.equal(before[n], after[n])}
    assert changed == set(before) if method == "full" else any("q_proj" in n for n in changed)
    assert (out / "adapter").is_dir() == (method == "lora")
    net = AutoModelForCausalLM.from_pretrained(out / "model")
    tied = net.get_input_embeddings().weight is net.get_output_embeddings().weight
    assert tied == (model == "tied")


def test_a_checkpoint_is_whole_only_once_each_process_wrote_its_part(outcomes):
    """The second process is held up before each of its parts."""
    states = (outcomes / "bf16" / "states.jsonl").read_text().splitlines()
    assert len(states) == 3 * len(CASES)
    assert all(json.loads(line) == ["rng_state_0.pth", "rng_state_1.pth"] for line in states)


@pytest.mark.usefixtures("loaded")
@pytest.mark.parametrize(("model", "method"), [("tied", "full"), ("untied", "lora")])
def test_killed_and_started_again_they_end_where_an_undisturbed_run_ends(made, outcomes, tmp_path, model, method):
    """As a person would: the same command again. Every bit of the weights is that of the run without a kill."""
    from safetensors.torch import load_file

    folder, _ = made
    more = {"model": str(folder / model), "method": method, "precision": "bf16", "processes": 2}
    chosen = settings(folder, tmp_path / "r", **more)
    kill_after(chosen, 2)
    lines: list[Metric] = []
    done = run(chosen, lines.append)
    assert done.done and done.resumed_at in (2, 4)
    assert [m.step for m in lines] == list(range(done.resumed_at + 1, 7))
    whole = load_file(outcomes / "bf16" / f"{model}-{method}" / "model" / "model.safetensors")
    again = load_file(Path(done.folder) / "model.safetensors")
    assert set(whole) == set(again) and all(torch.equal(whole[n], again[n]) for n in whole)
    metrics = [(tmp_path / "r" / "metrics.jsonl"), outcomes / "bf16" / f"{model}-{method}" / "metrics.jsonl"]
    one, other = ([json.loads(line) for line in path.read_text().splitlines()] for path in metrics)
    assert [(m["step"], m["loss"], m["grad_norm"]) for m in one] == [
        (m["step"], m["loss"], m["grad_norm"]) for m in other]


def kill_after(chosen: TrainSettings, step: int) -> None:
    """Start a run, and end all its processes with SIGKILL once it has a checkpoint of `step`."""
    with started(chosen) as process:
        wait_for(process, chosen, step)
        for one in (process, *children(process)):
            one.kill()
    assert not chosen.result.exists()


def started(chosen: TrainSettings) -> subprocess.Popen:
    """The process that a person starts, which starts the others."""
    code = ("import sys, msgspec; from core.training.settings import TrainSettings; "
            "from core.training.train import run; run(msgspec.json.decode(sys.argv[1], type=TrainSettings))")
    return subprocess.Popen([sys.executable, "-c", code, msgspec.json.encode(chosen).decode()],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment())


def children(process: subprocess.Popen) -> list[psutil.Process]:
    return psutil.Process(process.pid).children(recursive=True)


def wait_for(process: subprocess.Popen, chosen: TrainSettings, step: int) -> None:
    from core.training.checkpoints import step_of

    while step_of(chosen.checkpoints / f"checkpoint-{step}") != step:  # it is there before it is whole
        assert process.poll() is None
        time.sleep(0.005)


@pytest.mark.usefixtures("loaded")
def test_when_who_started_them_is_killed_they_save_and_stop(made, tmp_path):
    from core.training.checkpoints import last_checkpoint, step_of

    chosen = settings(made[0], tmp_path / "r", processes=2, epochs=2000)
    with started(chosen) as process:
        wait_for(process, chosen, 2)
        with pytest.raises(Conflict, match="Another training is at work"):
            run(chosen)
        left = children(process)
        process.kill()
    _, alive = psutil.wait_procs(left, timeout=60)
    assert not alive and not chosen.result.exists()
    lines = (tmp_path / "r" / "metrics.jsonl").read_text().splitlines()
    assert step_of(last_checkpoint(chosen.checkpoints)) == json.loads(lines[-1])["step"] < 6000


def test_stopped_together_they_save_and_another_number_of_them_is_told_what_it_cannot_do(made, tmp_path):
    asked, lines = threading.Event(), []

    def hear(line):
        lines.append(line)
        asked.set()

    first = run(settings(made[0], tmp_path / "r", processes=2, epochs=50), hear, asked)
    assert first.stopped and not first.done and Path(first.checkpoint).is_dir() and first.step < 150
    for name in ("tokens", "computed_tokens", "trained_share"):
        assert getattr(lines[0], name) > 0
    with pytest.raises(Conflict) as refused:
        run(settings(made[0], tmp_path / "r", epochs=50))
    assert refused.value.code == "other_checkpoint"
    files = [path for path in Path(first.checkpoint).rglob("*") if path.is_file()]
    assert {"rng_state_0.pth", "rng_state_1.pth"} <= {path.name for path in files}
    for path in files:
        assert_cut_is_found(path, Path(first.checkpoint))


def test_who_shares_rows_computes_a_part_of_each_and_together_all(made):
    """Four processes in groups of two: each of a group has half of the tokens, and of the loss each token once."""
    from core.training.updates import Levers, UpdateCollator

    rows = made[1]
    alone = [part for d in range(2) for part in UpdateCollator(Levers(pack=64), 3, d, 2)(rows)["parts"]]
    groups = [[UpdateCollator(Levers(pack=64, share=2), 3, 2 * g + n, 4)(rows)["parts"] for n in range(2)]
              for g in range(2)]
    pairs = [pair for group in groups for pair in zip(*group, strict=True)]
    assert len(pairs) == len(alone)
    for whole, halves in zip(alone, pairs, strict=True):
        size = whole["input_ids"].shape[1]
        assert {h["input_ids"].shape[1] for h in halves} == {-(-size // 2)}
        joined = torch.cat([h["input_ids"] for h in halves], 1)[0, :size]
        assert torch.equal(joined, whole["input_ids"][0])
        trained = [h["labels"][0, 1:] for h in halves]
        assert torch.equal(torch.cat(trained)[: size - 1], whole["labels"][0, 1:])
        assert halves[0]["segment_lengths"] == halves[1]["segment_lengths"]
        assert sum(halves[0]["segment_lengths"]) == 2 * -(-size // 2)


@pytest.mark.parametrize(("chosen", "words"), [
    ({"processes": 2, "context_parallel": 3}, "divides the number of devices"),
    ({"processes": 2, "context_parallel": 2, "packing": False}, "only where packing"),
])
def test_rows_that_cannot_be_shared_are_refused(made, tmp_path, chosen, words):
    with pytest.raises(InvalidInput, match=words):
        run(settings(made[0], tmp_path, **{**RUN, "pack_tokens": 0, **chosen}))


def test_heads_that_cannot_be_dealt_out_are_refused_before_a_run(made, tmp_path):
    from core.training.dry_run import dry_run

    with pytest.raises(InvalidInput, match="2 heads"):
        dry_run(settings(made[0], tmp_path, processes=3, context_parallel=3))


def test_gpus_that_are_not_there_are_refused_and_a_processor_is_shared_only_when_that_is_said(made, tmp_path):
    present = gpus_here()
    with pytest.raises(Unavailable) as few:
        run(settings(made[0], tmp_path, device="auto", gpus=present + 2))
    assert few.value.code == "too_few_gpus" and not (tmp_path / "run.json").exists()
    with pytest.raises(InvalidInput, match="device is cpu"):
        run(settings(made[0], tmp_path, device="auto", processes=2))
    with pytest.raises(InvalidInput, match="device says cpu"):
        run(settings(made[0], tmp_path, device="cpu", gpus=2))


def test_names_may_be_missing_from_a_sharded_model_only_where_they_are_tied(made):
    from transformers import AutoModelForCausalLM

    from core.training.sharding import load_whole

    tied, untied = (AutoModelForCausalLM.from_pretrained(made[0] / name) for name in ("tied", "untied"))
    weights = {n: w.clone() + 1 for n, w in untied.state_dict().items()}
    without = {n: w for n, w in weights.items() if n != "lm_head.weight"}
    load_whole(tied, without)
    assert torch.equal(tied.lm_head.weight, weights["model.embed_tokens.weight"])
    for wrong in (without, {**weights, "model.other": weights["lm_head.weight"]}):
        with pytest.raises(InvalidInput) as refused:
            load_whole(untied, wrong)
        assert refused.value.code == "weights_lost"


def read_end(line):
    metrics = []
    end = read_reports([b"a library speaks\n", b'{"step": 2, "loss": 1.5}\n', line], metrics.append)
    assert metrics == [Metric(step=2, loss=1.5)]
    return end


def test_what_the_first_of_them_says_at_the_end_is_heard():
    assert _summary(read_end(b'{"done": true, "folder": "x", "step": 3}'), 0, "").step == 3
    failure = b'{"error": {"code": "bad_row", "sentence": "Row 3 is wrong.", "kind": "InvalidInput"}}'
    with pytest.raises(InvalidInput, match="is wrong") as refused:
        _summary(read_end(failure), 2, "")
    assert refused.value.code == "bad_row"


@pytest.mark.usefixtures("loaded")
def test_a_process_that_breaks_is_reported_with_its_own_fault(made, tmp_path):
    """Not with the launcher's report about it, whose last line is a row of equals signs."""
    broken = shutil.copytree(made[0] / "tied", tmp_path / "broken")
    (broken / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(Unavailable, match=r"Error: .*header") as broke:
        run(settings(made[0], tmp_path / "r", model=str(broken), processes=2))
    assert broke.value.code == "training_broke"


def test_the_settings_file_says_what_is_documented():
    from accelerate.commands.config.config_args import load_config_from_file

    config = load_config_from_file(str(CONFIG))
    assert config.distributed_type.value == "FSDP" and config.fsdp_config["fsdp_version"] == 2
    assert config.mixed_precision == "bf16"
    command = _launcher(TrainSettings(data="", model="", out="", gpus=8))
    assert command[:3] == [sys.executable, "-m", "accelerate.commands.launch"] and command[-2:] == [
        "--num_processes", "8"]
