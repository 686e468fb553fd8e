"""Token in, token out: what a model sampled is never made from text again, over real chat templates."""

from __future__ import annotations

import asyncio
import random

import pytest
from support.tiny_model import make_tokenizer, trl_template, trl_template_names

from core.domain.message import Message
from core.llm.model import EndpointError, PastTokens, Request

transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")
ASK = (Message(role="user", content="Look."),)


def prompter_of(folder, template: str):
    from core.llm.token_prompt import TokenPrompter

    tokenizer = transformers.AutoTokenizer.from_pretrained(str(make_tokenizer(folder, template=template)))
    return TokenPrompter(tokenizer, "tiny", {tokenizer.eos_token_id}), tokenizer


def goes_on(prompter, ids: list[int], *, ended: bool):
    """The next prompt after an answer of these ids, and the ids of before."""
    first = prompter.prompt(Request(messages=ASK))
    past = [*first.ids, *ids]
    answer = prompter.message(ids, ended=ended, tools=False)
    messages = (*ASK, answer, Message(role="user", content="And then?"))
    return past, messages, prompter.prompt(Request(messages=messages, past=PastTokens(past, 2)))


def test_an_answer_whose_text_would_be_split_otherwise_stays_as_it_was_sampled(tmp_path):
    prompter, tokenizer = prompter_of(tmp_path, trl_template("qwen2_5"))
    pieces = [tokenizer.convert_tokens_to_ids(c) for c in "the loss"[:3]]  # one by one, where the tokenizer joins them
    assert tokenizer("the", add_special_tokens=False)["input_ids"] != pieces
    past, messages, following = goes_on(prompter, [*pieces, tokenizer.eos_token_id], ended=True)
    assert following.continues and following.ids[: len(past)] == past
    assert following.ids != prompter.prompt(Request(messages=messages)).ids
    assert tokenizer.decode(following.ids) == tokenizer.decode(prompter.prompt(Request(messages=messages)).ids)


@pytest.mark.parametrize("name", trl_template_names())
def test_over_each_template_a_prompt_goes_on_exactly_or_begins_a_row(tmp_path, name):
    prompter, tokenizer = prompter_of(tmp_path, trl_template(name))
    draw = random.Random(name)
    for ended in (True, False):
        ids = [draw.randrange(20, 700) for _ in range(6)] + [tokenizer.eos_token_id] * ended
        try:
            past, messages, following = goes_on(prompter, ids, ended=ended)
        except EndpointError:
            pytest.skip("the template refuses these messages")
        if following.continues:
            assert following.ids[: len(past)] == past and following.known == len(past)
            tail = tokenizer.decode(following.ids[len(past) :])
            assert "And then?" in tail and "Look." not in tail
        else:
            assert following.ids == prompter.prompt(Request(messages=messages)).ids


def test_an_answer_that_was_cut_gets_its_end_mark_unsampled(tmp_path):
    prompter, tokenizer = prompter_of(tmp_path, trl_template("qwen2_5"))
    past, _, following = goes_on(prompter, [100, 101], ended=False)
    assert following.ids[len(past)] == tokenizer.eos_token_id
    past, _, following = goes_on(prompter, [100, 101, tokenizer.eos_token_id], ended=True)
    assert tokenizer.eos_token_id not in following.ids[len(past) : len(past) + 1]


def test_a_context_that_is_no_continuation_begins_a_row(tmp_path):
    prompter, _ = prompter_of(tmp_path, trl_template("qwen2_5"))
    summary = (Message(role="user", content="A summary."), Message(role="user", content="Go on."))
    fresh = prompter.prompt(Request(messages=summary, past=PastTokens([5, 6, 7], 1)))
    assert not fresh.continues and fresh.ids == prompter.prompt(Request(messages=summary)).ids


def test_each_prompt_samples_by_its_own_settings_and_stop():
    torch = pytest.importorskip("torch")
    from core.llm.generation import Draw, generate

    torch.manual_seed(0)
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=50, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2))
    asked = [Draw(prompt=[1, 2, 3], most=6, temperature=0.0), Draw(prompt=[4], most=9, temperature=0.7, seed=1),
             Draw(prompt=[4] * 9, most=4, top_p=0.0001, seed=2), Draw(prompt=[7], most=0)]
    made = generate(model, asked, {49}, 0)
    assert [len(one.ids) <= a.most for one, a in zip(made, asked, strict=True)] == [True] * 4
    assert made[0].ids == generate(model, asked[:1], {49}, 0)[0].ids  # whoever stands beside it
    assert made[1].ids == generate(model, asked[1:2], {49}, 0)[0].ids
    best = generate(model, [Draw(prompt=[4] * 9, most=4, temperature=0.0)], {49}, 0)[0]
    assert made[2].ids == best.ids  # the most probable token alone makes up so little
    stopped = generate(model, asked[:1], {made[0].ids[1]}, 0)[0]
    assert stopped.ended and stopped.ids == made[0].ids[: made[0].ids.index(made[0].ids[1]) + 1]
    logits = model(torch.tensor([[4, *made[1].ids]])).logits[0].float() / 0.7
    whole = torch.log_softmax(logits, -1)
    for at, (token, logprob) in enumerate(zip(made[1].ids, made[1].logprobs, strict=True)):
        assert abs(float(whole[at, token]) - logprob) < 1e-4


def test_what_is_sampled_is_distributed_as_the_model_says():
    torch = pytest.importorskip("torch")
    from core.llm.generation import Draw, _draw

    logits = torch.tensor([[0.0, 1.0, 2.0, -1.0]]).expand(4000, 4)
    draw = random.Random(3)
    asked = [Draw(prompt=[0], most=1, temperature=0.5)] * 4000
    tokens, _ = _draw(logits, asked, [draw.random() for _ in asked])
    wanted = torch.softmax(torch.tensor([0.0, 2.0, 4.0, -2.0]), -1)
    for token in range(4):
        assert abs(tokens.count(token) / 4000 - float(wanted[token])) < 0.03


def test_tokens_are_told_by_a_model_of_a_folder(tmp_path):
    pytest.importorskip("torch")
    from support.tiny_model import make_model

    from core.domain.task import ModelSettings
    from core.llm.local import LocalModel

    model = LocalModel(ModelSettings(kind="local", name=str(make_model(tmp_path)), temperature=1.0))
    first = asyncio.run(model.complete(Request(messages=ASK, max_tokens=5, seed=4))).sampled
    assert first is not None and len(first.ids) == len(first.logprobs) == 5 and not first.continues
    again = asyncio.run(model.complete(Request(messages=ASK, max_tokens=5, seed=4))).sampled
    assert again == first
