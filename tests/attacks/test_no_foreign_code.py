"""No pickle, no code of others, no shell: what the source may not contain, and what planted files may not do.

Threats 4, 5, 10 and 11.
"""

from __future__ import annotations

import ast
import contextlib
import json
import pickle  # noqa: TID251 - the attacker's
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from support.hostile import ROOT
from support.sources import syntax

from core.domain.errors import InvalidInput, ReportableError
from core.formats import registry
from core.llm.foreign_model import SAFE, check_weights, load_model, model_config

FILES = sorted(p for folder in ("core", "app", "packaging") for p in (ROOT / folder).rglob("*.py"))
TREES = {str(p.relative_to(ROOT)): syntax(p) for p in FILES}

BANNED_MODULES = {
    "pickle",
    "cPickle",
    "_pickle",
    "dill",
    "cloudpickle",
    "joblib",
    "shelve",
    "marshal",
    "yaml",
    "csv",
    "xmlrpc",
    "telnetlib",
    "imp",
    "runpy",
    "code",
    "codeop",
    "pty",
}
BANNED_CALLS = {
    "eval",
    "exec",
    "compile",
    "__import__",
    "os.system",
    "os.popen",
    "torch.load",
    "torch.jit.load",
    "numpy.load",
    "np.load",
    "pd.read_pickle",
    "subprocess.getoutput",
    "subprocess.getstatusoutput",
    "asyncio.create_subprocess_shell",
    "tempfile.mktemp",
    "QDesktopServices.openUrl",
    "webbrowser.open",
    "load_dataset",
    "datasets.load_dataset",
}
ALLOWED = {
    "app/charts/panel.py": {"csv"},  # tests/attacks/test_names_and_growth.py
    "core/tasks/generation/templates/tables.py": {"csv"},  # what an agent is given to work on
    "core/tasks/yaml_table.py": {"yaml"},  # safe_load without aliases (tests/core/tasks)
    "core/program.py": {"runpy"},  # one of PARTS, by the first argument of a frozen executable
    "core/sandbox/ptyd/terminal.py": {"pty"},
    "core/sandbox/ptyd/shell.py": {"pty"},
    "core/sandbox/ptyd/procs.py": {"pty"},
}
"""The daemon inside the sandbox opens terminals."""

ALLOWED_CALLS = {("core/supervision/rule_book.py", "exec"), ("core/supervision/rule_book.py", "compile"),
                 ("app/window/application.py", "QDesktopServices.openUrl"),
                 ("app/servers/code_dialog.py", "QDesktopServices.openUrl"),
                 ("core/training/rl_state.py", "torch.load"), ("core/training/policy_rows.py", "np.load")}
"""A person's own rules, from the rules folder of their home alone (SECURITY.md); the manual that the program brings;
the page of a log-in, https only (core/client/device_login.py), when a person asks for it; a training run's own state,
weights_only, and its own rows, allow_pickle=False."""


def imported(tree: ast.AST) -> set[str]:
    found = {a.name.split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    return found | {
        (n.module or "").split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and not n.level
    }


def dotted(node: ast.expr) -> str:
    """As `ast.unparse` writes a name; what a name hangs on that is none itself is a question mark."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else "?"


CALLS = [(name, node, dotted(node.func)) for name, tree in TREES.items() for node in ast.walk(tree)
         if isinstance(node, ast.Call)]
"""Every call with its module and what is called."""


def test_nothing_that_unpickles_or_evaluates_is_imported() -> None:
    found = {name: sorted((imported(tree) & BANNED_MODULES) - ALLOWED.get(name, set())) for name, tree in TREES.items()}
    assert {n: f for n, f in found.items() if f} == {}


def test_nothing_is_evaluated_and_no_shell_is_given_text() -> None:
    found = [
        f"{name}:{c.lineno} {called}"
        for name, c, called in CALLS
        if called in BANNED_CALLS and (name, called) not in ALLOWED_CALLS
    ]
    found += [
        f"{name}:{c.lineno} shell=True"
        for name, c, _ in CALLS
        for k in c.keywords
        if k.arg == "shell" and not (isinstance(k.value, ast.Constant) and k.value.value is False)
    ]
    assert found == []


def test_models_of_others_are_loaded_by_one_set_of_rules() -> None:
    """Every from_pretrained gets SAFE or SAFE_WEIGHTS, and nobody says trust_remote_code elsewhere."""
    loose = []
    for name, call, called in CALLS:
        if called.endswith("from_pretrained"):
            given = {ast.unparse(k.value) for k in call.keywords if k.arg is None}
            if not given & {"SAFE", "SAFE_WEIGHTS"}:
                loose.append(f"{name}:{call.lineno}")
            if "ModelFor" in ast.unparse(call.func) and not any(k.arg == "gguf_file" for k in call.keywords):
                loose.append(f"{name}:{call.lineno}: a model without load_model")
    assert loose == []
    said = [name for name in TREES if "trust_remote_code" in (ROOT / name).read_text(encoding="utf-8")]
    assert said == ["core/llm/foreign_model.py"]


def test_what_is_imported_by_name_is_named_by_us() -> None:
    """import_module gets a constant or a name of our own tables, never a name from data."""
    found = {
        f"{name}: {ast.unparse(c.args[0])}"
        for name, c, called in CALLS
        if called.endswith("import_module") and not isinstance(c.args[0], ast.Constant)
    }
    assert found == {"core/cli/root.py: f'core.cli.{module}'", "app/window/panels.py: folder.name",
                     "core/environments/stem.py: name",  # of EnvironmentKind.imports, whose declarations are ours
                     "app/desk/panel.py: f'{self.folder}.panel'",
                     "core/formats/registry.py: f'{readers.__name__}.{found.name}'",
                     "core/tasks/catalogue.py: f'{readers.__name__}.{found.name}'",
                     "core/environments/registry.py: f'{adapters.__name__}.{found.name}'",
                     "packaging/desktop/whole.py: module.name"}


def test_sql_is_never_put_together_from_values() -> None:
    """Formatted SQL holds placeholders, column lists and names of ours; what people type is always a parameter."""
    verbs = re.compile(r"\b(SELECT|INSERT|UPDATE|DELETE|PRAGMA|ATTACH|VACUUM)\b")
    found = []
    for name, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr) and verbs.search(ast.unparse(node)):
                found += [f"{name}: {ast.unparse(v.value)}" for v in node.values if isinstance(v, ast.FormattedValue)]
    foreign = [
        f
        for f in found
        if re.search(r"\b(text|words|title|op|command|query|token|path|fact|event|body)\b", f.split(": ", 1)[1])
    ]
    assert foreign == []


def test_no_data_set_is_a_spreadsheet() -> None:
    """Formulas (= + - @) can act only in a spreadsheet: data sets are JSON Lines and Parquet."""
    from core.export.formats import FORMATS

    assert {("parquet" if f.parquet else "jsonl") for f in FORMATS.values()} == {"parquet", "jsonl"}
    written = [
        name for name in TREES if not name.startswith("packaging/")  # the pictures' story has an agent that reads one
        and not name.startswith("core/tasks/generation/templates/")  # what an agent is given to work on
        and name != "core/cli/system_libraries.py"  # which reads a table of ours
        and re.search(r"\.(csv|tsv|xlsx?)[\"']", (ROOT / name).read_text(encoding="utf-8"))
    ]
    assert written == []


class Planted:
    """A pickle that leaves a mark when it is loaded."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.mark,)


def test_the_planted_pickle_works(tmp_path: Path) -> None:
    pickle.loads(pickle.dumps(Planted(tmp_path / "mark")))
    assert (tmp_path / "mark").exists()


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt", "consolidated.00.pth", "weights.pkl", "epoch.ckpt"])
def test_a_folder_of_pickles_is_refused_by_name_before_anything_is_loaded(tmp_path: Path, name: str) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / name).write_bytes(pickle.dumps(Planted(tmp_path / "mark")))

    class Auto:
        @staticmethod
        def from_pretrained(folder: str, **how: object) -> object:
            raise AssertionError("loaded")

    with pytest.raises(InvalidInput, match="safetensors"):
        load_model(Auto, tmp_path)
    assert not (tmp_path / "mark").exists()
    (tmp_path / "model.safetensors").write_bytes(b"")
    check_weights(tmp_path)


@pytest.mark.parametrize(
    "name", ["run.traj", "run.jsonl", "run.tiphys", "settings.toml", "task.toml", "journal.db", "server.db"]
)
def test_a_pickle_in_place_of_any_of_our_files_is_data(tmp_path: Path, name: str) -> None:
    from app.desk.settings import Settings
    from core.agents.journal import Journal
    from core.store.schema import open_log
    from core.tasks.task_file import read_task

    path = tmp_path / name
    path.write_bytes(pickle.dumps(Planted(tmp_path / "mark")))
    readers = {
        "settings.toml": lambda: Settings(path),
        "task.toml": lambda: read_task(tmp_path),
        "server.db": lambda: open_log(path),
        "journal.db": lambda: Journal(path, "s"),
    }
    with contextlib.suppress(ReportableError):
        readers.get(name, lambda: list(registry.read(path)))()
    assert not (tmp_path / "mark").exists()


@pytest.mark.model
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")
def test_a_model_that_brings_code_is_refused_and_its_code_never_runs(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    mark = tmp_path / "mark"
    folder = tmp_path / "model"
    folder.mkdir()
    code = [f"open({str(mark)!r}, 'w')", "from transformers import PretrainedConfig", "class C(PretrainedConfig): pass"]
    (folder / "evil.py").write_text("\n".join(code))
    told = {
        "model_type": "evil",
        "auto_map": {"AutoConfig": "evil.C", "AutoModelForCausalLM": "evil.C", "AutoTokenizer": ["evil.C", None]},
    }
    (folder / "config.json").write_text(json.dumps(told))
    (folder / "tokenizer_config.json").write_text(json.dumps({"auto_map": told["auto_map"]}))
    (folder / "model.safetensors").write_bytes(b"")
    with pytest.raises(InvalidInput):
        load_model(transformers.AutoConfig, folder)
    with pytest.raises(InvalidInput):
        model_config(folder)
    with pytest.raises(ValueError, match=r"remote code|custom code"):
        transformers.AutoTokenizer.from_pretrained(str(folder), **SAFE)
    assert not mark.exists()


def test_dependencies_are_few_and_bounded() -> None:
    told = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {re.match(r"[A-Za-z0-9._-]+", d)[0].lower() for d in told["dependencies"]}  # type: ignore[index]
    assert len(names) <= 25
    assert [d for d in told["dependencies"] if not re.search(r"[<>=~]=?\s*\d", d)] == []
    torch = next(d for d in told["optional-dependencies"]["train"] if d.startswith("torch"))
    assert tuple(map(int, re.findall(r"\d+", torch)[:2])) >= (2, 10), (
        "older ones can be made to run code by their weights"
    )
    assert sys.version_info >= (3, 11)
