"""A rule about training that leaves most of the machine idle."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated

from msgspec import Meta

from core.domain.step import Action, StepBody
from core.supervision.rule import RULES, Evidence, Finding
from core.supervision.rule_settings import Count
from core.supervision.traces import JobRun, command_of, commands, host_of, of_call, running_at

_TRAINING = re.compile(r"(?:^|[\s/])(?:[\w.-]{0,80}(?:train|fine_?tune|sft|dpo|grpo|ppo)[\w.-]{0,80}\.(?:py|sh)"
                       r"|torchrun|deepspeed|accelerate\s+launch|llamafactory-cli\s+train|axolotl\s+train)\b",
                       re.IGNORECASE)
_TRIAL = re.compile(r"debug|smoke|dry[_-]?run|sanity|max[_-](?:steps|iters|train[_-]samples)[ =]\d{1,2}\b|--help\b",
                    re.IGNORECASE)
_DEVICES = re.compile(r"CUDA_VISIBLE_DEVICES=(['\"]?)([\d,\s]*)\1(?=[\s;&|]|$)")
_PROCESSES = re.compile(r"--(?:nproc[_-]per[_-]node|num[_-]processes|num[_-]gpus)[ =](\d+)\b")
_LORA = re.compile(r"(?:^|[\s=_-])q?lora(?![\w-]{0,80}[ =](?:false|none|0)\b)", re.IGNORECASE)
_GPU_LINE = re.compile(r"^GPU (\d+):|^\|\s+(\d+)\s+(?:NVIDIA|Tesla|GeForce|A100|H100|H200|L40)", re.MULTILINE)


def _has_table(text: str) -> bool:
    """Whether a line begins as such a line does; most texts are known by that."""
    return text.startswith(("GPU ", "|")) or "\nGPU " in text or "\n|" in text


@RULES.add("idle_gpus", "2")
def idle_gpus(evidence: Evidence, *, gpus: Annotated[int, Meta(ge=0)] = 0, lora_from: Count = 8) -> Iterator[Finding]:
    """"Remove training configurations that underutilize the available compute. For example, when 8xH100 GPUs are idle,
    drop configs that use LoRA or restrict training to a single GPU" (APOLLO App. E, priority 6).

    `gpus` is how many there are; 0: as many as nvidia-smi showed on that host. LoRA counts as waste from `lora_from`
    GPUs on. Trial runs (a few steps, debug) and runs beside others on the other GPUs are kept.
    """
    shown: dict[str, int] = {}
    jobs = evidence.job_runs
    for body in evidence.steps:
        for place, action in enumerate(body.actions, 1):
            there = gpus or shown.get(host_of(action), 0)
            if there and (why := _waste(action, there, lora_from, _taken(jobs, body.number))):
                yield Finding(body.number, why, place)
        _see(body, shown)


def _waste(action: Action, there: int, lora_from: int, taken: set[int]) -> str:
    """Why a training command uses too little; "" where it does not, or is none."""
    command = command_of(action)
    if not any(_TRAINING.search(c) for c in commands(command)) or _TRIAL.search(command):
        return ""
    asked = _devices(command)
    if asked is not None and len((asked | taken) & set(range(there))) < there:
        return f"trains on {len(asked)} of {there} GPUs (CUDA_VISIBLE_DEVICES)"
    processes = _PROCESSES.search(command)
    if processes and asked is None and int(processes[1]) + len(taken) < there:
        return f"trains with {processes[1]} processes on {there} GPUs"
    if there >= lora_from and _LORA.search(command):
        return f"trains LoRA though {there} GPUs are there for all weights"
    return ""


def _devices(command: str) -> set[int] | None:
    found = _DEVICES.search(command)
    return {int(n) for n in re.findall(r"\d+", found[2])} if found else None


def _taken(jobs: Sequence[JobRun], step: int) -> set[int]:
    """The GPUs that other jobs were given."""
    devices = [_devices(command_of(j.action)) for j in running_at(jobs, step) if j.action is not None]
    return set().union(*(t for t in devices if t))


def _see(body: StepBody, shown: dict[str, int]) -> None:
    calls = of_call(body)
    for observation in body.observations:
        action = calls.get(observation.call_id)
        text = observation.output.text
        numbers = {int(a or b) for a, b in _GPU_LINE.findall(text)} if _has_table(text) else set()
        if action is not None and numbers:
            host = host_of(action)
            shown[host] = max(shown.get(host, 0), len(numbers))
