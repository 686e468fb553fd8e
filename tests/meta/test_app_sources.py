"""Rules for the desktop's source that no linter knows (style study §2.5, §2.11, §2.12, §3)."""

from __future__ import annotations

import ast
import functools
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec
import pytest
from PySide6 import QtWidgets
from support.sources import syntax

from core.domain.attention import Thresholds

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging"))

import translations  # noqa: E402

FILES = sorted((ROOT / "app").rglob("*.py"))


def defines_a_widget(file: Path) -> bool:
    """Whether a class of the module derives from one of Qt's widgets, delegates or layouts by name."""
    bases = {ast.unparse(b) for n in ast.walk(syntax(file))
             if isinstance(n, ast.ClassDef) for b in n.bases}
    return any(hasattr(QtWidgets, b) for b in bases)


VIEWS = [f for f in FILES if defines_a_widget(f) and f.name != "window.py"]


@functools.cache
def calls(file: Path) -> list[ast.Call]:
    return [node for node in ast.walk(syntax(file)) if isinstance(node, ast.Call)]


@functools.cache
def dotted(node: ast.expr) -> str:
    return ast.unparse(node)


def offences(found: Callable[[Path], list[str]], files: Iterable[Path] = FILES, but: Sequence[str] = ()
             ) -> dict[str, list[str]]:
    """What is found in files, by their names, where anything is."""
    return {name: bad for file in files if (name := file.relative_to(ROOT).as_posix()) not in but
            and (bad := found(file))}


def test_no_modal_loop():
    statics = ("QMessageBox.question", "QMessageBox.information", "QMessageBox.warning", "QMessageBox.critical",
               "QMessageBox.about", "QFileDialog.getOpen", "QFileDialog.getSave", "QFileDialog.getExisting",
               "QInputDialog.get", "QColorDialog.get", "QFontDialog.get")
    assert offences(lambda file: [f for c in calls(file) if (f := dotted(c.func)).endswith((".exec", ".exec_"))
                                  or f.startswith(statics)]) == {}


def test_no_nested_event_processing():
    assert offences(lambda file: [f for c in calls(file) if (f := dotted(c.func)).endswith("processEvents")],
                    but=["app/window/screenshots.py"]) == {}


def test_no_coroutine_of_a_test_processes_events_but_by_settle():
    """A task that begins within another is lost, and what it was to do is waited for in vain."""
    found = [f"{path.name}:{call.lineno}" for path in (ROOT / "tests" / "app").rglob("*.py")
             for made in ast.walk(syntax(path)) if isinstance(made, ast.AsyncFunctionDef)
             for call in ast.walk(made) if isinstance(call, ast.Call) and dotted(call.func).endswith("processEvents")]
    assert found == []


def test_colours_come_from_the_theme():
    def found(file: Path) -> list[str]:
        made = [dotted(c) for c in calls(file) if dotted(c.func) in ("QColor", "QtGui.QColor") and c.args]
        return [*re.findall(r"[\"']#[0-9a-fA-F]{3,8}[\"']", file.read_text(encoding="utf-8")),
                *(m for m in made if re.search(r"\d", m) or '"' in m or "'" in m)]

    assert offences(found, but=["app/kit/tokens.py", "app/kit/theme.py"]) == {}


def test_no_f_string_is_translated():
    assert offences(lambda file: [dotted(c) for c in calls(file) if dotted(c.func).split(".")[-1] in ("tr", "translate")
                                  and any(isinstance(a, ast.JoinedStr) for a in c.args)]) == {}


def test_no_lambda_keeps_a_widget_alive():
    assert offences(lambda file: [dotted(c) for c in calls(file) if dotted(c.func).endswith(".connect")
                                  and any(isinstance(a, ast.Lambda) for a in c.args)]) == {}


def test_labels_are_plain():
    def found(file: Path) -> list[str]:
        text = file.read_text(encoding="utf-8")
        return [*(f for c in calls(file) if (f := dotted(c.func)) in ("QLabel", "QTextBrowser", "QTextEdit")),
                *re.findall(r"\.setHtml\(|\.appendHtml\(|\.insertHtml\(|RichText|setMarkdown", text)]

    assert offences(found, but=["app/kit/safe_text.py"]) == {}


def test_views_do_no_io_and_start_nothing():
    forbidden = ("asyncio", "core.client", "core.store", "core.aio", "subprocess", "socket", "pathlib", "os")

    def found(file: Path) -> list[str]:
        nodes = list(ast.walk(syntax(file)))
        imported = {a.name for n in nodes if isinstance(n, ast.Import) for a in n.names}
        imported |= {n.module or "" for n in nodes if isinstance(n, ast.ImportFrom)}
        waits = [type(n).__name__ for n in nodes if isinstance(n, ast.AsyncFunctionDef | ast.Await)]
        return [*(i for i in imported if i in forbidden or i.startswith(("core.client.", "core.store."))), *waits]

    assert len(VIEWS) > 50 and offences(found, VIEWS) == {}


def test_the_window_only_frames():
    assert len((ROOT / "app/window/window.py").read_text().splitlines()) <= 200


@pytest.mark.parametrize("language", translations.LANGUAGES)
def test_a_catalogue_is_finished_and_keeps_placeholders(language):
    assert translations.unfinished(translations.FOLDER / f"tiphys_{language}.ts") == []


def test_every_sentence_is_in_the_chinese_catalogue():
    known = {source for _, source, _, _ in translations.messages(translations.FOLDER / "tiphys_zh_CN.ts")}
    missing = []
    for file in FILES:
        for call in calls(file):
            function = dotted(call.func).split(".")[-1]
            place = {"tr": 0, "translate": 1, "QT_TRANSLATE_NOOP": 1}.get(function)
            if place is None or len(call.args) <= place:
                continue
            text = call.args[place]
            if isinstance(text, ast.Constant) and isinstance(text.value, str) and text.value not in known:
                missing.append(f"{file.name}: {text.value[:60]!r}")
    assert missing == []


def test_english_knows_its_plurals():
    chinese = translations.messages(translations.FOLDER / "tiphys_zh_CN.ts")
    english = {(c, s) for c, s, _, _ in translations.messages(translations.FOLDER / "tiphys_en.ts")}
    assert sorted((c, s) for c, s, _, _ in chinese if "(s)" in s and (c, s) not in english) == []


def test_panels_and_actions_are_translated():
    known = {(c, s) for c, s, _, _ in translations.messages(translations.FOLDER / "tiphys_zh_CN.ts")}
    from app.desk.actions import ACTIONS, MENUS
    from app.window.panels import PANELS

    assert {("Actions", e.text) for e in ACTIONS} <= known
    assert {("Actions", title) for _, title in MENUS} <= known
    assert {("Panel", p.title) for p in PANELS} <= known


def test_no_shortcut_is_given_twice():
    from app.desk.actions import ACTIONS

    keys = [key for entry in ACTIONS for key in entry.shortcuts]
    assert sorted({k for k in keys if keys.count(k) > 1}) == []


def unused(keys, sources) -> list[str]:
    """The dotted keys that no source names: neither whole, nor by an f-string of their family in a folder that has the
    name. `sources` are pairs of folder and tree."""
    names, families = defaultdict(set), defaultdict(set)
    for folder, tree in sources:
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                names[folder].add(node.value)
            elif isinstance(node, ast.JoinedStr) and isinstance(first := node.values[0], ast.Constant):
                families[folder].add(first.value)
            elif isinstance(node, ast.Name) and node.id == Thresholds.__name__:
                names[folder] |= {field.name for field in msgspec.structs.fields(Thresholds)}
    return [key for key in keys for family, _, name in [key.partition(".")] if not any(
        key in names[folder] or (f"{family}." in families[folder] and name in names[folder]) for folder in names)]


def test_every_setting_is_read_and_every_command_is_connected():
    from app.desk.actions import ACTIONS
    from app.desk.settings import SETTINGS

    sources = [(f.parent, syntax(f)) for f in FILES if f.name not in ("settings.py", "actions.py")]
    assert unused([s.key for s in SETTINGS], sources) == [], "nobody reads it"
    assert unused([a.key for a in ACTIONS], sources) == [], "no controller connects to it"


@pytest.mark.parametrize(("sources", "is_used"), [
    ([("a", "get('files.new')")], True), ([("a", "f'files.{x}'"), ("a", "('new', 'old')")], True),
    ([("a", "f'files.{x}'"), ("b", "'new'")], False), ([("a", "f'view.{x}'; 'new'")], False), ([], False)])
def test_a_key_that_nobody_names_would_be_found(sources, is_used):
    trees = [(folder, ast.parse(text)) for folder, text in sources]
    assert unused(["files.new"], trees) == ([] if is_used else ["files.new"])


def test_settings_are_translated():
    from app.desk.settings import GROUPS, SETTINGS

    known = {s for c, s, _, _ in translations.messages(translations.FOLDER / "tiphys_zh_CN.ts") if c == "Settings"}
    texts = {s.label for s in SETTINGS} | {*GROUPS.values()} | {s.note for s in SETTINGS if s.note}
    texts |= {text for s in SETTINGS for key, text in s.choices if text not in ("English", "简体中文")}
    assert texts <= known


def test_a_counted_text_takes_its_number_through_plural():
    """Qt's `tr(…, n)` takes 32 bits and raises for more; %Ln writes it as all other numbers are written."""
    def found(file: Path) -> list[str]:
        source = file.read_text(encoding="utf-8")
        return [ast.unparse(c) for c in calls(file) if dotted(c.func).split(".")[-1] in ("tr", "translate")
                and any(isinstance(a, ast.Constant) and re.search("%L?n", str(a.value)) for a in c.args)
                and not dotted(c.args[-1]).startswith("plural(")
                and f"{dotted(c.args[-1])} = plural(" not in source]

    assert offences(found) == {}
    assert offences(lambda file: re.findall(r"%n\b.*", file.read_text(encoding="utf-8"))) == {}


@pytest.mark.parametrize(("source", "test"), [
    ("box.exec()", test_no_modal_loop), ("QApplication.processEvents()", test_no_nested_event_processing),
    ("QColor(1, 2, 3)", test_colours_come_from_the_theme), ("x = '#ff0000'", test_colours_come_from_the_theme),
    ("self.tr(f'{n} steps')", test_no_f_string_is_translated),
    ("button.clicked.connect(lambda: None)", test_no_lambda_keeps_a_widget_alive),
    ("QLabel('x')", test_labels_are_plain), ("edit.setHtml(text)", test_labels_are_plain),
    ("import socket", test_views_do_no_io_and_start_nothing),
    ("self.tr('%Ln step(s)', '', count)", test_a_counted_text_takes_its_number_through_plural)])
def test_an_offence_would_be_found(monkeypatch, tmp_path, source, test):
    bad = tmp_path / "bad.py"
    bad.write_text(source)
    monkeypatch.setattr(sys.modules[__name__], "ROOT", Path("/"))
    monkeypatch.setattr(offences, "__defaults__", ([bad], ()))
    monkeypatch.setattr(sys.modules[__name__], "VIEWS", [*VIEWS[:51], bad])
    with pytest.raises(AssertionError, match=r"bad\.py"):
        test()
