"""What a secret looks like: keys and tokens of well-known makers, private keys, passwords given by name.

The patterns are our own, from the makers' published forms. They find what has a form; a value without one is found
only where a person names it exactly.
"""

import re
from collections.abc import Iterator

import msgspec


class SecretKind(msgspec.Struct, frozen=True):
    """A form of secrets; group 1 of `pattern`, where there is one, is the secret itself."""

    name: str
    pattern: re.Pattern[str]
    marks: frozenset[bytes]
    """In small letters: a text that holds none of them holds no secret of this kind; most texts are known by that."""


class SecretSpan(msgspec.Struct, frozen=True, order=True):
    """A secret at start..end of a text."""

    start: int
    end: int
    kind: str


def _kind(name: str, pattern: str, *marks: str) -> SecretKind:
    return SecretKind(name, re.compile(pattern), frozenset(mark.encode() for mark in marks))


def small_letters(text: str) -> bytes:
    """A text's bytes with its letters of ASCII small, to look for words in it: where a text has others too, its own
    small letters cost four times as much. What ignores case takes U+212A for a k."""
    whole = text if text.isascii() else text.replace("\u212a", "k")
    return whole.encode("utf-8", "surrogatepass").lower()


_DASH = "-(?:(?<=sk-)|(?<=glpat-)|(?<=pypi-))"
_LINE = ("_(?:(?<=hf_)|(?<=npm_)|(?<=wandb_)|(?<=api_org_)|(?<=gh[pousr]_)|(?<=github_pat_)|(?<=k_live_)|"
         "(?<=k_test_))")
_Z = "z(?:(?<=aiz)a|(?<=authoriz)ation)"
_KEY = "key(?:(?<=(?:secret|access)key)|(?<=(?:secret|access)[_-]key)|(?<=api[_-]key)|(?<=apikey))"
_TOKEN = "token(?:(?<=accesstoken)|(?<=access[_-]token)|(?<=authtoken)|(?<=auth[_-]token))"
"""Marks of several kinds. A mark begins with letters that are as they are, for these are looked for quickly, and a rare
one for all of its kinds at once, with a look at what stands before it."""

KINDS: tuple[SecretKind, ...] = (
    _kind("private_key",
          r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----)){20,8000}-----END "
          r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----", "private key"),
    _kind("anthropic_key", r"\bsk-ant-[\w-]{20,}", _DASH),
    _kind("openai_key", r"(?<![\w-])sk-(?!ant-)(?=[A-Za-z_-]{0,200}\d)[A-Za-z0-9_-]{20,}", _DASH),
    _kind("huggingface_token", r"\b(?:hf|api_org)_[A-Za-z0-9]{30,}\b", _LINE),
    _kind("github_token", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{40,})\b", _LINE),
    _kind("gitlab_token", r"\bglpat-[\w-]{20,}", _DASH),
    _kind("aws_access_key", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b", "a(?:kia|sia|bia|cca)"),
    _kind("google_api_key", r"\bAIza[\w-]{35}(?![\w-])", _Z),
    _kind("slack_token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}", "xox"),
    _kind("stripe_key", r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}", _LINE),
    _kind("npm_token", r"\bnpm_[A-Za-z0-9]{36}\b", _LINE),
    _kind("pypi_token", r"\bpypi-AgE[\w-]{50,}", _DASH),
    _kind("wandb_key", r"(?i)\bWANDB_API_KEY['\"]?\s*[=:]\s*['\"]?([0-9a-f]{40})\b", _LINE),
    _kind("json_web_token", r"\beyJ[\w-]{10,1000}\.eyJ[\w-]{10,4000}\.[\w-]{10,1000}", "j(?<=eyj)"),
    _kind("bearer_token",
          r"(?i)\bauthorization['\"]?\s*[:=]\s*['\"]?(?:bearer|basic|token)\s+([\w.~+/=-]{16,})", _Z),
    _kind("password_in_address",
          r"\b[a-z][a-z0-9+.-]{2,20}://[^\s:/@'\"]{1,64}:([^\s@/'\"]{6,128})@[\w.-]+", "://"),
    _kind("named_secret",
          r"(?i)(?:^|[\s'\"{,(;])[\w.-]{0,40}(?:api[_-]?key|secret[_-]?key|access[_-]?key|"
          r"auth[_-]?token|access[_-]?token|client[_-]?secret|password|passwd)['\"]?\s*[=:]\s*"
          r"['\"]?((?=[\w.~+/=-]*\d)(?=[\w.~+/=-]*[A-Za-z])[\w.~+/=-]{16,200})",
          _KEY, _TOKEN, "client[_-]?secret", "passw(?:or)?d"),
)
"""In the order of precedence: an earlier kind names a place that several find."""

_MARKS = [(mark, re.compile(mark).search) for mark in dict.fromkeys(m for kind in KINDS for m in sorted(kind.marks))]

_DULL = re.compile(r"x{4,}|\*{3,}|\.{3,}|your|example|placeholder|redacted|changeme|dummy|test[_-]?key|<|"
                   r"os\.environ|getenv|^(?:password|passwd|pass|secret|token)$", re.IGNORECASE)


def find_secrets(text: str) -> Iterator[SecretSpan]:
    """What looks like a secret, without overlaps, in the order of the text."""
    found: list[SecretSpan] = []
    small = small_letters(text)
    held = [mark for mark, search in _MARKS if search(small)]
    for kind in [k for k in KINDS if not k.marks.isdisjoint(held)] if held else ():
        for match in kind.pattern.finditer(text):
            group = 1 if kind.pattern.groups else 0
            start, end = match.span(group)
            if not _DULL.search(match.group(group)) and not any(f.start < end and start < f.end for f in found):
                found.append(SecretSpan(start, end, kind.name))
    yield from sorted(found)


def hint(secret: str) -> str:
    """How a secret may be shown in a report: its first characters and its length."""
    return f"{secret[:4]}… ({len(secret)} characters)"
