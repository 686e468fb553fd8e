"""Harbor's own models on trajectories: python -P read_harbor.py FILE… prints a line of JSON for each."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from harbor.models.trajectories import Step, Trajectory


def words(content: str | list | None) -> str:
    """The words of a content; another part by its type and place."""
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(p.text if p.type == "text" else f"[{p.type}: {p.source.path}]" for p in content)


def step(one: Step) -> dict:
    """A step of the agent."""
    results = one.observation.results if one.observation else []
    used = one.metrics
    return {"text": f"{one.reasoning_content or ''}\n{words(one.message)}",
            "calls": [(call.function_name, call.arguments) for call in one.tool_calls or []],
            "outs": [{"text": words(result.content)} for result in results],
            "tokens": (used.prompt_tokens, used.completion_tokens) if used else (None, None)}


def load(path: Path) -> Trajectory:
    """A trajectory that Harbor finds sound."""
    return Trajectory.model_validate_json(path.read_text())


def runs(path: Path, first: Trajectory) -> Iterator[dict]:
    """The run with its continuations, then its subagents' where they are at hand."""
    parts, more = [], first
    while more is not None:
        parts.append(more)
        then = path.parent / more.continued_trajectory_ref if more.continued_trajectory_ref else None
        more = load(then) if then and then.is_file() else None
    yield {"steps": [step(s) for part in parts for s in part.steps if s.source == "agent" and not s.is_copied_context]}
    refs = [ref for part in parts for s in part.steps if s.observation for result in s.observation.results
            for ref in result.subagent_trajectory_ref or []]
    embedded = {t.trajectory_id: t for part in parts for t in part.subagent_trajectories or []}
    for ref in refs:
        child = embedded.pop(ref.trajectory_id, None)
        if child is None and ref.trajectory_path and (path.parent / ref.trajectory_path).is_file():
            child = load(path.parent / ref.trajectory_path)
        if child is not None:
            yield from runs(path, child)
    for child in embedded.values():
        yield from runs(path, child)


for name in sys.argv[1:]:
    print(json.dumps(list(runs(Path(name), load(Path(name))))))
