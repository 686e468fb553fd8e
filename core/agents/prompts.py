"""The texts that the agent is given; the templates lie in resources/prompts and use {{name}} for values."""

import re
from collections.abc import Mapping, Sequence

from core.agents.progress import AgentProgress
from core.domain.foreign import neutral
from core.domain.task import Host, Limits, Task
from core.llm.model import ToolSpec
from core.llm.text_actions import describe_tools
from core.store.home import resources

_VALUE = re.compile(r"\{\{(\w+)\}\}")


def fill(name: str, values: Mapping[str, str] | None = None) -> str:
    """The template of that name with its values; a value is never looked into for further placeholders."""
    text = (resources() / "prompts" / f"{name}.md").read_text(encoding="utf-8")
    given = values or {}
    return _VALUE.sub(lambda m: given.get(m[1], m[0]), text)


def system_prompt(task: Task, workspace: str, tools: Sequence[ToolSpec] = ()) -> str:
    """The first message. `tools` only where the model has no native tool calls: then it describes them."""
    hosts = "\n".join([*map(_host, task.hosts), *_between(task)])
    text = fill("system", {"hosts": hosts, "workspace": workspace, "limits": _limits(task.limits)})
    return text.strip() + ("\n" + fill("text_actions", {"tools": describe_tools(tools)}).rstrip() if tools else "")


def task_prompt(task: Task) -> str:
    """The second message: o₀."""
    return fill("task", {"description": task.description}).strip()


def guidance_text(text: str) -> str:
    """Advice as the model reads it."""
    return f"<real_user>\n{neutral(text)}\n</real_user>"


def summary_request(first: int, last: int) -> str:
    """The request that asks for a summary of steps first..last."""
    return fill("summary_request", {"first": str(first), "last": str(last)}).strip()


def continued(reason: str) -> str:
    """What an agent is told whose session had ended and goes on."""
    return " ".join(fill("continued", {"reason": reason}).split())


def host_lost(host: str, step: int | None) -> str:
    """What an agent is told whose host was made anew with the files as after a step, or (None) without any."""
    files = f"Its files are as they were after step {step}." if step is not None else "Its files are gone."
    return " ".join(fill("host_lost", {"host": host, "files": files}).split())


def undone(step: int, titles: Sequence[tuple[int, str, bool]]) -> str:
    """What an agent is told that goes another way from files of before: steps (number, title, failed) are undone."""
    lines = "\n".join(f"{n}. {neutral(title)}{' — failed' if failed else ''}" for n, title, failed in titles[-200:])
    return fill("undone", {"step": str(step), "steps": lines}).strip()


def no_action(*, in_environment: bool = False) -> str:
    """What an answer without any action is told."""
    return " ".join(fill("no_command" if in_environment else "no_action").split())


def environment_prompts(task: Task, first: str, form: str, tools: Sequence[ToolSpec] = ()) -> tuple[str, str]:
    """The first two messages of a session that plays an environment: system and what there is to see at first. `form`
    is how calls are written; `tools` as in `system_prompt`."""
    how = fill("react") if form == "react" else fill("text_actions", {"tools": describe_tools(tools)}) if tools else ""
    system = fill("environment").strip() + ("\n\n" + how.strip() if how else "")
    return system, f"{task.description}\n\n{neutral(first)}"


def note(step: int, limits: Limits, progress: AgentProgress) -> str:
    """What changes every step; it goes last, so that the messages before it stay cacheable."""
    parts = [f"step {step}" + (f" of {limits.steps}" if limits.steps is not None else "")]
    if limits.wall_s is not None:
        parts.append(f"working time left {duration(limits.wall_s - progress.worked_s)}")
    if limits.evaluations is not None:
        parts.append(f"evaluations left {max(0, limits.evaluations - progress.evaluations)}")
    if limits.tokens is not None:
        parts.append(f"tokens left {max(0, limits.tokens - progress.tokens):,}")
    if limits.cost_usd is not None:
        parts.append(f"money left {max(0.0, limits.cost_usd - progress.cost_usd):.2f} USD")
    return f"<progress>{'; '.join(parts)}</progress>"


def duration(seconds: float) -> str:
    """Seconds as "2 h 05 min"; nothing below zero."""
    minutes = int(max(0.0, seconds) // 60)
    return f"{minutes // 60} h {minutes % 60:02d} min"


def _host(host: Host) -> str:
    network = "network" if host.network else f"reaches {', '.join(host.reach)}" if host.reach else "no network"
    parts = [f"{host.cpus:g} CPU", f"{host.memory_mb:,} MB memory", network]
    if host.gpus:
        parts.append(f"{host.gpus} GPU")
    if host.data:
        parts.append(f"read-only data in {', '.join(data.target for data in host.data)}")
    return f"- `{host.name}`: {', '.join(parts)}"


def _between(task: Task) -> list[str]:
    """What its hosts have in common, as lines of the list of hosts."""
    names = ["- They reach each other by these names."] if task.peers and len(task.hosts) > 1 else []
    names += [f"- Beside them runs the service `{one.name}`, which you reach by that name and cannot enter."
              for one in task.services]
    return [*names, *(["- All of them see the same folder `/shared`."] if task.shared_folder else [])]


def _limits(limits: Limits) -> str:
    parts = []
    if limits.steps is not None:
        parts.append(f"{limits.steps:,} steps")
    if limits.wall_s is not None:
        parts.append(f"{duration(limits.wall_s)} of working time")
    if limits.evaluations is not None:
        parts.append(f"{limits.evaluations} evaluations")
    return ", ".join(parts) + ". The last message always tells what is left." if parts else "None."
