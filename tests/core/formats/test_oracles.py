"""Each format against an independent reader of it (`oracles/`): real files, our own, and variants from a seed.

An oracle compares the text, tools, arguments, outputs, exit codes, marks of failure, tokens and context of every step.
"""

import importlib.util
import json
import random
import shutil
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from support.oracle import Oracle, differences
from support.real_data import DATA, real
from support.tally import tally

from core.domain.message import Message
from core.domain.step import Action, Observation, StepBody, Usage
from core.formats import imported, registry
from core.formats.format import Format
from core.formats.source import Source

HERE = Path(__file__).parent
SEEDS = range(12)
"""Of each of our own files so many variants are read."""

HELD = frozenset({
    "id", "type", "role", "from", "source", "kind", "uuid", "parentUuid", "sessionId", "call_id", "tool_call_id",
    "tool_use_id", "class_", "event", "action", "observation", "name", "function_name", "timestamp", "ts", "say", "ask",
    "schema_version", "version", "status", "trajectory_format", "node_type", "step_id", "cause", "llm_response_id",
    "action_id", "key", "thread_id", "$rewindTo", "messageId", "agentId", "isSidechain", "task_id", "item_type",
    "source_call_id", "trajectory_id", "session_id", "trajectory_path", "continued_trajectory_ref", "action_type",
    "interrupt_type", "agent", "depth", "instance_id", "item_id", "trial_name", "epoch", "created", "eval_id", "run_id",
    "record_type", "sessionID", "is_demo", "isMeta", "isCompactSummary", "pending", "input_refs", "total_token_usage",
    "content_type", "language", "page", "record", "image", "tool", "function", "subtype", "is_copied_context", "query",
    "traceId", "trace_id", "parent_run_id", "run_type", "current_node", "parent", "recipient", "object", "level",
    "sender", "success", "requestor", "start_time", "stringValue", "intValue", "startTimeUnixNano", "endTimeUnixNano",
    "startTime", "termination_reason", "apiCallId", "toolCallId", "parentToolCallId", "parent_tool_call_id",
    "accumulated_token_usage", "arguments", "title", "command", "output", "url", "width", "height", "attachments"})
"""What gives a file its shape: the rest of its values may be anything."""

WORDS = ("", "Ünïcode 测试 🙂", "two\nlines", "Exit code 3", "Error: no", "<command>x</command>", '{"a": 1}', "None",
         "\t")


def oracles() -> dict[str, Oracle]:
    """The oracles by the title of the format that they read."""
    found: dict[str, Oracle] = {}
    for path in sorted((HERE / "oracles").glob("*.py")):
        spec = importlib.util.spec_from_file_location(f"oracle_{path.stem}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found |= getattr(module, "ORACLES", None) or {module.TITLE: module.sessions}
    return found


ORACLES = oracles()


def lacking(formats: tuple[Format, ...]) -> list[str]:
    """One sentence for each format without an oracle."""
    return [f"{known.title} has no oracle: write a reader of a few lines into tests/core/formats/oracles, from the "
            "format's own description." for known in formats if known.title not in ORACLES]


def compared(path: Path) -> tuple[str, int, list[str]]:
    """The format of a file, its steps, and each difference between what is imported and what the oracle reads."""
    title = registry.recognise(Source(path)).title
    wanted = [steps for steps in ORACLES[title](path) if steps]
    got = list(registry.read(path))
    steps = sum(map(len, wanted))
    if len(got) != len(wanted):
        return title, steps, [f"{path.name}: {len(got)} sessions, not {len(wanted)}"]
    return title, steps, [f"{path.name}: {one}" for session, expected in zip(got, wanted, strict=True)
                          for one in differences(session, expected)]


def is_known(path: Path) -> bool:
    """Whether a file is in any format."""
    return any(known.recognises(Source(path)) for known in registry.formats())


def samples() -> list[Path]:
    """Our own files, without those that are read with another."""
    return [p for folder in ("files", "foreign", "archives") for p in registry.files(HERE / folder) if is_known(p)]


def test_each_format_has_an_oracle() -> None:
    assert lacking(registry.formats()) == []
    assert ORACLES.keys() == {known.title for known in registry.formats()}


def test_a_format_without_an_oracle_is_named() -> None:
    new = Format(name="new", title="Just written", recognises=lambda _: False, read=lambda _: iter(()))
    (sentence,) = lacking((*registry.formats(), new))
    assert sentence.startswith("Just written has no oracle")


def test_our_own_files_of_every_format_are_read_as_their_oracles_read_them() -> None:
    seen = {title: harm for path in samples() for title, _, harm in [compared(path)]}
    assert {title: harm for title, harm in seen.items() if harm} == {}
    assert seen.keys() == ORACLES.keys()


def test_real_files_are_read_as_their_oracles_read_them() -> None:
    real("README.md")
    harm: dict[str, list[str]] = defaultdict(list)
    tried: dict[str, int] = defaultdict(int)
    for path in registry.files(DATA):
        if "endless-terminals" not in path.parts and path.name != "README.md":  # tasks, and the list of the files
            title, steps, found = compared(path)
            tried[title] += steps
            harm[title] += found
    assert len(tried) >= 15
    for title, steps in tried.items():
        tally(f"{title}: steps of real files compared with an oracle", steps, harm[title])


def varied(value: object, chance: random.Random, key: str = "") -> object:
    """The value with other texts and numbers where these say nothing of its shape."""
    if isinstance(value, dict):
        return {k: varied(v, chance, k) if k not in HELD else v for k, v in value.items()}
    if isinstance(value, list):
        return [varied(v, chance, key) for v in value]
    if chance.random() < 0.75:
        return value
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return chance.choice((0, 1, 2, 7, 130, 209_950))
    return chance.choice(WORDS) if isinstance(value, str) else value


def varied_line(line: str, chance: random.Random) -> str:
    """The line with other values; one that is broken stays as it is."""
    try:
        return json.dumps(varied(json.loads(line), chance), ensure_ascii=False)
    except ValueError:
        return line


def write_variant(path: Path, chance: random.Random) -> None:
    """Change a file's values; lines are also cut off at the end, as in a file that is still written."""
    text = path.read_text()
    try:
        path.write_text(json.dumps(varied(json.loads(text), chance), ensure_ascii=False))
    except ValueError:
        lines = [varied_line(line, chance) for line in text.splitlines()]
        path.write_text("\n".join(lines[: chance.randint(max(1, len(lines) // 2), len(lines))]) + "\n")


@pytest.mark.parametrize("sample", [p for p in samples() if p.suffix in (".json", ".jsonl", ".traj")],
                         ids=lambda p: p.relative_to(HERE).as_posix())
def test_variants_are_read_as_their_oracles_read_them(sample, tmp_path) -> None:
    harm: list[str] = []
    steps, title = 0, ""
    for seed in SEEDS:
        folder = tmp_path / str(seed)
        shutil.copytree(sample.parent, folder / sample.parent.name)
        path = folder / sample.parent.name / sample.name
        write_variant(path, random.Random(f"{seed} {sample.name}"))
        try:
            title = registry.recognise(Source(path)).title
            list(registry.read(path))
        except registry.ReportableError:
            continue  # the change took what it is known by, or its only step
        _, count, found = compared(path)
        steps += count
        harm += [f"seed {seed}: {one}" for one in found]
    tally(f"{title}: steps of generated variants compared with an oracle", steps, harm, f"0–{SEEDS[-1]}")


# ---- a reader is broken on purpose, value by value: the oracle of every format that has the value says so

change = msgspec.structs.replace


def actions(broken: Callable[[Action], Action]) -> Callable[[StepBody], StepBody]:
    return lambda body: change(body, actions=tuple(map(broken, body.actions)))


def observations(broken: Callable[[Observation], Observation]) -> Callable[[StepBody], StepBody]:
    return lambda body: change(body, observations=tuple(map(broken, body.observations)))


def flattened(text: str) -> str:
    """A text that lost its lines and indentation."""
    return " ".join(text.split())


BODIES: dict[str, Callable[[StepBody], StepBody]] = {
    "text": lambda body: change(body, thought=body.thought[1:]),
    "lines of a text": lambda body: change(body, thought=flattened(body.thought)),
    "name of a tool": actions(lambda one: change(one, tool=f"{one.tool}s")),
    "arguments": actions(lambda one: change(one, arguments={} if one.arguments else {"a": 1})),
    "one argument": actions(lambda one: change(one, arguments=dict(list(one.arguments.items())[1:]))),
    "a call": lambda body: change(body, actions=body.actions[1:]),
    "output": observations(lambda one: change(one, output=change(one.output, text=one.output.text[:-1]))),
    "lines of an output": observations(lambda one: change(one, output=change(
        one.output, text=flattened(one.output.text)))),
    "error mark": observations(lambda one: change(one, status="finished", error=None, exit_code=None)),
    "exit code": observations(lambda one: change(one, exit_code=None)),
    "order of results": lambda body: change(body, observations=body.observations[::-1]),
}
MESSAGES: dict[str, Callable[[Message], Message]] = {
    "words of a context": lambda message: change(message, content=message.content[:-1]),
    "role in a context": lambda message: change(message, role="user" if message.role != "user" else "system"),
    "calls in a context": lambda message: change(message, tool_calls=()),
}
EVERYWHERE = {"text", "name of a tool", "arguments", "one argument", "a call", "words of a context",
              "role in a context"}
"""What every format has. What some have is noticed in so many of them:"""

AT_LEAST = {"lines of a text": 15, "output": 32, "lines of an output": 11, "error mark": 24, "exit code": 11,
            "order of results": 15, "calls in a context": 25, "tokens": 33}


def noticed() -> set[str]:
    """The formats of which an own file is read otherwise than its oracle reads it."""
    return {title for path in samples() for title, _, harm in [compared(path)] if harm}


def judge(what: str) -> None:
    found = noticed()
    if what in EVERYWHERE:
        # an archive's events are passed on as they are; a recording of a terminal has calls alone
        assert ORACLES.keys() - found <= {"Tiphys archive", "terminal-bench trial or asciicast"}, what
    assert len(found) >= AT_LEAST.get(what, 0), f"{what}: noticed in {len(found)}"


@pytest.mark.parametrize("what", BODIES)
def test_a_step_that_is_read_wrongly_is_noticed(what: str, monkeypatch) -> None:
    whole = imported.encode_body
    monkeypatch.setattr(imported, "encode_body", lambda body: whole(BODIES[what](body)))
    judge(what)


@pytest.mark.parametrize("what", MESSAGES)
def test_a_context_that_is_read_wrongly_is_noticed(what: str, monkeypatch) -> None:
    whole = imported.encode_message
    monkeypatch.setattr(imported, "encode_message", lambda message: whole(MESSAGES[what](message)))
    judge(what)


def test_tokens_that_are_read_wrongly_are_noticed(monkeypatch) -> None:
    whole = imported.make_head

    def shifted(body: StepBody, *, usage: Usage = Usage(), **more: object) -> object:
        return whole(body, usage=change(usage, output_tokens=(usage.output_tokens or 0) + 1), **more)

    monkeypatch.setattr(imported, "make_head", shifted)
    judge("tokens")

