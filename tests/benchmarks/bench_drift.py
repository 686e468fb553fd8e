"""How often text that a model sampled would be split into other tokens again: `python -m benchmarks.bench_drift [N]`.

SmolLM2-135M answers in small pieces (temperature 1); each answer is put into its chat template and followed by a
person's words. Counted: answers whose own text gives other ids, contexts of which any token would differ, and how many
prompts go on from the sampled ids when they are built token in, token out (all of those that the template allows).
"""

from __future__ import annotations

import sys

from support.tiny_model import smollm2, trl_template, trl_template_names

from core.domain.message import Message
from core.llm.model import EndpointError, PastTokens, Request

ASKED = ("Write a shell command that lists the largest files.", "把训练集分成两部分。", "What is 17 * 23? Think.",
         "Write JSON with a name and an age.", "Name three French words with accents.", "Write Python that sorts.")


def answers(count: int) -> tuple[list[tuple[str, list[int], bool]], object]:
    """So many answers of the model: what was asked, the ids, and whether a stop token ended them."""
    from core.llm.generation import Draw, generate
    from core.llm.local_policy import LocalPolicy

    policy = LocalPolicy.load(smollm2())
    asked = [ASKED[i % len(ASKED)] for i in range(count)]
    draws = [Draw(prompt=policy._prompter.prompt(Request(messages=(Message(role="user", content=a),))).ids, most=40,
                  seed=i) for i, a in enumerate(asked)]
    made = generate(policy._model, draws, policy._prompter.ends, policy._tokenizer.pad_token_id or 0)
    return [(a, one.ids, one.ended) for a, one in zip(asked, made, strict=True)], policy._tokenizer


def main(count: int) -> None:
    """Print one line per template."""
    from core.llm.token_prompt import TokenPrompter

    made, tokenizer = answers(count)
    own = sum(tokenizer(tokenizer.decode(ids), add_special_tokens=False)["input_ids"] != ids for _, ids, _ in made)
    print(f"{count} answers, {sum(len(ids) for _, ids, _ in made)} tokens; {own} ({own / count:.0%}) split otherwise")
    print(f"{'template':28} {'drift':>7} {'go on':>7} {'new row':>8}")
    own_template = tokenizer.chat_template
    for name in ["SmolLM2's own", *trl_template_names()]:
        tokenizer.chat_template = own_template if name == "SmolLM2's own" else trl_template(name)
        prompter = TokenPrompter(tokenizer, name, {tokenizer.eos_token_id})
        counts = [0, 0, 0]
        try:
            for asked, ids, ended in made:
                _count(prompter, asked, ids, ended, counts)
        except EndpointError:
            continue
        print(f"{name:28} {counts[0] / count:>7.0%} {counts[1]:>7} {counts[2]:>8}")


def _count(prompter: object, asked: str, ids: list[int], ended: bool, counts: list[int]) -> None:
    question = Message(role="user", content=asked)
    past = [*prompter.prompt(Request(messages=(question,))).ids, *ids]
    messages = (question, prompter.message(ids, ended=ended, tools=False), Message(role="user", content="Go on."))
    whole = prompter.prompt(Request(messages=messages)).ids
    following = prompter.prompt(Request(messages=messages, past=PastTokens(past, 2)))
    counts[0] += whole[: len(past)] != past
    counts[1 if following.continues else 2] += 1


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 48)
