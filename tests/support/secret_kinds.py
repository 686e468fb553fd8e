"""Made-up keys in the published forms of their makers, and the lines in which they turn up."""

from __future__ import annotations

import base64
import random
import string

LETTERS = string.ascii_letters + string.digits
_HEX, _UPPER, _BASE32 = "0123456789abcdef", string.ascii_uppercase + string.digits, string.ascii_uppercase + "234567"


def secrets(seed: int = 0, each: int = 20) -> dict[str, list[tuple[str, str]]]:
    """(secret, the text that holds it) by kind: 19 kinds, `each` of every one."""
    rng = random.Random(seed)

    def some(n: int, of: str = LETTERS) -> str:
        return "".join(rng.choices(of, k=n))

    def b64(n: int) -> str:
        return base64.urlsafe_b64encode(rng.randbytes(n)).decode().rstrip("=")

    def pem() -> str:
        body = "\n".join(base64.b64encode(rng.randbytes(48)).decode() for _ in range(8))
        return f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----"

    made = {
        "anthropic": lambda: f"sk-ant-api03-{some(93, LETTERS + '-_')}AA", "openai": lambda: f"sk-proj-{some(48)}",
        "openrouter": lambda: f"sk-or-v1-{some(64, _HEX)}", "sk-hex": lambda: f"sk-{some(32, _HEX)}",
        "huggingface": lambda: f"hf_{some(34, string.ascii_letters)}", "github": lambda: f"ghp_{some(36)}",
        "github-fine": lambda: f"github_pat_{some(22)}_{some(59)}", "gitlab": lambda: f"glpat-{some(20)}",
        "aws-id": lambda: f"AKIA{some(16, _BASE32)}", "aws-secret": lambda: some(40, LETTERS + "/+"),
        "google": lambda: f"AIza{some(35, LETTERS + '-_')}", "npm": lambda: f"npm_{some(36)}",
        "slack": lambda: f"xoxb-{some(12, string.digits)}-{some(12, string.digits)}-{some(24)}",
        "stripe": lambda: f"sk_live_{some(24)}", "pypi": lambda: f"pypi-AgEIcHlwaS5vcmc{b64(60)}",
        "jwt": lambda: f"eyJ{b64(24)}.eyJ{b64(60)}.{b64(32)}", "private-key": pem,
        "url-password": lambda: some(16), "bearer": lambda: b64(30),
    }
    lines = {
        "aws-secret": ("AWS_SECRET_ACCESS_KEY={}", "aws_secret_access_key = {}", '"secret_access_key": "{}"'),
        "url-password": ("postgres://app:{}@db.internal:5432/x", "git clone https://bot:{}@git.example.org/a.git"),
        "bearer": ('curl -H "Authorization: Bearer {}" https://x', "authorization: bearer {}"),
    }
    every = ("export API_TOKEN={}", '{{"token": "{}"}}', "the key is {} and works", "token: {}\n", "{}", "密钥是 {}。")
    told: dict[str, list[tuple[str, str]]] = {}
    for kind, make in made.items():
        told[kind] = []
        for _ in range(each):
            secret = make()
            told[kind].append((secret, rng.choice(lines.get(kind, every)).format(secret)))
    return told
