"""Groups of sessions as other engines take them: TRL's own collator and loss find in our rows what we do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from support.killed import contents, every_kill
from support.letter_game import use_letter_game

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def run(letter_policy, tmp_path_factory) -> Path:
    """A run of one update: four groups of four sessions of up to three steps."""
    from core.training.rl import run_rl
    from core.training.rl_settings import RlSettings

    use_letter_game()
    out = tmp_path_factory.mktemp("run") / "run"
    run_rl(RlSettings(model=str(letter_policy), out=str(out), kind="letters", tasks=4, group=4, limit=3, max_tokens=4,
                      updates=1, device="cpu"))
    return out


@pytest.mark.parametrize("form", ["trl-async", "verl", "skyrl", "slime-rollout", "verifiers"])
def test_a_file_of_groups_is_the_old_or_the_new_one_wherever_its_export_is_killed(
        run: Path, tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from core.training.group_export import GROUP_FORMS, sessions_in, write_groups

    db, target = run / "home" / "server.db", tmp_path / "there" / "groups.jsonl"
    chosen = sessions_in(db)

    def encode(*given: object) -> Iterator[dict]:
        for record in known.encode(*given):
            sys.audit("os.listdir", str(target.parent))  # writing itself tells no auditor anything
            yield record

    known = GROUP_FORMS[form]
    monkeypatch.setitem(GROUP_FORMS, form, known._replace(encode=encode))

    def export(sessions: list[str]) -> bytes:
        write_groups(form, db, sessions, target, str)
        return target.read_bytes()

    old, new = export(chosen[:3]), export(chosen)

    def judge(number: int) -> None:
        assert contents(target.parent).get(target.name) in (old, new), f"half a file at touch {number}"
        assert export(chosen) == new and contents(target.parent) == {target.name: new}

    every_kill(target.parent, lambda: [target.parent.mkdir(), target.write_bytes(old)], lambda: export(chosen), judge)


def exported(run: Path, form: str, target: Path) -> list[dict]:
    done = subprocess.run([sys.executable, "-m", "core.cli", "export", str(run / "groups" / "00001.json"), "--to", form,
                           "--out", str(target), "--json"], capture_output=True, text=True, check=False,
                          env={**os.environ, "TIPHYS_HOME": str(target.parent / "other")})
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    rows = [json.loads(line) for line in target.read_text().splitlines()]
    assert (made["rows"], made["sessions"], made["groups"]) == (len(rows), 16, 4)
    return rows


def ours(run: Path, net) -> tuple[list, list, list, float]:
    """Our rows, the log-probabilities of a model for them, GRPO's advantages by token, and the mean over all tokens."""
    from core.training.advantages import centred, spread_out
    from core.training.objectives import Clip, clipped, shares
    from core.training.policy_rows import load_rows

    rows = load_rows(run / "rollouts" / "00001.npz")
    now = [_logprobs(net, row.ids) for row in rows]
    gains = spread_out(rows, centred(rows, {row.session: row.reward for row in rows}, scaled=True))
    return rows, now, gains, clipped(rows, now, gains, shares(rows, "bnpo", 0), Clip()).loss


def _logprobs(net, ids) -> np.ndarray:
    ids = torch.tensor(ids)
    with torch.no_grad():
        scores = net(input_ids=ids[None]).logits[0, :-1].log_softmax(-1).gather(1, ids[1:, None])[:, 0]
    return np.concatenate([[0.0], scores.double().numpy()])


@pytest.fixture(scope="module")
def changed(letter_policy):
    """The policy, moved so far that ratios differ from 1 and some are clipped."""
    from transformers import AutoModelForCausalLM

    net = AutoModelForCausalLM.from_pretrained(str(letter_policy), dtype=torch.float32)
    torch.manual_seed(3)
    with torch.no_grad():
        for one in net.parameters():
            one += 0.05 * torch.randn_like(one)
    return net


def test_trls_asynchronous_grpo_computes_our_loss_on_our_rows(run, changed, tmp_path):
    pytest.importorskip("trl")
    from trl.experimental.async_grpo.async_grpo_trainer import AsyncGRPOTrainer, DataCollatorForRollout
    from trl.experimental.async_grpo.async_rollout_worker import RolloutSample
    from trl.experimental.async_grpo.packing import TreeRow

    kinds = {"input_ids": np.int64, "completion_mask": np.int64, "old_log_probs": np.float32}
    samples = [RolloutSample(**{**row, **{k: np.asarray(row[k], kind) for k, kind in kinds.items()}})
               for row in exported(run, "trl-async", tmp_path / "rows.jsonl")]
    tree = TreeRow()
    for sample in samples:
        tree.add(asdict(sample))
    batch = DataCollatorForRollout(pad_token_id=0).torch_call([[tree]])
    scores = torch.zeros(batch["input_ids"].numel())
    nodes = {node: at for at, node in enumerate(_order(tree))}
    for sample, path in zip(samples, tree.sample_nodes, strict=True):
        lps = _logprobs(changed, sample.input_ids)
        for p in range(1, len(path)):
            scores[nodes[path[p - 1]]] = lps[p]

    def model(**_):
        return SimpleNamespace(log_probs=scores[None], entropy=torch.zeros_like(scores)[None])

    trainer = SimpleNamespace(
        aux_loss_enabled=False, epsilon_low=0.2, epsilon_high=0.2, current_gradient_accumulation_steps=1,
        _metrics={"train": defaultdict(list)}, _step_forward_tokens=0.0, _step_trained_tokens=0.0,
        _step_seq_len_weighted=0.0, _step_samples=0.0, _step_forward_s=0.0,
        accelerator=SimpleNamespace(num_processes=1, reduce=lambda t, **_: t, gather=lambda t: t))
    theirs = float(AsyncGRPOTrainer.compute_loss(trainer, model, batch))
    _, _, _, loss = ours(run, changed)
    assert abs(loss) > 1e-3 and theirs == pytest.approx(loss, abs=2e-6)


def _order(tree) -> list[int]:
    """The nodes in the order in which `pack` lays them out: depth first."""
    found, stack = [], list(reversed(tree.roots.values()))
    while stack:
        node = stack.pop()
        found.append(node)
        stack += reversed(tree.children[node].values())
    return found


def test_the_forms_hold_the_same_tokens_rewards_and_groups(run, changed, tmp_path):
    rows, *_ = ours(run, changed)
    forms = ("verl", "skyrl", "slime-rollout", "verifiers")
    read = {form: exported(run, form, tmp_path / f"{form}.jsonl") for form in forms}
    for at, row in enumerate(rows):
        verl, skyrl, slime = (read[form][at] for form in ("verl", "skyrl", "slime-rollout"))
        begin = int(np.flatnonzero(row.own)[0])
        for one in (verl["prompt_ids"] + verl["response_ids"], slime["tokens"],
                    skyrl["prompt_token_ids"] + skyrl["response_ids"]):
            assert one == row.ids.tolist()
        masks = [verl["response_mask"], skyrl["loss_masks"], slime["loss_mask"]]
        assert masks == [row.own[begin:].astype(int).tolist()] * 3
        for lps in (verl["response_logprobs"], skyrl["rollout_logprobs"], slime["rollout_log_probs"]):
            assert lps == row.old[begin:].tolist()
        assert [verl["reward_score"], sum(skyrl["rewards"]), slime["reward"]] == [row.reward] * 3
        assert skyrl["rewards"][-1] == row.reward and slime["response_length"] == row.ids.size - begin
        trace = read["verifiers"][at]
        assert [i for node in trace["nodes"] for i in node["token_ids"]] == row.ids.tolist()
        assert [m for node in trace["nodes"] for m in node["mask"]] == row.own.tolist()
        assert [lp for node in trace["nodes"] for lp in node["logprobs"]] == row.old[row.own].tolist()
        assert len(trace["nodes"]) == 2 * len(set(row.steps[row.own]))
        assert trace["rewards"]["score"]["score"] == row.reward
    ids = [one["extra_fields"]["uid"] for one in read["verl"]]
    assert ids == [one["trajectory_ids"]["instance_id"] for one in read["skyrl"]] and len(set(ids)) == 4
    assert [one["trajectory_ids"]["repetition_id"] for one in read["skyrl"]] == [0, 1, 2, 3] * 4


def test_the_command_line_offers_the_forms_that_are_written():
    from core.cli.export_groups import GROUP_TARGETS
    from core.training.group_export import GROUP_FORMS

    assert tuple(GROUP_FORMS) == GROUP_TARGETS


def test_an_option_without_effect_and_other_files_are_refused(tmp_path):
    from click.testing import CliRunner

    from core.cli.root import root
    from core.domain.errors import InvalidInput

    for arguments, code in ((["s1", "--to", "verl", "--chains"], "bad_options"),
                            ([str(tmp_path / "no.json"), "--to", "skyrl"], "bad_sheets"),
                            (["s1", str(tmp_path / "no.json"), "--to", "skyrl"], "bad_options")):
        done = CliRunner().invoke(root, ["export", *arguments, "--out", str(tmp_path)], standalone_mode=False)
        assert isinstance(done.exception, InvalidInput) and done.exception.code == code
