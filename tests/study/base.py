"""The model that every variant begins with: small, from random weights, taught neutral text of the shell world alone.

The text is transcripts in the form of sessions: commands that somebody wrote down and that are carried out, commands
drawn at random whose arguments stand in earlier results, and what was done so far summed up. None has a task of the
study, and none shows where a task's facts are looked up. Words of both splits occur in it alike.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from study.copying import lay_copying_in
from study.first_plays import rows
from study.small_policy import APART, make_words
from study.tasks import FAMILIES, FINISH, LETTERS, SPLITS, lettered, long_suite
from study.world import Shell, observed

from core.agents import prompts
from core.agents.context import observation_messages, summary_message
from core.domain.message import Message
from core.domain.step import Action
from core.training.settings import TrainSettings

_RESULT = '<result tool="run_command">\n[finished, exit code '
_WHOLE = (
    '<action>{"tool":"run_command","command":"', '"}</action>', '<action>{"tool":"finish"}</action>',
    f"{_RESULT}0]\n", f"{_RESULT}0]\n</result>", f"{_RESULT}1]\nerror: ", f"{_RESULT}127]\nerror: ",
    "\n</result>", "<real_user>\n", "\n</real_user>", "<state_snapshot>done:", "</state_snapshot>")
"""What recurs word for word is one token each, as in any tokenizer that was made of such text."""

_ENDS = ("Terminals may have changed since; look at them before you rely on them.", "Result of step",
         "Advice that people gave in these steps:", "</summary>", "<summary")


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """The model's size (LFM2's: `pairs` of a short convolution over `reach` tokens and full attention), how well it
    copies before it is taught anything (`sharpness`, see `lay_copying_in`), and how it is taught: at most so many
    `rounds` of `texts` of about 230 tokens."""

    width: int = 128
    pairs: int = 2
    sharpness: float = 3.0
    reach: int = 6
    texts: int = 3_000
    rounds: int = 5
    enough: float = 0.985
    batch: int = 8
    learning_rate: float = 2e-3
    warmup: int = 30


def answer_text(command: str, letter: str = "") -> str:
    """The agent's whole answer for a command: one action in the plain-text format; its only thought is the letter
    of what it works on."""
    call = {"tool": FINISH} if command == FINISH else {"tool": "run_command", "command": command}
    return f"{letter + ': ' if letter else ''}<action>{msgspec.json.encode(call).decode()}</action>"


def snapshot_text(done: Sequence[str]) -> str:
    """The agent's whole answer where it is asked for a summary."""
    return f"<state_snapshot>done: {', '.join(done) or 'nothing'}</state_snapshot>"


def neutral_texts(count: int, seed: str = "neutral") -> Iterator[list[Message]]:
    """Transcripts; those come most often in which something has to be found again."""
    rng = random.Random(seed)
    for number in range(count):
        yield (_repeated, _written_down, _repeated, _written_down, _free)[number % 5](rng)


def _opening(text: str) -> list[Message]:
    system = Message(role="system", content=prompts.fill("system").strip())
    return [system, Message(role="user", content=prompts.fill("task", {"description": text}).strip())]


def _turn(shell: Shell, command: str, letter: str = "") -> list[Message]:
    action = Action(call_id="", tool="run_command", arguments={"command": command})
    answer = Message(role="assistant", content=answer_text(command, letter))
    return [answer, *observation_messages([action], [observed(shell, command)], native=False)]


def _world(rng: random.Random) -> Shell:
    split = rng.choice(SPLITS)
    chores = [family.make(split, rng, rng.randrange(100)) for family in rng.sample(FAMILIES, rng.randint(2, 5))]
    return Shell({name: text for chore in chores for name, text in chore.files.items()})


def _written_down(rng: random.Random) -> list[Message]:
    """Commands are asked for and carried out in their order; sometimes summed up, sometimes after a summary."""
    shell = _world(rng)
    words = [*shell.files, *(w for text in shell.files.values() for w in text.split())]
    commands = [_command(rng, words) for _ in range(rng.randint(3, 9))]
    messages = _opening(lettered(commands))
    turns = [_turn(shell, command, letter) for command, letter in zip(commands, LETTERS, strict=False)]
    fate, cut = rng.random(), rng.randint(1, len(commands) - 1)
    if fate < 0.3:
        asked = Message(role="user", content=prompts.summary_request(1, cut))
        shown = rng.randint(cut + 1, len(commands))
        answer = Message(role="assistant", content=snapshot_text(LETTERS[:cut]))
        return [*messages, *(m for turn in turns[:shown] for m in turn), asked, answer]
    if fate < 0.6:
        text = snapshot_text(LETTERS[:cut]).removeprefix("<state_snapshot>").removesuffix("</state_snapshot>")
        messages.append(summary_message(1, cut, text, [turns[cut - 1][-1].content], []))
        turns = turns[cut:]
    return [*messages, *(m for turn in turns for m in turn), Message(role="assistant", content=answer_text(FINISH))]


def _repeated(rng: random.Random, *, letters: int = 9, length: int = 4) -> list[Message]:
    """Words are said again, of the letter that is asked for."""
    shell = _world(rng)
    words = [w for name, text in shell.files.items() for w in (name, *text.split())]
    said = [" ".join(rng.choices(words, k=rng.randint(1, length))) for _ in range(rng.randint(2, letters))]
    messages = _opening(lettered(said))
    for letter in rng.choices(LETTERS[: len(said)], k=letters):
        answer = f"{letter}: {said[LETTERS.index(letter)]}"
        messages += [Message(role="user", content=f"{letter}?"), Message(role="assistant", content=answer)]
    return messages


def _free(rng: random.Random) -> list[Message]:
    """Commands whose arguments stand in what was seen."""
    shell = _world(rng)
    messages = [*_opening("Look around."), *_turn(shell, "ls")]
    for _ in range(rng.randint(4, 9)):
        seen = " ".join(m.content.split("]", 1)[-1].removesuffix("\n</result>") for m in messages[3::2]).split()
        recent = seen[-6:] if rng.random() < 0.6 else seen
        messages += _turn(shell, _command(rng, recent or ["README"]))
    return messages


def _command(rng: random.Random, words: Sequence[str]) -> str:
    """A command with some of these words."""
    one, two = rng.choice(words).rstrip("/"), rng.choice(words).rstrip("/")
    file = rng.choice([w for w in words if "." in w or "/" in w] or words).rstrip("/")
    return rng.choice((f"cat {file}", f"cat {file}", f"cat {one}", "ls", f"grep -l {one} *.log", f"grep {one} {file}",
                       f"echo {one} > {two}.txt", f"echo {one} > {file}", f"mv {file} {two}", f"rm {file}",
                       f"sed -i s/{one}/{two}/ {file}", f"install {one} {two}"))


def make_base(folder: Path, shape: Shape, seed: int) -> Path:
    """The folder of the model with random weights, and its tokenizer."""
    tokenizer = make_words(folder, _corpus(), APART)
    tokenizer.add_tokens([*_WHOLE, *_ENDS])
    tokenizer.save_pretrained(str(folder))
    return save_copying(folder, tokenizer, shape, seed)


def save_copying(folder: Path, tokenizer, shape: Shape, seed: int) -> Path:
    """Random weights of a shape for the tokens of a tokenizer, in a folder; what copies is laid in."""
    import torch
    from transformers import Lfm2Config, Lfm2ForCausalLM

    torch.manual_seed(seed)
    model = Lfm2ForCausalLM(Lfm2Config(
        vocab_size=len(tokenizer), hidden_size=shape.width, conv_bias=True,
        rope_parameters={"rope_type": "default", "rope_theta": 1e15}, intermediate_size=2 * shape.width,
        block_auto_adjust_ff_dim=False, num_hidden_layers=2 * shape.pairs,
        layer_types=["conv", "full_attention"] * shape.pairs, conv_L_cache=shape.reach,
        num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=2048,
        tie_word_embeddings=True, bos_token_id=None, eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id))
    lay_copying_in(model, shape.sharpness)
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.save_pretrained(str(folder))
    return folder


def _corpus() -> Iterator[str]:
    """All words of the world: of the neutral text, and of what tasks are described and advised by."""
    yield from (m.content for text in neutral_texts(3000) for m in text)
    for task in (t for split in SPLITS for t in long_suite(split, 60)):
        yield task.description
        for chore in task.chores:
            yield from (*chore.advice, *chore.path, *(s.command for s in chore.slips))


def teach_base(start: Path, out: Path, shape: Shape, seed: int) -> list[float]:
    """Teach it what the neutral text answers, by the product's own training, in rounds of new text until it follows
    enough of it; the model lies in OUT/model. Gives what it followed after each round."""
    followed: list[float] = []
    model = start
    for number in range(shape.rounds):
        model = _round(model, out / f"round-{number + 1}", shape, f"neutral {seed} {number}")
        followed.append(share_followed(model))
        if followed[-1] >= shape.enough:
            break
    shutil.rmtree(out / "model", ignore_errors=True)
    shutil.copytree(model, out / "model")
    return followed


def _round(model: Path, out: Path, shape: Shape, text: str) -> Path:
    from transformers import AutoTokenizer

    from core.training.train import run

    out.mkdir(parents=True, exist_ok=True)
    data = out / "neutral.jsonl"
    if not data.is_file():
        taught = rows(AutoTokenizer.from_pretrained(str(model)), list(neutral_texts(shape.texts, text)))
        lines = [msgspec.json.encode({"input_ids": ids, "labels": labels}) for ids, labels in taught]
        data.with_suffix(".part").write_bytes(b"\n".join(lines) + b"\n")
        data.with_suffix(".part").replace(data)
    return Path(run(TrainSettings(
        data=str(data), model=str(model), out=str(out / "training"), epochs=1, batch=shape.batch,
        micro_batch=shape.batch, learning_rate=shape.learning_rate, min_learning_rate=shape.learning_rate / 10,
        warmup_steps=shape.warmup, save_every=200, device="cpu", max_length=2048, merge_copies=False,
        merge_chains=False)).folder)


def share_followed(folder: Path) -> float:
    """How many tokens of answers the model finds likeliest where commands were written down, in text that it has not
    been taught."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(folder))
    model = AutoModelForCausalLM.from_pretrained(str(folder), dtype=torch.float32).eval()
    rng, right, of = random.Random("followed"), 0, 0
    with torch.inference_mode():
        for ids, labels in rows(tokenizer, [_written_down(rng) for _ in range(48)]):
            wanted = torch.tensor(labels[1:])
            likeliest = model(input_ids=torch.tensor([ids])).logits[0, :-1].argmax(-1)
            right, of = right + int((likeliest == wanted).sum()), of + int((wanted != -100).sum())
    return right / of
