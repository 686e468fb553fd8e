"""What a secret looks like: keys and tokens of well-known makers, private keys, passwords given by name.

The patterns are our own, from the makers' published forms. They find what has a form; a value without one is found
only where a person names it exactly.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec


class SecretKind(msgspec.Struct, frozen=True):
    """A form of secrets; group 1 of `pattern`, where there is one, is the secret itself."""

    name: str
    pattern: re.Pattern[str]
    marks: tuple[str, ...]
    """In small letters: a text that holds none of them holds no secret of this kind; most texts are known by that."""
    core: re.Pattern[str] | None = None
    """What the small letters must hold too, where the marks are common words and `pattern` is slow."""

    def may_be_in(self, small: str) -> bool:
        """Whether a text, in small letters, may hold one."""
        for mark in self.marks:  # a loop: it is done for every kind and text, and a generator costs as much again
            if mark in small:
                return self.core is None or self.core.search(small) is not None
        return False


class SecretSpan(msgspec.Struct, frozen=True, order=True):
    """A secret at start..end of a text."""

    start: int
    end: int
    kind: str


def _kind(name: str, marks: str, pattern: str, core: str = "") -> SecretKind:
    return SecretKind(name, re.compile(pattern), tuple(marks.split("|")), re.compile(core) if core else None)


KINDS: tuple[SecretKind, ...] = (
    _kind("private_key", "private key",
          r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----)){20,8000}-----END "
          r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"),
    _kind("anthropic_key", "sk-ant-", r"\bsk-ant-[\w-]{20,}"),
    _kind("openai_key", "sk-", r"(?<![\w-])sk-(?!ant-)(?=[A-Za-z_-]{0,200}\d)[A-Za-z0-9_-]{20,}"),
    _kind("huggingface_token", "hf_|api_org_", r"\b(?:hf|api_org)_[A-Za-z0-9]{30,}\b"),
    _kind("github_token", "ghp_|gho_|ghu_|ghs_|ghr_|github_pat_",
          r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{40,})\b"),
    _kind("gitlab_token", "glpat-", r"\bglpat-[\w-]{20,}"),
    _kind("aws_access_key", "akia|asia|abia|acca", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b"),
    _kind("google_api_key", "aiza", r"\bAIza[\w-]{35}(?![\w-])"),
    _kind("slack_token", "xox", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    _kind("stripe_key", "k_live_|k_test_", r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    _kind("npm_token", "npm_", r"\bnpm_[A-Za-z0-9]{36}\b"),
    _kind("pypi_token", "pypi-age", r"\bpypi-AgE[\w-]{50,}"),
    _kind("wandb_key", "wandb_api_key", r"(?i)\bWANDB_API_KEY['\"]?\s*[=:]\s*['\"]?([0-9a-f]{40})\b"),
    _kind("json_web_token", "eyj", r"\beyJ[\w-]{10,1000}\.eyJ[\w-]{10,4000}\.[\w-]{10,1000}"),
    _kind("bearer_token", "authorization",
          r"(?i)\bauthorization['\"]?\s*[:=]\s*['\"]?(?:bearer|basic|token)\s+([\w.~+/=-]{16,})"),
    _kind("password_in_address", "://", r"\b[a-z][a-z0-9+.-]{2,20}://[^\s:/@'\"]{1,64}:([^\s@/'\"]{6,128})@[\w.-]+"),
    _kind("named_secret", "key|token|secret|passw",
          r"(?i)(?:^|[\s'\"{,(;])[\w.-]{0,40}(?:api[_-]?key|secret[_-]?key|access[_-]?key|"
          r"auth[_-]?token|access[_-]?token|client[_-]?secret|password|passwd)['\"]?\s*[=:]\s*"
          r"['\"]?((?=[\w.~+/=-]*\d)(?=[\w.~+/=-]*[A-Za-z])[\w.~+/=-]{16,200})",
          r"(?:api|secret|access)[_-]?key|(?:auth|access)[_-]?token|client[_-]?secret|passw(?:or)?d"),
)
"""In the order of precedence: an earlier kind names a place that several find."""

_DULL = re.compile(r"x{4,}|\*{3,}|\.{3,}|your|example|placeholder|redacted|changeme|dummy|test[_-]?key|<|"
                   r"os\.environ|getenv|^(?:password|passwd|pass|secret|token)$", re.IGNORECASE)


def find_secrets(text: str) -> Iterator[SecretSpan]:
    """What looks like a secret, without overlaps, in the order of the text."""
    found: list[SecretSpan] = []
    small = text.lower()
    for kind in (k for k in KINDS if k.may_be_in(small)):
        for match in kind.pattern.finditer(text):
            group = 1 if kind.pattern.groups else 0
            start, end = match.span(group)
            if not _DULL.search(match.group(group)) and not any(f.start < end and start < f.end for f in found):
                found.append(SecretSpan(start, end, kind.name))
    yield from sorted(found)


def hint(secret: str) -> str:
    """How a secret may be shown in a report: its first characters and its length."""
    return f"{secret[:4]}… ({len(secret)} characters)"
