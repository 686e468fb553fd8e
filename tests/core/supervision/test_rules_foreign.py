"""Rules on sessions of other programs: their tools in our words, and the cases that were read wrongly once."""

from __future__ import annotations

from collections import Counter

import pytest
from support.imported import trajectory
from support.real_data import real

from core.domain.errors import ReportableError
from core.domain.step import Action, ActionError, Observation, Output, StepBody, decode_body
from core.formats import registry
from core.supervision.foreign_tools import in_our_words
from core.supervision.gather import gather
from core.supervision.propose import findings
from core.supervision.rules import RULES, Evidence


def step(number: int, *told: tuple[str, dict], thought: str = "", shows: str = "", answer: bool = False, **seen
         ) -> StepBody:
    actions = tuple(Action(call_id=f"{number}.{i}", tool=t, arguments=a) for i, (t, a) in enumerate(told))
    output = Output(text=shows)
    observations = [Observation(call_id=a.call_id, output=output, **seen) for a in actions]
    observations += [Observation(call_id="", output=output, **seen)] if answer else []
    return StepBody(number=number, thought=thought, actions=actions, observations=tuple(observations))


def found(rule: str, *steps: StepBody, origin: str = "somewhere", **settings) -> list[int]:
    [one] = RULES.get([rule])
    return [f.step for f in one.tuned(settings).find(Evidence(steps=in_our_words(steps), origin=origin))]


def bash(command: str) -> tuple[str, dict]:
    return "Bash", {"command": command}


LOOK = step(1, ("Read", {"file_path": "/w/a.py"}))


def test_an_answer_in_words_is_no_null_action_in_a_session_of_another_program():
    asked, answered = step(1, ("get_weather", {"city": "Xi'an"})), step(2, thought="It is 21 °C and sunny. 晴。")
    assert found("null_action", asked, answered, step(3, thought="You're welcome!")) == []
    assert found("null_action", asked, answered, origin="live") == [2]


def test_an_empty_answer_or_one_that_the_program_complains_of_is():
    asked = step(1, bash("ls"))
    unread = step(2, thought='{"plan": 1', shows="Previous response had parsing errors: missing fields", answer=True)
    as_text = step(3, thought='{"commands": []}', shows="root@box:/# ls", answer=True)
    assert found("null_action", asked, unread, as_text, step(4)) == [2, 4]


def test_a_shell_without_exit_codes_tells_of_failures_in_its_last_line():
    bad = step(1, bash("python a.py"), shows="Traceback (most recent call last):\n …\nValueError: chr() arg is no byte")
    told = step(2, bash("cat log"), shows="ValueError: old\nall is well")
    known = step(3, bash("python b.py"), shows="KeyError: 'x'", exit_code=0)
    absent = step(4, bash("pyhton a.py"), shows="bash: pyhton: command not found")
    named = step(5, ("search", {"q": "x"}), shows="ValueError: a page about it")
    assert found("error_result", bad, told, known, absent, named) == [1, 4]
    assert found("error_result", bad, origin="live") == [], "our own envelope tells; nothing is guessed there"


@pytest.mark.parametrize("prompt", [
    "[root:LLaMA-Factory]$ ", "\x1b[0m[root:workspace]$ ", "root@5f3a:/app# ", "(base) me@lab:~/w$ ", "bash-5.1$",
    "me@mac work %", "$ ", "/testbed # ", ">>> ", "(Open file: n/a)\n(Current directory: /w)\nbash-$ "])
def test_the_prompt_after_a_traceback_hides_no_error(prompt):
    bad = step(1, bash("python a.py"), shows=f"Traceback (most recent call last):\r\n …\r\nKeyError: 'x'\r\n{prompt}")
    good = step(2, bash("cat log"), shows=f"KeyError: 'old'\r\nall is well\r\n{prompt}")
    alone = step(3, bash("true"), shows=prompt)
    assert found("error_result", bad, good, alone) == [1]


def test_a_real_traceback_before_the_prompt_is_found():
    (session,) = registry.read(real("innovatorbench/sample_react_node.json"))
    steps = [decode_body(session.blobs[e.body]) for e in trajectory(session).steps]
    broken = [b.number for b in steps if any("JSONDecodeError: Extra data" in o.output.text for o in b.observations)]
    assert broken and set(broken) <= set(found("error_result", *steps))


def test_a_line_that_only_ends_like_a_prompt_is_none():
    figures = step(1, bash("python a.py"), shows="ValueError: seen in batch 3\n 50%\nloss > 3 $\nprice in US $")
    assert found("error_result", figures) == []


def test_a_file_that_was_shown_run_and_then_changed_was_not_changed_blindly():
    look, run = step(1, ("open_file", {"path": "/w/a.py"})), step(2, ("run_command", {"command": "python /w/a.py"}))
    change = step(3, ("edit_file", {"path": "/w/a.py", "start": 1, "end": 2, "content": "x"}))
    assert found("blind_edit", look, run, change, origin="live") == []
    assert found("blind_edit", look, run, change, origin="live", spare_runs=False) == [3]
    wrote = step(2, ("run_command", {"command": "sed -i s/a/b/ /w/a.py"}))
    assert found("blind_edit", look, wrote, change, origin="live") == [3]


def test_an_editor_that_shows_the_file_after_a_change_lets_the_next_one_see_it():
    """SWE-agent's results are windows of the open file; `edit` acts on that file."""
    window = "[File: /w/a.py (7 lines total)]\n1:import b\n"
    steps = [step(1, ("create", {"command": "create a.py"}), shows=window),
             step(2, ("edit", {"command": "edit 1:1\nimport b\nend_of_edit"}), shows=window),
             step(3, ("edit", {"command": "edit 2:2\nimport c\nend_of_edit"}), shows=window)]
    assert found("second_edit", *steps) == found("blind_edit", *steps) == []
    hidden = [step(s.number, *((a.tool, a.arguments) for a in s.actions)) for s in steps[1:]]
    assert found("second_edit", steps[0], *hidden) == [3]


def test_a_change_that_names_the_old_text_cannot_be_blind_but_a_whole_file_can():
    replaced = step(2, ("Edit", {"file_path": "/w/a.py", "old_string": "a", "new_string": "b"}))
    again = step(3, ("str_replace_editor", {"command": "str_replace", "path": "/w/a.py", "old_str": "b",
                                            "new_str": "c"}))
    assert found("blind_edit", LOOK, replaced, again) == []
    over = step(4, ("Write", {"file_path": "/w/a.py", "content": "all new"}))
    assert found("blind_edit", LOOK, replaced, again, over) == [4]


@pytest.mark.parametrize(("tool", "given", "ours", "arguments"), [
    ("execute_bash", {"command": "ls -l"}, "run_command", {"command": "ls -l"}),
    ("exec_command", {"cmd": ["bash", "-lc", "ls"]}, "run_command", {"command": "ls"}),
    ("bash_command", {"keystrokes": "ls\n"}, "run_command", {"command": "ls\n"}),
    ("open", {"command": "open src/a.py 12"}, "open_file", {"path": "src/a.py"}),
    ("str_replace_editor", {"command": "view", "path": "/w/../w/a.py"}, "open_file", {"path": "/w/a.py"}),
    ("MultiEdit", {"file_path": "a", "edits": [{"new_string": "x"}, {"new_string": "y"}, 7]}, "replace_text",
     {"path": "a", "content": "x\ny"}),
    ("TodoWrite", {"todos": []}, "think", {}), ("attempt_completion", {"result": "done"}, "finish", {}),
    ("get_weather", {"city": "Bern"}, "get_weather", {"city": "Bern"}),
])
def test_tools_of_other_programs_in_our_words(tool, given, ours, arguments):
    [told] = in_our_words([step(1, (tool, given))])
    assert (told.actions[0].tool, told.actions[0].arguments, told.actions[0].call_id) == (ours, arguments, "1.0")


def test_scripts_and_inference_are_recognised_in_other_programs_too():
    code = "from transformers import AutoModelForCausalLM\nm = AutoModelForCausalLM.from_pretrained('m')\nm.generate()"
    named = step(1, bash("cat README"), shows="Use vllm for inference.")
    wrote, ran = step(2, ("Write", {"file_path": "/w/gen.py", "content": code})), step(3, bash("python /w/gen.py"))
    assert found("transformers_inference", named, wrote, ran) == [2, 3]


def test_the_rules_speak_on_real_sessions_where_a_reader_found_them_right():
    """What docs/training.md tells of the real sessions: two rules speak, and no answer in words is a null action."""
    told: Counter[str] = Counter()
    steps = 0
    for path in sorted(p for p in real(".").rglob("*") if p.is_file()):
        try:
            sessions = list(registry.read(path))
        except ReportableError:
            continue
        for session in sessions:
            evidence = gather(trajectory(session), lambda name, blobs=session.blobs: decode_body(blobs[name]))
            steps += len(evidence.steps)
            told.update({name: len(found or {}) for name, found in findings(RULES.get(), evidence).items()})
    assert steps > 2000 and told["null_action"] <= 2 and 10 <= told["error_result"] <= 20
    assert sum(told.values()) - told["null_action"] - told["error_result"] <= 3, told


def test_a_failed_tool_of_another_program_is_an_error_as_its_importer_tells():
    failed = ActionError(kind="tool", message="File has not been read yet.")
    assert found("error_result", step(1, ("Edit", {"file_path": "a"}), error=failed)) == [1]


def test_a_reason_says_the_tool_as_the_log_does():
    failed = Observation(call_id="1", status="failed", exit_code=2, error=ActionError(kind="exit", message="no"))
    ran = StepBody(number=3, actions=(Action(call_id="1", tool="bash", arguments={"command": "ls"}),),
                   observations=(failed,))
    evidence = Evidence(steps=in_our_words([ran]), origin="somewhere", written={(3, 1): "bash"})
    [reason] = [f.reason for f in RULES.get(["error_result"])[0].find(evidence)]
    assert reason.startswith("bash failed (exit code 2)")


def test_what_is_gathered_of_an_import_has_its_names():
    for session in registry.read(real("claude-code/ccviewer_5c0375b4-57a5-4f26-b12d-d022ee4e51b7.jsonl")):
        evidence = gather(trajectory(session), lambda name, held=session.blobs: decode_body(held[name]))
        assert evidence.steps and "TodoWrite" in evidence.written.values()
        break
