"""One run as several programs would write it, with their own cuts, white space and names."""

from __future__ import annotations

import json
from collections.abc import Sequence

Step = tuple[str, str, str]
"""Thought, command, output."""


def run_of(count: int, topic: str = "sums") -> list[Step]:
    """A run of so many steps, no two alike."""
    return [(f"Step {n} about {topic}: look at part {n * 7}.", f"grep -n part{n * 7} {topic}.py",
             f"{topic}.py:{n}: part{n * 7} = {n * n}\n" if n % 4 else "") for n in range(1, count + 1)]


def mini_swe_agent(steps: Sequence[Step]) -> str:
    """A bare list of messages."""
    told = [{"role": "system", "content": "You are careful."}, {"role": "user", "content": "Mend the sums."}]
    for thought, command, output in steps:
        told += [{"role": "assistant", "content": f"THOUGHT: {thought}\n\n```bash\n{command}\n```"},
                 {"role": "user", "content": f"<returncode>0</returncode>\n<output>\n{output}</output>"}]
    return json.dumps(told)


def atif(steps: Sequence[Step]) -> str:
    """One object with steps."""
    told = [{"step_id": 1, "source": "user", "message": "Mend the sums."}]
    for number, (thought, command, output) in enumerate(steps, 2):
        told.append({"step_id": number, "source": "agent", "message": thought, "tool_calls": [
            {"tool_call_id": f"c{number}", "function_name": "bash", "arguments": {"command": command}}],
            "observation": {"results": [{"source_call_id": f"c{number}", "content": output}]}})
    return json.dumps({"schema_version": "ATIF-v1.5", "session_id": steps[0][0], "agent": {"name": "a", "version": "1"},
                       "steps": told})


def chat(steps: Sequence[Step]) -> str:
    """A line of messages with calls."""
    told = [{"role": "user", "content": "Mend the sums."}]
    for number, (thought, command, output) in enumerate(steps):
        call = {"id": f"x{number}", "type": "function", "function": {"name": "run", "arguments": json.dumps(
            {"cmd": command})}}
        told += [{"role": "assistant", "content": thought, "tool_calls": [call]},
                 {"role": "tool", "tool_call_id": f"x{number}", "content": output.rstrip()}]
    return json.dumps({"messages": told}) + "\n"
