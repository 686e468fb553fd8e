"""Which sessions begin with a step: asked for every session that only its content names, so found by an index."""

from __future__ import annotations

import msgspec

from core.store.sqlite import Connection

_FIRST = 64
"""The first step is among so many events of a session."""

_ITEM = "instr(body, CAST('\"item\":\"' AS BLOB)) + 8"
_OF_ITEM = f"substr(body, {_ITEM}, instr(substr(body, {_ITEM}), CAST('\"' AS BLOB)) - 1)"
_OF_BODY = "substr(body, instr(body, CAST('\"body\":\"' AS BLOB)) + 8, 64)"
"""As the indexes `event_of_first_item` and `event_of_first_body` have them (`core.store.schema`)."""


def begun_with(conn: Connection, after: str, before: str, item: str, body: str, most: int) -> list[str]:
    """Some sessions, of those whose names lie between two, whose first step is told with this id of its message, or
    with this body where it has none; in the order of their names."""
    mark = f'"item":{msgspec.json.encode(item).decode()}' if item else f'"body":"{body}"'
    key = mark.encode()[8:].partition(b'"')[0]
    index, value = ("event_of_first_item", _OF_ITEM) if item else ("event_of_first_body", _OF_BODY)
    sql = (f"SELECT session FROM event INDEXED BY {index} WHERE kind = 'step_added' AND step = 1 AND {value} = ?1 "
           "AND session > ?2 AND session < ?3 AND seq <= ?4 AND instr(body, ?5) LIMIT ?6")
    rows = conn.execute(sql, (key, after, before, _FIRST, mark.encode(), most)).fetchall()
    return list(dict.fromkeys(name for (name,) in rows))
