"""Of which program a saved run is, by the name that it is known by."""

from __future__ import annotations

from app.kit.safe_text import one_line

NAMES = {
    "agent-data-protocol": "Agent Data Protocol", "agentgym": "AgentGym", "archive": "Tiphys", "atif": "ATIF",
    "chatgpt": "ChatGPT", "claude-ai": "Claude.ai", "claude-code": "Claude Code", "cline": "Cline",
    "codex-cli": "Codex CLI", "codex-exec": "Codex exec", "copilot-cli": "Copilot CLI",
    "endless-terminals": "Endless Terminals", "gemini-cli": "Gemini CLI", "goose": "Goose",
    "innovatorbench": "InnovatorBench", "inspect": "Inspect", "kimi-cli": "Kimi CLI", "langfuse": "Langfuse",
    "langsmith": "LangSmith", "mini-swe-agent": "mini-swe-agent", "nebius": "Nebius", "openai-chat": "OpenAI chat",
    "openai-responses": "OpenAI Responses", "opencode": "opencode", "openhands": "OpenHands",
    "openhands-output": "OpenHands", "openhands-sdk": "OpenHands SDK", "otel": "OpenTelemetry",
    "qwen-code": "Qwen Code", "sharegpt": "ShareGPT", "swe-agent": "SWE-agent", "tau2-bench": "tau2-bench",
    "terminal-bench": "terminal-bench"}
"""The names of formats; nobody translates them."""


def origin_name(origin: str) -> str:
    """What the head of a run and its row in a list say of where it is from; "" for a session of ours."""
    return "" if origin == "live" else NAMES.get(origin) or one_line(origin, 24)
