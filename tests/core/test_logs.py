"""Logging: a record tells where it belongs, and no secret reaches a file."""

import base64
import json
import logging
import random
import stat
import urllib.parse
from logging.handlers import RotatingFileHandler

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import logs
from core.logs import HIDDEN, Redactor

SECRET = 'p@ss "word"/+=中'
LOOKALIKES = (
    "tph_" + "a" * 43, "sk-proj-" + "a1B2" * 8, "sk-ant-api03-" + "x" * 40, "hf_" + "a" * 34, "ghp_" + "a" * 36,
    "github_pat_" + "a" * 60, "glpat-" + "a" * 20, "xoxb-1234567890-abcdef", "AIza" + "b" * 35, "AKIA" + "A" * 16,
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijklmnop",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
)


@pytest.fixture
def log_file(tmp_path):
    logs.set_up("test", tmp_path / "logs", verbose=True)
    yield tmp_path / "logs" / "test.log"
    logs.set_up("test", console=False)


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_record_carries_topic_level_program_and_time(log_file):
    logging.getLogger("agent").info("went %s", "on")
    logging.getLogger("wire").debug("more")
    first, second = lines(log_file)
    assert (first["topic"], first["message"], second["level"]) == ("agent", "went on", "debug")
    assert first["program"] == "test" and first["level"] == "info" and first["at"].endswith("+00:00")


def test_files_are_private_and_rotation_keeps_them_so(log_file, monkeypatch):
    handler = next(h for h in logging.getLogger().handlers if isinstance(h, logging.FileHandler)
                   and getattr(h, "is_ours", False))
    handler.maxBytes = 500
    for number in range(50):
        logging.getLogger("store").info("line %d %s", number, "x" * 50)
    files = sorted(log_file.parent.iterdir())
    assert len(files) == 5
    assert {stat.S_IMODE(f.stat().st_mode) for f in files} == {0o600}
    assert stat.S_IMODE(log_file.parent.stat().st_mode) == 0o700


def test_secrets_reach_neither_file_nor_console(log_file, capsys, monkeypatch):
    monkeypatch.setattr(logs, "redactor", Redactor())
    logs.redactor.add("hunter2-hunter2")
    try:
        raise ValueError("bad key hunter2-hunter2")
    except ValueError:
        logging.getLogger("agent").exception("with token %s", LOOKALIKES[0])
    logs.set_up("test")
    logging.getLogger("agent").warning("again hunter2-hunter2")
    told = log_file.read_text() + capsys.readouterr().err
    assert "hunter2" not in told and "tph_a" not in told
    assert told.count(HIDDEN) >= 3 and "ValueError" in told


def test_only_what_is_ours_is_chatty(log_file):
    """A library's debug records hold whatever it carries."""
    for topic in ("asyncio", "urllib3", "some.library"):
        logging.getLogger(topic).info("a library's remark")
        logging.getLogger(topic).warning("a library's warning")
    logging.getLogger("agent").info("a remark of ours")
    told = log_file.read_text()
    assert told.count("a library's warning") == 3 and told.count("a remark of ours") == 1
    assert "a library's remark" not in told


def test_text_that_is_no_unicode_is_logged_all_the_same(log_file):
    # Straight to our handler: pytest's own would carry the half character into its report, where it cannot be sent.
    record = logging.LogRecord("agent", logging.INFO, "", 0, "half a character: %s", ("\ud83d",), None)
    [own] = [h for h in logging.getLogger().handlers if isinstance(h, RotatingFileHandler)]
    own.handle(record)
    assert "half a character" in log_file.read_text() and "\\ud83d" in log_file.read_text()


def test_foreign_control_characters_are_shown_on_the_console(capsys):
    record = logging.LogRecord("agent", logging.WARNING, "", 0, "title \x1b]0;owned\x07 \x9b2J", (), None)
    told = logs.PlainFormatter().format(record)
    assert "\x1b" not in told and "\x07" not in told and "\x9b" not in told and "\\x1b]0;owned" in told


@pytest.mark.parametrize("key", LOOKALIKES)
def test_what_looks_like_a_key_is_hidden(key):
    told = Redactor().redact(f"x='{key}' and more")
    assert key not in told and told.startswith("x='") and told.endswith("' and more")


def test_headers_and_addresses_lose_their_credentials_only():
    redact = Redactor().redact
    assert redact("Authorization: Bearer abcdefghijklmnop123") == f"Authorization: Bearer {HIDDEN}"
    assert redact("postgres://bob:secret@db/x") == f"postgres://{HIDDEN}@db/x"
    for harmless in ("task-sk-1", "https://example.org/a?b=c", "skill sk-1", "commit 3f58e7d", "a@b.example:80"):
        assert redact(harmless) == harmless


def test_a_known_value_is_hidden_in_every_spelling():
    redactor = Redactor()
    redactor.add(SECRET)
    raw = SECRET.encode()
    spellings = [SECRET, json.dumps(SECRET), json.dumps(SECRET, ensure_ascii=False)]
    spellings += [urllib.parse.quote(SECRET, safe=""), raw.hex(), raw.hex().upper()]
    spellings += [base64.b64encode(b"x" * n + raw + b"y" * m).decode() for n in range(4) for m in range(4)]
    for text in spellings:
        assert HIDDEN in redactor.redact_exact(f"<{text}>"), text


@given(st.text(min_size=6, max_size=40), st.binary(max_size=9), st.binary(max_size=9))
def test_any_value_is_hidden_inside_base64(secret, before, after):
    redactor = Redactor()
    redactor.add(secret)
    whole = base64.b64encode(before + secret.encode() + after).decode()
    assert HIDDEN in redactor.redact_exact(whole)


def test_bytes_keep_their_length():
    redactor = Redactor()
    assert redactor.star_out(b"anything") == b"anything"
    redactor.add(SECRET)
    data = b"\xff\x1b[0m" + SECRET.encode() + b"|" + json.dumps(SECRET, ensure_ascii=False).encode() + b"\x00"
    told = redactor.star_out(data)
    assert len(told) == len(data) and b"word" not in told and told.startswith(b"\xff\x1b[0m***") and told[-1:] == b"\0"


def test_short_values_are_left_alone_and_text_without_secrets_is_unchanged():
    redactor = Redactor()
    redactor.add("abc")
    text = "".join(random.Random(1).choices("abc xyz\n", k=500))
    assert redactor.redact(text) == text
