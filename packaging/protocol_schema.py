"""Writes docs/protocol.schema.json: the JSON Schema (2020-12) of every message, operation and event, from their types.
`--check` says whether it is up to date."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import msgspec

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from core.domain import events  # noqa: E402
from core.domain.step import StepBody  # noqa: E402
from core.protocol.messages import FromServer, ToServer  # noqa: E402
from core.protocol.operations import AnyOp  # noqa: E402

PAGE = ROOT / "docs" / "protocol.schema.json"
ABOUT = ("What an end of the protocol may send, and what events and the bodies of steps hold; docs/protocol.md tells "
         "how they are used. Fields that are not known are to be ignored.")


def schema() -> dict[str, Any]:
    """One document: `to_server`, `from_server`, `operation`, `event`, `step_body`, and every type below `$defs`."""
    asked = {"to_server": ToServer, "from_server": FromServer, "operation": AnyOp, "event": events.Event,
             "step_body": StepBody}
    facts = list(events.FACT_KINDS.values())
    found, defs = msgspec.json.schema_components([*asked.values(), *facts], ref_template="#/$defs/{name}")
    defs["Fact"] = {"anyOf": found[len(asked):], "description": defs["Fact"].get("description", "")}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Tiphys, protocol 1",
            "description": ABOUT, "properties": dict(zip(asked, found, strict=False)),
            "$defs": dict(sorted(defs.items()))}


def text() -> str:
    """What the file should hold."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"


def main() -> int:
    """Write the file, or say that it is stale."""
    if "--check" not in sys.argv:
        PAGE.write_text(text(), encoding="utf-8")
        return 0
    stale = not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text()
    if stale:
        sys.stderr.write(f"{PAGE.relative_to(ROOT)} is stale: run packaging/protocol_schema.py\n")
    return int(stale)


if __name__ == "__main__":
    sys.exit(main())
