"""The whole way once: server, runner, container and window are real, and each is killed with SIGKILL on the way."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
from support.parts import ROOT, Parts, stopped, wait
from support.tiny_model import thin_smollm2

from core.domain.events import GuidanceDelivered, GuidanceQueued, StepAdded, SubmissionMade
from core.store import blobs
from core.store.sqlite import connect
from core.tasks.demo import GUIDANCE

PACE_S = "0.6"


@pytest.mark.docker
@pytest.mark.model
@pytest.mark.timeout(420)
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")
def test_a_session_survives_the_death_of_every_process_and_becomes_a_trained_model(tmp_path: Path) -> None:
    whole = Parts(tmp_path / "home", TIPHYS_SCRIPT_PACE=PACE_S)
    whole.home.mkdir()
    whole.start_server()
    session = whole.tiphys("run", "review-labels")[0]["session"]
    with stopped(whole, session):
        _work_under_fire(whole, session)
        _check_the_log(whole, session)
        _judge(whole, session)
        _make_a_model(whole, session, tmp_path)


def _work_under_fire(whole: Parts, session: str) -> None:
    whole.open_window(session)
    assert whole.type("steps 3").startswith("steps ")
    whole.kill_runner(session)
    wait(lambda: bool(whole.trajectory(session).scores), "the mistake shows in a first score")
    whole.kill_server()
    assert whole.type(f"guide {GUIDANCE}") == "sent"  # the server is gone: it waits in the outbox
    whole.kill_window()
    whole.start_server()
    whole.open_window(session)
    wait(lambda: [g.state for g in whole.trajectory(session).guidance.values()] not in ([], ["queued"]), "delivery")
    whole.kill_runner(session)
    wait(lambda: whole.trajectory(session).row.state == "finished", "the session finishes", 240)


def _check_the_log(whole: Parts, session: str) -> None:
    told = whole.trajectory(session)
    facts = whole.facts(session)
    assert [f.text for f in facts if isinstance(f, GuidanceQueued)] == [GUIDANCE]
    delivered = [f for f in facts if isinstance(f, GuidanceDelivered)]
    assert len(delivered) == 1
    numbers = [f.head.number for f in facts if isinstance(f, StepAdded)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert [_has_guidance(whole, session, delivered[0].step - before) for before in (0, 1)] == [True, False]
    assert told.scores[0].total is not None
    assert told.scores[-1].total is not None
    assert told.scores[0].total + 20 < told.scores[-1].total  # advice changed what the agent did
    assert told.scores[-1].total == _score_again(whole, session)
    wait(lambda: whole.type(f"steps {len(numbers)}") == f"steps {len(numbers)}", "the window holds every step")
    replica, record = whole.home / "replicas" / "local.db", whole.home / "server.db"  # which rules still write into
    wait(lambda: whole.bodies(replica, session) == whole.bodies(record, session), "the replica equals the log")


def _score_again(whole: Parts, session: str) -> float:
    """What the task's evaluator says, run by hand, of the very submission that the log holds."""
    facts = whole.facts(session)
    last = [fact for fact in facts if isinstance(fact, SubmissionMade)][-1]
    with contextlib.closing(connect(whole.home / "server.db", readonly=True)) as conn:
        packed = blobs.get(conn, last.blob)
    handed_in = whole.home.parent / "handed-in"
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        handed_in.mkdir()
        for member in tar:
            (handed_in / member.name).write_bytes(tar.extractfile(member).read())
    task = ROOT / "resources" / "tasks" / "review-labels"
    command = [sys.executable, str(task / "evaluate.py"), str(handed_in), str(task / "references")]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout.splitlines()[-1])["total"]


def _has_guidance(whole: Parts, session: str, step: int) -> bool:
    """Whether the exact context of a step, as the command line tells it, holds the guidance."""
    [told] = whole.tiphys("show", session, "--step", str(step), "--context")
    return GUIDANCE in json.dumps(told["steps"][0]["context"], ensure_ascii=False)


def _judge(whole: Parts, session: str) -> None:
    assert whole.type("mask 2") == "masked"
    wait(lambda: whole.trajectory(session).step(2).outcome == "mask", "the verdict reaches the log")
    wait(lambda: _rule_masks(whole, session), "the rules judge by themselves when the session ends")
    [judged] = whole.tiphys("judge", session)
    assert judged["masked"] == 0
    whole.close_window()


def _rule_masks(whole: Parts, session: str) -> list[dict[str, Any]]:
    """What the rules masked: the step that failed."""
    [shown] = whole.tiphys("show", session)
    return [o for s in shown["steps"] for o in s["verdict"]["opinions"] if (o["kind"], o["value"]) == ("rule", "mask")]


def _make_a_model(whole: Parts, session: str, folder: Path) -> None:
    model = str(thin_smollm2())  # real weights and template, quick enough for a whole session
    [report] = whole.tiphys("export", session, "--to", "trl", "--out", str(folder / "data"), "--model", model,
                            "--unjudged", "keep")
    assert 0 < report["trained"] < report["tokens"]
    lines = whole.tiphys("train", str(folder / "data"), "--model", model, "--out", str(folder / "model"), "--set",
                         "max_steps=2", "--set", "batch=1", "--set", "epochs=3", "--set", "learning_rate=1e-4")
    losses = [line["loss"] for line in lines if "loss" in line and not line.get("done")]
    assert lines[-1]["done"]
    assert len(losses) == 2
    assert all(0 < loss < 30 for loss in losses)  # each update has a row of its own, so they do not compare
    [trained] = Path(lines[-1]["folder"]).glob("*.safetensors")
    [before] = Path(model).glob("*.safetensors")
    assert _tensor(trained, "model.layers.0.mlp.up_proj.weight") != _tensor(before, "model.layers.0.mlp.up_proj.weight")


def _tensor(file: Path, name: str) -> bytes:
    """One tensor's bytes of a safetensors file (its header is JSON, after its length in eight bytes)."""
    data = file.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    first, last = json.loads(data[8:start])[name]["data_offsets"]
    return data[start + first : start + last]
