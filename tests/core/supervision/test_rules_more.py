"""The rules about scripts, machines, time and waiting, each on steps where it must and where it must not speak."""

from __future__ import annotations

import pytest
from support.cost import spent_s, unit_s

from core.domain.events import ScoreGiven
from core.domain.step import Action, ActionError, Observation, Output, StepBody
from core.domain.task import Task
from core.supervision.rules import RULES, Evidence

FAILED = ActionError(kind="exit_code", message="The command ended with exit code 1.")
RUNNING = {"status": "running", "job": "j1"}


def step(number: int, *told: tuple[str, dict], shows: str = "", **seen) -> StepBody:
    actions = tuple(Action(call_id=f"{number}.{i}", tool=t, arguments=a) for i, (t, a) in enumerate(told))
    observations = tuple(Observation(call_id=a.call_id, output=Output(text=shows), **seen) for a in actions)
    return StepBody(number=number, actions=actions, observations=observations)


def found(rule: str, *steps: StepBody, files=(), scores=(), about: str = "", **settings) -> list[int]:
    [one] = RULES.get([rule])
    evidence = Evidence(steps=steps, files=files, scores=scores,
                        task=Task(id="t", title="Task", description=about))
    return sorted({f.step for f in one.tuned(settings).find(evidence)})


def edit(path: str = "/w/a.py", content: str = "x") -> tuple[str, dict]:
    return "edit_file", {"path": path, "start": 1, "end": 2, "content": content}


def create(path: str, content: str = "x") -> tuple[str, dict]:
    return "create_file", {"filename": path, "content": content}


def run(command: str, **more) -> tuple[str, dict]:
    return "run_command", {"command": command, **more}


SLEEP, EVAL, FINISH = ("sleep", {"sleep_time": 60}), ("eval", {}), ("finish", {})
POLL = ("get_session_output", {"session_id": "m"})
BUSY = {"is_idle": False}


def test_second_edit_in_a_row_is_masked_and_looking_between_clears_it():
    assert found("second_edit", step(1, edit()), step(2, edit())) == [2]
    assert found("second_edit", step(1, edit()), step(2, run("cat a.py")), step(3, edit())) == []
    assert found("second_edit", step(1, edit()), step(2, edit("/w/b.py"))) == []
    assert found("second_edit", step(1, edit()), step(2, edit("/w/b.py")), any_file=True) == [2]
    assert found("second_edit", step(1, edit(), error=FAILED), step(2, edit())) == []
    assert found("second_edit", step(1, edit()), step(2, ("think", {"thought": "hm"})), step(3, edit())) == [3]


INFER = "from vllm import LLM\nLLM('m').generate(p)"


def test_a_variant_of_a_provided_script_and_its_runs_are_masked():
    listing = step(1, run("ls /w"), shows="inference.py\ndata\n")
    write, use = step(2, create("/w/inference_new.py", INFER)), step(3, run("cd /w && python inference_new.py --n 5"))
    assert found("script_ignored", listing, write, use) == [2, 3]
    assert found("script_ignored", write, use, about="Use inference.py to answer the questions.") == [2, 3]
    heredoc = step(2, run("cat > /w/my_inference.py <<'EOF'\nprint(1)\nEOF"))
    assert found("script_ignored", listing, heredoc) == [2]
    assert found("script_ignored", listing, step(2, run("cat inference.py")), step(3, create("/w/score.py"))) == []


def test_scripts_of_the_agent_itself_named_by_the_task_for_rollouts_or_after_a_failure_are_kept():
    own = step(1, create("/w/plot.py")), step(2, run("ls"), shows="plot.py"), step(3, create("/w/plot_v2.py"))
    assert found("script_ignored", *own) == []
    listing = step(1, run("ls /w"), shows="inference.py")
    asked = "Write inference_new.py next to inference.py."
    assert found("script_ignored", listing, step(2, create("/w/inference_new.py")), about=asked) == []
    rollout = step(2, create("/w/inference_new.py", "# rollout data of the training set"))
    assert found("script_ignored", listing, rollout) == []
    broken = step(2, run("python inference.py"), exit_code=1, error=FAILED)
    assert found("script_ignored", listing, broken, step(3, create("/w/inference_fixed.py"))) == []


LOADS = "from transformers import AutoModelForCausalLM\nm = AutoModelForCausalLM.from_pretrained(p)\nm.generate(**x)"


def test_bulk_inference_with_transformers_is_masked_where_vllm_is_expected():
    write, use = step(1, create("/w/gen.py", LOADS)), step(2, run("python /w/gen.py"))
    assert found("transformers_inference", write, use, about="Generate with vLLM.") == [1, 2]
    assert found("transformers_inference", write, use) == []
    assert found("transformers_inference", write, use, always=True) == [1, 2]
    shown = step(1, run("pip list"), shows="torch 2.5\nvllm 0.6\n")
    inline = step(2, run(f'python -c "{LOADS}"'))
    assert found("transformers_inference", shown, inline) == [2]
    assert found("transformers_inference", inline, shown) == [], "not before anything said so"


def test_training_code_and_a_script_written_anew_with_vllm_are_kept():
    trains = step(1, create("/w/sft.py", LOADS + "\nTrainer(m).train()")), step(2, run("python /w/sft.py"))
    assert found("transformers_inference", *trains, always=True) == []
    mended = step(1, create("/w/gen.py", LOADS)), step(2, create("/w/gen.py", INFER)), step(3, run("python gen.py"))
    assert found("transformers_inference", *mended, always=True) == [1]
    looked = step(1, create("/w/gen.py", LOADS)), step(2, run("cat /w/gen.py"))
    assert found("transformers_inference", *looked, always=True) == [1]


SMI = "\n".join(f"GPU {i}: NVIDIA H100 80GB HBM3 (UUID: GPU-{i})" for i in range(8))
SMI_TABLE = "\n".join(f"|   {i}  NVIDIA H100 80GB HBM3          On  |" for i in range(4))


@pytest.mark.parametrize(("command", "masked"), [
    ("CUDA_VISIBLE_DEVICES=0 python train.py", True), ("CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 python train.py", False),
    ("export CUDA_VISIBLE_DEVICES='0,1'; bash run_sft.sh", True), ("torchrun --nproc_per_node=2 train.py", True),
    ("torchrun --nproc_per_node=8 train.py", False), ("python train.py --use_lora true", True),
    ("python train.py --use_lora false", False), ("python train.py", False),
    ("CUDA_VISIBLE_DEVICES=0 python evaluate.py", False),
    ("CUDA_VISIBLE_DEVICES=0 python train.py --max_steps 5", False),
    ("CUDA_VISIBLE_DEVICES=0 python train.py --debug", False), ("cat train.py", False),
])
def test_idle_gpus(command, masked):
    shown = step(1, run("nvidia-smi -L"), shows=SMI)
    assert found("idle_gpus", shown, step(2, run(command))) == ([2] if masked else [])
    assert found("idle_gpus", step(2, run(command))) == [], "nobody knows how many there are"
    assert found("idle_gpus", step(2, run(command)), gpus=8) == ([2] if masked else [])


def test_idle_gpus_counts_the_table_and_lets_runs_share_the_machine():
    shown = step(1, run("nvidia-smi"), shows=SMI_TABLE)
    half = step(2, run("CUDA_VISIBLE_DEVICES=0,1 python train.py"), **RUNNING)
    rest = step(3, run("CUDA_VISIBLE_DEVICES=2,3 python train.py --seed 2"))
    assert found("idle_gpus", shown, half, rest) == [2]
    assert found("idle_gpus", shown, step(2, run("python train.py --lora"))) == [], "four are not eight"
    elsewhere = step(2, run("CUDA_VISIBLE_DEVICES=0 python train.py", computer_ip="b"))
    assert found("idle_gpus", shown, elsewhere) == []


def score(step: int, total: float) -> ScoreGiven:
    return ScoreGiven(ordinal=1, step=step, total=total)


def test_finishing_while_a_job_runs_or_with_a_worse_result_is_masked():
    job = step(1, run("python train.py"), **RUNNING)
    ended = step(2, POLL, job="j1", exit_code=0)
    assert found("early_finish", job, step(2, FINISH)) == [2]
    assert found("early_finish", job, ended, step(3, FINISH)) == []
    steps = step(1, EVAL), step(2, run("make")), step(3, EVAL), step(4, FINISH)
    assert found("early_finish", *steps, scores=(score(1, 60), score(3, 40))) == [4]
    assert found("early_finish", *steps, scores=(score(1, 40), score(3, 60))) == []
    back = *steps[:3], step(4, run("cp best/* out/")), step(5, FINISH)
    assert found("early_finish", *back, scores=(score(1, 60), score(3, 40))) == []


def test_work_that_lowers_a_full_score_is_masked_and_backups_are_kept():
    steps = (step(1, EVAL), step(2, run("mkdir -p keep && cp -r out keep/score-100")), step(3, run("cat log.txt")),
             step(4, run("python again.py")), step(5, edit()), step(6, SLEEP), step(7, EVAL), step(8, run("make")))
    assert found("lowered_score", *steps, scores=(score(1, 100), score(7, 80))) == [4, 5]
    assert found("lowered_score", *steps, scores=(score(1, 90), score(7, 80))) == []
    assert found("lowered_score", *steps, scores=(score(1, 90), score(7, 80)), max_score=90.0) == [4, 5]
    assert found("lowered_score", *steps, scores=(score(1, 90), score(7, 80)), margin=10.0) == [4, 5]
    assert found("lowered_score", *steps, scores=(score(1, 100), score(7, 100))) == []


def test_blind_retry_is_the_same_failure_again_with_nothing_changed():
    bad = {"exit_code": 1, "error": FAILED}
    first, again = step(1, run("python a.py"), **bad), step(2, run("python a.py"), **bad)
    assert found("blind_retry", first, again, step(3, run("python a.py"), **bad)) == [2, 3]
    look = step(2, ("open_file", {"path": "a.py"}))
    assert found("blind_retry", first, look, step(3, run("python a.py"), **bad)) == [3]
    for between in (edit(), SLEEP, run("pip install x")):
        assert found("blind_retry", first, step(2, between), step(3, run("python a.py"), **bad)) == []
    assert found("blind_retry", first, step(2, run("python a.py"), shows="another", **bad)) == []
    assert found("blind_retry", step(1, run("ls")), step(2, run("ls"))) == []


def test_waiting_for_nothing_is_masked_and_sleeping_while_something_runs_is_not():
    waits = [step(n, SLEEP if n % 2 else POLL, shows=str(n)) for n in range(1, 12)]
    assert found("deadlocked_polling", *waits) == list(range(2, 12))
    assert found("deadlocked_polling", *waits[:9]) == []
    assert found("deadlocked_polling", *waits[:5], run=5) == [2, 3, 4, 5]
    job = step(0, run("python train.py"), **RUNNING)
    assert found("deadlocked_polling", job, *waits) == []
    busy = [step(n, POLL, shows=str(n), data=BUSY) for n in range(1, 12)]
    assert found("deadlocked_polling", *busy) == []


def test_polling_the_same_without_a_sleep_is_masked():
    job = step(0, run("python train.py"), **RUNNING)
    polls = [step(n, POLL, shows="same", data=BUSY) for n in range(1, 12)]
    assert found("deadlocked_polling", job, *polls) == list(range(2, 12))
    slept = [s for n in range(1, 22, 2) for s in (step(n, POLL, shows="same", data=BUSY), step(n + 1, SLEEP))]
    assert found("deadlocked_polling", job, *slept) == []


@pytest.mark.parametrize("text", [
    "OPENAI_API_KEY=sk-proj-abcdEFGH1234567890abcd", "token ghp_" + "a1B2" * 9, "AKIAQ3EGRV6XWZ2ABCDE",
    "hf_" + "AbCdEfGhIj" * 4, "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIE" * 20 + "\n-----END RSA PRIVATE KEY-----",
    "postgres://me:s3cretpass9@db.local/x", "authorization: Bearer abcdef0123456789abcdef",
])
def test_a_printed_secret_is_masked_and_its_value_is_in_no_reason(text):
    assert found("secret_printed", step(1, run("env"), shows=f"PATH=/bin\n{text}\n")) == [1]
    assert found("secret_printed", step(1, run(f"export X='{text}'"))) == [1]
    [one] = RULES.get(["secret_printed"])
    told = next(one.find(Evidence(steps=[step(1, run("env"), shows=text)]))).reason
    assert "secret" in told and not any(part in told for part in text.split() if len(part) > 14)


@pytest.mark.parametrize("text", [
    "OPENAI_API_KEY=$KEY", "sk-xxxxxxxxxxxxxxxxxxxxxxxx", "api_key = os.environ['OPENAI_API_KEY_2024']",
    "password: ****************", "commit 3f786850e387550fdab836ed7e6dc881de23001b", "task-specific-evaluation-2024-01",
])
def test_ordinary_text_is_no_secret(text):
    assert found("secret_printed", step(1, run("env"), shows=text)) == []


@pytest.mark.parametrize("text", [
    "train" * 4000, "cat >a <<E\n" * 2000, "a_v2" * 5000 + ".py", "'\"" * 9000, "CUDA_VISIBLE_DEVICES=" + "0," * 9000,
    "AutoModelForCausalLM " + " . " * 7000, "x.py " * 4000, "-----BEGIN PRIVATE KEY-----" * 700, "a/" * 9000 + "t.py",
    "-lora" * 4000, "eyJ-" * 5000,
])
def test_rules_take_long_commands_quickly(text):
    steps = step(1, run("ls"), shows=text), step(2, run(text)), step(3, create("/w/t_new.py", text)), step(4, run(text))
    evidence = Evidence(steps=steps, task=Task(id="t", title="vllm", description=text))
    for one in RULES.get():
        spent = spent_s(lambda one=one: list(one.find(evidence)))
        assert spent < 100 * unit_s(rounds=1), one.id
