"""A ReAct sample and its summary sample as one row: the same gradient as copies of both, at half the tokens."""

from __future__ import annotations

import json
import warnings

import pytest
from support.exported import talking_session, write_log
from support.tiny_model import make_model, trl_template

from core.domain.errors import InvalidInput
from core.export.options import ExportOptions
from core.export.run import dry_run, export

torch = pytest.importorskip("torch")
pytest.importorskip("trl")
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")
SEPARATE, MERGED = ExportOptions(balance="repeat", react=2, summary=3), ExportOptions(react=2, summary=3)


def rows(folder):
    return [json.loads(line) for line in (folder / "data.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The same session exported both ways, and a model."""
    folder = tmp_path_factory.mktemp("chains")
    model = make_model(folder / "model", template=trl_template("qwen3"))
    log = write_log(folder / "server.db", a=talking_session(5, steps=3))
    reports = [export(log, ["a"], "trl", folder / name, str(model), options)
               for name, options in (("separate", SEPARATE), ("merged", MERGED))]
    return folder, model, log, reports


def test_a_chain_holds_both_regions_of_loss_with_their_weights(made):
    folder, model, log, (apart, joined) = made
    assert (apart.rows, joined.rows, joined.merged, joined.samples) == (2 + 3 + 2, 2, 1, 3)
    chain, last = rows(folder / "merged")
    react, summary = rows(folder / "separate")[:2]
    size = len(react["input_ids"])
    assert chain["input_ids"] == summary["input_ids"] and chain["input_ids"][:size] == react["input_ids"]
    assert chain["labels"] == [a if a != -100 else b for a, b in zip(
        react["labels"] + [-100] * (len(summary["labels"]) - size), summary["labels"], strict=True)]
    assert set(chain["weights"]) == {0.0, 2.0, 3.0} and set(last["weights"]) == {0.0, 2.0}
    assert all((w > 0) == (label != -100) for w, label in zip(chain["weights"], chain["labels"], strict=True))
    assert joined.trained == apart.trained
    told = dry_run(log, ["a"], "trl", str(model), MERGED)
    joined.files = []
    assert told == joined


@pytest.fixture(scope="module")
def gradient(made):
    """Loss and gradient of some rows in one update, through the trainer."""
    from core.training.data import check_rows, load_rows
    from core.training.engine import make_trainer
    from core.training.settings import TrainSettings

    folder, model, _, _ = made
    settings = TrainSettings(data=str(folder / "merged"), model=str(model), out=str(folder / "out"), batch=2,
                             micro_batch=2, device="cpu")
    facts = check_rows([folder / "merged" / "data.jsonl"], 10_000, 10_000, folder / "rows")
    assert facts.token_weights and not facts.weighted
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trainer = make_trainer(settings, facts, load_rows(facts), [])
    net = trainer.model.eval()

    def of(*batches):
        net.zero_grad()
        told = [trainer.data_collator([dict(r) for r in rows]) for rows in batches]
        count = trainer._get_num_items_in_batch(told, torch.device("cpu"))
        losses = []
        for batch in told:
            loss = trainer.compute_loss(net, dict(batch), num_items_in_batch=count)
            loss.backward()
            losses.append(float(loss))
        return sum(losses), {n: p.grad.clone() for n, p in net.named_parameters() if p.grad is not None}

    of.rows = [dict(r) for r in trainer.train_dataset]
    return of


def test_the_gradient_of_a_chain_is_that_of_copies_of_both_samples(made, gradient):
    folder = made[0]
    copies = [{k: r[k] for k in ("input_ids", "labels")} for r in rows(folder / "separate")]
    apart = gradient(*[copies[n : n + 6] for n in range(0, len(copies), 6)])
    joined = gradient(gradient.rows)
    assert joined[0] == pytest.approx(apart[0], rel=1e-5)
    for name, theirs in apart[1].items():
        ours = joined[1][name]
        assert float((ours - theirs).norm() / theirs.norm()) <= 5e-6, name
    unweighted = gradient([{k: r[k] for k in ("input_ids", "labels")} for r in gradient.rows])
    assert any(float((unweighted[1][n] - g).norm() / g.norm()) > 1e-3 for n, g in apart[1].items())


def test_chains_train_as_a_whole_run(made, tmp_path):
    from core.training.settings import TrainSettings
    from core.training.train import run

    folder, model, _, _ = made
    told = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        done = run(TrainSettings(data=str(folder / "merged"), model=str(model), out=str(tmp_path / "out"), batch=2,
                                 epochs=2.0, learning_rate=1e-3, device="cpu"), told.append)
    assert done.done and len(told) == 2 and told[1].loss < told[0].loss


def test_samples_whose_tokens_do_not_go_on_from_each_other_stay_apart(made):
    import msgspec

    from core.export.chains import merged
    from core.export.render import Renderer
    from core.export.rows import SessionRows
    from core.export.source import LogSource

    _, model, log, _ = made
    source = LogSource(log)
    react, summary, last = SessionRows(source, "a", Renderer(model), MERGED)
    source.close()
    assert [r.react_tokens for r in merged(iter([react, summary, last]))] == [react.tokens, 0]
    other = msgspec.structs.replace(summary.rendered, ids=[0, *summary.rendered.ids[1:]])
    altered = msgspec.structs.replace(summary, rendered=other)
    assert list(merged(iter([react, altered, last]))) == [react, altered, last]
    assert list(merged(iter([react, last]))) == [react, last]


def test_balance_decides_the_weights_and_nothing_of_weight_0_is_trained(made, tmp_path):
    folder, model, log, _ = made
    options = ExportOptions(react=0, summary=2)
    report = export(log, ["a"], "trl", tmp_path / "x", str(model), options)
    [only] = rows(tmp_path / "x")
    assert report.rows == 1 and set(only["weights"]) == {0.0, 2.0}
    summary = rows(folder / "separate")[1]
    assert only["labels"] == summary["labels"]
    with pytest.raises(InvalidInput, match="nothing can be merged"):
        export(log, ["a"], "chat", tmp_path / "y", "", ExportOptions(chains=True))


def test_weights_that_do_not_fit_are_refused(tmp_path):
    from core.training.data import check_rows

    for weights in ([1.0], [1.0, -1.0, 1.0]):
        row = {"input_ids": [1, 2, 3], "labels": [-100, 2, 3], "weights": weights}
        (tmp_path / "d.jsonl").write_text(json.dumps(row))
        with pytest.raises(InvalidInput, match="weight"):
            check_rows([tmp_path / "d.jsonl"], 10, 10, tmp_path / "rows")
