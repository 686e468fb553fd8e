"""Arguments that cannot be meant: each is refused with one sentence and exit status 2, and nothing has happened."""

import itertools
import json

import click
import pytest

from core.cli.root import root
from core.domain.errors import InvalidInput, Unavailable
from core.domain.session_query import SessionQuery
from core.training.settings import read_settings

NO_NUMBERS = ("nan", "NaN", "inf", "-inf", "infinity", "1e400", "-1e400")


def _commands(command, context):
    yield command
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            yield from _commands(command.get_command(context, name), context)


def _numbers():
    """Every number that some command takes: (parameter, type, context)."""
    context = click.Context(root)
    for command in _commands(root, context):
        for parameter in command.params:
            kinds = parameter.type.types if isinstance(parameter.type, click.Tuple) else [parameter.type]
            yield from ((parameter, kind, context) for kind in kinds
                        if isinstance(kind, click.types.FloatParamType | click.types.IntParamType))


NUMBERS = list(_numbers())


def _refused(kind, text, parameter, context) -> bool:
    try:
        kind.convert(text, parameter, context)
    except click.BadParameter as error:
        return "\n" not in error.format_message()
    return False


def test_no_option_takes_what_is_no_finite_number() -> None:
    names = {parameter.name for parameter, *_ in NUMBERS}
    assert {"days", "idle", "quiet_after", "max_score", "prices", "temperature", "cpus", "hours"} <= names
    taken = [(parameter.name, text) for (parameter, kind, context), text in itertools.product(NUMBERS, NO_NUMBERS)
             if not _refused(kind, text, parameter, context)]
    assert taken == []


def test_every_number_has_bounds_on_both_sides() -> None:
    taken = [(parameter.name, text) for (parameter, kind, context), text in
             itertools.product(NUMBERS, ("-1e200", "1e200", str(-10**30), str(10**30), "9" * 5000))
             if not _refused(kind, text, parameter, context)]
    assert taken == []


@pytest.mark.parametrize("words", [
    "account expire ann --days nan", "account invite ann --days nan", "image prune --days nan --dry-run",
    "judge SESSION --temperature nan --estimate", "judge SESSION --max-score nan --estimate",
    "judge SESSION --prices nan inf --estimate --json", "import FOLDER --follow --quiet-after nan",
    "take-over SESSION --idle nan", "queue make Q --filter steps>nan", "queue make Q --filter is:odd",
    "queue make Q --filter -cost<1e400",
])
def test_a_number_that_is_none_is_refused_by_the_command(tiphys, imported, tmp_path, words) -> None:
    ran = tiphys(*words.replace("SESSION", imported).replace("FOLDER", str(tmp_path)).split(" "))
    assert ran.status == 2
    assert ran.out == ""
    assert ran.err.count("\n") == 1
    assert "[usage]" in ran.err or '"usage"' in ran.err
    assert any(word in ran.err for word in ("nan", "is:odd", "1e400")), "it names what was wrong"


@pytest.mark.parametrize("pair", ["clip=inf", "weight_decay=nan", "memory_gb=inf", "epochs=nan"])
def test_a_training_setting_is_finite(pair) -> None:
    name, _, value = pair.partition("=")
    with pytest.raises(InvalidInput, match=name) as refused:
        read_settings({"data": "d", "model": "m", "out": "o", name: value})
    assert refused.value.code == "bad_settings"


def test_words_of_a_filter_are_no_wrong_terms() -> None:
    assert SessionQuery("steps>nan sum.py is:new").not_understood == ("steps>nan",)
    plain = SessionQuery('steps>20 -is:live judged<50% score:none "two words" is this: a>b cost<0.5')
    assert plain.not_understood == ()


@pytest.mark.parametrize("words", [
    "export SESSION --to archive --out FILE", "export SESSION --to html --out FILE",
    "export SESSION --to chat --out FILE",
    "export SESSION --to verl --out FILE", "export SESSION --to archive --out FILE/x",
    "export SESSION --to html --out FILE/x/y.html", "export SESSION --to chat --out FILE/x",
    "train FOLDER --out FILE --device cpu", "train FOLDER --out FILE/x --device cpu", "rl bandit --out FILE/x",
    "train FOLDER --out /dev/null", "rl bandit --out /dev/full", "archive SESSION --to /dev/null",
    "archive SESSION --to FILE/x", "backup FILE/x", "tasks generate --count 1 --out FILE/x",
    "account invite bob --file FILE/x",
])
def test_a_file_where_a_folder_is_to_be_is_named(tiphys, imported, tmp_path, words) -> None:
    file = tmp_path / "a file"
    file.write_text("mine")
    filled = [word.replace("SESSION", imported).replace("FOLDER", str(tmp_path)).replace("FILE", str(file))
              for word in words.split(" ")]
    ran = tiphys(*filled)
    assert ran.status == 2, ran.err
    assert ran.err.count("\n") == 1 and "[usage]" in ran.err
    assert (str(file) if "FILE" in words else "/dev/") in ran.err and "Errno" not in ran.err
    assert file.read_text() == "mine"


def test_a_folder_that_cannot_be_made_is_told_in_words(tiphys, imported, tmp_path) -> None:
    for form in ("archive", "html", "chat"):
        ran = tiphys("export", imported, "--to", form, "--unjudged", "keep", "--out", tmp_path / ("x" * 300))
        assert ran.status == 1
        assert "[folder_unusable]" in ran.err and "Errno" not in ran.err and "File name too long." in ran.err


def test_no_sentence_holds_the_number_of_the_systems_error() -> None:
    error = Unavailable("folder_unusable", f"x cannot be used: {NotADirectoryError(20, 'Not a directory', '/x/y')}")
    assert error.sentence == str(error) == "x cannot be used: Not a directory: '/x/y'"


def test_an_import_of_nothing_says_so(tiphys, tmp_path) -> None:
    (tmp_path / "empty").mkdir()
    ran = tiphys("import", tmp_path / "empty")
    assert (ran.status, ran.out) == (0, "")
    assert ran.err == f"tiphys: Nothing was found to import in {tmp_path / 'empty'}.\n"


@pytest.mark.parametrize("wraps", ["{}", '{{"messages": {}}}', '{{"messages": [], "n": {}'])
def test_a_number_of_any_length_is_read_in_our_own_words(tiphys, tmp_path, wraps) -> None:
    file = tmp_path / "long.json"
    file.write_text(wraps.format("7" * 5000))
    ran = tiphys("import", file)
    assert ran.status == 2
    assert "set_int_max_str_digits" not in ran.err
    assert "Exceeds" not in ran.err


def test_a_number_of_any_length_costs_nothing_else(tiphys, tmp_path) -> None:
    messages = [{"role": "user", "content": "Count."}, {"role": "assistant", "content": "Seven."}]
    file = tmp_path / "long.json"
    file.write_text(json.dumps({"messages": messages, "n": 0}).replace(': 0}', f': {"7" * 5000}}}'))
    ran = tiphys("import", file, "--json")
    assert ran.status == 0, ran.err
    assert ran.one["steps"] == 1
