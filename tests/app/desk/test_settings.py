"""Settings: sparse, validated, atomic; what this version does not know is kept and reported."""

from __future__ import annotations

import tomllib

import pytest

from app.desk.settings import SETTINGS, Settings, to_toml


@pytest.fixture
def path(tmp_path):
    return tmp_path / "settings.toml"


def test_only_what_differs_is_stored(path):
    settings = Settings(path)
    settings.set("appearance.colours", "dark")
    assert tomllib.loads(path.read_text()) == {"appearance": {"colours": "dark"}}
    settings.set("appearance.colours", "system")
    assert tomllib.loads(path.read_text()) == {}
    assert Settings(path).get("appearance.colours") == "system"


def test_a_change_is_told_once(path, qtbot):
    settings = Settings(path)
    with qtbot.waitSignal(settings.changed) as change:
        settings.set("appearance.text_size", 12.5)
    assert change.args == ["appearance.text_size"]
    with qtbot.assertNotEmitted(settings.changed):
        settings.set("appearance.text_size", 12.5)


@pytest.mark.parametrize(("key", "value"), [
    ("appearance.colours", "pink"), ("appearance.text_size", 200.0), ("appearance.text_size", "big"),
    ("trajectory.fold_waiting", 1)])
def test_wrong_values_are_refused(path, key, value):
    with pytest.raises(ValueError, match=key):
        Settings(path).set(key, value)


def test_unknown_entries_are_kept_and_reported(path):
    path.write_text('[future]\nthing = "x\\"y"\n[appearance]\ncolours = "pink"\ntext_size = 11\n')
    settings = Settings(path)
    assert len(settings.problems) == 2
    assert settings.get("appearance.text_size") == 11.0
    settings.set("trajectory.fold_waiting", False)
    assert tomllib.loads(path.read_text())["future"] == {"thing": 'x"y'}


def test_an_unknown_entry_gives_way_where_a_setting_must_stand(path):
    path.write_text('review = "of another version"\nother = 1\n')
    settings = Settings(path)
    settings.set("review.blind", True)
    assert tomllib.loads(path.read_text()) == {"review": {"blind": True}, "other": 1}
    assert Settings(path).get("review.blind") is True


def test_a_setting_of_an_earlier_name_is_taken_over(path):
    path.write_text('[keys.session]\nkeep_here = "Ctrl+Alt+K"\n')
    settings = Settings(path)
    assert settings.text("keys.session.store_offline") == "Ctrl+Alt+K" and not settings.problems
    settings.set("review.blind", True)
    assert tomllib.loads(path.read_text())["keys"] == {"session": {"store_offline": "Ctrl+Alt+K"}}


def test_the_setting_of_today_counts_before_its_earlier_name(path):
    path.write_text('[keys.session]\nkeep_here = "Ctrl+Alt+K"\nstore_offline = "Ctrl+Alt+L"\n')
    settings = Settings(path)
    assert settings.text("keys.session.store_offline") == "Ctrl+Alt+L" and not settings.problems


def test_a_broken_file_is_reported_and_left_alone(path):
    path.write_text("not = [toml")
    settings = Settings(path)
    assert settings.problems
    assert path.read_text() == "not = [toml"


def test_toml_round_trip():
    values = {"a.b": 'quote " back \\ new\nline 中文', "a.c": True, "a.d": 1.5, "e.f": 3}
    table = tomllib.loads(to_toml(values))
    assert table == {"a": {"b": values["a.b"], "c": True, "d": 1.5}, "e": {"f": 3}}


def test_the_table_is_sound():
    assert len({s.key for s in SETTINGS}) == len(SETTINGS)
    for setting in SETTINGS:
        assert setting.accepts(setting.default), setting.key
        assert "." in setting.key
