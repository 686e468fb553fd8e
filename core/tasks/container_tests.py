"""Scoring what an agent left in a container: the task's tests run in a copy of the host's state.

Tests with a container of their own get what `artifacts` hands over instead of a copy.
The host is frozen while it is copied, so nothing that the agent left running lives in the copy; no shell, variable or
file of the agent's is entered before the tests, which come into folders that the agent's host never had, and run as
the same plain user, or as root of that copy where the task says so. The reward is Harbor's
(`/logs/verifier/reward.txt` or `reward.json`), pytest's exit status, or, of a `run-tests.sh`, pytest's summary
(Terminal-Bench 1, `terminal_bench/parsers/pytest_parser.py`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from core.domain.errors import NotFound, ReportableError
from core.domain.ids import new_id
from core.domain.task import Task
from core.sandbox.archive import tar_of
from core.sandbox.disk_watch import unless_full
from core.sandbox.sandbox import Sandbox
from core.sandbox.values import Ran
from core.tasks.artifacts import HandedOver, handed_over
from core.tasks.evaluator_hosts import LOGS, TESTS, EvaluatorHosts
from core.tasks.scoring import Outcome, failed, tail

OUTPUT_LIMIT = 64 * 1024
VERIFIER = f"{LOGS}/verifier"
CLEAN = ("PYTHONNOUSERSITE=1", "PYTHONSAFEPATH=1", "PYTHONDONTWRITEBYTECODE=1")
"""A module that the agent left in its home or working folder is not taken for one of the tests' own."""

GUARD = f"{LOGS}/guard"
SAFE_PATH = """import os, sys
class Safe:
    @staticmethod
    def find_spec(*_):
        if sys.path and sys.path[0] in ("", os.getcwd()):
            sys.meta_path.remove(Safe)
            del sys.path[0]
given = open("/proc/self/cmdline").read().split("\\0")[1:]
if sys.version_info < (3, 11) and any(one.startswith("-") and one[-1] in "mc-" for one in given[:3]):
    import runpy
    sys.meta_path.insert(0, Safe)
"""
"""PYTHONSAFEPATH for the Pythons before it (3.11), which put the working folder in front as they begin."""

SUMMED_UP = "run-tests.sh"
_SUMMARY = re.compile(rb"^=+ short test summary info =+\s*$", re.MULTILINE)
_VERDICT = re.compile(rb"^(PASSED|XPASS|FAILED|ERROR) \S", re.MULTILINE)

_AWAY = re.compile(rb"(?:uvx?|curl|apt-get|pip3?|pytest): (?:command )?not found|Temporary failure (?:in name )?resol"
                   rb"|Could not resolve host|Network is unreachable|No module named '?pytest")
"""Tests say so where they lack their tools, or cannot fetch them; that is not the agent's doing."""

_COUNTS = re.compile(rb"(\d+) (passed|failed|errors?|skipped)\b")


async def run_tests(task: Task, tests: Sequence[tuple[str, Path]], host: Sandbox, hosts: EvaluatorHosts,
                    folder: Path | None = None) -> Outcome:
    """The outcome of a task's tests on the state of its host now; what they are handed over passes through `folder`."""
    snapshot = ""
    try:
        for one in task.evaluator.collects:  # what is missing then, the tests tell
            await host.run(["bash", "-c", one.command], cwd=host.workspace, timeout=one.timeout_s)
        if task.evaluator.host is not None:
            async with handed_over(host, task.evaluator, folder) as artifacts:
                return await _in_copy(task, tests, hosts.of_the_tests(task.evaluator), artifacts)
        snapshot = await host.as_image(f"evaluation-{new_id()}")
        return await _in_copy(task, tests, hosts.copy_of(snapshot, as_root=task.evaluator.as_root))
    except (ReportableError, OSError) as error:
        return failed(f"The tests could not run: {error}")
    finally:
        if snapshot:
            from core.sandbox.engine import drop_image, in_thread  # the SDK, which few tasks need, takes long

            await in_thread(drop_image, snapshot, hosts.place.address)


async def _in_copy(task: Task, tests: Sequence[tuple[str, Path]], copy: Sandbox,
                   artifacts: HandedOver | None = None) -> Outcome:
    timeout = task.evaluator.timeout_s
    place = task.evaluator.tests_at or TESTS
    try:
        await copy.start()
        if artifacts is not None:
            await artifacts.place(copy)
        await _lay_out(task, tests, copy, place)
        command = (f"mkdir -p {VERIFIER}; export PYTHONPATH={GUARD}${{PYTHONPATH:+:$PYTHONPATH}}; "
                   f"{_command(task, place)} > {LOGS}/output 2>&1; code=$?; "
                   f"tail -c {OUTPUT_LIMIT} {LOGS}/output; exit $code")
        ran = await unless_full(copy.run(["env", *_environment(task, place), "bash", "-c", command],
                                         cwd=copy.workspace, timeout=timeout, limit=OUTPUT_LIMIT), [copy])
        if ran.timed_out:
            return failed(f"The tests did not end within {timeout:g} s.")
        if Path(task.evaluator.script).name == SUMMED_UP:
            return _summed_up(ran)
        return await _reward(copy, ran) if task.evaluator.script.endswith(".sh") else _pytest_result(ran)
    finally:
        await copy.remove()


async def _lay_out(task: Task, tests: Sequence[tuple[str, Path]], copy: Sandbox, place: str) -> None:
    """The tests where they find themselves, and what keeps the agent's modules away from them."""
    if place != TESTS:  # what the agent left there is none of the tests
        await copy.run(["rm", "-rf", place])
    if not task.evaluator.tests_within:
        await copy.unpack(tar_of(tests), place)
    await copy.run(["mkdir", "-p", GUARD])
    await copy.write_file(f"{GUARD}/sitecustomize.py", SAFE_PATH.encode())


def _environment(task: Task, place: str) -> list[str]:
    """Root has a home that the agent never wrote to; pytest takes no settings of the agent's folders, and says all."""
    pytest = f"PYTEST_ADDOPTS=-rA -p no:cacheprovider -c /dev/null --rootdir={place} --confcutdir={place}"
    is_summed_up = Path(task.evaluator.script).name == SUMMED_UP
    return [*CLEAN, *(["HOME=/root"] if task.evaluator.as_root else []),
            *([f"TEST_DIR={place}", pytest] if is_summed_up else []),
            *(f"{name}={value}" for name, value in task.evaluator.environment.items())]


def _command(task: Task, place: str) -> str:
    script = f"{place}/{Path(task.evaluator.script).name}"
    if script.endswith(".sh"):
        return f"bash {script}"
    return f"python3 -I -B -m pytest -p no:cacheprovider -q -rA {script}"


async def _reward(copy: Sandbox, ran: Ran) -> Outcome:
    """What test.sh wrote; `reward` of several numbers, or their mean where none has that name."""
    try:
        text = await copy.read_file(f"{VERIFIER}/reward.txt", 4096)
        rewards = {"reward": float(text)}
    except NotFound:
        rewards = await _reward_json(copy)
    except ValueError:
        return failed(f"The tests' reward.txt holds no number: {tail(ran.output)}")
    if not rewards or not all(math.isfinite(n) for n in rewards.values()):
        return failed(f"The tests left no reward (exit code {ran.exit_code}): {tail(ran.output)}")
    if not any(rewards.values()) and _AWAY.search(ran.output):
        return failed(f"The tests lack tools that they need: {tail(ran.output)}")
    reward = rewards.get("reward", sum(rewards.values()) / len(rewards))
    parts = rewards if len(rewards) > 1 else {}
    return Outcome(total=min(1.0, max(0.0, reward)) * 100, parts=parts | _counts(ran.output), message=_summary(ran))


async def _reward_json(copy: Sandbox) -> dict[str, float]:
    try:
        found = msgspec.json.decode(await copy.read_file(f"{VERIFIER}/reward.json", 64 * 1024),
                                    type=dict[str, float] | float)
    except (NotFound, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {"reward": found}


def _pytest_result(ran: Ran) -> Outcome:
    if ran.exit_code not in (0, 1):  # 1: tests failed; more: pytest itself could not work
        return failed(f"The tests ended with exit code {ran.exit_code}: {tail(ran.output)}")
    return Outcome(total=100.0 if ran.exit_code == 0 else 0.0, parts=_counts(ran.output), message=_summary(ran))


def _summed_up(ran: Ran) -> Outcome:
    """All tests of the last summary passed, or not; what the agent's programs printed comes before it."""
    found = list(_SUMMARY.finditer(ran.output))
    words = [one[1] for one in _VERDICT.finditer(ran.output, found[-1].end())] if found else []
    if not words:
        why = "The tests lack tools that they need" if _AWAY.search(ran.output) else "The tests told nothing"
        return failed(f"{why} (exit code {ran.exit_code}): {tail(ran.output)}")
    passed = words.count(b"PASSED") + words.count(b"XPASS")
    return Outcome(total=100.0 if passed == len(words) else 0.0, message=_summary(ran),
                   parts={"passed": float(passed), "failed": float(len(words) - passed)})


def _counts(output: bytes) -> dict[str, float]:
    """How many tests passed and failed, from the last line of pytest."""
    last = output.strip().rpartition(b"\n")[2]
    return {word.decode(): float(count) for count, word in _COUNTS.findall(last)}


def _summary(ran: Ran) -> str:
    return ran.output.strip().rpartition(b"\n")[2].decode("utf-8", "replace").strip(" =")[:400]
