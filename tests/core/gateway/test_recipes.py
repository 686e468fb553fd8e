"""Recipes are data: each can be read, speaks a known dialect, says how to begin, and leaves no brace unfilled."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from core.cli.attach import _recipe_for
from core.domain.errors import InvalidInput, NotFound
from core.domain.task import AgentSettings, ModelSettings, Task
from core.gateway import acp, dialects
from core.gateway.recipe import (
    DIALECTS,
    GENERAL_ENVIRONMENT,
    DialectName,
    RecipeValues,
    names,
    recipe_named,
    recipe_of,
)
from core.tasks.task_check import check_task

FILLING = RecipeValues(gateway="http://127.0.0.1:1", token="tok", model="m-1", task="a {token} task", workspace="/w")
ENDPOINT = ModelSettings(kind="endpoint", name="m", base_url="https://api.anthropic.com", key_env="K")


def test_every_dialect_of_the_folder_is_spoken_and_may_be_named() -> None:
    [folder] = dialects.__path__
    assert {path.stem for path in Path(folder).glob("[a-z]*.py")} == set(DIALECTS) == set(get_args(DialectName))


@pytest.mark.parametrize("name", names())
def test_a_recipe_points_its_agent_to_the_gateway_and_nowhere_else(name: str) -> None:
    recipe = recipe_named(name)
    texts = [FILLING.fill(text) for text in (*recipe.env.values(), *recipe.files.values())]
    assert recipe.command and recipe.probe and recipe.install and recipe.dialect in DIALECTS
    assert any("http://127.0.0.1:1" in text for text in texts) and any("tok" in text for text in texts)
    assert not [text for text in texts if "{gateway}" in text or "{token}" in text]
    assert "https://" not in "".join(texts).replace("https://opencode.ai/config.json", "")
    for path, text in recipe.files.items():
        if path.endswith(".json"):
            msgspec.json.decode(FILLING.fill(text))
        if path.endswith(".toml"):
            tomllib.loads(FILLING.fill(text))
        if path.endswith(".py"):
            compile(FILLING.fill(text), path, "exec")


def test_a_command_that_is_attached_finds_its_recipe() -> None:
    assert [_recipe_for(one) for one in ("/usr/bin/inspect", "claude", "ls")] == ["inspect", "claude-code", ""]


def test_what_is_filled_in_is_not_looked_into_again() -> None:
    assert FILLING.fill("{task}/{unknown}") == "a {token} task/{unknown}"


def test_settings_stand_in_for_a_recipe_or_make_one() -> None:
    changed = recipe_of(AgentSettings(kind="external", recipe="codex-cli", command="codex other", model=ENDPOINT))
    assert changed.command == "codex other" and changed.dialect == "responses" and changed.files
    own = recipe_of(AgentSettings(kind="external", command="mine", dialect="gemini", model=ENDPOINT))
    assert own.dialect == "gemini" and own.env == GENERAL_ENVIRONMENT
    with pytest.raises(NotFound, match=r"no recipe for an agent 'nobody'; there are .*claude-code"):
        recipe_of(AgentSettings(kind="external", recipe="nobody", model=ENDPOINT))


def test_an_agent_of_the_client_protocol_is_started_by_a_program_that_any_sandbox_runs() -> None:
    spoken = recipe_of(AgentSettings(kind="external", recipe="gemini-cli", acp="desktop", model=ENDPOINT))
    assert spoken.command.startswith("python3 ~/.tiphys/acp.pyz desktop new gemini --acp")
    assert spoken.resume.startswith("python3 ~/.tiphys/acp.pyz desktop load gemini") and spoken.speaks_acp
    assert FILLING.fill(spoken.env["TIPHYS_TOKEN"]) == "tok" and spoken.files
    own = recipe_of(AgentSettings(kind="external", dialect="chat", command="mine --acp", acp="reject", model=ENDPOINT))
    assert own.command == "python3 ~/.tiphys/acp.pyz reject new mine --acp"
    with pytest.raises(InvalidInput, match="Agent Client Protocol") as refused:
        recipe_of(AgentSettings(kind="external", recipe="codex-cli", acp="allow", model=ENDPOINT))
    assert refused.value.code == "no_acp"
    imported = {node.module or "" for file in Path(acp.__file__).parent.glob("*.py")
                for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.ImportFrom)}
    assert not [name for name in imported if name.startswith("core")], "it is run where nothing of ours lies"


@pytest.mark.parametrize(("settings", "field"), [
    (AgentSettings(kind="external", recipe="codex-cli"), "agent.model.kind"),
    (AgentSettings(model=ENDPOINT), "agent.model.kind"),
    (AgentSettings(kind="external", model=ENDPOINT), "agent.recipe"),
    (AgentSettings(kind="external", recipe="../x", model=ENDPOINT), "agent.recipe"),
    (AgentSettings(kind="external", recipe="codex-cli", model=ModelSettings(kind="endpoint", name="m")),
     "agent.model.base_url"),
    (AgentSettings(kind="external", recipe="codex-cli", model=msgspec.structs.replace(ENDPOINT, name='"; rm')),
     "agent.model.name"),
    (AgentSettings(kind="external", is_attached=True, model=ENDPOINT), "agent.sandbox"),
    (AgentSettings(acp="allow"), "agent.acp"),
    (AgentSettings(kind="external", recipe="opencode", is_attached=True, acp="allow", model=ENDPOINT), "agent.acp"),
    (AgentSettings(kind="external", recipe="opencode", samples=True, model=ENDPOINT), "agent.samples"),
])
def test_a_task_that_no_agent_can_be_started_for_is_refused_by_its_field(settings: AgentSettings, field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        check_task(Task(id="t", title="T", description="D"), settings)
    assert refused.value.params["field"] == field
