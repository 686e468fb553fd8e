"""The command family beside ResearchGym's own, in one run: a blocking command, its exit code, waits, bytes of a step.

    git clone https://github.com/GAIR-NLP/InnovatorBench
    python3 -m venv rg; rg/bin/pip install flask ptyprocess requests
    python tests/benchmarks/run.py commands --seed InnovatorBench --python rg/bin/python

Their terminal server and client run as they are (commit 93c048a), on loopback; ours in a container, through the actions
that a model calls. Without --seed only ours is measured. The bytes are those of the step in their published sample
(`innovatorbench/sample_react_node.json` of TIPHYS_TEST_DATA): their file of it, and what it adds to our log.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import socket
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from support.sandboxes import Acting, acting, box

from core.domain.blob import blob_hash
from core.domain.context import MessageRef, delta_between
from core.domain.events import StepAdded, encode_event, make_event
from core.domain.head import make_head
from core.domain.message import Message, ToolCall, encode_message
from core.domain.step import Action, Observation, Output, StepBody, encode_body
from core.domain.verdict import Author
from core.store.blobs import compress

THEIRS = """
import importlib.util, json, sys, time
spec = importlib.util.spec_from_file_location("cmd", sys.argv[1] + "/research_gym/applications/cmd_operations.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
commands = module.CmdOperations()
where = dict(computer_ip="127.0.0.1", session_id="s", http_port=int(sys.argv[2]), use_proxy=False)
commands.create_session(**where)
found = []
for text in ["true"] * int(sys.argv[3]) + ["false"]:
    began = time.perf_counter()
    result = commands.run_command(text, wait_for_completion=True, **where)
    found.append((time.perf_counter() - began, result["success"]))
print(json.dumps(found))
"""


def tell(what: str, **figures: Any) -> None:
    print(json.dumps({"bench": "commands", "what": what, **figures}), flush=True)


@contextlib.contextmanager
def server(folder: Path, python: str) -> Iterator[int]:
    """Their terminal server; gives its port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    argv = [python, str(folder / "research_gym/backend/docker/http_terminal_server.py"), "--host", "127.0.0.1",
            "--port", str(port)]
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 20
        while time.monotonic() < until:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.1)
        yield port
    finally:
        process.terminate()
        process.wait()


def theirs(folder: Path, python: str, times: int) -> None:
    with server(folder, python) as port:
        done = subprocess.run([python, "-c", THEIRS, str(folder), str(port), str(times)], capture_output=True,
                              text=True, check=True, timeout=300)
    *good, bad = json.loads(done.stdout.splitlines()[-1])
    seconds = [one for one, _ in good]
    tell("ResearchGym: a blocking command", p50_s=round(statistics.median(seconds), 2), least_s=round(min(seconds), 2))
    tell("ResearchGym: `false` is told as a success", success=bad[1])


def ours(times: int) -> None:
    async def work(at: Acting) -> None:
        clock = asyncio.get_running_loop()
        await at.do("run_command", command="true", wait_for_completion=True)  # opens the terminal
        seconds = []
        for _ in range(times):
            began = clock.time()
            await at.do("run_command", command="true", wait_for_completion=True)
            seconds.append(clock.time() - began)
        tell("a blocking command", p50_ms=round(statistics.median(seconds) * 1e3, 1),
             p99_ms=round(sorted(seconds)[int(0.99 * (times - 1))] * 1e3, 1))
        failed = await at.do("run_command", command="false", wait_for_completion=True)
        tell("`false`", exit_code=failed.exit_code, is_error=failed.is_error)
        began = clock.time()
        await asyncio.gather(at.do("sleep", sleep_time=5), at.do("sleep", sleep_time=5))
        tell("two waits of 5 s in one answer", seconds=round(clock.time() - began, 2))
        jobs = [(await at.do("run_command", command=f"sleep {n}", session_id=f"t{n}", wait_for_completion=False)).job
                for n in (4, 60)]
        began = clock.time()
        woken = await at.do("sleep", sleep_time=90, jobs=jobs)
        tell("wait for any of two jobs, of 4 s and 60 s", seconds=round(clock.time() - began, 2),
             reason=woken.data["reason"])

    with tempfile.TemporaryDirectory() as folder, box("docker", Path(folder)) as made:
        acting(made, work)


def bytes_of_a_step(path: Path) -> None:
    """Their file of a step, how much of it repeats the steps before, and what the same step adds to our log."""
    node = json.loads(path.read_text())
    whole, repeated = path.stat().st_size, len(json.dumps(node["messages"]))
    tell("ResearchGym: bytes of a step's file, and of it repeated", whole=whole, repeated=repeated)
    call = node["response"]["tool_calls"][0]
    answer = Message(role="assistant", content=node["response"]["content"], tool_calls=(
        ToolCall(id=call["call_id"], name=call["name"], arguments=json.dumps(call["arguments"])),))
    told = json.dumps(node["observation"])
    result = Message(role="tool", content=told, tool_call_id=call["call_id"])
    action = Action(call_id=call["call_id"], tool=call["name"], arguments=call["arguments"])
    output = Output(text=node["observation"]["output"], total_chars=len(node["observation"]["output"]))
    body = StepBody(number=1, thought="", actions=(action,),
                    observations=(Observation(call_id=action.call_id, output=output),))
    parts = [encode_message(answer), encode_message(result), encode_body(body)]
    context = [MessageRef(hash=blob_hash(str(n).encode()), role="user", tokens=500)
               for n in range(len(node["messages"]) + 2)]
    fact = StepAdded(head=make_head(body), body=blob_hash(parts[2]), context=delta_between(context[:-2], context),
                     completion=context[-2])
    event = encode_event(make_event(fact, Author(kind="agent", name="s")))
    tell("the same step in our log", bytes=sum(len(compress(part)) for part in parts) + len(event))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=Path, help="a checkout of GAIR-NLP/InnovatorBench")
    parser.add_argument("--python", default="python3", help="a Python with flask, ptyprocess and requests")
    parser.add_argument("--times", type=int, default=5)
    given = parser.parse_args()
    ours(20 * given.times)
    if data := os.environ.get("TIPHYS_TEST_DATA"):
        bytes_of_a_step(Path(data) / "innovatorbench/sample_react_node.json")
    if given.seed is not None:
        theirs(given.seed, given.python, given.times)


if __name__ == "__main__":
    main()
