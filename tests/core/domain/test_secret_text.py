"""What looks like a secret: found in the forms of 19 makers, and not in ordinary text."""

from __future__ import annotations

import pytest
from support.imported import bodies
from support.real_data import real
from support.secret_kinds import secrets

from core.domain.errors import ReportableError
from core.domain.secret_text import find_secrets, hint
from core.formats import registry


def found(secret: str, text: str) -> bool:
    """Whether the whole secret would be taken out."""
    at = text.index(secret)
    return any(f.start <= at and f.end >= at + len(secret) for f in find_secrets(text))


@pytest.mark.parametrize("kind", secrets(each=1))
def test_a_made_up_key_of_each_kind_is_found_whole(kind):
    hits = [found(secret, text) for secret, text in secrets(seed=1)[kind]]
    assert sum(hits) >= 19, f"{sum(hits)} of {len(hits)}"


@pytest.mark.parametrize("text", [
    "sk-your-key-here-xxxxxxxxxxxxxxxx", "export OPENAI_API_KEY=$KEY", "password = os.environ['DB_PASSWORD']",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8", "https://user:password@example.org",
    "550e8400-e29b-41d4-a716-446655440000", "AKIAIOSFODNN7EXAMPLE", "risk-adjusted-returns-of-portfolios-2024",
    "task-sk-learn-pipeline-grid-search-cv", "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
])
def test_what_only_looks_so_is_left_alone(text):
    assert list(find_secrets(text)) == []


def test_real_observations_hold_next_to_no_false_find():
    texts = []
    for path in sorted(p for p in real(".").rglob("*") if p.is_file()):
        try:
            texts += [o.output.text for s in registry.read(path) for b in bodies(s) for o in b.observations]
        except ReportableError:
            continue
    every = [f for t in texts for f in find_secrets(t)]
    assert sum(map(len, texts)) > 400_000 and len(every) <= 3, [f.kind for f in every]


def test_a_report_shows_a_secrets_beginning_and_length_only():
    assert hint("sk-abcdefgh") == "sk-a… (11 characters)"


def test_a_place_that_several_forms_fit_is_found_once_as_the_first_of_them():
    key = "sk-proj-" + "aB3dE5gH7jK9" * 3
    text = f"api_key={key} and https://me:{key}@host.example/"
    assert [(f.kind, text[f.start : f.end]) for f in find_secrets(text)] == [("openai_key", key)] * 2
