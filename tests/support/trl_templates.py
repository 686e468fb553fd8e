"""What the chat templates that TRL ships have for tokens, and which of them cannot be exact."""

from __future__ import annotations

import re

_STOPS = {
    "cohere": ("<|END_OF_TURN_TOKEN|>",), "deepseek": ("<｜end▁of▁sentence｜>",), "diffusion_gemma": ("<turn|>",),
    "gemma4": ("<turn|>",), "gemma": ("<end_of_turn>",), "glm4": ("<|user|>", "<|observation|>"),
    "gptoss": ("<|return|>", "<|call|>"), "idefics3": ("<end_of_utterance>",), "smolvlm": ("<end_of_utterance>",),
    "llama3": ("<|eot_id|>", "<|eom_id|>"), "llava": ("</s>",), "muse": ("<|eot|>", "<|eom|>"), "phi3": ("<|end|>",),
}
_CONTROL = re.compile(r"<[|｜][^<>\s'\"]{1,40}[|｜]>|<[|｜]?[a-z_]+[|]>|<\|[a-z_]+>|</?s>|<bos>|<start_of_turn>|"
                      r"<end_of_turn>|<end_of_utterance>|\[gMASK\]|<sop>")
REFUSED = {"deepseek_r1_distill": "prompt_opens_thinking", "deepseek_r1_distill_training": "prompt_opens_thinking",
           "deepseekv3": "prompt_opens_thinking", "deepseekv3_training": "prompt_opens_thinking"}
"""What cannot be exact: the server's prompt opens a thought that no recorded answer closes."""


def stops_of(name: str) -> tuple[str, ...]:
    return next((s for start, s in _STOPS.items() if name.startswith(start)), ("<|im_end|>",))


def control_tokens_of(template: str) -> list[str]:
    """The control tokens that a template writes, in order."""
    return list(dict.fromkeys(_CONTROL.findall(template)))
