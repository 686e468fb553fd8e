"""The tokens that an engine says it sampled, in the dialect of vLLM and SGLang: `return_token_ids` and `logprobs`.

What does not fit together is never taken: then there are no tokens, and a reason. Both engines say them whole only in
answers that are not streamed (SGLang refuses the other way, vLLM leaves tokens of tool calls out of a stream).
"""

from collections.abc import Sequence
from typing import Any

from core.domain.errors import InvalidInput
from core.domain.sampled import Sampled
from core.llm.model import Request
from core.llm.token_texts import texts_of_entries

ASKED: dict[str, Any] = {"logprobs": True, "extra_body": {"return_token_ids": True}}
"""What is asked beside an ordinary request."""


def sampled_of(answer: Any, choice: Any, request: Request, *, policy: str, temperature: float, top_p: float
               ) -> tuple[Sampled | None, str]:
    """The tokens of an answer; or None, and in a sentence why there are none that can be used."""
    prompt = _ids(getattr(answer, "prompt_token_ids", None)) or _ids(getattr(choice, "prompt_token_ids", None))
    ids = _ids(getattr(choice, "token_ids", None))
    logprobs = _logprobs(choice)
    if prompt is None or ids is None or logprobs is None:
        missing = [name for name, one in (("the ids of the prompt", prompt), ("the ids of the answer", ids),
                                          ("log-probabilities", logprobs)) if one is None]
        return None, f"The endpoint does not give {' nor '.join(missing)}."
    if problem := _problem(prompt, ids, logprobs, getattr(answer, "usage", None)):
        return None, problem
    past = list(request.past.ids) if request.past is not None else []
    continues = bool(past) and prompt[: len(past)] == past and len(prompt) > len(past)
    try:
        return Sampled.of(ids=ids, logprobs=logprobs, prompt_ids=prompt[len(past) :] if continues else prompt,
                          continues=continues, policy=policy, temperature=temperature, top_p=top_p,
                          texts=texts_of_entries(choice.logprobs.content)), ""
    except InvalidInput as error:
        return None, error.sentence


def _problem(prompt: Sequence[int], ids: Sequence[int], logprobs: Sequence[float], usage: Any) -> str:
    """What of an engine's numbers contradicts the others, or ""."""
    if len(ids) != len(logprobs):
        return f"The endpoint gives {len(ids)} ids and {len(logprobs)} log-probabilities."
    for what, counted, claimed in (("prompt", len(prompt), getattr(usage, "prompt_tokens", None)),
                                ("answer", len(ids), getattr(usage, "completion_tokens", None))):
        if claimed is not None and claimed != counted:
            return f"The endpoint counts {claimed} tokens of the {what} and gives {counted} ids."
    return ""


def _ids(value: Any) -> list[int] | None:
    is_list = isinstance(value, list) and value and all(type(one) is int for one in value)
    return value if is_list else None


def _logprobs(choice: Any) -> list[float] | None:
    content = getattr(getattr(choice, "logprobs", None), "content", None)
    if not isinstance(content, list):
        return None
    found = [getattr(one, "logprob", None) for one in content]
    numbers = [float(one) for one in found if isinstance(one, (int, float))]
    return numbers if len(numbers) == len(found) else None
