"""A run of reinforcement learning: it learns, says what it does, and is the same run however often it is killed."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import threading
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from support.letter_game import use_letter_game

from app.desk.run_files import RunNews, is_run, look, write_session
from core.domain.errors import Conflict, InvalidInput
from core.formats import registry
from core.formats.source import Source
from core.training.rl_settings import RlSettings, ranges, read_rl_settings, stages

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("jinja2")
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")


@pytest.fixture(scope="module")
def model(letter_policy) -> Path:
    return letter_policy


def settings(model: Path, out: Path, **more) -> RlSettings:
    return RlSettings(**{"model": str(model), "out": str(out), "kind": "letters", "tasks": 4, "group": 4, "limit": 1,
                         "max_tokens": 4, "updates": 3, "learning_rate": 3e-3, "device": "cpu", **more})


def lines(out: Path) -> list[dict]:
    found = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    return [{k: v for k, v in line.items() if not k.endswith("_s")} for line in found]


def test_it_learns_what_is_asked_for_and_tells_of_itself(model, tmp_path):
    from core.training.rl import run_rl
    from core.workers.reinforcement import read_sheets

    told = []
    done = run_rl(settings(model, tmp_path, updates=7, items="1", tasks=2, group=8, learning_rate=1e-2,
                           test_items="1", test_every=7, test_group=32), told.append)
    assert done.done and (tmp_path / "model" / "model.safetensors").is_file()
    assert [m.update for m in told] == list(range(8)) == [line["update"] for line in lines(tmp_path)]
    first, last = told[0], told[-1]
    assert first.test_reward < 0.6 and last.test_reward > first.test_reward + 0.3
    learnt = [m for m in told[1:] if m.loss is not None]
    assert [m.staleness for m in learnt] == [0] * len(learnt)
    assert all(m.entropy > 0 and m.length > 0 for m in learnt)
    assert max(m.kl for m in learnt) < 1e-6
    news = look(tmp_path, RunNews())
    assert is_run(tmp_path) and news.metrics == tuple(told) and news.newest == 7 and news.is_over
    sheets = [g for n in range(1, 8) for g in read_sheets((tmp_path / "groups" / f"{n:05d}.json").read_bytes())]
    assert len(sheets) == 14 and all(len(g.sessions) == 8 for g in sheets)
    varied = next(g for g in sheets if not g.dropped)
    assert sum(s.advantage for s in varied.sessions) == pytest.approx(0, abs=1e-3)
    assert varied.sessions[0].steps[0].text.startswith("Action:") and varied.sessions[0].steps[0].tokens
    [again] = registry.read(Source(write_session(tmp_path, varied.sessions[0].session, tmp_path)))
    assert again.session == varied.sessions[0].session and again.format == "archive"
    assert varied.sessions[0].steps[0].advantage == pytest.approx(varied.sessions[0].advantage)


def test_every_update_is_that_of_plain_torch(model, tmp_path):
    from transformers import AutoModelForCausalLM

    from core.training.policy_rows import load_rows
    from core.training.rl import run_rl

    chosen = settings(model, tmp_path, updates=3, limit=3, group=8, keep=9)
    run_rl(chosen)
    net = AutoModelForCausalLM.from_pretrained(str(model), dtype=torch.float32)
    adam = torch.optim.AdamW(net.parameters(), chosen.learning_rate, weight_decay=0.0)
    for update in (1, 2, 3):
        rows = load_rows(tmp_path / "rollouts" / f"{update:05d}.npz")
        assert len({row.session for row in rows}) == len(rows) == 32
        rewards = {g: torch.tensor([r.reward for r in rows if r.group == g]) for g in {row.group for row in rows}}
        varied = [row for row in rows if len(rewards[row.group].unique()) > 1]
        for row in varied:
            logprobs = _logprobs(net, row.ids)[row.own[1:]]
            torch.testing.assert_close(logprobs.detach(), torch.tensor(row.old[row.own]).float(), rtol=0, atol=1e-4)
            group = rewards[row.group]
            (-logprobs.mean() * (row.reward - group.mean()) / (group.std() + 1e-4) / len(varied)).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        adam.step()
        adam.zero_grad()
        ours = AutoModelForCausalLM.from_pretrained(str(tmp_path / "policy" / f"{update:05d}"), dtype=torch.float32)
        for row in varied:  # Adam turns the rounding of a gradient that is nearly 0 into a step: predictions compare
            now, plain = (_logprobs(one, row.ids)[row.own[1:]] for one in (ours, net))
            torch.testing.assert_close(now, plain, rtol=0, atol=1e-4)


def _logprobs(net, ids):
    ids = torch.tensor(ids)
    return net(input_ids=ids[None]).logits[0, :-1].log_softmax(-1).gather(1, ids[1:, None])[:, 0]


@pytest.mark.parametrize("loss", ["dr_grpo", "dapo", "rloo", "reinforce++", "ppo", "dpo", "rejection"])
def test_each_loss_goes_its_way_through_a_whole_run(model, tmp_path, loss):
    from core.training.rl import run_rl

    told = []
    more = {"kl": 0.01} if loss in ("dapo", "ppo") else {}
    run_rl(settings(model, tmp_path, loss=loss, updates=2, passes=2, parts=2, staleness=1, **more), told.append)
    assert any(m.loss is not None and m.grad_norm > 0 for m in told)
    if loss == "dapo":
        assert told[-1].kl_reference is not None and told[-1].staleness > 0 and told[-1].kl > 1e-9


def _dies_at(write: int, chosen: RlSettings) -> None:
    """Run, and be killed before the n-th file gets its name or its line."""
    from core.training.rl import run_rl
    from core.training.rl_state import RunFolder

    use_letter_game()
    torch.set_num_threads(1)
    seen, replace, add = [0], Path.replace, RunFolder.add_metric

    def counted(function):
        def call(*args):
            seen[0] += 1
            if seen[0] == write:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*args)
        return call

    Path.replace, RunFolder.add_metric = counted(replace), counted(add)
    run_rl(chosen)
    os._exit(0)


@pytest.mark.timeout(240)
def test_killed_between_any_two_writes_it_ends_with_the_weights_of_an_undisturbed_run(model, tmp_path):
    from core.training.rl import run_rl

    more = {"updates": 3, "passes": 2, "parts": 2, "staleness": 1, "loss": "ppo", "horizon": "1:1,2"}
    run_rl(settings(model, tmp_path / "whole", **more))
    fork = multiprocessing.get_context("fork")
    ends, write = [], 1
    while not ends or ends[-1] != 0:
        child = fork.Process(target=_dies_at, args=(write, settings(model, tmp_path / "killed", **more)))
        child.start()
        child.join()
        ends.append(child.exitcode)
        write += 1
        assert len(ends) < 20
    assert ends[:-1] == [-signal.SIGKILL] * (len(ends) - 1) and len(ends) > 4
    whole, again = (tmp_path / name / "model" / "model.safetensors" for name in ("whole", "killed"))
    assert whole.read_bytes() == again.read_bytes()
    assert lines(tmp_path / "whole") == lines(tmp_path / "killed")
    assert [line["horizon"] for line in lines(tmp_path / "killed")] == [1, 2, 2]


def _dies_playing(entry: int, chosen: RlSettings) -> None:
    """Run, and be killed while sessions are played, when the log is given the n-th piece of a journal."""
    from core.store import log
    from core.training.rl import run_rl

    use_letter_game()
    torch.set_num_threads(1)
    seen, append = [0], log.append_journal

    def counted(*args):
        seen[0] += 1
        if seen[0] == entry:
            os.kill(os.getpid(), signal.SIGKILL)
        return append(*args)

    log.append_journal = counted
    run_rl(chosen)
    os._exit(0)


@pytest.mark.timeout(240)
def test_killed_amid_its_sessions_it_plays_them_again_and_ends_with_the_same_weights(model, tmp_path):
    from core.training.policy_rows import load_rows
    from core.training.rl import run_rl

    more = {"updates": 2, "limit": 3, "tasks": 2}
    run_rl(settings(model, tmp_path / "whole", **more))
    fork = multiprocessing.get_context("fork")
    for entry in (5, 30, 9):  # in the first update, in the second, and again in that one
        child = fork.Process(target=_dies_playing, args=(entry, settings(model, tmp_path / "killed", **more)))
        child.start()
        child.join()
        assert child.exitcode == -signal.SIGKILL
    run_rl(settings(model, tmp_path / "killed", **more))
    whole, again = (tmp_path / name / "model" / "model.safetensors" for name in ("whole", "killed"))
    assert whole.read_bytes() == again.read_bytes() and lines(tmp_path / "whole") == lines(tmp_path / "killed")
    first, second = ([(row.ids.tolist(), row.old.tolist(), row.reward) for row in load_rows(
        tmp_path / name / "rollouts" / "00002.npz")] for name in ("whole", "killed"))
    assert first == second, "the same tokens with the same log-probabilities are sampled again"


def test_stopped_it_goes_on_and_another_run_is_refused(model, tmp_path):
    from core.training.rl import run_rl

    stop = threading.Event()
    first = run_rl(settings(model, tmp_path, updates=2, save_every=5), lambda _: stop.set(), stop)
    assert first.stopped and first.step == 1 and Path(first.checkpoint).is_dir()
    with pytest.raises(Conflict, match=r"group 4 \(now 2\)"):
        run_rl(settings(model, tmp_path, updates=2, group=2))
    again = run_rl(settings(model, tmp_path, updates=2))
    assert again.done and again.resumed_at == 1
    assert run_rl(settings(model, tmp_path, updates=2)).done
    before = (Path(again.folder) / "model.safetensors").read_bytes()
    longer = run_rl(settings(model, tmp_path, updates=3))  # one that is over goes on where more is asked of it
    assert (longer.done, longer.resumed_at, longer.step) == (True, 2, 3)
    assert (Path(longer.folder) / "model.safetensors").read_bytes() != before


def test_the_tokens_of_a_masked_step_are_blocked_in_its_row():
    from core.domain.sampled import TokenRow
    from core.domain.task import Task
    from core.rollouts.rollout import Rollout
    from core.training.rl_play import rows_of

    row = TokenRow(ids=[5, 6, 7, 8, 9], is_own=[False, True, True, False, True], logprobs=[0, -1, -1, 0, -2.0],
                   steps=[0, 1, 1, 0, 2], versions=[-1, 4, 4, -1, 3])
    rollout = Rollout(session="s", group="g", task=msgspec.convert({"id": "t", "title": "t", "description": "t"}, Task),
                      score=50.0, rows=[row, TokenRow(ids=[1], is_own=[False], logprobs=[0.0], steps=[0],
                                                      versions=[-1])])
    [found] = rows_of(rollout, "g0", {2})
    assert found.blocked.tolist() == [False, False, False, False, True]
    assert found.steps.tolist() == [-1, 1, 1, -1, 2] and (found.version, found.reward) == (3, 0.5)


def test_rows_rest_in_files_as_they_are(tmp_path):
    import numpy as np

    from core.training.policy_rows import PolicyRow, fresh, informative, load_rows, save_rows

    def row(session, group, version, reward, size):
        return PolicyRow(np.arange(size), np.arange(size) > 1, -0.1 * np.arange(size), np.ones(size, int),
                         np.zeros(size, bool), session, group, version, reward)

    rows = [row("a", "g", 1, 0.5, 4), row("a", "g", 0, 0.5, 3), row("b", "g", 1, 0.0, 5), row("c", "h", 1, 1.0, 2)]
    save_rows(tmp_path / "x.npz", rows)
    again = load_rows(tmp_path / "x.npz")
    assert all(np.array_equal(x, y) for a, b in zip(rows, again, strict=True) for x, y in zip(a, b, strict=True))
    assert [r.session for r in informative(rows)] == ["a", "a", "b"]
    assert [r.session for r in fresh(rows, 1, 0)] == ["b", "c"]


def test_a_horizon_is_a_function_of_the_update():
    scaled = RlSettings(model="m", out="o", kind="k", limit=9, horizon="6:100,13:200,20")
    assert [scaled.horizon_at(n) for n in (1, 100, 101, 200, 201, 999)] == [6, 6, 13, 13, 20, 20]
    assert RlSettings(model="m", out="o", kind="k", limit=9, horizon="6:10").horizon_at(11) == 9
    assert stages("") == [] and ranges("0-2,7", 9) == [0, 1, 2, 7] and ranges("", 3) == [0, 1, 2]


@pytest.mark.parametrize("values", [
    {"gruop": "3"}, {"loss": "best"}, {"group": "1"}, {"lam": "0.9"}, {"kl": "0.1", "loss": "dpo"},
    {"horizon": "6:9,3:4"}, {"horizon": "x"}, {"items": "9-3"}, {"test_every": "2"}, {"parts": "9"},
    {"kl_place": "reward"}, {"temperature": "0"}, {"options": "x"}, {"clip_high": "-1"}])
def test_settings_that_cannot_be_or_do_nothing_are_refused(values):
    with pytest.raises(InvalidInput) as refused:
        read_rl_settings({"model": "m", "out": "o", "kind": "k", **values})
    assert refused.value.code == ("unknown_setting" if "gruop" in values else "bad_settings")
    if "gruop" in values:
        assert "did you mean group" in refused.value.sentence


def test_a_folder_without_a_model_is_refused_before_the_run_has_a_folder(tmp_path):
    from core.training.rl import run_rl

    with pytest.raises(InvalidInput) as refused:
        run_rl(settings(tmp_path / "nothing", tmp_path, updates=1))
    assert refused.value.code == "no_model" and not list(tmp_path.iterdir())


def test_fresh_games_are_other_ones_in_each_update_and_held_out_ones_the_same(model, tmp_path, monkeypatch):
    from core.training.rl_play import Stage

    monkeypatch.setattr("core.training.rl_play.LocalPolicy", lambda *_, **__: SimpleNamespace())
    played = []
    monkeypatch.setattr(Stage, "_round", lambda self, tasks, group, limit, seed, name, facts: played.append(
        (name[0], {task.environment.seed for task in tasks})) or [])
    for fresh in (False, True):
        stage = Stage(settings(model, tmp_path, items="1", test_items="1", fresh=fresh), None, None)
        for update in (1, 2):
            stage.play(update)
            stage.test(update)
    assert played == [("u", {0}), ("t", {0})] * 2 + [("u", {1}), ("t", {0}), ("u", {2}), ("t", {0})]
