"""Rules about code that should not have been written: in place of a provided script, or with the wrong library."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from core.domain.action_kinds import names_of
from core.domain.secret_text import small_letters
from core.domain.step import StepBody
from core.supervision.rule import RULES, Evidence, Finding
from core.supervision.traces import command_of, of_call, runs, written

_SCRIPT = re.compile(r"(?<![\w./~-])[\w./~-]{1,300}\.(?:py|sh)\b")
_AFFIX = re.compile(r"^(?:new|my|own|custom|simple|fast|fixed|better|improved|updated|alt|run|our)[_-]|"
                    r"[_-](?:new|v?\d+|custom|own|simple|simplified|fast|fixed|fix|better|improved|updated|alt|alternative|"
                    r"copy|final|modified|backup2?)$|(?<=[a-z])v?\d+$", re.IGNORECASE)
_LISTING = re.compile(r"(?:^|[\s;&|(])(?:ls|find|tree|git\s+ls-files)\b")
_LISTS = names_of(lambda kind: kind.shows == "names")
_ROLLOUT = re.compile(r"rollout|roll_out|train(?:ing)?[ _-]?(?:set|data|split|questions)", re.IGNORECASE)

_LOADS = re.compile(r"AutoModelForCausalLM\s*\.\s*from_pretrained|AutoModelForSeq2SeqLM\s*\.\s*from_pretrained|"
                    r"pipeline\(\s*(?:task\s*=\s*)?['\"]text-generation")
_TRAINS = re.compile(r"\bTrainer\b|SFTTrainer|DPOTrainer|GRPOTrainer|optimizer|\.backward\(|get_peft_model|"
                     r"TrainingArguments|loss\b")
_VLLM = re.compile(r"\bvllm\b", re.IGNORECASE)


@RULES.add("script_ignored", "2")
def script_ignored(evidence: Evidence) -> Iterator[Finding]:
    """"Remove actions that ignore provided scripts when they should be used … The create file action and run command
    action should be filtered" (APOLLO App. E, priority 1): a file named like a provided script with an addition
    (inference.py, inference_new.py), and its runs.

    Kept: a variant that the task names, one that "is to rollout data from the training set", and one that is
    written after the provided script was run and failed, which is debugging.
    """
    provided = _Provided(evidence)
    ignoring: dict[str, str] = {}
    for body in evidence.steps:
        for place, action in enumerate(body.actions, 1):
            for path, text in written(action):
                name = posixpath.basename(path)
                original = provided.original(name)
                if original and name not in evidence.instructions and not _ROLLOUT.search(text):
                    ignoring[name] = original
                    yield Finding(body.number, f"writes {name}, though {original} is provided", place)
            for name, original in list(ignoring.items()):
                if runs(action, name) and not _ROLLOUT.search(command_of(action)):
                    yield Finding(body.number, f"runs {name}, though {original} is provided", place)
        provided.learn(body)


class _Provided:
    """The scripts that were there before the agent wrote any: named by the task, or seen in a listing."""

    def __init__(self, evidence: Evidence) -> None:
        self._names = _scripts(evidence.instructions)
        self._own: set[str] = set()
        self._failed: set[str] = set()

    def original(self, name: str) -> str:
        """The provided script of which `name` looks like a variant and that never failed; "" for none."""
        stem, end = posixpath.splitext(name)
        if name in self._names:
            return ""
        bare = _bare(stem)
        found = next((n for n in sorted(self._names) if posixpath.splitext(n) == (bare, end)), "")
        return found if bare != stem and found not in self._failed else ""

    def learn(self, body: StepBody) -> None:
        """Take in what a step shows, writes and runs."""
        calls = of_call(body)
        for action in body.actions:
            self._own |= {posixpath.basename(p) for p, _ in written(action)}
        for observation in body.observations:
            call = calls.get(observation.call_id)
            if call is None:
                continue
            if observation.is_error:
                self._failed |= {n for n in self._names if runs(call, n)}
            elif call.tool in _LISTS or _LISTING.search(command_of(call)):
                self._names |= _scripts(observation.output.text) - self._own


def _scripts(text: str) -> set[str]:
    """The names of the scripts that a text names, each word of which is looked at once."""
    named = [word for word in set(text.split()) if ".py" in word or ".sh" in word]
    return {posixpath.basename(name) for word in named for name in _SCRIPT.findall(word)}


def _bare(stem: str) -> str:
    while (shorter := _AFFIX.sub("", stem)) != stem and shorter:
        stem = shorter
    return stem


@RULES.add("transformers_inference", "2")
def transformers_inference(evidence: Evidence, *, always: bool = False) -> Iterator[Finding]:
    """"Remove actions that use transformers directly instead of VLLM for custom inference, including the process about
    both create this script and use this script" (APOLLO App. E, priority 2).

    Speaks only where the task, or anything shown before, names vLLM (`always` lifts that). Code that trains may
    load a model as it likes.
    """
    expected = always or _names_vllm(evidence.instructions)
    marked: set[str] = set()
    for body in evidence.steps:
        if expected:
            yield from _of_step(body, marked)
        expected = expected or any(_names_vllm(o.output.text) for o in body.observations)


def _of_step(body: StepBody, marked: set[str]) -> Iterator[Finding]:
    for place, action in enumerate(body.actions, 1):
        files = list(written(action))
        for path, text in files:
            name = posixpath.basename(path)
            if _infers(text):
                marked.add(name)
                why = f"writes {name}, which generates with transformers where vLLM is expected"
                yield Finding(body.number, why, place)
            elif action.tool != "edit_file":
                marked.discard(name)
        if not files and _infers(command_of(action)):
            yield Finding(body.number, "generates with transformers where vLLM is expected", place)
        yield from (Finding(body.number, f"runs {n}, which generates with transformers where vLLM is expected", place)
                    for n in sorted(marked) if runs(action, n))


def _infers(text: str) -> bool:
    return bool(_LOADS.search(text)) and not _TRAINS.search(text) and not _names_vllm(text)


def _names_vllm(text: str) -> bool:
    return b"vllm" in small_letters(text) and bool(_VLLM.search(text))  # the first is quick, and says no of most texts

