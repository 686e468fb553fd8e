"""InnovatorBench's data set (arXiv 2510.27598), one folder with all of its tasks:

    gym/TASK/task/task_description.md, repositories, scripts      the agent's /workspace/task
    gym/TASK/data/…                                               the agent's /workspace/data
    conda/NAME/conda.tar                                          unpacked into the agent's /workspace/conda
    evaluations/base, evaluations/TASK/task/{evaluation,config}.py, evaluations/TASK/data/references
    configs/TASK.yaml                                             times and steps, where it is there

The agent hands in /workspace/data/outputs. The evaluator checks its form, then scores it from 0 (the baseline) to 100
(better than the reference), in a container that holds the evaluations and nothing else of the agent's.
"""

from __future__ import annotations

import re
from pathlib import Path

from core.domain.errors import InvalidInput
from core.domain.task import AgentSettings, Evaluator, Host, Limits, ModelSettings, Task
from core.tasks.folder import inside, read_text
from core.tasks.foreign_folder import plain_id, reading
from core.tasks.reader import CatalogueTask, TaskReader
from core.tasks.task_check import check_task

OUTPUTS = "data/outputs"
_NUMBER = re.compile(r"^(max_working_time|max_steps|max_eval_num|max_eval_time):\s*(\d+)\s*(?:#.*)?$", re.MULTILINE)
_USUAL = {"max_working_time": 172_800, "max_steps": 4000, "max_eval_num": 3, "max_eval_time": 5000}
"""ResearchGym's own, where no configuration says otherwise."""

_ENVIRONMENTS = {
    **dict.fromkeys(("task_1", "task_2", "task_3", "task_4", "task_6", "task_8", "task_9", "task_11", "task_12",
                     "task_13"), "llamafactory"),
    "task_5": "vllm", "task_7": "vllm", "task_10": "llamafactory_retriever", "task_14": "dapo",
    "task_15": "alignment-handbook", "task_16": "search_r1_verl_retriever", "task_17": "guir1_verl",
    "task_18": "vllm_retriever", "task_19": "visualsketchpad", "task_20": "visualsketchpad",
}
"""Which environment a task of the published set has (research_gym/env.py); another task's has the task's own name."""


def read_innovator(folder: Path) -> list[CatalogueTask]:
    """All tasks of a data set. Raises InvalidInput, which names the file."""
    places = sorted(path for path in (folder / "gym").iterdir() if path.is_dir() and not path.name.startswith("."))
    return [_read(folder, place.name) for place in places]


def _read(folder: Path, name: str) -> CatalogueTask:
    description = f"gym/{name}/task/task_description.md"
    with reading(folder, description):
        numbers = _numbers(folder, name)
        text = read_text(inside(folder, description)).strip()
        script = f"evaluations/{name}/task/evaluation.py"
        for needed in (script, f"evaluations/{name}/task/config.py", "evaluations/base"):
            inside(folder, needed)
        task = Task(
            id=plain_id(folder, name), title=_title(text, name), description=text,
            hosts=(Host(name="main", cpus=8, memory_mb=32_768, pids=4096, disk_mb=1 << 20),),
            limits=Limits(steps=numbers["max_steps"], wall_s=numbers["max_working_time"],
                          evaluations=numbers["max_eval_num"]),
            evaluator=Evaluator(kind="benchmark", script=script, submission=(OUTPUTS,), references="evaluations",
                                timeout_s=numbers["max_eval_time"]),
            workspace=f"gym/{name}", packages=_packages(folder, name), domain="LLM research")
        agent = AgentSettings(model=ModelSettings(kind="unknown"))
        check_task(task, agent)
        return CatalogueTask(task=task, agent=agent, folder=folder, reader="innovator")


def _numbers(folder: Path, name: str) -> dict[str, int]:
    """What the task's configuration says of times and steps; whatever else it says is of another program's machines."""
    numbers = dict(_USUAL)
    config = f"configs/{name}.yaml"
    if (folder / config).exists():
        found = _NUMBER.findall(read_text(inside(folder, config)))
        numbers |= {key: int(value) for key, value in found}
    return numbers


def _packages(folder: Path, name: str) -> str:
    for environment in (name, _ENVIRONMENTS.get(name, "")):
        path = f"conda/{environment}/conda.tar"
        if environment and (folder / path).exists():
            inside(folder, path)
            return path
    if (folder / "conda").exists() and name in _ENVIRONMENTS:
        raise InvalidInput("task_not_possible", f"conda/{_ENVIRONMENTS[name]}/conda.tar is missing.")
    return ""


def _title(text: str, name: str) -> str:
    heading = next((line.strip("# ").strip() for line in text.splitlines() if line.startswith("# ")), "")
    return f"{name}: {heading}"[:300] if heading else name


READER = TaskReader(name="innovator", title="InnovatorBench", rank=10, read=read_innovator,
                    recognises=lambda folder: (folder / "gym").is_dir() and (folder / "evaluations").is_dir())
