"""TRL's own trainer takes its roll-outs from our sessions, and makes of them the updates that ours makes."""

from __future__ import annotations

import warnings

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("trl")
pytest.importorskip("datasets")
pytestmark = pytest.mark.filterwarnings("ignore")

UPDATES, GROUP, TASKS, RATE = 2, 4, 2, 3e-3


def test_two_updates_of_grpotrainer_are_ours_on_the_same_sessions(letter_policy, tmp_path, monkeypatch):
    from datasets import Dataset
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from trl import GRPOConfig, GRPOTrainer

    from core.store.home import Home
    from core.training.group_export import members_of, sessions_in
    from core.training.learner import Learner
    from core.training.rl_change import Changer
    from core.training.rl_settings import RlSettings
    from core.training.trl_rollouts import TrlRollouts

    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
    plays = TrlRollouts("letters", tmp_path / "home", limit=3, max_tokens=4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trainer = GRPOTrainer(
            model=AutoModelForCausalLM.from_pretrained(str(letter_policy), dtype=torch.float32),
            processing_class=AutoTokenizer.from_pretrained(str(letter_policy)), reward_funcs=plays.score,
            rollout_func=plays, train_dataset=Dataset.from_dict({"prompt": [str(n) for n in range(4)]}),
            args=GRPOConfig(
                output_dir=str(tmp_path / "trl"), per_device_train_batch_size=GROUP * TASKS, num_generations=GROUP,
                max_steps=UPDATES, learning_rate=RATE, lr_scheduler_type="constant", loss_type="bnpo", use_cpu=True,
                bf16=False, report_to=[], logging_steps=1, save_strategy="no", gradient_checkpointing=False,
                max_completion_length=200, gradient_accumulation_steps=1, disable_dropout=True, beta=0.0))
        trainer.train()
    theirs = [line["loss"] for line in trainer.state.log_history if "loss" in line]
    db = Home(tmp_path / "home").server_db
    members, left_out = members_of(db, sessions_in(db))
    assert len(members) == UPDATES * GROUP * TASKS and not any(left_out)
    ours = AutoModelForCausalLM.from_pretrained(str(letter_policy), dtype=torch.float32)
    chosen = RlSettings(model="", out="", kind="letters", loss="bnpo", learning_rate=RATE)
    changer = Changer(chosen, Learner(ours), None)
    for update in range(UPDATES):
        rows = [row for one in members for row in one.rows if row.version == update]
        assert len({row.group for row in rows}) == TASKS and len(rows) == GROUP * TASKS
        ready, _ = changer.prepared(rows)
        found = changer.change(update + 1, rows, ready)
        assert found["loss"] == pytest.approx(theirs[update], abs=1e-5)
    assert max(map(abs, theirs)) > 1e-3, "there was something to learn"
    trained = trainer.model.eval()
    for row in (row for one in members for row in one.rows):
        with torch.no_grad():
            both = [net(input_ids=torch.tensor(row.ids)[None]).logits.log_softmax(-1) for net in (ours, trained)]
        torch.testing.assert_close(*both, rtol=0, atol=1e-3)


def test_a_session_of_several_rows_is_refused_and_one_that_broke_has_no_reward():
    from core.domain.errors import InvalidInput
    from core.domain.sampled import TokenRow
    from core.domain.task import Task
    from core.rollouts.rollout import Rollout
    from core.training.trl_rollouts import TrlRollouts, _row

    row = TokenRow(ids=[1, 2, 3], is_own=[False, True, False], logprobs=[0.0, -1.0, 0.0], steps=[0, 1, 0],
                   versions=[-1, 0, -1], policy="p", temperature=1.0, top_p=1.0)
    one = Rollout(session="s", group="g", task=Task(id="t", title="T", description="d"), rows=[row], score=50.0)
    assert _row(one).ids.tolist() == [1, 2], "what the environment said last is no part of the completion"
    one.rows = [row, row]
    with pytest.raises(InvalidInput, match="2 rows"):
        _row(one)
    assert TrlRollouts.score(completions=["a", "b"], reward=[0.5, None], session=["s", "t"]) == [0.5, None]
