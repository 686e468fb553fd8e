"""What must not leave with an export: exact values that a person named, what looks like a secret, names in paths.

Nothing of it is ever written; a report says where something was and of what kind. An action out of which a secret was
taken is no longer what the model wrote, so it is not trained. A person's folder gets another name, the same one in the
whole session: such an action still says what the model meant, and is trained.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec

from core.domain.errors import InvalidInput
from core.domain.message import Message
from core.domain.secret_text import SecretSpan, find_secrets, hint
from core.export.options import ExportOptions
from core.export.sample import Sample, SamplePart
from core.export.secret_rules import find_by_rules, read_rules
from core.workers.export import Leak

REDACTED = "[redacted]"
_SHORTEST = 6
_MOST_TEXTS = 10_000
Cleaned = tuple[str, tuple[tuple[str, str], ...], int]
_HOME_FOLDER = re.compile(r"(?P<root>/home/|/Users/|\b[A-Za-z]:(?:\\\\?|/)Users(?:\\\\?|/))"
                          r"(?P<name>[\w.-]{1,64})")
_NOBODY = frozenset({
    "user", "users", "ubuntu", "debian", "runner", "agent", "root", "node", "vscode", "shared", "public", "default",
    "jovyan", "app", "dev", "admin", "username", "you", "yourname", "name", "linuxbrew", "travis", "circleci",
    "sandbox", "coder", "git", "docker", "nobody", "guest", "me", "student"})


class Cleaner:
    """Cleans one session's samples. `leaks` fills while they are cleaned, `renamed` counts folders of people.

    Raises InvalidInput for named values too short to be told apart from ordinary text, and for a file of rules that
    cannot be read.
    """

    def __init__(self, options: ExportOptions) -> None:
        if any(len(s) < _SHORTEST for s in options.secrets):
            raise InvalidInput("secret_too_short", f"A secret has at least {_SHORTEST} characters.")
        self._exact = sorted({f for s in options.secrets for f in _forms(s)}, key=len, reverse=True)
        self._refuses = options.on_secret == "refuse"
        self._scans = options.scan
        self._rules = read_rules(Path(options.secret_rules)) if options.secret_rules else []
        self._names: dict[str, str] = {}
        self._cleaned_texts: dict[str, Cleaned] = {}
        self.leaks: list[Leak] = []
        self.renamed = 0

    def clean(self, sample: Sample) -> Sample:
        """The sample without any of it. Raises InvalidInput (holds_a_secret) where a named value refuses it."""
        found: Counter[tuple[str, str]] = Counter()
        parts = tuple(self._part(p, sample.name, found) for p in sample.parts)
        self.leaks += [Leak(session=sample.session, sample=sample.name, kind=kind, hint=shown, count=count)
                       for (kind, shown), count in sorted(found.items())]
        return msgspec.structs.replace(sample, parts=parts)

    def _part(self, part: SamplePart, name: str, found: Counter[tuple[str, str]]) -> SamplePart:
        before = sum(found.values())
        message = self._message(part.message, name, found)
        if message == part.message:
            return part
        taken = sum(found.values()) > before
        return msgspec.structs.replace(part, message=message, state="changed" if taken and part.trained else part.state)

    def _message(self, message: Message, name: str, found: Counter[tuple[str, str]]) -> Message:
        def clean(text: str) -> str:
            cleaned, kinds, renamed = self._clean_once(text)
            if any(kind == "named_value" for kind, _ in kinds) and self._refuses:
                raise InvalidInput("holds_a_secret", f"The sample {name} holds a value that is to be kept secret.")
            found.update(kinds)
            self.renamed += renamed
            return cleaned

        calls = tuple(msgspec.structs.replace(c, arguments=clean(c.arguments)) for c in message.tool_calls)
        return msgspec.structs.replace(message, content=clean(message.content), tool_calls=calls,
                                       reasoning=clean(message.reasoning))

    def _clean_once(self, text: str) -> Cleaned:
        """What was found in a text, which comes again in every later sample. A plain dict: a cache around a method
        would hold this object in a circle, and with it the session."""
        cleaned = self._cleaned_texts.get(text)
        if cleaned is None:
            if len(self._cleaned_texts) >= _MOST_TEXTS:
                self._cleaned_texts.clear()
            cleaned = self._cleaned_texts[text] = self._clean_text(text)
        return cleaned

    def _clean_text(self, text: str) -> Cleaned:
        """(text without what must not leave, kinds and hints of what was taken out, how many folders were renamed)."""
        kinds: list[tuple[str, str]] = []
        for secret in self._exact:
            kinds += [("named_value", "")] * text.count(secret)
            text = text.replace(secret, REDACTED)
        if not self._scans:
            return text, tuple(kinds), 0
        for one in reversed(self._secrets(text)):
            kinds.append((one.kind, hint(text[one.start : one.end])))
            text = f"{text[: one.start]}{REDACTED}{text[one.end :]}"
        text, renamed = _HOME_FOLDER.subn(self._rename, text)
        return text, tuple(kinds), renamed

    def _secrets(self, text: str) -> list[SecretSpan]:
        """Our own forms first; those of the file where these find nothing."""
        own = list(find_secrets(text))
        more = find_by_rules(text, self._rules)
        return sorted([*own, *(f for f in more if not any(o.start < f.end and f.start < o.end for o in own))])

    def _rename(self, match: re.Match[str]) -> str:
        name = match["name"]
        if name.lower().strip(".") in _NOBODY or not name.strip(".-_"):
            return match.group()
        number = len(self._names) + 1
        return match["root"] + self._names.setdefault(name, "user" if number == 1 else f"user{number}")


def _forms(secret: str) -> Sequence[str]:
    """A value as it may stand in text: plain, and inside JSON."""
    return secret, msgspec.json.encode(secret).decode()[1:-1]
