"""Foreign text on its way into a context: no tag or mark inside it can pass for a person, the task or ourselves.

What a tool printed stays as it was in the record; only what a model is shown is made neutral. Marks are found
behind capitals, spaces and characters without a shape, too: a model reads over these.
"""

import re

_HIDDEN = ("\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
           "\ufe00-\ufe0f\ufeff")
_SHAPELESS, _GAP = f"[{_HIDDEN}]*", f"[\\s{_HIDDEN}]"
_TAGS = ("real_user", "task_description", "summary_request")


def _spelled(name: str) -> str:
    return _SHAPELESS.join(map(re.escape, name))


_NAMES = "|".join(map(_spelled, _TAGS))
_TAG = re.compile(f"[<\uff1c\ufe64](?={_GAP}*+/?{_GAP}*+(?:{_NAMES}){_SHAPELESS}(?!\\w))", re.IGNORECASE)
_BORDER = f"(?:{_spelled('start')}|{_spelled('end')}){_GAP}+{_spelled('of')}{_GAP}+{_spelled('turn')}"
_MARK = re.compile(f"[\\[\uff3b](?={_GAP}*+{_BORDER})", re.IGNORECASE)


def neutral(text: str) -> str:
    """Foreign text in which no tag can pass for advice of a person, the task, or a request of ours."""
    return _TAG.sub("&lt;", text)


def marked(name: str, text: str) -> str:
    """A text between marks of that name which it cannot close itself."""
    return f"<{name}>\n{re.sub(rf'</?{name}>', '', text, flags=re.IGNORECASE)}\n</{name}>"


def without_marks(text: str) -> str:
    """Text in which nothing can pass for the border of a turn, as a judge is shown them."""
    return _MARK.sub("(", text)
