"""Real branches of a roll-out's session, played by real runners with an engine that says its tokens, become a change of
the weights: the better suffix is preferred, and what the branches share is nobody's choice."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from support.recipes import textcraft  # noqa: F401 - a fixture
from support.wire import serving, until

from core.domain.ids import new_id
from core.domain.session import FINAL_STATES
from core.domain.task import Budget, ModelSettings
from core.environments.registry import ENVIRONMENTS, environment_task
from core.protocol.operations import BranchSession
from core.rollouts.planned import PlannedModel
from core.rollouts.roll_out import roll_out
from core.rollouts.session_log import StoreLog
from core.server.authority import Authority
from core.store import log
from core.store.home import Home
from core.store.schema import open_log
from core.training.rl_settings import RlSettings

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("jinja2")
pytestmark = [pytest.mark.usefixtures("textcraft"), pytest.mark.timeout(600),
              pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")]
ITEM = 2


@contextmanager
def engine(folder: Path) -> Iterator[str]:
    """An engine in vLLM's dialect: the model `good` gives the right commands, any other looks around."""
    from transformers import AutoTokenizer

    words, plan = AutoTokenizer.from_pretrained(folder), ENVIRONMENTS["textcraft"].plan(
        environment_task("textcraft", item=ITEM).environment)

    class Engine(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            step = sum(one["role"] == "assistant" for one in asked["messages"])
            text = f"Action: {plan[step] if asked['model'] == 'good' else 'inventory'}"
            ids = [*words(text, add_special_tokens=False)["input_ids"], words.eos_token_id]
            prompt = words.apply_chat_template(asked["messages"], tokenize=False, add_generation_prompt=True)
            choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text},
                      "token_ids": ids, "logprobs": {"content": [{"token": "t", "logprob": -0.5} for _ in ids]}}
            shown = words(prompt, add_special_tokens=False)["input_ids"]
            used = {"prompt_tokens": len(shown), "completion_tokens": len(ids), "total_tokens": len(shown) + len(ids)}
            data = json.dumps({"id": "x", "object": "chat.completion", "created": 1, "model": "policy@0",
                               "prompt_token_ids": shown, "choices": [choice], "usage": used}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Engine)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


async def _branched(home: Home, url: str) -> str:
    """A session of a roll-out, and two branches of it behind its first step, played to their ends; its id."""
    async with StoreLog(home) as store:
        parent = (await roll_out(PlannedModel, [environment_task("textcraft", item=ITEM)], log=store))[0]
    assert parent.score == 100.0 and parent.steps > 2 and not parent.rows
    async with serving(home.path, supervise=True), Authority(home) as authority:
        for name in ("good", "bad"):
            model = ModelSettings(kind="openai", name=name, base_url=url)
            await authority.do(new_id(), BranchSession(parent=parent.session, step=1, model=model, group="q",
                                                       more=Budget(steps=parent.steps - 1)))
        await until(lambda: _are_over(home), "the branches end", 400)
    return parent.session


def _are_over(home: Home) -> bool:
    with closing(open_log(home.server_db)) as conn:
        rows = log.rows(conn)
        return len(rows) == 3 and all(row.state in FINAL_STATES for row in rows)


def _logprob(net, row):
    ids = torch.tensor(row.ids)
    found = net(input_ids=ids[None]).logits[0, :-1].log_softmax(-1).gather(1, ids[1:, None])[:, 0]
    return found[torch.tensor(row.own[1:])].sum()


def test_branches_that_runners_played_change_the_weights_as_dpo_on_their_suffixes(tmp_path, monkeypatch):
    from study.small_policy import make
    from transformers import AutoModelForCausalLM

    from core.training.people_source import load_words
    from core.training.rl import run_rl

    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    home, folder = Home(tmp_path / "lab"), make("textcraft", tmp_path / "model", width=16, layers=1, items=(0, 1, 2))
    with engine(folder) as url:
        asyncio.run(_branched(home, url))
    chosen = RlSettings(model=str(folder), out=str(tmp_path / "run"), kind="textcraft", tasks=1, group=2, limit=1,
                        max_tokens=2, updates=1, learning_rate=3e-3, device="cpu", items="0", test_items="1",
                        test_every=9, people=("branches",), people_from=str(home.path), people_weight=2.0, beta=0.5,
                        loss="rejection", threshold=1.0, clip=1e9)
    told = []
    run_rl(chosen, told.append)
    assert told[-1].people_count["branches"] == 1
    assert told[-1].people["branches"] == pytest.approx(0.6931, abs=1e-3), "policy and reference are the same yet"
    words = load_words(tmp_path / "run" / "people" / "00001.npz")
    (best, worst), = words.pairs
    rows = {row.session: row for row in words.branches}
    assert len(rows) == len(words.branches) == 2 and rows[best].reward == 1.0 and rows[worst].reward == 0.0
    assert all((row.steps[row.own] > 1).all() for row in rows.values())
    net = AutoModelForCausalLM.from_pretrained(str(folder), dtype=torch.float32)
    adam = torch.optim.AdamW(net.parameters(), chosen.learning_rate, weight_decay=0.0)
    before = {name: _logprob(net, row).detach() for name, row in rows.items()}
    gain = {name: _logprob(net, row) - before[name] for name, row in rows.items()}
    (-2.0 * torch.nn.functional.logsigmoid(chosen.beta * (gain[best] - gain[worst]))).backward()
    adam.step()
    ours = AutoModelForCausalLM.from_pretrained(str(tmp_path / "run" / "model"), dtype=torch.float32)
    for row in rows.values():
        torch.testing.assert_close(_logprob(ours, row), _logprob(net, row), rtol=0, atol=1e-3)
    assert _logprob(ours, rows[best]) - _logprob(ours, rows[worst]) > before[best] - before[worst]
