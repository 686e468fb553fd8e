"""Where a saved run is from is said by the name that its program is known by."""

from app.desk.session_words import origin_name
from core.formats import registry
from core.formats.tools import program_of


def test_every_format_has_the_name_of_its_program() -> None:
    assert [one.name for one in registry.formats() if not program_of(one.name)] == []
    assert [origin_name(name) for name in ("claude-code", "live", "my-own", "../common", "common")] == [
        "Claude Code", "", "my-own", "../common", "common"]
