"""A call of one of OpenHands' skills that was typed as Python, as the call that it is: `open_file('a.py', 12)`.

The code is parsed and never run; what is no single call with plain values stays the Python that it is.
Names and parameters: openhands/runtime/plugins/agent_skills of OpenHands 0.x.
"""

import ast
import re

import msgspec

from core.domain.step import Action

_MOST = 200_000
"""Characters of code that are parsed."""

_SKILLS = {
    "append_file": ("path", "text"),
    "create_file": ("path",),
    "edit_file_by_replace": ("path", "old_str", "new_str"),
    "find_file": ("file_name", "dir"),
    "goto_line": ("line",),
    "insert_content_at_line": ("path", "line", "text"),
    "open_file": ("path", "line"),
    "scroll_down": (),
    "scroll_up": (),
    "search_dir": ("search_term", "dir"),
    "search_file": ("search_term", "file"),
}
_NAMES = {"file_name": "path", "filename": "path", "to_replace": "old_str", "new_content": "new_str", "content": "text",
          "line_number": "line", "dir_path": "dir", "file_path": "file"}
"""What the skills call their parameters, and what editors do."""

_CALL = re.compile(rf"\s*({'|'.join(_SKILLS)})\(")


def unwrapped(action: Action) -> Action:
    """The skill's call where the action's code is nothing else; otherwise the action itself."""
    code = action.arguments.get("code")
    if not isinstance(code, str) or len(code) > _MOST or _CALL.match(code) is None:
        return action
    try:
        parsed = ast.parse(code.strip(), mode="eval").body
        if not isinstance(parsed, ast.Call) or not isinstance(parsed.func, ast.Name):
            return action
        name, skill = parsed.func.id, _SKILLS[parsed.func.id]
        given = dict(zip(skill, map(ast.literal_eval, parsed.args), strict=False))
        named = {word.arg or "": ast.literal_eval(word.value) for word in parsed.keywords}
    except (SyntaxError, ValueError, TypeError, KeyError, RecursionError, MemoryError):
        return action
    return msgspec.structs.replace(action, tool=name, arguments=given | {
        key if name == "find_file" else _NAMES.get(key, key): value for key, value in named.items()})
